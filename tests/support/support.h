/* Functions that the tests share: buffers beside unmapped pages, repeatable random numbers, hex,
 * and failures that report where they happened.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_SUPPORT_H
#define LANEBLOOM_TESTS_SUPPORT_H

#include <lanebloom.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether to try all cases or only a selection (LANEBLOOM_EXHAUSTIVE_TESTS in CMake). */
static inline bool test_exhaustive(void)
{
  const char *value = getenv("LANEBLOOM_EXHAUSTIVE");
  return value && value[0] == '1';
}

/* Lists the formats that the library builds. Returns how many there are. */
enum { MAX_FORMATS = 32 };
static inline size_t test_formats_that_build(lanebloom_format formats[MAX_FORMATS])
{
  size_t n = 0;
  for (size_t i = 0; i < lanebloom_format_count() && n < MAX_FORMATS; i++) {
    lanebloom_format_info info = {0};
    if (lanebloom_format_describe(lanebloom_format_at(i), &info, sizeof info) == LANEBLOOM_OK &&
        info.builds)
      formats[n++] = lanebloom_format_at(i);
  }
  return n;
}

/* Compares a filter that parts made with one that was made in one piece. Only the count in DCSO's
 * header may differ: it has the keys that set a bit when they were added, in each part. */
static inline bool test_is_filter(const lanebloom_filter *filter, const void *expected,
                                  size_t expected_nbytes)
{
  enum { COUNT = 40, AFTER_COUNT = 48 };
  size_t nbytes;
  const uint8_t *bytes = lanebloom_filter_bytes(filter, &nbytes), *other = expected;
  const lanebloom_format format = lanebloom_filter_format(filter);
  const bool has_count = format == LANEBLOOM_DCSO || format == LANEBLOOM_DCSO_SIGNED;
  const size_t end = has_count ? COUNT : nbytes, begin = has_count ? AFTER_COUNT : nbytes;
  return nbytes == expected_nbytes && memcmp(bytes, other, end) == 0 &&
         memcmp(bytes + begin, other + begin, nbytes - begin) == 0;
}

/* Returns the first number that is greater than the number of every format. */
static inline int test_first_unknown_format(void)
{
  int end = 1;
  for (size_t i = 0; i < lanebloom_format_count(); i++)
    if ((int)lanebloom_format_at(i) >= end)
      end = (int)lanebloom_format_at(i) + 1;
  return end;
}

/* ---- Failures ---- */

/* Describes what the test tries now. A failure or a crash prints the last description, so a loop
 * over many cases describes each of them. */
__attribute__((format(printf, 1, 2))) void test_context(const char *format, ...);

/* Fails the test with this message, the description and the seed. */
__attribute__((format(printf, 1, 2))) _Noreturn void test_fatal(const char *format, ...);

/* Returns zeroed memory, never NULL. For free(). */
void *test_alloc(size_t nbytes);

/* Returns all bytes of a file, followed by a 0 byte. For free(). */
uint8_t *test_read_file(const char *path, size_t *nbytes);

void test_write_file(const char *path, const void *bytes, size_t nbytes);

/* Fails unless the bytes are equal, and reports where they first differ. */
void test_same_bytes(const char *what, const void *found, const void *expected, size_t nbytes);

/* Builds a filter of keys that have this form. */
lanebloom_filter *test_filter_of(lanebloom_format format, double bits_per_key,
                                 const lanebloom_keys *keys, lanebloom_key_form form);

/* Compares the bytes of a filter with these, like test_same_bytes, and frees the filter. */
void test_filter_bytes(const char *what, lanebloom_filter *filter, const void *expected,
                       size_t nbytes);

/* ---- Buffers beside unmapped pages ---- */

struct guarded {
  uint8_t *bytes;
  size_t nbytes;
  uint8_t *map; /* begins and ends with an unmapped page */
  /* the same memory, read-only, between unmapped pages of its own; NULL if memory is mapped only
   * once */
  uint8_t *frozen;
  uint8_t *view; /* `map` or `frozen`, whichever holds `bytes` */
  size_t map_nbytes;
  uint8_t canary; /* the value of every mapped byte around `bytes` */
};

/* The place of a buffer: AT_END ends at an unmapped page; AT_BEGIN + i begins i bytes after such a
 * page. */
enum { AT_END, AT_BEGIN, NPLACES = AT_BEGIN + 17 };

/* Makes a buffer filled with canary bytes, which show which bytes were never written to. */
struct guarded guarded_make(size_t nbytes, size_t place);

/* Makes a copy of these bytes. */
struct guarded guarded_copy(const void *bytes, size_t nbytes, size_t place);

/* From now on, writing to the bytes crashes. The address of the bytes may change. */
void guarded_freeze(struct guarded *buffer);

/* Makes zeros that end at an unmapped page. They take memory only where they are written to. */
struct guarded guarded_sparse(size_t nbytes);

/* Compares two buffers of one size like test_same_bytes, but reads only pages that were
 * written to. */
void test_same_sparse(const char *what, const struct guarded *found,
                      const struct guarded *expected);

/* Fails if a byte beside the buffer was written to. */
void guarded_free(struct guarded *buffer);

/* ---- Randomness: splitmix64, from $LANEBLOOM_TEST_SEED or a fixed seed ---- */

struct rng {
  uint64_t state;
};

/* Starts a stream. Streams of different numbers are independent. */
struct rng rng_start(uint64_t stream);
uint64_t rng_next(struct rng *rng);
uint64_t rng_below(struct rng *rng, uint64_t end);
void rng_fill(struct rng *rng, void *bytes, size_t nbytes);

/* ---- Bytes ---- */

/* Decodes hex digits to at most `room` bytes; "-" stands for no bytes. Returns the number
 * of bytes. */
size_t hex_decode(const char *hex, uint8_t *bytes, size_t room);

uint64_t count_set_bits(const uint8_t *bytes, size_t nbytes);

#endif
