/* Files of 4 GiB and more: which are refused, and how they are saved.
 * SPDX-License-Identifier: MIT */
#define XXH_INLINE_ALL
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/bytes.h"
#include "huge.h"

/* Makes a valid header, except that the checksum of the whole file is 0. Only loading verifies that
 * checksum. */
static void make_header(uint8_t header[CONTAINER_HEADER_NBYTES], lanebloom_format format,
                        uint64_t nbytes)
{
  memset(header, 0, CONTAINER_HEADER_NBYTES);
  memcpy(header, "\x89LBF\r\n\x1a\n", 8);
  store_le32(header + 8, 1);
  store_le32(header + 12, (uint32_t)format);
  store_le64(header + 16, LANEBLOOM_UNKNOWN);
  store_le64(header + 24, LANEBLOOM_UNKNOWN);
  store_le64(header + 32, nbytes);
  store_le32(header + 44, (uint32_t)XXH3_64bits(header, 44));
}

int make_container(char path[32], lanebloom_format format, uint64_t promised_nbytes,
                   uint64_t nbytes)
{
  uint8_t header[CONTAINER_HEADER_NBYTES];
  make_header(header, format, promised_nbytes);
  const int file = memfd_create("container", MFD_CLOEXEC);
  snprintf(path, 32, "/proc/self/fd/%d", file);
  cr_assert(file >= 0 && ftruncate(file, (off_t)(sizeof header + nbytes)) == 0 &&
                pwrite(file, header, sizeof header, 0) == sizeof header,
            "%s: %s", path, strerror(errno));
  return file;
}

/* Checks that every way to open the file refuses it. part_of_why is a part of load()'s message. */
static void check_refused(lanebloom_format format, uint64_t promised_nbytes, uint64_t nbytes,
                          lanebloom_status expected, const char *part_of_why)
{
  test_context("%s, %llu of %llu bytes", lanebloom_format_name(format), (unsigned long long)nbytes,
               (unsigned long long)promised_nbytes);
  char path[32], why[200];
  lanebloom_filter *filter;
  const int file = make_container(path, format, promised_nbytes, nbytes);
  lanebloom_status status = lanebloom_filter_map(path, &filter, NULL, 0);
  if (status != expected || filter)
    test_fatal("map: %d", (int)status);
  if (part_of_why) {
    status = lanebloom_filter_load(path, &filter, why, sizeof why);
    if (status != expected || filter || !strstr(why, part_of_why))
      test_fatal("load: %d, %s", (int)status, why);
  }
  close(file);
}

/* The size of the file and the size in its header are equal in their low 32 bits. In the last case
 * the file is only mapped, because loading would read all of it before it is refused. */
Test(huge, wrong_length)
{
  check_refused(LANEBLOOM_LEVELDB, 1000, 4 * GIB + 1000, LANEBLOOM_ERR_CORRUPT,
                "too long: expected a payload of 1000");
  check_refused(LANEBLOOM_LEVELDB, 4 * GIB + 1000, 1000, LANEBLOOM_ERR_CORRUPT,
                "truncated: expected a payload of 4294968296 bytes after the header, found 1000");
  check_refused(LANEBLOOM_LEVELDB, 5 * GIB, GIB, LANEBLOOM_ERR_CORRUPT, NULL);
}

/* RocksDB would read such sizes modulo 2^32. */
Test(huge, rocksdb_limit)
{
  static const lanebloom_format formats[] = {LANEBLOOM_ROCKSDB, LANEBLOOM_ROCKSDB_LOCAL,
                                             LANEBLOOM_ROCKSDB_LEGACY};
  const uint64_t sizes[] = {4 * GIB, 4 * GIB + 1, 4 * GIB + 69, 5 * GIB};
  for (size_t f = 0; f < COUNT(formats); f++)
    for (size_t i = 0; i < COUNT(sizes); i++) {
      check_refused(formats[f], sizes[i], sizes[i], LANEBLOOM_ERR_LIMIT,
                    "expected at most the 4294967295 bytes that");
      struct guarded memory = guarded_sparse(sizes[i]);
      memcpy(memory.bytes + sizes[i] - 5,
             formats[f] == LANEBLOOM_ROCKSDB_LEGACY ? "\6\1\0\0" : "\xff\0\6\0", 5);
      lanebloom_filter *filter;
      if (lanebloom_filter_parse_raw(formats[f], memory.bytes, sizes[i], NULL, &filter, NULL, 0) !=
              LANEBLOOM_ERR_LIMIT ||
          filter)
        test_fatal("open");
      guarded_free(&memory);

      char path[32];
      const int file = make_container(path, formats[f], 0, sizes[i]);
      if (lanebloom_filter_load_raw(formats[f], path, NULL, &filter, NULL, 0) !=
              LANEBLOOM_ERR_LIMIT ||
          filter)
        test_fatal("load_raw");
      close(file);
    }
}

/* ---- Saving ---- */

/* Writes are counted here instead of made, because they would take gigabytes. */
static bool counting;
static uint64_t nwritten;

ssize_t __real_write(int file, const void *bytes, size_t nbytes);
ssize_t __wrap_write(int file, const void *bytes, size_t nbytes);
ssize_t __wrap_write(int file, const void *bytes, size_t nbytes)
{
  if (!counting)
    return __real_write(file, bytes, nbytes);
  const size_t n = nbytes < 0x7ffff000 ? nbytes : 0x7ffff000; /* Linux writes no more at once */
  nwritten += n;
  return (ssize_t)n;
}

Test(huge, save)
{
  const uint64_t sizes[] = {4 * GIB - 1, 4 * GIB, 4 * GIB + 1, 5 * GIB, 7 * GIB};
  for (size_t i = 0; i < COUNT(sizes); i++) {
    struct guarded memory = guarded_sparse(sizes[i]);
    lanebloom_filter *filter;
    cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, memory.bytes, sizes[i], NULL, &filter,
                                         NULL, 0) == LANEBLOOM_OK,
              "open");
    nwritten = 0;
    counting = true;
    const lanebloom_status status = lanebloom_filter_save_raw(filter, "/dev/null");
    counting = false;
    if (status || nwritten != sizes[i])
      test_fatal("status %d, %llu of %llu bytes", (int)status, (unsigned long long)nwritten,
                 (unsigned long long)sizes[i]);
    lanebloom_filter_free(filter);
    guarded_free(&memory);
  }
}
