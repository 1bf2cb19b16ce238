// SPDX-License-Identifier: GPL-2.0
/* bare_peer DEV MAC DST SRC: one EEP message to MAC; print the answer to SRC in hexadecimal. */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

int main(int argc, char **argv)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(0x88b5), .sll_halen = 6 };
	/* P 5, PT 1500, TE 1, one word of data, TAIL; destination and source come below */
	unsigned char m[32] = { 5, 0, 0, 0, 0, 1, 1500 >> 8, 1500 & 255, 0, 0, 0, 1,
				0, 0, 0, 0, 's', 't', 'r', 'a', 'n', 'g', 'e', 'r' }, b[2048];
	unsigned long dst = strtoul(argv[argc > 3 ? 3 : 0], NULL, 0), src = strtoul(argv[argc - 1], NULL, 0);
	int fd = socket(AF_PACKET, SOCK_DGRAM, htons(0x88b5)), i, n;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	unsigned char *a = to.sll_addr;

	if (argc != 5 || fd < 0 ||
	    sscanf(argv[2], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", a, a + 1, a + 2, a + 3, a + 4, a + 5) != 6)
		return 2;
	to.sll_ifindex = if_nametoindex(argv[1]);
	m[1] = dst >> 16; m[2] = dst >> 8; m[3] = dst;
	m[13] = src >> 16; m[14] = src >> 8; m[15] = src;
	if (bind(fd, (void *)&to, sizeof(to)) || sendto(fd, m, 32, 0, (void *)&to, sizeof(to)) != 32)
		return 1;
	while (poll(&p, 1, 60000) == 1 && (n = recv(fd, b, sizeof(b), 0)) > 0) {
		if (n < 24 || b[1] != m[13] || b[2] != m[14] || b[3] != m[15])
			continue;
		for (i = 0; i < n; i++)
			printf("%02x", b[i]);
		return !printf("\n");
	}
	return 1;
}
