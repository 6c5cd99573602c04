/* Hashes keys by XXPH3 in lanes. If all keys have one width, they are hashed in their order. In
 * batches of many sizes, keys of 4 to 16 bytes are hashed in their order, too, and longer keys are
 * grouped into lists by their number of 32-byte steps.
 * SPDX-License-Identifier: MIT */
#include "lanes.h"
#include "vector.h"
#if VECTOR_NBYTES == 64
#include "xxph3_packed.h"
#else
#include "xxph3_short.h"
#endif

enum { PAGE_NBYTES = 4096 /* the size of the smallest pages */ };

/* ---- Keys of one width ---- */

static inline vector mix16_strided(const uint8_t *at, size_t stride, size_t secret)
{
  return mix16(load_strided(at, 2 * stride), load_strided(at + stride, 2 * stride), secret);
}

static size_t fixed_17_to_128(const uint8_t *keys, size_t width, size_t stride, size_t n,
                              void *hashes)
{
  size_t i = 0;
  for (; i + LANES64 <= n; i += LANES64) {
    const uint8_t *first = keys + i * stride, *last = first + width - 16;
    vector h = splat64(width * XXPH3_PRIME64_1);
    for (size_t j = 0; j <= (width - 1) / 32; j++) {
      h = add64(h, mix16_strided(first + 16 * j, stride, 32 * j));
      h = add64(h, mix16_strided(last - 16 * j, stride, 32 * j + 16));
    }
    store_hashes(hashes, i, avalanche(h));
  }
  return i;
}

static size_t fixed_129_to_240(const uint8_t *keys, size_t width, size_t stride, size_t n,
                               void *hashes)
{
  size_t i = 0;
  for (; i + LANES64 <= n; i += LANES64) {
    const uint8_t *at = keys + i * stride;
    vector h = splat64(width * XXPH3_PRIME64_1);
    for (size_t j = 0; j < 8; j++)
      h = add64(h, mix16_strided(at + 16 * j, stride, 16 * j));
    h = avalanche(h);
    for (size_t j = 8; j < width / 16; j++)
      h = add64(h, mix16_strided(at + 16 * j, stride, 16 * (j - 8) + 3));
    store_hashes(hashes, i, avalanche(add64(h, mix16_strided(at + width - 16, stride, 119))));
  }
  return i;
}

/* Hashes keys of one width, from the first key on. Returns the number of hashed keys. If there are
 * only four lanes, keys of 129 to 240 bytes are left to scalar code, because four lanes are not
 * faster. */
static inline __attribute__((always_inline)) size_t
hash_fixed(const uint8_t *keys, size_t width, size_t stride, size_t n, void *hashes)
{
  const bool apart = stride != width;
  if (width == 8 && !apart)
    return fixed_8(keys, n, hashes);
  if (width == 16 && !apart)
    return fixed_16(keys, n, hashes);
  if (width >= 4 && width <= 8)
    return apart ? strided_4_to_8(keys, width, stride, n, hashes)
                 : fixed_4_to_8(keys, width, n, hashes);
  if (width >= 9 && width <= 16)
    return apart ? strided_9_to_16(keys, width, stride, n, hashes)
                 : fixed_9_to_16(keys, width, n, hashes);
  if (width >= 17 && width <= 128)
    return fixed_17_to_128(keys, width, stride, n, hashes);
  if (LANES64 > 4 && width > 128 && width <= 240)
    return fixed_129_to_240(keys, width, stride, n, hashes);
  if (width <= 240)
    return 0;
  hash_wide(keys, width, stride, n, &stripes, hashes);
  return n;
}

/* ---- Keys of many sizes: all but the short keys, which have 4 to 16 bytes ---- */

/* Loads 16 bytes from every second key, beginning with the first. The bytes are at the same
 * distance from the address of each key. */
static inline vector load_listed(const uint8_t *const *at, ptrdiff_t distance)
{
  block16 blocks[VECTOR_NBLOCKS];
  for (size_t i = 0; i < VECTOR_NBLOCKS; i++)
    blocks[i] = load_block(at[2 * i] + distance);
  return join_blocks(blocks);
}

static inline vector mix16_of(const uint8_t *const *at, ptrdiff_t distance, size_t secret)
{
  return mix16(load_listed(at, distance), load_listed(at + 1, distance), secret);
}

/* Hashes LANES64 keys of nsteps steps. `first` has the addresses of the keys, and `last` has the
 * addresses of their last 16 bytes. */
static inline __attribute__((always_inline)) void hash_steps(const uint8_t *const *first,
                                                             const uint8_t *const *last,
                                                             const uint64_t *sizes, size_t nsteps,
                                                             uint64_t *hashes)
{
  vector h = zero();
  for (size_t j = 0; j < nsteps; j++) {
    __asm__("" ::: "memory"); /* without this, gcc 12 keeps addresses in vector registers */
    h = add64(h, mix16_of(first, 16 * (ptrdiff_t)j, 32 * j));
    h = add64(h, mix16_of(last, -16 * (ptrdiff_t)j, 32 * j + 16));
  }
  h = add64(h, multiply(load(sizes), XXPH3_PRIME64_1));
  store(hashes, avalanche(h));
}

/* Hashes the keys of a list. The function is not inlined, because inlining would make a copy of it
 * for each list of each layout. */
static __attribute__((noinline)) void hash_list(const lanebloom_keys *keys, const uint32_t *list,
                                                size_t n, size_t nsteps, void *hashes)
{
  size_t i = 0;
  for (; i + LANES64 <= n; i += LANES64) {
    const uint8_t *first[LANES64], *last[LANES64];
    uint64_t sizes[LANES64], done[LANES64];
    for (size_t lane = 0; lane < LANES64; lane++) {
      const lanebloom_slice key = keys_at(keys, list[i + lane]);
      first[lane] = key.data;
      last[lane] = first[lane] + key.size - 16;
      sizes[lane] = key.size;
    }
    hash_steps(first, last, sizes, nsteps, done);
    for (size_t lane = 0; lane < LANES64; lane++)
      hash64_store(hashes, list[i + lane], done[lane]);
  }
  for (; i < n; i++) {
    const lanebloom_slice key = keys_at(keys, list[i]);
    hash64_store(hashes, list[i], xxph3_17_to_128(key.data, key.size));
  }
}

/* Hashes all keys of all lists. */
static inline __attribute__((always_inline)) void
hash_lists(const lanebloom_keys *keys, const struct lists *lists, void *hashes)
{
  for (size_t j = 0; j < lists->counts[ONE_STEP]; j++) {
    const size_t i = lists->indices[ONE_STEP][j];
    const lanebloom_slice key = keys_at(keys, i);
    const uint8_t *data = key.data;
    const uint64_t h =
        key.size * XXPH3_PRIME64_1 + xxph3_mix16(data, 0) + xxph3_mix16(data + key.size - 16, 16);
    hash64_store(hashes, i, xxph3_avalanche(h));
  }
  for (size_t l = ONE_STEP + 1; l < OTHERS; l++)
    hash_list(keys, lists->indices[l], lists->counts[l], l + 1, hashes);
  for (size_t j = 0; j < lists->counts[OTHERS]; j++) {
    const size_t i = lists->indices[OTHERS][j];
    const lanebloom_slice key = keys_at(keys, i);
    if (key.size > 240)
      hash64_store(hashes, i, hash_above_240(key.data, key.size, &stripes));
    else if (key.size > 0 && key.size < MIN_SHORT)
      hash64_store(hashes, i, xxph3_1_to_3(key.data, key.size));
    else if (key.size > 128)
      hash64_store(hashes, i, xxph3_129_to_240(key.data, key.size));
    else
      hash_in_scalar(keys, i, 1, hashes);
  }
}

/* ---- Keys of many sizes: all keys ---- */

/* Returns the sizes of LANES64 keys from key i on. */
static inline vector sizes_at(const lanebloom_keys *keys, size_t i)
{
  if (keys->layout == KEYS_OFFSETS32)
    return load_differences32((const uint32_t *)keys->index + i);
  if (keys->layout == KEYS_OFFSETS64) {
    const uint64_t *offsets = (const uint64_t *)keys->index + i;
    return sub64(load(offsets + 1), load(offsets));
  }
  const lanebloom_slice *slices = (const lanebloom_slice *)keys->index + i;
  return unzipped(unzip_odd64(load(slices), load(slices + LANES64 / 2)));
}

static inline vector addresses_at(const lanebloom_keys *keys, size_t i)
{
  const vector data = splat64((uintptr_t)keys->data);
  if (keys->layout == KEYS_OFFSETS32)
    return add64(data, load_widened32((const uint32_t *)keys->index + i));
  if (keys->layout == KEYS_OFFSETS64)
    return add64(data, load((const uint64_t *)keys->index + i));
  const lanebloom_slice *slices = (const lanebloom_slice *)keys->index + i;
  return unzipped(unzip_even64(load(slices), load(slices + LANES64 / 2)));
}

/* Checks LANES64 keys from key i on. Returns true if, for each of these keys, the 16 bytes from its
 * start lie in pages that also hold bytes of the key. Returns false if one of the keys is empty. */
static inline bool stay_in_page(const lanebloom_keys *keys, size_t i)
{
  const vector size = sizes_at(keys, i);
  const vector at = bit_and(addresses_at(keys, i), splat64(PAGE_NBYTES - 1));
  const mask64 near_end = greater_signed64(at, splat64(PAGE_NBYTES - MAX_SHORT));
  const mask64 beyond = near_end & greater_signed64(splat64(MAX_SHORT), size);
  return mask_bits64(beyond | equal64(size, zero())) == 0;
}

/* Checks whether 16 bytes may be loaded from the start of each of LANES64 keys from key i on.
 * Offsets ascend, so it is enough to check that the batch has 16 bytes from the start of the last
 * of these keys on. */
static inline __attribute__((always_inline)) bool can_load(const lanebloom_keys *keys, size_t i)
{
  const size_t last = i + LANES64 - 1;
  if (last >= keys->n)
    return false;
  const uint32_t *offsets32 = keys->index;
  const uint64_t *offsets64 = keys->index;
  if (keys->layout == KEYS_OFFSETS32 && offsets32[keys->n] - offsets32[last] >= MAX_SHORT)
    return true;
  if (keys->layout == KEYS_OFFSETS64 && offsets64[keys->n] - offsets64[last] >= MAX_SHORT)
    return true;
  return stay_in_page(keys, i);
}

/* Loads 16 bytes from the start of key i. If the key is shorter, the last of these bytes belong to
 * other data on the same page. Sanitizers would report this load, so they do not check this
 * function. */
__attribute__((no_sanitize("address", "thread"))) static inline block16
load_16(const lanebloom_keys *keys, size_t i)
{
  return load_block(keys_at(keys, i).data);
}

/* Loads 16 bytes of every second key from key i on. */
static inline vector load_seconds(const lanebloom_keys *keys, size_t i)
{
  block16 blocks[VECTOR_NBLOCKS];
  for (size_t b = 0; b < VECTOR_NBLOCKS; b++)
    blocks[b] = load_16(keys, i + 2 * b);
  return join_blocks(blocks);
}

/* Hashes keys as if all were short. For each lane, computes two hashes: one as if the key had 4 to
 * 8 bytes, and one as if it had 9 to 16. Then selects one of the two by the size of the key. */
static inline vector hash_short_lanes(vector front, vector back, vector size)
{
  const struct ends ends = ends_of(front, back, size);
  const vector words = under_secret(blend_odd32(front, ends.fours));
  vector mixed = add64(size, multiply32(words, XXPH3_PRIME32_1));
  mixed = bit_xor(mixed, shift_right64(mixed, 47));
  const vector h = multiply(mixed, XXPH3_PRIME64_2);
  const mask64 is_middle = greater_signed64(size, splat64(8));
  return avalanche(select64(is_middle, sum_9_to_16(front, ends.eights, size), h));
}

/* Hashes LANES64 keys, from key i on, as if all were short. 16 bytes must be loadable from the
 * start of each key on. Appends the indices of the keys that are not short to `unlisted`, which
 * already has n indices, and returns the number of appended indices. `first` is the index of the
 * first of the keys. */
static inline __attribute__((always_inline)) size_t hash_short(const lanebloom_keys *keys, size_t i,
                                                               size_t first,
                                                               struct unlisted *unlisted, size_t n,
                                                               void *hashes)
{
  const vector size = sizes_at(keys, i);
  const mask64 longer = not_short(size);
  if (mask_bits64(longer) != (1 << LANES64) - 1) {
    const vector even = load_seconds(keys, i), odd = load_seconds(keys, i + 1);
    store(hashes,
          hash_short_lanes(interleave_low64(even, odd), interleave_high64(even, odd), size));
  }
  return leave_unlisted(longer, size, first, unlisted, n);
}

/* Copies a group of keys and hashes the copies. This is needed if 16 bytes from the start of some
 * key cannot be loaded, or if the group has fewer keys than lanes. Returns what hash_short()
 * returns. */
static __attribute__((noinline)) size_t
hash_copies(const lanebloom_keys *keys, size_t i, struct unlisted *unlisted, size_t n, void *hashes)
{
  uint8_t copies[LANES64][MAX_SHORT] = {{0}};
  lanebloom_slice slices[LANES64];
  uint64_t done[LANES64];
  for (size_t lane = 0; lane < LANES64; lane++) {
    slices[lane] = (lanebloom_slice){copies[lane], MAX_SHORT};
    if (i + lane >= keys->n)
      continue;
    const lanebloom_slice key = keys_at(keys, i + lane);
    slices[lane].size = key.size;
    if (key.size > 0)
      memcpy(copies[lane], key.data, key.size < MAX_SHORT ? key.size : MAX_SHORT);
  }
  const lanebloom_keys copied = {.index = slices, .n = LANES64, .layout = KEYS_SLICES};
  const size_t nunlisted = hash_short(&copied, 0, i, unlisted, n, done);
  const size_t left = keys->n - i;
  memcpy((uint8_t *)hashes + i * sizeof *done, done,
         (left < LANES64 ? left : LANES64) * sizeof *done);
  return nunlisted;
}

static inline __attribute__((always_inline)) void hash_mixed(const lanebloom_keys *keys,
                                                             void *hashes)
{
  struct unlisted unlisted;
  size_t n = 0;
  for (size_t i = 0; i < keys->n; i += LANES64) {
    /* this loop calls no function, so that constants stay in registers */
    for (; can_load(keys, i); i += LANES64)
      n += hash_short(keys, i, i, &unlisted, n, (uint8_t *)hashes + i * sizeof(uint64_t));
    if (i < keys->n)
      n += hash_copies(keys, i, &unlisted, n, hashes);
  }
  if (n == 0)
    return;
  struct lists lists;
  memset(lists.counts, 0, sizeof lists.counts);
  list_keys(keys, &unlisted, n, &lists);
  hash_lists(keys, &lists, hashes);
}

static const struct xxph3_steps steps = {hash_fixed, hash_mixed, &stripes};

void KERNEL(xxph3_hash)(const lanebloom_keys *keys, void *hashes)
{
  xxph3_hash(keys, &steps, hashes);
}
