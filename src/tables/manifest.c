/* Reads the name of the comparator from a MANIFEST of LevelDB. A MANIFEST is a log of records:
 *
 *   checksum, 4 bytes | length, 2 bytes | type, 1 byte | content
 *
 * The first record begins with the name of the comparator. The file CURRENT has the name of the
 * MANIFEST.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/bytes.h"
#include "../common/text.h"
#include "../cursor.h"
#include "../input.h"
#include "checksum.h"
#include "manifest.h"

enum {
  LOG_BLOCK_NBYTES = 32 << 10, /* a record that would cross a block's end is split */
  HEADER_NBYTES = 7,
  AT_LENGTH = 4,
  AT_TYPE = 6,
  RECORD_WHOLE = 1,
  RECORD_FIRST = 2,
  TAG_COMPARATOR = 1,
};

/* Reads the first bytes of a file in the table's folder, at most `room`. Returns their number, or 0
 * if the file cannot be read. *exists becomes false only if the file certainly does not exist. */
static size_t read_beside(const char *table_path, const char *name, uint8_t *bytes, size_t room,
                          bool *exists)
{
  const char *slash = strrchr(table_path, '/');
  const size_t folder_nbytes = slash ? (size_t)(slash + 1 - table_path) : 0,
               size = folder_nbytes + strlen(name) + 1;
  char *path = malloc(size);
  *exists = true;
  if (!path)
    return 0;
  snprintf(path, size, "%.*s%s", (int)folder_nbytes, table_path, name);
  struct input input;
  lanebloom_status status = lanebloom_input_open(path, &input, &no_problem);
  *exists = status != LANEBLOOM_ERR_IO || errno != ENOENT;
  free(path);
  if (status)
    return 0;
  size_t nbytes = input.nbytes < room ? (size_t)input.nbytes : room;
  if (lanebloom_input_read(&input, 0, bytes, nbytes, &no_problem))
    nbytes = 0;
  lanebloom_input_close(&input);
  return nbytes;
}

static char *comparator_of(const uint8_t *log, size_t nbytes)
{
  if (nbytes < HEADER_NBYTES)
    return NULL;
  const size_t length = log[AT_LENGTH] | (size_t)log[AT_LENGTH + 1] << 8;
  if ((log[AT_TYPE] != RECORD_WHOLE && log[AT_TYPE] != RECORD_FIRST) ||
      length > nbytes - HEADER_NBYTES)
    return NULL;
  /* The checksum covers type and content. */
  if (lanebloom_checksum(CHECKSUM_CRC32C, log + AT_TYPE, length + 1) != load_le32(log))
    return NULL;
  struct cursor rest = {log + HEADER_NBYTES, log + HEADER_NBYTES + length};
  uint64_t tag, size;
  const uint8_t *name;
  if (!cursor_varint(&rest, &tag) || tag != TAG_COMPARATOR || !cursor_varint(&rest, &size) ||
      !cursor_bytes(&rest, size, &name) || memchr(name, 0, (size_t)size))
    return NULL;
  return text_copy((const char *)name, (size_t)size);
}

bool lanebloom_manifest_find(const char *table_path, char **comparator)
{
  enum { MAX_NAME = 64 };
  uint8_t current[MAX_NAME + 1], *log;
  bool exists, has_manifest;
  *comparator = NULL;
  size_t n = read_beside(table_path, "CURRENT", current, MAX_NAME, &exists);
  if (!exists)
    return false;
  current[n] = 0;
  char *name = (char *)current;
  name[strcspn(name, "\n")] = 0;
  log = malloc(LOG_BLOCK_NBYTES);
  if (!log)
    return true;
  if (name[0] && !strchr(name, '/')) {
    n = read_beside(table_path, name, log, LOG_BLOCK_NBYTES, &has_manifest);
    *comparator = comparator_of(log, n);
  }
  free(log);
  return true;
}
