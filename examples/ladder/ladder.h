/* The ladder is a series of programs, its steps. Each step shows one way to make queries of a Bloom
 * filter faster. This header has the code that the steps share: keys, filters that are built as two
 * formats define them, a check of the results, and a clock. Steps handle keys in groups. The number
 * of keys is a multiple of all sizes of groups, so no step shows how to handle the last few keys.
 * SPDX-License-Identifier: MIT */
#ifndef LADDER_H
#define LADDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { NKEYS = 1 << 20, BITS_PER_KEY = 10, NPROBES = 6, LINE_NBYTES = 64 };

struct filter {
  uint8_t *payload; /* ends at a page that cannot be accessed */
  uint32_t nbytes, nlines, nprobes;
  uint32_t multiplier, shift; /* n / nbytes = n * multiplier >> shift; step 1 explains this */
};

/* The hashes of a batch of keys. */
struct batch {
  uint32_t hashes32[NKEYS]; /* for LevelDB's format */
  uint64_t hashes64[NKEYS]; /* for FastLocalBloom */
};

/* Each step implements this function. It sets bit i of the bitmap if all probes of key i meet bits
 * that are set, and clears it otherwise. */
typedef void probe_function(const struct filter *filter, const struct batch *batch,
                            uint8_t *bitmap);

/* ---- Hashes ---- */

static const uint32_t BLOOMHASH_SEED = 0xbc9f1d34, BLOOMHASH_MULTIPLIER = 0xc6a4a793;

/* Returns LevelDB's hash of a key of eight bytes. The key is given as a little-endian number. */
static inline uint32_t bloomhash(uint64_t key)
{
  uint32_t hash = BLOOMHASH_SEED ^ 8 * BLOOMHASH_MULTIPLIER;
  hash = (hash + (uint32_t)key) * BLOOMHASH_MULTIPLIER;
  hash ^= hash >> 16;
  hash = (hash + (uint32_t)(key >> 32)) * BLOOMHASH_MULTIPLIER;
  return hash ^ hash >> 16;
}

/* Returns a different number for each i. The numbers look random (SplitMix64). */
static inline uint64_t scrambled(uint64_t i)
{
  i *= 0x9e3779b97f4a7c15;
  i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9;
  i = (i ^ i >> 27) * 0x94d049bb133111eb;
  return i ^ i >> 31;
}

/* Returns a hash for FastLocalBloom. RocksDB uses XXPH3. Here any good hash will do, because
 * hashing is not timed for this format. */
static inline uint64_t hash64(uint64_t key)
{
  return scrambled(key);
}

/* ---- Two formats, as they are defined: which bit does probe p of a key test? ---- */

static const uint32_t LOCAL_MULTIPLIER = 0x9e3779b9;

typedef uint64_t position_function(const struct filter *filter, uint64_t key, uint32_t p);

/* In LevelDB's format, the distance from each probe to the next is the same, modulo 2^32. The
 * probes of a key can be anywhere in the filter. */
static inline uint64_t leveldb(const struct filter *filter, uint64_t key, uint32_t p)
{
  const uint32_t hash = bloomhash(key), stride = hash >> 17 | hash << 15;
  return (hash + p * stride) % (8 * (uint64_t)filter->nbytes);
}

/* In RocksDB's FastLocalBloom, the low half of the hash chooses a cache line. Probe 0 is the high
 * half, and each further probe is the previous one times a constant. The top 9 bits of a probe
 * choose a bit in the line. */
static inline uint64_t local(const struct filter *filter, uint64_t key, uint32_t p)
{
  const uint64_t hash = hash64(key), line = (hash & 0xffffffff) * filter->nlines >> 32;
  uint32_t probe = (uint32_t)(hash >> 32);
  while (p-- > 0)
    probe *= LOCAL_MULTIPLIER;
  return 8 * LINE_NBYTES * line + (probe >> 23);
}

/* ---- Filters ---- */

/* Returns memory that ends where a page without access begins. A load past its end therefore
 * crashes the program, so such an error is noticed. The memory has huge pages, because with small
 * pages most accesses to a large filter would also miss the TLB. */
static inline uint8_t *allocate_at_an_edge(size_t nbytes)
{
  const size_t huge = 2 << 20, room = (nbytes + huge - 1) / huge * huge;
  uint8_t *memory =
      mmap(NULL, room + 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uint8_t *edge = memory + room + huge - (uintptr_t)memory % huge;
  if (memory == MAP_FAILED || mprotect(edge, huge, PROT_NONE) != 0) {
    perror("memory");
    exit(2);
  }
  madvise(edge - room, room, MADV_HUGEPAGE);
  return edge - nbytes;
}

/* Builds a filter of the keys scrambled(0) to scrambled(nkeys - 1). The filter ends where its
 * memory ends. In LevelDB's format it is shorter by one byte, so it does not begin at a multiple of
 * four bytes. */
static inline struct filter build(position_function *position, size_t nbytes, size_t *nkeys)
{
  nbytes -= position == leveldb;
  struct filter filter = {.payload = allocate_at_an_edge(nbytes),
                          .nbytes = (uint32_t)nbytes,
                          .nlines = (uint32_t)(nbytes / LINE_NBYTES),
                          .nprobes = NPROBES};
  filter.shift = 31 + 31 - (uint32_t)__builtin_clz(filter.nbytes);
  filter.multiplier = (uint32_t)((((uint64_t)1 << filter.shift) + nbytes - 1) / nbytes);
  *nkeys = 8 * nbytes / BITS_PER_KEY;
  for (size_t i = 0; i < *nkeys; i++)
    for (uint32_t p = 0; p < NPROBES; p++) {
      const uint64_t at = position(&filter, scrambled(i), p);
      filter.payload[at / 8] |= (uint8_t)(1 << at % 8);
    }
  return filter;
}

/* ---- The check and the clock ---- */

/* Makes a batch of keys, and computes the expected results as the format defines them. `mix`
 * decides how many keys of the batch were added to the filter: none (0), about half in random order
 * (1), or all (2). */
static inline void draw(const struct filter *filter, position_function *position, size_t nkeys,
                        uint32_t mix, struct batch *batch, uint8_t *expected)
{
  memset(expected, 0, NKEYS / 8);
  for (size_t i = 0; i < NKEYS; i++) {
    const uint64_t chance = scrambled(~i);
    const bool was_added = chance % 2 < mix;
    const uint64_t key = scrambled(was_added ? chance / 2 % nkeys : nkeys + i);
    batch->hashes32[i] = bloomhash(key);
    batch->hashes64[i] = hash64(key);
    uint8_t all = 1;
    for (uint32_t p = 0; p < NPROBES; p++) {
      const uint64_t at = position(filter, key, p);
      all &= (uint8_t)(filter->payload[at / 8] >> at % 8);
    }
    if (was_added && !all) {
      fputs("a filter lacks a key that was added\n", stderr);
      exit(2);
    }
    expected[i / 8] |= (uint8_t)(all << i % 8);
  }
}

/* Returns the CPU time, because other programs disturb it less than the elapsed time. */
static inline double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Prints, as the result of a test, how many answers differ from the expected ones. Returns the exit
 * status for main(). */
static inline int report(const char *step, size_t nanswers, size_t ndifferent)
{
  const bool equal = ndifferent == 0 && nanswers > 0;
  if (equal)
    printf("ok - %s: %zu answers equal\n", step, nanswers);
  else
    printf("not ok - %s: %zu of %zu answers differ\n", step, ndifferent, nanswers);
  return !equal;
}

static inline bool cpu_lacks_a_set(const char *step)
{
#if defined(__AVX2__)
  if (!__builtin_cpu_supports("avx2")) {
    printf("ok - %s # skip this CPU has no AVX2\n", step);
    return true;
  }
#endif
  (void)step;
  return false;
}

/* Checks and times a step. The arguments of its program are [ROUNDS [KIB]]. Each time is the best
 * of ROUNDS rounds, and the filters have up to KIB KiB. */
static inline int climb(int argc, char **argv, const char *step, position_function *position,
                        probe_function *probe)
{
  static const size_t sizes[] = {16, 256, 16 << 10, 64 << 10}; /* in KiB */
  static struct batch batch;
  static uint8_t expected[NKEYS / 8], bitmap[NKEYS / 8];
  const int nrounds = argc > 1 ? atoi(argv[1]) : 20;
  const size_t largest = argc > 2 ? (size_t)atoi(argv[2]) : SIZE_MAX;
  size_t nanswers = 0, ndifferent = 0;
  if (cpu_lacks_a_set(step))
    return 0;
  for (size_t s = 0; s < 4 && sizes[s] <= largest; s++) {
    size_t nkeys;
    const struct filter filter = build(position, sizes[s] << 10, &nkeys);
    double best[3] = {1, 1, 1};
    for (uint32_t mix = 0; mix < 3; mix++) {
      draw(&filter, position, nkeys, mix, &batch, expected);
      for (int round = 0; round < nrounds; round++) {
        const double start = seconds();
        probe(&filter, &batch, bitmap);
        const double taken = seconds() - start;
        best[mix] = taken < best[mix] ? taken : best[mix];
      }
      for (size_t i = 0; i < NKEYS / 8; i++)
        ndifferent += (size_t)__builtin_popcount(bitmap[i] ^ expected[i]);
      nanswers += NKEYS;
    }
    const bool is_large = sizes[s] >= 1 << 10;
    printf("# %3zu %s: absent %.2f, half %.2f, present %.2f ns per key\n",
           is_large ? sizes[s] >> 10 : sizes[s], is_large ? "MiB" : "KiB", best[0] * 1e9 / NKEYS,
           best[1] * 1e9 / NKEYS, best[2] * 1e9 / NKEYS);
  }
  return report(step, nanswers, ndifferent);
}

/* A step that hashes keys is checked and timed in the same way. */
typedef void hash_function(const uint64_t *keys, uint32_t *hashes);

static inline int climb_hashing(int argc, char **argv, const char *step, hash_function *hash)
{
  static uint64_t keys[NKEYS];
  static uint32_t hashes[NKEYS];
  double best = 1;
  size_t ndifferent = 0;
  if (cpu_lacks_a_set(step))
    return 0;
  for (size_t i = 0; i < NKEYS; i++)
    keys[i] = scrambled(i);
  for (int round = argc > 1 ? atoi(argv[1]) : 20; round > 0; round--) {
    const double start = seconds();
    hash(keys, hashes);
    const double taken = seconds() - start;
    best = taken < best ? taken : best;
  }
  for (size_t i = 0; i < NKEYS; i++)
    ndifferent += hashes[i] != bloomhash(keys[i]);
  printf("# hashing: %.2f ns per key\n", best * 1e9 / NKEYS);
  return report(step, NKEYS, ndifferent);
}

#endif
