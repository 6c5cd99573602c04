/* Does the work of one row (one benchmark) REPEATS times, so that instructions.sh can count the
 * instructions of this work in an emulator.
 *   instructions KERNEL ROW REPEATS      instructions --rows
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"

enum { NKEYS = 8192, MAX_KEY_NBYTES = 30, NPROBES = 6, PATTERN_NBYTES = 64 << 10, MAX_NROWS = 256 };

enum work { HASH, SCREEN_HASHES, SCREEN, BUILD };

/* A piece of work. For HASH, nbytes is the number of bytes per key, or 0 for keys of 5 to 30 bytes.
 * For SCREEN and SCREEN_HASHES, nbytes is the size of the filter. */
struct row {
  char name[64];
  enum work work;
  lanebloom_format format;
  size_t nbytes;
  bool all_pass; /* if false, few keys pass, by chance */
};
static struct row rows[MAX_NROWS];
static size_t nrows;

static void check(lanebloom_status status)
{
  if (status != LANEBLOOM_OK) {
    fprintf(stderr, "instructions: %s\n", lanebloom_status_text(status));
    exit(EXIT_FAILURE);
  }
}

static uint64_t next_random(void)
{
  static uint64_t state;
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/* Makes random keys of nbytes each, or of 5 to MAX_KEY_NBYTES bytes if nbytes is 0. */
static lanebloom_keys keys_of(size_t nbytes)
{
  static uint64_t data[NKEYS * 32 / 8];
  static uint32_t offsets[NKEYS + 1];
  for (size_t i = 0; i < sizeof data / sizeof *data; i++)
    data[i] = next_random();
  if (nbytes > 0)
    return lanebloom_keys_fixed(data, nbytes, NKEYS);
  for (size_t i = 0; i < NKEYS; i++)
    offsets[i + 1] = offsets[i] + 5 + (uint32_t)(next_random() % (MAX_KEY_NBYTES - 5 + 1));
  return lanebloom_keys_offsets32(data, offsets, NKEYS);
}

/* Makes a filter in which all bits are set, or in which each bit is set with probability one half.
 * The bits are copies of a short pattern, because adding keys would take many more instructions in
 * the emulator. */
static lanebloom_filter *filter_of(const struct row *row)
{
  static uint64_t pattern[PATTERN_NBYTES / 8];
  const struct format_table *format = lanebloom_format_table(row->format);
  const struct filter_shape shape =
      format->shape(format, row->nbytes, format->line_nbytes, bench_nprobes(row->format, NPROBES));
  const size_t size = format_nbytes(format, &shape);
  uint8_t *bytes = calloc(1, size);
  if (!bytes)
    check(LANEBLOOM_ERR_MEMORY);
  for (size_t i = 0; i < PATTERN_NBYTES / 8; i++)
    pattern[i] = row->all_pass ? UINT64_MAX : next_random();
  for (size_t at = 0; at < row->nbytes; at += PATTERN_NBYTES)
    memcpy(bytes + format->header_nbytes + at, pattern,
           row->nbytes - at < PATTERN_NBYTES ? row->nbytes - at : PATTERN_NBYTES);
  if (format->write_frame)
    format->write_frame(format, &shape, bytes);
  lanebloom_filter *filter;
  check(lanebloom_filter_parse_raw(row->format, bytes, size, NULL, &filter, NULL, 0));
  return filter;
}

static void work(const struct row *row, unsigned long nrepeats)
{
  static uint8_t hashes[NKEYS * LANEBLOOM_MAX_HASH_SIZE];
  static uint8_t bitmap[NKEYS / 8];
  const lanebloom_keys keys = keys_of(row->work == HASH ? row->nbytes : 8);
  lanebloom_filter *filter =
      row->work == SCREEN || row->work == SCREEN_HASHES ? filter_of(row) : NULL;
  check(lanebloom_hash(row->format, &keys, hashes));
  size_t npassed = 0;
  for (unsigned long i = 0; i < nrepeats; i++) {
    switch (row->work) {
    case HASH:
      check(lanebloom_hash(row->format, &keys, hashes));
      break;
    case SCREEN_HASHES:
      npassed = lanebloom_filter_screen_hashes(filter, hashes, NKEYS, bitmap);
      break;
    case SCREEN:
      npassed = lanebloom_filter_screen(filter, &keys, bitmap);
      break;
    case BUILD:
      check(lanebloom_filter_build(row->format, 10, &keys, &filter));
      lanebloom_filter_free(filter);
      break;
    }
  }
  if (filter && row->work != BUILD && (row->all_pass ? npassed != NKEYS : npassed > NKEYS / 16)) {
    fprintf(stderr, "instructions: %s: %zu of %d keys pass\n", row->name, npassed, NKEYS);
    exit(EXIT_FAILURE);
  }
}

static void add_row(struct row row, const char *subject, const char *set)
{
  static const char *const names[] = {
      [HASH] = "hash", [SCREEN_HASHES] = "probe", [SCREEN] = "screen", [BUILD] = "build"};
  if (nrows == MAX_NROWS) {
    fprintf(stderr, "instructions: too many rows\n");
    exit(EXIT_FAILURE);
  }
  snprintf(row.name, sizeof row.name, "%s/%s/%s", names[row.work], subject, set);
  rows[nrows++] = row;
}

static void add_filter_rows(enum work work, lanebloom_format format, size_t kib)
{
  char set[32];
  for (int all = 0; all < 2; all++) {
    snprintf(set, sizeof set, "KiB:%zu/hits:%s", kib, all ? "all" : "few");
    add_row((struct row){.work = work, .format = format, .nbytes = kib << 10, .all_pass = all},
            lanebloom_format_name(format), set);
  }
}

static void add_rows(lanebloom_format format)
{
  static const size_t widths[] = {8, 12, 16, 0};
  static const char *const sets[] = {"bytes:8", "bytes:12", "bytes:16", "bytes:5-30"};
  if (bench_first_with_hash_of(format) == format)
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
      add_row((struct row){.work = HASH, .format = format, .nbytes = widths[i]},
              HASH_NAME[lanebloom_format_table(format)->hash], sets[i]);
  if (bench_first_with_layout_of(format) == format) {
    add_filter_rows(SCREEN_HASHES, format, 256);
    add_filter_rows(SCREEN_HASHES, format, 16384);
  }
  add_filter_rows(SCREEN, format, 256);
  add_row((struct row){.work = BUILD, .format = format}, lanebloom_format_name(format), "KiB:10");
}

int main(int argc, char **argv)
{
  for (lanebloom_format format = bench_next_format(0); format; format = bench_next_format(format))
    add_rows(format);
  if (argc == 2 && strcmp(argv[1], "--rows") == 0) {
    for (size_t i = 0; i < nrows; i++)
      printf("%s %d\n", rows[i].name, NKEYS);
    return EXIT_SUCCESS;
  }
  if (argc != 4) {
    fprintf(stderr, "usage: instructions KERNEL ROW REPEATS\n       instructions --rows\n");
    return 2;
  }
  check(lanebloom_kernel_use(argv[1]));
  for (size_t i = 0; i < nrows; i++)
    if (strcmp(rows[i].name, argv[2]) == 0) {
      work(&rows[i], strtoul(argv[3], NULL, 10));
      return EXIT_SUCCESS;
    }
  fprintf(stderr, "instructions: no row '%s'\n", argv[2]);
  return 2;
}
