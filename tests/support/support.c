/* Functions that the tests share.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support.h"

/* ---- Failures ---- */

static char context[256];
static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
enum { NCRASHES = sizeof crashes / sizeof *crashes };
static struct sigaction crash_actions[NCRASHES]; /* the default actions, or a sanitizer's */

static uint64_t seed(void)
{
  const char *text = getenv("LANEBLOOM_TEST_SEED");
  return text && *text ? strtoull(text, NULL, 0) : 20240229;
}

/* Is called after an access beyond a guarded buffer, an instruction that the CPU lacks, or a failed
 * assertion. After it returns, the same instruction is tried again and ends the process. */
static void on_crash(int signal_number)
{
  static const char crashed[] = "# crashed: ";
  ssize_t written = write(STDERR_FILENO, crashed, sizeof crashed - 1);
  written += write(STDERR_FILENO, context, strlen(context));
  written += write(STDERR_FILENO, "\n", 1);
  (void)written; /* errors cannot be reported any more */
  for (int i = 0; i < NCRASHES; i++)
    if (crashes[i] == signal_number)
      sigaction(signal_number, &crash_actions[i], NULL);
}

void test_context(const char *format, ...)
{
  static bool catching;
  for (int i = 0; i < NCRASHES && !catching; i++)
    sigaction(crashes[i], &(struct sigaction){.sa_handler = on_crash}, &crash_actions[i]);
  catching = true;
  va_list values;
  va_start(values, format);
  vsnprintf(context, sizeof context, format, values);
  va_end(values);
}

void test_fatal(const char *format, ...)
{
  char message[512];
  va_list values;
  va_start(values, format);
  vsnprintf(message, sizeof message, format, values);
  va_end(values);
  cr_assert_fail("%s [%s] LANEBLOOM_TEST_SEED=%llu", message, context, (unsigned long long)seed());
  abort(); /* not reached, because the line above ends the test */
}

void *test_alloc(size_t nbytes)
{
  void *bytes = calloc(nbytes > 0 ? nbytes : 1, 1);
  if (!bytes)
    test_fatal("no memory for %zu bytes", nbytes);
  return bytes;
}

uint8_t *test_read_file(const char *path, size_t *nbytes)
{
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0)
    test_fatal("%s: %s", path, strerror(errno));
  *nbytes = (size_t)ftell(file);
  rewind(file);
  uint8_t *bytes = test_alloc(*nbytes + 1);
  if (fread(bytes, 1, *nbytes, file) != *nbytes)
    test_fatal("%s: %s", path, strerror(errno));
  fclose(file);
  return bytes;
}

void test_write_file(const char *path, const void *bytes, size_t nbytes)
{
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, nbytes, file) != nbytes || fclose(file) != 0)
    test_fatal("%s: %s", path, strerror(errno));
}

void test_same_bytes(const char *what, const void *found, const void *expected, size_t nbytes)
{
  const uint8_t *a = found, *b = expected;
  if (nbytes == 0 || memcmp(a, b, nbytes) == 0)
    return;
  size_t i = 0;
  while (a[i] == b[i])
    i++;
  test_fatal("%s: byte %zu of %zu is %02x, expected %02x", what, i, nbytes, a[i], b[i]);
}

lanebloom_filter *test_filter_of(lanebloom_format format, double bits_per_key,
                                 const lanebloom_keys *keys, lanebloom_key_form form)
{
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  lanebloom_status status = lanebloom_builder_create(format, bits_per_key, 0, &builder);
  if (!status)
    status = lanebloom_builder_set_key_form(builder, form);
  if (!status)
    status = lanebloom_builder_add(builder, keys);
  if (!status)
    status = lanebloom_builder_finish(builder, &filter);
  if (status)
    test_fatal("building a filter: %s", lanebloom_status_text(status));
  lanebloom_builder_free(builder);
  return filter;
}

void test_filter_bytes(const char *what, lanebloom_filter *filter, const void *expected,
                       size_t nbytes)
{
  size_t size;
  const void *bytes = lanebloom_filter_bytes(filter, &size);
  if (size != nbytes)
    test_fatal("%s: filter of %zu bytes, expected %zu", what, size, nbytes);
  test_same_bytes(what, bytes, expected, size);
  lanebloom_filter_free(filter);
}

/* ---- Buffers beside unmapped pages ---- */

enum { CANARY = 0xc5 };

static size_t page(void)
{
  return (size_t)sysconf(_SC_PAGESIZE);
}

/* Maps pages between two unmapped ones. The pages are private memory or those of a file. */
static uint8_t *map_pages(size_t inside, int protection, int fd)
{
  const int flags =
      fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED | MAP_POPULATE;
  uint8_t *map = mmap(NULL, inside + 2 * page(), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED ||
      mmap(map + page(), inside, protection, flags | MAP_FIXED, fd, 0) == MAP_FAILED)
    test_fatal("cannot map %zu bytes", inside);
  return map;
}

static void unmap(struct guarded *buffer)
{
  munmap(buffer->map, buffer->map_nbytes);
  if (buffer->frozen)
    munmap(buffer->frozen, buffer->map_nbytes);
}

/* Mapping and unmapping would take most of the tests' time. Therefore the mappings of small buffers
 * are kept, and the next buffer of the same size reuses them. Each such buffer has two mappings,
 * one for writing and one for reading. */
enum { KEPT_NBYTES = 1 << 20, NKEPT = 32 };
static struct guarded kept[NKEPT]; /* the last one used is at the end */
static size_t nkept;

static struct guarded take_or_map(size_t inside)
{
  const size_t map_nbytes = inside + 2 * page();
  for (size_t i = nkept; i-- > 0;)
    if (kept[i].map_nbytes == map_nbytes) {
      const struct guarded found = kept[i];
      memmove(&kept[i], &kept[i + 1], (--nkept - i) * sizeof *kept);
      return found;
    }
  errno = 0;
  const int fd = inside > KEPT_NBYTES ? -1 : memfd_create("guarded", MFD_CLOEXEC);
  if (inside > KEPT_NBYTES || errno == ENOSYS) /* Windows has no memfd_create() */
    return (struct guarded){.map = map_pages(inside, PROT_READ | PROT_WRITE, -1),
                            .map_nbytes = map_nbytes};
  if (fd < 0 || ftruncate(fd, (off_t)inside) != 0)
    test_fatal("cannot make %zu bytes", inside);
  const struct guarded made = {
      .map = map_pages(inside, PROT_READ | PROT_WRITE, fd),
      .frozen = map_pages(inside, PROT_READ, fd),
      .map_nbytes = map_nbytes,
  };
  close(fd);
  return made;
}

static void keep_or_unmap(struct guarded *buffer)
{
  if (!buffer->frozen) {
    unmap(buffer);
    return;
  }
  if (nkept == NKEPT) {
    unmap(&kept[0]);
    memmove(&kept[0], &kept[1], --nkept * sizeof *kept);
  }
  kept[nkept++] = *buffer;
}

/* $LANEBLOOM_TEST_SPARE sets the number of bytes between a buffer and the unmapped page. Emulators
 * need such bytes if they read masked lanes: qemu 7.2 loads all 16 or 32 bytes of a vpmaskmovd. */
static size_t spare_nbytes(void)
{
  const char *spare = getenv("LANEBLOOM_TEST_SPARE");
  return spare ? strtoul(spare, NULL, 10) : 0;
}

static size_t bytes_before(size_t place)
{
  return place == AT_END ? 0 : spare_nbytes() + place - AT_BEGIN;
}

static size_t bytes_inside(size_t nbytes, size_t place)
{
  const size_t npages = (bytes_before(place) + nbytes + spare_nbytes() + page() - 1) / page();
  return (npages > 0 ? npages : 1) * page();
}

static void put(struct guarded *buffer, size_t nbytes, size_t place, uint8_t canary)
{
  const size_t inside = bytes_inside(nbytes, place);
  buffer->view = buffer->map;
  buffer->bytes = buffer->map + page() +
                  (place == AT_END ? inside - spare_nbytes() - nbytes : bytes_before(place));
  buffer->nbytes = nbytes;
  buffer->canary = canary;
}

struct guarded guarded_make(size_t nbytes, size_t place)
{
  struct guarded made = take_or_map(bytes_inside(nbytes, place));
  put(&made, nbytes, place, CANARY);
  memset(made.map + page(), CANARY, made.map_nbytes - 2 * page());
  return made;
}

struct guarded guarded_copy(const void *bytes, size_t nbytes, size_t place)
{
  struct guarded made = guarded_make(nbytes, place);
  if (nbytes > 0)
    memcpy(made.bytes, bytes, nbytes);
  return made;
}

void guarded_freeze(struct guarded *buffer)
{
  if (!buffer->frozen) {
    mprotect(buffer->map + page(), buffer->map_nbytes - 2 * page(), PROT_READ);
    return;
  }
  buffer->bytes = buffer->frozen + (buffer->bytes - buffer->view);
  buffer->view = buffer->frozen;
}

struct guarded guarded_sparse(size_t nbytes)
{
  const size_t inside = bytes_inside(nbytes, AT_END);
  struct guarded made = {.map = map_pages(inside, PROT_READ | PROT_WRITE, -1),
                         .map_nbytes = inside + 2 * page()};
  put(&made, nbytes, AT_END, 0);
  madvise(made.map, made.map_nbytes, MADV_NOHUGEPAGE); /* one bit should cost 4 KiB, not 2 MiB */
  return made;
}

/* Returns one byte for each page between the unmapped ones. Bit 0 of the byte tells whether the
 * page was allocated. */
static unsigned char *touched_pages(const struct guarded *buffer, size_t npages)
{
  unsigned char *touched = test_alloc(npages);
  if (mincore(buffer->map + page(), npages * page(), touched) != 0)
    memset(touched, 1, npages);
  return touched;
}

void test_same_sparse(const char *what, const struct guarded *found, const struct guarded *expected)
{
  if (found->nbytes != expected->nbytes)
    test_fatal("%s: %zu bytes, expected %zu", what, found->nbytes, expected->nbytes);
  const size_t npages = found->map_nbytes / page() - 2;
  unsigned char *a = touched_pages(found, npages), *b = touched_pages(expected, npages);
  for (size_t i = 1; i <= npages; i++)
    if ((a[i - 1] | b[i - 1]) & 1 &&
        memcmp(found->map + i * page(), expected->map + i * page(), page()) != 0)
      test_same_bytes(what, found->bytes, expected->bytes, found->nbytes);
  free(a);
  free(b);
}

static bool all_are(const uint8_t *begin, const uint8_t *end, uint8_t byte)
{
  const size_t n = (size_t)(end - begin);
  return n == 0 || (*begin == byte && memcmp(begin, begin + 1, n - 1) == 0);
}

void guarded_free(struct guarded *buffer)
{
  const uint8_t *begin = buffer->view + page(), *end = buffer->view + buffer->map_nbytes - page();
  if (!all_are(begin, buffer->bytes, buffer->canary))
    test_fatal("a byte before the buffer was written to");
  if (!all_are(buffer->bytes + buffer->nbytes, end, buffer->canary))
    test_fatal("a byte behind the buffer was written to");
  keep_or_unmap(buffer);
  *buffer = (struct guarded){0};
}

/* ---- Randomness ---- */

struct rng rng_start(uint64_t stream)
{
  static bool told;
  if (!told)
    fprintf(stderr, "# LANEBLOOM_TEST_SEED=%llu\n", (unsigned long long)seed());
  told = true;
  struct rng rng = {seed() + stream};
  return (struct rng){rng_next(&rng)}; /* so that neighbouring streams do not overlap */
}

uint64_t rng_next(struct rng *rng)
{
  uint64_t z = rng->state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

uint64_t rng_below(struct rng *rng, uint64_t end)
{
  return rng_next(rng) % end;
}

void rng_fill(struct rng *rng, void *bytes, size_t nbytes)
{
  for (size_t i = 0; i < nbytes; i += 8) {
    uint64_t next = rng_next(rng);
    memcpy((uint8_t *)bytes + i, &next, nbytes - i < 8 ? nbytes - i : 8);
  }
}

/* ---- Bytes ---- */

static uint8_t hex_digit(char digit)
{
  static const char digits[] = "0123456789abcdef";
  const char *at = digit ? strchr(digits, digit) : NULL;
  if (!at)
    test_fatal("not a hex digit: '%c'", digit);
  return (uint8_t)(at - digits);
}

size_t hex_decode(const char *hex, uint8_t *bytes, size_t room)
{
  size_t n = 0;
  if (strcmp(hex, "-") == 0)
    return 0;
  for (; *hex; hex += 2, n++) {
    if (n == room)
      test_fatal("more than %zu bytes of hex", room);
    bytes[n] = (uint8_t)(hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
  }
  return n;
}

uint64_t count_set_bits(const uint8_t *bytes, size_t nbytes)
{
  uint64_t n = 0, word;
  size_t i = 0;
  for (; i + sizeof word <= nbytes; i += sizeof word) {
    memcpy(&word, bytes + i, sizeof word);
    if (word)
      n += (unsigned)__builtin_popcountll(word);
  }
  for (; i < nbytes; i++)
    n += (unsigned)__builtin_popcount(bytes[i]);
  return n;
}
