/* Filters of column chunks: headers that are refused, zeros and NaN, and few keys of large filters.
 * SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "made.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A filter of these keys, with its header; for free(). */
static uint8_t *build(const lanebloom_keys *keys, double bits_per_key, size_t *nbytes)
{
  lanebloom_filter *filter;
  size_t nbits;
  struct writer writer = {0};
  cr_assert(lanebloom_filter_build(LANEBLOOM_PARQUET, bits_per_key, keys, &filter) == LANEBLOOM_OK);
  const void *bits = lanebloom_filter_bytes(filter, &nbits);
  write_header(&writer, (struct filter_header){(int32_t)nbits, 1, 1, 1});
  write_bytes(&writer, bits, nbits);
  lanebloom_filter_close(filter);
  *nbytes = writer.n;
  return writer.bytes;
}

static lanebloom_parquet_keys *prepare(const lanebloom_parquet *file, const lanebloom_keys *keys)
{
  lanebloom_parquet_column_info type;
  lanebloom_parquet_keys *prepared;
  char problem[PROBLEM_NBYTES];
  lanebloom_parquet_describe_column(file, 0, &type, sizeof type);
  if (lanebloom_parquet_keys_create(file, 0, type.encoding, keys, &prepared, NULL, problem,
                                    sizeof problem))
    test_fatal("%s", problem);
  return prepared;
}

/* ---- What is refused ---- */

/* Screening must fail, and say that every key may be there. */
static void refused(const struct made *made, lanebloom_status expected, const char *text)
{
  static const int32_t numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const lanebloom_keys keys = lanebloom_keys_fixed(numbers, 4, 9);
  uint8_t *bytes, bitmap[2] = {0, 0xff};
  char problem[PROBLEM_NBYTES], again[PROBLEM_NBYTES];
  lanebloom_parquet *file = open_made(made, &bytes);
  lanebloom_parquet_keys *prepared = prepare(file, &keys);
  size_t nmaybe = 0;
  lanebloom_filter *filter = (void *)&keys;
  cr_assert(lanebloom_parquet_screen(file, 0, 0, prepared, bitmap, &nmaybe, problem,
                                     sizeof problem) == expected,
            "%s", problem);
  cr_assert(strstr(problem, text), "%s", problem);
  cr_assert(nmaybe == 9 && bitmap[0] == 0xff && bitmap[1] == 1);
  cr_assert(lanebloom_parquet_load_filter(file, 0, 0, &filter, again, sizeof again) == expected);
  cr_assert(!filter);
  cr_assert_str_eq(again, problem);
  lanebloom_parquet_keys_free(prepared);
  lanebloom_parquet_close(file);
  free(bytes);
}

Test(parquet, headers_that_are_refused)
{
  static const struct {
    struct filter_header header;
    lanebloom_status status;
    const char *text;
  } cases[] = {
      {{64, 2, 1, 1}, LANEBLOOM_ERR_FORMAT, "algorithm at 4: expected number 1, split blocks, fou"},
      {{64, 1, 2, 1}, LANEBLOOM_ERR_FORMAT, "hash at 4: expected number 1, XXH64, found number 2"},
      {{64, 1, 1, 3}, LANEBLOOM_ERR_FORMAT, "compression at 4: expected number 1, none, found num"},
      {{0, 1, 1, 1}, LANEBLOOM_ERR_CORRUPT, "expected blocks of 32 bytes, found 0 bytes"},
      {{-32, 1, 1, 1}, LANEBLOOM_ERR_CORRUPT, "expected blocks of 32 bytes, found -32 bytes"},
      {{63, 1, 1, 1}, LANEBLOOM_ERR_CORRUPT, "expected blocks of 32 bytes, found 63 bytes"},
      {{96, 1, 1, 1}, LANEBLOOM_ERR_CORRUPT, "expected at most 64 bytes of bits, found 96"},
      {{INT32_MAX - 31, 1, 1, 1}, LANEBLOOM_ERR_CORRUPT, "bytes of bits, found 2147483616"},
  };
  static const uint8_t bits[64];
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct writer writer = {0};
    struct made made = made_plain();
    write_header(&writer, cases[i].header);
    write_bytes(&writer, bits, sizeof bits);
    made.filter = writer.bytes;
    made.filter_nbytes = writer.n;
    refused(&made, cases[i].status, cases[i].text);
    free(writer.bytes);
  }
}

Test(parquet, places_that_are_refused)
{
  static const uint8_t bits[64];
  struct writer writer = {0};
  struct made made = made_plain();
  write_header(&writer, (struct filter_header){64, 1, 1, 1});
  const size_t header_nbytes = writer.n;
  write_bytes(&writer, bits, sizeof bits);
  made.filter = writer.bytes;
  made.filter_nbytes = writer.n;
  made.length_in_footer = (int64_t)writer.n - 32;
  refused(&made, LANEBLOOM_ERR_CORRUPT, "expected 32 bytes of bits, found 64");
  made.length_in_footer = (int64_t)header_nbytes - 1;
  refused(&made, LANEBLOOM_ERR_CORRUPT, "expected a header with another byte, found something");
  made.length_in_footer = (int64_t)writer.n + 1;
  refused(&made, LANEBLOOM_ERR_CORRUPT, "expected a filter before the footer");
  made.length_in_footer = 0;
  made.offset_in_footer = (int64_t)writer.n + 4;
  refused(&made, LANEBLOOM_ERR_CORRUPT, "expected a filter before the footer");
  made.offset_in_footer = -1;
  refused(&made, LANEBLOOM_ERR_CORRUPT, "expected a filter before the footer");
  made.offset_in_footer = (int64_t)writer.n; /* its last bytes: zeros, an end at once */
  refused(&made, LANEBLOOM_ERR_FORMAT, "expected number 1, split blocks, found number 0");
  free(writer.bytes);
}

Test(parquet, chunks_that_cannot_be_read)
{
  struct made made = made_plain();
  made.filter = (const uint8_t *)"";
  made.nnulls = made.nvalues; /* is of no use either */
  made.is_encrypted = true;
  refused(&made, LANEBLOOM_ERR_LIMIT, "expected a column that can be read, found an encrypted one");
  made.is_encrypted = false;
  made.file_path = "part-0.parquet";
  refused(&made, LANEBLOOM_ERR_LIMIT,
          "expected a column chunk in this file, found one in \"part-0.parquet\"");
}

/* ---- Zeros and NaN ---- */

static void check_floats(double added, unsigned expected)
{
  const double inf = 1.0 / 0.0, nan = 0.0 / 0.0;
  const double asked[] = {5, 0.0, inf, -0.0, nan, -nan, 0.0, -5};
  const lanebloom_keys in_filter = lanebloom_keys_fixed(&added, 8, 1),
                       keys = lanebloom_keys_fixed(asked, 8, COUNT(asked));
  struct made made = made_plain();
  uint8_t *bytes, bitmap[1];
  size_t nmaybe;
  made.physical = 5;
  uint8_t *filter = build(&in_filter, 400, &made.filter_nbytes);
  made.filter = filter;
  lanebloom_parquet *file = open_made(&made, &bytes);
  lanebloom_parquet_keys *prepared = prepare(file, &keys);
  cr_assert(lanebloom_parquet_screen(file, 0, 0, prepared, bitmap, &nmaybe, NULL, 0) ==
            LANEBLOOM_OK);
  cr_assert(bitmap[0] == expected, "%g: expected %02x, found %02x", added, expected, bitmap[0]);
  lanebloom_parquet_keys_free(prepared);
  lanebloom_parquet_close(file);
  free(bytes);
  free(filter);
}

Test(parquet, zeros_and_nan)
{
  enum { NANS = 1 << 4 | 1 << 5, ZEROS = 1 << 1 | 1 << 3 | 1 << 6 };
  if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
    cr_skip_test("keys are given in the host's byte order");
  check_floats(0.0, NANS | ZEROS);
  check_floats(-0.0, NANS | ZEROS);
  check_floats(5, NANS | 1);
  check_floats(1.0 / 0.0, NANS | 1 << 2);
  check_floats(7, NANS);
}

/* ---- Few keys of a large filter, of which only blocks are read ---- */

enum { NADDED = 100000, MAX_NFEW = 40 };

static void random_keys(uint8_t *bytes, size_t n, uint64_t stream)
{
  struct rng rng = rng_start(stream);
  rng_fill(&rng, bytes, 16 * n);
}

Test(parquet, few_keys)
{
  uint8_t *added = test_alloc(16 * NADDED), few[16 * MAX_NFEW], *bytes;
  random_keys(added, NADDED, 1);
  random_keys(few, MAX_NFEW, 2);
  for (size_t i = 0; i < MAX_NFEW; i += 3)
    memcpy(few + 16 * i, added + 16 * 1000 * i, 16);
  const lanebloom_keys all = lanebloom_keys_fixed(added, 16, NADDED);
  struct made made = made_plain();
  made.physical = 7;
  made.length = 16;
  made.logical = 14;
  uint8_t *filter = build(&all, 100, &made.filter_nbytes);
  made.filter = filter;
  size_t nbytes;
  lanebloom_parquet *of_bytes, *of_file;
  char name[] = "/tmp/lanebloom-XXXXXX";
  const int fd = mkstemp(name);
  bytes = make_file(&made, &nbytes);
  cr_assert(nbytes > 1 << 20 && fd >= 0 && write(fd, bytes, nbytes) == (ssize_t)nbytes);
  close(fd);
  cr_assert(lanebloom_parquet_parse(bytes, nbytes, LANEBLOOM_PARQUET_BOUNDS_ALL, &of_bytes, NULL,
                                    0) == LANEBLOOM_OK);
  cr_assert(lanebloom_parquet_open(name, LANEBLOOM_PARQUET_BOUNDS_ALL, &of_file, NULL, 0) ==
            LANEBLOOM_OK);
  unlink(name);
  for (size_t n = 0; n <= MAX_NFEW; n++) {
    const lanebloom_keys keys = lanebloom_keys_fixed(few, 16, n);
    lanebloom_parquet_keys *prepared = prepare(of_bytes, &keys);
    uint8_t expected[8] = {0}, found[8] = {0};
    size_t nexpected, nfound;
    cr_assert(!lanebloom_parquet_screen(of_bytes, 0, 0, prepared, expected, &nexpected, NULL, 0) &&
              !lanebloom_parquet_screen(of_file, 0, 0, prepared, found, &nfound, NULL, 0));
    cr_assert(nfound == nexpected && nfound >= (n + 2) / 3 && nfound <= (n + 2) / 3 + 2);
    test_same_bytes("answers", found, expected, (n + 7) / 8);
    lanebloom_parquet_keys_free(prepared);
  }
  lanebloom_parquet_close(of_bytes);
  lanebloom_parquet_close(of_file);
  free(bytes);
  free(filter);
  free(added);
}

/* ---- Keys of another column ---- */

Test(parquet, keys_of_another_type)
{
  struct made int32 = made_plain(), int64 = made_plain();
  int64.physical = 2;
  uint8_t *bytes32, *bytes64, bitmap[1] = {0}, key[4] = {1, 0, 0, 0};
  char problem[PROBLEM_NBYTES];
  size_t nmaybe = 0;
  lanebloom_parquet *file32 = open_made(&int32, &bytes32), *file64 = open_made(&int64, &bytes64);
  const lanebloom_keys keys = lanebloom_keys_fixed(key, 4, 1);
  lanebloom_parquet_keys *prepared = prepare(file32, &keys);
  cr_assert(lanebloom_parquet_screen(file64, 0, 0, prepared, bitmap, &nmaybe, problem,
                                     sizeof problem) == LANEBLOOM_ERR_ARGUMENT);
  cr_assert_str_eq(problem, "expected a column of type int32, as the keys were made for, found one "
                            "of type int64");
  cr_assert(nmaybe == 1 && bitmap[0] == 1);
  lanebloom_parquet_keys_free(prepared);
  lanebloom_parquet_close(file32);
  lanebloom_parquet_close(file64);
  free(bytes32);
  free(bytes64);
}
