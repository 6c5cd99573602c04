/* Files: the container of docs/file-format.md, and bare engine bytes.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "bytes.h"
#include "filter.h"
#include "problem.h"
#include "replace.h"

/* ---- The header ---- */

/* As PNG's: the first byte is not ASCII, and line ends that a text mode would change are in it. */
static const uint8_t MAGIC[8] = {0x89, 'L', 'B', 'F', '\r', '\n', 0x1a, '\n'};

enum {
  CONTAINER_VERSION = 1,
  HEADER_NBYTES = 64, /* so that the payload starts on a cache line */
};

static const uint64_t MAX_MILLIBITS = (uint64_t)INT_MAX * 1000; /* no format takes more */

/* Where each field starts. Little-endian, on every host. */
enum {
  AT_MAGIC = 0,
  AT_VERSION = 8,         /* u32 */
  AT_FORMAT = 12,         /* u32: lanebloom_format */
  AT_NKEYS = 16,          /* u64: all ones when unknown */
  AT_MILLIBITS = 24,      /* u64: bits per key in thousandths, all ones when unknown */
  AT_PAYLOAD_NBYTES = 32, /* u64 */
  AT_FLAGS = 40,          /* u32: none is defined yet */
  /* u32: low half of XXH3-64 of the bytes before it, for those who map and do not read it all */
  AT_HEADER_CHECKSUM = 44,
  AT_CHECKSUM = 48, /* u64: XXH3-64 of header and payload, with these eight bytes 0 */
  AT_RESERVED = 56, /* u64: 0 */
};

static uint32_t header_checksum(const uint8_t *header)
{
  return (uint32_t)XXH3_64bits(header, AT_HEADER_CHECKSUM);
}

static uint64_t whole_checksum(const uint8_t *header, const void *payload, size_t nbytes)
{
  uint8_t zeroed[HEADER_NBYTES];
  memcpy(zeroed, header, sizeof zeroed);
  store_le64(zeroed + AT_CHECKSUM, 0);
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, zeroed, sizeof zeroed);
  XXH3_64bits_update(&state, payload, nbytes);
  return XXH3_64bits_digest(&state);
}

static void write_header(const lanebloom_filter *filter, uint8_t header[HEADER_NBYTES])
{
  const double bits = filter->bits_per_key;
  memset(header, 0, HEADER_NBYTES);
  memcpy(header + AT_MAGIC, MAGIC, sizeof MAGIC);
  store_le32(header + AT_VERSION, CONTAINER_VERSION);
  store_le32(header + AT_FORMAT, (uint32_t)filter->format->id);
  store_le64(header + AT_NKEYS, filter->nkeys);
  store_le64(header + AT_MILLIBITS,
             isnan(bits) ? LANEBLOOM_UNKNOWN : (uint64_t)round(fmin(bits, INT_MAX) * 1000));
  store_le64(header + AT_PAYLOAD_NBYTES, filter->nbytes);
  store_le32(header + AT_HEADER_CHECKSUM, header_checksum(header));
  store_le64(header + AT_CHECKSUM, whole_checksum(header, filter->bytes, filter->nbytes));
}

/* Structure only: what can be judged from the first `found` bytes of a file. */
static lanebloom_status check_header(const uint8_t *header, uint64_t found,
                                     const struct problem *problem)
{
  if (found < sizeof MAGIC || memcmp(header, MAGIC, sizeof MAGIC) != 0) {
    char text[3 * sizeof MAGIC + 1] = " nothing";
    for (size_t i = 0; i < sizeof MAGIC && i < found; i++)
      snprintf(text + 3 * i, sizeof text - 3 * i, " %02x", header[i]);
    return problem_set(
        problem, LANEBLOOM_ERR_FORMAT,
        "not a lanebloom container: expected it to start with 89 4c 42 46 0d 0a 1a 0a, found%s",
        text);
  }
  if (found < HEADER_NBYTES)
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "truncated: expected a header of %d bytes, found %" PRIu64, HEADER_NBYTES,
                       found);
  const uint32_t version = load_le32(header + AT_VERSION);
  if (version != CONTAINER_VERSION)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "container version: expected %d, found %" PRIu32
                       "; a newer lanebloom may read it",
                       CONTAINER_VERSION, version);
  const uint32_t expected = load_le32(header + AT_HEADER_CHECKSUM), sum = header_checksum(header);
  if (expected != sum)
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged header: expected checksum %08" PRIx32 ", found %08" PRIx32,
                       expected, sum);
  if (load_le32(header + AT_FLAGS) != 0 || load_le64(header + AT_RESERVED) != 0)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "flags: expected none, found %08" PRIx32 " and %016" PRIx64
                       "; a newer lanebloom may read it",
                       load_le32(header + AT_FLAGS), load_le64(header + AT_RESERVED));
  const uint64_t millibits = load_le64(header + AT_MILLIBITS);
  if (millibits > MAX_MILLIBITS && millibits != LANEBLOOM_UNKNOWN)
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "bits per key: expected at most %" PRIu64 " thousandths, found %" PRIu64,
                       MAX_MILLIBITS, millibits);
  const uint32_t id = load_le32(header + AT_FORMAT);
  const struct format_table *format = lanebloom_format_table((lanebloom_format)id);
  if (!format)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "filter format: expected one that this lanebloom has, found number %" PRIu32,
                       id);
  const uint64_t nbytes = load_le64(header + AT_PAYLOAD_NBYTES);
  if (nbytes > format->max_nbytes)
    return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                       "payload: expected at most the %" PRIu64
                       " bytes that %s can hold, found %" PRIu64,
                       format->max_nbytes, format->name, nbytes);
  return LANEBLOOM_OK;
}

static lanebloom_status check_size(const uint8_t *header, uint64_t found,
                                   const struct problem *problem)
{
  const uint64_t nbytes = load_le64(header + AT_PAYLOAD_NBYTES);
  if (found - HEADER_NBYTES > nbytes) /* how many more nobody knows: load() stops there */
    return problem_set(
        problem, LANEBLOOM_ERR_CORRUPT,
        "too long: expected a payload of %" PRIu64 " bytes behind the header, found more", nbytes);
  if (found - HEADER_NBYTES < nbytes)
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "truncated: expected a payload of %" PRIu64
                       " bytes behind the header, found %" PRIu64,
                       nbytes, found - HEADER_NBYTES);
  return LANEBLOOM_OK;
}

static lanebloom_status check_sum(const uint8_t *bytes, size_t nbytes,
                                  const struct problem *problem)
{
  const uint64_t expected = load_le64(bytes + AT_CHECKSUM);
  const uint64_t found = whole_checksum(bytes, bytes + HEADER_NBYTES, nbytes - HEADER_NBYTES);
  if (expected == found)
    return LANEBLOOM_OK;
  return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                     "damaged: expected checksum %016" PRIx64 ", found %016" PRIx64, expected,
                     found);
}

/* A filter over container bytes, which lie in `memory` or are borrowed; on success it owns the
 * memory. */
static lanebloom_status open_container(const uint8_t *bytes, size_t nbytes, bool verify_sum,
                                       struct filter_memory memory, const struct problem *problem,
                                       lanebloom_filter **filter)
{
  lanebloom_status status = check_header(bytes, nbytes, problem);
  if (!status)
    status = check_size(bytes, nbytes, problem);
  if (!status && verify_sum)
    status = check_sum(bytes, nbytes, problem);
  if (status)
    return status;

  const struct format_table *format =
      lanebloom_format_table((lanebloom_format)load_le32(bytes + AT_FORMAT));
  const uint64_t millibits = load_le64(bytes + AT_MILLIBITS);
  status = lanebloom_filter_adopt(
      format, bytes + HEADER_NBYTES, nbytes - HEADER_NBYTES, load_le64(bytes + AT_NKEYS),
      millibits == LANEBLOOM_UNKNOWN ? NAN : (double)millibits / 1000, memory, filter);
  return status ? problem_status(problem, status) : LANEBLOOM_OK;
}

/* ---- Reading ---- */

/* Reads until `size` bytes or the end; returns how many, or -1 with errno. */
static ssize_t read_full(int fd, uint8_t *bytes, size_t size)
{
  size_t n = 0;
  while (n < size) {
    ssize_t got = read(fd, bytes + n, size - n);
    if (got < 0 && errno != EINTR)
      return -1;
    if (got == 0)
      break;
    if (got > 0)
      n += (size_t)got;
  }
  return (ssize_t)n;
}

static uint64_t min(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

/* From where a file stands to its end; unknown of what is no regular file. */
static uint64_t bytes_left(int fd)
{
  struct stat info;
  const off_t at = lseek(fd, 0, SEEK_CUR);
  if (at < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
    return LANEBLOOM_UNKNOWN;
  return info.st_size > at ? (uint64_t)(info.st_size - at) : 0;
}

/* Was the end met before that of the file as it was? Some say more than they have from the start:
 * those in /sys. */
static bool has_shrunk(int fd, uint64_t left, uint64_t found)
{
  struct stat now;
  const off_t at = lseek(fd, 0, SEEK_CUR);
  return left != LANEBLOOM_UNKNOWN && found < left && at >= 0 && fstat(fd, &now) == 0 &&
         (uint64_t)now.st_size < (uint64_t)at + (left - found);
}

/* Everything behind a prefix that has been read already, prefix included; of more than `most` bytes
 * behind it, one too many. A regular file says its size; a pipe does not, and its memory doubles
 * until the end comes. On an error the memory is freed. */
static lanebloom_status read_rest(int fd, const uint8_t *prefix, size_t nprefix, uint64_t most,
                                  struct filter_memory *memory, size_t *nbytes,
                                  const struct problem *problem)
{
  const uint64_t left = bytes_left(fd), first = left == LANEBLOOM_UNKNOWN ? 1 << 16 : left;
  const uint64_t end = min(most, PTRDIFF_MAX) + nprefix + 1; /* 1 more byte to meet the end */

  *memory = (struct filter_memory){0};
  *nbytes = 0;
  for (uint64_t room = min(first + nprefix + 1, end);; room = min(2 * room, end)) {
    struct filter_memory larger = lanebloom_memory_create(room);
    if (!larger.bytes) {
      lanebloom_memory_free(memory);
      return problem_memory(problem, room);
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
        has_shrunk(fd, left,
                   *nbytes - nprefix)) { /* bare bytes that are cut would turn keys away */
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
  uint8_t header[HEADER_NBYTES];
  ssize_t got = read_full(fd, header, sizeof header);
  if (got < 0)
    return problem_io(problem);
  lanebloom_status status = check_header(
      header, (uint64_t)got, problem); /* before a large file is read that is none of ours */
  if (status)
    return status;

  struct filter_memory memory;
  size_t nbytes;
  status = read_rest(fd, header, sizeof header, load_le64(header + AT_PAYLOAD_NBYTES), &memory,
                     &nbytes, problem);
  if (status)
    return status;
  status = open_container(memory.bytes, nbytes, true, memory, problem, filter);
  if (status)
    lanebloom_memory_free(&memory);
  return status;
}

static lanebloom_status map(int fd, const struct problem *problem, lanebloom_filter **filter)
{
  struct stat info;
  if (fstat(fd, &info) != 0)
    return problem_io(problem);
  if (!S_ISREG(info.st_mode) || (uint64_t)info.st_size > SIZE_MAX) {
    errno = S_ISREG(info.st_mode) ? EFBIG : ENODEV;
    return problem_io(problem);
  }
  if (info.st_size == 0)
    return check_header(NULL, 0, problem); /* nothing cannot be mapped */
  struct filter_memory memory = {.nbytes = (size_t)info.st_size, .kind = MEMORY_MAPPED};
  void *address = mmap(NULL, memory.nbytes, PROT_READ, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED)
    return problem_io(problem);
  memory.bytes = address;
  lanebloom_status status =
      open_container(memory.bytes, memory.nbytes, false, memory, problem, filter);
  if (status)
    lanebloom_memory_free(&memory);
  return status;
}

/* A path that names a descriptor of ours, such as /dev/stdin, is read from where that stands. */
static int open_to_read(const char *path)
{
  char target[PATH_MAX];
  const int descriptor = lanebloom_follow(path, target);
  if (descriptor == FOLLOW_FAILED)
    return -1;
  return descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
}

/* Keeps errno, which may be the caller's answer. */
static void close_quietly(int fd)
{
  const int error = errno;
  close(fd);
  errno = error;
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
  close_quietly(fd);
  return status;
}

lanebloom_status lanebloom_filter_map(const char *path, lanebloom_filter **filter, char *text,
                                      size_t size)
{
  const struct problem problem = problem_begin(text, size);
  *filter = NULL;
  if (!lanebloom_kernels_current())
    return problem_status(&problem, LANEBLOOM_ERR_KERNEL);
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe is refused, not waited for */
  if (fd < 0)
    return problem_io(&problem);
  lanebloom_status status = map(fd, &problem, filter);
  close_quietly(fd);
  return status;
}

lanebloom_status lanebloom_filter_parse(const void *bytes, size_t size, lanebloom_filter **filter)
{
  *filter = NULL;
  if (!lanebloom_kernels_current())
    return LANEBLOOM_ERR_KERNEL;
  if (!bytes && size > 0)
    return LANEBLOOM_ERR_ARGUMENT;
  struct filter_memory borrowed = {.kind = MEMORY_BORROWED};
  return open_container(bytes, size, true, borrowed, &no_problem, filter);
}

lanebloom_status lanebloom_filter_load_raw(lanebloom_format id, const char *path,
                                           lanebloom_filter **filter, char *text, size_t size)
{
  const struct problem problem = problem_begin(text, size);
  *filter = NULL;
  const struct format_table *format;
  lanebloom_status status = lanebloom_format_find(id, &format);
  if (status)
    return problem_status(&problem, status);
  int fd = open_to_read(path);
  if (fd < 0)
    return problem_io(&problem);
  struct filter_memory memory;
  size_t nbytes;
  const uint64_t left = bytes_left(fd);
  if (left != LANEBLOOM_UNKNOWN && left > format->max_nbytes) /* before all of it is read */
    status = problem_set(&problem, LANEBLOOM_ERR_LIMIT,
                         "expected at most the %" PRIu64 " bytes that %s can hold, found %" PRIu64,
                         format->max_nbytes, format->name, left);
  else
    status = read_rest(fd, NULL, 0, format->max_nbytes, &memory, &nbytes, &problem);
  close_quietly(fd);
  if (status)
    return status;
  /* A container taken for a filter would turn keys away. Engine bytes that begin like one are not
   * to be expected. */
  if (nbytes >= HEADER_NBYTES && memcmp(memory.bytes, MAGIC, sizeof MAGIC) == 0)
    status =
        problem_set(&problem, LANEBLOOM_ERR_FORMAT,
                    "expected the bare bytes of %s, found a lanebloom container", format->name);
  else if ((status = lanebloom_filter_adopt(format, memory.bytes, nbytes, LANEBLOOM_UNKNOWN, NAN,
                                            memory, filter)))
    problem_status(&problem, status);
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
  uint8_t header[HEADER_NBYTES];
  if (!lanebloom_kernels_current())
    return LANEBLOOM_ERR_KERNEL;
  write_header(filter, header);
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
