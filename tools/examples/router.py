#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""router.py NAME SAN:PORT SAN:PORT: a PacketWay router in user space.

Joins two SANs of this network namespace through /dev/packetway, without any other file of
this project. Frames are copied from one half to the other: the kernel has done what
they need at the border of the SAN. What is done here is RRP: tables from and for the
neighbours of both halves, and answers to WRU, HRTO, GVL2 and TELL.
"""
import fcntl
import os
import select
import struct
import sys

HALF_OPEN, HALF_GET = 0xE930, 0xE931
RRP, ERR, BROADCAST = 1, 65535, 0x7FFFFF
GVL2, L2SR, RDRC, TELL, INFO, HRTO, WRU, GVRT, RTBL = range(1, 10)
UNK, HRDOWN, LINKDOWN = 1, 2, 3
ADDR, NAME, CAPA, LADR, SRQR, MTUR, RCVF, RTHD = range(0x11, 0x19)


def message(pt, te, dst, src, records=b""):
    """An RRP or ERR message of the highest priority; records are whole words."""
    return struct.pack(">B3sHHII", 63, dst.to_bytes(3, "big"), te, pt, len(records) // 8, src) + records + bytes(8)


def record(rtype, body, before=0):
    """One record: body fills the last four bytes of the first word and whole words after it."""
    pad = (4 - len(body) - before) % 8
    body = bytes(before) + body + (b"" if before else bytes(pad))
    return struct.pack(">BBH", rtype, before or pad, (len(body) - 4) // 8) + body


def records(data):
    """(type, data without padding, all bytes) of each record; a nested one is inside its ADDR."""
    at = 0
    while at + 8 <= len(data):
        rtype, pad, words = struct.unpack_from(">BBH", data, at)
        end = at + 8 + 8 * words
        if end > len(data):
            return
        body = data[at + 4 : end]
        yield rtype, body[pad:] if rtype in (SRQR, MTUR) else body[: len(body) - pad], data[at:end]
        at = end


def single(addr):
    return struct.pack(">I", 1 << 24 | addr)


def fits(node, criteria):
    """Does an ADDR record with its description fit one of the criteria of a TELL?"""
    addr, inside = int.from_bytes(node[5:8], "big"), list(records(node[8:]))
    for rtype, body, raw in criteria:
        if rtype == ADDR:
            pair = raw[4] != 1
            low = int.from_bytes(raw[5:8], "big")
            high = int.from_bytes(raw[9:12], "big") if pair else low
            more = list(records(raw[16 if pair else 8 :]))
            if low <= addr <= high and (not more or fits(node, more)):
                return True
        elif rtype == NAME and any(t == NAME and b == body for t, b, _ in inside):
            return True
        elif rtype == CAPA and any(t == CAPA and b[:1] == body[:1] for t, b, _ in inside):
            return True
    return False


class Table:
    """What a half gives to others: one part of the table of a SAN."""

    def __init__(self, data):
        rec = list(records(data))
        if [r[0] for r in rec[:4]] != [RTHD, SRQR, MTUR, RCVF]:
            raise ValueError("not a table")
        self.rthd = rec[0][2]
        self.quality, self.route = struct.unpack(">H", rec[1][1][:2])[0], rec[1][1][2:]
        self.mtu = rec[2][2]
        self.path = [e & 0xFFFFFF for (e,) in struct.iter_unpack(">I", rec[3][1])]
        self.nodes = b"".join(r[2] for r in rec[4:])
        self.key = self.rthd[4:8], tuple(self.path), self.rthd[12:14]
        self.serial = int.from_bytes(self.rthd[8:12], "big")

    def through(self, half, l2rh=b""):
        """The same table as this half-router gives it, who is one step further."""
        t = Table(self.data())
        t.quality, t.route, t.path = min(self.quality + 1, 65535), l2rh + self.route, [half] + self.path
        return t

    def data(self):
        route = record(SRQR, struct.pack(">H", self.quality) + self.route, 2)
        return self.rthd + route + self.mtu + record(RCVF, b"".join(map(single, self.path))) + self.nodes


class Half:
    def __init__(self, name, san, port, peer):
        dev = os.open("/dev/packetway", os.O_RDWR)
        arg = struct.pack("=8I32s", 64, 1, san, port, 0, 0, peer, 0, name.encode())
        # a mutable argument: ioctl() then returns the status, the new descriptor
        self.fd = fcntl.ioctl(dev, HALF_OPEN, bytearray(arg))
        os.close(dev)
        got = struct.unpack("=10I", fcntl.ioctl(self.fd, HALF_GET, struct.pack("=10I", 40, *[0] * 9)))
        self.bias, self.ports, self.port, self.addr = got[3], got[4], got[5], got[6]
        self.name, self.peer, self.tables, self.neighbours = name, None, {}, set()

    def write(self, data):
        try:
            os.write(self.fd, data)
        except OSError:
            pass  # refused or no room: it is lost, as on any network

    def l2rh(self, addr):
        """The hop on this SAN to an address of it."""
        k = round(self.ports**0.5)
        port = addr - self.bias - 1
        return bytes([0, 0x83, port % k, port // k, port % k, 0, 0, 0])

    def give(self, to, table):
        self.write(message(RRP, RTBL, to, self.addr, table.data()))

    def learn(self, table):
        """A table that the peer half gives to this one: for the kernel and for neighbours."""
        old = self.tables.get(table.key)
        if old and (table.serial - old.serial) % 2**32 in range(2**31, 2**32):
            return
        self.tables[table.key] = table
        for n in self.neighbours:
            self.give(n, table.through(self.addr))

    def forget(self, addrs):
        for key in [k for k, t in self.tables.items() if addrs & set(t.path)]:
            del self.tables[key]

    def meet(self, addr):
        if addr not in self.neighbours:
            self.neighbours.add(addr)
            self.write(message(RRP, GVRT, addr, self.addr))

    def routes(self, addr):
        """(quality, L2RHs, MTU) of each route from this SAN through this half to a node."""
        for t in self.tables.values():
            for rtype, body, raw in records(t.nodes):
                if rtype == ADDR and raw[4] == 1 and int.from_bytes(raw[5:8], "big") == addr:
                    for inner, data, _ in records(raw[8:]):
                        if inner == SRQR and len(data) > 2:
                            yield t.quality + 1 + int.from_bytes(data[:2], "big"), t.route + data[2:], t.mtu

    def nodes(self):
        """Description of each node of both sides, by address."""
        found = {}
        for t in [*self.tables.values(), *self.peer.tables.values()]:
            for rtype, _, raw in records(t.nodes):
                if rtype == ADDR and raw[4] == 1 and raw[5:8] not in found:
                    inside = b"".join(r for kind, _, r in records(raw[8:]) if kind != SRQR)
                    found[raw[5:8]] = struct.pack(">BBH", ADDR, 0, len(inside) // 8) + raw[4:8] + inside
        return [found[a] for a in sorted(found)]

    def tell(self, src, criteria):
        answer = b""
        for node in self.nodes():
            if not fits(node, criteria):
                continue
            if len(answer) + len(node) > 1384:
                # the rest begins here
                answer += struct.pack(">BBHB3sII", ADDR, 4, 1, 2, node[5:8], 3 << 24 | 0x7FFFFD, 0)
                break
            answer += node
        if answer:
            self.write(message(RRP, INFO, src, self.addr, answer))
        else:
            self.write(message(ERR, UNK, src, self.addr, criteria[0][2] if criteria else b""))

    def rrp(self, te, src, data):
        """A message for this half-router."""
        want = data[:8]
        addr = int.from_bytes(data[5:8], "big")
        if te == GVRT:
            self.meet(src)
            for t in self.tables.values():
                self.give(src, t.through(self.addr))
        elif te == RTBL:
            self.meet(src)
            try:
                t = Table(data).through(self.addr, self.l2rh(src))
            except (ValueError, struct.error):
                return
            if {self.addr, self.peer.addr} & set(t.path[1:]) or int.from_bytes(t.rthd[5:8], "big") in (
                self.bias, self.peer.bias):
                return
            self.peer.write(message(RRP, RTBL, self.peer.addr, self.addr, t.data()))
            self.peer.learn(t)
        elif te == WRU:
            capa = record(CAPA, b"\x02" + self.bias.to_bytes(3, "big") + self.peer.bias.to_bytes(3, "big"))
            inside = record(NAME, self.name.encode()) + capa
            node = struct.pack(">BBH", ADDR, 0, len(inside) // 8) + single(self.addr) + inside
            self.write(message(RRP, INFO, src, self.addr, node))
        elif te == TELL:
            self.tell(src, list(records(data)))
        elif te in (HRTO, GVL2):
            found = sorted(self.routes(addr))
            if not found:
                self.write(message(ERR, UNK, src, self.addr, want))
            elif te == HRTO:
                self.write(message(RRP, RDRC, src, self.addr, want + record(ADDR, single(self.addr))))
            else:
                own = self.l2rh(self.addr)
                inside = b"".join(record(SRQR, struct.pack(">H", q) + own + r, 2) + m for q, r, m in found)
                node = struct.pack(">BBH", ADDR, 0, len(inside) // 8) + data[4:8] + inside
                self.write(message(RRP, L2SR, src, self.addr, node))

    def down(self, te, src, data):
        """A half-router or a link of this SAN has gone; the kernel passes it on beyond the peer."""
        if src == self.addr:
            return
        lost = {int.from_bytes(raw[5:8], "big") for rtype, _, raw in records(data) if rtype == ADDR} - {0}
        if te == HRDOWN:
            self.neighbours -= lost
        self.peer.forget(lost)
        self.peer.write(message(ERR, te, self.peer.addr, self.addr, data))

    def handle(self, frame):
        dst, src = int.from_bytes(frame[1:4], "big"), int.from_bytes(frame[13:16], "big")
        te, pt = struct.unpack_from(">HH", frame, 4)
        data = frame[16 : 16 + 8 * (struct.unpack_from(">I", frame, 8)[0] & 0x1FFFFFF)]
        plain = frame[1] < 0x80 and not frame[12] & 0x80
        if plain and pt in (RRP, ERR) and dst in (self.addr, BROADCAST, BROADCAST - 1):
            if pt == RRP:
                self.rrp(te, src, data)
            elif te in (HRDOWN, LINKDOWN):
                self.down(te, src, data)
            return
        # a node behind the other half speaks with this one
        if plain and pt == RRP and dst == self.peer.addr and src != self.addr:
            if te not in (GVRT, RTBL):
                self.peer.rrp(te, src, data)
            return
        # the table of this half's own SAN, which the kernel makes
        if plain and pt == RRP and te == RTBL and dst == self.peer.addr and src == self.addr:
            try:
                self.peer.learn(Table(data))
            except (ValueError, struct.error):
                return
        self.peer.write(frame)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    place = [tuple(map(int, a.split(":"))) for a in sys.argv[2:]]
    # each half says the address of the other one: SAN n has the bias 256 * n by default
    addr = [256 * san + port + 1 for san, port in place]
    half = [Half(f"{sys.argv[1]}{i + 1}", *place[i], addr[1 - i]) for i in (0, 1)]
    poll = select.poll()
    for i in (0, 1):
        if half[i].addr != addr[i]:
            sys.exit(f"SAN {place[i][0]} has another bias")
        half[i].peer = half[1 - i]
        poll.register(half[i].fd, select.POLLIN)
    by_fd = {h.fd: h for h in half}
    for h in half:
        # the table of the SAN, and those of neighbours
        h.write(message(RRP, GVRT, h.addr, h.peer.addr))
        h.write(message(RRP, GVRT, BROADCAST, h.addr))
    print("ready", flush=True)
    while True:
        for fd, event in poll.poll():
            if event & (select.POLLHUP | select.POLLERR):
                return
            try:
                by_fd[fd].handle(os.read(fd, 1 << 17))
            except BlockingIOError:
                pass


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
