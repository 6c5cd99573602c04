/* Hashes keys of 4, 8 or 16 bytes by BloomHash, four keys at a time, in vectors of 16 bytes. Scalar
 * code hashes all other keys.
 * SPDX-License-Identifier: MIT */
#include "bloomhash.h"
#include "lanes.h"
#include "vector.h"

enum { LANES = 4 };

/* ---- Vocabulary ---- */

static inline vector seed_of(uint32_t nbytes)
{
  return splat32((BLOOMHASH_SEED ^ nbytes * BLOOMHASH_MULTIPLIER));
}

static inline vector mix(vector hash, vector words)
{
  hash = mul_low32(add32(hash, words), splat32(BLOOMHASH_MULTIPLIER));
  return bit_xor(hash, shift_right32(hash, 16));
}

/* ---- Keys of one width. n must be a multiple of LANES. ---- */

static void hash_4(const uint8_t *data, size_t n, uint8_t *hashes)
{
  for (size_t i = 0; i < n; i += LANES)
    store(hashes + i * 4, mix(seed_of(4), load(data + i * 4)));
}

/* Hashes keys of two words:
 * a0 a1 b0 b1 | c0 c1 d0 d1 -> a0 b0 c0 d0 | a1 b1 c1 d1 */
static void hash_8(const uint8_t *data, size_t n, uint8_t *hashes)
{
  for (size_t i = 0; i < n; i += LANES) {
    const vector ab = load(data + i * 8), cd = load(data + i * 8 + 16);
    store(hashes + i * 4, mix(mix(seed_of(8), unzip_even32(ab, cd)), unzip_odd32(ab, cd)));
  }
}

/* Hashes keys a, b, c and d of four words:
 *
 *   a0 b0 a1 b1 | c0 d0 c1 d1   ->   a0 b0 c0 d0 | a1 b1 c1 d1 | ... */
static void hash_16(const uint8_t *data, size_t n, uint8_t *hashes)
{
  for (size_t i = 0; i < n; i += LANES) {
    const uint8_t *four = data + i * 16;
    const vector a = load(four), b = load(four + 16), c = load(four + 32), d = load(four + 48);
    const vector ab01 = interleave_low32(a, b), ab23 = interleave_high32(a, b);
    const vector cd01 = interleave_low32(c, d), cd23 = interleave_high32(c, d);
    vector hash = mix(seed_of(16), interleave_low64(ab01, cd01));
    hash = mix(hash, interleave_high64(ab01, cd01));
    hash = mix(hash, interleave_low64(ab23, cd23));
    store(hashes + i * 4, mix(hash, interleave_high64(ab23, cd23)));
  }
}

/* ---- Any batch ---- */

/* Hashes keys that are side by side, if their width is 4, 8 or 16 bytes, and returns the number of
 * hashed keys. These widths consist of whole words, so it does not matter whether the last bytes
 * are signed. */
static size_t hash_lanes(const lanebloom_keys *keys, uint8_t *hashes)
{
  const size_t n = keys->n / LANES * LANES;
  if (keys->width == 4)
    hash_4(keys->data, n, hashes);
  else if (keys->width == 8)
    hash_8(keys->data, n, hashes);
  else if (keys->width == 16)
    hash_16(keys->data, n, hashes);
  else
    return 0;
  return n;
}

static void hash_all(const lanebloom_keys *keys, bool signed_tails, uint8_t *hashes)
{
  const size_t ndone =
      keys->layout == KEYS_FIXED && keys->stride == keys->width ? hash_lanes(keys, hashes) : 0;
  const lanebloom_keys rest = lanebloom_keys_part(keys, ndone, keys->n - ndone);
  hash_in_scalar(&rest, signed_tails, hashes + ndone * sizeof(uint32_t));
}

void KERNEL(bloomhash_hash)(const lanebloom_keys *keys, void *hashes)
{
  hash_all(keys, false, hashes);
}

void KERNEL(bloomhash_signed_hash)(const lanebloom_keys *keys, void *hashes)
{
  hash_all(keys, true, hashes);
}
