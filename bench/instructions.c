/* One piece of work, done REPEATS times, for an emulator to count the instructions of: see
 * instructions.sh.
 *   instructions KERNEL ROW REPEATS      instructions --rows
 * SPDX-License-Identifier: MIT */
#include <lanebloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NKEYS = 8192, MAX_KEY_NBYTES = 30, NPROBES = 6, PATTERN_NBYTES = 64 << 10 };

enum work { HASH, SCREEN_HASHES, SCREEN, BUILD };

/* `nbytes`: of each key when hashing, where 0 is from 5 to 30; of the filter else. */
static const struct row {
  const char *name;
  enum work work;
  lanebloom_format format;
  size_t nbytes;
  bool all_pass; /* or as few as of random bits */
} rows[] = {
    {"hash/bloomhash/bytes:8", HASH, LANEBLOOM_LEVELDB, 8, false},
    {"hash/bloomhash/bytes:12", HASH, LANEBLOOM_LEVELDB, 12, false},
    {"hash/bloomhash/bytes:16", HASH, LANEBLOOM_LEVELDB, 16, false},
    {"hash/bloomhash/bytes:5-30", HASH, LANEBLOOM_LEVELDB, 0, false},
    {"hash/xxph3/bytes:8", HASH, LANEBLOOM_ROCKSDB_LOCAL, 8, false},
    {"hash/xxph3/bytes:16", HASH, LANEBLOOM_ROCKSDB_LOCAL, 16, false},
    {"hash/xxph3/bytes:5-30", HASH, LANEBLOOM_ROCKSDB_LOCAL, 0, false},
    {"probe/leveldb/KiB:256/hits:few", SCREEN_HASHES, LANEBLOOM_LEVELDB, 256 << 10, false},
    {"probe/leveldb/KiB:256/hits:all", SCREEN_HASHES, LANEBLOOM_LEVELDB, 256 << 10, true},
    {"probe/leveldb/KiB:16384/hits:few", SCREEN_HASHES, LANEBLOOM_LEVELDB, 16384 << 10, false},
    {"probe/leveldb/KiB:16384/hits:all", SCREEN_HASHES, LANEBLOOM_LEVELDB, 16384 << 10, true},
    {"probe/rocksdb-legacy/KiB:256/hits:few", SCREEN_HASHES, LANEBLOOM_ROCKSDB_LEGACY, 256 << 10,
     false},
    {"probe/rocksdb-legacy/KiB:256/hits:all", SCREEN_HASHES, LANEBLOOM_ROCKSDB_LEGACY, 256 << 10,
     true},
    {"probe/rocksdb-legacy/KiB:16384/hits:few", SCREEN_HASHES, LANEBLOOM_ROCKSDB_LEGACY,
     16384 << 10, false},
    {"probe/rocksdb-legacy/KiB:16384/hits:all", SCREEN_HASHES, LANEBLOOM_ROCKSDB_LEGACY,
     16384 << 10, true},
    {"probe/rocksdb-local/KiB:256/hits:few", SCREEN_HASHES, LANEBLOOM_ROCKSDB_LOCAL, 256 << 10,
     false},
    {"probe/rocksdb-local/KiB:256/hits:all", SCREEN_HASHES, LANEBLOOM_ROCKSDB_LOCAL, 256 << 10,
     true},
    {"probe/rocksdb-local/KiB:16384/hits:few", SCREEN_HASHES, LANEBLOOM_ROCKSDB_LOCAL, 16384 << 10,
     false},
    {"probe/rocksdb-local/KiB:16384/hits:all", SCREEN_HASHES, LANEBLOOM_ROCKSDB_LOCAL, 16384 << 10,
     true},
    {"screen/leveldb/KiB:256/hits:few", SCREEN, LANEBLOOM_LEVELDB, 256 << 10, false},
    {"screen/leveldb/KiB:256/hits:all", SCREEN, LANEBLOOM_LEVELDB, 256 << 10, true},
    {"screen/rocksdb-legacy/KiB:256/hits:few", SCREEN, LANEBLOOM_ROCKSDB_LEGACY, 256 << 10, false},
    {"screen/rocksdb-legacy/KiB:256/hits:all", SCREEN, LANEBLOOM_ROCKSDB_LEGACY, 256 << 10, true},
    {"screen/rocksdb-local/KiB:256/hits:few", SCREEN, LANEBLOOM_ROCKSDB_LOCAL, 256 << 10, false},
    {"screen/rocksdb-local/KiB:256/hits:all", SCREEN, LANEBLOOM_ROCKSDB_LOCAL, 256 << 10, true},
    {"build/leveldb/KiB:10", BUILD, LANEBLOOM_LEVELDB, 0, false},
    {"build/rocksdb-legacy/KiB:10", BUILD, LANEBLOOM_ROCKSDB_LEGACY, 0, false},
    {"build/rocksdb-local/KiB:10", BUILD, LANEBLOOM_ROCKSDB_LOCAL, 0, false},
};
enum { NROWS = sizeof rows / sizeof *rows };

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

/* `nbytes` each, or from 5 to MAX_KEY_NBYTES for 0. */
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

/* The engine's bytes of a filter: all bits set, or every second one by chance. Built in a few
 * instructions. */
static lanebloom_filter *filter_of(const struct row *row)
{
  static uint64_t pattern[PATTERN_NBYTES / 8];
  const size_t line_nbytes = 64;
  const size_t payload_nbytes =
      row->format == LANEBLOOM_ROCKSDB_LEGACY ? row->nbytes + line_nbytes : row->nbytes;
  uint8_t *bytes = malloc(payload_nbytes + 5);
  if (!bytes)
    check(LANEBLOOM_ERR_MEMORY);
  for (size_t i = 0; i < PATTERN_NBYTES / 8; i++)
    pattern[i] = row->all_pass ? UINT64_MAX : next_random();
  for (size_t at = 0; at < payload_nbytes; at += PATTERN_NBYTES)
    memcpy(bytes + at, pattern,
           payload_nbytes - at < PATTERN_NBYTES ? payload_nbytes - at : PATTERN_NBYTES);

  uint8_t *trailer = bytes + payload_nbytes;
  size_t trailer_nbytes = 5;
  const uint32_t nlines = (uint32_t)(payload_nbytes / line_nbytes);
  if (row->format == LANEBLOOM_LEVELDB) {
    trailer[0] = NPROBES;
    trailer_nbytes = 1;
  } else if (row->format == LANEBLOOM_ROCKSDB_LEGACY) {
    memcpy(
        trailer,
        (uint8_t[]){NPROBES, (uint8_t)nlines, (uint8_t)(nlines >> 8), (uint8_t)(nlines >> 16), 0},
        5);
  } else {
    memcpy(trailer, (uint8_t[]){0xff, 0, NPROBES, 0, 0}, 5);
  }
  lanebloom_filter *filter;
  check(lanebloom_filter_parse_raw(row->format, bytes, payload_nbytes + trailer_nbytes, &filter));
  return filter;
}

static void work(const struct row *row, unsigned long nrepeats)
{
  static uint64_t hashes[NKEYS];
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
      lanebloom_filter_close(filter);
      break;
    }
  }
  if (filter && row->work != BUILD && (row->all_pass ? npassed != NKEYS : npassed > NKEYS / 16)) {
    fprintf(stderr, "instructions: %s: %zu of %d keys pass\n", row->name, npassed, NKEYS);
    exit(EXIT_FAILURE);
  }
}

int main(int argc, char **argv)
{
  if (argc == 2 && strcmp(argv[1], "--rows") == 0) {
    for (size_t i = 0; i < NROWS; i++)
      printf("%s %d\n", rows[i].name, NKEYS);
    return EXIT_SUCCESS;
  }
  if (argc != 4) {
    fprintf(stderr, "usage: instructions KERNEL ROW REPEATS\n       instructions --rows\n");
    return 2;
  }
  check(lanebloom_kernel_use(argv[1]));
  for (size_t i = 0; i < NROWS; i++)
    if (strcmp(rows[i].name, argv[2]) == 0) {
      work(&rows[i], strtoul(argv[3], NULL, 10));
      return EXIT_SUCCESS;
    }
  fprintf(stderr, "instructions: no row '%s'\n", argv[2]);
  return 2;
}
