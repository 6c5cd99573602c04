/* BloomHash in lanes of AVX2: eight keys at a time, a key per lane, sixteen bytes of each in one
 * go.
 * SPDX-License-Identifier: MIT */
#include "../lanes/bloomhash_queue.h"
#include "../lanes/lanes.h"
#include "compaction.h"
#include "isa.h"

enum {
  LANES = 8,
  NGROUPS = 4,                   /* that wide keys are hashed in, side by side */
  MIN_CHAIN = 2 * STRIPE_NBYTES, /* keys so wide gain by it, of 12 and 20 bytes lose */
};

static inline __m256i load(const void *from)
{
  return _mm256_loadu_si256(from);
}

static inline void store(void *to, __m256i value)
{
  _mm256_storeu_si256(to, value);
}

/* ---- The mixing ---- */

static inline __m256i first_state(__m256i sizes)
{
  const __m256i product = _mm256_mullo_epi32(sizes, _mm256_set1_epi32((int)BLOOMHASH_MULTIPLIER));
  return _mm256_xor_si256(product, _mm256_set1_epi32((int)BLOOMHASH_SEED));
}

static inline __m256i add_and_multiply(__m256i hash, __m256i word)
{
  return _mm256_mullo_epi32(_mm256_add_epi32(hash, word),
                            _mm256_set1_epi32((int)BLOOMHASH_MULTIPLIER));
}

static inline __m256i mix(__m256i hash, __m256i word)
{
  hash = add_and_multiply(hash, word);
  return _mm256_xor_si256(hash, _mm256_srli_epi32(hash, 16));
}

static inline __m256i mix_stripe(__m256i hash, const __m256i words[STRIPE_NWORDS])
{
  return mix(mix(mix(mix(hash, words[0]), words[1]), words[2]), words[3]);
}

/* What a tail of one to three bytes adds to the hash: each of them, widened. A signed byte is its
 * unsigned value, less 256 from 0x80 on. */
static inline __m256i sign_tails(__m256i word, __m256i tails)
{
  const __m256i signs =
      _mm256_and_si256(_mm256_and_si256(word, _mm256_set1_epi32(0x808080)), tails);
  return _mm256_sub_epi32(word, _mm256_slli_epi32(signs, 1));
}

/* Word w of stripes that end anywhere: `left` bytes of the stripe, 0 to 16, belong to the key, and
 * so many are in each byte of `bytes_left`. Keys that have ended before keep their hash. */
static inline __m256i mix_left(__m256i hash, __m256i word, __m256i left, __m256i bytes_left, int w,
                               bool signed_tails)
{
  const __m256i table = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)tail_shifts[w]));
  const __m256i shifts =
      _mm256_shuffle_epi8(table, _mm256_or_si256(left, _mm256_set1_epi32((int)0x80808000)));
  const __m256i positions = _mm256_set1_epi32(0x03020100 + 0x04040404 * w);
  const __m256i begun = _mm256_cmpgt_epi32(left, _mm256_set1_epi32(4 * w));
  word = _mm256_and_si256(word, _mm256_cmpgt_epi8(bytes_left, positions));
  if (signed_tails)
    word = sign_tails(word, _mm256_cmpeq_epi32(shifts, _mm256_set1_epi32(24)));
  const __m256i product = add_and_multiply(hash, word);
  const __m256i mixed = _mm256_xor_si256(product, _mm256_srlv_epi32(product, shifts));
  return _mm256_blendv_epi8(hash, mixed, begun);
}

static inline __m256i mix_last_stripe(__m256i hash, const __m256i words[STRIPE_NWORDS],
                                      __m256i left, bool signed_tails)
{
  const __m256i low_bytes = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
  const __m256i bytes_left = _mm256_shuffle_epi8(left, low_bytes);
  for (int w = 0; w < STRIPE_NWORDS; w++)
    hash = mix_left(hash, words[w], left, bytes_left, w, signed_tails);
  return hash;
}

/* The same where all keys have so many bytes left of the stripe. */
static inline __m256i mix_same(__m256i hash, const __m256i words[STRIPE_NWORDS], size_t left,
                               bool signed_tails)
{
  for (size_t w = 0; w < STRIPE_NWORDS && 4 * w < left; w++) {
    if (left - 4 * w >= 4) {
      hash = mix(hash, words[w]);
      continue;
    }
    __m256i tail = _mm256_and_si256(words[w], _mm256_set1_epi32((1 << 8 * (left - 4 * w)) - 1));
    if (signed_tails)
      tail = sign_tails(tail, _mm256_set1_epi32(-1));
    hash = add_and_multiply(hash, tail);
    hash = _mm256_xor_si256(hash, _mm256_srli_epi32(hash, 24));
  }
  return hash;
}

/* ---- From keys to lanes ---- */

/* A stripe, of which the last bytes may be somebody else's, on the same page: sanitizers would
 * object. */
__attribute__((no_sanitize("address", "thread"))) static inline __m128i
load_stripe(const uint8_t *from)
{
  return _mm_loadu_si128((const void *)from);
}

/* A stripe of each of two keys. */
static inline __m256i load_row(const uint8_t *a, const uint8_t *b)
{
  const __m256i row = _mm256_castsi128_si256(load_stripe(a));
  return _mm256_inserti128_si256(row, load_stripe(b), 1);
}

/* Row r holds the stripes of keys r and r + 4, so that their words come out in the keys' order
 * (letters are keys, figures words; one half of each register):
 *
 *   a0 a1 a2 a3        a0 b0 a1 b1        a0 b0 c0 d0
 *   b0 b1 b2 b3   ->   a2 b2 a3 b3   ->   a1 b1 c1 d1
 *   c0 c1 c2 c3        c0 d0 c1 d1        a2 b2 c2 d2
 *   d0 d1 d2 d3        c2 d2 c3 d3        a3 b3 c3 d3 */
static inline void transpose(const __m256i rows[4], __m256i words[STRIPE_NWORDS])
{
  const __m256i ab01 = _mm256_unpacklo_epi32(rows[0], rows[1]),
                ab23 = _mm256_unpackhi_epi32(rows[0], rows[1]);
  const __m256i cd01 = _mm256_unpacklo_epi32(rows[2], rows[3]),
                cd23 = _mm256_unpackhi_epi32(rows[2], rows[3]);
  words[0] = _mm256_unpacklo_epi64(ab01, cd01);
  words[1] = _mm256_unpackhi_epi64(ab01, cd01);
  words[2] = _mm256_unpacklo_epi64(ab23, cd23);
  words[3] = _mm256_unpackhi_epi64(ab23, cd23);
}

/* ---- Keys of one width ---- */

static inline void hash_width_4(const uint8_t *data, size_t n, uint8_t *hashes)
{
  const __m256i first = first_state(_mm256_set1_epi32(4));
  for (size_t i = 0; i < n; i += LANES)
    store(hashes + 4 * i, mix(first, load(data + 4 * i)));
}

/* Dwords of even indices, then those of odd ones: a shuffle of two registers leaves the keys as 0 1
 * 4 5 2 3 6 7. */
static inline void hash_width_8(const uint8_t *data, size_t n, uint8_t *hashes)
{
  const __m256i first = first_state(_mm256_set1_epi32(8));
  for (size_t i = 0; i < n; i += LANES) {
    const __m256 low = _mm256_castsi256_ps(load(data + 8 * i)),
                 high = _mm256_castsi256_ps(load(data + 8 * i + 32));
    const __m256i even = _mm256_castps_si256(_mm256_shuffle_ps(low, high, 0x88));
    const __m256i odd = _mm256_castps_si256(_mm256_shuffle_ps(low, high, 0xdd));
    store(hashes + 4 * i, _mm256_permute4x64_epi64(mix(mix(first, even), odd), 0xd8));
  }
}

/* Two keys in a register, so lane 4 b + r of a word belongs to key 2 r + b. */
static inline void hash_width_16(const uint8_t *data, size_t n, uint8_t *hashes)
{
  const __m256i first = first_state(_mm256_set1_epi32(16));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (size_t i = 0; i < n; i += LANES) {
    __m256i rows[4], words[STRIPE_NWORDS];
    for (size_t r = 0; r < 4; r++)
      rows[r] = load(data + 16 * i + 32 * r);
    transpose(rows, words);
    store(hashes + 4 * i, _mm256_permutevar8x32_epi32(mix_stripe(first, words), order));
  }
}

/* Groups of keys side by side, because each is a chain of products. */
static inline __attribute__((always_inline)) void
hash_groups(const uint8_t *data, size_t width, size_t ngroups, bool signed_tails, uint8_t *hashes)
{
  __m256i hash[NGROUPS];
  for (size_t g = 0; g < ngroups; g++)
    hash[g] = first_state(_mm256_set1_epi32((int)(uint32_t)width));
  for (size_t left = width; left > 0; data += STRIPE_NBYTES) {
    for (size_t g = 0; g < ngroups; g++) {
      const uint8_t *at = data + LANES * g * width;
      __m256i rows[4], words[STRIPE_NWORDS];
      for (size_t r = 0; r < 4; r++)
        rows[r] = load_row(at + r * width, at + (r + 4) * width);
      transpose(rows, words);
      hash[g] = left < STRIPE_NBYTES ? mix_same(hash[g], words, left, signed_tails)
                                     : mix_stripe(hash[g], words);
    }
    if (left < STRIPE_NBYTES)
      break;
    left -= STRIPE_NBYTES;
  }
  for (size_t g = 0; g < ngroups; g++)
    store(hashes + 4 * LANES * g, hash[g]);
}

/* Of any other width: 16 bytes may be read from the last stripe of each. */
static inline void hash_any_width(const uint8_t *data, size_t width, size_t n, bool signed_tails,
                                  uint8_t *hashes)
{
  size_t i = 0;
  for (; width >= MIN_CHAIN && i + NGROUPS * LANES <= n; i += NGROUPS * LANES)
    hash_groups(data + i * width, width, NGROUPS, signed_tails, hashes + 4 * i);
  for (; i < n; i += LANES)
    hash_groups(data + i * width, width, 1, signed_tails, hashes + 4 * i);
}

static const struct bloomhash_width_vocabulary widths = {LANES, hash_width_4, hash_width_8,
                                                         hash_width_16, hash_any_width};

/* ---- Keys of many sizes ---- */

/* Eight keys on their way. */
struct lanes {
  __m256i at[2]; /* where the next byte is */
  __m256i left;  /* bytes, below 2^31 */
  __m256i hash;
};

static inline unsigned lanes_set(__m256i mask)
{
  return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(mask));
}

static inline unsigned half_set(__m256i mask)
{
  return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(mask));
}

/* Lanes that have bytes left. */
static inline __m256i some_left(const struct lanes *lanes)
{
  return _mm256_cmpgt_epi32(lanes->left, _mm256_setzero_si256());
}

/* The same in halves, for addresses. */
static inline __m256i some_left_low(const struct lanes *lanes)
{
  return _mm256_cvtepi32_epi64(_mm256_castsi256_si128(some_left(lanes)));
}

static inline __m256i some_left_high(const struct lanes *lanes)
{
  return _mm256_cvtepi32_epi64(_mm256_extracti128_si256(some_left(lanes), 1));
}

/* Lanes whose next stripe would be read beyond its bound, a bit for each. */
static inline unsigned beyond_bound(const struct lanes *lanes, struct load_bound bound)
{
  const __m256i mask = _mm256_set1_epi64x((long long)bound.mask),
                last = _mm256_set1_epi64x((long long)bound.last);
  const __m256i low = _mm256_cmpgt_epi64(_mm256_and_si256(lanes->at[0], mask), last);
  const __m256i high = _mm256_cmpgt_epi64(_mm256_and_si256(lanes->at[1], mask), last);
  const __m256i partial = _mm256_cmpgt_epi32(_mm256_set1_epi32(STRIPE_NBYTES), lanes->left);
  return lanes_set(_mm256_and_si256(partial, some_left(lanes))) &
         (half_set(low) | half_set(high) << 4);
}

static inline void load_words(const uint8_t *const *at, size_t distance,
                              __m256i words[STRIPE_NWORDS])
{
  __m256i rows[4];
  for (size_t r = 0; r < 4; r++)
    rows[r] = load_row(at[r] + distance, at[r + 4] + distance);
  transpose(rows, words);
}

/* The next stripe of all, and before it those after which all have bytes left. at: the lanes'
 * addresses in memory. */
static inline struct lanes take_stripes(struct lanes lanes, const uint8_t *const *at,
                                        struct load_bound bound, bool signed_tails)
{
  const __m256i nbytes = _mm256_set1_epi32(STRIPE_NBYTES);
  __m256i words[STRIPE_NWORDS];
  size_t distance = 0;
  for (; lanes_set(_mm256_cmpgt_epi32(lanes.left, nbytes)) == 0xff; distance += STRIPE_NBYTES) {
    load_words(at, distance, words);
    lanes.hash = mix_stripe(lanes.hash, words);
    lanes.left = _mm256_sub_epi32(lanes.left, nbytes);
  }
  const __m256i passed = _mm256_set1_epi64x((long long)distance);
  lanes.at[0] = _mm256_add_epi64(lanes.at[0], passed);
  lanes.at[1] = _mm256_add_epi64(lanes.at[1], passed);
  const unsigned beyond = beyond_bound(&lanes, bound);
  if (__builtin_expect(beyond != 0, 0)) {
    uint8_t copies[LANES][STRIPE_NBYTES];
    const uint8_t *from[LANES];
    uint32_t left[LANES];
    for (size_t l = 0; l < LANES; l++)
      from[l] = at[l] + distance;
    store(left, lanes.left);
    copy_stripes(beyond, left, copies, from);
    load_words(from, 0, words);
  } else {
    load_words(at, distance, words);
  }
  const __m256i taken = _mm256_min_epi32(lanes.left, nbytes);
  const __m256i step = _mm256_set1_epi64x(STRIPE_NBYTES);
  lanes.hash = mix_last_stripe(lanes.hash, words, taken, signed_tails);
  lanes.left = _mm256_sub_epi32(lanes.left, taken);
  lanes.at[0] = _mm256_add_epi64(lanes.at[0], step);
  lanes.at[1] = _mm256_add_epi64(lanes.at[1], step);
  return lanes;
}

static inline struct lanes lanes_at(__m256i low, __m256i high, __m256i low_sizes,
                                    __m256i high_sizes)
{
  const __m256 low_dwords = _mm256_castsi256_ps(low_sizes),
               high_dwords = _mm256_castsi256_ps(high_sizes);
  const __m256i halves = _mm256_castps_si256(_mm256_shuffle_ps(low_dwords, high_dwords, 0x88));
  const __m256i sizes = _mm256_permute4x64_epi64(halves, 0xd8);
  return (struct lanes){.at = {low, high}, .left = sizes, .hash = first_state(sizes)};
}

static inline struct lanes lanes_of_fixed(const uint8_t *data, size_t width)
{
  const __m256i sizes = _mm256_set1_epi64x((long long)width);
  uint64_t at[LANES];
  for (size_t l = 0; l < LANES; l++)
    at[l] = (uint64_t)(uintptr_t)data + l * width;
  return lanes_at(load(at), load(at + 4), sizes, sizes);
}

static inline struct lanes lanes_of_offsets32(__m256i data, const uint32_t *offsets)
{
  const __m256i starts = load(offsets), sizes = _mm256_sub_epi32(load(offsets + 1), starts);
  const __m256i low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(starts));
  const __m256i high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(starts, 1));
  return (struct lanes){
      .at = {_mm256_add_epi64(data, low), _mm256_add_epi64(data, high)},
      .left = sizes,
      .hash = first_state(sizes),
  };
}

static inline struct lanes lanes_of_offsets64(__m256i data, const uint64_t *offsets)
{
  const __m256i low = load(offsets), high = load(offsets + 4);
  const __m256i low_sizes = _mm256_sub_epi64(load(offsets + 1), low);
  const __m256i high_sizes = _mm256_sub_epi64(load(offsets + 5), high);
  return lanes_at(_mm256_add_epi64(data, low), _mm256_add_epi64(data, high), low_sizes, high_sizes);
}

static inline struct lanes lanes_of_slices(const lanebloom_slice *slices)
{
  __m256i at[2], sizes[2];
  for (size_t half = 0; half < 2; half++) {
    const __m256i two = load(slices + 4 * half), others = load(slices + 4 * half + 2);
    at[half] = _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(two, others), 0xd8);
    sizes[half] = _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(two, others), 0xd8);
  }
  return lanes_at(at[0], at[1], sizes[0], sizes[1]);
}

/* Keys i .. i + 8 of the batch. */
static inline struct lanes lanes_of(const lanebloom_keys *keys, size_t i)
{
  const __m256i data = _mm256_set1_epi64x((long long)(uintptr_t)keys->data);
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
  return lanes_of_fixed((const uint8_t *)keys->data + i * keys->width, keys->width);
}

static inline __m256i iota(void)
{
  return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
}

static inline __attribute__((always_inline)) void enter(const lanebloom_keys *keys, size_t i,
                                                        struct queue *queue, size_t to)
{
  const struct lanes lanes = lanes_of(keys, i);
  const __m256i empty = _mm256_set1_epi64x((long long)anywhere());
  store(queue->at + to, _mm256_blendv_epi8(empty, lanes.at[0], some_left_low(&lanes)));
  store(queue->at + to + LANES / 2, _mm256_blendv_epi8(empty, lanes.at[1], some_left_high(&lanes)));
  store(queue->left + to, lanes.left);
  store(queue->hash + to, lanes.hash);
  store(queue->key + to, _mm256_add_epi32(iota(), _mm256_set1_epi32((int)i)));
}

/* Appends the lanes that have bytes left. Values of other lanes come behind them, and are
 * overwritten by the next. */
static inline void append(struct queue *queue, const struct lanes *lanes, __m256i key)
{
  const unsigned some = lanes_set(some_left(lanes));
  const size_t n = queue->n, n_low = (size_t)__builtin_popcount(some & 0xf);
  if (!some)
    return;
  const __m256i dwords = compaction_order(some);
  const __m256i low = compaction_order64(some & 0xf), high = compaction_order64(some >> 4);
  store(queue->at + n, _mm256_permutevar8x32_epi32(lanes->at[0], low));
  store(queue->at + n + n_low, _mm256_permutevar8x32_epi32(lanes->at[1], high));
  store(queue->left + n, _mm256_permutevar8x32_epi32(lanes->left, dwords));
  store(queue->hash + n, _mm256_permutevar8x32_epi32(lanes->hash, dwords));
  store(queue->key + n, _mm256_permutevar8x32_epi32(key, dwords));
  queue->n = n + (size_t)__builtin_popcount(some);
}

static inline __attribute__((always_inline)) void take(struct queue *queue, size_t i, size_t n,
                                                       struct load_bound bound, bool signed_tails,
                                                       bool first, uint8_t *hashes)
{
  const __m256i there = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), iota());
  const __m256i key = load(queue->key + i);
  struct lanes lanes = {
      .at = {load(queue->at + i), load(queue->at + i + LANES / 2)},
      .left = _mm256_and_si256(there, load(queue->left + i)),
      .hash = load(queue->hash + i),
  };
  lanes = take_stripes(lanes, (const uint8_t *const *)(queue->at + i), bound, signed_tails);
  if (first) {
    store(hashes + 4 * (size_t)queue->key[i], lanes.hash);
  } else {
    uint32_t hash[LANES];
    store(hash, lanes.hash);
    for (size_t l = 0; l < n; l++)
      memcpy(hashes + 4 * (size_t)queue->key[i + l], &hash[l], sizeof hash[l]);
  }
  append(queue, &lanes, key);
}

static const struct bloomhash_queue_vocabulary queueing = {LANES, enter, take};

static void hash_all(const lanebloom_keys *keys, bool signed_tails, uint8_t *hashes)
{
  bloomhash_queued(keys, signed_tails, &widths, &queueing, hashes);
}

void KERNEL(bloomhash_hash)(const lanebloom_keys *keys, void *hashes)
{
  hash_all(keys, false, hashes);
}

void KERNEL(bloomhash_signed_hash)(const lanebloom_keys *keys, void *hashes)
{
  hash_all(keys, true, hashes);
}
