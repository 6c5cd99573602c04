/* Screening: every format, kernel and peer, over filters from the first level of cache to memory.
 * SPDX-License-Identifier: MIT */
#include "peers.h"
#include "rows.h"
#include "shared.h"
#include "shim.h"
#include "texts.h"

struct screen_row {
  struct bench_case wanted;
  const char *kernel;            /* NULL: a peer's row */
  const struct bench_peer *peer; /* NULL: a kernel's row */
  bool with_hash;
  bool checked;
};

/* Who answers, ready to be asked. */
struct screener {
  const lanebloom_filter *filter;
  const struct bench_queries *queries;
  const uint8_t *hashes; /* NULL: with-hash */
  size_t hash_nbytes;
  const struct bench_peer *peer;
  void *reader;
};

/* Asks for queries first .. first + BENCH_CALL_NKEYS; returns how many may be in the filter. */
static size_t ask(const struct screener *screener, size_t first, uint8_t *bitmap)
{
  const lanebloom_keys keys = bench_queries_part(screener->queries, first, BENCH_CALL_NKEYS);
  if (screener->peer)
    return screener->peer->screen(screener->reader, keys.data, keys.width, keys.n);
  if (screener->hashes)
    return lanebloom_filter_screen_hashes(screener->filter,
                                          screener->hashes + first * screener->hash_nbytes,
                                          BENCH_CALL_NKEYS, bitmap);
  return lanebloom_filter_screen(screener->filter, &keys, bitmap);
}

static size_t count_checked(const struct screener *screener)
{
  uint8_t bitmap[BENCH_CALL_NKEYS / 8];
  size_t count = 0;
  for (size_t first = 0; first < BENCH_CHECK_NKEYS; first += BENCH_CALL_NKEYS)
    count += ask(screener, first, bitmap);
  return count;
}

static void screen_row(struct bench *bench, void *argument)
{
  struct screen_row *row = argument;
  const struct bench_case *wanted = &row->wanted;
  struct bench_queries *queries = bench_queries_for(wanted);
  struct screener screener = {
      .filter = bench_filter(wanted)->filter,
      .queries = queries,
      .hashes = row->with_hash ? NULL : bench_hashes(wanted->format, wanted->kib, wanted->hits),
      .hash_nbytes = lanebloom_format_hash_size(wanted->format),
      .peer = row->peer,
  };
  if (row->peer) {
    size_t size;
    const void *bytes =
        lanebloom_filter_bytes(screener.filter, &size); /* the same memory for everyone */
    screener.reader = row->peer->open_reader(bytes, size);
  }

  if (!row->checked) {
    const size_t expected = bench_expected(screener.filter, queries, wanted->hits);
    bench_use(row->kernel);
    row->checked = count_checked(&screener) == expected;
  }
  if (row->checked) {
    uint8_t bitmap[BENCH_CALL_NKEYS / 8];
    bench_use(row->kernel);
    bench_warm(screener.filter);
    while (bench_next(bench, BENCH_CALL_NKEYS)) {
      const size_t count = ask(&screener, bench_queries_next(queries), bitmap);
      bench_keep(&count);
      bench_keep(bitmap);
    }
  } else {
    bench_skip(bench, "wrong number of hits");
  }
  if (row->peer)
    row->peer->close_reader(screener.reader);
}

static void register_row(const struct screen_row *row)
{
  const struct bench_case *wanted = &row->wanted;
  if (wanted->width > 0)
    bench_register(screen_row, row, sizeof *row, "keys/%s/%s%s/KiB:%zu/hits:%u/bytes:%zu",
                   lanebloom_format_name(wanted->format), row->peer ? "peer:" : "",
                   row->peer ? row->peer->name : row->kernel, wanted->kib, wanted->hits,
                   wanted->width);
  else
    bench_register(screen_row, row, sizeof *row, "screen/%s/%s%s/KiB:%zu/hits:%u/k:%u/%s",
                   lanebloom_format_name(wanted->format), row->peer ? "peer:" : "",
                   row->peer ? row->peer->name : row->kernel, wanted->kib, wanted->hits,
                   wanted->nprobes, row->with_hash ? "with-hash" : "no-hash");
}

/* The rows that are to be compared with each other. */
static void register_case(struct bench_case wanted)
{
  for (size_t i = 0; i < lanebloom_kernel_count(); i++)
    for (int with_hash = 1; with_hash >= (wanted.width > 0); with_hash--)
      register_row(&(struct screen_row){
          .wanted = wanted, .kernel = lanebloom_kernel_name(i), .with_hash = with_hash});
  for (const struct bench_peer *const *list = bench_peers; *list; list++)
    for (const struct bench_peer *peer = *list; peer->name; peer++)
      if (peer->format == wanted.format)
        register_row(&(struct screen_row){.wanted = wanted, .peer = peer, .with_hash = true});
}

/* ---- Keys of other sizes ---- */

/* Words that are in no filter: what kinds of keys cost, by the hash alone. */
static void text_row(struct bench *bench, void *argument)
{
  struct screen_row *row = argument;
  const lanebloom_filter *filter = bench_filter(&row->wanted)->filter;
  const struct bench_texts *words = bench_texts(BENCH_WORDS);
  const lanebloom_keys keys = lanebloom_keys_offsets32(words->bytes, words->offsets, words->n);
  if (!row->checked) {
    bench_use("scalar");
    const size_t expected = lanebloom_filter_screen(filter, &keys, NULL);
    bench_use(row->kernel);
    row->checked = lanebloom_filter_screen(filter, &keys, NULL) == expected;
  }
  if (!row->checked) {
    bench_skip(bench, "wrong number of hits");
    return;
  }
  uint8_t bitmap[BENCH_CALL_NKEYS / 8];
  bench_use(row->kernel);
  for (size_t next = 0; bench_next(bench, BENCH_CALL_NKEYS);
       next = (next + BENCH_CALL_NKEYS) % BENCH_TEXT_NKEYS) {
    const lanebloom_keys part = lanebloom_keys_part(&keys, next, BENCH_CALL_NKEYS);
    lanebloom_filter_screen(filter, &part, bitmap);
    bench_keep(bitmap);
  }
  bench_note(bench, words->source);
}

static void register_keys(lanebloom_format format)
{
  enum { TEXT_KIB = 256 };
  static const size_t widths[] = {8, 16};
  for (size_t size = 0; size < BENCH_NSIZES; size++)
    for (unsigned hits = 0; hits <= 100; hits += 100)
      for (size_t w = 0; w < 2; w++)
        register_case(
            (struct bench_case){format, bench_sizes[size], BENCH_NPROBES, hits, widths[w]});
  for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
    const struct screen_row row = {.wanted = {format, TEXT_KIB, BENCH_NPROBES, 0, 0},
                                   .kernel = lanebloom_kernel_name(i),
                                   .with_hash = true};
    bench_register(text_row, &row, sizeof row, "keys/%s/%s/KiB:%d/hits:0/words",
                   lanebloom_format_name(format), row.kernel, TEXT_KIB);
  }
}

void bench_register_screen(void)
{
  static const unsigned nprobes[] = {4, 6, 10}, hits[] = {0, 50, 100};
  for (lanebloom_format format = bench_next_format(0); format; format = bench_next_format(format))
    for (size_t k = 0; k < 3; k++) {
      const unsigned can = bench_nprobes(format, nprobes[k]);
      if (can != nprobes[k] && nprobes[k] != BENCH_NPROBES)
        continue;
      for (size_t size = 0; size < BENCH_NSIZES; size++)
        for (size_t hit = 0; hit < 3; hit++)
          register_case((struct bench_case){format, bench_sizes[size], can, hits[hit], 0});
    }
  for (lanebloom_format format = bench_next_format(0); format; format = bench_next_format(format))
    register_keys(format);
}
