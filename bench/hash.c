/* Hashing alone: keys of one width, and words.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "shared.h"
#include "shim.h"

enum {
  SET_NBYTES = 16 << 10, /* keys of one width: they stay in the first-level cache with their hashes */
  MIN_NKEYS = 256,       /* of wide keys */
  MAX_NWORDS = 1 << 16,  /* more than a branch predictor learns */
  MIN_WORD_NBYTES = 5,
  MAX_WORD_NBYTES = 30,
};

struct hash_row {
  lanebloom_format format; /* that hashes so */
  const char *kernel;
  size_t width; /* 0: words */
  bool checked;
};

/* ---- Keys ---- */

static struct {
  uint32_t offsets[MAX_NWORDS + 1];
  size_t n;
  uint8_t bytes[MAX_NWORDS * MAX_WORD_NBYTES];
} words;

static void add_word(const void *word, size_t nbytes)
{
  memcpy(words.bytes + words.offsets[words.n], word, nbytes);
  words.offsets[words.n + 1] = words.offsets[words.n] + (uint32_t)nbytes;
  words.n++;
}

/* Every so-many-th word of the right size, so that they come from all of the dictionary. */
static void read_words(FILE *dictionary)
{
  char line[256];
  for (size_t pass = 0, stride = 7; pass < stride && words.n < MAX_NWORDS; pass++) {
    rewind(dictionary);
    for (size_t i = 0; words.n < MAX_NWORDS && fgets(line, sizeof line, dictionary); i++) {
      const size_t nbytes = strcspn(line, "\n");
      if (i % stride == pass && nbytes >= MIN_WORD_NBYTES && nbytes <= MAX_WORD_NBYTES)
        add_word(line, nbytes);
    }
  }
}

/* Where there is no dictionary: letters, all sizes equally often. */
static void invent_words(void)
{
  while (words.n < MAX_NWORDS) {
    uint8_t word[MAX_WORD_NBYTES];
    const uint64_t random = bench_key(words.n * MAX_WORD_NBYTES);
    const size_t nbytes = MIN_WORD_NBYTES + random % (MAX_WORD_NBYTES - MIN_WORD_NBYTES + 1);
    for (size_t i = 0; i < nbytes; i++)
      word[i] = (uint8_t)('a' + bench_key(words.n * MAX_WORD_NBYTES + i) % 26);
    add_word(word, nbytes);
  }
}

static lanebloom_keys take_words(const char **source)
{
  static const char path[] = "/usr/share/dict/words";
  if (words.n == 0) {
    FILE *dictionary = fopen(path, "r");
    if (dictionary) {
      read_words(dictionary);
      fclose(dictionary);
    }
    *source = words.n > 0 ? path : "invented words";
    if (words.n == 0)
      invent_words();
  }
  return lanebloom_keys_offsets32(words.bytes, words.offsets, words.n);
}

static lanebloom_keys take_keys(size_t width)
{
  static uint64_t bytes[MIN_NKEYS * 300 / sizeof(uint64_t)];
  for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
    bytes[i] = bench_key(i);
  const size_t n = SET_NBYTES / width;
  return lanebloom_keys_fixed(bytes, width, n < MIN_NKEYS ? MIN_NKEYS : n);
}

/* ---- Rows ---- */

static void hash(const struct hash_row *row, const char *kernel, const lanebloom_keys *keys, uint64_t *hashes)
{
  bench_use(kernel);
  bench_check(lanebloom_hash(row->format, keys, hashes));
}

static bool hashes_well(const struct hash_row *row, const lanebloom_keys *keys, uint64_t *hashes)
{
  const size_t nbytes = keys->n * lanebloom_format_hash_size(row->format);
  uint64_t *expected = malloc(nbytes);
  if (!expected)
    bench_check(LANEBLOOM_ERR_MEMORY);
  hash(row, "scalar", keys, expected);
  hash(row, row->kernel, keys, hashes);
  const bool same = memcmp(hashes, expected, nbytes) == 0;
  free(expected);
  return same;
}

static void hash_row(struct bench *bench, void *argument)
{
  struct hash_row *row = argument;
  static uint64_t hashes[MAX_NWORDS];
  static const char *source;
  const lanebloom_keys keys = row->width > 0 ? take_keys(row->width) : take_words(&source);
  row->checked = row->checked || hashes_well(row, &keys, hashes);
  if (!row->checked) {
    bench_skip(bench, "wrong hashes");
    return;
  }
  bench_use(row->kernel);
  while (bench_next(bench, keys.n)) {
    lanebloom_hash(row->format, &keys, hashes);
    bench_keep(hashes);
  }
  bench_bytes(bench, row->width > 0 ? (double)row->width : (double)words.offsets[words.n] / (double)words.n);
  if (row->width == 0)
    bench_note(bench, source);
}

void bench_register_hash(void)
{
  static const struct {
    const char *name;
    lanebloom_format format;
  } functions[] = {
      {"bloomhash", LANEBLOOM_LEVELDB},
      {"bloomhash-signed", LANEBLOOM_LEVELDB_SIGNED},
      {"xxph3", LANEBLOOM_ROCKSDB_LOCAL},
  };
  static const size_t widths[] = {4, 8, 16, 20, 32, 64, 300, 0};
  for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
      for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
        const struct hash_row row = {functions[f].format, lanebloom_kernel_name(i), widths[w], false};
        char keys[32] = "words";
        if (row.width > 0)
          snprintf(keys, sizeof keys, "bytes:%zu", row.width);
        bench_register(hash_row, bench_argument(&row, sizeof row), "hash/%s/%s/%s", functions[f].name, row.kernel,
                       keys);
      }
}
