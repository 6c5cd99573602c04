/* BloomHash in lanes of AVX-512: sixteen keys at a time, a key per lane, sixteen bytes of each in
 * one go.
 * SPDX-License-Identifier: MIT */
#include "../chunks.h"
#include "../scalar/scalar.h"
#include "avx512.h"
#include "isa.h"

enum {
  LANES = 16,

  /* Keys of many sizes are taken in blocks, whose queue should stay in the first-level cache.
   * Words, 0 to 100 bytes on Zen 4: 256 keys 1.25 and 5.16 ns, 512 1.20 and 5.10. Without MANY: 512
   * 1.18 and 6.4, 1024 1.14 and 7.3. */
  BLOCK_MAX = 512,
  /* While so many lanes have bytes left, they go on as they are: a chunk costs less than a turn in
   * the queue. 0 to 100 bytes: never 5.6 ns, while 9 or more 5.0, 12 or more 5.2; 0 to 1000 bytes:
   * 260, 45 and 46. */
  MANY = 9,
  MIN_QUEUE = 4, /* fewer keys are faster one by one */
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

static inline __m512i mix_chunk(__m512i hash, const __m512i words[CHUNK_NWORDS])
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

/* Word w of chunks that end anywhere: `left` bytes of the chunk, 0 to 16, belong to the key, and so
 * many are in each byte of `bytes_left`. Keys that have ended before keep their hash. */
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

static inline __m512i mix_last_chunk(__m512i hash, const __m512i words[CHUNK_NWORDS], __m512i left,
                                     bool signed_tails)
{
  const __m512i low_bytes =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
  const __m512i bytes_left = _mm512_shuffle_epi8(left, low_bytes);
  for (int w = 0; w < CHUNK_NWORDS; w++)
    hash = mix_left(hash, words[w], left, bytes_left, w, signed_tails);
  return hash;
}

/* The same where all keys have so many bytes left of the chunk. */
static inline __m512i mix_same(__m512i hash, const __m512i words[CHUNK_NWORDS], size_t left,
                               bool signed_tails)
{
  for (size_t w = 0; w < CHUNK_NWORDS && 4 * w < left; w++) {
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

/* A chunk, of which the last bytes may be somebody else's, on the same page: sanitizers would
 * object. */
__attribute__((no_sanitize("address", "thread"))) static inline __m128i
load_chunk(const uint8_t *from)
{
  return _mm_loadu_si128((const void *)from);
}

/* A chunk of each of four keys. */
static inline __m512i load_row(const uint8_t *a, const uint8_t *b, const uint8_t *c,
                               const uint8_t *d)
{
  const __m256i ab =
      _mm256_inserti128_si256(_mm256_castsi128_si256(load_chunk(a)), load_chunk(b), 1);
  const __m256i cd =
      _mm256_inserti128_si256(_mm256_castsi128_si256(load_chunk(c)), load_chunk(d), 1);
  return _mm512_inserti64x4(_mm512_castsi256_si512(ab), cd, 1);
}

/* Row r holds the chunks of keys r, r + 4, r + 8 and r + 12, so that their words come out in the
 * keys' order (letters are keys, figures words; one quarter of each register):
 *
 *   a0 a1 a2 a3        a0 b0 a1 b1        a0 b0 c0 d0
 *   b0 b1 b2 b3   ->   a2 b2 a3 b3   ->   a1 b1 c1 d1
 *   c0 c1 c2 c3        c0 d0 c1 d1        a2 b2 c2 d2
 *   d0 d1 d2 d3        c2 d2 c3 d3        a3 b3 c3 d3 */
static inline void transpose(const __m512i rows[4], __m512i words[CHUNK_NWORDS])
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
    __m512i rows[4], words[CHUNK_NWORDS];
    for (size_t r = 0; r < 4; r++)
      rows[r] = _mm512_loadu_si512(data + 16 * i + 64 * r);
    transpose(rows, words);
    _mm512_storeu_si512(hashes + 4 * i, _mm512_permutexvar_epi32(order, mix_chunk(first, words)));
  }
}

/* Of any other width: 16 bytes may be read from the last chunk of each. */
static inline void hash_any_width(const uint8_t *data, size_t width, size_t n, bool signed_tails,
                                  uint8_t *hashes)
{
  const __m512i first = first_state(_mm512_set1_epi32((int)(uint32_t)width));
  for (size_t i = 0; i < n; i += LANES) {
    const uint8_t *from = data + i * width;
    __m512i hash = first;
    for (size_t left = width; left > 0; from += CHUNK_NBYTES) {
      __m512i rows[4], words[CHUNK_NWORDS];
      for (size_t r = 0; r < 4; r++)
        rows[r] = load_row(from + r * width, from + (r + 4) * width, from + (r + 8) * width,
                           from + (r + 12) * width);
      transpose(rows, words);
      if (left < CHUNK_NBYTES) {
        hash = mix_same(hash, words, left, signed_tails);
        break;
      }
      hash = mix_chunk(hash, words);
      left -= CHUNK_NBYTES;
    }
    _mm512_storeu_si512(hashes + 4 * i, hash);
  }
}

/* Whole groups of keys, of which it returns how many it hashed: all whose last chunk can be
 * read. */
static inline size_t hash_fixed(const lanebloom_keys *keys, bool signed_tails, uint8_t *hashes)
{
  const uint8_t *data = keys->data;
  const size_t width = keys->width, last_nbytes = width % CHUNK_NBYTES, n = keys->n / LANES * LANES;
  if (width == 4) {
    hash_width_4(data, n, hashes);
    return n;
  }
  if (width == 8) {
    hash_width_8(data, n, hashes);
    return n;
  }
  if (width == 16) {
    hash_width_16(data, n, hashes);
    return n;
  }
  const size_t n_beyond = last_nbytes > 0 ? (CHUNK_NBYTES - last_nbytes + width - 1) / width : 0;
  const size_t n_inside = n_beyond < keys->n ? (keys->n - n_beyond) / LANES * LANES : 0;
  hash_any_width(data, width, n_inside, signed_tails, hashes);
  return n_inside;
}

/* ---- Keys of many sizes ----
 *
 * Sixteen keys take chunk after chunk until most have ended. Those that have not go into a queue,
 * so that lanes are full again in the next round. Measured on Zen 4 and not better: whole chunks
 * unmasked by way of the queue, then all last chunks in the batch's order (0 to 100 bytes 10 %
 * faster, 5 to 30 bytes and slices 15 to 30 % slower); addresses taken out of the registers instead
 * of through memory (8 % slower); scalar stores instead of a scatter (the same). */

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

/* Lanes whose next chunk would be read beyond its reach, a bit for each. */
static inline unsigned beyond_reach(const struct lanes *lanes, struct reach reach)
{
  const __m512i mask = _mm512_set1_epi64((long long)reach.mask),
                last = _mm512_set1_epi64((long long)reach.last);
  const unsigned low = _mm512_cmpgt_epu64_mask(_mm512_and_si512(lanes->at[0], mask), last);
  const unsigned high = _mm512_cmpgt_epu64_mask(_mm512_and_si512(lanes->at[1], mask), last);
  const unsigned partial = _mm512_cmplt_epi32_mask(lanes->left, _mm512_set1_epi32(CHUNK_NBYTES));
  return partial & some_left(lanes) & (low | high << 8);
}

/* From where each lane loads its next chunk. What may not be loaded is copied first; those that
 * have ended get any bytes. */
static inline void find_chunks(const struct lanes *lanes, struct reach reach,
                               uint8_t copies[LANES][CHUNK_NBYTES], const uint8_t *at[LANES])
{
  const __m512i anywhere = _mm512_set1_epi64((long long)(uintptr_t)copies);
  _mm512_storeu_si512(at, _mm512_mask_mov_epi64(anywhere, some_left_low(lanes), lanes->at[0]));
  _mm512_storeu_si512(at + LANES / 2,
                      _mm512_mask_mov_epi64(anywhere, some_left_high(lanes), lanes->at[1]));
  unsigned beyond = beyond_reach(lanes, reach);
  if (__builtin_expect(beyond == 0, 1))
    return;
  uint32_t left[LANES];
  _mm512_storeu_si512(left, lanes->left);
  for (; beyond; beyond &= beyond - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(beyond);
    memcpy(copies[lane], at[lane], left[lane]);
    at[lane] = copies[lane];
  }
}

/* The next chunk of all. */
static inline struct lanes take_chunk(struct lanes lanes, struct reach reach, bool signed_tails)
{
  const __m512i nbytes = _mm512_set1_epi32(CHUNK_NBYTES), step = _mm512_set1_epi64(CHUNK_NBYTES);
  const __m512i taken = _mm512_min_epi32(lanes.left, nbytes);
  const bool all_whole = _mm512_cmplt_epi32_mask(lanes.left, nbytes) == 0;
  uint8_t copies[LANES][CHUNK_NBYTES];
  const uint8_t *at[LANES];
  find_chunks(&lanes, reach, copies, at);
  __m512i rows[4], words[CHUNK_NWORDS];
  for (size_t r = 0; r < 4; r++)
    rows[r] = load_row(at[r], at[r + 4], at[r + 8], at[r + 12]);
  transpose(rows, words);
  return (struct lanes){
      .at = {_mm512_add_epi64(lanes.at[0], step), _mm512_add_epi64(lanes.at[1], step)},
      .left = _mm512_sub_epi32(lanes.left, taken),
      .hash = all_whole ? mix_chunk(lanes.hash, words)
                        : mix_last_chunk(lanes.hash, words, taken, signed_tails),
  };
}

static inline struct lanes take_chunks(struct lanes lanes, struct reach reach, bool signed_tails)
{
  do
    lanes = take_chunk(lanes, reach, signed_tails);
  while (__builtin_popcount(some_left(&lanes)) >= MANY);
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
  __m512i four[4];
  for (size_t i = 0; i < 4; i++)
    four[i] = _mm512_loadu_si512(slices + 4 * i);
  return lanes_at(_mm512_permutex2var_epi64(four[0], even, four[1]),
                  _mm512_permutex2var_epi64(four[2], even, four[3]),
                  _mm512_permutex2var_epi64(four[0], odd, four[1]),
                  _mm512_permutex2var_epi64(four[2], odd, four[3]));
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

/* Keys that have not ended, and which of the block's they are. */
struct queue {
  _Alignas(64) uint64_t at[BLOCK_MAX + LANES];
  uint32_t left[BLOCK_MAX + LANES], hash[BLOCK_MAX + LANES], key[BLOCK_MAX + LANES];
  size_t n;
};

/* Those of these lanes. Others' values come behind them, and are overwritten by the next. */
static inline void enqueue(struct queue *queue, const struct lanes *lanes, __m512i key)
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

static inline __m512i iota(void)
{
  return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

/* The first chunks of all keys of a block, of at least a group. The last group may overlap the one
 * before. */
static inline void begin_block(const lanebloom_keys *keys, struct reach reach, bool signed_tails,
                               struct queue *queue, uint8_t *hashes)
{
  queue->n = 0;
  for (size_t next = 0; next < keys->n; next += LANES) {
    const size_t i = next + LANES <= keys->n ? next : keys->n - LANES;
    const struct lanes lanes = take_chunks(lanes_of(keys, i), reach, signed_tails);
    _mm512_storeu_si512(hashes + 4 * i, lanes.hash);
    enqueue(queue, &lanes, _mm512_add_epi32(iota(), _mm512_set1_epi32((int)i)));
  }
}

/* The next chunks of all keys in the queue. Those that still have bytes left move up to its
 * front. */
static inline void take_round(struct queue *queue, struct reach reach, bool signed_tails,
                              uint8_t *hashes)
{
  const size_t n = queue->n;
  queue->n = 0;
  for (size_t i = 0; i < n; i += LANES) {
    const size_t nthere = n - i < LANES ? n - i : LANES;
    const __mmask16 there = _mm512_cmpgt_epi32_mask(_mm512_set1_epi32((int)nthere), iota());
    const __m512i key = _mm512_loadu_si512(queue->key + i);
    struct lanes lanes = {
        .at = {_mm512_loadu_si512(queue->at + i), _mm512_loadu_si512(queue->at + i + LANES / 2)},
        .left = _mm512_maskz_loadu_epi32(there, queue->left + i),
        .hash = _mm512_loadu_si512(queue->hash + i),
    };
    lanes = take_chunks(lanes, reach, signed_tails);
    _mm512_mask_i32scatter_epi32(hashes, there, key, lanes.hash, 4);
    enqueue(queue, &lanes, key);
  }
}

static inline void hash_one_by_one(const lanebloom_keys *keys, bool signed_tails, uint8_t *hashes)
{
  if (signed_tails)
    lanebloom_bloomhash_signed_hash_scalar(keys, hashes);
  else
    lanebloom_bloomhash_hash_scalar(keys, hashes);
}

static inline void hash_block(const lanebloom_keys *keys, struct reach reach, bool signed_tails,
                              uint8_t *hashes)
{
  struct queue queue;
  begin_block(keys, reach, signed_tails, &queue, hashes);
  while (queue.n >= MIN_QUEUE)
    take_round(&queue, reach, signed_tails, hashes);
  for (size_t i = 0; i < queue.n; i++) { /* few, from the start */
    const lanebloom_keys one = lanebloom_keys_part(keys, queue.key[i], 1);
    hash_one_by_one(&one, signed_tails, hashes + 4 * (size_t)queue.key[i]);
  }
}

/* Any batch, block by block. */
static inline void hash_blocks(const lanebloom_keys *keys, bool signed_tails, uint8_t *hashes)
{
  const struct reach reach = reach_of(keys);
  for (size_t first = 0; first < keys->n; first += BLOCK_MAX) {
    const lanebloom_keys block = lanebloom_keys_part(keys, first, BLOCK_MAX);
    if (block.n < LANES || !fits_lanes(&block))
      hash_one_by_one(&block, signed_tails, hashes + 4 * first);
    else
      hash_block(&block, reach, signed_tails, hashes + 4 * first);
  }
}

static inline void hash_all(const lanebloom_keys *keys, bool signed_tails, uint8_t *hashes)
{
  if (keys->n < LANES) {
    hash_one_by_one(keys, signed_tails, hashes);
    return;
  }
  size_t done =
      keys->layout == KEYS_FIXED && keys->width > 0 ? hash_fixed(keys, signed_tails, hashes) : 0;
  if (done == keys->n)
    return;
  if (done > keys->n - LANES)
    done = keys->n - LANES; /* a few once more, so that there are enough for the lanes */
  const lanebloom_keys rest = lanebloom_keys_part(keys, done, keys->n - done);
  hash_blocks(&rest, signed_tails, hashes + 4 * done);
}

void lanebloom_bloomhash_hash_avx512(const lanebloom_keys *keys, void *hashes)
{
  hash_all(keys, false, hashes);
}

void lanebloom_bloomhash_signed_hash_avx512(const lanebloom_keys *keys, void *hashes)
{
  hash_all(keys, true, hashes);
}
