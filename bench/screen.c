/* Measures screening, for every format, by every kernel and peer. The sizes of filters go from the
 * first-level cache to memory. There are also rows with keys of other sizes, with calls of few
 * keys, and with several threads.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "peers.h"
#include "rows.h"
#include "shared.h"
#include "shim.h"
#include "texts.h"

enum question { SCREEN, KEYS, BATCH, THREADS };

struct screen_row {
  enum question question;
  struct bench_case wanted;
  const char *kernel;            /* NULL in a peer's row */
  const struct bench_peer *peer; /* NULL in a kernel's row */
  bool with_hash;
  size_t call_nkeys; /* for BATCH: keys per call; a peer has a size of its own */
  bool checked;
};

/* All that a query needs: a filter, or a peer and its reader, and the keys. */
struct screener {
  const lanebloom_filter *filter;
  const struct bench_queries *queries;
  const uint8_t *hashes; /* the hashes of the keys; NULL if keys are hashed when queried */
  size_t hash_nbytes;
  size_t call_nkeys;
  const struct bench_peer *peer;
  void *reader;
};

/* Screens the BENCH_CALL_NKEYS queries from `first` on. Returns how many may be in the filter.
 * Writes the results to `bitmap`; a peer does not change it. If calls have fewer than 8 keys, they
 * all write the first byte of the bitmap, so the bitmap is then of no use. */
static size_t ask(const struct screener *screener, size_t first, uint8_t *bitmap)
{
  if (screener->hashes)
    return lanebloom_filter_screen_hashes(screener->filter,
                                          screener->hashes + first * screener->hash_nbytes,
                                          BENCH_CALL_NKEYS, bitmap);
  const size_t width = screener->queries->width;
  const uint8_t *keys = (const uint8_t *)screener->queries->keys + first * width;
  if (screener->peer)
    return screener->peer->screen(screener->reader, keys, width, BENCH_CALL_NKEYS);
  const uint8_t *end = keys + BENCH_CALL_NKEYS * width;
  size_t count = 0;
  for (; keys < end; keys += screener->call_nkeys * width) {
    const lanebloom_keys call = lanebloom_keys_fixed(keys, width, screener->call_nkeys);
    count += lanebloom_filter_screen(screener->filter, &call, bitmap);
    bitmap += screener->call_nkeys / 8;
  }
  return count;
}

/* Checks whether all results equal the results of the scalar kernel. If there is no useful bitmap
 * (see ask()), compares only the numbers of keys that may be present. */
static bool answers_as_scalar(const struct screener *screener, const struct screen_row *row)
{
  uint8_t expected_bitmap[BENCH_CHECK_NKEYS / 8], bitmap[BENCH_CHECK_NKEYS / 8];
  const size_t expected =
      bench_expected(screener->filter, screener->queries, row->wanted.hits, expected_bitmap);
  bench_use(row->kernel);
  size_t count = 0;
  for (size_t first = 0; first < BENCH_CHECK_NKEYS; first += BENCH_CALL_NKEYS)
    count += ask(screener, first, bitmap + first / 8);
  const bool single = !row->peer && screener->call_nkeys >= 8;
  return count == expected && (!single || memcmp(bitmap, expected_bitmap, sizeof bitmap) == 0);
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
      .call_nkeys = row->question == BATCH ? row->call_nkeys : BENCH_CALL_NKEYS,
      .peer = row->peer,
  };
  if (row->peer) {
    size_t size;
    const void *bytes =
        lanebloom_filter_bytes(screener.filter, &size); /* all of them query the same memory */
    screener.reader = row->peer->open_reader(bytes, size);
  }

  row->checked = row->checked || answers_as_scalar(&screener, row);
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
    bench_skip(bench, "results differ from scalar's");
  }
  if (row->peer)
    row->peer->close_reader(screener.reader);
}

static void register_row(const struct screen_row *row)
{
  static const char *const questions[] = {
      [SCREEN] = "screen", [KEYS] = "keys", [BATCH] = "batch", [THREADS] = "threads"};
  const struct bench_case *wanted = &row->wanted;
  char set[64] = "";
  if (row->question == SCREEN)
    snprintf(set, sizeof set, "/k:%u/%s", wanted->nprobes,
             row->with_hash ? "with-hash" : "no-hash");
  else if (row->question == KEYS)
    snprintf(set, sizeof set, "/bytes:%zu", wanted->width);
  else if (row->question == BATCH)
    snprintf(set, sizeof set, "/keys:%zu", row->call_nkeys);
  (row->question == THREADS ? bench_register_threads : bench_register)(
      screen_row, row, sizeof *row, "%s/%s/%s%s/KiB:%zu/hits:%u%s", questions[row->question],
      lanebloom_format_name(wanted->format), row->peer ? "peer:" : "",
      row->peer ? row->peer->name : row->kernel, wanted->kib, wanted->hits, set);
}

/* Adds the rows for one case: one for each kernel and one for each peer. */
static void register_case(struct screen_row row)
{
  for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
    row.kernel = lanebloom_kernel_at(i);
    for (int with_hash = 1; with_hash >= (row.question != SCREEN); with_hash--) {
      row.with_hash = with_hash;
      register_row(&row);
    }
  }
  row.kernel = NULL;
  row.with_hash = true;
  for (const struct bench_peer *const *list = bench_peers; *list; list++)
    for (row.peer = *list; row.peer->name; row.peer++)
      if (row.peer->format == row.wanted.format &&
          (row.question != BATCH || row.peer->call_nkeys == row.call_nkeys))
        register_row(&row);
}

/* ---- Keys of other sizes ---- */

/* Measures screening with words as keys. No word is in the filter. So the difference from rows with
 * other keys shows only what hashing keys of many sizes costs. */
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
        register_case((struct screen_row){
            .question = KEYS,
            .wanted = {format, bench_sizes[size], BENCH_NPROBES, hits, widths[w]}});
  for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
    const struct screen_row row = {.wanted = {format, TEXT_KIB, BENCH_NPROBES, 0, 0},
                                   .kernel = lanebloom_kernel_at(i),
                                   .with_hash = true};
    bench_register(text_row, &row, sizeof row, "keys/%s/%s/KiB:%d/hits:0/words",
                   lanebloom_format_name(format), row.kernel, TEXT_KIB);
  }
}

/* ---- Few keys per call, and several threads ---- */

static void register_batch(lanebloom_format format)
{
  static const size_t sizes[] = {256, BENCH_LARGE_KIB},
                      counts[] = {1, 2, 8, 32, 64, 256, 2048, BENCH_CALL_NKEYS};
  for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++)
    for (unsigned hits = 0; hits <= 100; hits += 50)
      for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        register_case((struct screen_row){.question = BATCH,
                                          .wanted = {format, sizes[size], BENCH_NPROBES, hits, 0},
                                          .call_nkeys = counts[i]});
}

static void register_threads(lanebloom_format format)
{
  for (size_t size = 0; size < BENCH_NSIZES; size++)
    for (unsigned hits = 0; hits <= 100 && bench_sizes[size] >= BENCH_THREADS_KIB; hits += 100)
      register_case((struct screen_row){
          .question = THREADS, .wanted = {format, bench_sizes[size], BENCH_NPROBES, hits, 0}});
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
          register_case((struct screen_row){
              .question = SCREEN, .wanted = {format, bench_sizes[size], can, hits[hit], 0}});
    }
  for (lanebloom_format format = bench_next_format(0); format; format = bench_next_format(format)) {
    register_keys(format);
    register_batch(format);
    register_threads(format);
  }
}
