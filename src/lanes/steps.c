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
#include "vector.h"

enum {
  STEPS_BLOCK_NKEYS = WIDE_BLOCK_NKEYS,
  /* The number of probes whose positions are computed at a time. Of the keys that are absent from a
   * filter that is half full, one in 16 passes so many probes. */
  ROUND_NPROBES = 4,
  /* If more than this percentage of the keys of a block were hits, all probes of a round are tested
   * together in the next block, because most keys will pass. */
  MOST_PERCENT = 60,
  /* A cache line is prefetched so many tests ahead. */
  AHEAD = 32,
  AHEAD_TOGETHER = 16,         /* if all probes of a round are tested together */
  STEPS_NEAR_NBYTES = 1 << 20, /* in larger filters, cache lines are prefetched */
};

/* A vector type of gcc and clang, as in xxh64.c. */
typedef uint64_t words __attribute__((vector_size(VECTOR_NBYTES)));

/* ---- Positions ---- */

/* How sums wrap, and what is probed in place of sums whose highest bit is set: in sums of 32 bits
 * their complement, in sums of 64 bits their negative. Sums of 63 bits have no sign. */
enum sums { SUMS_32, SUMS_63, SUMS_64 };

static const unsigned SUM_NBITS[] = {[SUMS_32] = 32, [SUMS_63] = 63, [SUMS_64] = 64};

/* The layout of a filter, in the form that lanes need. */
struct stepping {
  enum sums sums;
  bool is_swapped;     /* the base is the second half of the hash */
  uint64_t byte_order; /* is combined with the number of a bit: see spark_bit() */
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

/* Returns v modulo m, for v below 2 m. */
static inline vector modulo(vector v, vector m)
{
  return select64(greater_signed64(m, v), v, sub64(v, m));
}

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
  return bit_or(shift_left64(modulo(rest, stepping->nwords), 6), bit_and(x, splat64(63)));
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
      .byte_order = is_big_endian ? spark_bit(0) : 0,
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
      .next_wrap = modulo(sub64(add64(next, stepping->nbits), stepping->wrapped), stepping->nbits),
  };
}

/* Returns the positions of the current probes, and advances to the next ones. */
static inline __attribute__((always_inline)) vector
advance(const struct stepping *stepping, const enum sums sums, struct state *state)
{
  vector bit = state->remainder;
  if (sums != SUMS_63) {
    const vector mirrored = modulo(sub64(stepping->mirror, bit), stepping->nbits);
    bit = select64(greater_signed64(zero(), state->sum), bit, mirrored);
  }
  state->sum = add64(state->sum, state->step);
  const mask64 wraps = greater_signed64(state->flipped_step, state->sum);
  state->remainder = modulo(add64(state->remainder, select64(wraps, state->next_wrap, state->next)),
                            stepping->nbits);
  return bit_xor(bit, splat64(stepping->byte_order));
}

/* ---- Rounds ---- */

/* The keys of a block that have passed all probes so far, and the positions of their next probes.
 * Slot i belongs to key keys[i] of the block. */
struct round {
  _Alignas(CACHE_LINE_NBYTES) uint64_t positions[ROUND_NPROBES][STEPS_BLOCK_NKEYS];
  uint16_t keys[STEPS_BLOCK_NKEYS];
  uint16_t slots[STEPS_BLOCK_NKEYS]; /* the slots whose keys have passed the probes of this round */
};

/* Loads the hashes of the LANES64 slots from slot i on. Slots past the last one get its hash. If
 * keys is NULL, slot i belongs to key i. */
static inline __attribute__((always_inline)) void load_hashes(const uint8_t *hashes,
                                                              const uint16_t *keys, size_t i,
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

/* Computes the positions of the probes first .. end - 1 of n keys. */
static inline __attribute__((always_inline)) void
locate(const struct stepping *stepping, const enum sums sums, const uint8_t *hashes,
       const uint16_t *keys, size_t n, uint32_t first, uint32_t end, struct round *round)
{
  for (size_t i = 0; i < n; i += LANES64) {
    vector low, high;
    load_hashes(hashes, keys, i, n, &low, &high);
    struct state state = begin(stepping, sums, low, high, first);
    for (uint32_t p = 0; p < end - first; p++)
      store_aligned(&round->positions[p][i], advance(stepping, sums, &state));
  }
}

static inline bool has_bit(const uint8_t *payload, uint64_t position)
{
  return payload[position / 8] >> position % 8 & 1;
}

/* The function is always inlined, because gcc 12 removes calls of a function that only
 * prefetches. */
static inline __attribute__((always_inline)) void fetch_bit(const uint8_t *payload,
                                                            uint64_t position)
{
  __builtin_prefetch(payload + position / 8, 0, 2);
}

/* ---- Tests ---- */

/* Tests one probe of n slots, and lists the slots that pass. Returns their number. If slots is
 * NULL, all n slots are tested. `passed` may be `slots`, because stores never pass the loads. */
static inline __attribute__((always_inline)) size_t test_one(const uint8_t *payload,
                                                             const uint64_t *positions,
                                                             const uint16_t *slots, size_t n,
                                                             uint16_t *passed, const bool far)
{
  size_t npassed = 0;
  for (size_t i = 0; far && i < n && i < AHEAD; i++)
    fetch_bit(payload, positions[slots ? slots[i] : i]);
  for (size_t i = 0; i < n; i++) {
    if (far && i + AHEAD < n)
      fetch_bit(payload, positions[slots ? slots[i + AHEAD] : i + AHEAD]);
    const uint16_t slot = slots ? slots[i] : (uint16_t)i;
    passed[npassed] = slot;
    npassed += has_bit(payload, positions[slot]);
  }
  return npassed;
}

/* Tests nprobes probes of all n slots, and lists the slots that pass all of them. */
static inline __attribute__((always_inline)) size_t test_together(const uint8_t *payload,
                                                                  struct round *round,
                                                                  uint32_t nprobes, size_t n,
                                                                  const bool far)
{
  size_t npassed = 0;
  for (size_t i = 0; far && i < n && i < AHEAD_TOGETHER; i++)
    for (uint32_t p = 0; p < nprobes; p++)
      fetch_bit(payload, round->positions[p][i]);
  for (size_t i = 0; i < n; i++) {
    bool passes = true;
    for (uint32_t p = 0; p < nprobes; p++) {
      if (far && i + AHEAD_TOGETHER < n)
        fetch_bit(payload, round->positions[p][i + AHEAD_TOGETHER]);
      passes &= has_bit(payload, round->positions[p][i]);
    }
    round->slots[npassed] = (uint16_t)i;
    npassed += passes;
  }
  return npassed;
}

/* Tests the probes of a round one after another. */
static inline __attribute__((always_inline)) size_t test_in_turn(const uint8_t *payload,
                                                                 struct round *round,
                                                                 uint32_t nprobes, size_t n,
                                                                 const bool far)
{
  n = test_one(payload, round->positions[0], NULL, n, round->slots, far);
  for (uint32_t p = 1; p < nprobes && n > 0; p++)
    n = test_one(payload, round->positions[p], round->slots, n, round->slots, far);
  return n;
}

/* Probes n keys of a block. Returns the number of hits. */
static inline __attribute__((always_inline)) size_t
probe_block(const struct stepping *stepping, const enum sums sums, const uint8_t *hashes, size_t n,
            const bool far, bool most_hit, struct round *round, uint8_t *bitmap)
{
  const uint16_t *keys = NULL;
  memset(bitmap, 0, (n + 7) / 8);
  for (uint32_t first = 0, end; first < stepping->nprobes && n > 0; first = end) {
    end = stepping->nprobes - first < ROUND_NPROBES ? stepping->nprobes : first + ROUND_NPROBES;
    locate(stepping, sums, hashes, keys, n, first, end, round);
    n = most_hit ? test_together(stepping->payload, round, end - first, n, far)
                 : test_in_turn(stepping->payload, round, end - first, n, far);
    for (size_t i = 0; i < n; i++)
      round->keys[i] = keys ? keys[round->slots[i]] : round->slots[i];
    keys = round->keys;
  }
  for (size_t i = 0; i < n; i++)
    bitmap[keys[i] / 8] |= (uint8_t)(1 << keys[i] % 8);
  return n;
}

static inline __attribute__((always_inline)) void probe_blocks(const struct stepping *stepping,
                                                               const enum sums sums,
                                                               struct hash_source *source,
                                                               uint8_t *bitmap, const bool far)
{
  struct round round;
  bool most_hit = false;
  for (size_t n, first = 0; first < source->n; first += n) {
    const uint8_t *hashes = hash_source_next(source, STEPS_BLOCK_NKEYS, &n);
    if (far && !source->keys)
      hash_source_fetch(source, STEPS_BLOCK_NKEYS);
    const size_t nhits =
        probe_block(stepping, sums, hashes, n, far, most_hit, &round, bitmap + first / 8);
    most_hit = nhits * 100 > n * MOST_PERCENT;
  }
}

/* ---- Adding ---- */

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
      locate(stepping, sums, hashes, NULL, n, first, end, &round);
      for (uint32_t p = 0; p < end - first; p++)
        for (size_t i = 0; i < n; i++) {
          if (far && i + AHEAD < n)
            fetch_bit(payload, round.positions[p][i + AHEAD]);
          const uint64_t position = round.positions[p][i];
          payload[position / 8] |= (uint8_t)(1 << position % 8);
        }
    }
  }
}

/* ---- Layouts ---- */

static inline __attribute__((always_inline)) void
steps_probe(const struct filter_shape *shape, const uint8_t *payload, const enum sums sums,
            bool is_swapped, bool is_big_endian, struct hash_source *source, uint8_t *bitmap)
{
  const struct stepping stepping = stepping_of(shape, payload, sums, is_swapped, is_big_endian);
  if (shape->nbytes > STEPS_NEAR_NBYTES)
    probe_blocks(&stepping, sums, source, bitmap, true);
  else
    probe_blocks(&stepping, sums, source, bitmap, false);
}

static inline __attribute__((always_inline)) void steps_add(const struct filter_shape *shape,
                                                            uint8_t *payload, const enum sums sums,
                                                            bool is_swapped, bool is_big_endian,
                                                            struct hash_source *source)
{
  const struct stepping stepping = stepping_of(shape, payload, sums, is_swapped, is_big_endian);
  if (shape->nbytes > STEPS_NEAR_NBYTES)
    add_blocks(&stepping, sums, payload, source, true);
  else
    add_blocks(&stepping, sums, payload, source, false);
}

void KERNEL(guava_32_probe)(const struct filter_shape *shape, const uint8_t *payload,
                            struct hash_source *source, uint8_t *bitmap)
{
  steps_probe(shape, payload, SUMS_32, false, true, source, bitmap);
}

void KERNEL(guava_64_probe)(const struct filter_shape *shape, const uint8_t *payload,
                            struct hash_source *source, uint8_t *bitmap)
{
  steps_probe(shape, payload, SUMS_63, false, true, source, bitmap);
}

void KERNEL(cassandra_probe)(const struct filter_shape *shape, const uint8_t *payload,
                             struct hash_source *source, uint8_t *bitmap)
{
  steps_probe(shape, payload, SUMS_64, shape->cassandra.is_swapped, shape->cassandra.is_big_endian,
              source, bitmap);
}

void KERNEL(guava_32_add)(const struct filter_shape *shape, uint8_t *payload,
                          struct hash_source *source)
{
  steps_add(shape, payload, SUMS_32, false, true, source);
}

void KERNEL(guava_64_add)(const struct filter_shape *shape, uint8_t *payload,
                          struct hash_source *source)
{
  steps_add(shape, payload, SUMS_63, false, true, source);
}

void KERNEL(cassandra_add)(const struct filter_shape *shape, uint8_t *payload,
                           struct hash_source *source)
{
  steps_add(shape, payload, SUMS_64, shape->cassandra.is_swapped, shape->cassandra.is_big_endian,
            source);
}
