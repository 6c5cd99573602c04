/* Measures how fast keys are hashed, without a filter: keys of one width, and sets of keys of many
 * sizes.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peers.h"
#include "rows.h"
#include "shared.h"
#include "shim.h"
#include "texts.h"

enum {
  SET_NBYTES =
      16 << 10,    /* keys of one width: they stay in the first-level cache with their hashes */
  MIN_NKEYS = 256, /* even if keys are wide */
  MAX_NKEYS = SET_NBYTES / 4,
};

struct hash_row {
  lanebloom_format format;       /* a format that has this hash */
  const char *kernel;            /* NULL in a peer's row */
  const struct bench_peer *peer; /* NULL in a kernel's row */
  size_t width;                  /* 0 if the keys are `text` */
  enum bench_text text;
  bool checked;
};

/* Returns keys of one width. In every build, their array begins at a cache line, because the
 * alignment changes the times: if the array begins elsewhere, hashing keys of 8 bytes takes 1.26
 * times as long (avx512, Zen 4). */
static lanebloom_keys take_width(size_t width)
{
  static _Alignas(64) uint64_t bytes[MIN_NKEYS * 300 / sizeof(uint64_t)];
  for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
    bytes[i] = bench_key(i);
  const size_t n = SET_NBYTES / width;
  return lanebloom_keys_fixed(bytes, width, n < MIN_NKEYS ? MIN_NKEYS : n);
}

static lanebloom_keys take_keys(const struct hash_row *row)
{
  if (row->width > 0)
    return take_width(row->width);
  const struct bench_texts *texts = bench_texts(row->text);
  return lanebloom_keys_offsets32(texts->bytes, texts->offsets, texts->n);
}

/* Returns the offsets of the keys, because peers take keys only by their offsets. */
static const uint32_t *offsets_of(const struct hash_row *row, const lanebloom_keys *keys)
{
  static uint32_t offsets[MAX_NKEYS + 1];
  if (row->width == 0)
    return keys->index;
  for (size_t i = 0; i <= keys->n; i++)
    offsets[i] = (uint32_t)(i * row->width);
  return offsets;
}

static void hash(const struct hash_row *row, const lanebloom_keys *keys, const uint32_t *offsets,
                 void *hashes)
{
  if (row->peer)
    row->peer->hash(keys->data, offsets, keys->n, hashes);
  else
    bench_check(lanebloom_hash(row->format, keys, hashes));
}

static bool hashes_well(const struct hash_row *row, const lanebloom_keys *keys,
                        const uint32_t *offsets, void *hashes)
{
  const size_t nbytes = keys->n * lanebloom_format_hash_size(row->format);
  void *expected = malloc(nbytes);
  if (!expected)
    bench_check(LANEBLOOM_ERR_MEMORY);
  bench_use("scalar");
  bench_check(lanebloom_hash(row->format, keys, expected));
  bench_use(row->kernel);
  hash(row, keys, offsets, hashes);
  const bool same = memcmp(hashes, expected, nbytes) == 0;
  free(expected);
  return same;
}

static struct bench_made make_hashes(const struct bench_case *unused)
{
  (void)unused;
  return bench_make_array(BENCH_TEXT_NKEYS * MAX_HASH_NBYTES);
}

static void hash_row(struct bench *bench, void *argument)
{
  struct hash_row *row = argument;
  uint8_t *hashes = bench_share_array(make_hashes, &(struct bench_case){0});
  const lanebloom_keys keys = take_keys(row);
  const uint32_t *offsets = offsets_of(row, &keys);
  row->checked = row->checked || hashes_well(row, &keys, offsets, hashes);
  if (!row->checked) {
    bench_skip(bench, "wrong hashes");
    return;
  }
  bench_use(row->kernel);
  while (bench_next(bench, keys.n)) {
    hash(row, &keys, offsets, hashes);
    bench_keep(hashes);
  }
  bench_bytes(bench, (double)offsets[keys.n] / (double)keys.n);
  if (row->width == 0)
    bench_note(bench, bench_texts(row->text)->source);
}

static void register_row(const struct hash_row *row)
{
  char keys[32];
  if (row->width > 0)
    snprintf(keys, sizeof keys, "bytes:%zu", row->width);
  else
    snprintf(keys, sizeof keys, "%s", bench_text_name(row->text));
  bench_register(hash_row, row, sizeof *row, "hash/%s/%s%s/%s",
                 HASH_NAME[lanebloom_format_table(row->format)->hash], row->peer ? "peer:" : "",
                 row->peer ? row->peer->name : row->kernel, keys);
}

/* Adds the rows for one set of keys: one for each kernel and one for each peer. */
static void register_keys(struct hash_row row)
{
  for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
    row.kernel = lanebloom_kernel_at(i);
    register_row(&row);
  }
  row.kernel = NULL;
  for (const struct bench_peer *const *list = bench_peers; *list; list++)
    for (row.peer = *list; row.peer->name; row.peer++)
      if (row.peer->format == row.format && row.peer->hash)
        register_row(&row);
}

void bench_register_hash(void)
{
  static const size_t widths[] = {4, 8, 12, 16, 20, 32, 64, 200, 300};
  for (lanebloom_format format = bench_next_format(0); format; format = bench_next_format(format)) {
    if (bench_first_with_hash_of(format) != format)
      continue;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
      register_keys((struct hash_row){.format = format, .width = widths[i]});
    for (enum bench_text text = 0; text < BENCH_NTEXTS; text++)
      register_keys((struct hash_row){.format = format, .text = text});
  }
}
