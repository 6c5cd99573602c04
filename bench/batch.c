/* What a batch is worth: the same keys in calls of 1 to 16,384.
 * SPDX-License-Identifier: MIT */
#include "rows.h"
#include "shared.h"
#include "shim.h"

struct batch_row {
  lanebloom_format format;
  const char *kernel;
  size_t nkeys; /* per call */
  bool checked;
};

/* Asks for BENCH_CALL_NKEYS keys, nkeys per call; returns how many may be in the filter. */
static size_t ask(const lanebloom_filter *filter, const uint64_t *from, size_t nkeys)
{
  size_t count = 0;
  for (size_t first = 0; first < BENCH_CALL_NKEYS; first += nkeys) {
    uint8_t bitmap[BENCH_CALL_NKEYS / 8];
    const lanebloom_keys keys = bench_keys(from + first, nkeys);
    count += lanebloom_filter_screen(filter, &keys, bitmap);
    bench_keep(bitmap);
  }
  return count;
}

static size_t ask_in_all(const lanebloom_filter *filter, const struct bench_queries *queries,
                         size_t nkeys)
{
  size_t count = 0;
  for (size_t first = 0; first < BENCH_CHECK_NKEYS; first += BENCH_CALL_NKEYS)
    count += ask(filter, queries->keys + first, nkeys);
  return count;
}

static void batch_row(struct bench *bench, void *argument)
{
  enum { FILTER_KIB = 256 };
  struct batch_row *row = argument;
  const struct bench_case wanted = {row->format, FILTER_KIB, BENCH_NPROBES, 0, 0};
  const lanebloom_filter *filter = bench_filter(&wanted)->filter;
  struct bench_queries *queries = bench_queries(FILTER_KIB, 0);
  const size_t expected = row->checked ? 0 : bench_expected(filter, queries, 0);
  bench_use(row->kernel);
  row->checked = row->checked || ask_in_all(filter, queries, row->nkeys) == expected;
  if (!row->checked)
    bench_skip(bench, "wrong number of hits");
  else
    while (bench_next(bench, BENCH_CALL_NKEYS))
      ask(filter, queries->keys + bench_queries_next(queries), row->nkeys);
}

void bench_register_batch(void)
{
  for (lanebloom_format format = bench_next_format(0); format; format = bench_next_format(format))
    for (size_t nkeys = 1; nkeys <= BENCH_CALL_NKEYS; nkeys *= 4)
      for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
        const struct batch_row row = {format, lanebloom_kernel_name(i), nkeys, false};
        bench_register(batch_row, &row, sizeof row, "batch/%s/%s/keys:%zu",
                       lanebloom_format_name(format), row.kernel, nkeys);
      }
}
