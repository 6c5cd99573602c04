/* Makes MANIFESTs and write-ahead logs.
 * SPDX-License-Identifier: MIT */
#include "log_files.h"
#include "common/bytes.h"
#include "tables.h"
#include "tables/log.h"

uint8_t *put_varint(uint8_t *to, uint64_t value)
{
  for (; value >= 0x80; value >>= 7)
    *to++ = (uint8_t)(value | 0x80);
  *to++ = (uint8_t)value;
  return to;
}

size_t fragment_make(uint8_t *to, unsigned type, uint32_t number, const void *content,
                     size_t nbytes)
{
  uint8_t *at = to + HEADER_NBYTES;
  to[AT_LENGTH] = (uint8_t)nbytes;
  to[AT_LENGTH + 1] = (uint8_t)(nbytes >> 8);
  to[AT_TYPE] = (uint8_t)type;
  if (number > 0) {
    store_le32(at, number);
    at += sizeof number;
  }
  memcpy(at, content, nbytes);
  at += nbytes;
  store_le32(to, lanebloom_checksum(CHECKSUM_CRC32C, to + AT_TYPE, (size_t)(at - to - AT_TYPE)));
  return (size_t)(at - to);
}

/* Makes room in this block for nbytes and a header, or else begins the next block. */
static void make_room(struct log_file *log, size_t nbytes)
{
  const size_t left = LOG_BLOCK_NBYTES - log->n % LOG_BLOCK_NBYTES;
  if (log->room - log->n < 2 * LOG_BLOCK_NBYTES) {
    log->room = 2 * log->room + 2 * LOG_BLOCK_NBYTES;
    log->bytes = realloc(log->bytes, log->room);
    cr_assert(log->bytes);
  }
  if (left < HEADER_NBYTES + nbytes) {
    memset(log->bytes + log->n, 0, left);
    log->n += left;
  }
}

void log_add_fragment(struct log_file *log, unsigned type, const void *content, size_t nbytes)
{
  make_room(log, nbytes);
  log->n += fragment_make(log->bytes + log->n, type, 0, content, nbytes);
}

void log_add(struct log_file *log, const void *record, size_t nbytes)
{
  const uint8_t *at = record, *end = at + nbytes;
  do {
    make_room(log, 0);
    const size_t left = LOG_BLOCK_NBYTES - log->n % LOG_BLOCK_NBYTES - HEADER_NBYTES;
    const size_t n = (size_t)(end - at) < left ? (size_t)(end - at) : left;
    const bool is_first = at == record, is_last = n == (size_t)(end - at);
    log_add_fragment(log, is_first ? is_last ? FULL : FIRST : is_last ? LAST : MIDDLE, at, n);
    at += n;
  } while (at < end);
}

void log_clear(struct log_file *log)
{
  free(log->bytes);
  *log = (struct log_file){0};
}

void log_write(struct log_file *log, const char *folder, const char *name)
{
  file_write(folder, name, log->bytes, log->n);
  log_clear(log);
}

void database_make(const char *folder)
{
  file_write(folder, "CURRENT", MANIFEST_NAME "\n", sizeof MANIFEST_NAME);
  file_write(folder, "IDENTITY", "x\n", 2);
}
