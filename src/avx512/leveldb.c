/* LevelDB's filter in lanes of AVX-512: a lane is a key, and a step is one probe of 16 keys.
 *
 * A step has two halves. Places are computed in lanes; some steps later their dwords are loaded one
 * by one and put into lanes, to be tested. Measured on Zen 4, ns per key that passes in a filter of
 * 16 KiB, k = 6: gathers 2.9; loads right after their places 2.8 to 3.6, because places take long
 * to arrive; loads some steps later 1.85. In 256 KiB all take 3.2, which is what lines take to come
 * from the second-level cache. Prefetching goes with the first half, so large filters need nothing
 * else.
 *
 * What did not help, k = 6, ns per key that passes unless said: bits tested one by one in general
 * registers 3.7 to 4.8 (16 KiB); dwords put into lanes by masked broadcasts 2.4, by way of memory
 * 2.3; for large filters a queue per probe with prefetches 14.3, and 5.5 for keys that fail (16
 * MiB; this 12.1 and 4.6), 35 and 11.4 (256 MiB; this 31.8 and 11.1); indices of 16 bits in the
 * sieve (keys that fail, 16 KiB: as these); sifting until few are left and then all probes of these
 * (keys that fail, 256 KiB: 1.5 against 1.3).
 * SPDX-License-Identifier: MIT */
#include "../lanes/leveldb_add.h"
#include "../scalar/scalar.h"
#include "avx512.h"
#include "isa.h"

enum { LANES = 16 };

/* ---- Vocabulary ---- */

/* What takes a probe modulo nbits. */
struct modulus {
  __m512i multiplier, shift, nbits;
};

static inline struct modulus modulus_of(const struct filter_shape *shape)
{
  return (struct modulus){
      .multiplier = _mm512_set1_epi32((int)shape->reciprocal.multiplier),
      .shift = _mm512_set1_epi32((int)shape->reciprocal.shift + 3 - 32),
      .nbits =
          _mm512_set1_epi32((int)(uint32_t)shape->nbits), /* 2^32 bits as 0: their quotient is 0 */
  };
}

/* probe % nbits = probe - probe / 8 / (nbits / 8) * nbits. Numerators are left 8 times as large, so
 * that quotients lie in the high half of their products, but for a shift:
 *
 *   even    p0 -- p2 --              -- h0 -- h2            h0 h1 h2 h3
 *   odd     p1 -- p3 --   products   -- h1 -- h3   merged */
static inline __m512i positions_of(__m512i probes, const struct modulus *modulus)
{
  const __m512i numerators = _mm512_and_si512(probes, _mm512_set1_epi32(~7));
  const __m512i even = _mm512_mul_epu32(numerators, modulus->multiplier);
  const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(numerators, 32), modulus->multiplier);
  const __m512i high = _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
  const __m512i quotients = _mm512_srlv_epi32(high, modulus->shift);
  return _mm512_sub_epi32(probes, _mm512_mullo_epi32(quotients, modulus->nbits));
}

static inline __m512i strides_of(__m512i hashes)
{
  return _mm512_ror_epi32(hashes, 17);
}

/* ---- Probing ---- */

enum {
  /* Measured on Zen 4, ns per key that fails, in a trial in 16 KiB: 256: 1.44, 512: 1.31, 1024:
   * 1.20. */
  BLOCK = BLOCK_NKEYS,

  /* Of keys that are not sifted, unless lines are far: their hashes stay beside a filter of 16 KiB
   * in the first-level cache. Keys that pass, hash included, in two runs: 256: 2.53, 1024: 2.69. */
  SMALL_BLOCK = 256,

  /* Steps between a place and its dword. Keys that fail, in trials in 16 KiB: 1: 1.15, 2: 1.15, 3:
   * 0.95, 5: 0.94, 7: 0.98; 16 MiB: 3: 5.7, 4: 5.0, 7: 4.6, 15: 4.5; 256 MiB: 3: 10.7, 7: 11.1, 15:
   * 12.5. */
  AHEAD = 7,
  RING = AHEAD + 1,

  /* Fewer go to scalar. ns per call, keys that fail / pass, scalar and this: 4: 61 / 57, 98 / 150;
   * 8: 106 / 103, 107 / 154; 12: 145 / 149, 118 / 164; 16: 156 / 195, 114 / 165. */
  FEW_NKEYS = 12,

  NEAR_NBYTES = 32 << 10, /* a first-level cache */

  /* From here on lines are prefetched. Keys that fail / pass without and with it: 2 MiB: 1.9 / 4.4,
   * 3.0 / 6.5; 8 MiB: 2.5 / 5.9 while nobody else uses the third-level cache, else 3.7 / 8.7, 3.1 /
   * 7.2; 16 MiB: 7.1 / 23, 4.6 / 12.1; 256 MiB: 17 / 52, 11 / 32. */
  FAR_NBYTES = 8 << 20,
};

/* A filter that is probed. */
struct probed {
  const uint8_t *payload;
  struct modulus modulus;
  __m512i last; /* the highest bit at which a dword may begin */
  uint32_t nprobes;
  bool is_far;
  size_t eighths; /* of a block's keys: if more pass, the next block is not sifted */
};

/* Sifting costs instructions and saves lines: the farther they are, the more hits it takes until it
 * does not pay. */
static inline struct probed probed_of(const struct filter_shape *shape, const uint8_t *payload)
{
  const bool is_far = shape->nbytes >= FAR_NBYTES;
  return (struct probed){
      .payload = payload,
      .modulus = modulus_of(shape),
      .last = _mm512_set1_epi32((int)(uint32_t)(shape->nbits - 32)),
      .nprobes = shape->nprobes,
      .is_far = is_far,
      .eighths = shape->nbytes <= NEAR_NBYTES ? 3
                 : is_far                     ? 7
                                              : 5,
  };
}

static inline __mmask16 first_lanes(size_t n)
{
  return (__mmask16)(n >= LANES ? 0xffff : (1u << n) - 1);
}

/* Hashes i .. i + LANES of n, and 0 from n on, whose places are as good as any. */
static inline __m512i load_hashes(const void *hashes, size_t i, size_t n)
{
  return _mm512_maskz_loadu_epi32(first_lanes(i < n ? n - i : 0),
                                  (const uint8_t *)hashes + i * sizeof(uint32_t));
}

/* Probe p of each hash. */
static inline __m512i probes_of(__m512i hashes, uint32_t p)
{
  return _mm512_add_epi32(hashes,
                          _mm512_mullo_epi32(strides_of(hashes), _mm512_set1_epi32((int)p)));
}

/* Where probes lie: dwords at offsets from the payload, and bits to be rotated to the lowest
 * place. */
struct places {
  _Alignas(64) uint32_t offsets[LANES];
  _Alignas(64) uint32_t bits[LANES];
};

/* Dwords are whole ones of the payload, so that none lies in two lines, but the last one ends where
 * the payload ends. Lines are prefetched into the second-level cache. Into the first, which waits
 * for few lines at a time, keys that fail / pass take 6.7 / 20 ns instead of 4.6 / 13.5 in 16
 * MiB. */
static inline void place(const struct probed *filter, __m512i probes, struct places *places)
{
  const __m512i positions = positions_of(probes, &filter->modulus);
  const __m512i dwords =
      _mm512_min_epu32(_mm512_and_si512(positions, _mm512_set1_epi32(~31)), filter->last);
  _mm512_store_si512(places->offsets, _mm512_srli_epi32(dwords, 3));
  _mm512_store_si512(places->bits, _mm512_sub_epi32(positions, dwords));
  if (filter->is_far)
    for (size_t lane = 0; lane < LANES; lane++)
      _mm_prefetch((const char *)filter->payload + places->offsets[lane], _MM_HINT_T1);
}

static inline int load_dword(const uint8_t *bytes)
{
  int dword;
  memcpy(&dword, bytes, sizeof dword);
  return dword;
}

static inline __m128i look4(const uint8_t *payload, const uint32_t *offsets)
{
  __m128i dwords = _mm_cvtsi32_si128(load_dword(payload + offsets[0]));
  dwords = _mm_insert_epi32(dwords, load_dword(payload + offsets[1]), 1);
  dwords = _mm_insert_epi32(dwords, load_dword(payload + offsets[2]), 2);
  return _mm_insert_epi32(dwords, load_dword(payload + offsets[3]), 3);
}

static inline __m256i look8(const uint8_t *payload, const uint32_t *offsets)
{
  return _mm256_inserti128_si256(_mm256_castsi128_si256(look4(payload, offsets)),
                                 look4(payload, offsets + 4), 1);
}

/* The lowest bit of each lane is the one at its place. */
static inline __m512i look(const struct probed *filter, const struct places *places)
{
  const __m256i low = look8(filter->payload, places->offsets),
                high = look8(filter->payload, places->offsets + 8);
  const __m512i dwords = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  return _mm512_rorv_epi32(dwords, _mm512_load_si512(places->bits));
}

static inline __mmask16 lowest_bits(__m512i dwords)
{
  return _mm512_test_epi32_mask(dwords, _mm512_set1_epi32(1));
}

/* All probes of every key, for keys that mostly pass. Places are computed one group of keys ahead.
 * Returns how many passed. */
static size_t leveldb_probe_all_avx512(const struct probed *filter, const void *hashes, size_t n,
                                       uint8_t *bitmap)
{
  struct places places[2 * LEVELDB_MAX_NPROBES];
  __m512i probes = load_hashes(hashes, 0, n), strides = strides_of(probes);
  for (uint32_t p = 0; p < filter->nprobes; p++, probes = _mm512_add_epi32(probes, strides))
    place(filter, probes, &places[p]);

  size_t npassed = 0;
  uint32_t now = 0, ahead = filter->nprobes;
  for (size_t i = 0; i < n; i += LANES) {
    probes = load_hashes(hashes, i + LANES, n);
    strides = strides_of(probes);
    __m512i all = _mm512_set1_epi32(1);
    for (uint32_t p = 0; p < filter->nprobes; p++, probes = _mm512_add_epi32(probes, strides)) {
      place(filter, probes, &places[ahead + p]);
      all = _mm512_and_si512(all, look(filter, &places[now + p]));
    }
    const __mmask16 passed = lowest_bits(all) & first_lanes(n - i);
    memcpy(bitmap + i / 8, &passed, n - i > 8 ? 2 : 1);
    npassed += (unsigned)__builtin_popcount(passed);
    now = ahead;
    ahead = filter->nprobes - now;
  }
  return npassed;
}

/* Keys that have passed so far: their hashes, and where they are in the block. */
struct sieve {
  size_t n;
  _Alignas(64) uint32_t hashes[BLOCK];
  _Alignas(64) uint32_t indices[BLOCK];
};

/* Appends. What is written behind the new end does not reach beyond the group that these lanes were
 * read from. */
static inline size_t keep(struct sieve *sieve, size_t n, __mmask16 lanes, __m512i hashes,
                          __m512i indices)
{
  _mm512_storeu_si512(sieve->hashes + n, _mm512_maskz_compress_epi32(lanes, hashes));
  _mm512_storeu_si512(sieve->indices + n, _mm512_maskz_compress_epi32(lanes, indices));
  return n + (unsigned)__builtin_popcount(lanes);
}

/* Probe 0 of a block. */
static void leveldb_fill_sieve_avx512(const struct probed *filter, const void *hashes, size_t n,
                                      struct sieve *sieve)
{
  struct places places[RING];
  for (size_t step = 0; step < AHEAD && step * LANES < n; step++)
    place(filter, load_hashes(hashes, step * LANES, n), &places[step]);

  __m512i indices = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  size_t nkept = 0;
  for (size_t i = 0; i < n; i += LANES) {
    place(filter, load_hashes(hashes, i + AHEAD * LANES, n), &places[(i / LANES + AHEAD) % RING]);
    const __mmask16 passed =
        lowest_bits(look(filter, &places[i / LANES % RING])) & first_lanes(n - i);
    nkept = keep(sieve, nkept, passed, load_hashes(hashes, i, n), indices);
    indices = _mm512_add_epi32(indices, _mm512_set1_epi32(LANES));
  }
  sieve->n = nkept;
}

/* Probe p of what is in the sieve. In place. */
static void leveldb_sift_avx512(const struct probed *filter, uint32_t p, struct sieve *sieve)
{
  const size_t n = sieve->n;
  struct places places[RING];
  for (size_t step = 0; step < AHEAD && step * LANES < n; step++)
    place(filter, probes_of(load_hashes(sieve->hashes, step * LANES, n), p), &places[step]);

  size_t nkept = 0;
  for (size_t i = 0; i < n; i += LANES) {
    const __m512i ahead = load_hashes(sieve->hashes, i + AHEAD * LANES, n);
    place(filter, probes_of(ahead, p), &places[(i / LANES + AHEAD) % RING]);
    const __mmask16 passed =
        lowest_bits(look(filter, &places[i / LANES % RING])) & first_lanes(n - i);
    nkept = keep(sieve, nkept, passed, _mm512_load_si512(sieve->hashes + i),
                 _mm512_load_si512(sieve->indices + i));
  }
  sieve->n = nkept;
}

/* One probe of all keys, the next one of those that pass, and so on, for keys that mostly fail.
 * Returns how many passed. */
static size_t leveldb_probe_some_avx512(const struct probed *filter, const void *hashes, size_t n,
                                        uint8_t *bitmap)
{
  struct sieve sieve;
  leveldb_fill_sieve_avx512(filter, hashes, n, &sieve);
  for (uint32_t p = 1; p < filter->nprobes && sieve.n > 0; p++)
    leveldb_sift_avx512(filter, p, &sieve);

  memset(bitmap, 0, (n + 7) / 8);
  for (size_t i = 0; i < sieve.n; i++)
    bitmap[sieve.indices[i] / 8] |= (uint8_t)(1 << sieve.indices[i] % 8);
  return sieve.n;
}

void lanebloom_leveldb_probe_avx512(const struct filter_shape *shape, const uint8_t *payload,
                                    struct hash_source *source, uint8_t *bitmap)
{
  if (shape->nbytes < sizeof(uint32_t) || source->n < FEW_NKEYS) {
    lanebloom_leveldb_probe_scalar(shape, payload, source, bitmap);
    return;
  }
  const struct probed filter = probed_of(shape, payload);
  bool mostly_pass = false;
  for (size_t n, first = 0; first < source->n; first += n) {
    const void *hashes =
        hash_source_next(source, mostly_pass && !filter.is_far ? SMALL_BLOCK : BLOCK, &n);
    uint8_t *bits = bitmap + first / 8;
    const size_t npassed = mostly_pass ? leveldb_probe_all_avx512(&filter, hashes, n, bits)
                                       : leveldb_probe_some_avx512(&filter, hashes, n, bits);
    mostly_pass = npassed * 8 > n * filter.eighths;
  }
}

/* ---- Adding ---- */

/* Bytes, and masks in them. */
static inline void put_bits(struct bits *bits, size_t i, __m512i positions)
{
  const __m512i masks =
      _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(positions, _mm512_set1_epi32(7)));
  _mm512_storeu_si512(bits->bytes + i, _mm512_srli_epi32(positions, 3));
  _mm_storeu_si128((void *)(bits->masks + i), _mm512_cvtepi32_epi8(masks));
}

static inline __attribute__((always_inline)) size_t find(const struct modulus *modulus,
                                                         uint32_t nprobes, const uint8_t *hashes,
                                                         size_t nkeys, uint32_t *positions,
                                                         struct bits *bits)
{
  size_t n = 0;
  for (size_t i = 0; i < nkeys; i += LANES) {
    __m512i probes = _mm512_loadu_si512(hashes + i * sizeof(uint32_t));
    const __m512i strides = strides_of(probes);
    for (uint32_t p = 0; p < nprobes; p++, n += LANES) {
      const __m512i at = positions_of(probes, modulus);
      if (positions)
        _mm512_storeu_si512(positions + n, at);
      else
        put_bits(bits, n, at);
      probes = _mm512_add_epi32(probes, strides);
    }
  }
  return n;
}

static inline __attribute__((always_inline)) void find_bits(const uint32_t *positions, size_t n,
                                                            struct bits *bits)
{
  for (size_t i = 0; i < n; i += LANES)
    put_bits(bits, i, _mm512_loadu_si512(positions + i));
}

/* Past the cache, all at once. */
static inline __attribute__((always_inline)) void stream_line(uint32_t *to,
                                                              const struct positions_line *line)
{
  _mm512_stream_si512((void *)to, _mm512_load_si512(line->positions));
}

static const struct leveldb_adding adding = {find, find_bits, stream_line};

void lanebloom_leveldb_add_avx512(const struct filter_shape *shape, uint8_t *payload,
                                  struct hash_source *source)
{
  const struct modulus modulus = modulus_of(shape);
  leveldb_add(shape, payload, source, &modulus, &adding);
}
