/* Hashes keys by BloomHash with NEON. Eight keys are hashed at a time, each in a lane of two
 * registers, and each step hashes a stripe, sixteen bytes, of each key.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"
#include "bloomhash_steps.h"

enum {
  /* two registers of four lanes: while the products of one register wait, the CPU computes the
   * products of the other */
  LANES = 8,

  /* The largest number of keys in a block, if keys have many sizes. The lists of such a block stay
   * in the first-level cache. */
  BLOCK_MAX = 512,

  /* A list has the number of stripes of its keys as its number. Keys with more than LONG stripes
   * are in the list LONG, too. Keys in the list ALONE are hashed one by one. */
  ALONE = 0,
  LONG = 16,
  NLISTS,
};

/* ---- Keys of one width ---- */

static inline void hash_width_4(const uint8_t *data, size_t n, uint8_t *hashes)
{
  const uint32x4_t first = first_state(vdupq_n_u32(4));
  for (size_t i = 0; i < n; i += LANES) {
    store_four(hashes + 4 * i, mix(first, load_four(data + 4 * i)));
    store_four(hashes + 4 * i + 16, mix(first, load_four(data + 4 * i + 16)));
  }
}

static inline void hash_width_8(const uint8_t *data, size_t n, uint8_t *hashes)
{
  const uint32x4_t first = first_state(vdupq_n_u32(8));
  for (size_t i = 0; i < n; i += LANES) {
    const uint32x4x2_t low = vld2q_u32((const void *)(data + 8 * i)); /* allows any alignment */
    const uint32x4x2_t high = vld2q_u32((const void *)(data + 8 * i + 32));
    store_four(hashes + 4 * i, mix(mix(first, low.val[0]), low.val[1]));
    store_four(hashes + 4 * i + 16, mix(mix(first, high.val[0]), high.val[1]));
  }
}

/* Returns four keys at equal distances. */
static inline struct four four_strided(const uint8_t *data, size_t stride)
{
  return (struct four){{data, data + stride, data + 2 * stride, data + 3 * stride}};
}

/* Hashes keys of any other width. 16 bytes must be readable from the start of the last stripe of
 * each key on. */
static inline void hash_any_width(const uint8_t *data, size_t width, size_t stride, size_t n,
                                  bool signed_tails, uint8_t *hashes)
{
  const uint32x4_t first = first_state(vdupq_n_u32((uint32_t)width));
  for (size_t i = 0; i < n; i += LANES) {
    const struct four low = four_strided(data + i * stride, stride);
    const struct four high = four_strided(data + (i + 4) * stride, stride);
    uint32x4_t low_words[STRIPE_NWORDS], high_words[STRIPE_NWORDS], low_hash = first,
                                                                    high_hash = first;
    size_t done = 0;
    for (; done + STRIPE_NBYTES <= width; done += STRIPE_NBYTES) {
      load_words(low, done, low_words);
      load_words(high, done, high_words);
      low_hash = mix_stripe(low_hash, low_words);
      high_hash = mix_stripe(high_hash, high_words);
    }
    if (done < width) {
      load_words(low, done, low_words);
      load_words(high, done, high_words);
      low_hash = mix_same(low_hash, low_words, width - done, signed_tails);
      high_hash = mix_same(high_hash, high_words, width - done, signed_tails);
    }
    store_four(hashes + 4 * i, low_hash);
    store_four(hashes + 4 * i + 16, high_hash);
  }
}

static inline void hash_width_16(const uint8_t *data, size_t n, uint8_t *hashes)
{
  hash_any_width(data, 16, 16, n, false, hashes);
}

static const struct bloomhash_widths widths = {LANES, hash_width_4, hash_width_8, hash_width_16,
                                               hash_any_width};

/* ---- Keys of many sizes ----
 *
 * If eight adjacent keys have the same number of stripes, they are hashed at once. All other keys
 * go into lists by their number of stripes, so that the keys in lanes end together. The queue of
 * lanes/bloomhash_queue.h would have to move addresses, sizes and hashes together after each round.
 * NEON has no instructions for this (no mask of lanes, and no compression), so a queue was not
 * tried. */

/* Returns a byte for each of eight keys: its number of stripes, but at most LONG. */
static inline uint64_t stripes_of_sizes(uint32x4_t low, uint32x4_t high)
{
  const uint32x4_t most = vdupq_n_u32(LONG * STRIPE_NBYTES),
                   round_up = vdupq_n_u32(STRIPE_NBYTES - 1);
  low = vshrq_n_u32(vaddq_u32(vminq_u32(low, most), round_up), 4);
  high = vshrq_n_u32(vaddq_u32(vminq_u32(high, most), round_up), 4);
  const uint8x8_t bytes =
      vmovn_u16(vuzp1q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high)));
  return vget_lane_u64(vreinterpret_u64_u8(bytes), 0);
}

/* Returns the sizes of four slices. If the last stripe of a slice may not be loaded as a whole, the
 * returned size is 0, so that the key is hashed alone. */
static inline uint32x4_t sizes_of_slices(const lanebloom_slice *slices, struct load_bound bound)
{
  const uint64x2_t a = vreinterpretq_u64_u32(load_four(slices)),
                   b = vreinterpretq_u64_u32(load_four(slices + 1));
  const uint64x2_t c = vreinterpretq_u64_u32(load_four(slices + 2)),
                   d = vreinterpretq_u64_u32(load_four(slices + 3));
  const uint32x4_t sizes = vcombine_u32(vqmovn_u64(vuzp2q_u64(a, b)), vqmovn_u64(vuzp2q_u64(c, d)));
  const uint32x4_t at = vcombine_u32(vmovn_u64(vuzp1q_u64(a, b)), vmovn_u64(vuzp1q_u64(c, d)));
  const uint32x4_t last_bytes = vsubq_u32(vaddq_u32(at, sizes), vdupq_n_u32(1));
  const uint32x4_t in_page = vandq_u32(last_bytes, vdupq_n_u32((uint32_t)bound.mask));
  return vandq_u32(sizes, vcleq_u32(in_page, vdupq_n_u32((uint32_t)bound.last)));
}

/* Returns the sizes of four keys of the batch, from key i on. A size that does not fit into 32 bits
 * becomes the largest number of 32 bits. */
static inline uint32x4_t sizes_of(const lanebloom_keys *keys, size_t i, struct load_bound bound)
{
  switch ((enum keys_layout)keys->layout) {
  case KEYS_OFFSETS32: {
    const uint32_t *offsets = (const uint32_t *)keys->index + i;
    return vsubq_u32(load_four(offsets + 1), load_four(offsets));
  }
  case KEYS_OFFSETS64: {
    const uint64_t *offsets = (const uint64_t *)keys->index + i;
    const uint64x2_t low = vsubq_u64(vld1q_u64(offsets + 1), vld1q_u64(offsets));
    const uint64x2_t high = vsubq_u64(vld1q_u64(offsets + 3), vld1q_u64(offsets + 2));
    return vcombine_u32(vqmovn_u64(low), vqmovn_u64(high));
  }
  case KEYS_SLICES:
    return sizes_of_slices((const lanebloom_slice *)keys->index + i, bound);
  case KEYS_FIXED:
    break;
  }
  return vdupq_n_u32(0); /* never reached: hash_all() handles this layout */
}

/* Returns the addresses of the stripes that begin `distance` bytes from the start of the keys. For
 * a key that has ended, returns the start of the key, which can be loaded. */
static inline struct four begun(struct four keys, uint32x4_t sizes, size_t distance)
{
  const uint32x4_t all = vdupq_n_u32((uint32_t)distance),
                   lanes = vandq_u32(all, vcgtq_u32(sizes, all));
  return (struct four){
      {keys.at[0] + vgetq_lane_u32(lanes, 0), keys.at[1] + vgetq_lane_u32(lanes, 1),
       keys.at[2] + vgetq_lane_u32(lanes, 2), keys.at[3] + vgetq_lane_u32(lanes, 3)}};
}

/* Hashes eight keys of any sizes but 0, and stores their hashes contiguously. */
static inline __attribute__((always_inline)) void hash_group(struct four low, struct four high,
                                                             uint32x4_t low_sizes,
                                                             uint32x4_t high_sizes,
                                                             bool signed_tails, void *hashes)
{
  const uint32x4_t step = vdupq_n_u32(STRIPE_NBYTES);
  const size_t least = vminvq_u32(vminq_u32(low_sizes, high_sizes));
  const size_t most = vmaxvq_u32(vmaxq_u32(low_sizes, high_sizes));
  uint32x4_t low_hash = first_state(low_sizes), high_hash = first_state(high_sizes);
  uint32x4_t low_words[STRIPE_NWORDS], high_words[STRIPE_NWORDS];
  size_t done = 0;
  for (; done + STRIPE_NBYTES <= least; done += STRIPE_NBYTES) {
    load_words(low, done, low_words);
    load_words(high, done, high_words);
    low_hash = mix_stripe(low_hash, low_words);
    high_hash = mix_stripe(high_hash, high_words);
  }
  uint32x4_t low_left = vsubq_u32(low_sizes, vdupq_n_u32((uint32_t)done));
  uint32x4_t high_left = vsubq_u32(high_sizes, vdupq_n_u32((uint32_t)done));
  for (; done < most; done += STRIPE_NBYTES) {
    if (done < least) {
      load_words(low, done, low_words);
      load_words(high, done, high_words);
    } else {
      load_words(begun(low, low_sizes, done), 0, low_words);
      load_words(begun(high, high_sizes, done), 0, high_words);
    }
    low_hash = mix_last_stripe(low_hash, low_words, vminq_u32(low_left, step), signed_tails);
    high_hash = mix_last_stripe(high_hash, high_words, vminq_u32(high_left, step), signed_tails);
    low_left = vqsubq_u32(low_left, step);
    high_left = vqsubq_u32(high_left, step);
  }
  store_four(hashes, low_hash);
  store_four((uint8_t *)hashes + 16, high_hash);
}

/* Hashes eight adjacent keys, from key i on, which have the same number of stripes. */
static inline __attribute__((always_inline)) void
hash_neighbours(const lanebloom_keys *keys, size_t i, uint32x4_t low_sizes, uint32x4_t high_sizes,
                bool signed_tails, uint8_t *hashes)
{
  const struct four low = {{keys_at(keys, i).data, keys_at(keys, i + 1).data,
                            keys_at(keys, i + 2).data, keys_at(keys, i + 3).data}};
  const struct four high = {{keys_at(keys, i + 4).data, keys_at(keys, i + 5).data,
                             keys_at(keys, i + 6).data, keys_at(keys, i + 7).data}};
  hash_group(low, high, low_sizes, high_sizes, signed_tails, hashes + 4 * i);
}

/* Returns the addresses and sizes of four keys of a list. */
static inline struct four four_listed(const lanebloom_keys *keys, const uint16_t list[4],
                                      uint32x4_t *sizes)
{
  const lanebloom_slice a = keys_at(keys, list[0]), b = keys_at(keys, list[1]);
  const lanebloom_slice c = keys_at(keys, list[2]), d = keys_at(keys, list[3]);
  uint32x4_t lanes = vdupq_n_u32((uint32_t)a.size);
  lanes = vsetq_lane_u32((uint32_t)b.size, lanes, 1);
  lanes = vsetq_lane_u32((uint32_t)c.size, lanes, 2);
  *sizes = vsetq_lane_u32((uint32_t)d.size, lanes, 3);
  return (struct four){{a.data, b.data, c.data, d.data}};
}

static inline void store_listed(uint8_t *hashes, const uint16_t list[4], const uint32_t hash[4])
{
  memcpy(hashes + 4 * (size_t)list[0], &hash[0], sizeof hash[0]);
  memcpy(hashes + 4 * (size_t)list[1], &hash[1], sizeof hash[1]);
  memcpy(hashes + 4 * (size_t)list[2], &hash[2], sizeof hash[2]);
  memcpy(hashes + 4 * (size_t)list[3], &hash[3], sizeof hash[3]);
}

static inline __attribute__((always_inline)) void hash_listed(const lanebloom_keys *keys,
                                                              const uint16_t list[LANES],
                                                              bool signed_tails, uint8_t *hashes)
{
  uint32x4_t low_sizes, high_sizes;
  const struct four low = four_listed(keys, list, &low_sizes),
                    high = four_listed(keys, list + 4, &high_sizes);
  uint32_t hash[LANES];
  hash_group(low, high, low_sizes, high_sizes, signed_tails, hash);
  store_listed(hashes, list, hash);
  store_listed(hashes, list + 4, hash + 4);
}

/* Checks whether the sizes of these eight long keys differ so little that all lanes have work most
 * of the time. */
static inline bool are_alike(const lanebloom_keys *keys, const uint16_t list[LANES])
{
  size_t least = SIZE_MAX, most = 0;
  for (size_t l = 0; l < LANES; l++) {
    const size_t size = keys_at(keys, list[l]).size;
    least = size < least ? size : least;
    most = size > most ? size : most;
  }
  return most <= INT32_MAX && most / 2 <= least;
}

struct lists {
  uint16_t *end[NLISTS];
  uint16_t keys[NLISTS]
               [BLOCK_MAX +
                2 * LANES]; /* room for an overlapping last group, and keys of longer lists */
};

/* Puts four keys, from key i on, into lists by their numbers of stripes, which are the lowest four
 * bytes of `stripes`. */
static inline void list_four(struct lists *lists, uint64_t stripes, size_t i)
{
  *lists->end[stripes & 0xff]++ = (uint16_t)i;
  *lists->end[stripes >> 8 & 0xff]++ = (uint16_t)(i + 1);
  *lists->end[stripes >> 16 & 0xff]++ = (uint16_t)(i + 2);
  *lists->end[stripes >> 24 & 0xff]++ = (uint16_t)(i + 3);
}

/* Begins a block of at least LANES keys: hashes groups of keys with the same number of stripes, and
 * puts all other keys into lists. */
static inline __attribute__((always_inline)) void begin_block(const lanebloom_keys *keys,
                                                              struct load_bound bound,
                                                              bool signed_tails,
                                                              struct lists *lists, uint8_t *hashes)
{
  for (size_t c = 0; c < NLISTS; c++)
    lists->end[c] = lists->keys[c];
  for (size_t next = 0; next < keys->n; next += LANES) {
    const size_t i = next + LANES <= keys->n ? next : keys->n - LANES;
    const uint32x4_t low = sizes_of(keys, i, bound), high = sizes_of(keys, i + 4, bound);
    const uint64_t stripes = stripes_of_sizes(low, high), first = stripes & 0xff;
    if (stripes == first * 0x0101010101010101 && first != ALONE && first != LONG) {
      hash_neighbours(keys, i, low, high, signed_tails, hashes);
      continue;
    }
    list_four(lists, stripes, i);
    list_four(lists, stripes >> 32, i + 4);
  }
}

static inline __attribute__((always_inline)) void
hash_block(const lanebloom_keys *keys, struct load_bound bound, bool signed_tails, uint8_t *hashes)
{
  struct lists lists;
  begin_block(keys, bound, signed_tails, &lists, hashes);
  for (size_t c = LONG; c > ALONE; c--) {
    const uint16_t *list = lists.keys[c], *end = lists.end[c];
    for (; end - list >= LANES; list += LANES)
      if (c < LONG || are_alike(keys, list))
        hash_listed(keys, list, signed_tails, hashes);
      else
        for (size_t l = 0; l < LANES; l++)
          *lists.end[ALONE]++ = list[l];
    for (const size_t below = c < LONG ? c - 1 : ALONE; list < end; list++)
      *lists.end[below]++ = *list;
  }
  for (const uint16_t *key = lists.keys[ALONE]; key < lists.end[ALONE]; key++) {
    const lanebloom_keys one = lanebloom_keys_part(keys, *key, 1);
    hash_in_scalar(&one, signed_tails, hashes + 4 * (size_t)*key);
  }
}

/* Returns true if the last stripe of the key cannot be loaded as a whole, or if the key is
 * empty. */
static inline bool ends_beyond(lanebloom_slice key, struct load_bound bound)
{
  return key.size == 0 || (((uintptr_t)key.data + key.size - 1) & bound.mask) > bound.last;
}

/* Hashes a batch of any sizes, block by block. The layout is a constant, so that each layout gets
 * its own loops. Keys at the end of the batch whose last stripes cannot be loaded are hashed by
 * scalar code. */
static inline __attribute__((always_inline)) void
hash_blocks(const lanebloom_keys *keys, enum keys_layout layout, bool signed_tails, uint8_t *hashes)
{
  const struct load_bound bound = load_bound_of(keys);
  size_t n = keys->n;
  while (n > 0 && layout != KEYS_SLICES && ends_beyond(keys_at(keys, n - 1), bound))
    n--;
  size_t first = 0;
  for (size_t nblock; (nblock = n - first < BLOCK_MAX ? n - first : BLOCK_MAX) >= LANES;
       first += nblock) {
    lanebloom_keys block = lanebloom_keys_part(keys, first, nblock);
    block.layout = layout;
    hash_block(&block, bound, signed_tails, hashes + 4 * first);
  }
  const lanebloom_keys rest = lanebloom_keys_part(keys, first, keys->n - first);
  hash_in_scalar(&rest, signed_tails, hashes + 4 * first);
}

static inline __attribute__((always_inline)) void hash_all(const lanebloom_keys *keys,
                                                           bool signed_tails, uint8_t *hashes)
{
  if (keys->n < LANES) { /* if there are no keys, not even an offset may be read */
    hash_in_scalar(keys, signed_tails, hashes);
    return;
  }
  size_t done = 0;
  switch ((enum keys_layout)keys->layout) {
  case KEYS_OFFSETS32:
    hash_blocks(keys, KEYS_OFFSETS32, signed_tails, hashes);
    return;
  case KEYS_OFFSETS64:
    hash_blocks(keys, KEYS_OFFSETS64, signed_tails, hashes);
    return;
  case KEYS_SLICES:
    hash_blocks(keys, KEYS_SLICES, signed_tails, hashes);
    return;
  case KEYS_FIXED:
    if (keys->width > 0)
      done = hash_fixed(keys, signed_tails, &widths, hashes);
  }
  const lanebloom_keys rest = lanebloom_keys_part(keys, done, keys->n - done);
  hash_in_scalar(&rest, signed_tails, hashes + 4 * done);
}

void KERNEL(bloomhash_hash)(const lanebloom_keys *keys, void *hashes)
{
  hash_all(keys, false, hashes);
}

void KERNEL(bloomhash_signed_hash)(const lanebloom_keys *keys, void *hashes)
{
  hash_all(keys, true, hashes);
}
