/* Hashes keys by Murmur3 with 128 bits in lanes. Each lane holds a key. The keys of a group may
 * have different sizes: a lane whose key has no further block keeps its hash. The steps are the
 * same as in scalar/murmur3_128.h.
 *
 * A group has LANES64 keys. Lane 2 j holds key j, and lane 2 j + 1 holds key j + VECTOR_NBLOCKS, so
 * that blocks of 16 bytes become words, and words become hashes, by interleaving alone:
 *
 *   blocks of the first keys   a0 a1 | b0 b1        low words   a0 c0 | b0 d0
 *   blocks of the last keys    c0 c1 | d0 d1        high words  a1 c1 | b1 d1
 * SPDX-License-Identifier: MIT */
#include "../scalar/murmur3_128.h"
#include "../keys.h"
#include "lanes.h"
#include "words.h"

enum { PAGE_NBYTES = 4096 /* the size of the smallest pages */ };

/* The two words of a block, or the two halves of a hash, of each key. */
struct pairs {
  words low, high;
};

/* ---- Steps ---- */

static inline words rotate(words value, unsigned nbits)
{
  return value << nbits | value >> (64 - nbits);
}

static inline words mix_1(words word)
{
  return rotate(word * MURMUR3_128_MULTIPLIER_1, 31) * MURMUR3_128_MULTIPLIER_2;
}

static inline words mix_2(words word)
{
  return rotate(word * MURMUR3_128_MULTIPLIER_2, 33) * MURMUR3_128_MULTIPLIER_1;
}

static inline struct pairs take_block(struct pairs hash, struct pairs block)
{
  hash.low = rotate(hash.low ^ mix_1(block.low), 27) + hash.high;
  hash.low = hash.low * 5 + MURMUR3_128_ADDEND_1;
  hash.high = rotate(hash.high ^ mix_2(block.high), 31) + hash.low;
  hash.high = hash.high * 5 + MURMUR3_128_ADDEND_2;
  return hash;
}

static inline words finish_half(words half)
{
  half = (half ^ half >> 33) * MURMUR3_128_LAST_MULTIPLIER_1;
  half = (half ^ half >> 33) * MURMUR3_128_LAST_MULTIPLIER_2;
  return half ^ half >> 33;
}

static inline struct pairs finish(struct pairs hash, words sizes)
{
  hash.low ^= sizes;
  hash.high ^= sizes;
  hash.low += hash.high;
  hash.high += hash.low;
  hash.low = finish_half(hash.low);
  hash.high = finish_half(hash.high);
  hash.low += hash.high;
  hash.high += hash.low;
  return hash;
}

/* Widens each byte of a word with its sign, and combines the bytes by an exclusive or. Each
 * negative byte flips all bytes above it. So a byte is flipped if an odd number of negative bytes
 * is below it; `odd` becomes 1 in these bytes. */
static inline words widen_bytes(words word)
{
  words odd = (word >> 7 & 0x0101010101010101) << 8;
  odd ^= odd << 8;
  odd ^= odd << 16;
  odd ^= odd << 32;
  return word ^ ((odd << 8) - odd);
}

static inline struct pairs take_last(struct pairs hash, struct pairs last, bool is_signed)
{
  hash.low ^= mix_1(is_signed ? widen_bytes(last.low) : last.low);
  hash.high ^= mix_2(is_signed ? widen_bytes(last.high) : last.high);
  return hash;
}

/* ---- Loading and storing ---- */

static inline struct pairs pairs_of(vector first, vector last)
{
  return (struct pairs){(words)interleave_low64(first, last),
                        (words)interleave_high64(first, last)};
}

/* Loads 16 bytes of each key, from an offset on that may be negative. */
static inline struct pairs load_pairs(const uint8_t *const keys[LANES64], ptrdiff_t offset)
{
  const uint8_t *first[VECTOR_NBLOCKS], *last[VECTOR_NBLOCKS];
  for (size_t i = 0; i < VECTOR_NBLOCKS; i++) {
    first[i] = keys[i] + offset;
    last[i] = keys[i + VECTOR_NBLOCKS] + offset;
  }
  return pairs_of(load_blocks(first), load_blocks(last));
}

/* Loads a number for each key, in the order of the lanes. */
static inline words load_numbers(const uint64_t numbers[LANES64])
{
  const vector first = load(numbers);
#if VECTOR_NBYTES == 64
  static const uint32_t order[LANES32] = {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15};
#else
  static const uint32_t order[LANES32] = {0, 1, 4, 5, 2, 3, 6, 7};
#endif
  return (words)permute32(first, load(order));
}

static inline void store_hashes(void *hashes, size_t i, struct pairs hash)
{
  uint8_t *to = (uint8_t *)hashes + i * sizeof(struct key_hash);
  store(to, interleave_low64((vector)hash.low, (vector)hash.high));
  store(to + VECTOR_NBYTES, interleave_high64((vector)hash.low, (vector)hash.high));
}

/* ---- The last bytes of keys ---- */

/* Where to load the last bytes of a key, which are fewer than 16. They are loaded together with
 * other bytes. */
struct window {
  const uint8_t *at; /* 16 bytes */
  uint64_t skipped;  /* the number of bytes before the last bytes of the key */
};

/* Finds a window whose bytes are all on pages that hold bytes of the key. */
static inline struct window window_of(const uint8_t *key, size_t size)
{
  static const uint8_t zeros[MURMUR3_128_BLOCK_NBYTES];
  if (size == 0)
    return (struct window){zeros, 0};
  if (size < MURMUR3_128_BLOCK_NBYTES &&
      (uintptr_t)key % PAGE_NBYTES <= PAGE_NBYTES - MURMUR3_128_BLOCK_NBYTES)
    return (struct window){key, 0};
  return (struct window){key + size - MURMUR3_128_BLOCK_NBYTES,
                         MURMUR3_128_BLOCK_NBYTES - size % MURMUR3_128_BLOCK_NBYTES};
}

/* Moves the last bytes of keys to the start of their windows, and sets all other bytes to 0. A
 * shift by 64 bits or more, which includes negative numbers, gives 0. */
static inline struct pairs last_bytes(struct pairs window, words skipped, words sizes)
{
  const vector low = (vector)window.low, high = (vector)window.high;
  const words down = skipped * 8, nbits = sizes % MURMUR3_128_BLOCK_NBYTES * 8;
  const vector moved_low = bit_or(shift_right_each64(low, (vector)down),
                                  bit_or(shift_left_each64(high, (vector)(64 - down)),
                                         shift_right_each64(high, (vector)(down - 64))));
  const vector moved_high = shift_right_each64(high, (vector)down);
  const vector ones = splat64(UINT64_MAX);
  return (struct pairs){(words)moved_low & ~(words)shift_left_each64(ones, (vector)nbits),
                        (words)moved_high & (words)shift_right_each64(ones, (vector)(128 - nbits))};
}

/* ---- Groups ---- */

/* Loads the last bytes of keys of one size, fewer than 16. The windows of short keys may differ. */
__attribute__((always_inline)) static inline struct pairs
last_bytes_of(const uint8_t *const keys[LANES64], size_t size)
{
  if (size >= MURMUR3_128_BLOCK_NBYTES)
    return last_bytes(load_pairs(keys, (ptrdiff_t)size - MURMUR3_128_BLOCK_NBYTES),
                      splat(MURMUR3_128_BLOCK_NBYTES - size % MURMUR3_128_BLOCK_NBYTES),
                      splat(size));
  const uint8_t *at[LANES64];
  uint64_t skipped[LANES64], any_skipped = 0;
  for (size_t i = 0; i < LANES64; i++) {
    const struct window window = window_of(keys[i], size);
    at[i] = window.at;
    skipped[i] = window.skipped;
    any_skipped |= window.skipped;
  }
  /* a wide load waits for the narrow stores that wrote it, so numbers are only loaded if needed */
  return last_bytes(load_pairs(at, 0), any_skipped ? load_numbers(skipped) : splat(0), splat(size));
}

/* Hashes keys of one size. */
__attribute__((always_inline)) static inline struct pairs
hash_one_size(const uint8_t *const keys[LANES64], size_t size, bool is_signed)
{
  struct pairs hash = {splat(0), splat(0)};
  size_t at = 0;
  for (; size - at >= MURMUR3_128_BLOCK_NBYTES; at += MURMUR3_128_BLOCK_NBYTES)
    hash = take_block(hash, load_pairs(keys, (ptrdiff_t)at));
  if (at < size)
    hash = take_last(hash, last_bytes_of(keys, size), is_signed);
  return finish(hash, splat(size));
}

/* Hashes keys of any sizes. A lane whose key has no further block loads its window once more. */
__attribute__((always_inline)) static inline struct pairs
hash_sizes(const uint8_t *const keys[LANES64], const uint64_t sizes[LANES64], bool is_signed)
{
  const uint8_t *windows[LANES64], *at[LANES64];
  uint64_t skipped[LANES64], nblocks[LANES64], most = 0;
  for (size_t i = 0; i < LANES64; i++) {
    const struct window window = window_of(keys[i], (size_t)sizes[i]);
    windows[i] = window.at;
    skipped[i] = window.skipped;
    nblocks[i] = sizes[i] / MURMUR3_128_BLOCK_NBYTES;
    most = most > nblocks[i] ? most : nblocks[i];
  }
  const words all = load_numbers(sizes);
  struct pairs hash = {splat(0), splat(0)};
  for (uint64_t block = 0; block < most; block++) {
    for (size_t i = 0; i < LANES64; i++)
      at[i] = block < nblocks[i] ? keys[i] + block * MURMUR3_128_BLOCK_NBYTES : windows[i];
    const struct pairs next = take_block(hash, load_pairs(at, 0));
    const mask64 has_block =
        greater_signed64((vector)(all / MURMUR3_128_BLOCK_NBYTES), splat64(block));
    hash.low = (words)select64(has_block, (vector)next.low, (vector)hash.low);
    hash.high = (words)select64(has_block, (vector)next.high, (vector)hash.high);
  }
  hash = take_last(hash, last_bytes(load_pairs(windows, 0), load_numbers(skipped), all), is_signed);
  return finish(hash, all);
}

/* ---- Batches. The functions return how many keys they have hashed, a multiple of LANES64. ---- */

__attribute__((always_inline)) static inline size_t hash_8(const uint8_t *keys, size_t n,
                                                           bool is_signed, void *hashes)
{
  size_t i = 0;
  for (; i + LANES64 <= n; i += LANES64) {
    const struct pairs last = {load_numbers((const void *)(keys + 8 * i)), splat(0)};
    const struct pairs hash = take_last((struct pairs){splat(0), splat(0)}, last, is_signed);
    store_hashes(hashes, i, finish(hash, splat(8)));
  }
  return i;
}

__attribute__((always_inline)) static inline size_t hash_16(const uint8_t *keys, size_t n,
                                                            void *hashes)
{
  size_t i = 0;
  for (; i + LANES64 <= n; i += LANES64) {
    const uint8_t *at = keys + 16 * i;
    const struct pairs block = pairs_of(load(at), load(at + VECTOR_NBYTES));
    store_hashes(hashes, i,
                 finish(take_block((struct pairs){splat(0), splat(0)}, block), splat(16)));
  }
  return i;
}

__attribute__((always_inline)) static inline size_t
hash_width(const uint8_t *data, size_t width, size_t stride, size_t n, bool is_signed, void *hashes)
{
  size_t i = 0;
  for (; i + LANES64 <= n; i += LANES64) {
    const uint8_t *keys[LANES64];
    for (size_t j = 0; j < LANES64; j++)
      keys[j] = data + (i + j) * stride;
    store_hashes(hashes, i, hash_one_size(keys, width, is_signed));
  }
  return i;
}

__attribute__((always_inline)) static inline size_t hash_fixed(const lanebloom_keys *keys,
                                                               bool is_signed, void *hashes)
{
  const bool is_packed = keys->stride == keys->width;
  if (is_packed && keys->width == 8)
    return hash_8(keys->data, keys->n, is_signed, hashes);
  if (is_packed && keys->width == 16)
    return hash_16(keys->data, keys->n, hashes);
  return hash_width(keys->data, keys->width, keys->stride, keys->n, is_signed, hashes);
}

__attribute__((always_inline)) static inline size_t hash_any(const lanebloom_keys *keys,
                                                             bool is_signed, void *hashes)
{
  size_t i = 0;
  for (; i + LANES64 <= keys->n; i += LANES64) {
    const uint8_t *data[LANES64];
    uint64_t sizes[LANES64], different = 0;
    for (size_t j = 0; j < LANES64; j++) {
      const lanebloom_slice key = keys_at(keys, i + j);
      data[j] = key.data;
      sizes[j] = key.size;
      different |= sizes[j] ^ sizes[0];
    }
    store_hashes(hashes, i,
                 different == 0 ? hash_one_size(data, (size_t)sizes[0], is_signed)
                                : hash_sizes(data, sizes, is_signed));
  }
  return i;
}

void KERNEL(murmur3_128_hash)(const lanebloom_keys *keys, void *hashes)
{
  const size_t done =
      keys->layout == KEYS_FIXED ? hash_fixed(keys, false, hashes) : hash_any(keys, false, hashes);
  for (size_t i = done; i < keys->n; i++) {
    const lanebloom_slice key = keys_at(keys, i);
    hash128_store(hashes, i, murmur3_128(key.data, key.size, false));
  }
}

void KERNEL(murmur3_128_signed_hash)(const lanebloom_keys *keys, void *hashes)
{
  const size_t done =
      keys->layout == KEYS_FIXED ? hash_fixed(keys, true, hashes) : hash_any(keys, true, hashes);
  for (size_t i = done; i < keys->n; i++) {
    const lanebloom_slice key = keys_at(keys, i);
    hash128_store(hashes, i, murmur3_128(key.data, key.size, true));
  }
}
