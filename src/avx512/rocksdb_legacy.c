/* rocksdb_legacy in lanes of AVX-512: as rocksdb_local, but for where the line is and which bits of
 * it. Lines of other sizes than 64 bytes, which x86 never builds, are left to scalar.
 * SPDX-License-Identifier: MIT */
#include "../scalar/scalar.h"
#include "avx512.h"
#include "isa.h"
#include "lines.h"

enum {
  FEW_NKEYS = 6,    /* fewer go to scalar: a single key takes 50 ns there and 80 here (Zen 4) */
  MAX_NPASSES = 16, /* of eight probes: readers take up to 127 */
  LINE_NBYTES = 64,
};

/* ---- Vocabulary ---- */

/* What finds the lines of hashes: see divide.h. */
struct divisor {
  __m512i nlines, multiplier, addend;
  __m128i shift;
};

static inline struct divisor divisor_of(const struct filter_shape *shape)
{
  return (struct divisor){
      .nlines = _mm512_set1_epi64(shape->nlines),
      .multiplier = _mm512_set1_epi64(shape->reciprocal.multiplier),
      .addend = _mm512_set1_epi64(shape->reciprocal.addend),
      .shift = _mm_cvtsi32_si128((int)shape->reciprocal.shift),
  };
}

/* Where the lines of eight hashes start, in bytes. */
static inline __m512i line_offsets(__m256i hashes, const struct divisor *divisor)
{
  const __m512i n = _mm512_cvtepu32_epi64(hashes);
  const __m512i product =
      _mm512_add_epi64(_mm512_mul_epu32(n, divisor->multiplier), divisor->addend);
  const __m512i quotient = _mm512_srl_epi64(product, divisor->shift);
  const __m512i line = _mm512_sub_epi64(n, _mm512_mul_epu32(quotient, divisor->nlines));
  return _mm512_slli_epi64(line, 6);
}

/* What the stride of a hash is multiplied by: for probe 8 * pass + i of two keys in lanes i and 8 +
 * i of a pass. Lanes beyond the last probe repeat the first one. */
struct multipliers {
  __m512i passes[MAX_NPASSES];
};

static inline struct multipliers multipliers_for(uint32_t nprobes)
{
  struct multipliers multipliers;
  for (uint32_t pass = 0; pass < npasses_of(nprobes); pass++) {
    uint32_t lanes[2 * LANES_PER_KEY];
    for (uint32_t i = 0; i < LANES_PER_KEY; i++)
      lanes[i] = lanes[LANES_PER_KEY + i] =
          pass * LANES_PER_KEY + i < nprobes ? pass * LANES_PER_KEY + i : 0;
    multipliers.passes[pass] = _mm512_loadu_si512(lanes);
  }
  return multipliers;
}

/* Two hashes and their strides, each in eight lanes. */
struct pair {
  __m512i hashes, strides;
};

/* Of eight hashes, 2 * i and 2 * i + 1. */
static inline struct pair pair_of(__m256i hashes, int i)
{
  const __m512i first = _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m512i which = _mm512_add_epi32(first, _mm512_set1_epi32(2 * i));
  const __m512i two = _mm512_permutexvar_epi32(which, _mm512_castsi256_si512(hashes));
  return (struct pair){two, _mm512_rol_epi32(two, 15)}; /* bloomhash_stride */
}

static inline __m512i probes_of(struct pair pair, __m512i multipliers)
{
  return _mm512_add_epi32(pair.hashes, _mm512_mullo_epi32(pair.strides, multipliers));
}

/* Lanes 0 to 7: probes in line a that meet a bit that is clear; 8 to 15: in line b. A probe's
 * lowest 5 bits are the number of a bit in a dword, as which rotating takes its count anyway, and
 * the next 4 of a dword in the line. */
static inline __mmask16 failures_in_two(__m512i probes, __m512i line_a, __m512i line_b)
{
  const __m512i of_b = _mm512_set_epi32(16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m512i in_line = _mm512_and_si512(_mm512_srli_epi32(probes, 5), _mm512_set1_epi32(15));
  const __m512i dwords = _mm512_permutex2var_epi32(line_a, _mm512_or_si512(in_line, of_b), line_b);
  const __m512i bit_first = _mm512_rorv_epi32(dwords, probes);
  return _mm512_testn_epi32_mask(bit_first, _mm512_set1_epi32(1));
}

/* ---- Probing ---- */

/* Bit i: hash i passes. */
static inline uint8_t probe_eight(const struct multipliers *multipliers, const uint32_t npasses,
                                  const uint8_t *payload, const uint64_t *offsets, __m256i hashes,
                                  const bool far)
{
  __mmask16 failures[4];
  for (int i = 0; i < 4; i++) {
    const struct pair pair = pair_of(hashes, i);
    const __m512i line_a = load_line(payload + offsets[2 * i], far);
    const __m512i line_b = load_line(payload + offsets[2 * i + 1], far);
    failures[i] = failures_in_two(probes_of(pair, multipliers->passes[0]), line_a, line_b);
    for (uint32_t pass = 1; pass < npasses; pass++)
      failures[i] |= failures_in_two(probes_of(pair, multipliers->passes[pass]), line_a, line_b);
  }
  const __mmask32 first = _mm512_kunpackw(failures[1], failures[0]),
                  last = _mm512_kunpackw(failures[3], failures[2]);
  return bytes_of_zero(_cvtmask64_u64(_mm512_kunpackd(last, first)));
}

static inline __m256i eight_hashes(const struct block *block, size_t i)
{
  return _mm256_loadu_si256((const __m256i *)(block->hashes + i * sizeof(uint32_t)));
}

/* Where the lines of eight hashes are, prefetched as in rocksdb_local.c. */
static inline void locate_eight(struct block *block, size_t i, const struct divisor *divisor,
                                const uint8_t *payload, const bool far)
{
  _mm512_store_si512(block->offsets + i, line_offsets(eight_hashes(block, i), divisor));
  if (far)
    for (size_t j = i; j < i + 8; j++)
      _mm_prefetch((const char *)payload + block->offsets[j], _MM_HINT_T1);
}

static inline void probe_blocks(const struct filter_shape *shape, const uint8_t *payload,
                                struct hash_source *source, uint8_t *bitmap, const uint32_t npasses,
                                const bool far)
{
  const struct multipliers multipliers = multipliers_for(shape->nprobes);
  const struct divisor divisor = divisor_of(shape);
  uint8_t padded[NEXT_NKEYS * sizeof(uint32_t)] = {0};
  struct block blocks[2], *block = &blocks[0], *next = &blocks[1];

  next_block(source, sizeof(uint32_t), block, padded);
  for (size_t i = 0; i < block->n; i += 8)
    locate_eight(block, i, &divisor, payload, far);
  while (block->n > 0) {
    next_block(source, sizeof(uint32_t), next, padded);
    for (size_t i = 0; i < block->n; i += 8) {
      if (i < next->n)
        locate_eight(next, i, &divisor, payload, far);
      *bitmap++ = probe_eight(&multipliers, npasses, payload, block->offsets + i,
                              eight_hashes(block, i), far);
    }
    if (block->n % 8 != 0)
      bitmap[-1] &= (uint8_t)((1 << block->n % 8) - 1);
    struct block *const done = block;
    block = next;
    next = done;
  }
}

void lanebloom_rocksdb_legacy_probe_avx512(const struct filter_shape *shape, const uint8_t *payload,
                                           struct hash_source *source, uint8_t *bitmap)
{
  if (shape->line_nbytes != LINE_NBYTES || source->n < FEW_NKEYS) {
    lanebloom_rocksdb_legacy_probe_scalar(shape, payload, source, bitmap);
    return;
  }
  const uint32_t npasses = npasses_of(shape->nprobes);
  const bool far = shape->nbytes > NEAR_NBYTES;
  if (npasses == 1 && !far)
    probe_blocks(shape, payload, source, bitmap, 1, false);
  else if (npasses == 1)
    probe_blocks(shape, payload, source, bitmap, 1, true);
  else
    probe_blocks(shape, payload, source, bitmap, npasses, far);
}

/* ---- Adding ---- */

enum { MAX_NPROBES = MAX_NPASSES * LANES_PER_KEY };

/* Bits of their lines that two hashes set; past the last probe, the first one again. */
static inline void place_two(const struct multipliers *multipliers, const uint32_t npasses,
                             struct pair pair, uint32_t bits[2][MAX_NPROBES])
{
  for (uint32_t pass = 0; pass < npasses; pass++) {
    const __m512i places = _mm512_and_si512(probes_of(pair, multipliers->passes[pass]),
                                            _mm512_set1_epi32(8 * LINE_NBYTES - 1));
    _mm256_storeu_si256((__m256i *)&bits[0][pass * LANES_PER_KEY], _mm512_castsi512_si256(places));
    _mm256_storeu_si256((__m256i *)&bits[1][pass * LANES_PER_KEY],
                        _mm512_extracti64x4_epi64(places, 1));
  }
}

/* One key after another, as two may have the same line. */
static inline void add_eight(const struct multipliers *multipliers, const uint32_t nprobes,
                             uint8_t *payload, const uint64_t *offsets, __m256i hashes, size_t n,
                             const bool far)
{
  uint32_t bits[8][MAX_NPROBES];
  for (int i = 0; i < 4; i++)
    place_two(multipliers, npasses_of(nprobes), pair_of(hashes, i), &bits[2 * i]);
  for (size_t i = 0; i < n; i++)
    set_bits(payload + offsets[i], line_of_bits(bits[i], nprobes), far);
}

static inline void add_blocks(const struct filter_shape *shape, uint8_t *payload,
                              struct hash_source *source, const bool far)
{
  const struct multipliers multipliers = multipliers_for(shape->nprobes);
  const struct divisor divisor = divisor_of(shape);
  uint8_t padded[NEXT_NKEYS * sizeof(uint32_t)] = {0};
  struct block blocks[2], *block = &blocks[0], *next = &blocks[1];

  next_block(source, sizeof(uint32_t), block, padded);
  for (size_t i = 0; i < block->n; i += 8)
    locate_eight(block, i, &divisor, payload, far);
  while (block->n > 0) {
    next_block(source, sizeof(uint32_t), next, padded);
    for (size_t i = 0; i < block->n; i += 8) {
      if (i < next->n)
        locate_eight(next, i, &divisor, payload, far);
      const size_t left = block->n - i;
      add_eight(&multipliers, shape->nprobes, payload, block->offsets + i, eight_hashes(block, i),
                left < 8 ? left : 8, far);
    }
    struct block *const done = block;
    block = next;
    next = done;
  }
}

void lanebloom_rocksdb_legacy_add_avx512(const struct filter_shape *shape, uint8_t *payload,
                                         struct hash_source *source)
{
  if (shape->line_nbytes != LINE_NBYTES)
    lanebloom_rocksdb_legacy_add_scalar(shape, payload, source);
  else if (shape->nbytes <= NEAR_NBYTES)
    add_blocks(shape, payload, source, false);
  else
    add_blocks(shape, payload, source, true);
}
