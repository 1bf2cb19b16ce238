// SPDX-License-Identifier: GPL-2.0
/*
 * Known answers for every CRC in use. The check values of "123456789" are the
 * ones published for each algorithm; the others follow from the definition.
 */
#include "eep.h"
#include "tap.h"

static const u8 check[] = "123456789";

static void whole(void)
{
	u8 zeros[32] = { 0 }, ones[32], up[32];

	for (int i = 0; i < 32; i++) {
		ones[i] = 0xff;
		up[i] = i;
	}
	ok(crc_itu_t(0xffff, check, 9) == 0x29b1, "CRC-16 (1021, seed ffff) of 123456789");
	ok(crc_itu_t(0, check, 9) == 0x31c3, "CRC-16 (1021, seed 0) of 123456789");
	ok(crc_itu_t(0xffff, NULL, 0) == 0xffff, "CRC-16 of nothing is its seed");
	ok((u32)~crc32c(~0U, check, 9) == 0xe3069283, "CRC-32C of 123456789");
	ok((u32)~crc32c(~0U, zeros, 32) == 0x8a9136aa, "CRC-32C of 32 zeros (RFC 3720)");
	ok((u32)~crc32c(~0U, ones, 32) == 0x62a8ab43, "CRC-32C of 32 ones (RFC 3720)");
	ok((u32)~crc32c(~0U, up, 32) == 0x46dd794e, "CRC-32C of 0..31 (RFC 3720)");
	ok(crc64_be(0, check, 9) == 0x6c40df5f0b497347ULL, "CRC-64 (ECMA-182, seed 0) of 123456789");
	ok((u64)~crc64_be(~0ULL, check, 9) == 0x62ec59e3f1a4f00aULL,
	   "CRC-64 (ECMA-182, seed ones, inverted) of 123456789");
}

static void eep(void)
{
	struct pw_eep_crc a, b;
	u8 out[8];
	int bad = 0;

	pw_eep_crc_init(&a, BIT_ULL(PW_OH_CRC32) | BIT_ULL(PW_OH_CRC64));
	pw_eep_crc_update(&a, check, 9);
	pw_eep_crc_put(&a, PW_OH_CRC32, out);
	ok(!memcmp(out, "\xe3\x06\x92\x83", 4), "OT of CRC32 is big-endian");
	pw_eep_crc_put(&a, PW_OH_CRC64, out);
	ok(!memcmp(out, "\x62\xec\x59\xe3\xf1\xa4\xf0\x0a", 8), "OT of CRC64 is big-endian");
	for (int i = 0; i <= 9; i++)
		for (int j = i; j <= 9; j++) {
			pw_eep_crc_init(&b, ~0ULL);
			pw_eep_crc_update(&b, check, i);
			pw_eep_crc_update(&b, check + i, j - i);
			pw_eep_crc_update(&b, check + j, 9 - j);
			bad += a.c32 != b.c32 || a.c64 != b.c64;
		}
	is(bad, 0, "any split into three fragments gives the same CRCs");
	pw_eep_crc_init(&b, BIT_ULL(PW_OH_TIMESTAMP));
	pw_eep_crc_update(&b, check, 9);
	ok(b.c32 == ~0U && b.c64 == ~0ULL, "a CRC that was not asked for is not computed");
}

int main(void)
{
	whole();
	eep();
	return tap_done();
}
