/* Hashing alone: keys of one width, and keys of many sizes.
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
  MIN_NKEYS = 256, /* of wide keys */
  MAX_NKEYS = SET_NBYTES / 4,
};

struct hash_row {
  lanebloom_format format; /* that hashes so */
  const char *kernel;      /* NULL: LevelDB's own function */
  size_t width;            /* 0: a text */
  enum bench_text text;
  bool checked;
};

/* Arrays begin at a cache line in every build: off it, hashing 8 bytes takes 1.26 times as long
 * (avx512, Zen 4). */
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

#if defined(LANEBLOOM_BENCH_LEVELDB)
static void hash_as_leveldb(const struct hash_row *row, const lanebloom_keys *keys,
                            uint32_t *hashes)
{
  static uint32_t offsets[MAX_NKEYS + 1];
  if (row->width > 0 && offsets[1] != row->width)
    for (size_t i = 0; i <= keys->n; i++)
      offsets[i] = (uint32_t)(i * row->width);
  bench_leveldb_hash(keys->data, row->width > 0 ? offsets : keys->index, keys->n, hashes);
}
#else
static void hash_as_leveldb(const struct hash_row *row, const lanebloom_keys *keys,
                            uint32_t *hashes)
{
  (void)row, (void)keys, (void)hashes;
}
#endif

static void hash(const struct hash_row *row, const char *kernel, const lanebloom_keys *keys,
                 uint64_t *hashes)
{
  if (kernel)
    bench_check(lanebloom_hash(row->format, keys, hashes));
  else
    hash_as_leveldb(row, keys, (uint32_t *)hashes);
}

static bool hashes_well(const struct hash_row *row, const lanebloom_keys *keys, uint64_t *hashes)
{
  const size_t nbytes = keys->n * lanebloom_format_hash_size(row->format);
  uint64_t *expected = malloc(nbytes);
  if (!expected)
    bench_check(LANEBLOOM_ERR_MEMORY);
  bench_use("scalar");
  hash(row, "scalar", keys, expected);
  bench_use(row->kernel);
  hash(row, row->kernel, keys, hashes);
  const bool same = memcmp(hashes, expected, nbytes) == 0;
  free(expected);
  return same;
}

static void hash_row(struct bench *bench, void *argument)
{
  struct hash_row *row = argument;
  static _Alignas(64) uint64_t hashes[BENCH_TEXT_NKEYS];
  const lanebloom_keys keys = take_keys(row);
  row->checked = row->checked || hashes_well(row, &keys, hashes);
  if (!row->checked) {
    bench_skip(bench, "wrong hashes");
    return;
  }
  bench_use(row->kernel);
  while (bench_next(bench, keys.n)) {
    hash(row, row->kernel, &keys, hashes);
    bench_keep(hashes);
  }
  const uint32_t *offsets = keys.index;
  bench_bytes(bench,
              row->width > 0 ? (double)row->width : (double)offsets[keys.n] / (double)keys.n);
  if (row->width == 0)
    bench_note(bench, bench_texts(row->text)->source);
}

static void register_row(const char *function, const struct hash_row *row)
{
  char keys[32];
  if (row->width > 0)
    snprintf(keys, sizeof keys, "bytes:%zu", row->width);
  else
    snprintf(keys, sizeof keys, "%s", bench_text_name(row->text));
  bench_register(hash_row, row, sizeof *row, "hash/%s/%s/%s", function,
                 row->kernel ? row->kernel : "peer:leveldb", keys);
}

void bench_register_hash(void)
{
  static const struct {
    const char *name;
    lanebloom_format format;
    bool has_peer;
  } functions[] = {
#if defined(LANEBLOOM_BENCH_LEVELDB)
    {"bloomhash", LANEBLOOM_LEVELDB, true},
#else
    {"bloomhash", LANEBLOOM_LEVELDB, false},
#endif
    {"bloomhash-signed", LANEBLOOM_LEVELDB_SIGNED, false},
    {"xxph3", LANEBLOOM_ROCKSDB_LOCAL, false},
  };
  static const size_t widths[] = {4, 8, 12, 16, 20, 32, 64, 300};
  enum { NWIDTHS = sizeof widths / sizeof *widths };
  for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
    for (size_t set = 0; set < NWIDTHS + BENCH_NTEXTS; set++) {
      struct hash_row row = {.format = functions[f].format,
                             .width = set < NWIDTHS ? widths[set] : 0};
      if (row.width == 0)
        row.text = (enum bench_text)(set - NWIDTHS);
      for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
        row.kernel = lanebloom_kernel_name(i);
        register_row(functions[f].name, &row);
      }
      row.kernel = NULL;
      if (functions[f].has_peer)
        register_row(functions[f].name, &row);
    }
}
