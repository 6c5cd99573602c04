/* Probes and adds to filters in which a probe is the remainder of a number of 64 bits, modulo the
 * number of bits: those of DCSO, and those with double hashing (Spark, Guava, Cassandra). A lane
 * holds a key, and a step does one probe of each of STEP_NKEYS keys.
 *
 * Most absent keys fail one of their first probes. So each pass tests one probe of all keys that
 * are left, and then the keys that have passed are moved together.
 *
 * In DCSO's filters, the probes of a hash are a chain (src/layouts/dcso.h). But as long as no
 * number of the chain reaches the prime, number i is the product of the hash and a power of the
 * multiplier, so that no step waits for another. Only 59 of 2^64 numbers reach the prime. They are
 * among the numbers whose upper half has all bits set, and scalar code repeats what lanes did if a
 * step has such a number.
 * SPDX-License-Identifier: MIT */
#include "../layouts/dcso.h"
#include "../layouts/double_hashing.h"
#include "lanes.h"
#include "words.h"

enum {
  STEP_NKEYS = 16, /* fills whole registers of any instruction set */

  /* Bits are tested AHEAD steps after they were located, or MANY_AHEAD steps if a pass tests many
   * probes. */
  AHEAD = 7,
  MANY_AHEAD = 1,
  RING_NSTEPS = 64, /* for a far filter, the whole ring is filled before its bits are tested */
  RING_NBITS = RING_NSTEPS * STEP_NKEYS,

  /* If more than MOST_PERCENT of the keys of a block were hits, a pass of the next block tests
   * MANY_NPROBES probes. If more than MANY_PERCENT of the keys of a pass survive, or fewer than
   * FEW_SURVIVORS keys are left, the next pass does so, too, unless the filter is far and the block
   * has WIDE_BLOCK_NKEYS keys or more: there, each probe that is not needed costs a cache miss. */
  MOST_PERCENT = 60,
  MANY_PERCENT = 80,
  FEW_SURVIVORS = 64,
  MANY_NPROBES = 8,

  REMAINDERS_NEAR_NBYTES = 4 << 20, /* a larger filter is far, and its lines are prefetched */

  MAX_ADDED_NPROBES = 32, /* scalar code adds to filters with more probes */
};

static inline mask64 no_lanes(void)
{
  return equal64(splat64(0), splat64(1));
}

/* ---- The numbers of the probes ---- */

/* The filter, in the form that lanes need. */
struct lookup {
  const uint8_t *payload;
  uint32_t nprobes;
  uint64_t nbits, reciprocal; /* floor((2^64 - 1) / nbits) */
  struct double_hashing_shape double_hashing;
  uint32_t flip;                     /* is combined with the number of a byte */
  uint64_t powers[DCSO_MAX_NPROBES]; /* of DCSO's multiplier, from the first on */
};

static inline void lookup_of(const struct filter_shape *shape, const uint8_t *payload,
                             struct lookup *lookup)
{
  lookup->payload = payload;
  lookup->nprobes = shape->nprobes;
  lookup->nbits = shape->nbits;
  lookup->reciprocal = UINT64_MAX / shape->nbits;
  lookup->double_hashing = shape->double_hashing;
  lookup->flip = shape->double_hashing.is_big_endian ? BIG_ENDIAN_FLIP / 8 : 0;
  uint64_t power = 1;
  for (uint32_t i = 0; shape->double_hashing.sums == SUMS_NONE && i < shape->nprobes; i++)
    lookup->powers[i] = power *= DCSO_MULTIPLIER;
}

/* Some keys of a block: the number of the first probe, the step of double hashing, and the index of
 * the key in the block. The arrays have room for one more step, because stores write whole
 * registers and loads read whole steps. */
struct keys {
  _Alignas(CACHE_LINE_NBYTES) uint64_t numbers[BLOCK_NKEYS + STEP_NKEYS];
  _Alignas(CACHE_LINE_NBYTES) uint64_t steps[BLOCK_NKEYS + STEP_NKEYS];
  _Alignas(CACHE_LINE_NBYTES) uint32_t indices[BLOCK_NKEYS + STEP_NKEYS];
};

/* Widens the lower halves of words with their signs. */
static inline words widen(words lower)
{
  const uint64_t sign = (uint64_t)1 << 31;
  return (lower ^ sign) - sign;
}

/* Stores the sums of the first probes and the steps of n hashes, and of hashes that fill up the
 * last step. Sums of 32 bits are stored in the upper halves of their words, so that all sums wrap
 * at 2^64. */
static inline void begin_double_hashing(const struct double_hashing_shape *shape,
                                        const uint8_t *hashes, size_t hash_nbytes, size_t n,
                                        struct keys *keys)
{
  for (size_t i = 0; i < n; i += LANES64) {
    _Alignas(CACHE_LINE_NBYTES) uint8_t rest[2 * VECTOR_NBYTES] = {0};
    const uint8_t *at = hashes + i * hash_nbytes;
    if (n - i < LANES64)
      at = memcpy(rest, at, (n - i) * hash_nbytes);
    words low = (words)load(at), high = splat(0);
    if (hash_nbytes == sizeof(struct key_hash)) {
      const vector second = load(at + VECTOR_NBYTES);
      high = (words)unzipped(unzip_odd64((vector)low, second));
      low = (words)unzipped(unzip_even64((vector)low, second));
    }
    words sum = low, step = high;
    switch (shape->sums) {
    case SUMS_SPARK_V1:
      step = low & ~(words)splat64(UINT32_MAX);
      sum = (low << 32) + step;
      break;
    case SUMS_SPARK_V2:
      sum = widen(low & UINT32_MAX);
      step = widen(low >> 32);
      sum = (sum << 31) - sum + step;
      break;
    case SUMS_GUAVA_64:
    case SUMS_NONE:
      break;
    case SUMS_CASSANDRA:
      sum = shape->is_swapped ? high : low;
      step = shape->is_swapped ? low : high;
      break;
    }
    store(keys->numbers + i, (vector)sum);
    store(keys->steps + i, (vector)step);
  }
  for (size_t i = (n + LANES64 - 1) / LANES64 * LANES64; i % STEP_NKEYS != 0; i++)
    keys->numbers[i] = keys->steps[i] = 0;
}

/* Prepares the first pass of a block of n keys. Returns the numbers of the keys, readable in whole
 * steps: the hashes themselves, or keys->numbers. */
static inline const uint64_t *begin(const struct lookup *lookup, const uint8_t *hashes,
                                    size_t hash_nbytes, size_t n, struct keys *keys)
{
  if (lookup->double_hashing.sums != SUMS_NONE) {
    begin_double_hashing(&lookup->double_hashing, hashes, hash_nbytes, n, keys);
    return keys->numbers;
  }
  if (n % STEP_NKEYS == 0)
    return (const void *)hashes;
  memcpy(keys->numbers, hashes, n * sizeof(uint64_t));
  memset(keys->numbers + n, 0, STEP_NKEYS * sizeof(uint64_t));
  return keys->numbers;
}

/* Multiplies by a number of 32 bits. Vectors of 64 bytes have products of 64 bits; other sets need
 * two products of 32 bits. */
static inline words times(words factor, uint32_t number)
{
  if (VECTOR_NBYTES == 64)
    return factor * number;
  const vector numbers = splat64(number);
  return (words)mul_even32((vector)factor, numbers) +
         ((words)mul_even32((vector)(factor >> 32), numbers) << 32);
}

/* Returns the lanes whose upper half has all bits set. */
static inline mask64 may_reach_prime(words numbers)
{
  return equal64((vector)(numbers >> 32), splat64(UINT32_MAX));
}

/* The numbers from which lanes compute the next probes of STEP_NKEYS keys: the hashes of DCSO's
 * layout, or the sums of the next probes and the steps. */
struct state {
  words numbers[STEP_NKEYS / LANES64], steps[STEP_NKEYS / LANES64];
};

/* Begins with probe `first` of the keys from i on. Returns the lanes that may reach the prime. */
static inline __attribute__((always_inline)) mask64 begin_state(const enum sums sums,
                                                                const uint64_t *numbers,
                                                                const struct keys *keys, size_t i,
                                                                uint32_t first, struct state *state)
{
  mask64 odd = no_lanes();
  for (size_t j = 0; j < STEP_NKEYS / LANES64; j++) {
    const words number = (words)load(numbers + i + j * LANES64);
    state->numbers[j] = number;
    if (sums == SUMS_NONE) {
      odd |= may_reach_prime(number);
      continue;
    }
    state->steps[j] = (words)load(keys->steps + i + j * LANES64);
    state->numbers[j] += times(state->steps[j], first);
  }
  return odd;
}

/* Returns the numbers of probe p of the keys in vector j, and advances to the next probe. Adds to
 * *odd the lanes that may reach the prime. */
static inline __attribute__((always_inline)) words next_number(const struct lookup *lookup,
                                                               const enum sums sums,
                                                               struct state *state, size_t j,
                                                               uint32_t p, mask64 *odd)
{
  const words number = state->numbers[j];
  if (sums == SUMS_NONE) {
    const words product = number * lookup->powers[p];
    *odd |= may_reach_prime(product);
    return product;
  }
  state->numbers[j] = number + state->steps[j];
  if (sums == SUMS_GUAVA_64)
    return number & INT64_MAX;
  const mask64 is_negative = greater_signed64(zero(), (vector)number);
  const words mirrored = sums == SUMS_CASSANDRA ? -number : ~number;
  const words value = (words)select64(is_negative, (vector)mirrored, (vector)number);
  return sums == SUMS_SPARK_V1 ? value >> 32 : value;
}

/* ---- Remainders ---- */

/* Computes the quotients of numbers and nbits, which are too low by 3 at most. A quotient is the
 * high half of the product with the reciprocal, or one more. The lowest of the four products of
 * halves is left out, and each of the two sums of the middle ones is rounded down. */
static inline words quotients_of(const struct lookup *lookup, words numbers)
{
  const vector low = splat64(lookup->reciprocal & UINT32_MAX),
               high = splat64(lookup->reciprocal >> 32);
  const vector upper = (vector)(numbers >> 32);
  return (words)mul_even32(upper, high) + ((words)mul_even32(upper, low) >> 32) +
         ((words)mul_even32((vector)numbers, high) >> 32);
}

/* Computes numbers % nbits. */
static inline vector remainders_of(const struct lookup *lookup, words numbers)
{
  const vector rests = (vector)(numbers - quotients_of(lookup, numbers) * lookup->nbits);
  return subtract_if_positive64(subtract_if_positive64(rests, splat64(2 * lookup->nbits)),
                                splat64(lookup->nbits));
}

/* Computes numbers % nbits of LANES32 keys, for filters of less than 2^30 bits. Then the rests are
 * below 2^32, so that only the lower halves of numbers and quotients are needed. */
static inline vector narrow_remainders_of(const struct lookup *lookup, const words numbers[2])
{
  const vector quotients = unzip_even32((vector)quotients_of(lookup, numbers[0]),
                                        (vector)quotients_of(lookup, numbers[1]));
  const uint32_t nbits = (uint32_t)lookup->nbits;
  const vector rests = sub32(unzip_even32((vector)numbers[0], (vector)numbers[1]),
                             mul_low32(quotients, splat32(nbits)));
  return unzipped(
      subtract_if_positive32(subtract_if_positive32(rests, splat32(2 * nbits)), splat32(nbits)));
}

/* ---- Bits of the payload ---- */

/* The located bits. If the payload has less than 2^32 bytes, bit i is in the byte at the offset
 * bytes[i], and masks[i] selects the bit in this byte. Otherwise only its position is stored. */
struct bits {
  _Alignas(CACHE_LINE_NBYTES) union {
    uint32_t bytes[RING_NBITS];
    uint64_t positions[RING_NBITS];
  };
  _Alignas(CACHE_LINE_NBYTES) uint8_t masks[RING_NBITS];
};

/* The range of sizes that a loop is made for: NARROW filters have less than 2^30 bits, and WIDE
 * ones 2^32 bytes or more. */
enum range { NARROW, MEDIUM, WIDE };

/* Locates the bits of probe p of STEP_NKEYS keys, and advances to the next probe. Adds to *odd the
 * lanes that may reach the prime. */
static inline __attribute__((always_inline)) void locate(const struct lookup *lookup,
                                                         const enum sums sums, struct state *state,
                                                         uint32_t p, const enum range range,
                                                         struct bits *bits, size_t at, mask64 *odd)
{
  const vector flip = splat32(sums != SUMS_NONE ? lookup->flip : 0);
#pragma GCC unroll 4
  for (size_t i = 0; i < STEP_NKEYS; i += LANES32) {
    const size_t j = i / LANES64;
    const words halves[2] = {next_number(lookup, sums, state, j, p, odd),
                             next_number(lookup, sums, state, j + 1, p, odd)};
    if (range == NARROW) {
      const vector positions = narrow_remainders_of(lookup, halves);
      store(bits->bytes + at + i, bit_xor(shift_right32(positions, 3), flip));
      store_masks8(bits->masks + at + i, positions);
      continue;
    }
    const vector lower = remainders_of(lookup, halves[0]), upper = remainders_of(lookup, halves[1]);
    if (range == WIDE) {
      const vector flip_bits = splat64(8 * (uint64_t)lookup->flip);
      store(bits->positions + at + i, bit_xor(lower, flip_bits));
      store(bits->positions + at + i + LANES64, bit_xor(upper, flip_bits));
    } else {
      const vector bytes = unzip_even32(shift_right64(lower, 3), shift_right64(upper, 3));
      store(bits->bytes + at + i, bit_xor(unzipped(bytes), flip));
      store_masks8(bits->masks + at + i, unzipped(unzip_even32(lower, upper)));
    }
  }
}

/* Prefetches the lines of a step. The function is always inlined, because gcc 12 removes calls of a
 * function that only prefetches. */
static inline __attribute__((always_inline)) void
prefetch_step(const uint8_t *payload, const enum range range, const struct bits *bits, size_t at)
{
#pragma GCC unroll 16
  for (size_t i = 0; i < STEP_NKEYS; i++)
    __builtin_prefetch(
        payload + (range == WIDE ? bits->positions[at + i] / 8 : bits->bytes[at + i]), 0, 2);
}

static inline bool is_set(const uint8_t *payload, uint64_t position)
{
  return payload[position / 8] >> position % 8 & 1;
}

/* Returns one bit for each of STEP_NKEYS located bits. */
static inline __attribute__((always_inline)) unsigned
test_step(const uint8_t *payload, const enum range range, const struct bits *bits, size_t at)
{
  if (range != WIDE)
    return test_bits16(payload, bits->bytes + at, bits->masks + at);
  unsigned set = 0;
  for (size_t i = 0; i < STEP_NKEYS; i++)
    set |= (unsigned)is_set(payload, bits->positions[at + i]) << i;
  return set;
}

/* Tests probes first .. end - 1 of n keys, and stores a bit for each key; bits past n become 0.
 * Returns true if a number may reach the prime. The bits of STEP_NKEYS keys are located while those
 * of earlier keys are tested: a load that comes soon after a store of another size would wait for
 * it, and lines of a far filter take long. */
static inline __attribute__((always_inline)) bool
test(const struct lookup *lookup, const enum sums sums, const uint64_t *numbers,
     const struct keys *keys, size_t n, uint32_t first, uint32_t end, const bool many,
     const bool far, const enum range range, struct bits *ring, uint8_t *bitmap)
{
  const size_t most = many ? MANY_NPROBES : 1, nslots = RING_NSTEPS / most;
  const size_t ahead = far ? nslots - 1 : many ? MANY_AHEAD : AHEAD;
  const size_t nsteps = (n + STEP_NKEYS - 1) / STEP_NKEYS;
  struct state state;
  mask64 odd = no_lanes();
  for (size_t i = 0; i < nsteps + ahead; i++) {
    const bool locates = i < nsteps, tests = i >= ahead;
    if (locates)
      odd |= begin_state(sums, numbers, keys, i * STEP_NKEYS, first, &state);
    size_t to = i % nslots * most * STEP_NKEYS, from = (i - ahead) % nslots * most * STEP_NKEYS;
    unsigned set = ~0u;
    for (uint32_t p = first; p < end; p++, to += STEP_NKEYS, from += STEP_NKEYS) {
      if (locates) {
        locate(lookup, sums, &state, p, range, ring, to, &odd);
        if (far)
          prefetch_step(lookup->payload, range, ring, to);
      }
      if (tests)
        set &= test_step(lookup->payload, range, ring, from);
    }
    if (tests) {
      bitmap[(i - ahead) * STEP_NKEYS / 8] = (uint8_t)set;
      bitmap[(i - ahead) * STEP_NKEYS / 8 + 1] = (uint8_t)(set >> 8);
    }
  }
  if (n % STEP_NKEYS != 0) {
    bitmap[n / 8] &= (uint8_t)((1 << n % 8) - 1);
    if (n % STEP_NKEYS < 8)
      bitmap[n / 8 + 1] = 0;
  }
  return mask_bits64(odd) != 0;
}

/* ---- Compaction ---- */

/* Repeats each of the LANES64 lowest bits. */
static inline unsigned twice_each(unsigned bits)
{
  bits = (bits | bits << 4) & 0x0f0f;
  bits = (bits | bits << 2) & 0x3333;
  bits = (bits | bits << 1) & 0x5555;
  return 3 * bits;
}

/* Stores the words whose bits are set in a mask of LANES32 bits side by side. */
static inline void store_words(uint64_t *to, const uint64_t *from, unsigned mask)
{
  const vector first = load(from), second = load(from + LANES64);
  to += store_chosen32((uint32_t *)to, first, twice_each(mask & ((1u << LANES64) - 1))) / 2;
  store_chosen32((uint32_t *)to, second, twice_each(mask >> LANES64));
}

/* Moves the keys whose bit is set to `keys`, side by side, and appends words of 0 that fill up the
 * last step. Returns the number of keys that are left. `indices` is NULL if the n keys are the
 * whole block. `numbers` and `indices` may be the arrays of `keys`, because stores never pass the
 * loads. The steps are always read from `keys`. */
static inline size_t compact(const uint8_t *bitmap, const uint64_t *numbers,
                             const uint32_t *indices, size_t n, bool has_steps, struct keys *keys)
{
  vector index = iota32();
  size_t nleft = 0;
  for (size_t i = 0; i < n; i += LANES32) {
    if (indices)
      index = load(indices + i);
    const unsigned byte = bitmap[i / 8],
                   bits = LANES32 == 16 ? byte | (unsigned)bitmap[i / 8 + 1] << 8 : byte >> i % 8,
                   mask = bits & ((1u << LANES32) - 1);
    store_words(keys->numbers + nleft, numbers + i, mask);
    if (has_steps)
      store_words(keys->steps + nleft, keys->steps + i, mask);
    nleft += store_chosen32(keys->indices + nleft, index, mask);
    if (!indices)
      index = add32(index, splat32(LANES32));
  }
  memset(keys->numbers + nleft, 0, STEP_NKEYS * sizeof(uint64_t));
  memset(keys->steps + nleft, 0, STEP_NKEYS * sizeof(uint64_t));
  return nleft;
}

/* ---- Probing ---- */

static void probe_in_scalar(const struct filter_shape *shape, const uint8_t *payload,
                            const uint8_t *hashes, size_t n, uint8_t *bitmap)
{
  memset(bitmap, 0, (n + 7) / 8);
  for (size_t i = 0; i < n; i++)
    bitmap[i / 8] |=
        (uint8_t)(lanebloom_dcso_may_match_scalar(shape, payload, hash_at(hashes, i, 8)) << i % 8);
}

/* Probes a block. Sets *nhits to the number of hits. Returns false, and stores no result, if a
 * number may have reached the prime. */
static inline __attribute__((always_inline)) bool
probe_block(const struct lookup *lookup, const enum sums sums, const uint64_t *numbers, size_t n,
            bool most_hit, const bool far, const enum range range, struct bits *bits,
            struct keys *keys, uint8_t *bitmap, size_t *nhits)
{
  uint8_t passed[BLOCK_NKEYS / 8 + 2];
  const uint32_t *indices = NULL;
  const uint32_t nprobes = lookup->nprobes;
  size_t left = n;
  bool many = most_hit;
  for (uint32_t first = 0, end; first < nprobes && left > 0; first = end) {
    const size_t ntested = left;
    const uint32_t most = nprobes - first;
    end = first + (!many ? 1 : most < MANY_NPROBES ? most : MANY_NPROBES);
    const bool odd = many ? test(lookup, sums, numbers, keys, ntested, first, end, true, far, range,
                                 bits, passed)
                          : test(lookup, sums, numbers, keys, ntested, first, first + 1, false, far,
                                 range, bits, passed);
    if (__builtin_expect(odd, false))
      return false;
    left = compact(passed, numbers, indices, ntested, sums != SUMS_NONE, keys);
    numbers = keys->numbers;
    indices = keys->indices;
    many = most_hit || (!(far && n >= WIDE_BLOCK_NKEYS) &&
                        (left * 100 > ntested * MANY_PERCENT || left < FEW_SURVIVORS));
  }
  memset(bitmap, 0, (n + 7) / 8);
  for (size_t i = 0; i < left; i++)
    bitmap[keys->indices[i] / 8] |= (uint8_t)(1 << keys->indices[i] % 8);
  *nhits = left;
  return true;
}

static inline __attribute__((always_inline)) void
probe_blocks(const struct filter_shape *shape, const uint8_t *payload, const enum sums sums,
             struct hash_source *source, const bool far, const enum range range, uint8_t *bitmap)
{
  const size_t block_nkeys = hash_source_block_nkeys(source);
  struct lookup lookup;
  struct bits bits;
  struct keys keys;
  bool most_hit = false;
  lookup_of(shape, payload, &lookup);
  for (size_t n, nhits = 0, first = 0; first < source->n; first += n, bitmap += n / 8) {
    const uint8_t *hashes = hash_source_next(source, block_nkeys, &n);
    if (!source->keys && far)
      hash_source_fetch(source, block_nkeys);
    const uint64_t *numbers = begin(&lookup, hashes, source->hash_nbytes, n, &keys);
    if (!probe_block(&lookup, sums, numbers, n, most_hit, far, range, &bits, &keys, bitmap, &nhits))
      probe_in_scalar(shape, payload, hashes, n, bitmap);
    most_hit = nhits * 100 > n * MOST_PERCENT;
  }
}

/* Defines the loops for a kind of numbers. They are not inlined, so that each has its own
 * registers. */
#define PROBE_LOOPS(name, sums)                                                                    \
  static __attribute__((noinline)) void probe_near_##name(                                         \
      const struct filter_shape *shape, const uint8_t *payload, struct hash_source *source,        \
      uint8_t *bitmap)                                                                             \
  {                                                                                                \
    probe_blocks(shape, payload, sums, source, false, NARROW, bitmap);                             \
  }                                                                                                \
  static __attribute__((noinline)) void probe_far_##name(                                          \
      const struct filter_shape *shape, const uint8_t *payload, struct hash_source *source,        \
      uint8_t *bitmap)                                                                             \
  {                                                                                                \
    probe_blocks(shape, payload, sums, source, true, MEDIUM, bitmap);                              \
  }
PROBE_LOOPS(products, SUMS_NONE)
PROBE_LOOPS(spark_v1, SUMS_SPARK_V1)
PROBE_LOOPS(spark_v2, SUMS_SPARK_V2)
PROBE_LOOPS(guava_64, SUMS_GUAVA_64)
PROBE_LOOPS(cassandra, SUMS_CASSANDRA)

static __attribute__((noinline)) void probe_wide(const struct filter_shape *shape,
                                                 const uint8_t *payload, struct hash_source *source,
                                                 uint8_t *bitmap)
{
  probe_blocks(shape, payload, shape->double_hashing.sums, source, true, WIDE, bitmap);
}

void KERNEL(remainders_probe)(const struct filter_shape *shape, const uint8_t *payload,
                              struct hash_source *source, uint8_t *bitmap)
{
  static probe_function *const near[] = {
      [SUMS_NONE] = probe_near_products,       [SUMS_SPARK_V1] = probe_near_spark_v1,
      [SUMS_SPARK_V2] = probe_near_spark_v2,   [SUMS_GUAVA_64] = probe_near_guava_64,
      [SUMS_CASSANDRA] = probe_near_cassandra,
  };
  static probe_function *const far[] = {
      [SUMS_NONE] = probe_far_products,       [SUMS_SPARK_V1] = probe_far_spark_v1,
      [SUMS_SPARK_V2] = probe_far_spark_v2,   [SUMS_GUAVA_64] = probe_far_guava_64,
      [SUMS_CASSANDRA] = probe_far_cassandra,
  };
  const enum sums sums = shape->double_hashing.sums;
  if (shape->nbytes <= REMAINDERS_NEAR_NBYTES)
    near[sums](shape, payload, source, bitmap);
  else if (source->n <= FEW_SCREENED_FAR && sums == SUMS_NONE)
    lanebloom_dcso_probe_scalar(shape, payload, source, bitmap);
  else if (source->n <= FEW_SCREENED_FAR)
    lanebloom_double_hashing_probe_scalar(shape, payload, source, bitmap);
  else if (shape->nbytes <= UINT32_MAX)
    far[sums](shape, payload, source, bitmap);
  else
    probe_wide(shape, payload, source, bitmap);
}

/* ---- Adding ---- */

/* The positions of STEP_NKEYS keys, one row for each probe. */
struct positions {
  _Alignas(CACHE_LINE_NBYTES) uint64_t rows[MAX_ADDED_NPROBES][STEP_NKEYS];
};

/* Computes the positions of n keys, at most STEP_NKEYS. */
static inline void locate_added(const struct lookup *lookup, const uint8_t *hashes,
                                size_t hash_nbytes, size_t n, struct keys *keys,
                                struct positions *positions)
{
  const uint64_t *numbers = begin(lookup, hashes, hash_nbytes, n, keys);
  const enum sums sums = lookup->double_hashing.sums;
  const vector flip = splat64(8 * (uint64_t)lookup->flip);
  struct state state;
  mask64 odd = begin_state(sums, numbers, keys, 0, 0, &state);
  for (uint32_t p = 0; p < lookup->nprobes; p++)
    for (size_t j = 0; j < STEP_NKEYS / LANES64; j++) {
      const words number = next_number(lookup, sums, &state, j, p, &odd);
      store(positions->rows[p] + j * LANES64, bit_xor(remainders_of(lookup, number), flip));
    }
  for (size_t i = 0; mask_bits64(odd) != 0 && i < n; i++) {
    uint64_t number = dcso_reduced(hash64_at(hashes, i));
    for (uint32_t p = 0; p < lookup->nprobes; p++) {
      number = dcso_next(number);
      positions->rows[p][i] = number % lookup->nbits;
    }
  }
}

/* Sets the bits of n keys, in their order. Returns how many of them set a new bit. */
static inline size_t set_added(uint8_t *payload, uint32_t nprobes,
                               const struct positions *positions, size_t n)
{
  size_t nnew = 0;
  for (size_t i = 0; i < n; i++) {
    unsigned missing = 0;
    for (uint32_t p = 0; p < nprobes; p++) {
      const uint64_t position = positions->rows[p][i];
      const unsigned byte = payload[position / 8], bit = 1u << position % 8;
      missing |= bit & ~byte;
      payload[position / 8] = (uint8_t)(byte | bit);
    }
    nnew += missing != 0;
  }
  return nnew;
}

/* Adds the keys in their order, because the count of those that set a new bit depends on it. The
 * lines of each step are prefetched while the bits of the step before it are set. */
void KERNEL(remainders_add)(const struct filter_shape *shape, uint8_t *payload,
                            struct hash_source *source)
{
  if (shape->nprobes > MAX_ADDED_NPROBES) {
    if (shape->double_hashing.sums == SUMS_NONE)
      lanebloom_dcso_add_scalar(shape, payload, source);
    else
      lanebloom_double_hashing_add_scalar(shape, payload, source);
    return;
  }
  const bool far = shape->nbytes > REMAINDERS_NEAR_NBYTES;
  struct lookup lookup;
  struct keys keys;
  struct positions positions[2];
  lookup_of(shape, payload, &lookup);
  for (size_t n; source->next < source->n;) {
    const uint8_t *hashes = hash_source_next(source, hash_source_block_nkeys(source), &n);
    size_t nbefore = 0;
    for (size_t i = 0, parity = 0; i < n; i += STEP_NKEYS, parity ^= 1) {
      const size_t nkeys = n - i < STEP_NKEYS ? n - i : STEP_NKEYS;
      locate_added(&lookup, hashes + i * source->hash_nbytes, source->hash_nbytes, nkeys, &keys,
                   &positions[parity]);
      for (uint32_t p = 0; far && p < shape->nprobes; p++)
        for (size_t k = 0; k < nkeys; k++)
          __builtin_prefetch(payload + positions[parity].rows[p][k] / 8, 0, 2);
      source->nnew += set_added(payload, shape->nprobes, &positions[parity ^ 1], nbefore);
      nbefore = nkeys;
    }
    const size_t last = (n - 1) / STEP_NKEYS % 2;
    source->nnew += set_added(payload, shape->nprobes, &positions[last], nbefore);
  }
}
