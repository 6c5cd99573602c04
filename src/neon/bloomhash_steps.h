/* The steps of BloomHash in one register of NEON, which holds four keys. They are the same steps as
 * in lanes/bloomhash.c, which explains the functions of the same names.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_NEON_BLOOMHASH_STEPS_H
#define LANEBLOOM_NEON_BLOOMHASH_STEPS_H

#include "../lanes/bloomhash.h"
#include "vector.h"

/* ---- The mixing ---- */

static inline uint32x4_t first_state(uint32x4_t sizes)
{
  return veorq_u32(vmulq_u32(sizes, vdupq_n_u32(BLOOMHASH_MULTIPLIER)),
                   vdupq_n_u32(BLOOMHASH_SEED));
}

static inline uint32x4_t add_and_multiply(uint32x4_t hash, uint32x4_t word)
{
  return vmulq_u32(vaddq_u32(hash, word), vdupq_n_u32(BLOOMHASH_MULTIPLIER));
}

static inline uint32x4_t mix(uint32x4_t hash, uint32x4_t word)
{
  hash = add_and_multiply(hash, word);
  return veorq_u32(hash, vshrq_n_u32(hash, 16));
}

static inline uint32x4_t mix_stripe(uint32x4_t hash, const uint32x4_t words[STRIPE_NWORDS])
{
  return mix(mix(mix(mix(hash, words[0]), words[1]), words[2]), words[3]);
}

/* Corrects tails whose bytes are signed. If the word in a lane is a tail, all bits of this lane are
 * set in `tails`. */
static inline uint32x4_t sign_tails(uint32x4_t word, uint32x4_t tails)
{
  const uint32x4_t signs = vandq_u32(vandq_u32(word, vdupq_n_u32(0x808080)), tails);
  return vsubq_u32(word, vshlq_n_u32(signs, 1));
}

static inline uint32x4_t mix_left(uint32x4_t hash, uint32x4_t word, uint32x4_t left,
                                  uint8x16_t bytes_left, int w, bool signed_tails)
{
  /* NEON shifts to the right by a negative count. Only the lowest byte of a lane is the count, so
   * the other bytes of `shifts` may have any value. */
  const int8x16_t table = vnegq_s8(vreinterpretq_s8_u8(vld1q_u8(tail_shifts[w])));
  const uint8x16_t which = vandq_u8(vreinterpretq_u8_u32(left), vdupq_n_u8(15));
  const int32x4_t shifts = vreinterpretq_s32_s8(vqtbl1q_s8(table, which));
  const uint8x16_t positions =
      vreinterpretq_u8_u32(vdupq_n_u32(0x03020100 + 0x04040404 * (uint32_t)w));
  const uint32x4_t begun = vcgtq_u32(left, vdupq_n_u32(4 * (uint32_t)w));
  word = vandq_u32(word, vreinterpretq_u32_u8(vcgtq_u8(bytes_left, positions)));
  if (signed_tails)
    word = sign_tails(word,
                      /* bit 3 is set in -24, and not in -16 */
                      vtstq_u32(vreinterpretq_u32_s32(shifts), vdupq_n_u32(8)));
  const uint32x4_t product = add_and_multiply(hash, word);
  return vbslq_u32(begun, veorq_u32(product, vshlq_u32(product, shifts)), hash);
}

static inline __attribute__((always_inline)) uint32x4_t
mix_last_stripe(uint32x4_t hash, const uint32x4_t words[STRIPE_NWORDS], uint32x4_t left,
                bool signed_tails)
{
  const uint8x16_t bytes_left = vreinterpretq_u8_u32(vmulq_u32(left, vdupq_n_u32(0x01010101)));
  hash = mix_left(hash, words[0], left, bytes_left, 0, signed_tails);
  hash = mix_left(hash, words[1], left, bytes_left, 1, signed_tails);
  hash = mix_left(hash, words[2], left, bytes_left, 2, signed_tails);
  return mix_left(hash, words[3], left, bytes_left, 3, signed_tails);
}

/* Mixes a word of keys that all have the same number of bytes left. `left` is this number, counted
 * from the first byte of the word. If `left` is 0 or less, the keys have ended, and the hashes stay
 * unchanged. */
static inline uint32x4_t mix_word(uint32x4_t hash, uint32x4_t word, ptrdiff_t left,
                                  bool signed_tails)
{
  if (left >= 4)
    return mix(hash, word);
  if (left <= 0)
    return hash;
  uint32x4_t tail = vandq_u32(word, vdupq_n_u32(((uint32_t)1 << 8 * left) - 1));
  if (signed_tails)
    tail = sign_tails(tail, vdupq_n_u32(UINT32_MAX));
  hash = add_and_multiply(hash, tail);
  return veorq_u32(hash, vshrq_n_u32(hash, 24));
}

static inline uint32x4_t mix_same(uint32x4_t hash, const uint32x4_t words[STRIPE_NWORDS],
                                  size_t left, bool signed_tails)
{
  hash = mix_word(hash, words[0], (ptrdiff_t)left, signed_tails);
  hash = mix_word(hash, words[1], (ptrdiff_t)left - 4, signed_tails);
  hash = mix_word(hash, words[2], (ptrdiff_t)left - 8, signed_tails);
  return mix_word(hash, words[3], (ptrdiff_t)left - 12, signed_tails);
}

/* ---- From keys to lanes ---- */

/* The type of a stripe at any address. The last bytes of a stripe may belong to other data on the
 * same page. Sanitizers would report the load of such a stripe, so they do not check load_stripe().
 * load_stripe() uses this type and no intrinsic, because sanitizers would check an intrinsic that
 * is a function. */
typedef uint32x4_t stripe_anywhere __attribute__((aligned(1), may_alias));

__attribute__((no_sanitize("address", "thread"))) static inline uint32x4_t
load_stripe(const uint8_t *from)
{
  return *(const stripe_anywhere *)from;
}

/* The addresses of the four keys of one register. */
struct four {
  const uint8_t *at[4];
};

/* Loads the stripe of each key that begins `distance` bytes from the start of the key, and
 * transposes the words, so that words[w] has word w of all four keys. */
static inline void load_words(struct four keys, size_t distance, uint32x4_t words[STRIPE_NWORDS])
{
  const uint32x4_t a = load_stripe(keys.at[0] + distance), b = load_stripe(keys.at[1] + distance);
  const uint32x4_t c = load_stripe(keys.at[2] + distance), d = load_stripe(keys.at[3] + distance);
  const uint64x2_t ab01 = vreinterpretq_u64_u32(vzip1q_u32(a, b)),
                   ab23 = vreinterpretq_u64_u32(vzip2q_u32(a, b));
  const uint64x2_t cd01 = vreinterpretq_u64_u32(vzip1q_u32(c, d)),
                   cd23 = vreinterpretq_u64_u32(vzip2q_u32(c, d));
  words[0] = vreinterpretq_u32_u64(vzip1q_u64(ab01, cd01));
  words[1] = vreinterpretq_u32_u64(vzip2q_u64(ab01, cd01));
  words[2] = vreinterpretq_u32_u64(vzip1q_u64(ab23, cd23));
  words[3] = vreinterpretq_u32_u64(vzip2q_u64(ab23, cd23));
}

#endif
