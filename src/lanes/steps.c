/* Probes and adds to filters of Guava's and Cassandra's layouts. Lanes compute the positions of a
 * few probes of every key, and scalar code tests them. Most absent keys fail one of their first
 * probes, so only the keys that pass, the survivors, get the positions of further probes.
 *
 * A probe is a sum, base + i * step, modulo the number of bits m. A lane divides only twice, to get
 * the remainders of the base and of the step. From then on it adds the remainder of the step for
 * each probe, and subtracts m if the result is not below m. But sums wrap at 2^B, and remainders do
 * not: if a sum wraps, the remainder of 2^B must be subtracted, too. So there are two numbers to
 * add, of which the second is for sums that wrap.
 * SPDX-License-Identifier: MIT */
#include "../layouts/steps.h"
#include "lanes.h"
#include "words.h"

enum {
  STEPS_BLOCK_NKEYS = WIDE_BLOCK_NKEYS,
  STEP_NKEYS = 16, /* the number of bits that test_bits16() tests, in whole registers of any set */
  /* The number of probes that are located at a time. Of the keys that are absent from a filter that
   * is half full, one in 16 passes so many probes. */
  ROUND_NPROBES = 4,
  /* The number of probes, and the number of keys, if all keys are tested. */
  PART_NPROBES = 16,
  PART_NKEYS = STEPS_BLOCK_NKEYS * ROUND_NPROBES / PART_NPROBES,
  /* If more than this percentage of the keys of a block were hits, all probes of all keys of the
   * next block are tested. */
  MOST_PERCENT = 60,
  STEPS_NEAR_NBYTES = 1 << 20, /* in larger filters, cache lines are prefetched */
  /* A line is prefetched so many keys ahead if one probe of each key is tested at a time. If all
   * probes are tested, lines are prefetched one step ahead. */
  AHEAD = 2 * STEP_NKEYS,
};

/* ---- Positions ---- */

/* How sums wrap, and what is probed in place of sums whose highest bit is set: in sums of 32 bits
 * their complement, in sums of 64 bits their negative. Sums of 63 bits have no sign. */
enum sums { SUMS_32, SUMS_63, SUMS_64 };

static const unsigned SUM_NBITS[] = {[SUMS_32] = 32, [SUMS_63] = 63, [SUMS_64] = 64};

/* The layout of a filter, in the form that lanes need. */
struct stepping {
  enum sums sums;
  bool is_swapped;     /* the base is the second half of the hash */
  uint32_t byte_order; /* is combined with the number of a byte: see spark_bit() */
  vector nbits;        /* m */
  vector nwords;       /* m / 64, below 2^31 */
  vector low, high;    /* the halves of floor((2^64 - 1) / nwords) */
  vector wrapped;      /* 2^B modulo m */
  vector mirror;       /* m plus the remainder of what a sum and its mirror add up to */
  const uint8_t *payload;
  uint32_t nprobes;
};

/* Sums stand in the highest bits of their lanes, so that all sums wrap at 2^64. The top bit of sum
 * and step is flipped, because lanes compare signed numbers. */
struct state {
  vector sum, step, flipped_step;
  vector remainder;       /* of the sum */
  vector next, next_wrap; /* to add to the remainder: if the sum does not wrap, and if it does */
};

/* Returns x modulo m. m is a multiple of 64, so the lowest 6 bits of x are those of the remainder.
 * The other 58 bits are divided by nwords, by multiplying with the reciprocal r, which is too small
 * by at most 1. Then the product's high half is too small by at most 2^58 / 2^64, and the quotient
 * by at most 1. The remainder is below 2^32, so 32 bits of the quotient are enough for it. */
static inline vector remainder_of(const struct stepping *stepping, vector x)
{
  const vector n = shift_right64(x, 6), n_high = shift_right64(n, 32),
               low_bits = splat64(UINT32_MAX);
  const vector crossed =
      add64(mul_even32(n_high, stepping->low), shift_right64(mul_even32(n, stepping->low), 32));
  const vector other = add64(mul_even32(n, stepping->high), bit_and(crossed, low_bits));
  const vector quotient = add64(mul_even32(n_high, stepping->high),
                                add64(shift_right64(crossed, 32), shift_right64(other, 32)));
  const vector rest = bit_and(sub64(n, mul_even32(quotient, stepping->nwords)), low_bits);
  return bit_or(shift_left64(subtract_if_positive64(rest, stepping->nwords), 6),
                bit_and(x, splat64(63)));
}

static inline __attribute__((always_inline)) struct stepping
stepping_of(const struct filter_shape *shape, const uint8_t *payload, const enum sums sums,
            bool is_swapped, bool is_big_endian)
{
  const uint64_t m = shape->nbits, reciprocal = UINT64_MAX / (m / 64);
  const uint64_t all = UINT64_MAX >> (64 - SUM_NBITS[sums]); /* 2^B - 1 */
  const uint64_t wrapped = (all % m + 1) % m;
  return (struct stepping){
      .sums = sums,
      .is_swapped = is_swapped,
      .byte_order = is_big_endian ? (uint32_t)(spark_bit(0) / 8) : 0,
      .nbits = splat64(m),
      .nwords = splat64(m / 64),
      .low = splat64(reciprocal & UINT32_MAX),
      .high = splat64(reciprocal >> 32),
      .wrapped = splat64(wrapped),
      .mirror = splat64(m + (sums == SUMS_32 ? all % m : wrapped)),
      .payload = payload,
      .nprobes = shape->nprobes,
  };
}

/* Begins with probe `first` of LANES64 hashes. low, high: the halves of the hashes. */
static inline __attribute__((always_inline)) struct state begin(const struct stepping *stepping,
                                                                const enum sums sums, vector low,
                                                                vector high, uint32_t first)
{
  const unsigned shift = 64 - SUM_NBITS[sums];
  words base, step;
  if (sums == SUMS_32) {
    step = (words)low & ~(words)splat64(UINT32_MAX);
    base = ((words)low << 32) + step; /* probes count from 1 */
  } else {
    const words even = (words)low << shift, odd = (words)high << shift;
    base = stepping->is_swapped ? odd : even;
    step = stepping->is_swapped ? even : odd;
  }
  const words sum = first > 0 ? base + step * first : base;
  const uint64_t top = (uint64_t)1 << 63;
  const vector next = remainder_of(stepping, (vector)(step >> shift));
  return (struct state){
      .sum = (vector)(sum ^ top),
      .step = (vector)step,
      .flipped_step = (vector)(step ^ top),
      .remainder = remainder_of(stepping, (vector)(sum >> shift)),
      .next = next,
      .next_wrap = subtract_if_positive64(sub64(add64(next, stepping->nbits), stepping->wrapped),
                                          stepping->nbits),
  };
}

/* Returns the positions of the current probes, and advances to the next ones. */
static inline __attribute__((always_inline)) vector
advance(const struct stepping *stepping, const enum sums sums, struct state *state)
{
  vector bit = state->remainder;
  if (sums != SUMS_63) {
    const vector mirrored = subtract_if_positive64(sub64(stepping->mirror, bit), stepping->nbits);
    bit = select64(greater_signed64(zero(), state->sum), bit, mirrored);
  }
  state->sum = add64(state->sum, state->step);
  const mask64 wraps = greater_signed64(state->flipped_step, state->sum);
  state->remainder = subtract_if_positive64(
      add64(state->remainder, select64(wraps, state->next_wrap, state->next)), stepping->nbits);
  return bit;
}

/* ---- Rounds ---- */

/* The bits that the next probes of some keys of a block test. Slot i belongs to one of these keys:
 * probe p of the round tests the bit masks[p * nslots + i] of the byte at the offset
 * bytes[p * nslots + i]. A round has either many slots or many probes. */
struct round {
  _Alignas(CACHE_LINE_NBYTES) uint32_t bytes[ROUND_NPROBES * STEPS_BLOCK_NKEYS];
  _Alignas(CACHE_LINE_NBYTES) uint8_t masks[ROUND_NPROBES * STEPS_BLOCK_NKEYS];
};

/* The keys of a block that have passed all probes so far. There is room for one more step, because
 * store_chosen32() writes whole registers. */
struct survivors {
  uint32_t keys[STEPS_BLOCK_NKEYS];               /* slot i belongs to this key of the block */
  uint32_t slots[STEPS_BLOCK_NKEYS + STEP_NKEYS]; /* the slots that have passed the last probes */
};

/* Loads the hashes of the LANES64 slots from slot i on. Slots past the last one get its hash. If
 * keys is NULL, slot i belongs to key i. */
static inline __attribute__((always_inline)) void load_hashes(const uint8_t *hashes,
                                                              const uint32_t *keys, size_t i,
                                                              size_t n, vector *low, vector *high)
{
  if (!keys && i + LANES64 <= n) {
    const uint8_t *at = hashes + i * sizeof(struct key_hash);
    const vector a = load(at), b = load(at + VECTOR_NBYTES);
    *low = unzipped(unzip_even64(a, b));
    *high = unzipped(unzip_odd64(a, b));
    return;
  }
  const uint8_t *even[VECTOR_NBLOCKS], *odd[VECTOR_NBLOCKS];
  for (size_t j = 0; j < VECTOR_NBLOCKS; j++) {
    const size_t a = i + 2 * j < n ? i + 2 * j : n - 1, b = a + 1 < n ? a + 1 : n - 1;
    even[j] = hashes + (keys ? keys[a] : a) * sizeof(struct key_hash);
    odd[j] = hashes + (keys ? keys[b] : b) * sizeof(struct key_hash);
  }
  const vector a = load_blocks(even), b = load_blocks(odd);
  *low = interleave_low64(a, b);
  *high = interleave_high64(a, b);
}

/* Locates the bits of the probes first .. end - 1 of n slots, and of the slots that fill up the
 * last step. */
static inline __attribute__((always_inline)) void
locate(const struct stepping *stepping, const enum sums sums, const uint8_t *hashes,
       const uint32_t *keys, size_t n, uint32_t first, uint32_t end, struct round *round,
       const size_t nslots)
{
  const size_t nfilled = (n + STEP_NKEYS - 1) / STEP_NKEYS * STEP_NKEYS;
  const vector byte_order = splat32(stepping->byte_order);
  for (size_t i = 0; i < nfilled; i += LANES32) {
    vector low, high;
    load_hashes(hashes, keys, i, n, &low, &high);
    struct state a = begin(stepping, sums, low, high, first);
    load_hashes(hashes, keys, i + LANES64, n, &low, &high);
    struct state b = begin(stepping, sums, low, high, first);
    for (uint32_t p = 0; p < end - first; p++) {
      const vector at_a = advance(stepping, sums, &a), at_b = advance(stepping, sums, &b);
      const vector bytes = unzipped(unzip_even32(shift_right64(at_a, 3), shift_right64(at_b, 3)));
      store_aligned(&round->bytes[p * nslots + i], bit_xor(bytes, byte_order));
      store_masks8(&round->masks[p * nslots + i], unzipped(unzip_even32(at_a, at_b)));
    }
  }
}

/* The function is always inlined, because gcc 12 removes calls of a function that only
 * prefetches. */
static inline __attribute__((always_inline)) void fetch_step(const uint8_t *payload,
                                                             const uint32_t *bytes)
{
#pragma GCC unroll 16
  for (size_t i = 0; i < STEP_NKEYS; i++)
    __builtin_prefetch(payload + bytes[i], 0, 2);
}

static inline void fetch_bit(const uint8_t *payload, uint32_t byte)
{
  __builtin_prefetch(payload + byte, 0, 2);
}

/* ---- Testing most keys that fail: probe after probe, with fewer keys each time ---- */

/* Tests the first probe of n slots, and lists the slots that pass. Returns their number. */
static inline __attribute__((always_inline)) size_t test_first(const uint8_t *payload,
                                                               const struct round *round, size_t n,
                                                               uint32_t *slots, const bool far)
{
  static const uint32_t first_slots[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  vector index = load(first_slots);
  size_t npassed = 0;
  for (size_t i = 0; far && i < n && i < AHEAD; i += STEP_NKEYS)
    fetch_step(payload, &round->bytes[i]);
  for (size_t i = 0; i < n; i += STEP_NKEYS) {
    if (far && i + AHEAD < n)
      fetch_step(payload, &round->bytes[i + AHEAD]);
    unsigned mask = test_bits16(payload, &round->bytes[i], &round->masks[i]);
    if (n - i < STEP_NKEYS)
      mask &= (1u << (n - i)) - 1;
    for (size_t j = 0; j < STEP_NKEYS; j += LANES32) {
      npassed += store_chosen32(slots + npassed, index, mask >> j & ((1u << LANES32) - 1));
      index = add32(index, splat32(LANES32));
    }
  }
  return npassed;
}

/* Tests probe p of the n listed slots, and lists the slots that pass in their place. Returns their
 * number. */
static inline __attribute__((always_inline)) size_t test_next(const uint8_t *payload,
                                                              const struct round *round, uint32_t p,
                                                              uint32_t *slots, size_t n,
                                                              const bool far)
{
  const uint32_t *bytes = &round->bytes[p * STEPS_BLOCK_NKEYS];
  const uint8_t *masks = &round->masks[p * STEPS_BLOCK_NKEYS];
  size_t npassed = 0;
  for (size_t i = 0; far && i < n && i < AHEAD; i++)
    fetch_bit(payload, bytes[slots[i]]);
  for (size_t i = 0; i < n; i++) {
    if (far && i + AHEAD < n)
      fetch_bit(payload, bytes[slots[i + AHEAD]]);
    const uint32_t slot = slots[i];
    slots[npassed] = slot;
    npassed += (payload[bytes[slot]] & masks[slot]) != 0;
  }
  return npassed;
}

/* Probes n keys of a block. Returns the number of hits. */
static inline __attribute__((always_inline)) size_t
probe_survivors(const struct stepping *stepping, const enum sums sums, const uint8_t *hashes,
                size_t n, const bool far, struct round *round, struct survivors *survivors,
                uint8_t *bitmap)
{
  const uint32_t *keys = NULL;
  const uint8_t *payload = stepping->payload;
  memset(bitmap, 0, (n + 7) / 8);
  for (uint32_t first = 0, end; first < stepping->nprobes && n > 0; first = end) {
    end = stepping->nprobes - first < ROUND_NPROBES ? stepping->nprobes : first + ROUND_NPROBES;
    locate(stepping, sums, hashes, keys, n, first, end, round, STEPS_BLOCK_NKEYS);
    n = test_first(payload, round, n, survivors->slots, far);
    for (uint32_t p = 1; p < end - first && n > 0; p++)
      n = test_next(payload, round, p, survivors->slots, n, far);
    for (size_t i = 0; i < n; i++)
      survivors->keys[i] = keys ? keys[survivors->slots[i]] : survivors->slots[i];
    keys = survivors->keys;
  }
  for (size_t i = 0; i < n; i++)
    bitmap[keys[i] / 8] |= (uint8_t)(1 << keys[i] % 8);
  return n;
}

/* ---- Testing most keys that pass: all probes of all keys ---- */

/* Tests n keys, at most PART_NKEYS. */
static inline __attribute__((always_inline)) void
probe_part(const struct stepping *stepping, const enum sums sums, const uint8_t *hashes, size_t n,
           const bool far, struct round *round, uint8_t *bitmap)
{
  const uint8_t *payload = stepping->payload;
  memset(bitmap, 0xff, (n + 7) / 8);
  for (uint32_t first = 0, end; first < stepping->nprobes; first = end) {
    end = stepping->nprobes - first < PART_NPROBES ? stepping->nprobes : first + PART_NPROBES;
    locate(stepping, sums, hashes, NULL, n, first, end, round, PART_NKEYS);
    for (uint32_t p = 0; far && p < end - first; p++)
      fetch_step(payload, &round->bytes[p * PART_NKEYS]);
    for (size_t i = 0; i < n; i += STEP_NKEYS) {
      unsigned mask = ~0u;
      for (uint32_t p = 0; p < end - first; p++) {
        const size_t at = p * PART_NKEYS + i;
        if (far && i + STEP_NKEYS < n)
          fetch_step(payload, &round->bytes[at + STEP_NKEYS]);
        mask &= test_bits16(payload, &round->bytes[at], &round->masks[at]);
      }
      bitmap[i / 8] &= (uint8_t)mask;
      if (n - i > 8)
        bitmap[i / 8 + 1] &= (uint8_t)(mask >> 8);
    }
  }
}

/* Probes n keys of a block. Returns the number of hits. */
static inline __attribute__((always_inline)) size_t
probe_all(const struct stepping *stepping, const enum sums sums, const uint8_t *hashes, size_t n,
          const bool far, struct round *round, uint8_t *bitmap)
{
  size_t nhits = 0;
  for (size_t first = 0; first < n; first += PART_NKEYS)
    probe_part(stepping, sums, hashes + first * sizeof(struct key_hash),
               n - first < PART_NKEYS ? n - first : PART_NKEYS, far, round, bitmap + first / 8);
  if (n % 8 != 0)
    bitmap[n / 8] &= (uint8_t)((1 << n % 8) - 1);
  for (size_t i = 0; i < n; i += 8)
    nhits += (unsigned)__builtin_popcount(bitmap[i / 8]);
  return nhits;
}

/* ---- The drivers ---- */

static inline __attribute__((always_inline)) void probe_blocks(const struct stepping *stepping,
                                                               const enum sums sums,
                                                               struct hash_source *source,
                                                               uint8_t *bitmap, const bool far)
{
  struct round round;
  struct survivors survivors;
  bool most_hit = false;
  for (size_t n, nhits, first = 0; first < source->n; first += n) {
    const uint8_t *hashes = hash_source_next(source, STEPS_BLOCK_NKEYS, &n);
    if (far && !source->keys)
      hash_source_fetch(source, STEPS_BLOCK_NKEYS);
    uint8_t *bits = bitmap + first / 8;
    if (most_hit)
      nhits = probe_all(stepping, sums, hashes, n, far, &round, bits);
    else
      nhits = probe_survivors(stepping, sums, hashes, n, far, &round, &survivors, bits);
    most_hit = nhits * 100 > n * MOST_PERCENT;
  }
}

static inline __attribute__((always_inline)) void add_blocks(const struct stepping *stepping,
                                                             const enum sums sums, uint8_t *payload,
                                                             struct hash_source *source,
                                                             const bool far)
{
  struct round round;
  const uint32_t nprobes = stepping->nprobes;
  for (size_t n; source->next < source->n;) {
    const uint8_t *hashes = hash_source_next(source, STEPS_BLOCK_NKEYS, &n);
    for (uint32_t first = 0, end; first < nprobes; first = end) {
      end = nprobes - first < ROUND_NPROBES ? nprobes : first + ROUND_NPROBES;
      locate(stepping, sums, hashes, NULL, n, first, end, &round, STEPS_BLOCK_NKEYS);
      for (uint32_t p = 0; p < end - first; p++) {
        const uint32_t *bytes = &round.bytes[p * STEPS_BLOCK_NKEYS];
        const uint8_t *masks = &round.masks[p * STEPS_BLOCK_NKEYS];
        for (size_t i = 0; i < n; i++) {
          if (far && i + AHEAD < n)
            fetch_bit(payload, bytes[i + AHEAD]);
          payload[bytes[i]] |= masks[i];
        }
      }
    }
  }
}

/* ---- Layouts ---- */

/* Lanes have offsets of 32 bits. Scalar code, which is passed as `scalar`, takes larger filters. */
static inline __attribute__((always_inline)) void
steps_probe(const struct filter_shape *shape, const uint8_t *payload, const enum sums sums,
            bool is_swapped, bool is_big_endian, struct hash_source *source, uint8_t *bitmap,
            probe_function *scalar)
{
  if (shape->nbytes > UINT32_MAX) {
    scalar(shape, payload, source, bitmap);
    return;
  }
  const struct stepping stepping = stepping_of(shape, payload, sums, is_swapped, is_big_endian);
  if (shape->nbytes > STEPS_NEAR_NBYTES)
    probe_blocks(&stepping, sums, source, bitmap, true);
  else
    probe_blocks(&stepping, sums, source, bitmap, false);
}

static inline __attribute__((always_inline)) void
steps_add(const struct filter_shape *shape, uint8_t *payload, const enum sums sums, bool is_swapped,
          bool is_big_endian, struct hash_source *source, add_function *scalar)
{
  if (shape->nbytes > UINT32_MAX) {
    scalar(shape, payload, source);
    return;
  }
  const struct stepping stepping = stepping_of(shape, payload, sums, is_swapped, is_big_endian);
  if (shape->nbytes > STEPS_NEAR_NBYTES)
    add_blocks(&stepping, sums, payload, source, true);
  else
    add_blocks(&stepping, sums, payload, source, false);
}

void KERNEL(guava_32_probe)(const struct filter_shape *shape, const uint8_t *payload,
                            struct hash_source *source, uint8_t *bitmap)
{
  steps_probe(shape, payload, SUMS_32, false, true, source, bitmap,
              lanebloom_guava_32_probe_scalar);
}

void KERNEL(guava_64_probe)(const struct filter_shape *shape, const uint8_t *payload,
                            struct hash_source *source, uint8_t *bitmap)
{
  steps_probe(shape, payload, SUMS_63, false, true, source, bitmap,
              lanebloom_guava_64_probe_scalar);
}

void KERNEL(cassandra_probe)(const struct filter_shape *shape, const uint8_t *payload,
                             struct hash_source *source, uint8_t *bitmap)
{
  steps_probe(shape, payload, SUMS_64, shape->cassandra.is_swapped, shape->cassandra.is_big_endian,
              source, bitmap, lanebloom_cassandra_probe_scalar);
}

void KERNEL(guava_32_add)(const struct filter_shape *shape, uint8_t *payload,
                          struct hash_source *source)
{
  steps_add(shape, payload, SUMS_32, false, true, source, lanebloom_guava_32_add_scalar);
}

void KERNEL(guava_64_add)(const struct filter_shape *shape, uint8_t *payload,
                          struct hash_source *source)
{
  steps_add(shape, payload, SUMS_63, false, true, source, lanebloom_guava_64_add_scalar);
}

void KERNEL(cassandra_add)(const struct filter_shape *shape, uint8_t *payload,
                           struct hash_source *source)
{
  steps_add(shape, payload, SUMS_64, shape->cassandra.is_swapped, shape->cassandra.is_big_endian,
            source, lanebloom_cassandra_add_scalar);
}
