/* Probes Hudi's filters with a key per lane. All probes of a key hash the whole key, each with
 * another seed. So the words of the keys are loaded and mixed once, into one row of words for each
 * word of the keys, and then each probe takes only one product per word:
 *
 *   words   word 0 of    a b c d e f g h     the hashes of a probe: (seed ^ size) * M ^ word 0,
 *           word 1 of    a b c d e f g h     then hash * M ^ word 1, and so on
 *
 * After a probe, the keys that have passed it are moved together, with their words, if they are so
 * few that the moves pay. In this way absent keys, most of which fail one of their first probes,
 * take few registers.
 * SPDX-License-Identifier: MIT */
#include "../layouts/hudi.h"
#include "lanes.h"
#include "vector.h"

_Static_assert((uint32_t)(0x5bd1e995u * 0xe59b19bdu) == 1, "the inverse of the multiplier");

enum {
  STEP_NKEYS = 16,   /* test_bits16() tests the bits of so many keys */
  TILE_NVECTORS = 4, /* hashed at a time, because a product takes several cycles */
  TILE_NKEYS = TILE_NVECTORS * LANES32,
  LANES_NKEYS = 128,                 /* in lanes at a time; a multiple of TILE_NKEYS */
  ROW_NKEYS = LANES_NKEYS + LANES32, /* store_chosen32() writes whole vectors */

  /* Scalar code hashes longer keys. Shorter keys get at least two steps, see mix_words(). */
  MAX_NSTEPS = 32,
  MIN_NSTEPS = 2,

  SORTED_NKEYS = 1024, /* sorted by their numbers of steps at a time */

  /* Survivors are moved together if they are at most this part of the keys in lanes. */
  MOST_PERCENT = 75,

  /* Bits of rows that are larger than this are prefetched. */
  NEAR_NBYTES = 4 << 20,
};

/* The keys in lanes. A step is the product and the word that are combined with a hash. If keys have
 * different numbers of steps, words of 0 come before the words of the shorter keys. Each of these
 * steps only multiplies, so the factor of the first step undoes the products. */
struct lanes {
  size_t n;
  _Alignas(CACHE_LINE_NBYTES) uint32_t indices[ROW_NKEYS]; /* of the keys in the caller's batch */
  _Alignas(CACHE_LINE_NBYTES) uint32_t sizes[ROW_NKEYS];
  _Alignas(CACHE_LINE_NBYTES) uint32_t factors[ROW_NKEYS];
  _Alignas(CACHE_LINE_NBYTES) uint32_t hashes[ROW_NKEYS]; /* the seeds of the next probe */
  _Alignas(CACHE_LINE_NBYTES) uint32_t words[MAX_NSTEPS][ROW_NKEYS];
};

/* What a call needs besides the lanes. */
struct probed {
  const struct filter_shape *shape;
  vector multiplier, nbits, reciprocal;
  count32 shift;
  uint32_t factors[MAX_NSTEPS]; /* by the number of words of 0 at the beginning */
};

static inline struct probed probed_of(const struct filter_shape *shape)
{
  struct probed probed = {
      .shape = shape,
      .multiplier = splat32(HUDI_MULTIPLIER),
      .nbits = splat32(shape->hudi.row_nbits),
      .reciprocal = splat32(shape->hudi.reciprocal.multiplier),
      .shift = splat_count32(shape->hudi.reciprocal.shift - 32), /* needs 2 bits or more */
  };
  probed.factors[0] = HUDI_MULTIPLIER;
  for (size_t i = 1; i < MAX_NSTEPS; i++)
    probed.factors[i] = probed.factors[i - 1] * HUDI_INVERSE;
  return probed;
}

/* ---- Loading keys ---- */

/* Returns the number of steps of a key: its words, and one more if bytes are left. */
static inline size_t nsteps_of(size_t size)
{
  return (size + 3) / 4;
}

static inline vector mix(vector words, vector multiplier)
{
  const vector product = mul_low32(words, multiplier);
  return mul_low32(bit_xor(product, shift_right32(product, HUDI_WORD_SHIFT)), multiplier);
}

/* Mixes the loaded words. Then combines the last 1 to 3 bytes of each key with its last whole word,
 * or with the 0 in the place of that word; the step after it, whose word is 0, multiplies. */
static inline void mix_words(struct lanes *lanes, const struct probed *probed,
                             const uint32_t *tails, size_t nsteps)
{
  for (size_t step = 0; step < nsteps; step++)
    for (size_t i = 0; i < lanes->n; i += LANES32)
      store(lanes->words[step] + i, mix(load(lanes->words[step] + i), probed->multiplier));
  uint32_t *last_but_one = lanes->words[nsteps - 2];
  for (size_t i = 0; i < lanes->n && tails; i += LANES32)
    store(last_but_one + i, bit_xor(load(last_but_one + i), load(tails + i)));
}

/* Loads the words of keys first .. end - 1 in lanes, which have the same number of steps. */
static inline void fill_words(struct lanes *lanes, const uint8_t *const *keys, size_t first,
                              size_t end, size_t nsteps, uint32_t *tails)
{
  const size_t nbefore = nsteps - nsteps_of(lanes->sizes[first]), last = nsteps - 1;
  for (size_t step = 0; step < nbefore; step++)
    memset(lanes->words[step] + first, 0, (end - first) * sizeof **lanes->words);
  for (size_t step = nbefore; step < last; step++)
    for (size_t i = first; i < end; i++)
      lanes->words[step][i] = load_le32(keys[i] + 4 * (step - nbefore));
  for (size_t i = first; i < end; i++) {
    const uint8_t *bytes = keys[i] + 4 * (last - nbefore);
    const size_t ntail = lanes->sizes[i] % 4;
    lanes->words[last][i] = ntail > 0 ? 0 : load_le32(bytes);
    if (ntail > 0)
      tails[i] = hudi_tail(bytes, ntail);
  }
}

/* Loads n keys, whose indices are order[0 .. n - 1] plus `first`. Their numbers of steps ascend, up
 * to at most nsteps. */
static inline void fill(struct lanes *lanes, const struct probed *probed,
                        const lanebloom_keys *keys, size_t first, const uint16_t *order, size_t n,
                        size_t nsteps)
{
  _Alignas(CACHE_LINE_NBYTES) uint32_t tails[ROW_NKEYS] = {0};
  const uint8_t *data[LANES_NKEYS];
  lanes->n = n;
  for (size_t i = 0; i < n; i++) {
    const lanebloom_slice key = keys_at(keys, first + order[i]);
    data[i] = key.data;
    lanes->indices[i] = order[i];
    lanes->sizes[i] = (uint32_t)key.size;
    lanes->factors[i] = probed->factors[nsteps - nsteps_of(key.size)];
  }
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && nsteps_of(lanes->sizes[end]) == nsteps_of(lanes->sizes[i]);)
      end++;
    fill_words(lanes, data, i, end, nsteps, tails);
  }
  mix_words(lanes, probed, tails, nsteps);
}

/* Loads n keys of one width, which begin at equal distances. The loops have no branches, so this is
 * faster than fill(). */
static inline void fill_fixed(struct lanes *lanes, const struct probed *probed,
                              const lanebloom_keys *keys, size_t first, size_t n, size_t nsteps)
{
  _Alignas(CACHE_LINE_NBYTES) uint32_t tails[ROW_NKEYS] = {0};
  const size_t stride = keys->stride, ntail = keys->width % 4,
               nbefore = nsteps - nsteps_of(keys->width);
  const uint8_t *data = (const uint8_t *)keys->data + first * stride;
  size_t step = 0;
  lanes->n = n;
  for (size_t i = 0; i < n; i++) {
    lanes->indices[i] = (uint32_t)i;
    lanes->sizes[i] = (uint32_t)keys->width;
    lanes->factors[i] = probed->factors[nbefore];
  }
  for (; step < nbefore; step++)
    memset(lanes->words[step], 0, n * sizeof **lanes->words);
  for (; step < nsteps - (ntail > 0); step++, data += 4)
    for (size_t i = 0; i < n; i++)
      lanes->words[step][i] = load_le32(data + i * stride);
  if (ntail > 0) {
    memset(lanes->words[step], 0, n * sizeof **lanes->words);
    for (size_t i = 0; i < n; i++)
      tails[i] = hudi_tail(data + i * stride, ntail);
  }
  mix_words(lanes, probed, ntail > 0 ? tails : NULL, nsteps);
}

/* ---- Probing ---- */

/* The bits that the keys in lanes probe: their bytes, and masks that select the bit in the byte. */
struct bits {
  _Alignas(CACHE_LINE_NBYTES) uint32_t bytes[LANES_NKEYS];
  _Alignas(CACHE_LINE_NBYTES) uint8_t masks[LANES_NKEYS];
};

/* Returns the position of the bit that each hash selects. */
static inline vector positions_of(vector hashes, const struct probed *probed)
{
  const vector is_negative = shift_right32(hashes, 31);
  const vector magnitudes = add32(bit_xor(hashes, sub32(splat32(0), is_negative)), is_negative);
  const vector quotients =
      shift_right_count32(mul_high32(magnitudes, probed->reciprocal), probed->shift);
  return sub32(magnitudes, mul_low32(quotients, probed->nbits));
}

/* Hashes all keys once more, and locates their bits. */
static inline void locate(struct lanes *lanes, const struct probed *probed, size_t nsteps,
                          struct bits *bits)
{
  const vector multiplier = probed->multiplier;
  for (size_t i = 0; i < lanes->n; i += TILE_NKEYS) {
    vector hashes[TILE_NVECTORS];
#pragma GCC unroll 8
    for (size_t j = 0; j < TILE_NVECTORS; j++) {
      const size_t at = i + j * LANES32;
      const vector seeds = bit_xor(load(lanes->hashes + at), load(lanes->sizes + at));
      hashes[j] = bit_xor(mul_low32(seeds, load(lanes->factors + at)), load(lanes->words[0] + at));
    }
    for (size_t step = 1; step < nsteps; step++)
#pragma GCC unroll 8
      for (size_t j = 0; j < TILE_NVECTORS; j++)
        hashes[j] =
            bit_xor(mul_low32(hashes[j], multiplier), load(lanes->words[step] + i + j * LANES32));
#pragma GCC unroll 8
    for (size_t j = 0; j < TILE_NVECTORS; j++) {
      const size_t at = i + j * LANES32;
      vector hash = hashes[j];
      hash = mul_low32(bit_xor(hash, shift_right32(hash, HUDI_FIRST_LAST_SHIFT)), multiplier);
      hash = bit_xor(hash, shift_right32(hash, HUDI_LAST_SHIFT));
      store(lanes->hashes + at, hash);
      const vector positions = positions_of(hash, probed);
      store(bits->bytes + at, shift_right32(positions, 3));
      store_masks8(bits->masks + at, positions);
    }
  }
}

/* Tests the located bits of the keys whose bit in `passed` is set, and clears the bits of those
 * that fail. passed[i] is for STEP_NKEYS keys. Returns the number of keys that pass. */
static inline size_t test(const struct bits *bits, const uint8_t *row, bool is_far, size_t n,
                          uint16_t *passed)
{
  size_t npassed = 0;
  for (size_t i = 0; i < n && is_far; i++)
    __builtin_prefetch(row + bits->bytes[i]);
  for (size_t i = 0; i < n; i += STEP_NKEYS) {
    passed[i / STEP_NKEYS] &= (uint16_t)test_bits16(row, bits->bytes + i, bits->masks + i);
    npassed += (unsigned)__builtin_popcount(passed[i / STEP_NKEYS]);
  }
  return npassed;
}

static inline void set_passed(uint16_t *passed, size_t n)
{
  for (size_t i = 0; i < n; i += STEP_NKEYS)
    passed[i / STEP_NKEYS] = (uint16_t)(n - i >= STEP_NKEYS ? UINT16_MAX : (1u << (n - i)) - 1);
}

/* Moves the keys that have passed to `to`, side by side. `to` may be `from`, because stores never
 * pass the loads. */
static inline void compact(const struct lanes *from, const uint16_t *passed, size_t nsteps,
                           struct lanes *to)
{
  size_t n = 0;
  for (size_t i = 0; i < from->n; i += LANES32) {
    const unsigned mask =
        (unsigned)passed[i / STEP_NKEYS] >> i % STEP_NKEYS & ((1u << LANES32) - 1);
    if (mask == 0)
      continue;
    store_chosen32(to->indices + n, load(from->indices + i), mask);
    store_chosen32(to->sizes + n, load(from->sizes + i), mask);
    store_chosen32(to->factors + n, load(from->factors + i), mask);
    for (size_t step = 0; step < nsteps; step++)
      store_chosen32(to->words[step] + n, load(from->words[step] + i), mask);
    n += store_chosen32(to->hashes + n, load(from->hashes + i), mask);
  }
  to->n = n;
}

static inline void set_bit(uint8_t *bitmap, size_t i)
{
  bitmap[i / 8] = (uint8_t)(bitmap[i / 8] | 1 << i % 8);
}

static inline void mark_hits(const struct lanes *lanes, const uint16_t *passed, uint8_t *bitmap)
{
  for (size_t i = 0; i < lanes->n; i++)
    if (passed[i / STEP_NKEYS] >> i % STEP_NKEYS & 1)
      set_bit(bitmap, lanes->indices[i]);
}

/* Probes a row with all keys in lanes, and sets the bits of those that may be in the row. The words
 * of the keys do not change. `survivors` is scratch memory. */
static void probe_row(struct lanes *all, const struct probed *probed, const uint8_t *row,
                      size_t nsteps, struct lanes *survivors, uint8_t *bitmap)
{
  const bool is_far = probed->shape->hudi.row_nbits / 8 > NEAR_NBYTES;
  struct lanes *lanes = all;
  struct bits bits;
  uint16_t passed[LANES_NKEYS / STEP_NKEYS];
  set_passed(passed, lanes->n);
  memset(all->hashes, 0, sizeof all->hashes);
  for (uint32_t k = 0; k < probed->shape->nprobes; k++) {
    locate(lanes, probed, nsteps, &bits);
    const size_t npassed = test(&bits, row, is_far, lanes->n, passed);
    if (npassed == 0)
      return;
    if (npassed * 100 <= lanes->n * MOST_PERCENT) {
      compact(lanes, passed, nsteps, survivors);
      lanes = survivors;
      set_passed(passed, lanes->n);
    }
  }
  mark_hits(lanes, passed, bitmap);
}

/* ---- Batches ---- */

/* Returns the number of steps of a key, or MAX_NSTEPS + 1 if the key is too long for lanes. */
static inline size_t class_of(size_t size)
{
  const size_t nsteps = nsteps_of(size);
  return nsteps < MAX_NSTEPS + 1 ? nsteps : MAX_NSTEPS + 1;
}

/* Sorts n keys, of which there is at least one, by their numbers of steps, and writes their indices
 * to `order`. ends[i] becomes the number of keys with at most i steps. */
static inline void sort(const lanebloom_keys *keys, size_t first, size_t n, uint16_t *order,
                        uint16_t ends[MAX_NSTEPS + 2])
{
  uint8_t nsteps[SORTED_NKEYS];
  uint16_t counts[MAX_NSTEPS + 2] = {0};
  const size_t same = class_of(keys_at(keys, first).size);
  size_t different = 0;
  for (size_t i = 0; i < n; i++) {
    nsteps[i] = (uint8_t)class_of(keys_at(keys, first + i).size);
    different |= nsteps[i] ^ same;
    order[i] = (uint16_t)i;
  }
  if (!different)
    counts[same] = (uint16_t)n;
  for (size_t i = 0; i < n && different; i++)
    counts[nsteps[i]]++;
  for (size_t i = 0, end = 0; i < MAX_NSTEPS + 2; i++)
    ends[i] = (uint16_t)(end += counts[i]);
  for (size_t i = 0; i < n && different; i++)
    order[ends[nsteps[i]] - counts[nsteps[i]]--] = (uint16_t)i;
}

/* Probes all rows with the keys in lanes. */
static inline void probe_rows(struct lanes *all, const struct probed *probed,
                              const uint8_t *payload, size_t nsteps, struct lanes *survivors,
                              uint8_t *hits)
{
  const struct hudi_shape *hudi = &probed->shape->hudi;
  for (uint32_t row = 0; row < hudi->nrows; row++)
    probe_row(all, probed, payload + hudi->first + row * hudi->stride, nsteps, survivors, hits);
}

/* Returns the number of steps in which keys are hashed of which the longest has this size. */
static inline size_t nsteps_for(size_t size)
{
  const size_t nsteps = nsteps_of(size);
  return nsteps > MIN_NSTEPS ? nsteps : MIN_NSTEPS;
}

/* Empty keys are in no filter. */
void KERNEL(hudi_probe)(const struct filter_shape *shape, const uint8_t *payload,
                        struct hash_source *source, uint8_t *bitmap)
{
  const lanebloom_keys *keys = source->keys;
  if (shape->hudi.row_nbits < 2) {
    lanebloom_hudi_probe_scalar(shape, payload, source, bitmap);
    return;
  }
  /* Lanes past the last key are hashed, too. Zeros make them valid. */
  struct lanes all = {0}, survivors = {0};
  uint16_t order[SORTED_NKEYS], ends[MAX_NSTEPS + 2];
  const struct probed probed = probed_of(shape);
  memset(bitmap, 0, (keys->n + 7) / 8);
  const bool is_fixed =
      keys->layout == KEYS_FIXED && keys->width > 0 && nsteps_of(keys->width) <= MAX_NSTEPS;
  for (size_t first = 0; first < keys->n && is_fixed; first += LANES_NKEYS) {
    const size_t left = keys->n - first, nsteps = nsteps_for(keys->width);
    fill_fixed(&all, &probed, keys, first, left < LANES_NKEYS ? left : LANES_NKEYS, nsteps);
    probe_rows(&all, &probed, payload, nsteps, &survivors, bitmap + first / 8);
  }
  for (size_t first = 0; first < keys->n && !is_fixed; first += SORTED_NKEYS) {
    const size_t n = keys->n - first < SORTED_NKEYS ? keys->n - first : SORTED_NKEYS;
    uint8_t *hits = bitmap + first / 8;
    sort(keys, first, n, order, ends);
    size_t at = ends[0];
    for (size_t nkeys; at < ends[MAX_NSTEPS]; at += nkeys) {
      const size_t left = ends[MAX_NSTEPS] - at;
      nkeys = left < LANES_NKEYS ? left : LANES_NKEYS;
      const size_t nsteps = nsteps_for(keys_at(keys, first + order[at + nkeys - 1]).size);
      fill(&all, &probed, keys, first, order + at, nkeys, nsteps);
      probe_rows(&all, &probed, payload, nsteps, &survivors, hits);
    }
    for (; at < n; at++)
      if (lanebloom_hudi_may_match_scalar(shape, payload, keys_at(keys, first + order[at])))
        set_bit(hits, order[at]);
  }
}
