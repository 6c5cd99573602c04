/* What the libraries ask of the system is refused: every call in turn, each once and from then on;
 * reads and writes are also interrupted and cut short, and files end too early. A call that fails
 * says so, changes nothing, leaves neither memory nor descriptors nor files behind, and works when
 * it is made again. One that succeeds all the same gives the right answer; of tables, at worst more
 * keys than needed may be there.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lanebloom_tables.h>

#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Calls that fail: the linker puts these in the place of the C library's
 * (tests/CMakeLists.txt) ---- */

enum function {
  ALLOCATE,
  TRIM,
  MAP,
  OPEN,
  STAT,
  READ,
  WRITE,
  FSYNC,
  LINK,
  RENAME,
  DUPLICATE,
  CHMOD,
  RANDOM,
  CLOSE,
  NFUNCTIONS
};
static const char *const function_names[NFUNCTIONS] = {[ALLOCATE] = "allocation",
                                                       [TRIM] = "realloc to less",
                                                       [MAP] = "mmap",
                                                       [OPEN] = "open",
                                                       [STAT] = "stat",
                                                       [READ] = "read",
                                                       [WRITE] = "write",
                                                       [FSYNC] = "fsync",
                                                       [LINK] = "linkat",
                                                       [RENAME] = "renameat",
                                                       [DUPLICATE] = "fcntl",
                                                       [CHMOD] = "fchmod",
                                                       [RANDOM] = "getrandom",
                                                       [CLOSE] = "close"};

enum way { FAIL, FAIL_ON, INTERRUPT, SHORT, SHORT_ON, SHRINK, NWAYS };
static const char *const way_names[NWAYS] = {[FAIL] = "fails",
                                             [FAIL_ON] = "fails from then on",
                                             [INTERRUPT] = "is interrupted",
                                             [SHORT] = "is cut short",
                                             [SHORT_ON] = "is cut short from then on",
                                             [SHRINK] = "finds the file cut there"};

static struct {
  bool armed;
  enum function function;
  enum way way;
  size_t nth; /* from 1 */
  size_t ncalls[NFUNCTIONS];
  bool struck;
  lanebloom_status noticed; /* by a call that was then made again */
} fault;

static size_t nlive, nmapped; /* what the libraries hold: allocations, bytes of mappings */
static bool no_nameless_files;

static bool strikes(enum function function)
{
  if (!fault.armed)
    return false;
  const size_t n = ++fault.ncalls[function];
  const bool goes_on = fault.way == FAIL_ON || fault.way == SHORT_ON;
  if (function != fault.function || n < fault.nth || (n > fault.nth && !goes_on))
    return false;
  fault.struck = true;
  return true;
}

static bool fails(enum function function)
{
  if (!strikes(function))
    return false;
  errno = function <= MAP ? ENOMEM : fault.way == INTERRUPT ? EINTR : EIO;
  return true;
}

static void *born(void *memory)
{
  nlive += memory && fault.armed;
  return memory;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *bytes, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *bytes, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t size)
{
  return fails(ALLOCATE) ? NULL : born(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
  return fails(ALLOCATE) ? NULL : born(__real_calloc(n, size));
}

void *__wrap_realloc(void *bytes, size_t size)
{
  if (fails(fault.armed && bytes && size <= malloc_usable_size(bytes) ? TRIM : ALLOCATE))
    return NULL;
  return bytes ? __real_realloc(bytes, size) : born(__real_realloc(NULL, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
  return fails(ALLOCATE) ? NULL : born(__real_aligned_alloc(alignment, size));
}

char *__wrap_strdup(const char *text)
{
  return fails(ALLOCATE) ? NULL : born(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t n)
{
  return fails(ALLOCATE) ? NULL : born(__real_strndup(text, n));
}

void __wrap_free(void *memory)
{
  nlive -= memory && fault.armed;
  __real_free(memory);
}

void *__real_mmap64(void *address, size_t nbytes, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *address, size_t nbytes);
void *__wrap_mmap64(void *address, size_t nbytes, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *address, size_t nbytes);

void *__wrap_mmap64(void *address, size_t nbytes, int protection, int flags, int fd, off_t offset)
{
  if (fails(MAP))
    return MAP_FAILED;
  void *map = __real_mmap64(address, nbytes, protection, flags, fd, offset);
  nmapped += fault.armed && map != MAP_FAILED ? nbytes : 0;
  return map;
}

int __wrap_munmap(void *address, size_t nbytes)
{
  nmapped -= fault.armed ? nbytes : 0;
  return __real_munmap(address, nbytes);
}

int __real_open64(const char *path, int flags, ...);
int __real_openat64(int folder, const char *path, int flags, ...);
int __real_fcntl64(int fd, int command, ...);
int __real_stat64(const char *path, struct stat *status);
int __real_fstat64(int fd, struct stat *status);
ssize_t __real_read(int fd, void *bytes, size_t nbytes);
ssize_t __real_pread64(int fd, void *bytes, size_t nbytes, off_t offset);
ssize_t __real_write(int fd, const void *bytes, size_t nbytes);
int __real_fsync(int fd);
int __real_linkat(int folder, const char *path, int new_folder, const char *new_path, int flags);
int __real_renameat(int folder, const char *path, int new_folder, const char *new_path);
int __real_fchmod(int fd, mode_t mode);
ssize_t __real_getrandom(void *bytes, size_t nbytes, unsigned flags);
int __real_close(int fd);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_openat64(int folder, const char *path, int flags, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_stat64(const char *path, struct stat *status);
int __wrap_fstat64(int fd, struct stat *status);
ssize_t __wrap_read(int fd, void *bytes, size_t nbytes);
ssize_t __wrap_pread64(int fd, void *bytes, size_t nbytes, off_t offset);
ssize_t __wrap_write(int fd, const void *bytes, size_t nbytes);
int __wrap_fsync(int fd);
int __wrap_linkat(int folder, const char *path, int new_folder, const char *new_path, int flags);
int __wrap_renameat(int folder, const char *path, int new_folder, const char *new_path);
int __wrap_fchmod(int fd, mode_t mode);
ssize_t __wrap_getrandom(void *bytes, size_t nbytes, unsigned flags);
int __wrap_close(int fd);

static bool takes_mode(int flags)
{
  return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

int __wrap_open64(const char *path, int flags, ...)
{
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = takes_mode(flags) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return fails(OPEN) ? -1 : __real_open64(path, flags, mode);
}

int __wrap_openat64(int folder, const char *path, int flags, ...)
{
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = takes_mode(flags) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (no_nameless_files && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return fails(OPEN) ? -1 : __real_openat64(folder, path, flags, mode);
}

int __wrap_fcntl64(int fd, int command, ...)
{
  va_list rest;
  va_start(rest, command);
  const long argument = va_arg(rest, long);
  va_end(rest);
  return fails(DUPLICATE) ? -1 : __real_fcntl64(fd, command, argument);
}

/* That there is no file yet is an answer, not a failure. */
int __wrap_stat64(const char *path, struct stat *status)
{
  return fails(STAT) ? -1 : __real_stat64(path, status);
}

int __wrap_fstat64(int fd, struct stat *status)
{
  return fails(STAT) ? -1 : __real_fstat64(fd, status);
}

static void cut_file(int fd, off_t nbytes)
{
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (truncate(path, nbytes) != 0)
    test_fatal("cannot cut %s", path);
}

/* How many bytes a read or a write may take; -1: it fails. */
static ssize_t allowed(enum function function, int fd, size_t nbytes, off_t offset)
{
  if (!strikes(function))
    return (ssize_t)nbytes;
  if (fault.way == SHRINK) {
    cut_file(fd, offset);
    return (ssize_t)nbytes;
  }
  if (fault.way == SHORT || fault.way == SHORT_ON)
    return nbytes > 0;
  errno = fault.way == INTERRUPT ? EINTR : EIO;
  return -1;
}

ssize_t __wrap_read(int fd, void *bytes, size_t nbytes)
{
  const ssize_t n = allowed(READ, fd, nbytes, fault.way == SHRINK ? lseek(fd, 0, SEEK_CUR) : 0);
  return n > 0 || nbytes == 0 ? __real_read(fd, bytes, (size_t)n) : n;
}

ssize_t __wrap_pread64(int fd, void *bytes, size_t nbytes, off_t offset)
{
  const ssize_t n = allowed(READ, fd, nbytes, offset);
  return n > 0 || nbytes == 0 ? __real_pread64(fd, bytes, (size_t)n, offset) : n;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t nbytes)
{
  const ssize_t n = allowed(WRITE, fd, nbytes, 0);
  return n > 0 || nbytes == 0 ? __real_write(fd, bytes, (size_t)n) : n;
}

/* Nothing here is to outlive a power cut. */
int __wrap_fsync(int fd)
{
  return fails(FSYNC) ? -1 : fault.armed ? 0 : __real_fsync(fd);
}

int __wrap_linkat(int folder, const char *path, int new_folder, const char *new_path, int flags)
{
  return fails(LINK) ? -1 : __real_linkat(folder, path, new_folder, new_path, flags);
}

int __wrap_renameat(int folder, const char *path, int new_folder, const char *new_path)
{
  return fails(RENAME) ? -1 : __real_renameat(folder, path, new_folder, new_path);
}

int __wrap_fchmod(int fd, mode_t mode)
{
  return fails(CHMOD) ? -1 : __real_fchmod(fd, mode);
}

ssize_t __wrap_getrandom(void *bytes, size_t nbytes, unsigned flags)
{
  return fails(RANDOM) ? -1 : __real_getrandom(bytes, nbytes, flags);
}

/* As on Linux: the descriptor is gone, whatever is returned. */
int __wrap_close(int fd)
{
  const bool failed = fails(CLOSE);
  const int error = errno, result = __real_close(fd);
  if (failed)
    errno = error;
  return failed ? -1 : result;
}

/* ---- Every call in turn ---- */

/* Calls of the libraries that belong together. It returns the first status that is not
 * LANEBLOOM_OK, having closed what it opened, and looks at answers itself. */
struct scenario {
  const char *name;
  void (*prepare)(void); /* what files there are; may be NULL */
  lanebloom_status (*run)(void);
  void (*check)(lanebloom_status status); /* what it left behind; may be NULL */
  unsigned tolerates;                     /* functions that may fail without an error: bits */
  bool of_pipe;                           /* that cannot be cut */
};

static size_t ninjected[NFUNCTIONS][NWAYS], ntolerated;

static bool way_applies(const struct scenario *scenario, enum function function, enum way way)
{
  switch (way) {
  case FAIL:
  case FAIL_ON:
    return true;
  case INTERRUPT:
    return function == READ || function == WRITE || function == OPEN || function == FSYNC;
  case SHORT:
  case SHORT_ON:
    return function == READ || function == WRITE;
  default:
    return function == READ && !scenario->of_pipe;
  }
}

/* Reads and writes that are interrupted or cut short go on; a file that ends is not what it said;
 * the rest is an error of its kind, unless it is one that is not needed. */
static bool is_right(const struct scenario *scenario, enum function function, enum way way,
                     lanebloom_status status)
{
  const bool goes_on =
      (function == READ || function == WRITE) && way != FAIL && way != FAIL_ON && way != SHRINK;
  if (goes_on)
    return status == LANEBLOOM_OK;
  if (status == LANEBLOOM_OK)
    return way == SHRINK || scenario->tolerates >> function & 1;
  if (way == SHRINK)
    return status == LANEBLOOM_ERR_CORRUPT || status == LANEBLOOM_ERR_FORMAT;
  if (function <= TRIM || (function == MAP && status == LANEBLOOM_ERR_MEMORY))
    return status == LANEBLOOM_ERR_MEMORY;
  return status == LANEBLOOM_ERR_IO;
}

static int lowest_descriptor(void)
{
  const int fd = dup(STDERR_FILENO);
  close(fd);
  return fd;
}

static lanebloom_status run(const struct scenario *scenario)
{
  if (scenario->prepare)
    scenario->prepare();
  memset(fault.ncalls, 0, sizeof fault.ncalls);
  fault.struck = false;
  fault.noticed = LANEBLOOM_OK;
  const int descriptor = lowest_descriptor();
  fault.armed = true;
  lanebloom_status status = scenario->run();
  fault.armed = false;
  if (nlive > 0 || nmapped > 0)
    test_fatal("%zu allocations and %zu mapped bytes are left", nlive, nmapped);
  if (lowest_descriptor() != descriptor)
    test_fatal("a descriptor is left open");
  if (scenario->check)
    scenario->check(status);
  return status ? status : fault.noticed;
}

static void survive(const struct scenario *scenario)
{
  test_context("%s: undisturbed", scenario->name);
  fault.nth = 0;
  fault.function = NFUNCTIONS;
  const lanebloom_status clean = run(scenario);
  cr_assert(clean == LANEBLOOM_OK, "%s: %s", scenario->name, lanebloom_status_text(clean));
  size_t ncalls[NFUNCTIONS];
  memcpy(ncalls, fault.ncalls, sizeof ncalls);

  for (enum function function = 0; function < NFUNCTIONS; function++)
    for (enum way way = 0; way < NWAYS; way++)
      for (size_t nth = 1; ncalls[function] > 0 && way_applies(scenario, function, way); nth++) {
        test_context("%s: %s number %zu %s", scenario->name, function_names[function], nth,
                     way_names[way]);
        fault.function = function;
        fault.way = way;
        fault.nth = nth;
        const lanebloom_status status = run(scenario);
        if (!fault.struck) {
          cr_assert(status == LANEBLOOM_OK && nth > ncalls[function],
                    "%s: %s after %zu calls of %s", scenario->name, lanebloom_status_text(status),
                    nth, function_names[function]);
          break;
        }
        if (!is_right(scenario, function, way, status))
          test_fatal("%s", lanebloom_status_text(status));
        ninjected[function][way]++;
        ntolerated += status == LANEBLOOM_OK && (way == FAIL || way == FAIL_ON);
      }
}

/* The counts, and that they are not small. */
static void report(size_t least)
{
  size_t total = 0;
  for (enum function function = 0; function < NFUNCTIONS; function++)
    for (enum way way = 0; way < NWAYS; way++)
      if (ninjected[function][way] > 0) {
        fprintf(stderr, "# %s %s: %zu times\n", function_names[function], way_names[way],
                ninjected[function][way]);
        total += ninjected[function][way];
      }
  fprintf(stderr, "# %zu faults in all; %zu were no error, as answers could do without\n", total,
          ntolerated);
  cr_assert(total >= least, "only %zu faults", total);
}

/* A call that fails once works when it is made again, as if nothing had been. `output` is NULL
 * where it failed. */
static bool again(lanebloom_status status, const void *output)
{
  if (status == LANEBLOOM_OK)
    return false;
  if (output)
    test_fatal("an error, and an output that is not NULL");
  if (fault.noticed)
    test_fatal("%s, once more", lanebloom_status_text(status));
  if (fault.way != FAIL && fault.way != INTERRUPT)
    return false;
  fault.noticed = status;
  return true;
}

#define INSIST(status, call)                                                                       \
  do {                                                                                             \
    (status) = (call);                                                                             \
  } while (again(status, NULL))

#define INSIST_ON(output, status, call)                                                            \
  do {                                                                                             \
    (output) = (void *)&fault;                                                                     \
    (status) = (call);                                                                             \
  } while (again(status, output))

/* ---- Keys, and filters of them ---- */

enum { WIDTH = 8, NKEYS = 40000, NFEW = 1000 };

static struct guarded key_bytes; /* that cannot be written to */
static lanebloom_format format;
static lanebloom_filter *expected, *halves[2];
static struct guarded engine_bytes;

static lanebloom_keys keys_from(size_t first, size_t n)
{
  return lanebloom_keys_fixed(key_bytes.bytes + first * WIDTH, WIDTH, n);
}

static void must(lanebloom_status status)
{
  cr_assert(status == LANEBLOOM_OK, "%s", lanebloom_status_text(status));
}

static lanebloom_filter *build_sized(size_t first, size_t n, uint64_t expected_keys)
{
  const lanebloom_keys keys = keys_from(first, n);
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  must(lanebloom_builder_create(format, 10, expected_keys, &builder));
  must(lanebloom_builder_add(builder, &keys));
  must(lanebloom_builder_finish(builder, &filter));
  lanebloom_builder_destroy(builder);
  return filter;
}

static void make_filters(lanebloom_format of, size_t n, uint64_t expected_keys)
{
  struct rng rng = rng_start(1);
  format = of;
  key_bytes = guarded_make((size_t)NKEYS * WIDTH, AT_END);
  rng_fill(&rng, key_bytes.bytes, (size_t)NKEYS * WIDTH);
  guarded_freeze(&key_bytes);
  expected = build_sized(0, n, expected_keys);
  halves[0] = build_sized(0, n / 2, expected_keys);
  halves[1] = build_sized(n / 2, n - n / 2, expected_keys);
  size_t nbytes;
  const void *bytes = lanebloom_filter_bytes(expected, &nbytes);
  engine_bytes = guarded_copy(bytes, nbytes, AT_END);
  guarded_freeze(&engine_bytes);
}

static void free_filters(void)
{
  lanebloom_filter_close(expected);
  lanebloom_filter_close(halves[0]);
  lanebloom_filter_close(halves[1]);
  guarded_free(&engine_bytes);
  guarded_free(&key_bytes);
}

static void is_expected(const lanebloom_filter *filter)
{
  size_t nbytes;
  const void *bytes = lanebloom_filter_bytes(filter, &nbytes);
  if (nbytes != engine_bytes.nbytes)
    test_fatal("a filter of %zu bytes, expected %zu", nbytes, engine_bytes.nbytes);
  test_same_bytes("filter", bytes, engine_bytes.bytes, nbytes);
}

/* ---- The first library: memory ---- */

static uint64_t expected_keys; /* 0: hashes are kept */

static lanebloom_status open_filter(void)
{
  const lanebloom_keys keys = keys_from(0, NFEW);
  lanebloom_filter *filter;
  lanebloom_status status;
  INSIST_ON(filter, status,
            lanebloom_filter_parse_raw(format, engine_bytes.bytes, engine_bytes.nbytes, &filter));
  if (!status && lanebloom_filter_screen(filter, &keys, NULL) != NFEW)
    test_fatal("a key is lost");
  lanebloom_filter_close(filter);
  return status;
}

static lanebloom_status build_filter(void)
{
  const lanebloom_keys keys = keys_from(0, NFEW);
  lanebloom_filter *filter;
  lanebloom_status status;
  INSIST_ON(filter, status, lanebloom_filter_build(format, 10, &keys, &filter));
  if (!status)
    is_expected(filter);
  lanebloom_filter_close(filter);
  return status;
}

static lanebloom_status merge_filters(void)
{
  lanebloom_filter *filter;
  lanebloom_status status;
  INSIST_ON(filter, status,
            lanebloom_filter_merge((const lanebloom_filter *const *)halves, 2, &filter));
  if (!status)
    is_expected(filter);
  lanebloom_filter_close(filter);
  return status;
}

static lanebloom_status add_pieces(lanebloom_builder *builder, size_t first, size_t n)
{
  lanebloom_status status = LANEBLOOM_OK;
  for (size_t done = 0, nparts = 3; !status && done < n; nparts--) {
    const size_t piece = nparts > 1 ? (n - done) / 50 : n - done; /* the last is large */
    const lanebloom_keys keys = keys_from(first + done, piece);
    INSIST(status, lanebloom_builder_add(builder, &keys));
    done += piece;
  }
  return status;
}

static lanebloom_status finish(lanebloom_builder *builder, size_t nkeys)
{
  lanebloom_filter *filter;
  lanebloom_filter_info info;
  lanebloom_status status;
  INSIST_ON(filter, status, lanebloom_builder_finish(builder, &filter));
  if (!status) {
    is_expected(filter);
    lanebloom_filter_describe(filter, &info, sizeof info);
    if (info.nkeys != nkeys)
      test_fatal("%llu keys, expected %zu", (unsigned long long)info.nkeys, nkeys);
  }
  lanebloom_filter_close(filter);
  return status;
}

/* In pieces, into two builders that are merged; then, as a builder may be fed again, into one. */
static lanebloom_status stream(void)
{
  const size_t n = expected_keys > NKEYS ? NKEYS : NFEW;
  lanebloom_builder *into, *from = NULL;
  lanebloom_status status;
  INSIST_ON(into, status, lanebloom_builder_create(format, 10, expected_keys, &into));
  if (!status)
    INSIST_ON(from, status, lanebloom_builder_create(format, 10, expected_keys, &from));
  if (!status)
    status = add_pieces(into, 0, n / 2);
  if (!status)
    status = add_pieces(from, n / 2, n - n / 2);
  if (!status)
    INSIST(status, lanebloom_builder_merge(into, from));
  if (!status)
    status = finish(into, n);
  if (!status)
    status = add_pieces(into, 0, n);
  if (!status)
    status = finish(into, n);
  lanebloom_builder_destroy(into);
  lanebloom_builder_destroy(from);
  return status;
}

Test(faults, memory)
{
  static const struct scenario scenarios[] = {
      {.name = "open", .run = open_filter},
      {.name = "build", .run = build_filter},
      {.name = "merge", .run = merge_filters},
      {.name = "stream", .run = stream},
  };
  lanebloom_format formats[MAX_FORMATS];
  const size_t nformats = test_formats_that_build(formats);
  for (size_t i = 0; i < nformats; i++) {
    make_filters(formats[i], NFEW, NFEW);
    for (size_t s = 0; s < COUNT(scenarios); s++) {
      expected_keys = 0;
      survive(&scenarios[s]);
    }
    expected_keys = NFEW;
    survive(&(struct scenario){.name = "stream, sized", .run = stream});
    free_filters();
  }
  report(100);
}

/* Large ones are mapped, and LevelDB's take more memory for a while, if there is some. */
Test(faults, memory_of_large_filters)
{
  expected_keys = 11000000;
  make_filters(LANEBLOOM_LEVELDB, NKEYS, expected_keys);
  survive(&(struct scenario){
      .name = "large, stream", .run = stream, .tolerates = 1 << ALLOCATE | 1 << MAP});
  survive(&(struct scenario){.name = "large, merge", .run = merge_filters});
  cr_assert(ntolerated > 0 || lanebloom_kernel_count() == 1,
            "buckets were never tried"); /* scalar has none */
  free_filters();
  report(10);
}

/* ---- The first library: what needs no memory ---- */

/* All of these while every allocation would fail. */
static lanebloom_status ask_in_every_layout(void)
{
  static uint32_t offsets32[NFEW + 1], indices[NFEW];
  static uint64_t offsets64[NFEW + 1], hashes[NFEW], positions[64];
  static lanebloom_slice slices[NFEW];
  static uint8_t bitmap[(NFEW + 7) / 8];
  for (size_t i = 0; i <= NFEW; i++)
    offsets64[i] = offsets32[i] = (uint32_t)(i * WIDTH);
  for (size_t i = 0; i < NFEW; i++)
    slices[i] = (lanebloom_slice){key_bytes.bytes + i * WIDTH, WIDTH};
  const lanebloom_keys layouts[] = {
      keys_from(0, NFEW),
      lanebloom_keys_offsets32(key_bytes.bytes, offsets32, NFEW),
      lanebloom_keys_offsets64(key_bytes.bytes, offsets64, NFEW),
      lanebloom_keys_slices(slices, NFEW),
  };
  size_t nfound = NFEW;
  for (size_t k = 0; k < lanebloom_kernel_count(); k++) {
    lanebloom_status status = lanebloom_kernel_use(lanebloom_kernel_name(k));
    for (size_t i = 0; !status && i < COUNT(layouts); i++) {
      status = lanebloom_hash(format, &layouts[i], hashes);
      if (lanebloom_filter_screen(expected, &layouts[i], bitmap) != NFEW ||
          lanebloom_filter_select(expected, &layouts[i], indices) != NFEW ||
          lanebloom_filter_screen_hashes(expected, hashes, NFEW, NULL) != NFEW ||
          lanebloom_filter_positions(expected, hashes, positions) == 0)
        nfound = 0;
    }
    if (status)
      return status;
  }
  lanebloom_filter_info info;
  lanebloom_filter_describe(expected, &info, sizeof info);
  if (nfound != NFEW || info.nkeys != NFEW ||
      !lanebloom_filter_may_contain(expected, key_bytes.bytes, WIDTH))
    test_fatal("a key is lost");
  return LANEBLOOM_OK;
}

Test(faults, asking_needs_no_memory)
{
  lanebloom_format formats[MAX_FORMATS];
  const size_t nformats = test_formats_that_build(formats);
  for (size_t i = 0; i < nformats; i++) {
    make_filters(formats[i], NFEW, NFEW);
    const struct scenario scenario = {.name = "every layout", .run = ask_in_every_layout};
    survive(&scenario);
    for (enum function function = 0; function < NFUNCTIONS; function++)
      cr_assert(fault.ncalls[function] == 0, "%s is called", function_names[function]);
    free_filters();
  }
}

/* ---- The first library: files ---- */

static char folder[] = "/tmp/lanebloom-faults-XXXXXX";

static void enter_folder(void)
{
  cr_assert(mkdtemp(folder) && chdir(folder) == 0);
}

/* Deletes the files here. Returns how many there were. */
static size_t empty_folder(void)
{
  size_t n = 0;
  DIR *here = opendir(".");
  cr_assert(here);
  for (struct dirent *entry; (entry = readdir(here));)
    n += entry->d_type == DT_REG && remove(entry->d_name) == 0;
  closedir(here);
  return n;
}

static void leave_folder(void)
{
  empty_folder();
  cr_assert(chdir("/") == 0 && rmdir(folder) == 0);
}

static void write_file(const char *path, const void *bytes, size_t nbytes)
{
  FILE *file = fopen(path, "w");
  cr_assert(file && fwrite(bytes, 1, nbytes, file) == nbytes && fclose(file) == 0);
}

static uint8_t *read_file(const char *path, size_t *nbytes)
{
  FILE *file = fopen(path, "r");
  cr_assert(file, "%s: %s", path, strerror(errno));
  fseek(file, 0, SEEK_END);
  *nbytes = (size_t)ftell(file);
  rewind(file);
  uint8_t *bytes = test_alloc(*nbytes);
  cr_assert(fread(bytes, 1, *nbytes, file) == *nbytes);
  fclose(file);
  return bytes;
}

static struct guarded container; /* what `expected` is saved as */

static void make_container(void)
{
  must(lanebloom_filter_save(expected, "filter"));
  size_t nbytes;
  uint8_t *bytes = read_file("filter", &nbytes);
  container = guarded_copy(bytes, nbytes, AT_END);
  guarded_freeze(&container);
  free(bytes);
}

static void is_file(const char *path, const void *bytes, size_t nbytes)
{
  size_t found_nbytes;
  uint8_t *found = read_file(path, &found_nbytes);
  if (found_nbytes != nbytes)
    test_fatal("%s: %zu bytes, expected %zu", path, found_nbytes, nbytes);
  test_same_bytes(path, found, bytes, nbytes);
  free(found);
}

static void write_old_files(void)
{
  empty_folder();
  write_file("old", "old", 3);
}

static lanebloom_status save_filters(void)
{
  lanebloom_status status;
  INSIST(status, lanebloom_filter_save(expected, "old"));
  if (!status)
    INSIST(status, lanebloom_filter_save(expected, "new"));
  if (!status)
    INSIST(status, lanebloom_filter_save_raw(expected, "raw"));
  return status;
}

/* Each is absent, old or whole, and nothing is beside them. */
static void check_saved(lanebloom_status status)
{
  struct stat found;
  const bool has_new = stat("new", &found) == 0, has_raw = stat("raw", &found) == 0;
  cr_assert(stat("old", &found) == 0);
  const bool is_old = found.st_size == 3;
  is_file("old", is_old ? (const void *)"old" : container.bytes, is_old ? 3 : container.nbytes);
  if (has_new)
    is_file("new", container.bytes, container.nbytes);
  if (has_raw)
    is_file("raw", engine_bytes.bytes, engine_bytes.nbytes);
  if (!status && (is_old || !has_new || !has_raw))
    test_fatal("success, and a file that is not written");
  const size_t nfiles = empty_folder();
  if (nfiles != 1 + (size_t)has_new + (size_t)has_raw)
    test_fatal("%zu files are left", nfiles);
}

static void write_files(void)
{
  write_file("filter", container.bytes, container.nbytes);
  write_file("raw", engine_bytes.bytes, engine_bytes.nbytes);
}

static lanebloom_status load_container(void)
{
  lanebloom_filter *filter;
  lanebloom_status status;
  INSIST_ON(filter, status, lanebloom_filter_load("filter", &filter, NULL, 0));
  if (!status)
    is_expected(filter);
  lanebloom_filter_close(filter);
  return status;
}

static lanebloom_status load_raw(void)
{
  lanebloom_filter *filter;
  lanebloom_status status;
  INSIST_ON(filter, status, lanebloom_filter_load_raw(format, "raw", &filter, NULL, 0));
  if (!status)
    is_expected(filter);
  lanebloom_filter_close(filter);
  return status;
}

static lanebloom_status map_container(void)
{
  lanebloom_filter *filter;
  lanebloom_status status;
  INSIST_ON(filter, status, lanebloom_filter_map("filter", &filter, NULL, 0));
  if (!status)
    is_expected(filter);
  lanebloom_filter_close(filter);
  return status;
}

static lanebloom_status parse_container(void)
{
  lanebloom_filter *filter;
  lanebloom_status status;
  INSIST_ON(filter, status, lanebloom_filter_parse(container.bytes, container.nbytes, &filter));
  if (!status)
    is_expected(filter);
  lanebloom_filter_close(filter);
  return status;
}

static int filled_pipe[2];

static void fill_pipe(void)
{
  cr_assert(pipe(filled_pipe) == 0);
  cr_assert(fcntl(filled_pipe[1], F_SETPIPE_SZ, (int)container.nbytes) >= (int)container.nbytes);
  cr_assert(write(filled_pipe[1], container.bytes, container.nbytes) == (ssize_t)container.nbytes);
  close(filled_pipe[1]);
}

static void close_pipe(lanebloom_status status)
{
  (void)status;
  close(filled_pipe[0]);
}

/* Its size is not known, and what has been read is gone. */
static lanebloom_status load_pipe(void)
{
  char path[32];
  lanebloom_filter *filter;
  snprintf(path, sizeof path, "/dev/fd/%d", filled_pipe[0]);
  const lanebloom_status status = lanebloom_filter_load(path, &filter, NULL, 0);
  if (!status)
    is_expected(filter);
  else if (filter)
    test_fatal("an error, and a filter");
  lanebloom_filter_close(filter);
  return status;
}

Test(faults, files)
{
  /* That stat fails is seen by what comes next, and a file can be closed once only. */
  enum { OF_LINKS = 1 << STAT, OF_CLOSING = 1 << CLOSE };
  static const struct scenario scenarios[] = {
      {.name = "load",
       .prepare = write_files,
       .run = load_container,
       .tolerates = OF_LINKS | OF_CLOSING},
      {.name = "load_raw",
       .prepare = write_files,
       .run = load_raw,
       .tolerates = OF_LINKS | OF_CLOSING},
      {.name = "map", .prepare = write_files, .run = map_container, .tolerates = OF_CLOSING},
      {.name = "parse", .run = parse_container},
  };
  enter_folder();
  lanebloom_format formats[MAX_FORMATS];
  const size_t nformats = test_formats_that_build(formats);
  for (size_t i = 0; i < nformats; i++) {
    make_filters(formats[i], NFEW, NFEW);
    make_container();
    for (size_t s = 0; s < COUNT(scenarios); s++)
      survive(&scenarios[s]);
    for (int named = 0; named < 2; named++) {
      no_nameless_files = named;
      survive(&(struct scenario){.name = named ? "save, named" : "save, nameless",
                                 .prepare = write_old_files,
                                 .run = save_filters,
                                 .check = check_saved,
                                 .tolerates = OF_LINKS | OF_CLOSING | (named ? 0 : 1 << OPEN)});
    }
    no_nameless_files = false;
    guarded_free(&container);
    free_filters();
  }
  make_filters(LANEBLOOM_ROCKSDB_LOCAL, NKEYS, 4 * NKEYS);
  make_container();
  survive(&(struct scenario){.name = "load from a pipe",
                             .prepare = fill_pipe,
                             .run = load_pipe,
                             .check = close_pipe,
                             .tolerates = OF_LINKS | OF_CLOSING,
                             .of_pipe = true});
  guarded_free(&container);
  free_filters();
  leave_folder();
  report(300);
}

/* ---- The second library ---- */

static lanebloom_status make_filter_block(void)
{
  enum { NBLOCKS = 40, BLOCK_NBYTES = 1500, NPER_BLOCK = NFEW / NBLOCKS };
  static uint64_t offsets[NFEW];
  lanebloom_filter_block_builder *builder;
  lanebloom_filter_block *block = NULL;
  lanebloom_status status;
  const void *bytes;
  size_t nbytes;
  INSIST_ON(builder, status,
            lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 10, 11, &builder));
  for (size_t i = 0; !status && i < NBLOCKS; i++) {
    const lanebloom_keys keys = keys_from(i * NPER_BLOCK, NPER_BLOCK);
    for (size_t key = i * NPER_BLOCK; key < (i + 1) * NPER_BLOCK; key++)
      offsets[key] = i * BLOCK_NBYTES;
    INSIST(status, lanebloom_filter_block_builder_start_block(builder, i * BLOCK_NBYTES));
    if (!status)
      INSIST(status, lanebloom_filter_block_builder_add(builder, &keys));
  }
  if (!status)
    INSIST_ON(bytes, status, lanebloom_filter_block_builder_finish(builder, &bytes, &nbytes));
  if (!status)
    INSIST_ON(block, status,
              lanebloom_filter_block_parse(LANEBLOOM_LEVELDB, bytes, nbytes, &block));
  const lanebloom_keys all = keys_from(0, NFEW);
  if (!status && lanebloom_filter_block_screen(block, offsets, &all, NULL) != NFEW)
    test_fatal("a key is lost");
  lanebloom_filter_block_close(block);
  lanebloom_filter_block_builder_destroy(builder);
  return status;
}

Test(faults, filter_blocks)
{
  make_filters(LANEBLOOM_LEVELDB, NFEW, NFEW);
  survive(&(struct scenario){.name = "filter block",
                             .run = make_filter_block,
                             .tolerates = 1 << ALLOCATE}); /* screening */
  free_filters();
  report(30);
}

/* Frozen tables, of which some need a codec that this build may not have; and a folder with what
 * databases have besides. */
enum { MAX_TABLES = 20, NQUERIES = 4000, BITMAP_NBYTES = (NQUERIES + 7) / 8 };
static const char *const table_names[] = {
    "tables/leveldb_bloom10.ldb",
    "tables/goleveldb_bloom10.ldb",
    "tables/rocksdb_fv2_crc32c_legacy10.sst",
    "tables/rocksdb_fv4_crc32c_legacy10_partitioned.sst",
    "tables/rocksdb_fv4_xxh64_legacy10_prefix3.sst",
    "tables/rocksdb_fv5_crc32c_flb10_prefixonly3.sst",
    "tables/rocksdb_fv5_xxh3_flb10.sst",
    "tables/rocksdb_fv5_xxh3_flb10_partitioned.sst",
    "tables_odd/other_order.ldb",
    "tables_odd/pebble_v4.sst",
    "tables_odd/other_kinds/000009.ldb",
};

static struct guarded table_bytes;
static bool in_database, from_memory;
static uint8_t
    clean_hits[MAX_TABLES]
              [BITMAP_NBYTES]; /* answers that nothing has disturbed; of all tables in the last */
static bool are_clean;
static struct guarded current_bytes, manifest_bytes;

static struct guarded frozen_file(const char *name)
{
  char path[512];
  snprintf(path, sizeof path, "%s/%s", LANEBLOOM_TEST_VECTORS, name);
  size_t nbytes;
  uint8_t *bytes = read_file(path, &nbytes);
  struct guarded frozen = guarded_copy(bytes, nbytes, AT_END);
  guarded_freeze(&frozen);
  free(bytes);
  return frozen;
}

/* Some are in tables; keys.txt has RocksDB's in hex. */
static struct {
  uint8_t bytes[NQUERIES * 64];
  uint64_t offsets[NQUERIES + 1];
} queries;

static lanebloom_keys all_queries(void)
{
  return lanebloom_keys_offsets64(queries.bytes, queries.offsets, NQUERIES);
}

static void make_queries(void)
{
  struct rng rng = rng_start(2);
  char line[1024];
  FILE *file = fopen(LANEBLOOM_TEST_VECTORS "/tables/keys.txt", "r");
  cr_assert(file);
  for (size_t i = 0; i < NQUERIES; i++) {
    uint8_t key[32];
    size_t n = 1 + rng_below(&rng, sizeof key - 1);
    if (file && fgets(line, sizeof line, file)) {
      line[strcspn(line, "\n")] = 0;
      n = *line == '#' ? 0 : hex_decode(line, key, sizeof key);
    } else
      rng_fill(&rng, key, n / 8 * 8);
    memcpy(queries.bytes + queries.offsets[i], key, n);
    queries.offsets[i + 1] = queries.offsets[i] + n;
  }
  fclose(file);
}

/* Undisturbed, answers are kept; then they have all the keys of those, and unless something failed
 * no others. */
static void check_hits(const uint8_t *hits, size_t table)
{
  if (!are_clean) {
    memcpy(clean_hits[table], hits, BITMAP_NBYTES);
    return;
  }
  for (size_t i = 0; i < BITMAP_NBYTES; i++)
    if (clean_hits[table][i] & ~hits[i])
      test_fatal("a key is lost, of byte %zu", i);
  if (!fault.struck)
    test_same_bytes("answers", hits, clean_hits[table], BITMAP_NBYTES);
}

static void write_table(void)
{
  empty_folder();
  write_file("table", table_bytes.bytes, table_bytes.nbytes);
  if (in_database) {
    write_file("CURRENT", current_bytes.bytes, current_bytes.nbytes);
    write_file("MANIFEST-000002", manifest_bytes.bytes, manifest_bytes.nbytes);
  }
}

static lanebloom_status ask_table(void)
{
  static uint8_t hits[BITMAP_NBYTES];
  char problem[200];
  const lanebloom_keys keys = all_queries();
  lanebloom_table *table;
  lanebloom_status status;
  if (from_memory)
    INSIST_ON(table, status,
              lanebloom_table_parse(table_bytes.bytes, table_bytes.nbytes, LANEBLOOM_WRITER_UNKNOWN,
                                    &table, problem, sizeof problem));
  else
    INSIST_ON(
        table, status,
        lanebloom_table_open("table", LANEBLOOM_WRITER_UNKNOWN, &table, problem, sizeof problem));
  if (status && !*problem)
    test_fatal("an error that is not explained");
  if (status)
    return status;
  const bool went_on = fault.struck && fault.function == ALLOCATE && !fault.noticed;
  lanebloom_table_info info;
  lanebloom_table_describe(table, &info, sizeof info);
  if (went_on && !*info.warning)
    test_fatal("opened without that memory, and no warning");
  lanebloom_table_screen(table, &keys, hits);
  check_hits(hits, 0);
  lanebloom_table_close(table);
  return status;
}

Test(faults, tables)
{
  /* To ask may do without memory; what is beside a table of LevelDB's may be unreadable. */
  const unsigned of_table = 1 << ALLOCATE | 1 << TRIM | 1 << CLOSE, of_current = 1 << OPEN,
                 of_manifest = 1 << STAT | 1 << READ;
  size_t nopened = 0;
  make_queries();
  enter_folder();
  current_bytes = frozen_file("tables_odd/other_kinds/CURRENT");
  manifest_bytes = frozen_file("tables_odd/other_kinds/MANIFEST-000002");
  for (size_t i = 0; i < COUNT(table_names); i++) {
    table_bytes = frozen_file(table_names[i]);
    lanebloom_table *table;
    const lanebloom_status status = lanebloom_table_parse(
        table_bytes.bytes, table_bytes.nbytes, LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0);
    cr_assert(status == LANEBLOOM_OK || status == LANEBLOOM_ERR_LIMIT, "%s", table_names[i]);
    lanebloom_table_close(table);
    nopened += !status;
    const bool is_leveldb = strstr(table_names[i], ".ldb");
    for (int way = 0; !status && way < 3; way++) {
      from_memory = way == 0;
      in_database = way == 2;
      are_clean = false;
      write_table();
      must(ask_table());
      are_clean = true;
      survive(&(struct scenario){.name = table_names[i],
                                 .prepare = write_table,
                                 .run = ask_table,
                                 .tolerates = of_table | (is_leveldb ? of_current : 0) |
                                              (is_leveldb && in_database ? of_manifest : 0)});
    }
    guarded_free(&table_bytes);
  }
  leave_folder();
  report(1000);
  fprintf(stderr, "# %zu tables of %zu; the others need a codec\n", nopened, COUNT(table_names));
  cr_assert(nopened >= 4);
}

static const lanebloom_table *open_tables[MAX_TABLES];
static size_t ntables;

static lanebloom_status ask_tables(void)
{
  static uint8_t hits[MAX_TABLES][BITMAP_NBYTES], any[BITMAP_NBYTES];
  uint8_t *bitmaps[MAX_TABLES];
  for (size_t i = 0; i < ntables; i++)
    bitmaps[i] = hits[i];
  const lanebloom_keys keys = all_queries();
  size_t counts[MAX_TABLES];
  lanebloom_tables_screen(open_tables, ntables, &keys, any, bitmaps, counts);
  for (size_t i = 0; i < ntables; i++) {
    check_hits(hits[i], i);
    cr_assert(counts[i] == count_set_bits(hits[i], BITMAP_NBYTES));
  }
  check_hits(any, ntables);
  return LANEBLOOM_OK;
}

Test(faults, many_tables)
{
  struct guarded bytes[COUNT(table_names)];
  make_queries();
  for (size_t i = 0; i < COUNT(table_names); i++) {
    bytes[i] = frozen_file(table_names[i]);
    lanebloom_table *table;
    if (lanebloom_table_parse(bytes[i].bytes, bytes[i].nbytes, LANEBLOOM_WRITER_UNKNOWN, &table,
                              NULL, 0) == LANEBLOOM_OK)
      open_tables[ntables++] = table;
  }
  must(ask_tables());
  are_clean = true;
  survive(&(struct scenario){.name = "many tables", .run = ask_tables, .tolerates = 1 << ALLOCATE});
  for (size_t i = 0; i < ntables; i++)
    lanebloom_table_close((lanebloom_table *)open_tables[i]);
  for (size_t i = 0; i < COUNT(table_names); i++)
    guarded_free(&bytes[i]);
  report(4);
}
