/* Probing a filter of LevelDB's layout: what is the same for all lanes. A register is done when its
 * last key is, so early exit needs compaction: keys that pass a probe, the survivors, move together
 * and fill whole registers for the next probe. Each pass goes over its keys twice: it tests all of
 * them first and stores a bit of each, and moves survivors then. Where they move to depends on the
 * tests, so in one loop every later load would wait for such a store to know its address.
 *
 * Before this, the file that includes it defines `found`, what gather() below returns, besides what
 * leveldb.h wants.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_LEVELDB_PROBE_H
#define LANEBLOOM_LANES_LEVELDB_PROBE_H

#include "../scalar/scalar.h"
#include "leveldb.h"

enum {
  STEP_NKEYS = 16, /* whole registers of any instruction set */

  /* AVX-512 on Xeon, 256 KiB, no key passes, ns per key: 1024 hashes 1.25, 2048 1.18. */
  LEVELDB_BLOCK_NKEYS = BLOCK_NBYTES / sizeof(uint32_t),
  /* Of a block of which most keys are expected to pass: they stay beside a filter of 16 KiB in the
   * first-level cache (AVX-512 on Zen 4: 256 keys 2.53, 1024 2.69). */
  SMALL_BLOCK_NKEYS = 256,

  /* Keys of the next block that are prefetched before this one is tested. The CPU fetches the
   * others by itself, and waits where more lines are requested at once than it has buffers for
   * (AVX-512 on Xeon, 8-byte keys, none passes, 16 and 256 KiB: 2048 keys 1.08 and 1.48 ns, 256
   * keys 0.98 and 1.37). */
  FETCHED_NKEYS = 256,

  /* Percent of a block's keys. Where more are hits, testing all probes of all keys of the next
   * block is best: compaction costs instructions and saves loads, so the farther the filter, the
   * more hits it takes until it does not pay. */
  MOST_PERCENT = 60,
  MOST_PERCENT_TINY = 40,
  TINY_NBYTES = 32 << 10, /* a first-level cache, where loads cost least */
  MOST_PERCENT_FAR = 87,

  /* When a pass leaves more percent of its keys, or fewer keys, one more pass for all remaining
   * probes is best (AVX-512 on Xeon, 256 KiB, no key passes, calls of 256 keys: 128 survivors 1.91
   * ns, 64 1.58). Not in whole blocks if lines are far: each line that a failing key does not need
   * costs more than a pass (AVX-512 on Xeon, 16 MiB, no key passes, 6 and 10 probes: one more pass
   * 6.75 and 9.60 ns, probe by probe 6.17 and 6.97). */
  MANY_PERCENT = 80,
  FEW_SURVIVORS = 64,

  /* So few keys take a single pass, because the next one would wait for loads again (AVX-512 on
   * Xeon, 256 KiB, no key passes, calls of 32 keys: one pass 3.6 ns, two 3.9; AVX2, 16 MiB, 12
   * keys: 48 and 58). */
  ONE_PASS_NKEYS = 32,
  ONE_PASS_NKEYS_FAR = 15,

  /* Fewer go to scalar if lines are far, because a CPU overlaps calls of few instructions (AVX-512
   * on Xeon, 16 MiB, no key passes, calls of 8 keys: scalar 42 ns, lanes 50). */
  MIN_NKEYS_FAR = 12,

  /* Up to here prefetching costs more than it saves (AVX2 on Zen 4, no key passes, ns per key
   * without and with it: 4 MiB 3.2, 4.1; 16 MiB 10.0, 4.2). */
  LEVELDB_NEAR_NBYTES = 4 << 20,
  /* From here on lines are prefetched at once: the lag below costs more than it saves (AVX-512 on
   * Xeon, 256 MiB, no and all keys pass: at once 18.9 and 49 ns, a step later 20.3 and 55). */
  AT_ONCE_NBYTES = 64 << 20,

  /* Steps between locating bits and loading their bytes (AVX-512 on Zen 4, no key passes, 16 KiB,
   * 16 and 256 MiB: 3 steps 0.95, 5.7, 10.7; 7: 0.98, 4.6, 11.1; 15: 16 MiB 4.5, 256 MiB 12.5). */
  AHEAD = 7,
  RING_NSTEPS = AHEAD + 1,
};

/* Smaller ones go to scalar, because NEON takes the bytes of probes modulo two at least. */
enum { MIN_NBYTES = 2 };

/* What lanes need to know of a filter. */
struct probed {
  const uint8_t *payload;
  uint32_t nprobes;
  bool is_far;  /* its cache lines are prefetched */
  bool at_once; /* as soon as they are located */
  struct modulus modulus;

  /* For gathers: the dword in which the payload begins, and where in that, in bits. No dword lies
   * in two cache lines, or in a page without a byte of the payload. */
  const uint8_t *dwords;
  uint32_t first_bit;
};

/* Keys of a block that have passed all probes so far: their hashes, and their indices in the block.
 * Stores take whole registers, and loads whole steps. */
struct survivors {
  _Alignas(CACHE_LINE_NBYTES) uint32_t hashes[LEVELDB_BLOCK_NKEYS + STEP_NKEYS];
  _Alignas(CACHE_LINE_NBYTES) uint32_t indices[LEVELDB_BLOCK_NKEYS + STEP_NKEYS];
};

/* What an instruction set does for probing: inline functions, in a constant. */
struct leveldb_probe_vocabulary {
  const struct leveldb_arithmetic *arithmetic;

  /* Bit j: whether bit i + j of these is set in the payload, for STEP_NKEYS of them. */
  unsigned (*test_bits)(const uint8_t *payload, const struct bits *bits, size_t i);

  /* The same for LANES probes of a filter that is not far, without a way through memory. NULL:
   * test_bits is faster. `found` has the tested bits somewhere; `both` is set where both are;
   * store_mask stores LANES bits, the first lane's lowest. */
  found (*gather)(const struct probed *filter, lanes probes);
  found (*both)(found a, found b);
  void (*store_mask)(uint8_t *bitmap, found gathered);

  /* Moves the keys of a mask together behind nsurvivors others. Returns how many there are then. */
  size_t (*append)(struct survivors *survivors, size_t nsurvivors, lanes hashes, lanes indices,
                   unsigned mask);
};

/* ---- Bits of keys, as in the bitmap ---- */

/* Of LANES keys from i on, a multiple of LANES. */
static inline unsigned mask_at(const uint8_t *bitmap, size_t i)
{
  if (LANES == 16)
    return bitmap[i / 8] | (unsigned)bitmap[i / 8 + 1] << 8;
  return (unsigned)bitmap[i / 8] >> i % 8 & ((1u << LANES) - 1);
}

static inline size_t count_hits(const uint8_t *bitmap, size_t n)
{
  size_t nhits = 0;
  for (size_t i = 0; i < n; i += 8)
    nhits += (unsigned)__builtin_popcount(bitmap[i / 8]);
  return nhits;
}

static inline void mark_hits(const uint32_t *indices, size_t nhits, size_t n, uint8_t *bitmap)
{
  memset(bitmap, 0, (n + 7) / 8);
  for (size_t i = 0; i < nhits; i++)
    bitmap[indices[i] / 8] |= (uint8_t)(1 << indices[i] % 8);
}

/* ---- Probes of a step ---- */

static inline __attribute__((always_inline)) lanes
probes_of(const struct leveldb_arithmetic *arithmetic, lanes hashes, lanes strides, uint32_t p)
{
  return p == 0 ? hashes : arithmetic->sum(hashes, arithmetic->times(strides, p));
}

/* ---- Testing by gathers ---- */

/* Do probes first .. end of LANES hashes find their bits? */
static inline __attribute__((always_inline)) void
gather_probes(const struct probed *filter, const struct leveldb_probe_vocabulary *probing,
              const uint8_t *hashes, uint32_t first, uint32_t end, uint8_t *bitmap)
{
  const struct leveldb_arithmetic *arithmetic = probing->arithmetic;
  const lanes hash = arithmetic->load(hashes), strides = arithmetic->strides(hash);
  lanes probes = probes_of(arithmetic, hash, strides, first);
  found passed = probing->gather(filter, probes);
  for (uint32_t p = first + 1; p < end; p++) {
    probes = arithmetic->sum(probes, strides);
    passed = probing->both(passed, probing->gather(filter, probes));
  }
  probing->store_mask(bitmap, passed);
}

static inline __attribute__((always_inline)) void
test_by_gathers(const struct probed *filter, const struct leveldb_probe_vocabulary *probing,
                const uint8_t *hashes, size_t n, uint32_t first, uint32_t end, uint8_t *bitmap)
{
  for (size_t i = 0; i < n; i += LANES)
    gather_probes(filter, probing, hashes + i * sizeof(uint32_t), first, end, bitmap + i / 8);
}

/* ---- Testing by loads ---- */

/* What is to be located next: probe p of the step of keys at i. */
struct next_step {
  size_t i;
  uint32_t p;
  lanes probes[STEP_NKEYS / LANES], strides[STEP_NKEYS / LANES];
};

/* Probe p of the keys at i; of the first ones where there are none. */
static inline __attribute__((always_inline)) struct next_step
begin_step(const struct leveldb_arithmetic *arithmetic, const uint8_t *hashes, size_t i, size_t n,
           uint32_t p)
{
  struct next_step next = {.i = i, .p = p};
  const uint8_t *step = hashes + (i < n ? i : 0) * sizeof(uint32_t);
#pragma GCC unroll 4
  for (size_t j = 0; j < STEP_NKEYS / LANES; j++) {
    const lanes hash = arithmetic->load(step + j * LANES * sizeof(uint32_t));
    next.strides[j] = arithmetic->strides(hash);
    next.probes[j] = probes_of(arithmetic, hash, next.strides[j], p);
  }
  return next;
}

/* Locates the bits of a step, as elements `at` and following, and goes on to the next one: from
 * probe `first` to `end`, then to the next keys. */
static inline __attribute__((always_inline)) void
locate_step(struct next_step *next, const struct probed *filter,
            const struct leveldb_arithmetic *arithmetic, const uint8_t *hashes, size_t n,
            uint32_t first, uint32_t end, struct bits *bits, size_t at)
{
#pragma GCC unroll 4
  for (size_t j = 0; j < STEP_NKEYS / LANES; j++) {
    const lanes positions = arithmetic->positions(next->probes[j], &filter->modulus);
    arithmetic->put_bits(bits, at + j * LANES, positions);
    next->probes[j] = arithmetic->sum(next->probes[j], next->strides[j]);
  }
  if (++next->p == end)
    *next = begin_step(arithmetic, hashes, next->i + STEP_NKEYS, n, first);
}

/* Into the second-level cache (Zen 4, 16 and 256 MiB, no key passes: first level 22 and 26 ns,
 * second 9.8 and 12.1). Always inline: gcc 12 drops calls of a function that only prefetches. */
static inline __attribute__((always_inline)) void prefetch_step(const uint8_t *payload,
                                                                const struct bits *bits, size_t at)
{
#pragma GCC unroll 16
  for (size_t j = 0; j < STEP_NKEYS; j++)
    __builtin_prefetch(payload + bits->bytes[at + j], 0, 2);
}

/* Bits go through a ring: a step is located, and AHEAD steps later its bytes are loaded. Loads of
 * what was stored just before in another size wait, so it is prefetched one step after it is
 * located (AVX-512 on Xeon, no key passes, 16 MiB: at once 7.6 ns, a step later 6.8). */
static inline __attribute__((always_inline)) void
test_by_loads(const struct probed *filter, const struct leveldb_probe_vocabulary *probing,
              const uint8_t *hashes, size_t n, uint32_t first, uint32_t end, uint8_t *bitmap)
{
  enum { NEXT = AHEAD * STEP_NKEYS };
  enum { RING_NBITS = RING_NSTEPS * STEP_NKEYS };
  const size_t fetched = filter->at_once ? NEXT : NEXT - STEP_NKEYS;
  struct bits ring;
  struct next_step next = begin_step(probing->arithmetic, hashes, 0, n, first);
  for (size_t at = 0; at < NEXT; at += STEP_NKEYS) {
    locate_step(&next, filter, probing->arithmetic, hashes, n, first, end, &ring, at);
    if (filter->is_far && at < fetched)
      prefetch_step(filter->payload, &ring, at);
  }
  size_t at = 0;
  for (size_t i = 0; i < n; i += STEP_NKEYS) {
    unsigned mask = ~0u;
    for (uint32_t p = first; p < end; p++, at = (at + STEP_NKEYS) % RING_NBITS) {
      locate_step(&next, filter, probing->arithmetic, hashes, n, first, end, &ring,
                  (at + NEXT) % RING_NBITS);
      if (filter->is_far)
        prefetch_step(filter->payload, &ring, (at + fetched) % RING_NBITS);
      mask &= probing->test_bits(filter->payload, &ring, at);
    }
    bitmap[i / 8] = (uint8_t)mask;
    bitmap[i / 8 + 1] = (uint8_t)(mask >> 8);
  }
}

/* ---- Compaction ---- */

/* Tests probes first .. end of n keys: a bit of each. Hashes are read in whole steps, and other
 * bits of the last step become 0: copying the hashes of such a step, pass by pass, takes long
 * (AVX-512 on Xeon, 256 KiB, no key passes: 1.20 ns with copies, 1.12 without). */
static inline __attribute__((always_inline)) void
test(const struct probed *filter, const struct leveldb_probe_vocabulary *probing,
     const uint8_t *hashes, size_t n, uint32_t first, uint32_t end, uint8_t *bitmap)
{
  if (probing->gather && !filter->is_far)
    test_by_gathers(filter, probing, hashes, n, first, end, bitmap);
  else
    test_by_loads(filter, probing, hashes, n, first, end, bitmap);
  if (n % STEP_NKEYS != 0) {
    bitmap[n / 8] &= (uint8_t)((1 << n % 8) - 1);
    bitmap[n / 8 + 1] = 0;
  }
}

/* Moves the keys whose bit is set together, followed by hashes of 0. Returns how many. hashes and
 * indices may be those of `survivors`, since stores never pass the loads. indices: NULL for a whole
 * block. */
static inline __attribute__((always_inline)) size_t
compact(const struct leveldb_probe_vocabulary *probing, const uint8_t *bitmap,
        const uint8_t *hashes, const uint32_t *indices, size_t n, struct survivors *survivors)
{
  static const uint32_t first_indices[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  static const uint32_t nlanes[] = {LANES, LANES, LANES, LANES, LANES, LANES, LANES, LANES,
                                    LANES, LANES, LANES, LANES, LANES, LANES, LANES, LANES};
  const struct leveldb_arithmetic *arithmetic = probing->arithmetic;
  const lanes next = arithmetic->load(nlanes);
  lanes index = arithmetic->load(first_indices);
  size_t nsurvivors = 0;
  for (size_t i = 0; i < n; i += LANES) {
    if (indices)
      index = arithmetic->load(indices + i);
    nsurvivors =
        probing->append(survivors, nsurvivors, arithmetic->load(hashes + i * sizeof(uint32_t)),
                        index, mask_at(bitmap, i));
    if (!indices)
      index = arithmetic->sum(index, next);
  }
  memset(survivors->hashes + nsurvivors, 0, STEP_NKEYS * sizeof(uint32_t));
  return nsurvivors;
}

/* All probes of every key. Returns the number of hits. */
static inline __attribute__((always_inline)) size_t
probe_all(const struct probed *filter, const struct leveldb_probe_vocabulary *probing,
          const uint8_t *hashes, size_t n, uint8_t *bitmap)
{
  uint8_t passed[LEVELDB_BLOCK_NKEYS / 8 + 1];
  uint8_t *bits = n % STEP_NKEYS == 0 ? bitmap : passed;
  test(filter, probing, hashes, n, 0, filter->nprobes, bits);
  if (bits == passed)
    memcpy(bitmap, passed, (n + 7) / 8);
  return count_hits(bitmap, n);
}

/* For keys that mostly fail. The first pass is for probes 0 .. end. Returns the number of hits. */
static inline __attribute__((always_inline)) size_t
probe_survivors(const struct probed *filter, const struct leveldb_probe_vocabulary *probing,
                const uint8_t *hashes, size_t n, uint32_t end, struct survivors *survivors,
                uint8_t *bitmap)
{
  uint8_t passed[LEVELDB_BLOCK_NKEYS / 8 + 1];
  const uint32_t *indices = NULL;
  size_t left = n;
  for (uint32_t p = 0; p < filter->nprobes && left > 0;) {
    const size_t ntested = left;
    if (end == p + 1) /* a constant number of probes is faster */
      test(filter, probing, hashes, ntested, p, p + 1, passed);
    else
      test(filter, probing, hashes, ntested, p, end, passed);
    left = compact(probing, passed, hashes, indices, ntested, survivors);
    hashes = (const uint8_t *)survivors->hashes;
    indices = survivors->indices;
    p = end;
    const bool may_finish = !filter->is_far || n < LEVELDB_BLOCK_NKEYS;
    const bool should_finish = left * 100 > ntested * MANY_PERCENT || left < FEW_SURVIVORS;
    end = may_finish && should_finish ? filter->nprobes : p + 1;
  }
  mark_hits(survivors->indices, left, n, bitmap);
  return left;
}

/* ---- The driver ---- */

/* Hashes that do not fill steps are copied to where survivors will be, and followed by 0. */
static inline const uint8_t *whole_steps(const uint8_t *hashes, size_t n,
                                         struct survivors *survivors)
{
  if (n % STEP_NKEYS == 0)
    return hashes;
  memcpy(survivors->hashes, hashes, n * sizeof(uint32_t));
  memset(survivors->hashes + n, 0, STEP_NKEYS * sizeof(uint32_t));
  return (const uint8_t *)survivors->hashes;
}

static inline __attribute__((always_inline)) void
leveldb_probe_blocks(const struct probed *filter, size_t most_percent,
                     const struct leveldb_probe_vocabulary *probing, struct hash_source *source,
                     uint8_t *bitmap)
{
  struct survivors survivors;
  bool most_hit = false;
  for (size_t n, nhits, first = 0; first < source->n; first += n) {
    const bool is_small = most_hit && !filter->is_far;
    const uint8_t *hashes =
        hash_source_hash_next(source, is_small ? SMALL_BLOCK_NKEYS : LEVELDB_BLOCK_NKEYS, &n);
    if (source->keys)
      hash_source_fetch(source, FETCHED_NKEYS);
    else if (filter->is_far)
      hash_source_fetch(source, LEVELDB_BLOCK_NKEYS);
    hashes = whole_steps(hashes, n, &survivors);
    uint8_t *bits = bitmap + first / 8;
    if (most_hit || n <= (filter->is_far ? ONE_PASS_NKEYS_FAR : ONE_PASS_NKEYS) ||
        filter->nprobes == 1)
      nhits = probe_all(filter, probing, hashes, n, bits);
    else
      nhits =
          probe_survivors(filter, probing, hashes, n, n <= FEW_SURVIVORS ? 2 : 1, &survivors, bits);
    most_hit = nhits * 100 > n * most_percent;
  }
}

static inline __attribute__((always_inline)) void
leveldb_probe(const struct filter_shape *shape, const uint8_t *payload, struct modulus modulus,
              const struct leveldb_probe_vocabulary *probing, struct hash_source *source,
              uint8_t *bitmap)
{
  const bool is_far = shape->nbytes > LEVELDB_NEAR_NBYTES;
  if ((is_far && source->n < MIN_NKEYS_FAR) || shape->nbytes < MIN_NBYTES) {
    lanebloom_leveldb_probe_scalar(shape, payload, source, bitmap);
    return;
  }
  const size_t offset = (uintptr_t)payload % sizeof(uint32_t);
  struct probed filter = {.payload = payload,
                          .nprobes = shape->nprobes,
                          .at_once = shape->nbytes > AT_ONCE_NBYTES,
                          .modulus = modulus,
                          .dwords = payload - offset,
                          .first_bit = (uint32_t)offset * 8};
  if (is_far) {
    filter.is_far = true;
    leveldb_probe_blocks(&filter, MOST_PERCENT_FAR, probing, source, bitmap);
  } else {
    filter.is_far = false;
    leveldb_probe_blocks(&filter, shape->nbytes <= TINY_NBYTES ? MOST_PERCENT_TINY : MOST_PERCENT,
                         probing, source, bitmap);
  }
}

#endif
