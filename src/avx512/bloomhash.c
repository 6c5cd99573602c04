/* BloomHash in lanes of AVX-512: sixteen keys at a time, a key per lane, sixteen bytes of each in
 * one go.
 * SPDX-License-Identifier: MIT */
#include "../lanes/bloomhash_queue.h"
#include "../lanes/lanes.h"
#include "isa.h"

enum {
  LANES = 16,
  NGROUPS = 4,                   /* that wide keys are hashed in, side by side */
  MIN_CHAIN = 2 * STRIPE_NBYTES, /* keys so wide gain by it, of 12 and 20 bytes lose */
};

/* ---- The mixing ---- */

static inline __m512i first_state(__m512i sizes)
{
  const __m512i product = _mm512_mullo_epi32(sizes, _mm512_set1_epi32((int)BLOOMHASH_MULTIPLIER));
  return _mm512_xor_si512(product, _mm512_set1_epi32((int)BLOOMHASH_SEED));
}

static inline __m512i add_and_multiply(__m512i hash, __m512i word)
{
  return _mm512_mullo_epi32(_mm512_add_epi32(hash, word),
                            _mm512_set1_epi32((int)BLOOMHASH_MULTIPLIER));
}

static inline __m512i mix(__m512i hash, __m512i word)
{
  hash = add_and_multiply(hash, word);
  return _mm512_xor_si512(hash, _mm512_srli_epi32(hash, 16));
}

static inline __m512i mix_stripe(__m512i hash, const __m512i words[STRIPE_NWORDS])
{
  return mix(mix(mix(mix(hash, words[0]), words[1]), words[2]), words[3]);
}

/* What a tail of one to three bytes adds to the hash: each of them, widened. A signed byte is its
 * unsigned value, less 256 from 0x80 on. */
static inline __m512i sign_tails(__m512i word, __mmask16 tails)
{
  const __m512i signs = _mm512_and_si512(word, _mm512_set1_epi32(0x808080));
  return _mm512_mask_sub_epi32(word, tails, word, _mm512_slli_epi32(signs, 1));
}

/* Word w of stripes that end anywhere: `left` bytes of the stripe, 0 to 16, belong to the key, and
 * so many are in each byte of `bytes_left`. Keys that have ended before keep their hash. */
static inline __m512i mix_left(__m512i hash, __m512i word, __m512i left, __m512i bytes_left, int w,
                               bool signed_tails)
{
  const __m512i table = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)tail_shifts[w]));
  const __m512i shifts =
      _mm512_shuffle_epi8(table, _mm512_or_si512(left, _mm512_set1_epi32((int)0x80808000)));
  const __m512i positions = _mm512_set1_epi32(0x03020100 + 0x04040404 * w);
  const __mmask16 begun = _mm512_cmpgt_epi32_mask(left, _mm512_set1_epi32(4 * w));
  word = _mm512_maskz_mov_epi8(_mm512_cmpgt_epi8_mask(bytes_left, positions), word);
  if (signed_tails)
    word = sign_tails(word, _mm512_cmpeq_epi32_mask(shifts, _mm512_set1_epi32(24)));
  const __m512i product = add_and_multiply(hash, word);
  return _mm512_mask_xor_epi32(hash, begun, product, _mm512_srlv_epi32(product, shifts));
}

static inline __m512i mix_last_stripe(__m512i hash, const __m512i words[STRIPE_NWORDS],
                                      __m512i left, bool signed_tails)
{
  const __m512i low_bytes =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
  const __m512i bytes_left = _mm512_shuffle_epi8(left, low_bytes);
  for (int w = 0; w < STRIPE_NWORDS; w++)
    hash = mix_left(hash, words[w], left, bytes_left, w, signed_tails);
  return hash;
}

/* The same where all keys have so many bytes left of the stripe. */
static inline __m512i mix_same(__m512i hash, const __m512i words[STRIPE_NWORDS], size_t left,
                               bool signed_tails)
{
  for (size_t w = 0; w < STRIPE_NWORDS && 4 * w < left; w++) {
    if (left - 4 * w >= 4) {
      hash = mix(hash, words[w]);
      continue;
    }
    __m512i tail = _mm512_and_si512(words[w], _mm512_set1_epi32((1 << 8 * (left - 4 * w)) - 1));
    if (signed_tails)
      tail = sign_tails(tail, 0xffff);
    hash = add_and_multiply(hash, tail);
    hash = _mm512_xor_si512(hash, _mm512_srli_epi32(hash, 24));
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

/* A stripe of each of four keys. */
static inline __m512i load_row(const uint8_t *a, const uint8_t *b, const uint8_t *c,
                               const uint8_t *d)
{
  const __m256i ab =
      _mm256_inserti128_si256(_mm256_castsi128_si256(load_stripe(a)), load_stripe(b), 1);
  const __m256i cd =
      _mm256_inserti128_si256(_mm256_castsi128_si256(load_stripe(c)), load_stripe(d), 1);
  return _mm512_inserti64x4(_mm512_castsi256_si512(ab), cd, 1);
}

/* Row r holds the stripes of keys r, r + 4, r + 8 and r + 12, so that their words come out in the
 * keys' order (letters are keys, figures words; one quarter of each register):
 *
 *   a0 a1 a2 a3        a0 b0 a1 b1        a0 b0 c0 d0
 *   b0 b1 b2 b3   ->   a2 b2 a3 b3   ->   a1 b1 c1 d1
 *   c0 c1 c2 c3        c0 d0 c1 d1        a2 b2 c2 d2
 *   d0 d1 d2 d3        c2 d2 c3 d3        a3 b3 c3 d3 */
static inline void transpose(const __m512i rows[4], __m512i words[STRIPE_NWORDS])
{
  const __m512i ab01 = _mm512_unpacklo_epi32(rows[0], rows[1]),
                ab23 = _mm512_unpackhi_epi32(rows[0], rows[1]);
  const __m512i cd01 = _mm512_unpacklo_epi32(rows[2], rows[3]),
                cd23 = _mm512_unpackhi_epi32(rows[2], rows[3]);
  words[0] = _mm512_unpacklo_epi64(ab01, cd01);
  words[1] = _mm512_unpackhi_epi64(ab01, cd01);
  words[2] = _mm512_unpacklo_epi64(ab23, cd23);
  words[3] = _mm512_unpackhi_epi64(ab23, cd23);
}

/* ---- Keys of one width ---- */

static inline void hash_width_4(const uint8_t *data, size_t n, uint8_t *hashes)
{
  const __m512i first = first_state(_mm512_set1_epi32(4));
  for (size_t i = 0; i < n; i += LANES)
    _mm512_storeu_si512(hashes + 4 * i, mix(first, _mm512_loadu_si512(data + 4 * i)));
}

static inline void hash_width_8(const uint8_t *data, size_t n, uint8_t *hashes)
{
  const __m512i first = first_state(_mm512_set1_epi32(8));
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  for (size_t i = 0; i < n; i += LANES) {
    const __m512i low = _mm512_loadu_si512(data + 8 * i),
                  high = _mm512_loadu_si512(data + 8 * i + 64);
    const __m512i hash = mix(first, _mm512_permutex2var_epi32(low, even, high));
    _mm512_storeu_si512(hashes + 4 * i, mix(hash, _mm512_permutex2var_epi32(low, odd, high)));
  }
}

/* Four keys in a register, so lane 4 b + r of a word belongs to key 4 r + b. */
static inline void hash_width_16(const uint8_t *data, size_t n, uint8_t *hashes)
{
  const __m512i first = first_state(_mm512_set1_epi32(16));
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  for (size_t i = 0; i < n; i += LANES) {
    __m512i rows[4], words[STRIPE_NWORDS];
    for (size_t r = 0; r < 4; r++)
      rows[r] = _mm512_loadu_si512(data + 16 * i + 64 * r);
    transpose(rows, words);
    _mm512_storeu_si512(hashes + 4 * i, _mm512_permutexvar_epi32(order, mix_stripe(first, words)));
  }
}

/* Groups of keys side by side, because each is a chain of products. */
static inline __attribute__((always_inline)) void
hash_groups(const uint8_t *data, size_t width, size_t ngroups, bool signed_tails, uint8_t *hashes)
{
  __m512i hash[NGROUPS];
  for (size_t g = 0; g < ngroups; g++)
    hash[g] = first_state(_mm512_set1_epi32((int)(uint32_t)width));
  for (size_t left = width; left > 0; data += STRIPE_NBYTES) {
    for (size_t g = 0; g < ngroups; g++) {
      const uint8_t *at = data + LANES * g * width;
      __m512i rows[4], words[STRIPE_NWORDS];
      for (size_t r = 0; r < 4; r++)
        rows[r] = load_row(at + r * width, at + (r + 4) * width, at + (r + 8) * width,
                           at + (r + 12) * width);
      transpose(rows, words);
      hash[g] = left < STRIPE_NBYTES ? mix_same(hash[g], words, left, signed_tails)
                                     : mix_stripe(hash[g], words);
    }
    if (left < STRIPE_NBYTES)
      break;
    left -= STRIPE_NBYTES;
  }
  for (size_t g = 0; g < ngroups; g++)
    _mm512_storeu_si512(hashes + 4 * LANES * g, hash[g]);
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

/* Sixteen keys on their way. */
struct lanes {
  __m512i at[2]; /* where the next byte is */
  __m512i left;  /* bytes, below 2^31 */
  __m512i hash;
};

/* Lanes that have bytes left. */
static inline __mmask16 some_left(const struct lanes *lanes)
{
  return _mm512_test_epi32_mask(lanes->left, lanes->left);
}

/* The same in halves, for addresses: clang 14 would shift that mask by way of memory, and wait for
 * it there. */
static inline __mmask8 some_left_low(const struct lanes *lanes)
{
  const __m256i left = _mm512_castsi512_si256(lanes->left);
  return _mm256_test_epi32_mask(left, left);
}

static inline __mmask8 some_left_high(const struct lanes *lanes)
{
  const __m256i left = _mm512_extracti64x4_epi64(lanes->left, 1);
  return _mm256_test_epi32_mask(left, left);
}

/* Lanes whose next stripe would be read beyond its bound, a bit for each. */
static inline unsigned beyond_bound(const struct lanes *lanes, struct load_bound bound)
{
  const __m512i mask = _mm512_set1_epi64((long long)bound.mask),
                last = _mm512_set1_epi64((long long)bound.last);
  const unsigned low = _mm512_cmpgt_epu64_mask(_mm512_and_si512(lanes->at[0], mask), last);
  const unsigned high = _mm512_cmpgt_epu64_mask(_mm512_and_si512(lanes->at[1], mask), last);
  const unsigned partial = _mm512_cmplt_epi32_mask(lanes->left, _mm512_set1_epi32(STRIPE_NBYTES));
  return partial & some_left(lanes) & (low | high << 8);
}

static inline void load_words(const uint8_t *const *at, size_t distance,
                              __m512i words[STRIPE_NWORDS])
{
  __m512i rows[4];
  for (size_t r = 0; r < 4; r++)
    rows[r] = load_row(at[r] + distance, at[r + 4] + distance, at[r + 8] + distance,
                       at[r + 12] + distance);
  transpose(rows, words);
}

/* The next stripe of all, and before it those after which all have bytes left. at: the lanes'
 * addresses in memory. */
static inline struct lanes take_stripes(struct lanes lanes, const uint8_t *const *at,
                                        struct load_bound bound, bool signed_tails)
{
  const __m512i nbytes = _mm512_set1_epi32(STRIPE_NBYTES);
  __m512i words[STRIPE_NWORDS];
  size_t distance = 0;
  for (; _mm512_cmple_epi32_mask(lanes.left, nbytes) == 0; distance += STRIPE_NBYTES) {
    load_words(at, distance, words);
    lanes.hash = mix_stripe(lanes.hash, words);
    lanes.left = _mm512_sub_epi32(lanes.left, nbytes);
  }
  const __m512i passed = _mm512_set1_epi64((long long)distance);
  lanes.at[0] = _mm512_add_epi64(lanes.at[0], passed);
  lanes.at[1] = _mm512_add_epi64(lanes.at[1], passed);
  const unsigned beyond = beyond_bound(&lanes, bound);
  if (__builtin_expect(beyond != 0, 0)) {
    uint8_t copies[LANES][STRIPE_NBYTES];
    const uint8_t *from[LANES];
    uint32_t left[LANES];
    for (size_t l = 0; l < LANES; l++)
      from[l] = at[l] + distance;
    _mm512_storeu_si512(left, lanes.left);
    copy_stripes(beyond, left, copies, from);
    load_words(from, 0, words);
  } else {
    load_words(at, distance, words);
  }
  const __m512i taken = _mm512_min_epi32(lanes.left, nbytes);
  const __m512i step = _mm512_set1_epi64(STRIPE_NBYTES);
  lanes.hash = mix_last_stripe(lanes.hash, words, taken, signed_tails);
  lanes.left = _mm512_sub_epi32(lanes.left, taken);
  lanes.at[0] = _mm512_add_epi64(lanes.at[0], step);
  lanes.at[1] = _mm512_add_epi64(lanes.at[1], step);
  return lanes;
}

static inline struct lanes lanes_at(__m512i low, __m512i high, __m512i low_sizes,
                                    __m512i high_sizes)
{
  const __m256i low_size = _mm512_cvtepi64_epi32(low_sizes),
                high_size = _mm512_cvtepi64_epi32(high_sizes);
  const __m512i sizes = _mm512_inserti64x4(_mm512_castsi256_si512(low_size), high_size, 1);
  return (struct lanes){.at = {low, high}, .left = sizes, .hash = first_state(sizes)};
}

static inline struct lanes lanes_of_fixed(const uint8_t *data, size_t width)
{
  uint64_t at[LANES];
  for (size_t l = 0; l < LANES; l++)
    at[l] = (uint64_t)(uintptr_t)data + l * width;
  const __m512i sizes = _mm512_set1_epi64((long long)width);
  return lanes_at(_mm512_loadu_si512(at), _mm512_loadu_si512(at + LANES / 2), sizes, sizes);
}

static inline struct lanes lanes_of_offsets32(__m512i data, const uint32_t *offsets)
{
  const __m512i starts = _mm512_loadu_si512(offsets), ends = _mm512_loadu_si512(offsets + 1);
  const __m512i sizes = _mm512_sub_epi32(ends, starts);
  const __m512i low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(starts));
  const __m512i high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(starts, 1));
  return (struct lanes){
      .at = {_mm512_add_epi64(data, low), _mm512_add_epi64(data, high)},
      .left = sizes,
      .hash = first_state(sizes),
  };
}

static inline struct lanes lanes_of_offsets64(__m512i data, const uint64_t *offsets)
{
  const __m512i low = _mm512_loadu_si512(offsets), high = _mm512_loadu_si512(offsets + LANES / 2);
  const __m512i low_ends = _mm512_loadu_si512(offsets + 1),
                high_ends = _mm512_loadu_si512(offsets + LANES / 2 + 1);
  return lanes_at(_mm512_add_epi64(data, low), _mm512_add_epi64(data, high),
                  _mm512_sub_epi64(low_ends, low), _mm512_sub_epi64(high_ends, high));
}

static inline struct lanes lanes_of_slices(const lanebloom_slice *slices)
{
  const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
  const __m512i a = _mm512_loadu_si512(slices), b = _mm512_loadu_si512(slices + 4),
                c = _mm512_loadu_si512(slices + 8), d = _mm512_loadu_si512(slices + 12);
  return lanes_at(_mm512_permutex2var_epi64(a, even, b), _mm512_permutex2var_epi64(c, even, d),
                  _mm512_permutex2var_epi64(a, odd, b), _mm512_permutex2var_epi64(c, odd, d));
}

/* Keys i .. i + 16 of the batch. */
static inline struct lanes lanes_of(const lanebloom_keys *keys, size_t i)
{
  const __m512i data = _mm512_set1_epi64((long long)(uintptr_t)keys->data);
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

static inline __m512i iota(void)
{
  return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

static inline __attribute__((always_inline)) void enter(const lanebloom_keys *keys, size_t i,
                                                        struct queue *queue, size_t to)
{
  const struct lanes lanes = lanes_of(keys, i);
  const __m512i empty = _mm512_set1_epi64((long long)anywhere());
  _mm512_storeu_si512(queue->at + to,
                      _mm512_mask_mov_epi64(empty, some_left_low(&lanes), lanes.at[0]));
  _mm512_storeu_si512(queue->at + to + LANES / 2,
                      _mm512_mask_mov_epi64(empty, some_left_high(&lanes), lanes.at[1]));
  _mm512_storeu_si512(queue->left + to, lanes.left);
  _mm512_storeu_si512(queue->hash + to, lanes.hash);
  _mm512_storeu_si512(queue->key + to, _mm512_add_epi32(iota(), _mm512_set1_epi32((int)i)));
}

/* Appends the lanes that have bytes left. Values of other lanes come behind them, and are
 * overwritten by the next. */
static inline void append(struct queue *queue, const struct lanes *lanes, __m512i key)
{
  const __mmask16 some = some_left(lanes);
  const __mmask8 low = some_left_low(lanes), high = some_left_high(lanes);
  const size_t n = queue->n, n_low = (size_t)__builtin_popcount(low);
  if (!some)
    return;
  _mm512_storeu_si512(queue->at + n, _mm512_maskz_compress_epi64(low, lanes->at[0]));
  _mm512_storeu_si512(queue->at + n + n_low, _mm512_maskz_compress_epi64(high, lanes->at[1]));
  _mm512_storeu_si512(queue->left + n, _mm512_maskz_compress_epi32(some, lanes->left));
  _mm512_storeu_si512(queue->hash + n, _mm512_maskz_compress_epi32(some, lanes->hash));
  _mm512_storeu_si512(queue->key + n, _mm512_maskz_compress_epi32(some, key));
  queue->n = n + (size_t)__builtin_popcount(some);
}

static inline __attribute__((always_inline)) void take(struct queue *queue, size_t i, size_t n,
                                                       struct load_bound bound, bool signed_tails,
                                                       bool first, uint8_t *hashes)
{
  const __mmask16 there = _mm512_cmpgt_epi32_mask(_mm512_set1_epi32((int)n), iota());
  const __m512i key = _mm512_loadu_si512(queue->key + i);
  struct lanes lanes = {
      .at = {_mm512_loadu_si512(queue->at + i), _mm512_loadu_si512(queue->at + i + LANES / 2)},
      .left = _mm512_maskz_loadu_epi32(there, queue->left + i),
      .hash = _mm512_loadu_si512(queue->hash + i),
  };
  lanes = take_stripes(lanes, (const uint8_t *const *)(queue->at + i), bound, signed_tails);
  if (first)
    _mm512_storeu_si512(hashes + 4 * (size_t)queue->key[i], lanes.hash);
  else
    _mm512_mask_i32scatter_epi32(hashes, there, key, lanes.hash, 4);
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
