/* Fuzzes the search for a table's comparator: takes any bytes as the files CURRENT and MANIFEST in
 * the table's folder. The comparator must be the one that find_name() finds.
 *
 *   flags, 1 byte: 1 no CURRENT, 2 correct the first record's checksum
 *   | length of CURRENT, 1 byte | CURRENT | MANIFEST
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/bytes.h"
#include "fuzz.h"
#include "input.h"
#include "tables/checksum.h"
#include "tables/manifest.h"

static bool has_current;
static lanebloom_slice current, manifest;

/* The linker replaces lanebloom_input_open() by this function, so that the files are in memory. */
lanebloom_status __wrap_lanebloom_input_open(const char *path, struct input *input,
                                             const struct problem *problem);

lanebloom_status __wrap_lanebloom_input_open(const char *path, struct input *input,
                                             const struct problem *problem)
{
  (void)problem;
  CHECK(strncmp(path, "folder/", 7) == 0 && !strchr(path + 7, '/'));
  const bool is_current = strcmp(path, "folder/CURRENT") == 0;
  if (is_current && !has_current) {
    errno = ENOENT;
    return LANEBLOOM_ERR_IO;
  }
  const lanebloom_slice *file = is_current ? &current : &manifest;
  *input = (struct input){.file = -1, .bytes = file->data, .nbytes = file->size};
  return LANEBLOOM_OK;
}

/* Corrects the checksum of the first record. The checksum covers type and content. */
static void repair(uint8_t *log, size_t size)
{
  enum { HEADER_NBYTES = 7, AT_LENGTH = 4, AT_TYPE = 6 };
  const size_t length = size < HEADER_NBYTES ? 0 : log[AT_LENGTH] | (size_t)log[AT_LENGTH + 1] << 8;
  if (size >= HEADER_NBYTES && length <= size - HEADER_NBYTES)
    store_le32(log, lanebloom_checksum(CHECKSUM_CRC32C, log + AT_TYPE, length + 1));
}

static uint64_t input_varint(struct fuzz_input *input)
{
  uint64_t number = 0;
  uint8_t byte = 0x80;
  for (unsigned shift = 0; shift < 64 && byte >= 0x80; shift += 7) {
    if (input->left == 0)
      return UINT64_MAX;
    byte = input_byte(input);
    number |= (uint64_t)(byte & 0x7f) << shift;
  }
  return byte < 0x80 ? number : UINT64_MAX;
}

/* Finds the name of the comparator in a MANIFEST. The file begins: checksum, 4 bytes | length, 2 |
 * type, 1 | tag 1, length of the name, name | ... */
static lanebloom_slice find_name(const uint8_t *log, size_t size)
{
  struct fuzz_input input = {log, size};
  const uint64_t checksum = input_number(&input, 4), length = input_number(&input, 2);
  const uint8_t *type = input.at;
  const bool is_begun = input.left > length && (*type == 1 || *type == 2);
  if (!is_begun || lanebloom_checksum(CHECKSUM_CRC32C, type, length + 1) != checksum)
    return (lanebloom_slice){0};
  struct fuzz_input content = {type + 1, length};
  if (input_varint(&content) != 1)
    return (lanebloom_slice){0};
  const uint64_t n = input_varint(&content);
  return n > content.left || memchr(content.at, 0, n) ? (lanebloom_slice){0}
                                                      : input_bytes(&content, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  enum { MAX_NAME_NBYTES = 64 };
  struct fuzz_input input = {bytes, size};
  const uint8_t what = input_byte(&input);
  has_current = !(what & 1);
  current = input_short(&input);
  manifest.size = input.left;
  uint8_t *log = fuzz_alloc(input.left);
  if (input.left > 0)
    memcpy(log, input.at, input.left);
  if (what & 2)
    repair(log, input.left);
  manifest.data = log;

  char *comparator;
  CHECK(lanebloom_manifest_find("folder/000005.ldb", &comparator) == has_current);
  const char *file = current.data;
  size_t n = 0; /* the length of the name in CURRENT, of which at most MAX_NAME_NBYTES are read */
  while (n < current.size && n < MAX_NAME_NBYTES && file[n] && file[n] != '\n')
    n++;
  const bool names_one = has_current && n > 0 && !memchr(file, '/', n);
  const bool names_itself = n == strlen("CURRENT") && memcmp(file, "CURRENT", n) == 0;
  const lanebloom_slice name = !names_one     ? (lanebloom_slice){0}
                               : names_itself ? find_name(current.data, current.size)
                                              : find_name(log, input.left);
  CHECK(!comparator == !name.data);
  CHECK(!comparator ||
        (strlen(comparator) == name.size && memcmp(comparator, name.data, name.size) == 0));
  free(comparator);
  free(log);
  return 0;
}
