/* SPDX-License-Identifier: GPL-2.0 */
/*
 * User-space stand-ins for the few kernel facilities that core/ uses.
 *
 * Differences from the kernel: FIELD_* do not check masks at compile time,
 * min() and max() do not check types, the CRC functions are written for
 * clarity and are held to the same known-answer vectors as the kernel's.
 */
#ifndef PW_OS_USER_H
#define PW_OS_USER_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#ifndef U8_MAX
#define U8_MAX UINT8_MAX
#define U16_MAX UINT16_MAX
#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
#endif

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))
#define GENMASK(h, l) (((~0UL) << (l)) & (~0UL >> (sizeof(long) * 8 - 1 - (h))))
#define GENMASK_ULL(h, l) (((~0ULL) << (l)) & (~0ULL >> (63 - (h))))
#define __pw_ctz(m) __builtin_ctzll(m)
#define FIELD_GET(m, v) ((__typeof__(m))(((v) & (m)) >> __pw_ctz(m)))
#define FIELD_PREP(m, v) ((__typeof__(m))(((__typeof__(m))(v) << __pw_ctz(m)) & (m)))
#define FIELD_MAX(m) ((__typeof__(m))((m) >> __pw_ctz(m)))

#define min(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a < _b ? _a : _b; })
#define max(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
#define min_t(t, a, b) min((t)(a), (t)(b))
#define max_t(t, a, b) max((t)(a), (t)(b))
#define clamp(v, lo, hi) min(max(v, lo), hi)
#define swap(a, b) do { __typeof__(a) _t = (a); (a) = (b); (b) = _t; } while (0)
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define round_up(x, y) ((((x) - 1) | ((__typeof__(x))((y) - 1))) + 1)
#define container_of(p, t, m) ((t *)((char *)(p) - offsetof(t, m)))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define fallthrough __attribute__((__fallthrough__))
#undef __always_inline
#define __always_inline inline __attribute__((__always_inline__))
#define noinline __attribute__((__noinline__))
#ifndef __packed
#define __packed __attribute__((__packed__))
#endif
#define __maybe_unused __attribute__((__unused__))
#define __must_check __attribute__((__warn_unused_result__))
#define BUILD_BUG_ON(c) _Static_assert(!(c), #c)
#define static_assert_pw(c) _Static_assert(c, #c)
#ifndef static_assert
#define static_assert(c, ...) _Static_assert(c, #c)
#endif

#define DEFINE_UNALIGNED(bits, order, swapfn)					\
static inline u##bits get_unaligned_##order##bits(const void *p)		\
{										\
	u##bits v;								\
										\
	memcpy(&v, p, sizeof(v));						\
	return swapfn(v);							\
}										\
static inline void put_unaligned_##order##bits(u##bits v, void *p)		\
{										\
	v = swapfn(v);								\
	memcpy(p, &v, sizeof(v));						\
}
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define __pw_be16(v) __builtin_bswap16(v)
#define __pw_be32(v) __builtin_bswap32(v)
#define __pw_be64(v) __builtin_bswap64(v)
#define __pw_le16(v) (v)
#define __pw_le32(v) (v)
#define __pw_le64(v) (v)
#else
#define __pw_be16(v) (v)
#define __pw_be32(v) (v)
#define __pw_be64(v) (v)
#define __pw_le16(v) __builtin_bswap16(v)
#define __pw_le32(v) __builtin_bswap32(v)
#define __pw_le64(v) __builtin_bswap64(v)
#endif
DEFINE_UNALIGNED(16, be, __pw_be16)
DEFINE_UNALIGNED(32, be, __pw_be32)
DEFINE_UNALIGNED(64, be, __pw_be64)
DEFINE_UNALIGNED(16, le, __pw_le16)
DEFINE_UNALIGNED(32, le, __pw_le32)
DEFINE_UNALIGNED(64, le, __pw_le64)

#ifndef __swab16
#define __swab16(v) __builtin_bswap16(v)
#define __swab32(v) __builtin_bswap32(v)
#define __swab64(v) __builtin_bswap64(v)
#endif
#define swab16(v) __builtin_bswap16(v)
#define swab32(v) __builtin_bswap32(v)
#define swab64(v) __builtin_bswap64(v)

static inline u32 get_unaligned_be24(const void *p)
{
	const u8 *b = p;

	return (u32)b[0] << 16 | (u32)b[1] << 8 | b[2];
}

static inline void put_unaligned_be24(u32 v, void *p)
{
	u8 *b = p;

	b[0] = v >> 16;
	b[1] = v >> 8;
	b[2] = v;
}

static inline int fls(unsigned int x) { return x ? 32 - __builtin_clz(x) : 0; }
static inline int fls64(u64 x) { return x ? 64 - __builtin_clzll(x) : 0; }
static inline unsigned long __ffs64(u64 x) { return __builtin_ctzll(x); }
static inline int hweight64(u64 x) { return __builtin_popcountll(x); }
static inline u64 ror64(u64 x, unsigned int n) { return x >> (n & 63) | x << (-n & 63); }
static inline int hweight32(u32 x) { return __builtin_popcount(x); }
static inline int ilog2(u64 x) { return fls64(x) - 1; }
static inline bool is_power_of_2(u64 x) { return x && !(x & (x - 1)); }

static inline u64 div_u64(u64 a, u32 b) { return a / b; }
static inline u64 div64_u64(u64 a, u64 b) { return a / b; }
static inline u64 div_u64_rem(u64 a, u32 b, u32 *r) { *r = a % b; return a / b; }

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
/* a barrier as in the kernel: who uses it says what it pairs with */
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

/* lib/crc-itu-t: 0x1021, most significant bit first, no final inversion */
static inline u16 crc_itu_t(u16 crc, const u8 *p, size_t len)
{
	while (len--) {
		crc ^= (u16)(*p++ << 8);
		for (int i = 0; i < 8; i++)
			crc = (crc & 0x8000) ? (u16)(crc << 1) ^ 0x1021 : (u16)(crc << 1);
	}
	return crc;
}

/* lib/libcrc32c: Castagnoli, reflected; the caller seeds with ~0 and inverts */
static inline u32 crc32c(u32 crc, const void *buf, unsigned int len)
{
	const u8 *p = buf;

	while (len--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = (crc >> 1) ^ ((crc & 1) ? 0x82f63b78u : 0);
	}
	return crc;
}

/* lib/crc64: ECMA-182, most significant bit first */
static inline u64 crc64_be(u64 crc, const void *buf, size_t len)
{
	const u8 *p = buf;

	while (len--) {
		crc ^= (u64)*p++ << 56;
		for (int i = 0; i < 8; i++)
			crc = (crc & (1ULL << 63)) ? (crc << 1) ^ 0x42f0e1eba9ea3693ULL : crc << 1;
	}
	return crc;
}

/* lib/siphash: SipHash-2-4 of one or two little-endian 64-bit words */
typedef struct {
	u64 key[2];
} siphash_key_t;

#define __pw_rol(v, n) ((v) << (n) | (v) >> (64 - (n)))

static inline void __pw_sipround(u64 *v)
{
	v[0] += v[1];
	v[1] = __pw_rol(v[1], 13) ^ v[0];
	v[0] = __pw_rol(v[0], 32);
	v[2] += v[3];
	v[3] = __pw_rol(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = __pw_rol(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = __pw_rol(v[1], 17) ^ v[2];
	v[2] = __pw_rol(v[2], 32);
}

static inline u64 __pw_siphash(const u64 *m, unsigned int n, const siphash_key_t *k)
{
	u64 v[4] = {
		k->key[0] ^ 0x736f6d6570736575ULL, k->key[1] ^ 0x646f72616e646f6dULL,
		k->key[0] ^ 0x6c7967656e657261ULL, k->key[1] ^ 0x7465646279746573ULL,
	};

	for (unsigned int i = 0; i <= n; i++) {
		u64 w = i < n ? m[i] : (u64)n * 8 << 56;

		v[3] ^= w;
		__pw_sipround(v);
		__pw_sipround(v);
		v[0] ^= w;
	}
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		__pw_sipround(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static inline u64 siphash_1u64(u64 a, const siphash_key_t *k)
{
	return __pw_siphash(&a, 1, k);
}

static inline u64 siphash_2u64(u64 a, u64 b, const siphash_key_t *k)
{
	return __pw_siphash((const u64[]){ a, b }, 2, k);
}

/* lib/sort */
#define sort(base, n, size, cmp, swap) qsort(base, n, size, cmp)

/* what was written, not what would have been */
#define scnprintf(buf, size, ...) ({						\
	size_t _s = (size);							\
	int _n = snprintf(buf, _s, __VA_ARGS__);				\
										\
	_n < (int)_s ? _n : _s ? (int)_s - 1 : 0; })

#ifndef WARN_ON_ONCE
#define WARN_ON_ONCE(c) ({ bool _w = (c); if (_w) __builtin_trap(); _w; })
#endif

#endif /* PW_OS_USER_H */
