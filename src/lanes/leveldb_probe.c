/* Probes filters of LevelDB's layout. Most absent keys fail one of their first probes, and then
 * their other probes need not be done. But a register is finished only when its last key is
 * finished. So after each probe, the keys that have passed the probe, the survivors, are moved
 * together (compacted). They then fill whole registers for the next probe. Each such pass goes over
 * its keys twice. First it tests all keys and stores a bit for each key, and then it moves the
 * survivors. A single loop would be slower: the addresses to which survivors move depend on the
 * tests, so every later load would have to wait until the address of such a store is known.
 * SPDX-License-Identifier: MIT */
#include "leveldb.h"

enum {
  STEP_NKEYS = 16, /* fills whole registers of any instruction set */

  /* The number of keys in a block. (With AVX-512 on a Xeon, a filter of 256 KiB and no key that
   * passes, a key takes 1.25 ns in blocks of 1024 keys, and 1.18 ns in blocks of 2048.) */
  LEVELDB_BLOCK_NKEYS = BLOCK_NBYTES / sizeof(uint32_t),
  /* The number of keys in a block if most keys are expected to pass. A block of this size and a
   * filter of 16 KiB together stay in the first-level cache. (With AVX-512 on a Zen 4, a key takes
   * 2.53 ns in blocks of 256 keys, and 2.69 ns in blocks of 1024.) */
  SMALL_BLOCK_NKEYS = 256,

  /* The number of keys of the next block that are prefetched before the current block is tested.
   * The CPU fetches the remaining keys by itself. If more lines were requested at once than the CPU
   * has buffers for, the CPU would wait. (AVX-512 on a Xeon, keys of 8 bytes of which none passes:
   * with a filter of 16 KiB, a key takes 0.98 ns, and would take 1.08 ns if 2048 keys were
   * prefetched. With a filter of 256 KiB, a key takes 1.37 ns, and would take 1.48 ns.) */
  FETCHED_NKEYS = 256,

  /* Limits in percent of the keys of a block. If more keys of a block than this were hits, all
   * probes of all keys of the next block are tested, without compaction. Compaction costs
   * instructions and saves loads. Loads take longer in larger filters, so the limit is higher
   * there. */
  MOST_PERCENT = 60,
  MOST_PERCENT_TINY = 40,
  TINY_NBYTES = 32 << 10, /* the size of a first-level cache, where loads cost least */
  MOST_PERCENT_FAR = 87,

  /* If more than MANY_PERCENT of the keys of a pass survive, or fewer than FEW_SURVIVORS keys are
   * left, the next pass tests all remaining probes and is the last. (With AVX-512 on a Xeon, a
   * filter of 256 KiB, calls of 256 keys and no key that passes, a key takes 1.58 ns with a limit
   * of 64 survivors, and 1.91 ns with a limit of 128.) Full blocks of far filters are tested probe
   * by probe to the end. If a last pass tested all remaining probes, each key that fails would load
   * lines that it does not need, and each such line costs more than a pass. (AVX-512 on a Xeon, a
   * filter of 16 MiB and no key that passes: with 6 probes, a key takes 6.17 ns, and would take
   * 6.75 ns with such a last pass. With 10 probes, a key takes 6.97 ns, and would take 9.60 ns with
   * such a last pass.) */
  MANY_PERCENT = 80,
  FEW_SURVIVORS = 64,

  /* The number of keys up to which all probes of a block are tested in a single pass, because a
   * second pass would have to wait for loads again. (With AVX-512 on a Xeon, a filter of 256 KiB,
   * calls of 32 keys and no key that passes, a key takes 3.6 ns in one pass, and 3.9 ns in two.
   * With AVX2, a filter of 16 MiB and calls of 12 keys, a key takes 48 ns in one pass, and 58 ns in
   * two.) */
  ONE_PASS_NKEYS = 32,
  ONE_PASS_NKEYS_FAR = 15,

  /* A filter is far, and its lines are prefetched, if it is larger than this. In smaller filters,
   * prefetching costs more than it saves. (AVX2 on a Zen 4, no key passes: with a filter of 4 MiB,
   * a key takes 3.2 ns without prefetching and 4.1 ns with it. With a filter of 16 MiB, a key takes
   * 10.0 ns without prefetching and 4.2 ns with it.) */
  LEVELDB_NEAR_NBYTES = 4 << 20,
  /* If a filter is larger than this, lines are prefetched as soon as their bits are located, and
   * not one step later. The delay, which test_by_loads() explains, would cost more than it saves.
   * (AVX-512 on a Xeon, filter of 256 MiB: if no key passes, a key takes 18.9 ns without the delay
   * and 20.3 ns with it. If all keys pass, a key takes 49 ns without the delay and 55 ns with
   * it.) */
  AT_ONCE_NBYTES = 64 << 20,

  /* The number of steps between locating bits and loading their bytes. With AVX-512 on a Zen 4, if
   * no key passes, a key takes these times in ns:
   *
   *   steps                      3      7      15
   *   a filter of 16 KiB         0.95   0.98   not measured
   *   a filter of 16 MiB         5.7    4.6    4.5
   *   a filter of 256 MiB        10.7   11.1   12.5 */
  AHEAD = 7,
  RING_NSTEPS = AHEAD + 1,
};

/* Scalar code probes smaller filters, because bytes_of() needs at least two bytes. */
enum { MIN_NBYTES = 2 };

/* The filter, in the form that lanes need. */
struct probed {
  const uint8_t *payload;
  uint32_t nprobes;
  bool is_far;  /* its cache lines are prefetched */
  bool at_once; /* the lines are prefetched as soon as they are located */
  /* if the filter is not far, bits are tested in lanes, and their offsets are not stored */
  bool in_lanes;
  struct modulus modulus;

  /* For gathers: the address of the aligned dword in which the payload begins, and the number of
   * the payload's first bit in this dword. Gathers load aligned dwords, so that no dword lies in
   * two cache lines, or in a page without a byte of the payload. */
  const uint8_t *dwords;
  uint32_t first_bit;
};

/* The keys of a block that have passed all probes so far: their hashes, and their indices in the
 * block. The arrays have room for one more step, because stores write whole registers and loads
 * read whole steps. */
struct survivors {
  _Alignas(CACHE_LINE_NBYTES) uint32_t hashes[LEVELDB_BLOCK_NKEYS + STEP_NKEYS];
  _Alignas(CACHE_LINE_NBYTES) uint32_t indices[LEVELDB_BLOCK_NKEYS + STEP_NKEYS];
};

/* ---- One bit for each key, in the order of the bitmap ---- */

/* Returns the bits of LANES32 keys from key i on; i must be a multiple of LANES32. */
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

/* Loads the bits that LANES32 probes test, in lanes. */
static inline picked32 pick_probed(const struct probed *filter, vector probes)
{
#if HAS_LANE_LOADS
  return pick_loaded32(filter->payload, bytes_of(probes, &filter->modulus), probes);
#else
  const vector at = add32(positions_of(probes, &filter->modulus), splat32(filter->first_bit));
  return pick_bits32(gather32(filter->dwords, shift_right32(at, 5)), at);
#endif
}

/* Tests probes first .. end - 1 of n hashes in lanes, and stores a bit for each hash. */
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
    for (size_t byte = 0; byte < LANES32 / 8; byte++) /* memcpy() would become a call */
      bitmap[i / 8 + byte] = (uint8_t)(bits >> 8 * byte);
  }
}

#endif

/* ---- Testing by loads ---- */

/* The next step whose bits are to be located: probe p of STEP_NKEYS keys from key i on. */
struct next_step {
  size_t i;
  uint32_t p;
  vector probes[STEP_NKEYS / LANES32], strides[STEP_NKEYS / LANES32];
};

/* Begins a step with probe p of the keys from i on. If there are no keys from i on, the step uses
 * the first keys of the block; the bits of such a step are not tested. */
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

/* Locates the bits of a step, stores their locations in `bits` from element `at` on, and advances
 * to the next step. The steps go through probes first .. end - 1 of STEP_NKEYS keys, and then
 * continue with the next keys. */
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

/* Prefetches the lines of a step into the second-level cache. (Zen 4, no key passes: with a filter
 * of 16 MiB, a key takes 9.8 ns, and 22 ns if lines are prefetched into the first level. With a
 * filter of 256 MiB, a key takes 12.1 ns, and 26 ns if lines are prefetched into the first level.)
 * The function is always inlined, because gcc 12 removes calls of a function that only
 * prefetches. */
static inline __attribute__((always_inline)) void prefetch_step(const uint8_t *payload,
                                                                const struct bits *bits, size_t at)
{
#pragma GCC unroll 16
  for (size_t j = 0; j < STEP_NKEYS; j++)
    __builtin_prefetch(payload + bits->bytes[at + j], 0, 2);
}

/* Tests probes first .. end - 1 of n hashes by one load per bit, and stores a bit for each hash. A
 * ring holds the located bits of the next steps: the bytes of a step are loaded AHEAD steps after
 * its bits are located. Except in the largest filters (see AT_ONCE_NBYTES), lines are prefetched
 * one step after their bits are located. The reason is that offsets are stored as whole vectors but
 * loaded one by one, and a load that comes soon after a store of another size waits for the store.
 * (With AVX-512 on a Xeon, a filter of 16 MiB and no key that passes, a key takes 6.8 ns. If lines
 * were prefetched at once, the key would take 7.6 ns.) */
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

/* Tests probes first .. end - 1 of n keys, and stores a bit for each key. Hashes are read in whole
 * steps, so `hashes` must be readable up to the end of the last step; the bits past n become 0.
 * Copying the hashes of the last step in every pass instead would be slower. (With AVX-512 on a
 * Xeon, a filter of 256 KiB and no key that passes, a key takes 1.20 ns with copies, and 1.12 ns
 * without.) */
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

/* Moves the keys whose bit is set to `survivors`, side by side, and appends hashes of 0 that fill
 * up the last step. Returns the number of survivors. `indices` has the indices of the keys in the
 * block, or is NULL if the keys are the whole block. `hashes` and `indices` may be the arrays of
 * `survivors`, because stores never pass the loads. */
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

/* Tests all probes of every key of a block in one pass. Returns the number of hits. */
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

/* Tests the keys of a block, most of which are expected to fail, with compaction after each pass.
 * The first pass tests probes 0 .. end - 1. Returns the number of hits. */
static inline __attribute__((always_inline)) size_t
probe_survivors(const struct probed *filter, const uint8_t *hashes, size_t n, uint32_t end,
                struct survivors *survivors, uint8_t *bitmap)
{
  uint8_t passed[LEVELDB_BLOCK_NKEYS / 8 + 1];
  const uint32_t *indices = NULL;
  size_t left = n;
  for (uint32_t p = 0; p < filter->nprobes && left > 0;) {
    const size_t ntested = left;
    if (end == p + 1) /* the loop over the probes is faster if their number is constant */
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

/* Returns hashes that can be read in whole steps. If n is not a multiple of STEP_NKEYS, copies the
 * hashes to the memory of `survivors` and appends hashes of 0. */
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
