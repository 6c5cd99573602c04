/* Measures how fast a filter is built from all of its keys in one call, for every format, by every
 * kernel and by the engines themselves.
 * SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "format.h"
#include "peers.h"
#include "rows.h"
#include "shared.h"
#include "shim.h"

struct build_row {
  struct bench_case wanted;
  const char *kernel;            /* NULL in a peer's row */
  const struct bench_peer *peer; /* NULL in a kernel's row */
  bool checked;
};

/* The inputs for building one filter. The active kernel needs a format and its keys. A peer, which
 * is an engine to compare with, needs its writer. */
struct maker {
  lanebloom_format format;
  const struct bench_filter *like;
  lanebloom_keys keys;
  const struct bench_peer *peer;
  void *writer;
};

/* Compares filters of one format, except for a count of keys in the header: a filter that several
 * threads built has the sum of the threads' counts. */
static bool are_alike(const struct format_table *format, const uint8_t *a, const uint8_t *b,
                      size_t size)
{
  const size_t count = format->count_offset, rest = count > 0 ? count + sizeof(uint64_t) : 0;
  return memcmp(a, b, count) == 0 && memcmp(a + rest, b + rest, size - rest) == 0;
}

/* Builds a filter and releases it. Returns false if `expected` is not NULL and the filter's bytes
 * differ from those of `expected`. */
static bool build(const struct maker *maker, const lanebloom_filter *expected)
{
  lanebloom_filter *filter = NULL;
  const void *bytes, *expected_bytes;
  size_t size, expected_size;
  if (maker->peer) {
    size =
        maker->peer->build(maker->writer, &bytes); /* freed when the peer builds its next filter */
  } else {
    bench_check(
        lanebloom_filter_build(maker->format, maker->like->bits_per_key, &maker->keys, &filter));
    bytes = lanebloom_filter_bytes(filter, &size);
  }
  bench_keep(bytes);
  bool same = true;
  if (expected) {
    expected_bytes = lanebloom_filter_bytes(expected, &expected_size);
    same = size == expected_size &&
           are_alike(lanebloom_format_table(maker->format), bytes, expected_bytes, size);
  }
  lanebloom_filter_free(filter);
  return same;
}

/* Checks whether the machine has enough memory for a filter of this size. The keys, an engine's
 * copy of the keys, and two filters take less than 40 times the size of the filter. */
static bool fits_into_memory(size_t kib)
{
  const size_t memory_kib =
      (size_t)sysconf(_SC_PHYS_PAGES) * ((size_t)sysconf(_SC_PAGESIZE) / 1024);
  return kib * 40 < memory_kib;
}

static void build_row(struct bench *bench, void *argument)
{
  struct build_row *row = argument;
  const struct bench_case *wanted = &row->wanted;
  if (!fits_into_memory(wanted->kib)) {
    bench_skip(bench, "too little memory for so many keys");
    return;
  }
  const struct bench_filter *like = bench_filter(wanted);
  struct maker maker = {
      .format = wanted->format,
      .like = like,
      .keys = bench_keys(bench_members(wanted->kib), like->nkeys),
      .peer = row->peer,
  };
  if (row->peer)
    maker.writer = row->peer->open_writer(like->bits_per_key, maker.keys.data, like->nkeys);

  bench_use(row->kernel);
  row->checked = row->checked || build(&maker, like->filter);
  if (row->checked)
    while (bench_next(bench, like->nkeys))
      build(&maker, NULL);
  else
    bench_skip(bench, "bytes differ from the default kernel's");
  if (row->peer)
    row->peer->close_writer(maker.writer);
}

static void register_row(const struct build_row *row)
{
  bench_register(build_row, row, sizeof *row, "build/%s/%s%s/KiB:%zu",
                 lanebloom_format_name(row->wanted.format), row->peer ? "peer:" : "",
                 row->peer ? row->peer->name : row->kernel, row->wanted.kib);
}

static void register_case(struct bench_case wanted)
{
  for (size_t i = 0; i < lanebloom_kernel_count(); i++)
    register_row(&(struct build_row){.wanted = wanted, .kernel = lanebloom_kernel_at(i)});
  for (const struct bench_peer *const *list = bench_peers; *list; list++)
    for (const struct bench_peer *peer = *list; peer->name; peer++)
      if (peer->format == wanted.format && peer->build)
        register_row(&(struct build_row){.wanted = wanted, .peer = peer});
}

void bench_register_build(void)
{
  for (lanebloom_format format = bench_next_format(0); format; format = bench_next_format(format))
    for (size_t size = 0; size < BENCH_NSIZES; size++)
      register_case((struct bench_case){
          .format = format, .kib = bench_sizes[size], .nprobes = BENCH_NPROBES});
}
