/* Measures libbloom as a peer. It is a C library with a layout of its own: a key has k probes
 * anywhere in the bits, by double hashing with MurmurHash2.
 * SPDX-License-Identifier: MIT */
#include <bloom.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "rows.h"
#include "shared.h"
#include "shim.h"

struct libbloom {
  struct bloom bloom;
  uint8_t *own;              /* the memory that libbloom allocated */
  struct bench_made aligned; /* memory like that of our filters; libbloom uses it instead */
};

struct libbloom_row {
  struct bench_case wanted;
  bool checked;
};

/* Makes an empty filter of the wanted size with k = wanted->nprobes probes. libbloom takes an error
 * rate e, and computes from it b = -ln(e) / ln(2)^2 bits per key and ceil(b ln(2)) probes. This
 * function passes the rate that would need k - 0.5 probes, which libbloom safely rounds up to k.
 * For k = 6, the filter then has 7.9 bits per key. */
static bool init(struct bloom *bloom, const struct bench_case *wanted)
{
  const double bits_per_key = (wanted->nprobes - 0.5) / log(2),
               nbits = (double)wanted->kib * 1024 * 8;
  const int nkeys = (int)(nbits / bits_per_key);
  return nbits <= INT_MAX && bloom_init(bloom, nkeys, exp(-bits_per_key * log(2) * log(2))) == 0;
}

static void release_libbloom(void *value)
{
  struct libbloom *made = value;
  made->bloom.bf = made->own;
  bloom_free(&made->bloom);
  made->aligned.release(made->aligned.value);
  free(made);
}

static struct bench_made make_libbloom(const struct bench_case *wanted)
{
  struct libbloom *made = malloc(sizeof *made);
  if (!made || !init(&made->bloom, wanted))
    bench_check(LANEBLOOM_ERR_MEMORY);
  made->own = made->bloom.bf;
  made->aligned = bench_make_array((size_t)made->bloom.bytes);
  made->bloom.bf = bench_array(&made->aligned);
  for (uint64_t i = 0; i < (uint64_t)made->bloom.entries; i++) {
    const uint64_t key = bench_key(i);
    bloom_add(&made->bloom, &key, sizeof key);
  }
  return (struct bench_made){made, 2 * wanted->kib * 1024, release_libbloom};
}

static size_t screen(struct bloom *bloom, const uint64_t *keys, size_t n)
{
  size_t count = 0;
  for (size_t i = 0; i < n; i++)
    count += bloom_check(bloom, keys + i, sizeof *keys) == 1;
  return count;
}

/* Checks whether the results of the filter are plausible. No other library makes the same bits, so
 * there is no count to compare with. All present keys must pass. With k probes, an absent key is
 * expected to pass with probability 2^-k; up to twice as many absent keys may pass. In a mixture of
 * present and absent keys, the number of present keys is random, too, so the limit is then
 * higher. */
static bool answers_well(struct libbloom *libbloom, const struct bench_queries *queries,
                         unsigned hits)
{
  const size_t by_chance = (size_t)BENCH_CHECK_NKEYS >> libbloom->bloom.hashes;
  const size_t members = (size_t)BENCH_CHECK_NKEYS * hits / 100;
  const size_t some = hits == 0 ? 2 * by_chance : BENCH_CHECK_NKEYS / 16;
  const size_t count = screen(&libbloom->bloom, queries->keys, BENCH_CHECK_NKEYS);
  return libbloom->bloom.hashes > 0 && count + some >= members && count <= members + some &&
         (hits < 100 || count == members);
}

static void screen_row(struct bench *bench, void *argument)
{
  struct libbloom_row *row = argument;
  const struct bench_case *wanted = &row->wanted;
  struct bench_queries *queries = bench_queries(wanted->kib, wanted->hits);
  struct libbloom *libbloom = bench_share(
      make_libbloom, &(struct bench_case){.kib = wanted->kib, .nprobes = wanted->nprobes});
  row->checked = row->checked || ((unsigned)libbloom->bloom.hashes == wanted->nprobes &&
                                  answers_well(libbloom, queries, wanted->hits));
  if (!row->checked) {
    bench_skip(bench, "wrong number of probes or hits");
    return;
  }
  while (bench_next(bench, BENCH_CALL_NKEYS)) {
    const size_t count =
        screen(&libbloom->bloom, queries->keys + bench_queries_next(queries), BENCH_CALL_NKEYS);
    bench_keep(&count);
  }
}

static void build_row(struct bench *bench, void *argument)
{
  const struct libbloom_row *row = argument;
  const uint64_t *keys = bench_members(row->wanted.kib);
  const size_t nkeys = row->wanted.kib * 1024 * 8 / 10;
  while (bench_next(bench, nkeys)) {
    struct bloom bloom;
    if (!init(&bloom, &row->wanted))
      bench_check(LANEBLOOM_ERR_MEMORY);
    for (size_t i = 0; i < nkeys; i++)
      bloom_add(&bloom, keys + i, sizeof *keys);
    bench_keep(bloom.bf);
    bloom_free(&bloom);
  }
}

void bench_register_libbloom(void)
{
  static const unsigned nprobes[] = {4, 6, 10}, hits[] = {0, 50, 100};
  for (size_t size = 0; size < BENCH_NSIZES; size++) {
    if (bench_sizes[size] > INT_MAX / 8 / 1024)
      continue; /* libbloom counts bits in an int */
    for (size_t k = 0; k < 3; k++)
      for (size_t hit = 0; hit < 3; hit++) {
        const struct libbloom_row row = {{0, bench_sizes[size], nprobes[k], hits[hit], 0}, false};
        bench_register(screen_row, &row, sizeof row,
                       "screen/libbloom/peer:libbloom/KiB:%zu/hits:%u/k:%u/with-hash",
                       row.wanted.kib, row.wanted.hits, row.wanted.nprobes);
      }
    const struct libbloom_row row = {{0, bench_sizes[size], BENCH_NPROBES, 0, 0}, false};
    bench_register(build_row, &row, sizeof row, "build/libbloom/peer:libbloom/KiB:%zu",
                   row.wanted.kib);
  }
}
