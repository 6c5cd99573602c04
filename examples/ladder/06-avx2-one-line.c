/* Step 6: probes another format in lanes. In this format, all probes of a key are in one cache
 * line.
 *
 * The probes of a key in a LevelDB filter can be anywhere, so they need six cache lines. In
 * RocksDB's FastLocalBloom, they are all in one line of 64 bytes. This line fits into two registers
 * of AVX2. So the whole line is loaded, and the probes look up their bits in the registers:
 *
 *   lane            0         1         2              7
 *   probes          p0        p1        p2       ...   p7      the key times powers of a constant
 *   probe >> 28     which of the line's 16 dwords: the top bit is the half, 3 bits the dword in it
 *   probe >> 23     which bit of the dword: 5 more bits
 *
 * There are two loads instead of six, no branch and no gather. Lanes after the last probe repeat
 * the first probe. The first row of the output is the scalar code for this format, to compare with.
 * SPDX-License-Identifier: MIT */
#include "ladder.h"
#include <immintrin.h>

/* ---- Scalar, as specified ---- */

static inline const uint8_t *line_of(const struct filter *filter, uint64_t hash)
{
  return filter->payload + ((hash & 0xffffffff) * filter->nlines >> 32) * LINE_NBYTES;
}

static inline bool may_match(const struct filter *filter, uint64_t hash)
{
  const uint8_t *line = line_of(filter, hash);
  uint32_t probe = (uint32_t)(hash >> 32);
  for (uint32_t p = 0; p < filter->nprobes; p++, probe *= LOCAL_MULTIPLIER) {
    const uint32_t bit = probe >> 23;
    if (!(line[bit / 8] >> bit % 8 & 1))
      return false;
  }
  return true;
}

static void probe_scalar(const struct filter *filter, const struct batch *batch, uint8_t *bitmap)
{
  for (size_t i = 0; i < NKEYS; i += 8) {
    unsigned mask = 0;
    for (size_t j = 0; j < 8; j++)
      mask |= (unsigned)may_match(filter, batch->hashes64[i + j]) << j;
    bitmap[i / 8] = (uint8_t)mask;
  }
}

/* ---- Lanes ---- */

/* Returns the factors from a key to each of its probes, of which there are up to eight. */
static __m256i powers_of(const struct filter *filter)
{
  uint32_t powers[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (uint32_t p = 1; p < filter->nprobes; p++)
    powers[p] = powers[p - 1] * LOCAL_MULTIPLIER;
  return _mm256_loadu_si256((const void *)powers);
}

static inline unsigned test(const uint8_t *line, uint64_t hash, __m256i powers)
{
  const __m256i probes = _mm256_mullo_epi32(_mm256_set1_epi32((int)(hash >> 32)), powers);
  const __m256i dword = _mm256_srli_epi32(probes, 28); /* a permute uses the lowest 3 bits */
  const __m256i lower = _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const void *)line), dword);
  const __m256i upper =
      _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const void *)(line + 32)), dword);
  const __m256 found = _mm256_blendv_ps(_mm256_castsi256_ps(lower), _mm256_castsi256_ps(upper),
                                        _mm256_castsi256_ps(probes)); /* chosen by the sign */
  const __m256i to_sign =                                             /* 31 - bit */
      _mm256_andnot_si256(_mm256_srli_epi32(probes, 23), _mm256_set1_epi32(31));
  const __m256i signs = _mm256_sllv_epi32(_mm256_castps_si256(found), to_sign);
  return _mm256_movemask_ps(_mm256_castsi256_ps(signs)) == 0xff;
}

static void probe(const struct filter *filter, const struct batch *batch, uint8_t *bitmap)
{
  const __m256i powers = powers_of(filter);
  for (size_t i = 0; i < NKEYS; i += 8) {
    unsigned mask = 0;
    for (size_t j = 0; j < 8; j++) {
      const uint64_t hash = batch->hashes64[i + j];
      mask |= test(line_of(filter, hash), hash, powers) << j;
    }
    bitmap[i / 8] = (uint8_t)mask;
  }
}

int main(int argc, char **argv)
{
  return climb(argc, argv, "step 6: one line per key, scalar as specified", local, probe_scalar) |
         climb(argc, argv, "step 6: one line per key, probes across lanes", local, probe);
}
