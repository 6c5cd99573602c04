/* Fuzzes the reader of container files with any bytes. The following must be true: parsing and
 * loading a file give the same result. Mapping a file gives this result, too, unless the file is
 * damaged in a way that only the checksum of the whole file shows. Saving the parsed filter gives
 * the same bytes.
 *
 *   flags, 1 byte: 1 correct all checksums first, 2 only the header's | the file
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* The offsets of fields, which docs/file-format.md defines. */
enum { HEADER_NBYTES = 64, AT_FORMAT = 12, AT_HEADER_CHECKSUM = 44, AT_CHECKSUM = 48 };

static void store(uint8_t *to, uint64_t number, size_t nbytes)
{
  for (size_t i = 0; i < nbytes; i++)
    to[i] = (uint8_t)(number >> 8 * i);
}

static void repair_header(uint8_t *bytes, size_t size)
{
  if (size >= HEADER_NBYTES)
    store(bytes + AT_HEADER_CHECKSUM, XXH3_64bits(bytes, AT_HEADER_CHECKSUM), 4);
}

static void repair(uint8_t *bytes, size_t size)
{
  repair_header(bytes, size);
  if (size < HEADER_NBYTES)
    return;
  store(bytes + AT_CHECKSUM, 0, 8);
  store(bytes + AT_CHECKSUM, XXH3_64bits(bytes, size), 8);
}

static bool header_is_right(const uint8_t *bytes)
{
  uint8_t checksum[4];
  store(checksum, XXH3_64bits(bytes, AT_HEADER_CHECKSUM), sizeof checksum);
  return memcmp(bytes + AT_HEADER_CHECKSUM, checksum, sizeof checksum) == 0;
}

/* A file in memory, without a name. Its path is made from the number of its descriptor. */
struct file {
  int descriptor;
  char path[32];
};

static const struct file *the_file(void)
{
  static struct file file = {.descriptor = -1};
  if (file.descriptor < 0) {
    file.descriptor = memfd_create("container", 0);
    snprintf(file.path, sizeof file.path, "/dev/fd/%d", file.descriptor);
  }
  CHECK(file.descriptor >= 0);
  return &file;
}

static const char *written(const uint8_t *bytes, size_t size)
{
  const struct file *file = the_file();
  CHECK(ftruncate(file->descriptor, 0) == 0 &&
        pwrite(file->descriptor, bytes, size, 0) == (ssize_t)size);
  CHECK(lseek(file->descriptor, 0, SEEK_SET) == 0);
  return file->path;
}

static bool holds(const uint8_t *bytes, size_t size)
{
  const struct file *file = the_file();
  uint8_t *found = fuzz_alloc(size + 1);
  const bool same = pread(file->descriptor, found, size + 1, 0) == (ssize_t)size &&
                    memcmp(found, bytes, size) == 0;
  free(found);
  return same;
}

static bool same_filters(const lanebloom_filter *a, const lanebloom_filter *b)
{
  lanebloom_filter_info infos[2];
  size_t sizes[2];
  const void *bytes[] = {lanebloom_filter_bytes(a, &sizes[0]),
                         lanebloom_filter_bytes(b, &sizes[1])};
  lanebloom_filter_describe(a, &infos[0], sizeof infos[0]);
  lanebloom_filter_describe(b, &infos[1], sizeof infos[1]);
  return sizes[0] == sizes[1] && memcmp(bytes[0], bytes[1], sizes[0]) == 0 &&
         infos[0].format == infos[1].format && infos[0].nkeys == infos[1].nkeys &&
         memcmp(&infos[0].key_form, &infos[1].key_form, sizeof infos[0].key_form) == 0 &&
         memcmp(&infos[0].bits_per_key, &infos[1].bits_per_key, sizeof infos[0].bits_per_key) == 0;
}

static void check_saving(const lanebloom_filter *filter, const uint8_t *bytes, size_t size)
{
  const char *path = written(NULL, 0);
  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  CHECK(lanebloom_filter_save(filter, path) == LANEBLOOM_OK);
  uint8_t *saved = memcpy(fuzz_alloc(size), bytes, size);
  store(saved + AT_FORMAT, info.format, 4); /* LANEBLOOM_ROCKSDB becomes the format of the bytes */
  repair(saved, size);
  CHECK(holds(saved, size));
  free(saved);
  written(NULL, 0);
  CHECK(lanebloom_filter_save_raw(filter, path) == LANEBLOOM_OK);
  CHECK(holds(bytes + HEADER_NBYTES, size - HEADER_NBYTES));
}

static void check_other_ways(const lanebloom_filter *parsed, lanebloom_status status,
                             const uint8_t *bytes, size_t size)
{
  const char *path = written(bytes, size);
  lanebloom_filter *filter;
  char why[200];
  CHECK(lanebloom_filter_load(path, &filter, why, sizeof why) == status);
  CHECK((why[0] == 0) == (status == LANEBLOOM_OK) && !filter == (status != LANEBLOOM_OK));
  CHECK(!filter || same_filters(filter, parsed));
  lanebloom_filter_free(filter);
  const lanebloom_status mapped =
      lanebloom_filter_map(path, &filter, NULL, 0); /* does not verify the payload */
  CHECK(mapped == status || (mapped == LANEBLOOM_OK && status == LANEBLOOM_ERR_CORRUPT) ||
        (mapped == LANEBLOOM_ERR_FORMAT && status == LANEBLOOM_ERR_CORRUPT));
  CHECK(!filter || !parsed || same_filters(filter, parsed));
  CHECK(!filter || header_is_right(bytes));
  lanebloom_filter_free(filter);
  CHECK(!parsed || lanebloom_filter_load_raw(LANEBLOOM_LEVELDB, written(bytes, size), NULL, &filter,
                                             NULL, 0) == LANEBLOOM_ERR_FORMAT);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  struct fuzz_input input = {bytes, size};
  const uint8_t what = input_byte(&input);
  size = input.left;
  uint8_t *container = fuzz_alloc(size);
  if (size > 0)
    memcpy(container, input.at, size);
  if (what & 1)
    repair(container, size);
  else if (what & 2)
    repair_header(container, size);

  lanebloom_filter *filter;
  char problem[256] = "x";
  const lanebloom_status status =
      lanebloom_filter_parse(container, size, &filter, problem, sizeof problem);
  CHECK(!filter == (status != LANEBLOOM_OK) && !status == !*problem);
  check_other_ways(filter, status, container, size);
  if (filter) {
    check_saving(filter, container, size);
    lanebloom_filter_free(filter);
  }
  free(container);
  return 0;
}
