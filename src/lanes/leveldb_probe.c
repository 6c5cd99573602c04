/* Probing a filter of LevelDB's layout. A register is finished only when its last key is. So early
 * exit needs compaction: keys that pass a probe, the survivors, are moved together and fill whole
 * registers for the next probe. Each pass goes over its keys twice: first it tests all of them and
 * stores a bit for each, and then it moves survivors. The addresses to which they move depend on
 * the tests, so in a single loop every later load would have to wait for the address of such a
 * store.
 * SPDX-License-Identifier: MIT */
#include "leveldb.h"

enum {
  STEP_NKEYS = 16, /* whole registers of any instruction set */

  /* Measured with AVX-512 on Xeon, 256 KiB, no key passes, ns per key: 1024 hashes 1.25, 2048
   * 1.18. */
  LEVELDB_BLOCK_NKEYS = BLOCK_NBYTES / sizeof(uint32_t),
  /* The size of a block if most keys are expected to pass: these stay beside a filter of 16 KiB in
   * the first-level cache (AVX-512 on Zen 4: 256 keys 2.53, 1024 2.69). */
  SMALL_BLOCK_NKEYS = 256,

  /* Keys of the next block that are prefetched before this one is tested. The CPU fetches the
   * others by itself, and waits if more lines are requested at once than it has buffers for
   * (AVX-512 on Xeon, 8-byte keys, none passes, 16 and 256 KiB: 2048 keys 1.08 and 1.48 ns, 256
   * keys 0.98 and 1.37). */
  FETCHED_NKEYS = 256,

  /* Percent of a block's keys. If more are hits, testing all probes of all keys of the next block
   * is best: compaction costs instructions and saves loads, so the farther the filter is, the more
   * hits it takes until compaction is slower. */
  MOST_PERCENT = 60,
  MOST_PERCENT_TINY = 40,
  TINY_NBYTES = 32 << 10, /* a first-level cache, where loads cost least */
  MOST_PERCENT_FAR = 87,

  /* If a pass leaves more percent of its keys, or fewer keys, one more pass for all remaining
   * probes is best (AVX-512 on Xeon, 256 KiB, no key passes, calls of 256 keys: 128 survivors 1.91
   * ns, 64 1.58). This is not done for full blocks of far filters: each line that a failing key
   * does not need costs more than a pass (AVX-512 on Xeon, 16 MiB, no key passes, 6 and 10 probes:
   * one more pass 6.75 and 9.60 ns, probe by probe 6.17 and 6.97). */
  MANY_PERCENT = 80,
  FEW_SURVIVORS = 64,

  /* At most so many keys are tested in a single pass, because the next pass would wait for loads
   * again (AVX-512 on Xeon, 256 KiB, no key passes, calls of 32 keys: one pass 3.6 ns, two 3.9;
   * AVX2, 16 MiB, 12 keys: 48 and 58). */
  ONE_PASS_NKEYS = 32,
  ONE_PASS_NKEYS_FAR = 15,

  /* In filters up to this size prefetching costs more than it saves (AVX2 on Zen 4, no key passes,
   * ns per key without and with it: 4 MiB 3.2, 4.1; 16 MiB 10.0, 4.2). */
  LEVELDB_NEAR_NBYTES = 4 << 20,
  /* In larger filters lines are prefetched at once: the delay of a step, see test_by_loads(), costs
   * more than it saves (AVX-512 on Xeon, 256 MiB, no and all keys pass: at once 18.9 and 49 ns, a
   * step later 20.3 and 55). */
  AT_ONCE_NBYTES = 64 << 20,

  /* The number of steps between locating bits and loading their bytes (AVX-512 on Zen 4, no key
   * passes, 16 KiB, 16 and 256 MiB: 3 steps 0.95, 5.7, 10.7; 7: 0.98, 4.6, 11.1; 15: 16 MiB 4.5,
   * 256 MiB 12.5). */
  AHEAD = 7,
  RING_NSTEPS = AHEAD + 1,
};

/* Scalar probes smaller filters: the modulus of bytes_of() must be at least two. */
enum { MIN_NBYTES = 2 };

/* The filter, as lanes need it. */
struct probed {
  const uint8_t *payload;
  uint32_t nprobes;
  bool is_far;   /* its cache lines are prefetched */
  bool at_once;  /* they are prefetched as soon as they are located */
  bool in_lanes; /* if the filter is not far, bits are tested without storing their offsets */
  struct modulus modulus;

  /* For gathers: the dword in which the payload begins, and the bit of it at which it begins. No
   * dword lies in two cache lines, or in a page without a byte of the payload. */
  const uint8_t *dwords;
  uint32_t first_bit;
};

/* The keys of a block that have passed all probes so far: their hashes, and their indices in the
 * block. Stores write whole registers, and loads read whole steps. */
struct survivors {
  _Alignas(CACHE_LINE_NBYTES) uint32_t hashes[LEVELDB_BLOCK_NKEYS + STEP_NKEYS];
  _Alignas(CACHE_LINE_NBYTES) uint32_t indices[LEVELDB_BLOCK_NKEYS + STEP_NKEYS];
};

/* ---- Bits of keys, as in the bitmap ---- */

/* Returns the bits of LANES32 keys from i on, a multiple of LANES32. */
static inline unsigned mask_at(const uint8_t *bitmap, size_t i)
{
  if (LANES32 == 16)
    return bitmap[i / 8] | (unsigned)bitmap[i / 8 + 1] << 8;
  return (unsigned)bitmap[i / 8] >> i % 8 & ((1u << LANES32) - 1);
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

static inline __attribute__((always_inline)) vector probes_of(vector hashes, vector strides,
                                                              uint32_t p)
{
  return p == 0 ? hashes : add32(hashes, mul_low32(strides, splat32(p)));
}

/* ---- Testing in lanes ---- */

#if HAS_GATHERS || HAS_LANE_LOADS

/* Returns the bits that LANES32 probes test. */
static inline picked32 pick_probed(const struct probed *filter, vector probes)
{
#if HAS_LANE_LOADS
  return pick_loaded32(filter->payload, bytes_of(probes, &filter->modulus), probes);
#else
  const vector at = add32(positions_of(probes, &filter->modulus), splat32(filter->first_bit));
  return pick_bits32(gather32(filter->dwords, shift_right32(at, 5)), at);
#endif
}

/* Tests probes first .. end of n hashes: a bit of each. */
static inline __attribute__((always_inline)) void test_in_lanes(const struct probed *filter,
                                                                const uint8_t *hashes, size_t n,
                                                                uint32_t first, uint32_t end,
                                                                uint8_t *bitmap)
{
  for (size_t i = 0; i < n; i += LANES32) {
    const vector hash = load(hashes + i * sizeof(uint32_t)), strides = strides_of(hash);
    vector probes = probes_of(hash, strides, first);
    picked32 passed = pick_probed(filter, probes);
    for (uint32_t p = first + 1; p < end; p++) {
      probes = add32(probes, strides);
      passed = both_picked32(passed, pick_probed(filter, probes));
    }
    const unsigned bits = picked_bits32(passed);
    memcpy(bitmap + i / 8, &bits, LANES32 / 8);
  }
}

#endif

/* ---- Testing by loads ---- */

/* The next step to locate: probe p of the step of keys at i. */
struct next_step {
  size_t i;
  uint32_t p;
  vector probes[STEP_NKEYS / LANES32], strides[STEP_NKEYS / LANES32];
};

/* Begins a step with probe p of the keys at i. If there are none at i, it uses the first keys. */
static inline __attribute__((always_inline)) struct next_step
begin_step(const uint8_t *hashes, size_t i, size_t n, uint32_t p)
{
  struct next_step next = {.i = i, .p = p};
  const uint8_t *step = hashes + (i < n ? i : 0) * sizeof(uint32_t);
#pragma GCC unroll 4
  for (size_t j = 0; j < STEP_NKEYS / LANES32; j++) {
    const vector hash = load(step + j * LANES32 * sizeof(uint32_t));
    next.strides[j] = strides_of(hash);
    next.probes[j] = probes_of(hash, next.strides[j], p);
  }
  return next;
}

/* Locates the bits of a step, as elements `at` and following, and advances to the next step: from
 * probe `first` to `end`, then to the next keys. */
static inline __attribute__((always_inline)) void
locate_step(struct next_step *next, const struct probed *filter, const uint8_t *hashes, size_t n,
            uint32_t first, uint32_t end, struct bits *bits, size_t at)
{
#pragma GCC unroll 4
  for (size_t j = 0; j < STEP_NKEYS / LANES32; j++) {
    const vector bytes = bytes_of(next->probes[j], &filter->modulus);
    put_bits(bits, at + j * LANES32, bytes, next->probes[j]);
    next->probes[j] = add32(next->probes[j], next->strides[j]);
  }
  if (++next->p == end)
    *next = begin_step(hashes, next->i + STEP_NKEYS, n, first);
}

/* Prefetches into the second-level cache (Zen 4, 16 and 256 MiB, no key passes: first level 22 and
 * 26 ns, second 9.8 and 12.1). It is always inlined: gcc 12 removes calls of a function that only
 * prefetches. */
static inline __attribute__((always_inline)) void prefetch_step(const uint8_t *payload,
                                                                const struct bits *bits, size_t at)
{
#pragma GCC unroll 16
  for (size_t j = 0; j < STEP_NKEYS; j++)
    __builtin_prefetch(payload + bits->bytes[at + j], 0, 2);
}

/* Tests bits through a ring: a step is located, and AHEAD steps later its bytes are loaded. A load
 * waits if it reads bytes that were just stored in another size, so a step is prefetched one step
 * after it is located (AVX-512 on Xeon, no key passes, 16 MiB: at once 7.6 ns, a step later
 * 6.8). */
static inline __attribute__((always_inline)) void test_by_loads(const struct probed *filter,
                                                                const uint8_t *hashes, size_t n,
                                                                uint32_t first, uint32_t end,
                                                                uint8_t *bitmap)
{
  enum { NEXT = AHEAD * STEP_NKEYS };
  enum { RING_NBITS = RING_NSTEPS * STEP_NKEYS };
  const size_t fetched = filter->at_once ? NEXT : NEXT - STEP_NKEYS;
  struct bits ring;
  struct next_step next = begin_step(hashes, 0, n, first);
  for (size_t at = 0; at < NEXT; at += STEP_NKEYS) {
    locate_step(&next, filter, hashes, n, first, end, &ring, at);
    if (filter->is_far && at < fetched)
      prefetch_step(filter->payload, &ring, at);
  }
  size_t at = 0;
  for (size_t i = 0; i < n; i += STEP_NKEYS) {
    unsigned mask = ~0u;
    for (uint32_t p = first; p < end; p++, at = (at + STEP_NKEYS) % RING_NBITS) {
      locate_step(&next, filter, hashes, n, first, end, &ring, (at + NEXT) % RING_NBITS);
      if (filter->is_far)
        prefetch_step(filter->payload, &ring, (at + fetched) % RING_NBITS);
      mask &= test_bits16(filter->payload, ring.bytes + at, ring.masks + at);
    }
    bitmap[i / 8] = (uint8_t)mask;
    bitmap[i / 8 + 1] = (uint8_t)(mask >> 8);
  }
}

/* ---- Compaction ---- */

/* Tests probes first .. end of n keys: a bit of each. Hashes are read in whole steps, and the other
 * bits of the last step become 0: copying the hashes of such a step in every pass would take long
 * (AVX-512 on Xeon, 256 KiB, no key passes: 1.20 ns with copies, 1.12 without). */
static inline __attribute__((always_inline)) void test(const struct probed *filter,
                                                       const uint8_t *hashes, size_t n,
                                                       uint32_t first, uint32_t end,
                                                       uint8_t *bitmap)
{
#if HAS_GATHERS || HAS_LANE_LOADS
  if (filter->in_lanes && !filter->is_far)
    test_in_lanes(filter, hashes, n, first, end, bitmap);
  else
#endif
    test_by_loads(filter, hashes, n, first, end, bitmap);
  if (n % STEP_NKEYS != 0) {
    bitmap[n / 8] &= (uint8_t)((1 << n % 8) - 1);
    bitmap[n / 8 + 1] = 0;
  }
}

/* Moves together the keys whose bit is set, followed by hashes of 0. Returns how many. hashes and
 * indices may alias those of `survivors`, since stores never pass the loads. indices: NULL for a
 * whole block. */
static inline __attribute__((always_inline)) size_t compact(const uint8_t *bitmap,
                                                            const uint8_t *hashes,
                                                            const uint32_t *indices, size_t n,
                                                            struct survivors *survivors)
{
  static const uint32_t first_indices[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  vector index = load(first_indices);
  size_t nsurvivors = 0;
  for (size_t i = 0; i < n; i += LANES32) {
    if (indices)
      index = load(indices + i);
    const unsigned mask = mask_at(bitmap, i);
    store_chosen32(survivors->hashes + nsurvivors, load(hashes + i * sizeof(uint32_t)), mask);
    nsurvivors += store_chosen32(survivors->indices + nsurvivors, index, mask);
    if (!indices)
      index = add32(index, splat32(LANES32));
  }
  memset(survivors->hashes + nsurvivors, 0, STEP_NKEYS * sizeof(uint32_t));
  return nsurvivors;
}

/* Tests all probes of every key. Returns the number of hits. */
static inline __attribute__((always_inline)) size_t
probe_all(const struct probed *filter, const uint8_t *hashes, size_t n, uint8_t *bitmap)
{
  uint8_t passed[LEVELDB_BLOCK_NKEYS / 8 + 1];
  uint8_t *bits = n % STEP_NKEYS == 0 ? bitmap : passed;
  test(filter, hashes, n, 0, filter->nprobes, bits);
  if (bits == passed)
    memcpy(bitmap, passed, (n + 7) / 8);
  return count_hits(bitmap, n);
}

/* Tests keys of which most are expected to fail. The first pass tests probes 0 .. end. Returns the
 * number of hits. */
static inline __attribute__((always_inline)) size_t
probe_survivors(const struct probed *filter, const uint8_t *hashes, size_t n, uint32_t end,
                struct survivors *survivors, uint8_t *bitmap)
{
  uint8_t passed[LEVELDB_BLOCK_NKEYS / 8 + 1];
  const uint32_t *indices = NULL;
  size_t left = n;
  for (uint32_t p = 0; p < filter->nprobes && left > 0;) {
    const size_t ntested = left;
    if (end == p + 1) /* a constant number of probes is faster */
      test(filter, hashes, ntested, p, p + 1, passed);
    else
      test(filter, hashes, ntested, p, end, passed);
    left = compact(passed, hashes, indices, ntested, survivors);
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

/* Returns hashes that can be read in whole steps. If n does not fill steps, copies them to the
 * memory of survivors and appends hashes of 0. */
static inline const uint8_t *whole_steps(const uint8_t *hashes, size_t n,
                                         struct survivors *survivors)
{
  if (n % STEP_NKEYS == 0)
    return hashes;
  memcpy(survivors->hashes, hashes, n * sizeof(uint32_t));
  memset(survivors->hashes + n, 0, STEP_NKEYS * sizeof(uint32_t));
  return (const uint8_t *)survivors->hashes;
}

static inline __attribute__((always_inline)) void leveldb_probe_blocks(const struct probed *filter,
                                                                       size_t most_percent,
                                                                       struct hash_source *source,
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
      nhits = probe_all(filter, hashes, n, bits);
    else
      nhits = probe_survivors(filter, hashes, n, n <= FEW_SURVIVORS ? 2 : 1, &survivors, bits);
    most_hit = nhits * 100 > n * most_percent;
  }
}

static inline __attribute__((always_inline)) void
leveldb_probe(const struct filter_shape *shape, const uint8_t *payload, struct hash_source *source,
              uint8_t *bitmap, const bool in_lanes)
{
  const bool is_far = shape->nbytes > LEVELDB_NEAR_NBYTES;
  if ((is_far && source->n <= FEW_SCREENED_FAR) || shape->nbytes < MIN_NBYTES) {
    lanebloom_leveldb_probe_scalar(shape, payload, source, bitmap);
    return;
  }
  const size_t offset = (uintptr_t)payload % sizeof(uint32_t);
  struct probed filter = {.payload = payload,
                          .nprobes = shape->nprobes,
                          .at_once = shape->nbytes > AT_ONCE_NBYTES,
                          .in_lanes = in_lanes,
                          .modulus = modulus_of(shape),
                          .dwords = payload - offset,
                          .first_bit = (uint32_t)offset * 8};
  if (is_far) {
    filter.is_far = true;
    leveldb_probe_blocks(&filter, MOST_PERCENT_FAR, source, bitmap);
  } else {
    filter.is_far = false;
    leveldb_probe_blocks(&filter, shape->nbytes <= TINY_NBYTES ? MOST_PERCENT_TINY : MOST_PERCENT,
                         source, bitmap);
  }
}

void KERNEL(leveldb_probe)(const struct filter_shape *shape, const uint8_t *payload,
                           struct hash_source *source, uint8_t *bitmap)
{
  leveldb_probe(shape, payload, source, bitmap, HAS_LANE_LOADS);
}

#if HAS_GATHERS
void KERNEL(leveldb_probe_by_gathers)(const struct filter_shape *shape, const uint8_t *payload,
                                      struct hash_source *source, uint8_t *bitmap)
{
  leveldb_probe(shape, payload, source, bitmap, true);
}
#endif
