/* Hashes keys by XXPH3 with NEON: keys of 4 to 8 bytes, four at a time, and keys above 240 bytes.
 * NEON cannot multiply lanes of 64 bits, so the low and the high halves of words are in separate
 * registers. Then a shift by more than 32 bits only reads the high halves. For keys of 9 to 240
 * bytes the hash needs products of 128 bits. AArch64 computes such a product by two general
 * instructions, so these keys are left to scalar code.
 * SPDX-License-Identifier: MIT */
#include "../lanes/xxph3.h"
#include "../lanes/lanes.h"
#include "vector.h"

enum { NLANES = 4 };

/* ---- Vocabulary ---- */

/* A word of 64 bits of each of four keys. */
struct words {
  uint32x4_t low, high;
};

static inline uint32x4_t low_splat(uint64_t value)
{
  return vdupq_n_u32((uint32_t)value);
}

static inline uint32x4_t high_splat(uint64_t value)
{
  return vdupq_n_u32((uint32_t)(value >> 32));
}

/* Splits the lanes of two registers, which have 64 bits, into low and high halves. */
static inline struct words split(uint64x2_t a, uint64x2_t b)
{
  const uint32x4_t ab = vreinterpretq_u32_u64(a), cd = vreinterpretq_u32_u64(b);
  return (struct words){vuzp1q_u32(ab, cd), vuzp2q_u32(ab, cd)};
}

static inline struct words multiply(struct words a, uint64_t b)
{
  const uint32x4_t b_low = low_splat(b);
  struct words product =
      split(vmull_u32(vget_low_u32(a.low), vget_low_u32(b_low)), vmull_high_u32(a.low, b_low));
  product.high = vmlaq_u32(product.high, a.low, high_splat(b));
  product.high = vmlaq_u32(product.high, a.high, b_low);
  return product;
}

static inline struct words multiply32_and_add(struct words a, uint32_t b, uint64_t c)
{
  const uint32x4_t b_low = vdupq_n_u32(b);
  const uint64x2_t sum = vdupq_n_u64(c);
  struct words product = split(vmlal_u32(sum, vget_low_u32(a.low), vget_low_u32(b_low)),
                               vmlal_high_u32(sum, a.low, b_low));
  product.high = vmlaq_u32(product.high, a.high, b_low);
  return product;
}

static inline struct words avalanche(struct words h)
{
  h.low = veorq_u32(h.low, vshrq_n_u32(h.high, 37 - 32));
  h = multiply(h, XXPH3_PRIME64_3);
  h.low = veorq_u32(h.low, h.high);
  return h;
}

static inline struct words hash_4_to_8(struct words words, uint64_t size)
{
  words.low = veorq_u32(words.low, low_splat(xxph3_secret64(0)));
  words.high = veorq_u32(words.high, high_splat(xxph3_secret64(0)));
  words.low = veorq_u32(words.low, vshrq_n_u32(words.high, 51 - 32));
  struct words mixed = multiply32_and_add(words, XXPH3_PRIME32_1, size);
  mixed.low = veorq_u32(mixed.low, vshrq_n_u32(mixed.high, 47 - 32));
  return avalanche(multiply(mixed, XXPH3_PRIME64_2));
}

/* These two functions load and store words at any alignment. */
static inline struct words load_words(const void *from)
{
  const uint32x4x2_t words = vld2q_u32(from);
  return (struct words){words.val[0], words.val[1]};
}

static inline void store_words(void *hashes, size_t i, struct words h)
{
  const uint32x4x2_t words = {{h.low, h.high}};
  vst2q_u32((void *)((uint8_t *)hashes + i * sizeof(uint64_t)), words);
}

/* ---- A key above 240 bytes ---- */

enum { NPAIRS = XXPH3_NLANES / 2 };

static inline uint64x2_t load_pair(const void *from)
{
  return vreinterpretq_u64_u8(vld1q_u8(from));
}

static inline void add_stripes(uint64_t lanes[XXPH3_NLANES], const uint8_t *stripes, size_t n,
                               size_t secret)
{
  uint64x2_t sums[NPAIRS];
  for (size_t p = 0; p < NPAIRS; p++)
    sums[p] = vld1q_u64(lanes + 2 * p);
  for (size_t i = 0; i < n; i++)
    for (size_t p = 0; p < NPAIRS; p++) {
      const uint64x2_t pair = load_pair(stripes + 64 * i + 16 * p);
      const uint64x2_t keyed =
          veorq_u64(pair, load_pair(lanebloom_xxph3_secret + secret + 8 * i + 16 * p));
      sums[p] = vmlal_u32(vaddq_u64(sums[p], pair), vmovn_u64(keyed), vshrn_n_u64(keyed, 32));
    }
  for (size_t p = 0; p < NPAIRS; p++)
    vst1q_u64(lanes + 2 * p, sums[p]);
}

static inline void scramble(uint64_t lanes[XXPH3_NLANES])
{
  xxph3_scramble(lanes);
}

static const struct xxph3_stripe_steps stripes = {add_stripes, scramble};

/* ---- Keys of one width ---- */

/* Hashes keys of 4 to 7 bytes and returns the number of hashed keys. A load of 16 bytes from the
 * start of a key also contains the next key, and a table look-up selects the first four and the
 * last four bytes of both. */
static size_t fixed_4_to_7(const uint8_t *keys, size_t width, size_t n, void *hashes)
{
  static const uint32_t starts[NLANES] = {0x03020100, 0x03020100, 0x03020100, 0x03020100};
  static const uint32_t widths[NLANES] = {0, 0x01010101, 0x01010101,
                                          /* the distance from the start of the first key to the
                                           * start of each four bytes (lanes 0 and 2), or to their
                                           * end (lanes 1 and 3), in widths of a key */
                                          0x02020202};
  static const uint32_t fours[NLANES] = {0, 0x04040404, 0, 0x04040404};
  const uint32x4_t ends = vmlaq_n_u32(vld1q_u32(starts), vld1q_u32(widths), (uint32_t)width);
  const uint8x16_t indices = vreinterpretq_u8_u32(vsubq_u32(ends, vld1q_u32(fours)));
  size_t i = 0;
  for (; i + NLANES + 2 <= n; i += NLANES) {
    const uint8_t *at = keys + i * width;
    const uint8x16_t two = vqtbl1q_u8(vld1q_u8(at), indices),
                     others = vqtbl1q_u8(vld1q_u8(at + 2 * width), indices);
    store_words(hashes, i,
                hash_4_to_8(split(vreinterpretq_u64_u8(two), vreinterpretq_u64_u8(others)), width));
  }
  return i;
}

static size_t fixed_8(const uint8_t *keys, size_t n, void *hashes)
{
  size_t i = 0;
  for (; i + NLANES <= n; i += NLANES)
    store_words(hashes, i, hash_4_to_8(load_words(keys + i * 8), 8));
  return i;
}

static inline __attribute__((always_inline)) size_t
hash_fixed(const uint8_t *keys, size_t width, size_t stride, size_t n, void *hashes)
{
  if (width == 8 && stride == width)
    return fixed_8(keys, n, hashes);
  if (width >= 4 && width < 8 && stride == width)
    return fixed_4_to_7(keys, width, n, hashes);
  if (width <= 240)
    return 0;
  hash_wide(keys, width, stride, n, &stripes, hashes);
  return n;
}

/* ---- Keys of many sizes ---- */

enum {
  /* In all lists but the last, the sizes of keys differ by less than 8 bytes, so that the keys take
   * the same branches. There is a list for 1 to 8 bytes, one for 9 to 16, fourteen more up to 128,
   * and a last one for all other sizes. */
  SHORT = 0,
  MIDDLE = 1,
  OTHERS = 16,
  NLISTS,
};

/* Hashes keys of many sizes list by list, because the CPU would often mispredict a branch on the
 * size of each key. */
static inline __attribute__((always_inline)) void hash_mixed(const lanebloom_keys *keys,
                                                             void *hashes)
{
  uint16_t lists[NLISTS][MIXED_NKEYS], *ends[NLISTS];
  for (size_t c = 0; c < NLISTS; c++)
    ends[c] = lists[c];
  for (size_t i = 0; i < keys->n; i++) {
    const size_t c = (keys_at(keys, i).size - 1) / 8; /* if the key is empty, the size less 1 wraps
                                                       * round, and c is above OTHERS */
    *ends[c < OTHERS ? c : OTHERS]++ = (uint16_t)i;
  }

  for (const uint16_t *i = lists[SHORT]; i < ends[SHORT]; i++) {
    const lanebloom_slice key = keys_at(keys, *i);
    hash64_store(hashes, *i,
                 key.size < 4 ? xxph3_1_to_3(key.data, key.size)
                              : xxph3_4_to_8(key.data, key.size));
  }
  for (const uint16_t *i = lists[MIDDLE]; i < ends[MIDDLE]; i++) {
    const lanebloom_slice key = keys_at(keys, *i);
    hash64_store(hashes, *i, xxph3_9_to_16(key.data, key.size));
  }
  for (size_t c = MIDDLE + 1; c < OTHERS; c++)
    for (const uint16_t *i = lists[c]; i < ends[c]; i++) {
      const lanebloom_slice key = keys_at(keys, *i);
      hash64_store(hashes, *i, xxph3_17_to_128(key.data, key.size));
    }
  for (const uint16_t *i = lists[OTHERS]; i < ends[OTHERS]; i++) {
    const lanebloom_slice key = keys_at(keys, *i);
    hash64_store(hashes, *i,
                 key.size > 240 ? hash_above_240(key.data, key.size, &stripes)
                                : xxph3(key.data, key.size));
  }
}

static const struct xxph3_steps steps = {hash_fixed, hash_mixed, &stripes};

void KERNEL(xxph3_hash)(const lanebloom_keys *keys, void *hashes)
{
  xxph3_hash(keys, &steps, hashes);
}
