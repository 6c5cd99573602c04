/* Loads filters from files and saves them to files, as containers or as bare engine bytes.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "container.h"
#include "system/replace.h"
#include "system/system.h"

/* ---- Reading ---- */

/* Reads until `bytes` is full or the file ends. Returns the number of bytes read, or -1 with
 * errno. */
static ssize_t read_full(int fd, uint8_t *bytes, size_t size)
{
  size_t n = 0;
  for (ssize_t got = 1; got > 0 && n < size; n += (size_t)got) {
    got = lanebloom_system_read(fd, bytes + n, size - n);
    if (got < 0)
      return -1;
  }
  return (ssize_t)n;
}

static uint64_t min(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

/* Returns the number of bytes from the file's position to its end, or LANEBLOOM_UNKNOWN if this is
 * no regular file. */
static uint64_t bytes_left(int fd)
{
  struct system_info info;
  uint64_t at;
  if (!lanebloom_system_position(fd, &at) || !lanebloom_system_file_info(fd, &info) ||
      info.kind != SYSTEM_FILE)
    return LANEBLOOM_UNKNOWN;
  return info.nbytes > at ? info.nbytes - at : 0;
}

/* Checks whether the file became shorter while it was read. `left` is the number of bytes that were
 * left before reading; `found` is the number of bytes that were read. Comparing these two numbers
 * is not enough, because files in /sys report more bytes than they have. */
static bool has_shrunk(int fd, uint64_t left, uint64_t found)
{
  struct system_info now;
  uint64_t at;
  return left != LANEBLOOM_UNKNOWN && found < left && lanebloom_system_position(fd, &at) &&
         lanebloom_system_file_info(fd, &now) && now.nbytes < at + (left - found);
}

/* Reads the rest of a file whose first bytes, the prefix, have been read. The memory gets the
 * prefix and the rest. Reading stops after `most` + 1 bytes of the rest, so that the caller sees
 * that a file is too long. The size of a pipe is unknown, so for a pipe the memory is doubled until
 * the data ends. On an error the memory is freed. */
static lanebloom_status read_rest(int fd, const uint8_t *prefix, size_t nprefix, uint64_t most,
                                  struct memory *memory, size_t *nbytes,
                                  const struct problem *problem)
{
  const uint64_t left = bytes_left(fd), first = left == LANEBLOOM_UNKNOWN ? 1 << 16 : left;
  /* 1 byte more shows that a file is too long */
  const uint64_t end = min(most, PTRDIFF_MAX) + nprefix + 1;

  *memory = (struct memory){0};
  *nbytes = 0;
  for (uint64_t room = min(first + nprefix + 1, end);; room = min(2 * room, end)) {
    struct memory larger = lanebloom_memory_create(room);
    if (!larger.bytes) {
      lanebloom_memory_free(memory);
      return problem_memory_to(problem, room, "hold the whole file");
    }
    if (memory->bytes)
      memcpy(larger.bytes, memory->bytes, *nbytes);
    else if (nprefix > 0)
      memcpy(larger.bytes, prefix, *nbytes = nprefix);
    lanebloom_memory_free(memory);
    *memory = larger;

    ssize_t got = read_full(fd, memory->bytes + *nbytes, (size_t)room - *nbytes);
    if (got < 0) {
      problem_io(problem);
      lanebloom_memory_free(memory);
      return LANEBLOOM_ERR_IO;
    }
    *nbytes += (size_t)got;
    if (*nbytes < room &&
        has_shrunk(fd, left, *nbytes - nprefix)) { /* refused: a truncated filter would lose keys */
      lanebloom_memory_free(memory);
      return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                         "truncated: the file became shorter while it was read");
    }
    if (*nbytes < room || room == end)
      return LANEBLOOM_OK;
  }
}

static lanebloom_status load(int fd, const struct problem *problem, lanebloom_filter **filter)
{
  uint8_t header[CONTAINER_HEADER_NBYTES];
  ssize_t got = read_full(fd, header, sizeof header);
  if (got < 0)
    return problem_io(problem);
  lanebloom_status status = lanebloom_container_check_header(
      header, (uint64_t)got,
      problem); /* before the payload is read: the file may be large and not a container */
  if (status)
    return status;

  struct memory memory;
  size_t nbytes;
  status = read_rest(fd, header, sizeof header, lanebloom_container_payload_nbytes(header), &memory,
                     &nbytes, problem);
  if (status)
    return status;
  status = lanebloom_container_open(memory.bytes, nbytes, true, memory, problem, filter);
  if (status)
    lanebloom_memory_free(&memory);
  return status;
}

static lanebloom_status map(int fd, const struct problem *problem, lanebloom_filter **filter)
{
  struct system_info info;
  if (!lanebloom_system_file_info(fd, &info))
    return problem_io(problem);
  if (info.kind != SYSTEM_FILE || info.nbytes > SIZE_MAX) {
    errno = info.kind == SYSTEM_FILE ? EFBIG : ENODEV;
    return problem_io(problem);
  }
  if (info.nbytes == 0)
    return lanebloom_container_check_header(NULL, 0, problem); /* an empty file cannot be mapped */
  struct memory memory = {.nbytes = (size_t)info.nbytes, .kind = MEMORY_MAPPED};
  memory.bytes = lanebloom_system_map(fd, memory.nbytes);
  if (!memory.bytes)
    return problem_io(problem);
  lanebloom_status status =
      lanebloom_container_open(memory.bytes, memory.nbytes, false, memory, problem, filter);
  if (status)
    lanebloom_memory_free(&memory);
  return status;
}

/* Opens a file for reading. A path such as /dev/stdin names a descriptor of this process. Such a
 * descriptor is duplicated, so reading begins at its current position. */
static int open_to_read(const char *path)
{
  char target[FOLLOW_NBYTES];
  const int descriptor = lanebloom_follow(path, target);
  if (descriptor == FOLLOW_FAILED)
    return -1;
  return descriptor >= 0 ? lanebloom_system_duplicate(descriptor)
                         : lanebloom_system_open(path, true);
}

lanebloom_status lanebloom_filter_load(const char *path, lanebloom_filter **filter, char *text,
                                       size_t size)
{
  const struct problem problem = problem_begin(text, size);
  *filter = NULL;
  if (!lanebloom_kernels_current())
    return problem_status(&problem, LANEBLOOM_ERR_KERNEL);
  int fd = open_to_read(path);
  if (fd < 0)
    return problem_io(&problem);
  lanebloom_status status = load(fd, &problem, filter);
  lanebloom_system_close(fd);
  return status;
}

lanebloom_status lanebloom_filter_map(const char *path, lanebloom_filter **filter, char *text,
                                      size_t size)
{
  const struct problem problem = problem_begin(text, size);
  *filter = NULL;
  if (!lanebloom_kernels_current())
    return problem_status(&problem, LANEBLOOM_ERR_KERNEL);
  int fd = lanebloom_system_open(path, false);
  if (fd < 0)
    return problem_io(&problem);
  lanebloom_status status = map(fd, &problem, filter);
  lanebloom_system_close(fd);
  return status;
}

lanebloom_status lanebloom_filter_load_raw(lanebloom_format id, const char *path,
                                           const lanebloom_raw_options *options,
                                           lanebloom_filter **filter, char *text, size_t size)
{
  const struct problem problem = problem_begin(text, size);
  *filter = NULL;
  const struct format_table *format;
  struct filter_facts facts;
  lanebloom_status status = lanebloom_format_find(id, &format);
  if (status)
    return lanebloom_format_problem(&problem, status, id);
  status = lanebloom_filter_facts_of(options, &facts, &problem);
  if (status)
    return status;
  int fd = open_to_read(path);
  if (fd < 0)
    return problem_io(&problem);
  struct memory memory = {0};
  size_t nbytes = 0;
  const uint64_t left = bytes_left(fd);
  if (left != LANEBLOOM_UNKNOWN) /* a file that is too large is refused before it is read */
    status = lanebloom_format_check_size(format, left, &problem);
  if (!status)
    status = read_rest(fd, NULL, 0, format->max_nbytes, &memory, &nbytes, &problem);
  lanebloom_system_close(fd);
  if (status)
    return status;
  /* A container that was read as bare bytes would be a filter with wrong bits, so it would lose
   * keys. Therefore bytes that begin like a container are refused, although an engine's bytes might
   * begin like one by chance. */
  if (lanebloom_container_begins(memory.bytes, nbytes))
    status =
        problem_set(&problem, LANEBLOOM_ERR_FORMAT,
                    "expected the bare bytes of %s, found a lanebloom container", format->name);
  else
    status =
        lanebloom_filter_adopt_raw(format, memory.bytes, nbytes, &facts, memory, filter, &problem);
  if (status)
    lanebloom_memory_free(&memory);
  return status;
}

/* ---- Saving ---- */

static lanebloom_status save(const char *path, const uint8_t *header, size_t nheader,
                             const lanebloom_filter *filter)
{
  struct replacement file;
  if (!lanebloom_replace_begin(&file, path))
    return LANEBLOOM_ERR_IO;
  bool done = lanebloom_replace_write(&file, header, nheader) &&
              lanebloom_replace_write(&file, filter->bytes, filter->nbytes);
  return lanebloom_replace_end(&file, done) ? LANEBLOOM_OK : LANEBLOOM_ERR_IO;
}

lanebloom_status lanebloom_filter_save(const lanebloom_filter *filter, const char *path)
{
  uint8_t header[CONTAINER_HEADER_NBYTES];
  if (!lanebloom_kernels_current())
    return LANEBLOOM_ERR_KERNEL;
  lanebloom_container_write_header(filter, header);
  return save(path, header, sizeof header, filter);
}

lanebloom_status lanebloom_filter_save_raw(const lanebloom_filter *filter, const char *path)
{
  return lanebloom_kernels_current() ? save(path, NULL, 0, filter) : LANEBLOOM_ERR_KERNEL;
}

lanebloom_status lanebloom_filter_save_check(const char *path)
{
  if (!lanebloom_kernels_current())
    return LANEBLOOM_ERR_KERNEL;
  return lanebloom_replace_check(path) ? LANEBLOOM_OK : LANEBLOOM_ERR_IO;
}
