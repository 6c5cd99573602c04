/* Fuzzes the reader of write-ahead logs with any bytes.
 *
 *   flags, 1 byte: 1 correct the checksums, 2 written by Pebble | number of the log, 1 byte | log
 *
 * The following must be true: reading the bytes again gives the same result, and the collector
 * stores no more entries than its limit.
 * SPDX-License-Identifier: MIT */
#include "tables/log.h"
#include "common/bytes.h"
#include "fuzz.h"
#include "tables/checksum.h"
#include "tables/write_log.h"

enum { MAX_NENTRIES = 20 };

enum { REPAIR = 1, PEBBLE = 2 };

/* Returns the number of bytes that a fragment has between its first 7 bytes and its content. */
static size_t extra_nbytes(bool is_pebble, uint8_t type)
{
  if (is_pebble && type >= 9 && type <= 12)
    return 12;
  return (type >= 5 && type <= 8) || (!is_pebble && (type == 11 || type == 131)) ? 4 : 0;
}

/* Corrects the checksum of each fragment, up to the first fragment in a block that extends beyond
 * the block. */
static void repair(uint8_t *log, size_t size, bool is_pebble)
{
  enum { HEADER_NBYTES = 7, AT_LENGTH = 4, AT_TYPE = 6 };
  for (size_t block = 0; block < size; block += LOG_BLOCK_NBYTES) {
    const size_t nbytes = size - block < LOG_BLOCK_NBYTES ? size - block : LOG_BLOCK_NBYTES;
    for (size_t at = 0; nbytes - at >= HEADER_NBYTES;) {
      uint8_t *fragment = log + block + at;
      const size_t length = fragment[AT_LENGTH] | (size_t)fragment[AT_LENGTH + 1] << 8;
      const size_t extra = extra_nbytes(is_pebble, fragment[AT_TYPE]);
      if (HEADER_NBYTES + extra + length > nbytes - at)
        break;
      store_le32(fragment,
                 lanebloom_checksum(CHECKSUM_CRC32C, fragment + AT_TYPE, 1 + extra + length));
      at += HEADER_NBYTES + extra + length;
    }
  }
}

static void read_log(const lanebloom_slice *bytes, uint8_t flags, uint64_t number,
                     struct write_log *log, struct key_collector *keys)
{
  const struct input input = {.file = -1, .bytes = bytes->data, .nbytes = bytes->size};
  const struct timestamps timestamps = {0};
  CHECK(lanebloom_collector_init(keys, MAX_NENTRIES) == LANEBLOOM_OK);
  *log = (struct write_log){.number = number};
  CHECK(lanebloom_write_log_read(
            log, &input, flags & PEBBLE ? LANEBLOOM_ENGINE_PEBBLE : LANEBLOOM_ENGINE_ROCKSDB, 0,
            &timestamps, keys, &no_problem) == LANEBLOOM_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  struct fuzz_input input = {bytes, size};
  const uint8_t flags = input_byte(&input), number = input_byte(&input);
  uint8_t *copy = fuzz_alloc(input.left);
  if (input.left > 0)
    memcpy(copy, input.at, input.left);
  if (flags & REPAIR)
    repair(copy, input.left, flags & PEBBLE);
  const lanebloom_slice whole = {copy, input.left};
  struct write_log log, again;
  struct key_collector keys, other_keys;
  read_log(&whole, flags, number, &log, &keys);
  read_log(&whole, flags, number, &again, &other_keys);
  CHECK(log.nentries == again.nentries && log.ndamages == again.ndamages);
  CHECK(keys.n == other_keys.n && keys.n <= MAX_NENTRIES && keys.nothers == other_keys.nothers);
  CHECK((log.ndamages == 0) == !*log.damage);
  CHECK(log.ntables == again.ntables && log.ntables <= log.nentries);
  lanebloom_write_log_free(&log);
  lanebloom_write_log_free(&again);
  lanebloom_collector_free(&keys);
  lanebloom_collector_free(&other_keys);
  free(copy);
  return 0;
}
