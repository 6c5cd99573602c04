/* Fuzzes the reader of MANIFESTs: takes any bytes as edits (the records of a MANIFEST), or as a
 * whole MANIFEST.
 *
 *   flags, 1 byte: 1 the bytes are a MANIFEST, else edits; 2 written by Pebble | bytes
 *   edit: length, 2 bytes | bytes
 *
 * The following must be true for the result: tables ascend by number, each table belongs to a
 * family that exists, and none is listed twice.
 * SPDX-License-Identifier: MIT */
#include "tables/version.h"
#include "common/bytes.h"
#include "fuzz.h"
#include "tables/checksum.h"
#include "tables/log.h"

enum { HEADER_NBYTES = 7, AT_LENGTH = 4, AT_TYPE = 6, FULL = 1 };

/* Appends an edit to a log as a record, if it fits into the first block. Returns the new size of
 * the log. */
static size_t add_record(uint8_t *log, size_t n, lanebloom_slice edit)
{
  if (n + HEADER_NBYTES + edit.size > LOG_BLOCK_NBYTES)
    return n;
  uint8_t *record = log + n;
  record[AT_LENGTH] = (uint8_t)edit.size;
  record[AT_LENGTH + 1] = (uint8_t)(edit.size >> 8);
  record[AT_TYPE] = FULL;
  memcpy(record + HEADER_NBYTES, edit.data, edit.size);
  store_le32(record, lanebloom_checksum(CHECKSUM_CRC32C, record + AT_TYPE, 1 + edit.size));
  return n + HEADER_NBYTES + edit.size;
}

static void check_version(const struct version *version)
{
  for (size_t i = 0; i < version->ntables; i++) {
    const struct live_table *table = &version->tables[i];
    CHECK(lanebloom_version_family(version, table->family));
    if (i == 0)
      continue;
    const struct live_table *before = table - 1;
    CHECK(before->number <= table->number);
    CHECK(before->number != table->number || before->family != table->family ||
          before->level != table->level);
  }
  for (size_t i = 1; i < version->nfamilies; i++)
    CHECK(version->families[i - 1].id < version->families[i].id);
  for (size_t i = 1; i < version->nlogs; i++)
    CHECK(version->logs[i - 1] < version->logs[i]);
  CHECK(lanebloom_version_needs_log(version, version->min_log));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  struct fuzz_input input = {bytes, size};
  const uint8_t flags = input_byte(&input);
  const bool is_manifest = flags & 1;
  const lanebloom_engine engine = flags & 2 ? LANEBLOOM_ENGINE_PEBBLE : LANEBLOOM_ENGINE_ROCKSDB;
  uint8_t *log = fuzz_alloc(is_manifest ? input.left : LOG_BLOCK_NBYTES);
  size_t n = 0;
  if (is_manifest && input.left > 0)
    memcpy(log, input.at, n = input.left);
  while (!is_manifest && input.left > 0)
    n = add_record(log, n, input_bytes(&input, input_number(&input, 2)));
  const struct input file = {.file = -1, .bytes = log, .nbytes = n};
  struct version version;
  char text[200];
  const struct problem problem = problem_begin(text, sizeof text);
  const lanebloom_status status = lanebloom_version_read(&version, &file, engine, &problem);
  CHECK(status == LANEBLOOM_OK || status == LANEBLOOM_ERR_CORRUPT || status == LANEBLOOM_ERR_LIMIT);
  CHECK(!status == !*text);
  if (!status)
    check_version(&version);
  lanebloom_version_free(&version);
  free(log);
  return 0;
}
