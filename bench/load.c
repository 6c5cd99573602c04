/* Measures how fast a file with a filter is opened while the file is in the page cache.
 * lanebloom_filter_load() copies and verifies the file; lanebloom_filter_map() does neither.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rows.h"
#include "shared.h"
#include "shim.h"

struct load_row {
  const char *name;
  lanebloom_status (*open)(const char *path, lanebloom_filter **filter, char *problem,
                           size_t problem_size);
  size_t kib;
};

static void release_file(void *value)
{
  unlink(value);
  free(value);
}

static struct bench_made make_file(const struct bench_case *wanted)
{
  const char *folder = getenv("TMPDIR");
  char *path;
  if (asprintf(&path, "%s/lanebloom-bench-%ld-%zu", folder ? folder : "/tmp", (long)getpid(),
               wanted->kib) < 0)
    bench_check(LANEBLOOM_ERR_MEMORY);
  bench_check(lanebloom_filter_save(bench_filter(wanted)->filter, path));
  return (struct bench_made){path, wanted->kib * 1024, release_file};
}

static void load_row(struct bench *bench, void *argument)
{
  const struct load_row *row = argument;
  const char *path = bench_share(
      make_file, &(struct bench_case){LANEBLOOM_LEVELDB, row->kib, BENCH_NPROBES, 0, 0});
  while (bench_next(bench, 1)) {
    lanebloom_filter *filter;
    bench_check(row->open(path, &filter, NULL, 0));
    bench_keep(filter);
    lanebloom_filter_free(filter);
  }
  if (row->open == lanebloom_filter_load)
    bench_bytes(bench, (double)row->kib * 1024);
  bench_note(bench, "per file");
}

void bench_register_load(void)
{
  for (size_t size = 0; size < BENCH_NSIZES; size++) {
    const struct load_row rows[] = {
        {"load", lanebloom_filter_load, bench_sizes[size]},
        {"map", lanebloom_filter_map, bench_sizes[size]},
    };
    for (size_t i = 0; i < 2; i++)
      bench_register(load_row, &rows[i], sizeof rows[i], "load/%s/KiB:%zu", rows[i].name,
                     rows[i].kib);
  }
}
