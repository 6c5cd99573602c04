/* Hashes keys by BloomHash in lanes. Each lane holds a key, so LANES32 keys are hashed at a time,
 * and each step hashes sixteen bytes of each key.
 * SPDX-License-Identifier: MIT */
#include "bloomhash_queue.h"
#include "lanes.h"
#include "vector.h"

enum {
  /* the number of groups in which long keys are hashed side by side */
  NGROUPS = 4,
  /* the least width in bytes for which groups are faster; at 12 and 20 bytes they are slower */
  MIN_CHAIN = 2 * STRIPE_NBYTES,
  ALL_LANES = (1 << LANES32) - 1,
};

/* ---- The mixing ---- */

static inline vector first_state(vector sizes)
{
  return bit_xor(mul_low32(sizes, splat32(BLOOMHASH_MULTIPLIER)), splat32(BLOOMHASH_SEED));
}

static inline vector add_and_multiply(vector hash, vector word)
{
  return mul_low32(add32(hash, word), splat32(BLOOMHASH_MULTIPLIER));
}

static inline vector mix(vector hash, vector word)
{
  hash = add_and_multiply(hash, word);
  return bit_xor(hash, shift_right32(hash, 16));
}

static inline vector mix_stripe(vector hash, const vector words[STRIPE_NWORDS])
{
  return mix(mix(mix(mix(hash, words[0]), words[1]), words[2]), words[3]);
}

/* Returns the amount that must be subtracted from tails if their bytes are signed. A tail is the
 * last one to three bytes of a key, after the whole words. Each byte is widened and added to the
 * hash. If bytes are signed, a byte of 0x80 or more is 256 less than its unsigned value. */
static inline vector less_if_signed(vector tails)
{
  return shift_left32(bit_and(tails, splat32(0x808080)), 1);
}

/* Mixes word w of one stripe per lane. A key may end within its stripe: `left` has the number of
 * bytes of the stripe that belong to the key, 0 to 16, and each byte of `bytes_left` holds the same
 * number. If a key has ended before word w, its hash stays unchanged. */
static inline vector mix_left(vector hash, vector word, vector left, vector bytes_left, uint32_t w,
                              bool signed_tails)
{
  const vector shifts =
      shuffle_bytes(splat_block(tail_shifts[w]), bit_or(left, splat32(0x80808000)));
  const vector positions = splat32(0x03020100 + 0x04040404 * w);
  const mask32 begun = greater_signed32(left, splat32(4 * w));
  word = keep8(greater_signed8(bytes_left, positions), word);
  if (signed_tails)
    word = sub32(word, keep32(equal32(shifts, splat32(24)), less_if_signed(word)));
  const vector product = add_and_multiply(hash, word);
  return select32(begun, bit_xor(product, shift_right_each32(product, shifts)), hash);
}

static inline vector mix_last_stripe(vector hash, const vector words[STRIPE_NWORDS], vector left,
                                     bool signed_tails)
{
  static const uint8_t low_bytes[16] = {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12};
  const vector bytes_left = shuffle_bytes(left, splat_block(low_bytes));
  for (uint32_t w = 0; w < STRIPE_NWORDS; w++)
    hash = mix_left(hash, words[w], left, bytes_left, w, signed_tails);
  return hash;
}

/* Mixes the last stripe of keys that all have `left` bytes in this stripe. */
static inline vector mix_same(vector hash, const vector words[STRIPE_NWORDS], size_t left,
                              bool signed_tails)
{
  for (size_t w = 0; w < STRIPE_NWORDS && 4 * w < left; w++) {
    if (left - 4 * w >= 4) {
      hash = mix(hash, words[w]);
      continue;
    }
    vector tail = bit_and(words[w], splat32(((uint32_t)1 << 8 * (left - 4 * w)) - 1));
    if (signed_tails)
      tail = sub32(tail, less_if_signed(tail));
    hash = add_and_multiply(hash, tail);
    hash = bit_xor(hash, shift_right32(hash, 24));
  }
  return hash;
}

/* ---- From keys to lanes ---- */

/* Arranges the words of stripes so that each result has the same word of all keys. Row r holds the
 * stripes of keys r, r + 4, r + 8 and so on, one in each block, so that each result has its words
 * in the order of the keys. The figure shows one block of each vector. Letters are keys, and digits
 * are words:
 *
 *   a0 a1 a2 a3        a0 b0 a1 b1        a0 b0 c0 d0
 *   b0 b1 b2 b3   ->   a2 b2 a3 b3   ->   a1 b1 c1 d1
 *   c0 c1 c2 c3        c0 d0 c1 d1        a2 b2 c2 d2
 *   d0 d1 d2 d3        c2 d2 c3 d3        a3 b3 c3 d3 */
static inline void transpose(const vector rows[4], vector words[STRIPE_NWORDS])
{
  const vector ab01 = interleave_low32(rows[0], rows[1]),
               ab23 = interleave_high32(rows[0], rows[1]);
  const vector cd01 = interleave_low32(rows[2], rows[3]),
               cd23 = interleave_high32(rows[2], rows[3]);
  words[0] = interleave_low64(ab01, cd01);
  words[1] = interleave_high64(ab01, cd01);
  words[2] = interleave_low64(ab23, cd23);
  words[3] = interleave_high64(ab23, cd23);
}

/* Loads the words of the stripes that begin `distance` bytes after the addresses of the keys. */
static inline void load_words(const uint8_t *const *at, size_t distance,
                              vector words[STRIPE_NWORDS])
{
  vector rows[4];
  for (size_t r = 0; r < 4; r++) {
    const uint8_t *blocks[VECTOR_NBLOCKS];
    for (size_t b = 0; b < VECTOR_NBLOCKS; b++)
      blocks[b] = at[r + 4 * b] + distance;
    rows[r] = load_blocks(blocks);
  }
  transpose(rows, words);
}

/* ---- Keys of one width ---- */

static inline void hash_width_4(const uint8_t *data, size_t n, uint8_t *hashes)
{
  const vector first = first_state(splat32(4));
  for (size_t i = 0; i < n; i += LANES32)
    store(hashes + 4 * i, mix(first, load(data + 4 * i)));
}

static inline void hash_width_8(const uint8_t *data, size_t n, uint8_t *hashes)
{
  const vector first = first_state(splat32(8));
  for (size_t i = 0; i < n; i += LANES32) {
    const vector low = load(data + 8 * i), high = load(data + 8 * i + VECTOR_NBYTES);
    const vector hash = mix(mix(first, unzip_even32(low, high)), unzip_odd32(low, high));
    store(hashes + 4 * i, unzipped(hash));
  }
}

/* Hashes keys of 16 bytes. A loaded vector holds VECTOR_NBLOCKS keys, so after transpose() lane
 * 4 b + r belongs to key VECTOR_NBLOCKS r + b. The hashes are permuted into the order of the
 * keys. */
static inline void hash_width_16(const uint8_t *data, size_t n, uint8_t *hashes)
{
  const vector first = first_state(splat32(16));
  uint32_t order[LANES32];
  for (uint32_t key = 0; key < LANES32; key++)
    order[key] = key % VECTOR_NBLOCKS * 4 + key / VECTOR_NBLOCKS;
  for (size_t i = 0; i < n; i += LANES32) {
    vector rows[4], words[STRIPE_NWORDS];
    for (size_t r = 0; r < 4; r++)
      rows[r] = load(data + 16 * i + VECTOR_NBYTES * r);
    transpose(rows, words);
    store(hashes + 4 * i, permute32(mix_stripe(first, words), load(order)));
  }
}

/* Hashes several groups of keys side by side. Each group is a chain of products, and each product
 * must wait for the one before. While one chain waits, the CPU computes the other chains.
 * load_words() is not used: because of its array of addresses, clang 14 would test for every group,
 * and not once, whether a whole stripe is left. */
static inline __attribute__((always_inline)) void hash_groups(const uint8_t *data, size_t width,
                                                              size_t stride, size_t ngroups,
                                                              bool signed_tails, uint8_t *hashes)
{
  vector hash[NGROUPS];
  for (size_t g = 0; g < ngroups; g++)
    hash[g] = first_state(splat32((uint32_t)width));
  for (size_t left = width; left > 0; data += STRIPE_NBYTES) {
    for (size_t g = 0; g < ngroups; g++) {
      const uint8_t *at = data + LANES32 * g * stride;
      vector rows[4], words[STRIPE_NWORDS];
      for (size_t r = 0; r < 4; r++) {
        const uint8_t *blocks[VECTOR_NBLOCKS];
        for (size_t b = 0; b < VECTOR_NBLOCKS; b++)
          blocks[b] = at + (r + 4 * b) * stride;
        rows[r] = load_blocks(blocks);
      }
      transpose(rows, words);
      hash[g] = left < STRIPE_NBYTES ? mix_same(hash[g], words, left, signed_tails)
                                     : mix_stripe(hash[g], words);
    }
    if (left < STRIPE_NBYTES)
      break;
    left -= STRIPE_NBYTES;
  }
  for (size_t g = 0; g < ngroups; g++)
    store(hashes + 4 * LANES32 * g, hash[g]);
}

/* Hashes keys of any other width. 16 bytes must be readable from the start of the last stripe of
 * each key on. */
static inline void hash_any_width(const uint8_t *data, size_t width, size_t stride, size_t n,
                                  bool signed_tails, uint8_t *hashes)
{
  size_t i = 0;
  for (; width >= MIN_CHAIN && i + NGROUPS * LANES32 <= n; i += NGROUPS * LANES32)
    hash_groups(data + i * stride, width, stride, NGROUPS, signed_tails, hashes + 4 * i);
  for (; i < n; i += LANES32)
    hash_groups(data + i * stride, width, stride, 1, signed_tails, hashes + 4 * i);
}

static const struct bloomhash_widths widths = {LANES32, hash_width_4, hash_width_8, hash_width_16,
                                               hash_any_width};

/* ---- Keys of many sizes ---- */

/* The state of LANES32 keys that are being hashed. */
struct lanes {
  vector at[2]; /* the address of the next byte */
  vector left;  /* the number of bytes left, below 2^31 */
  vector hash;
};

/* Returns a bit for each lane. The bit is set if loading the next stripe of the lane would exceed
 * the safe load bound. */
static inline unsigned beyond_bound(const struct lanes *lanes, struct load_bound bound)
{
  const vector mask = splat64(bound.mask), last = splat64(bound.last);
  const unsigned low = mask_bits64(greater_signed64(bit_and(lanes->at[0], mask), last));
  const unsigned high = mask_bits64(greater_signed64(bit_and(lanes->at[1], mask), last));
  const mask32 end_here = greater_signed32(splat32(STRIPE_NBYTES), lanes->left);
  const mask32 partial = greater_signed32(keep32(end_here, lanes->left), zero());
  return mask_bits32(partial) & (low | high << LANES64);
}

/* Hashes the next stripes of each lane: first all stripes after which every lane still has bytes
 * left, and then one more stripe, in which keys may end. `at` is an array with the same addresses
 * as lanes.at. */
static inline struct lanes take_stripes(struct lanes lanes, const uint8_t *const *at,
                                        struct load_bound bound, bool signed_tails)
{
  const vector nbytes = splat32(STRIPE_NBYTES);
  vector words[STRIPE_NWORDS];
  size_t distance = 0;
  for (; mask_bits32(greater_signed32(lanes.left, nbytes)) == ALL_LANES;
       distance += STRIPE_NBYTES) {
    load_words(at, distance, words);
    lanes.hash = mix_stripe(lanes.hash, words);
    lanes.left = sub32(lanes.left, nbytes);
  }
  const vector passed = splat64(distance);
  lanes.at[0] = add64(lanes.at[0], passed);
  lanes.at[1] = add64(lanes.at[1], passed);
  const unsigned beyond = beyond_bound(&lanes, bound);
  if (__builtin_expect(beyond != 0, 0)) {
    uint8_t copies[LANES32][STRIPE_NBYTES];
    const uint8_t *from[LANES32];
    uint32_t left[LANES32];
    for (size_t l = 0; l < LANES32; l++)
      from[l] = at[l] + distance;
    store(left, lanes.left);
    copy_stripes(beyond, left, copies, from);
    load_words(from, 0, words);
  } else {
    load_words(at, distance, words);
  }
  const vector taken = min_signed32(lanes.left, nbytes);
  const vector step = splat64(STRIPE_NBYTES);
  lanes.hash = mix_last_stripe(lanes.hash, words, taken, signed_tails);
  lanes.left = sub32(lanes.left, taken);
  lanes.at[0] = add64(lanes.at[0], step);
  lanes.at[1] = add64(lanes.at[1], step);
  return lanes;
}

static inline struct lanes lanes_at(vector low, vector high, vector sizes)
{
  return (struct lanes){.at = {low, high}, .left = sizes, .hash = first_state(sizes)};
}

static inline struct lanes lanes_of_fixed(const uint8_t *data, size_t width, size_t stride)
{
  uint64_t at[LANES32];
  for (size_t l = 0; l < LANES32; l++)
    at[l] = (uint64_t)(uintptr_t)data + l * stride;
  return lanes_at(load(at), load(at + LANES64), splat32((uint32_t)width));
}

static inline struct lanes lanes_of_offsets32(vector data, const uint32_t *offsets)
{
  return lanes_at(add64(data, load_widened32(offsets)),
                  add64(data, load_widened32(offsets + LANES64)),
                  sub32(load(offsets + 1), load(offsets)));
}

static inline struct lanes lanes_of_offsets64(vector data, const uint64_t *offsets)
{
  const vector low = load(offsets), high = load(offsets + LANES64);
  const vector low_sizes = sub64(load(offsets + 1), low),
               high_sizes = sub64(load(offsets + LANES64 + 1), high);
  return lanes_at(add64(data, low), add64(data, high),
                  unzipped(unzip_even32(low_sizes, high_sizes)));
}

static inline struct lanes lanes_of_slices(const lanebloom_slice *slices)
{
  vector at[2], sizes[2];
  for (size_t half = 0; half < 2; half++) {
    const lanebloom_slice *first = slices + LANES64 * half;
    const vector a = load(first), b = load(first + LANES64 / 2);
    at[half] = unzipped(unzip_even64(a, b));
    sizes[half] = unzipped(unzip_odd64(a, b));
  }
  return lanes_at(at[0], at[1], unzipped(unzip_even32(sizes[0], sizes[1])));
}

/* Returns the state of LANES32 keys, from key i on, before their first byte is hashed. */
static inline struct lanes lanes_of(const lanebloom_keys *keys, size_t i)
{
  const vector data = splat64((uintptr_t)keys->data);
  switch ((enum keys_layout)keys->layout) {
  case KEYS_OFFSETS32:
    return lanes_of_offsets32(data, (const uint32_t *)keys->index + i);
  case KEYS_OFFSETS64:
    return lanes_of_offsets64(data, (const uint64_t *)keys->index + i);
  case KEYS_SLICES:
    return lanes_of_slices((const lanebloom_slice *)keys->index + i);
  case KEYS_FIXED:
    break;
  }
  return lanes_of_fixed((const uint8_t *)keys->data + i * keys->stride, keys->width, keys->stride);
}

static inline __attribute__((always_inline)) void enter(const lanebloom_keys *keys, size_t i,
                                                        struct queue *queue, size_t to)
{
  const struct lanes lanes = lanes_of(keys, i);
  const vector empty = splat64(anywhere());
  store(queue->at + to, select64(positive_low32(lanes.left), lanes.at[0], empty));
  store(queue->at + to + LANES64, select64(positive_high32(lanes.left), lanes.at[1], empty));
  store(queue->left + to, lanes.left);
  store(queue->hash + to, lanes.hash);
  store(queue->key + to, add32(iota32(), splat32((uint32_t)i)));
}

/* Appends the lanes that have bytes left to the queue. The stores write whole registers; the values
 * after the last such lane are overwritten by the next append. */
static inline void append(struct queue *queue, const struct lanes *lanes, vector key)
{
  const unsigned some = mask_bits32(greater_signed32(lanes->left, zero()));
  const size_t n = queue->n;
  if (!some)
    return;
  const order32 order = order_of32(some);
  store_positive64(queue->at + n, lanes->at[0], lanes->at[1], lanes->left);
  store(queue->left + n, compress32(lanes->left, order));
  store(queue->hash + n, compress32(lanes->hash, order));
  store(queue->key + n, compress32(key, order));
  queue->n = n + (size_t)__builtin_popcount(some);
}

static inline __attribute__((always_inline)) void take(struct queue *queue, size_t i, size_t n,
                                                       struct load_bound bound, bool signed_tails,
                                                       bool first, uint8_t *hashes)
{
  const mask32 there = greater_signed32(splat32((uint32_t)n), iota32());
  const vector key = load(queue->key + i);
  struct lanes lanes = {
      .at = {load(queue->at + i), load(queue->at + i + LANES64)},
      .left = keep32(there, load(queue->left + i)),
      .hash = load(queue->hash + i),
  };
  lanes = take_stripes(lanes, (const uint8_t *const *)(queue->at + i), bound, signed_tails);
  if (first)
    store(hashes + 4 * (size_t)queue->key[i], lanes.hash);
  else
    scatter32(hashes, queue->key + i, n, lanes.hash);
  append(queue, &lanes, key);
}

/* ---- Any batch ---- */

/* Hashes any batch. Keys of one width are hashed without the queue, as far as whole stripes can be
 * loaded; all other keys go through the queue. */
static void hash_all(const lanebloom_keys *keys, bool signed_tails, uint8_t *hashes)
{
  if (keys->n < LANES32) {
    hash_in_scalar(keys, signed_tails, hashes);
    return;
  }
  size_t done = keys->layout == KEYS_FIXED && keys->width > 0
                    ? hash_fixed(keys, signed_tails, &widths, hashes)
                    : 0;
  if (done == keys->n)
    return;
  if (done > keys->n - LANES32)
    /* hashes a few keys again, so that enough keys are left to fill the lanes */
    done = keys->n - LANES32;
  const lanebloom_keys rest = lanebloom_keys_part(keys, done, keys->n - done);
  hashes += 4 * done;
  const struct load_bound bound = load_bound_of(&rest);
  for (size_t first = 0; first < rest.n; first += QUEUED_BLOCK_NKEYS) {
    const lanebloom_keys block = lanebloom_keys_part(&rest, first, QUEUED_BLOCK_NKEYS);
    if (block.n < LANES32 || !fits_lanes(&block))
      hash_in_scalar(&block, signed_tails, hashes + 4 * first);
    else
      hash_block(&block, bound, signed_tails, hashes + 4 * first);
  }
}

void KERNEL(bloomhash_hash)(const lanebloom_keys *keys, void *hashes)
{
  hash_all(keys, false, hashes);
}

void KERNEL(bloomhash_signed_hash)(const lanebloom_keys *keys, void *hashes)
{
  hash_all(keys, true, hashes);
}
