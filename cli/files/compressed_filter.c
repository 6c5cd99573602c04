/* Loads filters from gzip files.
 * SPDX-License-Identifier: MIT */
#include "compressed_filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../input/chunk.h"
#include "../input/decompress.h"
#include "dcso_header.h"

bool is_gzip_filter(const char *path, lanebloom_format format)
{
  static const unsigned char magic[] = {0x1f, 0x8b};
  unsigned char bytes[sizeof magic];
  struct system_info info;
  if ((format != LANEBLOOM_DCSO && format != LANEBLOOM_DCSO_SIGNED) ||
      !lanebloom_system_info(path, &info) || info.kind != SYSTEM_FILE)
    return false;
  const int fd = lanebloom_system_open(path, true);
  const bool is_gzip = fd >= 0 && lanebloom_system_read(fd, bytes, sizeof bytes) == sizeof bytes &&
                       memcmp(bytes, magic, sizeof magic) == 0;
  if (fd >= 0)
    lanebloom_system_close(fd);
  return is_gzip;
}

static lanebloom_status fail(lanebloom_status status, const char *text, char *problem, size_t size)
{
  snprintf(problem, size, "%s", text);
  return status;
}

/* More attached data must be decompressed by the user, because nothing says how much there is. */
enum { MAX_ATTACHED_MIB = 64 };

/* Checks the header of the bytes, of which more may follow, by a filter of one word that has the
 * same header except for the number of bits. */
static lanebloom_status check_header(lanebloom_format format, const char *bytes, char *problem,
                                     size_t problem_size)
{
  uint8_t small[DCSO_HEADER_NBYTES + DCSO_WORD_NBYTES] = {0};
  memcpy(small, bytes, DCSO_HEADER_NBYTES);
  if (load_le64(small + DCSO_NBITS_OFFSET) > 8 * DCSO_WORD_NBYTES)
    store_le64(small + DCSO_NBITS_OFFSET, 8 * DCSO_WORD_NBYTES);
  lanebloom_filter *filter;
  const lanebloom_status status =
      lanebloom_filter_parse_raw(format, small, sizeof small, NULL, &filter, problem, problem_size);
  lanebloom_filter_free(filter);
  return status;
}

/* Decompresses all of the file into *bytes, which the caller frees in any case. The header is
 * checked as soon as it is there, and says how many bytes are enough. */
static lanebloom_status decompress(struct decompressor *decompressor, lanebloom_format format,
                                   char **bytes, size_t *nbytes, char *problem, size_t problem_size)
{
  struct codec_error error;
  uint64_t most = UINT64_MAX;
  size_t room = 0, nread;
  for (int64_t got = 1; got > 0;) {
    if (room - *nbytes < READ_NBYTES) {
      room = room ? 2 * room : 4 * READ_NBYTES;
      char *larger = realloc(*bytes, room);
      if (!larger)
        return fail(LANEBLOOM_ERR_MEMORY, strerror(ENOMEM), problem, problem_size);
      *bytes = larger;
    }
    got = decompressor_read(decompressor, *bytes + *nbytes, &nread, &error);
    if (got < 0)
      return fail(error.is_out_of_memory ? LANEBLOOM_ERR_MEMORY : LANEBLOOM_ERR_CORRUPT, error.text,
                  problem, problem_size);
    *nbytes += (size_t)got;
    if (most == UINT64_MAX && *nbytes >= DCSO_HEADER_NBYTES) {
      const lanebloom_status status = check_header(format, *bytes, problem, problem_size);
      if (status)
        return status;
      most = dcso_nbytes(*bytes) + ((uint64_t)MAX_ATTACHED_MIB << 20);
    }
    if (*nbytes > most) {
      snprintf(problem, problem_size,
               "expected at most %d MiB of attached data in gzip, found more; decompress the file "
               "by gzip -d",
               MAX_ATTACHED_MIB);
      return LANEBLOOM_ERR_LIMIT;
    }
  }
  return LANEBLOOM_OK;
}

lanebloom_status load_gzip_filter(const char *path, lanebloom_format format,
                                  lanebloom_filter **filter, char *problem, size_t problem_size)
{
  *filter = NULL;
  const int fd = lanebloom_system_open(path, true);
  if (fd < 0)
    return fail(LANEBLOOM_ERR_IO, strerror(errno), problem, problem_size);
  struct decompressor *decompressor = decompressor_create(CODEC_GZIP, fd, "", 0);
  lanebloom_system_close(fd);
  if (!decompressor)
    return fail(LANEBLOOM_ERR_MEMORY, strerror(errno), problem, problem_size);
  char *bytes = NULL;
  size_t nbytes = 0;
  lanebloom_status status =
      decompress(decompressor, format, &bytes, &nbytes, problem, problem_size);
  decompressor_destroy(decompressor);
  lanebloom_filter *borrowing = NULL;
  if (!status)
    status =
        lanebloom_filter_parse_raw(format, bytes, nbytes, NULL, &borrowing, problem, problem_size);
  if (!status) /* the union of one filter is a copy that borrows nothing */
    status = lanebloom_filter_merge((const lanebloom_filter *const[]){borrowing}, 1, filter, NULL,
                                    problem, problem_size);
  lanebloom_filter_free(borrowing);
  free(bytes);
  return status;
}
