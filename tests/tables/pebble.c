/* Frozen footers, columnar blocks and filters of Pebble, and damaged ones.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "common/bytes.h"
#include "rows.h"
#include "tables/block.h"

enum { MAX_TEXT_NBYTES = 1 << 14 };

/* ---- Footers ---- */

static lanebloom_status read_footer(const uint8_t *bytes, size_t nbytes, struct footer *footer,
                                    char problem[300])
{
  const struct input input = {.file = -1, .bytes = bytes, .nbytes = nbytes};
  const struct problem where = problem_begin(problem, 300);
  return lanebloom_footer_read(&input, footer, &where);
}

/* Makes a file that consists of zeros and the footer. */
static uint8_t *file_of(const struct guarded *footer, size_t nbytes)
{
  uint8_t *file = test_alloc(nbytes);
  memcpy(file + nbytes - footer->nbytes, footer->bytes, footer->nbytes);
  return file;
}

Test(pebble, footers)
{
  struct rows rows = rows_open("pebble_footers.txt");
  while (rows_next(&rows, 7)) {
    const uint32_t version = (uint32_t)atoi(rows.values[0]);
    const size_t nbytes = (size_t)atoi(rows.values[1]);
    struct guarded bytes = rows_bytes(rows.values[2]);
    uint8_t *file = file_of(&bytes, nbytes);
    struct footer footer;
    char problem[300], handles[100];
    cr_assert(read_footer(file, nbytes, &footer, problem) == LANEBLOOM_OK, "%s", problem);
    cr_assert(footer.engine == LANEBLOOM_ENGINE_PEBBLE && footer.version == version);
    cr_assert(footer.offset == nbytes - bytes.nbytes);
    cr_assert(footer.checksum == (enum checksum)atoi(rows.values[3]));
    snprintf(handles, sizeof handles, "%" PRIu64 ",%" PRIu64, footer.metaindex.offset,
             footer.metaindex.nbytes);
    cr_assert(strcmp(handles, rows.values[4]) == 0, "%s", handles);
    snprintf(handles, sizeof handles, "%" PRIu64 ",%" PRIu64, footer.index.offset,
             footer.index.nbytes);
    cr_assert(strcmp(handles, rows.values[5]) == 0, "%s", handles);
    if (version >= 6) /* every bit counts */
      for (size_t i = 0; i < 8 * bytes.nbytes; i++) {
        file[nbytes - bytes.nbytes + i / 8] ^= (uint8_t)(1 << i % 8);
        cr_assert(read_footer(file, nbytes, &footer, problem) != LANEBLOOM_OK ||
                      footer.version < 6, /* the bit makes it a version without a checksum */
                  "bit %zu", i);
        file[nbytes - bytes.nbytes + i / 8] ^= (uint8_t)(1 << i % 8);
      }
    free(file);
    guarded_free(&bytes);
  }
  cr_assert(rows.n == 72, "%zu rows", rows.n);
  rows_close(&rows);
}

Test(pebble, odd_footers)
{
  enum { SHORT_NBYTES = 53, FOOTER_NBYTES = 61, AT_VERSION = 49 };
  struct footer footer;
  char problem[300];
  uint8_t bytes[FOOTER_NBYTES] = {CHECKSUM_CRC32C};
  store_le64(bytes + FOOTER_NBYTES - 8, 0xb3aa9ff0b3aa9ff0);
  for (uint32_t version = 0; version < 12; version++) {
    test_context("version %u", version);
    store_le32(bytes + AT_VERSION, version);
    const lanebloom_status status = read_footer(bytes, sizeof bytes, &footer, problem);
    const bool is_known = version >= 1 && version <= 8;
    cr_assert(status == (version > 0 && version < 6 ? LANEBLOOM_OK
                         : is_known                 ? LANEBLOOM_ERR_CORRUPT
                                                    : LANEBLOOM_ERR_LIMIT));
    cr_assert(is_known || strstr(problem, "Pebble's format_version: expected 1 to 8, found"), "%s",
              problem);
    cr_assert(version != 9 || strstr(problem, "found 9; a newer lanebloom may read it"));
    cr_assert(version < 6 || !is_known || strstr(problem, "expected checksum"), "%s", problem);
    const size_t ntoo_few = version < 6 ? SHORT_NBYTES - 1 : version == 6 ? 56 : 60;
    if (!is_known)
      continue;
    cr_assert(read_footer(bytes + FOOTER_NBYTES - ntoo_few, ntoo_few, &footer, problem) ==
              LANEBLOOM_ERR_CORRUPT);
    cr_assert(strstr(problem, "truncated: expected Pebble's footer of"), "%s", problem);
  }
}

/* ---- Columnar blocks ---- */

static const struct {
  const char *name;
  enum column_layout layout;
} kinds[] = {{"metaindex", COLUMNS_NAMES},
             {"properties", COLUMNS_NAMES},
             {"index", COLUMNS_INDEX},
             {"data", COLUMNS_KEYS}};

static enum column_layout layout_of(const char *name)
{
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kinds[i].name, name) == 0)
      return kinds[i].layout;
  return NO_COLUMNS;
}

static size_t put_hex(char *text, size_t at, const uint8_t *bytes, size_t nbytes)
{
  for (size_t i = 0; i < nbytes; i++)
    snprintf(text + at + 2 * i, MAX_TEXT_NBYTES - at - 2 * i, "%02x", bytes[i]);
  return at + 2 * nbytes;
}

/* Writes the entries as the frozen file has them. */
static lanebloom_status read_entries(const uint8_t *bytes, size_t nbytes, enum column_layout layout,
                                     char text[MAX_TEXT_NBYTES])
{
  const struct block block = {.bytes = bytes, .nbytes = nbytes, .layout = layout};
  struct entries entries;
  size_t at = 0;
  lanebloom_status status = lanebloom_entries_begin(
      &block, (struct entry_form){0}, LANEBLOOM_ENGINE_PEBBLE, &(struct problem){0}, &entries);
  if (status)
    return status;
  text[0] = 0;
  while (lanebloom_entries_next(&entries)) {
    const size_t nkey = entries.key_nbytes - (layout == COLUMNS_KEYS ? 8 : 0);
    if (at + 2 * (nkey + cursor_left(&entries.value)) + 50 > MAX_TEXT_NBYTES)
      continue; /* possible only in a damaged block */
    if (at > 0)
      text[at++] = ',';
    at = put_hex(text, at, entries.key, nkey);
    text[at++] = ':';
    if (layout == COLUMNS_NAMES)
      at = put_hex(text, at, entries.value.at, cursor_left(&entries.value));
    else if (layout == COLUMNS_KEYS)
      at += (size_t)sprintf(text + at, "%" PRIu64, load_le64(entries.key + nkey));
    else
      at += (size_t)sprintf(text + at, "%" PRIu64 ":%" PRIu64, entries.handle.offset,
                            entries.handle.nbytes);
    text[at] = 0;
  }
  return lanebloom_entries_end(&entries, "block", &(struct problem){0});
}

/* Every row of a block is read. If bytes change or are cut off, nothing behind the block is read,
 * and a block of names is refused if it is cut: its last column is read. */
Test(pebble, columnar_blocks)
{
  struct rng rng = rng_start(0);
  static char text[MAX_TEXT_NBYTES];
  struct rows rows = rows_open("pebble_columnar.txt");
  while (rows_next(&rows, 3)) {
    const enum column_layout layout = layout_of(rows.values[0]);
    struct guarded bytes = rows_bytes(rows.values[1]);
    cr_assert(read_entries(bytes.bytes, bytes.nbytes, layout, text) == LANEBLOOM_OK);
    cr_assert(strcmp(text, rows.values[2]) == 0, "%s, expected %s", text, rows.values[2]);
    for (size_t i = 0; i < bytes.nbytes; i += 1 + rng_below(&rng, 4)) {
      const uint8_t before = bytes.bytes[i];
      bytes.bytes[i] = (uint8_t)rng_next(&rng);
      read_entries(bytes.bytes, bytes.nbytes, layout, text);
      bytes.bytes[i] = before;
    }
    for (size_t n = 0; n < bytes.nbytes; n += 1 + rng_below(&rng, 8)) {
      struct guarded cut = guarded_copy(bytes.bytes, n, AT_END);
      const lanebloom_status status = read_entries(cut.bytes, n, layout, text);
      cr_assert(status || layout != COLUMNS_NAMES, "%zu bytes", n);
      guarded_free(&cut);
    }
    guarded_free(&bytes);
  }
  cr_assert(rows.n == 55, "%zu rows", rows.n);
  rows_close(&rows);
}

Test(pebble, odd_blocks)
{
  static const struct {
    const char *block, *text; /* text NULL: refused */
    lanebloom_status status;
  } cases[] = {
      /* no rows, so no columns follow */
      {"010200000000000311000000031100000000", "", LANEBLOOM_OK},
      /* one row */
      {"01020001000000031100000003140000000100000100016100", ":61", LANEBLOOM_OK},
      /* slices that do not begin at 0 */
      {"01020001000000031100000003140000000101010100016100", NULL, LANEBLOOM_ERR_CORRUPT},
      /* slices that end behind their column */
      {"01020001000000031100000003140000000100010100016100", NULL, LANEBLOOM_ERR_CORRUPT},
      /* numbers of 3 bytes */
      {"01020001000000031100000003140000000300000100016100", NULL, LANEBLOOM_ERR_CORRUPT},
      /* columns that overlap, or lie elsewhere */
      {"01020001000000031100000003100000000100000100016100", NULL, LANEBLOOM_ERR_CORRUPT},
      {"010200010000000311000000031a0000000100000100016100", NULL, LANEBLOOM_ERR_CORRUPT},
      {"01020001000000031000000003140000000100000100016100", NULL, LANEBLOOM_ERR_CORRUPT},
      /* other formats */
      {"020200000000000311000000031100000000", NULL, LANEBLOOM_ERR_LIMIT},
      {"000200000000000311000000031100000000", NULL, LANEBLOOM_ERR_CORRUPT},
      /* another type, and too few columns */
      {"010200000000000211000000031100000000", NULL, LANEBLOOM_ERR_CORRUPT},
      {"010100000000000311000000031100000000", NULL, LANEBLOOM_ERR_CORRUPT},
      /* very many rows that take no bytes */
      {"010200ffff0f0003110000000312000000000000", NULL, LANEBLOOM_ERR_CORRUPT},
      {"-", NULL, LANEBLOOM_ERR_CORRUPT},
  };
  static char text[MAX_TEXT_NBYTES];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_context("%s", cases[i].block);
    uint8_t bytes[100];
    const size_t nbytes = hex_decode(cases[i].block, bytes, sizeof bytes);
    const lanebloom_status status = read_entries(bytes, nbytes, COLUMNS_NAMES, text);
    cr_assert(status == cases[i].status, "%d", (int)status);
    cr_assert(!cases[i].text || strcmp(text, cases[i].text) == 0);
  }
}

/* A block has at most one row for each byte, or for each three bytes if there are many rows. */
Test(pebble, many_rows)
{
  enum { NBYTES = 600000 };
  static const struct {
    size_t nbytes;
    uint32_t nrows;
    lanebloom_status status;
  } cases[] = {{2000, 2000, LANEBLOOM_OK},
               {2000, 2001, LANEBLOOM_ERR_CORRUPT},
               {NBYTES, 3 << 16, LANEBLOOM_OK},
               {NBYTES, NBYTES / 3, LANEBLOOM_OK},
               {NBYTES, NBYTES / 3 + 1, LANEBLOOM_ERR_CORRUPT},
               {NBYTES, NBYTES, LANEBLOOM_ERR_CORRUPT}};
  static uint8_t bytes[NBYTES];
  static char text[MAX_TEXT_NBYTES];
  hex_decode("010200000000000311000000031200000000000000", bytes, sizeof bytes);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_context("case %zu", i);
    store_le32(bytes + 3, cases[i].nrows);
    cr_assert(read_entries(bytes, cases[i].nbytes, COLUMNS_NAMES, text) == cases[i].status);
  }
}

/* A flag of rows has no meaning at the end of columns. */
Test(pebble, flags_of_rows)
{
  static const uint8_t values_apart[] = {0, 0, 0, 0x10};
  struct block block = {.bytes = values_apart, .nbytes = sizeof values_apart};
  cr_assert(lanebloom_block_has_values_apart(&block, LANEBLOOM_ENGINE_ROCKSDB));
  block.layout = COLUMNS_KEYS;
  cr_assert(!lanebloom_block_has_values_apart(&block, LANEBLOOM_ENGINE_PEBBLE));
}

/* ---- Filters ---- */

Test(pebble, bloom_filters)
{
  struct rows rows = rows_open("pebble_bloom.txt");
  while (rows_next(&rows, 6)) {
    struct guarded bytes = rows_bytes(rows.values[4]);
    lanebloom_filter *filter;
    cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB, bytes.bytes, bytes.nbytes, NULL,
                                         &filter, NULL, 0) == LANEBLOOM_OK);
    cr_assert(lanebloom_filter_format(filter) == LANEBLOOM_ROCKSDB_LEGACY);
    for (size_t column = 3; column <= 5; column += 2)
      for (char *rest = rows.values[column], *key; (key = strtok_r(rest, ",", &rest));) {
        char *answer = strchr(key, ':');
        if (answer)
          *answer++ = 0;
        struct guarded asked = rows_bytes(key);
        cr_assert(lanebloom_filter_may_contain(filter, asked.bytes, asked.nbytes) ==
                      (!answer || *answer == '1'),
                  "%s", key);
        guarded_free(&asked);
      }
    lanebloom_filter_free(filter);
    guarded_free(&bytes);
  }
  cr_assert(rows.n == 24, "%zu rows", rows.n);
  rows_close(&rows);
}
