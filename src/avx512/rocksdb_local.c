/* rocksdb_local in lanes of AVX-512: the probes of a key across lanes, two keys in a register. More
 * than eight probes take one more pass for each eight, at no more work per probe than one key in a
 * register would be.
 *
 * Did not help (Zen 4, 256 KiB, ns per key): high halves by broadcasts from memory, 0.02 more;
 * storing failures to compare 64 bytes of them at once, with lines located just before they are
 * loaded, 1.5 instead of 0.8, as small stores are not forwarded to wide loads; adding by comparing
 * dword numbers under masks, 3.6 instead of 3.1, or by an or per probe, half as long again.
 * SPDX-License-Identifier: MIT */
#include "../scalar/scalar.h"
#include "avx512.h"
#include "isa.h"
#include "lines.h"

enum {
  FEW_NKEYS = 6,   /* fewer go to scalar: a single key takes 44 ns there and 98 here (Zen 4) */
  MAX_NPASSES = 4, /* of eight probes: readers take up to 30 */
};

/* ---- Vocabulary ---- */

/* Where the lines of eight hashes start, in bytes: rocksdb_local_line in each lane. */
static inline __m512i line_offsets(__m512i hashes, __m512i nlines)
{
  const __m512i scaled = _mm512_srli_epi64(_mm512_mul_epu32(hashes, nlines), 32);
  return _mm512_slli_epi64(scaled, 6);
}

/* What the high half of a hash is multiplied by: probe 8 * pass + i of two keys in lanes i and 8 +
 * i of a pass. Lanes beyond the last probe repeat the first one. */
struct multipliers {
  __m512i passes[MAX_NPASSES];
};

static inline struct multipliers multipliers_for(uint32_t nprobes)
{
  struct multipliers multipliers;
  uint32_t power = 1;
  for (uint32_t pass = 0; pass < npasses_of(nprobes); pass++) {
    uint32_t lanes[2 * LANES_PER_KEY];
    for (uint32_t i = 0; i < LANES_PER_KEY; i++, power *= ROCKSDB_LOCAL_MULTIPLIER)
      lanes[i] = lanes[LANES_PER_KEY + i] = pass * LANES_PER_KEY + i < nprobes ? power : 1;
    multipliers.passes[pass] = _mm512_loadu_si512(lanes);
  }
  return multipliers;
}

/* The high halves of hashes 2 * i and 2 * i + 1, eight times each.
 *
 *   hashes  low 0, high 0, low 1, high 1, low 2, ...
 *   i = 0   high 0, high 0, ... high 0, high 1, high 1, ... high 1 */
static inline __m512i two_highs(__m512i hashes, int i)
{
  const __m512i first = _mm512_set_epi32(3, 3, 3, 3, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1);
  return _mm512_permutexvar_epi32(_mm512_add_epi32(first, _mm512_set1_epi32(4 * i)), hashes);
}

/* Lanes 0 to 7: probes in line a that meet a bit that is clear; 8 to 15: in line b. A probe's top 4
 * bits are the number of a dword of its line, the next 5 of a bit in it; rotating takes its count
 * modulo 32. */
static inline __mmask16 failures_in_two(__m512i probes, __m512i line_a, __m512i line_b)
{
  const __m512i of_b = _mm512_set_epi32(16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m512i dwords = _mm512_permutex2var_epi32(
      line_a, _mm512_or_si512(_mm512_srli_epi32(probes, 28), of_b), line_b);
  const __m512i bit_first = _mm512_rorv_epi32(dwords, _mm512_srli_epi32(probes, 23));
  return _mm512_testn_epi32_mask(bit_first, _mm512_set1_epi32(1));
}

/* ---- Probing ---- */

/* Bit i: hash i passes. */
static inline uint8_t probe_eight(const struct multipliers *multipliers, const uint32_t npasses,
                                  const uint8_t *payload, const uint64_t *offsets, __m512i hashes,
                                  const bool far)
{
  __mmask16 failures[4];
  for (int i = 0; i < 4; i++) {
    const __m512i pair = two_highs(hashes, i);
    const __m512i line_a = load_line(payload + offsets[2 * i], far);
    const __m512i line_b = load_line(payload + offsets[2 * i + 1], far);
    failures[i] = failures_in_two(_mm512_mullo_epi32(pair, multipliers->passes[0]), line_a, line_b);
    for (uint32_t pass = 1; pass < npasses; pass++)
      failures[i] |=
          failures_in_two(_mm512_mullo_epi32(pair, multipliers->passes[pass]), line_a, line_b);
  }
  const __mmask32 first = _mm512_kunpackw(failures[1], failures[0]),
                  last = _mm512_kunpackw(failures[3], failures[2]);
  return bytes_of_zero(_cvtmask64_u64(_mm512_kunpackd(last, first)));
}

static inline __m512i eight_hashes(const struct block *block, size_t i)
{
  return _mm512_loadu_si512(block->hashes + i * sizeof(uint64_t));
}

/* Where the lines of eight hashes are. Prefetched into L2, as more of them can be on their way
 * there than to L1 (measured on Zen 4, 16 and 256 MiB: 3.1 and 7.4 ns, to L1 3.9 and 9.5). */
static inline void locate_eight(struct block *block, size_t i, __m512i nlines,
                                const uint8_t *payload, const bool far)
{
  _mm512_store_si512(block->offsets + i, line_offsets(eight_hashes(block, i), nlines));
  if (far)
    for (size_t j = i; j < i + 8; j++)
      _mm_prefetch((const char *)payload + block->offsets[j], _MM_HINT_T1);
}

static inline void probe_blocks(const struct filter_shape *shape, const uint8_t *payload,
                                struct hash_source *source, uint8_t *bitmap, const uint32_t npasses,
                                const bool far)
{
  const struct multipliers multipliers = multipliers_for(shape->nprobes);
  const __m512i nlines = _mm512_set1_epi64(shape->nlines);
  uint8_t padded[NEXT_NKEYS * sizeof(uint64_t)] = {0};
  struct block blocks[2], *block = &blocks[0], *next = &blocks[1];

  next_block(source, sizeof(uint64_t), block, padded);
  for (size_t i = 0; i < block->n; i += 8)
    locate_eight(block, i, nlines, payload, far);
  while (block->n > 0) {
    next_block(source, sizeof(uint64_t), next, padded);
    for (size_t i = 0; i < block->n; i += 8) {
      if (i < next->n)
        locate_eight(next, i, nlines, payload, far);
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

void lanebloom_rocksdb_local_probe_avx512(const struct filter_shape *shape, const uint8_t *payload,
                                          struct hash_source *source, uint8_t *bitmap)
{
  if (source->n < FEW_NKEYS) {
    lanebloom_rocksdb_local_probe_scalar(shape, payload, source, bitmap);
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
                             __m512i pair, uint32_t bits[2][MAX_NPROBES])
{
  for (uint32_t pass = 0; pass < npasses; pass++) {
    const __m512i places =
        _mm512_srli_epi32(_mm512_mullo_epi32(pair, multipliers->passes[pass]), 23);
    _mm256_storeu_si256((__m256i *)&bits[0][pass * LANES_PER_KEY], _mm512_castsi512_si256(places));
    _mm256_storeu_si256((__m256i *)&bits[1][pass * LANES_PER_KEY],
                        _mm512_extracti64x4_epi64(places, 1));
  }
}

/* One key after another, as two may have the same line. */
static inline void add_eight(const struct multipliers *multipliers, const uint32_t nprobes,
                             uint8_t *payload, const uint64_t *offsets, __m512i hashes, size_t n,
                             const bool far)
{
  uint32_t bits[8][MAX_NPROBES];
  for (int i = 0; i < 4; i++)
    place_two(multipliers, npasses_of(nprobes), two_highs(hashes, i), &bits[2 * i]);
  for (size_t i = 0; i < n; i++)
    set_bits(payload + offsets[i], line_of_bits(bits[i], nprobes), far);
}

static inline void add_blocks(const struct filter_shape *shape, uint8_t *payload,
                              struct hash_source *source, const bool far)
{
  const struct multipliers multipliers = multipliers_for(shape->nprobes);
  const __m512i nlines = _mm512_set1_epi64(shape->nlines);
  uint8_t padded[NEXT_NKEYS * sizeof(uint64_t)] = {0};
  struct block blocks[2], *block = &blocks[0], *next = &blocks[1];

  next_block(source, sizeof(uint64_t), block, padded);
  for (size_t i = 0; i < block->n; i += 8)
    locate_eight(block, i, nlines, payload, far);
  while (block->n > 0) {
    next_block(source, sizeof(uint64_t), next, padded);
    for (size_t i = 0; i < block->n; i += 8) {
      if (i < next->n)
        locate_eight(next, i, nlines, payload, far);
      const size_t left = block->n - i;
      add_eight(&multipliers, shape->nprobes, payload, block->offsets + i, eight_hashes(block, i),
                left < 8 ? left : 8, far);
    }
    struct block *const done = block;
    block = next;
    next = done;
  }
}

void lanebloom_rocksdb_local_add_avx512(const struct filter_shape *shape, uint8_t *payload,
                                        struct hash_source *source)
{
  if (shape->nbytes <= NEAR_NBYTES)
    add_blocks(shape, payload, source, false);
  else
    add_blocks(shape, payload, source, true);
}
