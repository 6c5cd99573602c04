/* Definitions that all variants of BloomHash in lanes share. A lane holds a key, and a step hashes
 * a stripe, 16 bytes, of each key.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_BLOOMHASH_H
#define LANEBLOOM_LANES_BLOOMHASH_H

#include "../layouts/bloomhash.h"
#include "../scalar/scalar.h"

enum {
  STRIPE_NBYTES = 16,
  STRIPE_NWORDS = STRIPE_NBYTES / 4,
  PAGE_NBYTES = 4096, /* the size of the smallest pages */
};

/* After a word is mixed, BloomHash shifts the product. tail_shifts[w][left % 16] is this shift for
 * word w of a stripe of which `left` bytes belong to the key: 24 if the key ends within the word,
 * otherwise 16. */
static const uint8_t tail_shifts[STRIPE_NWORDS][16] = {
    {16, 24, 24, 24, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {16, 16, 16, 16, 16, 24, 24, 24, 16, 16, 16, 16, 16, 16, 16, 16},
    {16, 16, 16, 16, 16, 16, 16, 16, 16, 24, 24, 24, 16, 16, 16, 16},
    {16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 24, 24, 24},
};

/* The safe load bound says where a whole stripe may be loaded even if the key ends within the
 * stripe: at every address with (address & mask) <= last. */
struct load_bound {
  uint64_t mask, last;
};

/* Returns the safe load bound of a batch. The batch must not be empty. */
static inline struct load_bound load_bound_of(const lanebloom_keys *keys)
{
  const uint8_t *end = keys->data;
  switch ((enum keys_layout)keys->layout) {
  case KEYS_FIXED:
    end += (keys->n - 1) * keys->stride + keys->width;
    break;
  case KEYS_OFFSETS32:
    end += ((const uint32_t *)keys->index)[keys->n];
    break;
  case KEYS_OFFSETS64:
    end += ((const uint64_t *)keys->index)[keys->n];
    break;
  case KEYS_SLICES: /* the memory after a slice is unknown, but pages are mapped as a whole */
    return (struct load_bound){PAGE_NBYTES - 1, PAGE_NBYTES - STRIPE_NBYTES};
  }
  return (struct load_bound){UINT64_MAX, (uint64_t)(uintptr_t)end - STRIPE_NBYTES};
}

static inline void hash_in_scalar(const lanebloom_keys *keys, bool signed_tails, uint8_t *hashes)
{
  if (signed_tails)
    lanebloom_bloomhash_signed_hash_scalar(keys, hashes);
  else
    lanebloom_bloomhash_hash_scalar(keys, hashes);
}

/* ---- Keys of one width ---- */

/* The operations that hash_fixed() needs. An instruction set defines them as inline functions and
 * lists them in a constant of this type. In all of them, n is a multiple of nlanes. */
struct bloomhash_widths {
  size_t nlanes;
  void (*hash_4)(const uint8_t *data, size_t n, uint8_t *hashes);
  void (*hash_8)(const uint8_t *data, size_t n, uint8_t *hashes);
  void (*hash_16)(const uint8_t *data, size_t n, uint8_t *hashes);

  /* Hashes keys of any width but 0, at equal distances. 16 bytes must be readable from the start of
   * the last stripe of each key on. */
  void (*hash_any)(const uint8_t *data, size_t width, size_t stride, size_t n, bool signed_tails,
                   uint8_t *hashes);
};

/* Hashes keys of one width, in whole groups of nlanes keys, from the first key on. Stops before the
 * first group that has a key whose last stripe cannot be loaded as a whole. Returns the number of
 * hashed keys. */
static inline __attribute__((always_inline)) size_t
hash_fixed(const lanebloom_keys *keys, bool signed_tails, const struct bloomhash_widths *widths,
           uint8_t *hashes)
{
  const uint8_t *data = keys->data;
  const size_t width = keys->width, stride = keys->stride;
  const size_t nlanes = widths->nlanes, n = keys->n / nlanes * nlanes;
  const size_t packed_width = stride == width ? width : 0;
  if (packed_width == 4) {
    widths->hash_4(data, n, hashes);
    return n;
  }
  if (packed_width == 8) {
    widths->hash_8(data, n, hashes);
    return n;
  }
  if (packed_width == 16) {
    widths->hash_16(data, n, hashes);
    return n;
  }
  const size_t last_nbytes = width % STRIPE_NBYTES;
  const size_t n_beyond = last_nbytes > 0 ? (STRIPE_NBYTES - last_nbytes + stride - 1) / stride : 0;
  const size_t n_inside = n_beyond < keys->n ? (keys->n - n_beyond) / nlanes * nlanes : 0;
  widths->hash_any(data, width, stride, n_inside, signed_tails, hashes);
  return n_inside;
}

#endif
