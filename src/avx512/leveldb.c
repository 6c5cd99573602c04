/* leveldb in lanes of AVX-512: a lane is a key, and a step is one probe of 16 keys. A step has two
 * halves: addresses are computed in lanes; AHEAD steps later, when no load has to wait for them,
 * their dwords are loaded one by one and tested in lanes. Prefetching goes with the first half, so
 * large filters need nothing else.
 * SPDX-License-Identifier: MIT */
#include "../lanes/leveldb_add.h"
#include "../lanes/leveldb_probe.h"
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

/* ns per key on Zen 4. */
enum {
  /* Of keys that mostly pass, unless cache lines are far: their hashes stay beside a filter of 16
   * KiB in the first-level cache (256 keys 2.53, 1024 2.69). */
  SMALL_BLOCK_NKEYS = 256,

  /* Steps between an address and its load (keys that fail, at 16 KiB, 16 and 256 MiB: 3 steps 0.95,
   * 5.7, 10.7; 7: 0.98, 4.6, 11.1; 15: 16 MiB 4.5, 256 MiB 12.5). */
  AHEAD = 7,
  RING = AHEAD + 1,

  /* Fewer go to scalar (ns per call, keys that fail, scalar and this: 8 keys 106, 107; 12: 145,
   * 118). */
  FEW_NKEYS = 12,

  /* From here on cache lines are prefetched (keys that fail, without and with it: 2 MiB 1.9, 3.0; 8
   * MiB 2.5 to 3.7, 3.1; 16 MiB 7.1, 4.6). */
  FAR_NBYTES = 8 << 20,
};

/* What lanes need to know of a filter. */
struct probed {
  const uint8_t *payload;
  struct modulus modulus;
  __m512i last; /* the highest bit at which a dword may begin */
  uint32_t nprobes;
  bool is_far;
  size_t eighths; /* of a block's keys: if more pass, the next block is not compacted */
};

/* Compaction costs instructions and saves cache lines: the farther they are, the more hits it takes
 * until it does not pay. */
static inline struct probed probed_of(const struct filter_shape *shape, const uint8_t *payload)
{
  const bool is_far = shape->nbytes >= FAR_NBYTES;
  return (struct probed){
      .payload = payload,
      .modulus = modulus_of(shape),
      .last = _mm512_set1_epi32((int)(uint32_t)(shape->nbits - 32)),
      .nprobes = shape->nprobes,
      .is_far = is_far,
      .eighths = shape->nbytes <= TINY_NBYTES ? 3
                 : is_far                     ? 7
                                              : 5,
  };
}

static inline __mmask16 first_lanes(size_t n)
{
  return (__mmask16)(n >= LANES ? 0xffff : (1u << n) - 1);
}

/* Hashes i .. i + LANES of n, and 0 from n on. */
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

/* The dwords of probes, by their offsets from the payload, and how far each is rotated to bring the
 * probe's bit down. */
struct addresses {
  _Alignas(64) uint32_t offsets[LANES];
  _Alignas(64) uint32_t bits[LANES];
};

/* Dwords are whole ones of the payload, so that none lies in two cache lines, but the last one ends
 * where the payload ends. Prefetched into the second-level cache (Zen 4, 16 MiB, keys that fail 4.6
 * ns; into the first, which waits for few lines at a time, 6.7). */
static inline void find_addresses(const struct probed *filter, __m512i probes,
                                  struct addresses *addresses)
{
  const __m512i positions = positions_of(probes, &filter->modulus);
  const __m512i dwords =
      _mm512_min_epu32(_mm512_and_si512(positions, _mm512_set1_epi32(~31)), filter->last);
  _mm512_store_si512(addresses->offsets, _mm512_srli_epi32(dwords, 3));
  _mm512_store_si512(addresses->bits, _mm512_sub_epi32(positions, dwords));
  if (filter->is_far)
    for (size_t lane = 0; lane < LANES; lane++)
      _mm_prefetch((const char *)filter->payload + addresses->offsets[lane], _MM_HINT_T1);
}

static inline int load_dword(const uint8_t *bytes)
{
  int dword;
  memcpy(&dword, bytes, sizeof dword);
  return dword;
}

static inline __m128i load_four(const uint8_t *payload, const uint32_t *offsets)
{
  __m128i dwords = _mm_cvtsi32_si128(load_dword(payload + offsets[0]));
  dwords = _mm_insert_epi32(dwords, load_dword(payload + offsets[1]), 1);
  dwords = _mm_insert_epi32(dwords, load_dword(payload + offsets[2]), 2);
  return _mm_insert_epi32(dwords, load_dword(payload + offsets[3]), 3);
}

static inline __m256i load_eight(const uint8_t *payload, const uint32_t *offsets)
{
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load_four(payload, offsets)),
                                 load_four(payload, offsets + 4), 1);
}

/* The lowest bit of each lane is the one that its probe tests. */
static inline __m512i load_dwords(const struct probed *filter, const struct addresses *addresses)
{
  const __m256i low = load_eight(filter->payload, addresses->offsets),
                high = load_eight(filter->payload, addresses->offsets + 8);
  const __m512i dwords = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  return _mm512_rorv_epi32(dwords, _mm512_load_si512(addresses->bits));
}

static inline __mmask16 lowest_bits(__m512i dwords)
{
  return _mm512_test_epi32_mask(dwords, _mm512_set1_epi32(1));
}

/* Tests probe `first`, of which `end` is the next. */
static inline __attribute__((always_inline)) size_t
compact(const struct probed *filter, const uint8_t *hashes, const uint32_t *indices, size_t n,
        uint32_t first, uint32_t end, struct survivors *survivors)
{
  (void)end;
  struct addresses addresses[RING];
  for (size_t step = 0; step < AHEAD && step * LANES < n; step++)
    find_addresses(filter, probes_of(load_hashes(hashes, step * LANES, n), first),
                   &addresses[step]);

  __m512i index = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  size_t nsurvivors = 0;
  for (size_t i = 0; i < n; i += LANES) {
    const __m512i ahead = load_hashes(hashes, i + AHEAD * LANES, n);
    find_addresses(filter, probes_of(ahead, first), &addresses[(i / LANES + AHEAD) % RING]);
    const __mmask16 passed =
        lowest_bits(load_dwords(filter, &addresses[i / LANES % RING])) & first_lanes(n - i);
    if (indices)
      index = _mm512_load_si512(indices + i);
    _mm512_storeu_si512(survivors->hashes + nsurvivors,
                        _mm512_maskz_compress_epi32(passed, load_hashes(hashes, i, n)));
    _mm512_storeu_si512(survivors->indices + nsurvivors,
                        _mm512_maskz_compress_epi32(passed, index));
    nsurvivors += (unsigned)__builtin_popcount(passed);
    if (!indices)
      index = _mm512_add_epi32(index, _mm512_set1_epi32(LANES));
  }
  return nsurvivors;
}

/* Addresses are computed one group of keys ahead. */
static size_t leveldb_probe_all_avx512(const struct probed *filter, const uint8_t *hashes, size_t n,
                                       uint8_t *bitmap)
{
  struct addresses addresses[2 * LEVELDB_MAX_NPROBES];
  __m512i probes = load_hashes(hashes, 0, n), strides = strides_of(probes);
  for (uint32_t p = 0; p < filter->nprobes; p++, probes = _mm512_add_epi32(probes, strides))
    find_addresses(filter, probes, &addresses[p]);

  size_t npassed = 0;
  uint32_t now = 0, ahead = filter->nprobes;
  for (size_t i = 0; i < n; i += LANES) {
    probes = load_hashes(hashes, i + LANES, n);
    strides = strides_of(probes);
    __m512i all = _mm512_set1_epi32(1);
    for (uint32_t p = 0; p < filter->nprobes; p++, probes = _mm512_add_epi32(probes, strides)) {
      find_addresses(filter, probes, &addresses[ahead + p]);
      all = _mm512_and_si512(all, load_dwords(filter, &addresses[now + p]));
    }
    const __mmask16 passed = lowest_bits(all) & first_lanes(n - i);
    memcpy(bitmap + i / 8, &passed, n - i > 8 ? 2 : 1);
    npassed += (unsigned)__builtin_popcount(passed);
    now = ahead;
    ahead = filter->nprobes - now;
  }
  return npassed;
}

static const struct leveldb_probe_vocabulary probing = {compact, leveldb_probe_all_avx512,
                                                        mark_bits};

/* For keys that mostly fail. */
static size_t leveldb_probe_some_avx512(const struct probed *filter, const uint8_t *hashes,
                                        size_t n, uint8_t *bitmap)
{
  return probe_survivors(filter, filter->nprobes, &probing, hashes, n, bitmap, 1, 1);
}

void lanebloom_leveldb_probe_avx512(const struct filter_shape *shape, const uint8_t *payload,
                                    struct hash_source *source, uint8_t *bitmap)
{
  if (shape->nbytes < sizeof(uint32_t) || source->n < FEW_NKEYS) { /* a dword does not fit */
    lanebloom_leveldb_probe_scalar(shape, payload, source, bitmap);
    return;
  }
  const struct probed filter = probed_of(shape, payload);
  bool mostly_pass = false;
  for (size_t n, first = 0; first < source->n; first += n) {
    const size_t max_nkeys = mostly_pass && !filter.is_far ? SMALL_BLOCK_NKEYS : BLOCK_NKEYS;
    const uint8_t *hashes = hash_source_next(source, max_nkeys, &n);
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

static const struct leveldb_add_vocabulary adding = {find, find_bits, stream_line};

void lanebloom_leveldb_add_avx512(const struct filter_shape *shape, uint8_t *payload,
                                  struct hash_source *source)
{
  const struct modulus modulus = modulus_of(shape);
  leveldb_add(shape, payload, source, &modulus, &adding);
}
