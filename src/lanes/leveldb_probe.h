/* Probing a filter of LevelDB's layout: what is the same for all lanes. A register is done when its
 * last key is, so early exit needs compaction: keys that pass a probe, the survivors, move together
 * and fill whole registers for the next probe.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_LEVELDB_PROBE_H
#define LANEBLOOM_LANES_LEVELDB_PROBE_H

#include "../kernels.h"

enum {
  MAX_LANES = 16, /* 32-bit lanes of the widest registers */

  /* The first block tells how many keys to expect to pass. */
  FIRST_BLOCK_NKEYS = 128,
  /* Hits per block up to which each probe is worth a pass of its own, and from which one pass for
   * all is best (AVX2 on Zen 4: they meet at 15 and 42 % in 16 KiB, at 22 and 63 % in 256 KiB). */
  FEW_PERCENT = 20,
  MOST_PERCENT = 60,
  MOST_PERCENT_TINY = 40,
  TINY_NBYTES = 32 << 10, /* a first-level cache, where loads cost least */

  /* Up to here prefetching costs more than it saves (AVX2 on Zen 4, no key passes, ns per key
   * without and with it: 4 MiB 3.2, 4.1; 16 MiB 10.0, 4.2). AVX-512 does without. */
  NEAR_NBYTES = 4 << 20,
  /* So many cache lines are in flight (AVX2 on Zen 4, at 16 and 256 MiB: 256: 5.3, 11.5; 512: 4.2,
   * 10.1; 1024: 4.2, 11.1). */
  FAR_BLOCK_NKEYS = 512,
};

/* Keys of a block that have passed all probes so far: their hashes, and their indices in the block.
 * Stores take whole registers. */
struct survivors {
  _Alignas(64) uint32_t hashes[BLOCK_NKEYS + MAX_LANES];
  _Alignas(64) uint32_t indices[BLOCK_NKEYS + MAX_LANES];
};

/* What lanes need to know of a filter: each instruction set has its own. */
struct probed;

/* What an instruction set does for the drivers below: inline functions, in a constant. */
struct leveldb_probe_vocabulary {
  /* Tests probes first .. end of n keys. Returns how many pass, which `survivors` has then. The
   * hashes may be those of `survivors`: stores never pass the loads. indices: NULL for a whole
   * block. */
  size_t (*compact)(const struct probed *filter, const uint8_t *hashes, const uint32_t *indices,
                    size_t n, uint32_t first, uint32_t end, struct survivors *survivors);

  /* Tests all probes of n keys. Returns the number of hits. */
  size_t (*probe_all)(const struct probed *filter, const uint8_t *hashes, size_t n,
                      uint8_t *bitmap);

  /* The bitmap of n keys in which these indices are hits. */
  void (*mark)(const uint32_t *indices, size_t nhits, size_t n, uint8_t *bitmap);
};

/* Bit by bit: bytes first, and then their signs as bits, was 0.1 ns per key slower where few pass
 * and 0.1 faster where all do. */
static inline void mark_bits(const uint32_t *indices, size_t nhits, size_t n, uint8_t *bitmap)
{
  memset(bitmap, 0, (n + 7) / 8);
  for (size_t i = 0; i < nhits; i++)
    bitmap[indices[i] / 8] |= (uint8_t)(1 << indices[i] % 8);
}

/* Where n probes from `first` on end. */
static inline uint32_t end_of(uint32_t first, uint32_t n, uint32_t nprobes)
{
  return n < nprobes - first ? first + n : nprobes;
}

/* Tests nfirst probes of all keys of a block, then nnext more at a time of the survivors. Returns
 * the number of hits. */
static inline __attribute__((always_inline)) size_t
probe_survivors(const struct probed *filter, uint32_t nprobes,
                const struct leveldb_probe_vocabulary *probing, const uint8_t *hashes, size_t n,
                uint8_t *bitmap, uint32_t nfirst, uint32_t nnext)
{
  struct survivors survivors;
  uint32_t end = end_of(0, nfirst, nprobes);
  size_t left = probing->compact(filter, hashes, NULL, n, 0, end, &survivors);
  for (uint32_t first = end; first < nprobes && left > 0; first = end) {
    end = end_of(first, nnext, nprobes);
    left = probing->compact(filter, (const uint8_t *)survivors.hashes, survivors.indices, left,
                            first, end, &survivors);
  }
  probing->mark(survivors.indices, left, n, bitmap);
  return left;
}

/* A filter whose cache lines arrive in time without prefetching. Where most keys pass, compaction
 * only costs, so each block goes by the hits of the block before. */
static inline __attribute__((always_inline)) void
leveldb_probe_near(const struct filter_shape *shape, const struct probed *filter,
                   const struct leveldb_probe_vocabulary *probing, struct hash_source *source,
                   uint8_t *bitmap)
{
  const size_t most_percent = shape->nbytes <= TINY_NBYTES ? MOST_PERCENT_TINY : MOST_PERCENT;
  size_t nhits = 0, last_n = 1;
  for (size_t n, first = 0; first < source->n; first += n) {
    const uint8_t *hashes =
        hash_source_next(source, first == 0 ? FIRST_BLOCK_NKEYS : BLOCK_NKEYS, &n);
    uint8_t *bits = bitmap + first / 8;
    if (nhits * 100 <= last_n * FEW_PERCENT)
      nhits = probe_survivors(filter, shape->nprobes, probing, hashes, n, bits, 1, 1);
    else if (nhits * 100 < last_n * most_percent)
      nhits = probe_survivors(filter, shape->nprobes, probing, hashes, n, bits, 2, UINT32_MAX);
    else
      nhits = probing->probe_all(filter, hashes, n, bits);
    last_n = n;
  }
}

/* A larger filter: each cache line is prefetched a pass before its test, the first ones of a block
 * before the block before is tested. prefetch_first: those of probe 0 of n hashes; compacting
 * prefetches the later ones. */
static inline __attribute__((always_inline)) void leveldb_probe_prefetched(
    const struct probed *filter, uint32_t nprobes, const struct leveldb_probe_vocabulary *probing,
    void (*prefetch_first)(const struct probed *filter, const uint8_t *hashes, size_t n),
    struct hash_source *source, uint8_t *bitmap)
{
  size_t n, next_n;
  const uint8_t *hashes = hash_source_next(source, FAR_BLOCK_NKEYS, &n), *next;
  prefetch_first(filter, hashes, n);
  for (; n > 0; hashes = next, n = next_n) {
    next = hash_source_next(source, FAR_BLOCK_NKEYS, &next_n);
    prefetch_first(filter, next, next_n);
    probe_survivors(filter, nprobes, probing, hashes, n, bitmap, 1, 1);
    bitmap += (n + 7) / 8;
  }
}

#endif
