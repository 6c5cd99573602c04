/* Hashes keys by XXH64 in lanes. Each lane holds a key, and all keys of a group must have the same
 * size. In batches of many sizes, such groups are rare; all other keys are hashed one by one. The
 * steps are the same as in scalar/xxh64.h.
 * SPDX-License-Identifier: MIT */
#include "../scalar/xxh64.h"
#include "../keys.h"
#include "lanes.h"
#include "words.h"

/* The number of keys in a group. LANES64 of them are hashed in lanes, and scalar code hashes the
 * other keys of the group. The CPU does both at the same time. This is faster if lanes have no
 * product of 64 bits, because then the CPU's one scalar multiplier does a large share of the
 * products. (With AVX2 on a Zen 4, a key of 8 bytes takes 1.58 ns in groups of 4 keys, 1.35 ns in
 * groups of 5, 1.0 to 1.2 ns in groups of 6, and 1.61 ns in groups of 8.) */
enum { GROUP_NKEYS = LANES64 == 4 ? 6 : LANES64 };

/* ---- Steps ---- */

static inline words rotate(words value, unsigned nbits)
{
  return value << nbits | value >> (64 - nbits);
}

static inline words round_of(words sum, words word)
{
  return rotate(sum + word * XXH64_PRIME_2, 31) * XXH64_PRIME_1;
}

static inline words merge(words hash, words sum)
{
  return (hash ^ round_of(splat(0), sum)) * XXH64_PRIME_1 + XXH64_PRIME_4;
}

static inline words take_8(words hash, words word)
{
  return rotate(hash ^ round_of(splat(0), word), 27) * XXH64_PRIME_1 + XXH64_PRIME_4;
}

static inline words take_4(words hash, words word)
{
  return rotate(hash ^ word * XXH64_PRIME_1, 23) * XXH64_PRIME_2 + XXH64_PRIME_3;
}

static inline words take_1(words hash, words byte)
{
  return rotate(hash ^ byte * XXH64_PRIME_5, 11) * XXH64_PRIME_1;
}

static inline words finish(words hash)
{
  hash = (hash ^ hash >> 33) * XXH64_PRIME_2;
  hash = (hash ^ hash >> 29) * XXH64_PRIME_3;
  return hash ^ hash >> 32;
}

/* ---- A group of keys at any addresses ---- */

static inline words load_4(const uint8_t *const keys[LANES64], size_t offset)
{
  words loaded;
  for (size_t i = 0; i < LANES64; i++)
    loaded[i] = load_le32(keys[i] + offset);
  return loaded;
}

static inline words load_1(const uint8_t *const keys[LANES64], size_t offset)
{
  words loaded;
  for (size_t i = 0; i < LANES64; i++)
    loaded[i] = keys[i][offset];
  return loaded;
}

static inline words hash_stripes(const uint8_t *const keys[LANES64], size_t nstripes)
{
  words a = splat(XXH64_PRIME_1 + XXH64_PRIME_2), b = splat(XXH64_PRIME_2), c = splat(0),
        d = splat(-XXH64_PRIME_1);
  for (size_t stripe = 0; stripe < nstripes; stripe++) {
    words columns[4];
    load_stripe(keys, 32 * stripe, columns);
    a = round_of(a, columns[0]);
    b = round_of(b, columns[1]);
    c = round_of(c, columns[2]);
    d = round_of(d, columns[3]);
  }
  return merge(
      merge(merge(merge(rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18), a), b), c), d);
}

/* Hashes LANES64 keys of one size. The function is always inlined, so that the compiler removes the
 * code for other sizes if the size is constant. */
__attribute__((always_inline)) static inline words hash_group(const uint8_t *const keys[LANES64],
                                                              size_t size)
{
  words hash = (size >= 32 ? hash_stripes(keys, size / 32) : splat(XXH64_PRIME_5)) + size;
  size_t at = size / 32 * 32;
  for (; size - at >= 8; at += 8)
    hash = take_8(hash, load_8(keys, at));
  if (size - at >= 4) {
    hash = take_4(hash, load_4(keys, at));
    at += 4;
  }
  for (; at < size; at++)
    hash = take_1(hash, load_1(keys, at));
  return finish(hash);
}

/* ---- Keys of one width. The functions that hash n keys return how many they have hashed, a
 * multiple of GROUP_NKEYS. ---- */

static inline void store_hashes(void *hashes, size_t i, words group)
{
  store((uint8_t *)hashes + i * sizeof(uint64_t), (vector)group);
}

/* Hashes the keys of a group that are not in lanes. The group begins with key i. */
__attribute__((always_inline)) static inline void hash_rest(const uint8_t *keys, size_t width,
                                                            size_t stride, size_t i, void *hashes)
{
  for (size_t j = i + LANES64; j < i + GROUP_NKEYS; j++)
    hash64_store(hashes, j, xxh64(keys + j * stride, width));
}

static size_t hash_4(const uint8_t *keys, size_t n, void *hashes)
{
  size_t i = 0;
  for (; i + GROUP_NKEYS <= n; i += GROUP_NKEYS) {
    const words loaded = (words)load_widened32(keys + 4 * i);
    store_hashes(hashes, i, finish(take_4(splat(XXH64_PRIME_5 + 4), loaded)));
    hash_rest(keys, 4, 4, i, hashes);
  }
  return i;
}

static size_t hash_8(const uint8_t *keys, size_t n, void *hashes)
{
  size_t i = 0;
  for (; i + GROUP_NKEYS <= n; i += GROUP_NKEYS) {
    const words loaded = (words)load(keys + 8 * i);
    store_hashes(hashes, i, finish(take_8(splat(XXH64_PRIME_5 + 8), loaded)));
    hash_rest(keys, 8, 8, i, hashes);
  }
  return i;
}

static size_t hash_16(const uint8_t *keys, size_t n, void *hashes)
{
  size_t i = 0;
  for (; i + GROUP_NKEYS <= n; i += GROUP_NKEYS) {
    const uint8_t *at = keys + 16 * i;
    const vector a = load(at), b = load(at + VECTOR_NBYTES);
    const words hash = take_8(splat(XXH64_PRIME_5 + 16), (words)unzipped(unzip_even64(a, b)));
    store_hashes(hashes, i, finish(take_8(hash, (words)unzipped(unzip_odd64(a, b)))));
    hash_rest(keys, 16, 16, i, hashes);
  }
  return i;
}

__attribute__((always_inline)) static inline size_t
hash_width(const uint8_t *data, size_t width, size_t stride, size_t n, void *hashes)
{
  size_t i = 0;
  for (; i + GROUP_NKEYS <= n; i += GROUP_NKEYS) {
    const uint8_t *keys[LANES64];
    for (size_t j = 0; j < LANES64; j++)
      keys[j] = data + (i + j) * stride;
    store_hashes(hashes, i, hash_group(keys, width));
    hash_rest(data, width, stride, i, hashes);
  }
  return i;
}

static inline size_t hash_fixed(const uint8_t *keys, size_t width, size_t stride, size_t n,
                                void *hashes)
{
  switch (stride == width ? width : 0) {
  case 4:
    return hash_4(keys, n, hashes);
  case 8:
    return hash_8(keys, n, hashes);
  case 16:
    return hash_16(keys, n, hashes);
  case UUID_TEXT_NBYTES:
    return hash_width(keys, UUID_TEXT_NBYTES, UUID_TEXT_NBYTES, n, hashes);
  default:
    return hash_width(keys, width, stride, n, hashes);
  }
}

/* ---- Keys of many sizes ---- */

static inline size_t hash_sizes(const lanebloom_keys *keys, void *hashes)
{
  size_t i = 0;
  for (; i + LANES64 <= keys->n; i += LANES64) {
    const uint8_t *data[LANES64];
    size_t sizes[LANES64], different = 0;
    for (size_t j = 0; j < LANES64; j++) {
      const lanebloom_slice key = keys_at(keys, i + j);
      data[j] = key.data;
      sizes[j] = key.size;
      different |= key.size ^ sizes[0];
    }
    if (different == 0)
      store_hashes(hashes, i, hash_group(data, sizes[0]));
    else
      for (size_t j = 0; j < LANES64; j++)
        hash64_store(hashes, i + j, xxh64(data[j], sizes[j]));
  }
  return i;
}

void KERNEL(xxh64_hash)(const lanebloom_keys *keys, void *hashes)
{
  const size_t done = keys->layout == KEYS_FIXED
                          ? hash_fixed(keys->data, keys->width, keys->stride, keys->n, hashes)
                          : hash_sizes(keys, hashes);
  for (size_t i = done; i < keys->n; i++) {
    const lanebloom_slice key = keys_at(keys, i);
    hash64_store(hashes, i, xxh64(key.data, key.size));
  }
}
