/* Probes and adds to DCSO's filters. A lane holds a key, and a step does one probe of each key.
 *
 * The steps of a hash are a chain (src/layouts/dcso.h), but as long as none of them reaches the
 * prime, step i is the product of the hash and a power of the multiplier, so that no step waits for
 * another. Only 59 of 2^64 values reach the prime. They are among the values whose upper half has
 * all bits set, and scalar code repeats what lanes did if a step has such a value.
 *
 * Most absent keys fail one of their first probes. So each pass tests one probe of all keys that
 * are left, and then the keys that have passed are moved together.
 * SPDX-License-Identifier: MIT */
#include "../layouts/dcso.h"
#include "lanes.h"
#include "words.h"

enum {
  STEP_NKEYS = 16, /* fills whole registers of any instruction set */
  DCSO_BLOCK_NKEYS = BLOCK_NBYTES / sizeof(uint64_t),

  /* The number of steps between locating bits and testing them. */
  AHEAD = 7,
  AHEAD_FAR = 63,
  RING_NSTEPS = AHEAD_FAR + 1,
  RING_NBITS = RING_NSTEPS * STEP_NKEYS,

  /* If more than MOST_PERCENT of the keys of a block were hits, a pass of the next block tests
   * MANY_NPROBES probes. If more than MANY_PERCENT of the keys of a pass survive, or fewer than
   * FEW_SURVIVORS keys are left, the next pass does so, too, unless the filter is far: there, each
   * probe that is not needed costs a cache miss. */
  MOST_PERCENT = 60,
  MANY_PERCENT = 80,
  FEW_SURVIVORS = 64,
  MANY_NPROBES = 8,

  DCSO_NEAR_NBYTES = 4 << 20, /* a filter is far, and its lines are prefetched, if it is larger */

  MAX_ADDED_NPROBES = 32, /* scalar code adds to filters with more probes */
};

static inline mask64 no_lanes(void)
{
  return equal64(splat64(0), splat64(1));
}

/* ---- Positions ---- */

/* The filter, in the form that lanes need. */
struct lookup {
  const uint8_t *payload;
  uint32_t nprobes;
  uint64_t nbits, reciprocal;
  uint64_t powers[DCSO_MAX_NPROBES]; /* of the multiplier, from the first on */
};

static inline void lookup_of(const struct filter_shape *shape, const uint8_t *payload,
                             struct lookup *lookup)
{
  lookup->payload = payload;
  lookup->nprobes = shape->nprobes;
  lookup->nbits = shape->nbits;
  lookup->reciprocal = shape->dcso.reciprocal;
  uint64_t power = 1;
  for (uint32_t i = 0; i < shape->nprobes; i++)
    lookup->powers[i] = power *= DCSO_MULTIPLIER;
}

/* Returns the lanes whose upper half has all bits set. */
static inline mask64 may_reach_prime(words steps)
{
  return equal64((vector)(steps >> 32), splat64(UINT32_MAX));
}

/* Computes the quotients of steps and nbits, which are too low by 3 at most. A quotient is the high
 * half of the product with the reciprocal, or one more. The lowest of the four products of halves
 * is left out, and each of the two sums of the middle ones is rounded down. */
static inline words quotients_of(const struct lookup *lookup, words steps)
{
  const vector low = splat64(lookup->reciprocal & UINT32_MAX),
               high = splat64(lookup->reciprocal >> 32);
  const vector upper = (vector)(steps >> 32);
  return (words)mul_even32(upper, high) + ((words)mul_even32(upper, low) >> 32) +
         ((words)mul_even32((vector)steps, high) >> 32);
}

/* Computes steps % nbits. */
static inline vector positions_of(const struct lookup *lookup, words steps)
{
  const vector rests = (vector)(steps - quotients_of(lookup, steps) * lookup->nbits);
  return subtract_if_positive64(subtract_if_positive64(rests, splat64(2 * lookup->nbits)),
                                splat64(lookup->nbits));
}

/* Computes steps % nbits of LANES32 keys, for filters of less than 2^30 bits. Then the rests are
 * below 2^32, so that only the lower halves of steps and quotients are needed. */
static inline vector narrow_positions_of(const struct lookup *lookup, const words steps[2])
{
  const vector quotients =
      unzip_even32((vector)quotients_of(lookup, steps[0]), (vector)quotients_of(lookup, steps[1]));
  const uint32_t nbits = (uint32_t)lookup->nbits;
  const vector rests =
      sub32(unzip_even32((vector)steps[0], (vector)steps[1]), mul_low32(quotients, splat32(nbits)));
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

/* Locates the bits of probe p of STEP_NKEYS hashes. Returns the lanes that may reach the prime. */
static inline __attribute__((always_inline)) mask64 locate(const struct lookup *lookup,
                                                           const uint8_t *hashes, uint32_t p,
                                                           const enum range range,
                                                           struct bits *bits, size_t at)
{
  mask64 odd = no_lanes();
#pragma GCC unroll 4
  for (size_t i = 0; i < STEP_NKEYS; i += LANES32) {
    words steps[2];
    for (size_t half = 0; half < 2; half++) {
      const words hash = (words)load(hashes + (i + half * LANES64) * sizeof(uint64_t));
      steps[half] = hash * lookup->powers[p];
      odd |= may_reach_prime(steps[half]);
      if (p == 0)
        odd |= may_reach_prime(hash);
    }
    if (range == NARROW) {
      const vector positions = narrow_positions_of(lookup, steps);
      store(bits->bytes + at + i, shift_right32(positions, 3));
      store_masks8(bits->masks + at + i, positions);
      continue;
    }
    const vector lower = positions_of(lookup, steps[0]), upper = positions_of(lookup, steps[1]);
    if (range == WIDE) {
      store(bits->positions + at + i, lower);
      store(bits->positions + at + i + LANES64, upper);
    } else {
      const vector bytes = unzip_even32(shift_right64(lower, 3), shift_right64(upper, 3));
      store(bits->bytes + at + i, unzipped(bytes));
      store_masks8(bits->masks + at + i, unzipped(unzip_even32(lower, upper)));
    }
  }
  return odd;
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

/* Tests probes first .. end - 1 of n hashes, which are readable in whole steps, and stores a bit
 * for each hash; bits past n become 0. Returns true if a step may reach the prime. The ring holds
 * the bits of the next steps, which are located some steps before they are tested: a load that
 * comes soon after a store of another size would wait for it, and lines of a far filter take
 * long. */
static inline __attribute__((always_inline)) bool
test(const struct lookup *lookup, const uint8_t *hashes, size_t n, uint32_t first, uint32_t end,
     const bool far, const enum range range, struct bits *ring, uint8_t *bitmap)
{
  const size_t nsteps = (n + STEP_NKEYS - 1) / STEP_NKEYS * (end - first);
  const size_t ahead = far ? AHEAD_FAR : AHEAD;
  mask64 odd = no_lanes();
  const uint8_t *next = hashes;
  uint32_t next_p = first;
  size_t nlocated = 0, ntested = 0;
  for (size_t i = 0; i < n; i += STEP_NKEYS) {
    unsigned set = ~0u;
    for (uint32_t p = first; p < end; p++, ntested++) {
      for (; nlocated < nsteps && nlocated <= ntested + ahead; nlocated++) {
        const size_t at = nlocated % RING_NSTEPS * STEP_NKEYS;
        odd |= locate(lookup, next, next_p, range, ring, at);
        if (far)
          prefetch_step(lookup->payload, range, ring, at);
        if (++next_p == end) {
          next_p = first;
          next += STEP_NKEYS * sizeof(uint64_t);
        }
      }
      set &= test_step(lookup->payload, range, ring, ntested % RING_NSTEPS * STEP_NKEYS);
    }
    bitmap[i / 8] = (uint8_t)set;
    bitmap[i / 8 + 1] = (uint8_t)(set >> 8);
  }
  if (n % STEP_NKEYS != 0) {
    bitmap[n / 8] &= (uint8_t)((1 << n % 8) - 1);
    if (n % STEP_NKEYS < 8)
      bitmap[n / 8 + 1] = 0;
  }
  return mask_bits64(odd) != 0;
}

/* ---- Compaction ---- */

/* The keys of a block that have passed all probes so far: their hashes, and their indices in the
 * block. The arrays have room for one more step, because stores write whole registers and loads
 * read whole steps. */
struct survivors {
  _Alignas(CACHE_LINE_NBYTES) uint64_t hashes[DCSO_BLOCK_NKEYS + STEP_NKEYS];
  _Alignas(CACHE_LINE_NBYTES) uint32_t indices[DCSO_BLOCK_NKEYS + STEP_NKEYS];
};

/* Repeats each of the LANES64 lowest bits. */
static inline unsigned twice_each(unsigned bits)
{
  bits = (bits | bits << 4) & 0x0f0f;
  bits = (bits | bits << 2) & 0x3333;
  bits = (bits | bits << 1) & 0x5555;
  return 3 * bits;
}

/* Moves the keys whose bit is set to `survivors`, side by side, and appends hashes of 0 that fill
 * up the last step. Returns the number of survivors. `indices` has the indices of the keys in the
 * block, or is NULL if the keys are the whole block. `hashes` and `indices` may be the arrays of
 * `survivors`, because stores never pass the loads. */
static inline size_t compact(const uint8_t *bitmap, const uint8_t *hashes, const uint32_t *indices,
                             size_t n, struct survivors *survivors)
{
  vector index = iota32();
  size_t nsurvivors = 0;
  for (size_t i = 0; i < n; i += LANES32) {
    if (indices)
      index = load(indices + i);
    const unsigned byte = bitmap[i / 8],
                   mask = LANES32 == 16 ? byte | (unsigned)bitmap[i / 8 + 1] << 8 : byte,
                   lower = mask & ((1u << LANES64) - 1), upper = mask >> LANES64;
    const vector first = load(hashes + i * sizeof(uint64_t)),
                 second = load(hashes + (i + LANES64) * sizeof(uint64_t));
    uint64_t *const to = survivors->hashes + nsurvivors;
    const size_t nfirst = store_chosen32((uint32_t *)to, first, twice_each(lower)) / 2;
    store_chosen32((uint32_t *)(to + nfirst), second, twice_each(upper));
    nsurvivors += store_chosen32(survivors->indices + nsurvivors, index, mask);
    if (!indices)
      index = add32(index, splat32(LANES32));
  }
  memset(survivors->hashes + nsurvivors, 0, STEP_NKEYS * sizeof(uint64_t));
  return nsurvivors;
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

/* Probes a block. Sets *nhits to the number of hits. Returns false, and stores no result, if a step
 * may have reached the prime. */
static inline __attribute__((always_inline)) bool
probe_block(const struct lookup *lookup, const uint8_t *hashes, size_t n, bool most_hit,
            const bool far, const enum range range, struct bits *bits, struct survivors *survivors,
            uint8_t *bitmap, size_t *nhits)
{
  uint8_t passed[DCSO_BLOCK_NKEYS / 8 + 2];
  const uint32_t *indices = NULL;
  const uint32_t nprobes = lookup->nprobes;
  size_t left = n;
  bool many = most_hit;
  for (uint32_t first = 0, end; first < nprobes && left > 0; first = end) {
    const size_t ntested = left;
    const uint32_t most = nprobes - first;
    end = first + (!many ? 1 : most < MANY_NPROBES ? most : MANY_NPROBES);
    const bool odd =
        many ? test(lookup, hashes, ntested, first, end, far, range, bits, passed)
             : test(lookup, hashes, ntested, first, first + 1, far, range, bits, passed);
    if (__builtin_expect(odd, false))
      return false;
    left = compact(passed, hashes, indices, ntested, survivors);
    hashes = (const uint8_t *)survivors->hashes;
    indices = survivors->indices;
    many = most_hit || (!(far && n == DCSO_BLOCK_NKEYS) &&
                        (left * 100 > ntested * MANY_PERCENT || left < FEW_SURVIVORS));
  }
  memset(bitmap, 0, (n + 7) / 8);
  for (size_t i = 0; i < left; i++)
    bitmap[survivors->indices[i] / 8] |= (uint8_t)(1 << survivors->indices[i] % 8);
  *nhits = left;
  return true;
}

static inline __attribute__((always_inline)) void
probe_blocks(const struct filter_shape *shape, const uint8_t *payload, struct hash_source *source,
             const bool far, const enum range range, uint8_t *bitmap)
{
  struct lookup lookup;
  struct bits bits;
  struct survivors survivors;
  bool most_hit = false;
  lookup_of(shape, payload, &lookup);
  for (size_t n, nhits = 0, first = 0; first < source->n; first += n, bitmap += n / 8) {
    const uint8_t *hashes = hash_source_next(source, DCSO_BLOCK_NKEYS, &n), *whole = hashes;
    if (!source->keys && far)
      hash_source_fetch(source, DCSO_BLOCK_NKEYS);
    if (n % STEP_NKEYS != 0) {
      memcpy(survivors.hashes, hashes, n * sizeof(uint64_t));
      memset(survivors.hashes + n, 0, STEP_NKEYS * sizeof(uint64_t));
      whole = (const uint8_t *)survivors.hashes;
    }
    if (!probe_block(&lookup, whole, n, most_hit, far, range, &bits, &survivors, bitmap, &nhits))
      probe_in_scalar(shape, payload, hashes, n, bitmap);
    most_hit = nhits * 100 > n * MOST_PERCENT;
  }
}

/* These functions are not inlined, so that each has its own registers. */
static __attribute__((noinline)) void probe_near(const struct filter_shape *shape,
                                                 const uint8_t *payload, struct hash_source *source,
                                                 uint8_t *bitmap)
{
  probe_blocks(shape, payload, source, false, NARROW, bitmap);
}

static __attribute__((noinline)) void probe_far(const struct filter_shape *shape,
                                                const uint8_t *payload, struct hash_source *source,
                                                uint8_t *bitmap)
{
  probe_blocks(shape, payload, source, true, MEDIUM, bitmap);
}

static __attribute__((noinline)) void probe_wide(const struct filter_shape *shape,
                                                 const uint8_t *payload, struct hash_source *source,
                                                 uint8_t *bitmap)
{
  probe_blocks(shape, payload, source, true, WIDE, bitmap);
}

void KERNEL(dcso_probe)(const struct filter_shape *shape, const uint8_t *payload,
                        struct hash_source *source, uint8_t *bitmap)
{
  const bool far = shape->nbytes > DCSO_NEAR_NBYTES;
  if (far && source->n <= FEW_SCREENED_FAR)
    lanebloom_dcso_probe_scalar(shape, payload, source, bitmap);
  else if (!far)
    probe_near(shape, payload, source, bitmap);
  else if (shape->nbytes <= UINT32_MAX)
    probe_far(shape, payload, source, bitmap);
  else
    probe_wide(shape, payload, source, bitmap);
}

/* ---- Adding ---- */

/* The positions of STEP_NKEYS hashes, one row for each probe. */
struct positions {
  _Alignas(CACHE_LINE_NBYTES) uint64_t rows[MAX_ADDED_NPROBES][STEP_NKEYS];
};

/* Computes the positions of n hashes, at most STEP_NKEYS. */
static inline void locate_added(const struct lookup *lookup, const uint8_t *hashes, size_t n,
                                struct positions *positions)
{
  uint64_t filled[STEP_NKEYS];
  mask64 odd = no_lanes();
  if (n < STEP_NKEYS) {
    memset(filled, 0, sizeof filled);
    memcpy(filled, hashes, n * sizeof(uint64_t));
    hashes = (const uint8_t *)filled;
  }
  for (size_t i = 0; i < STEP_NKEYS; i += LANES64) {
    const words hash = (words)load(hashes + i * sizeof(uint64_t));
    odd |= may_reach_prime(hash);
    for (uint32_t p = 0; p < lookup->nprobes; p++) {
      const words steps = hash * lookup->powers[p];
      odd |= may_reach_prime(steps);
      store(positions->rows[p] + i, positions_of(lookup, steps));
    }
  }
  for (size_t i = 0; mask_bits64(odd) != 0 && i < n; i++) {
    uint64_t step = dcso_reduced(hash64_at(hashes, i));
    for (uint32_t p = 0; p < lookup->nprobes; p++) {
      step = dcso_next(step);
      positions->rows[p][i] = step % lookup->nbits;
    }
  }
}

/* Sets the bits of n hashes, in their order. Returns how many of them set a new bit. */
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

/* Adds the hashes in their order, because the count of those that set a new bit depends on it. The
 * lines of each step are prefetched while the bits of the step before it are set. */
void KERNEL(dcso_add)(const struct filter_shape *shape, uint8_t *payload,
                      struct hash_source *source)
{
  if (shape->nprobes > MAX_ADDED_NPROBES) {
    lanebloom_dcso_add_scalar(shape, payload, source);
    return;
  }
  const bool far = shape->nbytes > DCSO_NEAR_NBYTES;
  struct lookup lookup;
  struct positions positions[2];
  lookup_of(shape, payload, &lookup);
  for (size_t n; source->next < source->n;) {
    const uint8_t *hashes = hash_source_next(source, DCSO_BLOCK_NKEYS, &n);
    size_t nbefore = 0;
    for (size_t i = 0, turn = 0; i < n; i += STEP_NKEYS, turn ^= 1) {
      const size_t nkeys = n - i < STEP_NKEYS ? n - i : STEP_NKEYS;
      locate_added(&lookup, hashes + i * sizeof(uint64_t), nkeys, &positions[turn]);
      for (uint32_t p = 0; far && p < shape->nprobes; p++)
        for (size_t k = 0; k < nkeys; k++)
          __builtin_prefetch(payload + positions[turn].rows[p][k] / 8, 0, 2);
      source->nnew += set_added(payload, shape->nprobes, &positions[turn ^ 1], nbefore);
      nbefore = nkeys;
    }
    const size_t last = (n - 1) / STEP_NKEYS % 2;
    source->nnew += set_added(payload, shape->nprobes, &positions[last], nbefore);
  }
}
