/* The description of a filter.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <lanebloom.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "few_keys.h"
#include "format.h"
#include "support.h"

Test(info, says_what_the_filter_is)
{
  uint8_t bytes[NKEYS * WIDTH];
  fill_keys(bytes);
  const lanebloom_keys keys = lanebloom_keys_fixed(bytes, WIDTH, NKEYS);
  lanebloom_filter *built = build(&keys), *opened;
  size_t size, nbits_set = 0;
  const uint8_t *payload = lanebloom_filter_bytes(built, &size);
  for (size_t bit = 0; bit < 8 * (size - 1); bit++)
    nbits_set += payload[bit / 8] >> bit % 8 & 1;

  lanebloom_filter_info info;
  lanebloom_filter_describe(built, &info, sizeof info);
  cr_assert(info.format == LANEBLOOM_LEVELDB && info.nprobes == 6 && info.nkeys == NKEYS &&
            info.bits_per_key == 10);
  cr_assert(info.nbits == 8 * (size - 1) && info.nbits_set == nbits_set);
  const double expected = pow((double)nbits_set / (double)info.nbits, 6) + NKEYS / 4294967296.0;
  cr_assert(fabs(info.model_rate / expected - 1) < 1e-6, "%g, expected %g", info.model_rate,
            expected);

  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, payload, size, NULL, &opened, NULL, 0) ==
            LANEBLOOM_OK);
  lanebloom_filter_describe(opened, &info, sizeof info);
  cr_assert(info.nkeys == LANEBLOOM_UNKNOWN && isnan(info.bits_per_key) &&
            info.nbits_set == nbits_set);
  cr_assert(fabs(info.model_rate / pow((double)nbits_set / (double)info.nbits, 6) - 1) < 1e-12);
  lanebloom_filter_free(opened);
  lanebloom_filter_free(built);
}

static bool says_form(const lanebloom_filter *filter, lanebloom_key_form form)
{
  const lanebloom_key_form found = lanebloom_filter_key_form(filter);
  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  return found.encoding == form.encoding && found.flags == form.flags &&
         info.key_form.encoding == form.encoding && info.key_form.flags == form.flags;
}

/* Parses a filter of 1 byte of bits with these options. */
static lanebloom_filter *parse_with(const lanebloom_raw_options *options)
{
  static const uint8_t bytes[] = {0xff, 6};
  lanebloom_filter *filter;
  char problem[128] = "old";
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, bytes, sizeof bytes, options, &filter,
                                       problem, sizeof problem) == LANEBLOOM_OK &&
            !*problem);
  cr_assert(lanebloom_filter_format(filter) == LANEBLOOM_LEVELDB);
  return filter;
}

static void assert_options_refused(const lanebloom_raw_options *options, const char *expected)
{
  lanebloom_filter *filter = (void *)1;
  char problem[128];
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, "\377\6", 2, options, &filter, problem,
                                       sizeof problem) == LANEBLOOM_ERR_ARGUMENT &&
            !filter);
  cr_assert(strstr(problem, expected), "%s", problem);
}

Test(info, says_the_key_form_of_the_options)
{
  static const lanebloom_raw_options unknown[] = {
      {.key_form = {(lanebloom_encoding)(LANEBLOOM_UUID + 1), 0}},
      {.key_form = {(lanebloom_encoding)-1, 0}},
      {.key_form = {0, 0x400}}};
  lanebloom_filter *filter = parse_with(NULL), *merged;
  cr_assert(says_form(filter, (lanebloom_key_form){LANEBLOOM_BYTES, 0}));
  lanebloom_filter_free(filter);
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    assert_options_refused(&unknown[i],
                           "key form: expected an encoding and flags that are defined");
  for (int encoding = LANEBLOOM_BYTES; encoding <= LANEBLOOM_UUID; encoding++)
    for (uint32_t flags = 0; flags < 8; flags++) {
      const lanebloom_key_form form = {(lanebloom_encoding)encoding, flags};
      filter = parse_with(&(lanebloom_raw_options){.key_form = form});
      cr_assert(says_form(filter, form) && lanebloom_filter_nkeys(filter) == LANEBLOOM_UNKNOWN);
      cr_assert(lanebloom_filter_merge((const lanebloom_filter *const[]){filter}, 1, &merged, NULL,
                                       NULL, 0) == LANEBLOOM_OK &&
                says_form(merged, form));
      lanebloom_filter_free(merged);
      lanebloom_filter_free(filter);
    }
}

Test(info, says_a_key_form_in_words)
{
  const lanebloom_key_form longest = {LANEBLOOM_TIMESTAMP_NS, 7};
  char text[LANEBLOOM_KEY_FORM_NBYTES], small[6];
  const lanebloom_key_form digest = {
      LANEBLOOM_BYTES, LANEBLOOM_KEY_SHA256 | LANEBLOOM_KEY_UPPER_HEX | LANEBLOOM_KEY_UPPERED |
                           LANEBLOOM_KEY_TRIMMED | LANEBLOOM_KEY_JOINED};
  cr_assert(strcmp(lanebloom_key_form_text(longest, text, sizeof text),
                   "timestamp-ns, trimmed, lower-cased, fields joined by a tab") == 0);
  cr_assert(strcmp(lanebloom_key_form_text(digest, text, sizeof text),
                   "sha256:HEX, trimmed, upper-cased, fields joined by a tab") == 0);
  cr_assert(strcmp(lanebloom_key_form_text(longest, small, sizeof small), "times") == 0);
}

/* If the options state the number of keys and the bits per key, bare bytes make the same container
 * as the builder's filter. */
Test(info, says_the_counts_of_the_options)
{
  static const double refused[] = {-0.001, 2147483648.0, INFINITY, NAN};
  static const lanebloom_raw_options unknown[] = {{.nkeys = 0}, {.nkeys = 7, .bits_per_key = NAN}};
  uint8_t bytes[NKEYS * WIDTH];
  fill_keys(bytes);
  const lanebloom_keys keys = lanebloom_keys_fixed(bytes, WIDTH, NKEYS);
  lanebloom_filter *built = build(&keys), *raw;
  size_t size, nbytes, found_nbytes;
  const void *payload = lanebloom_filter_bytes(built, &size);
  const lanebloom_raw_options options = {
      .has_nkeys = true, .has_bits_per_key = true, .nkeys = NKEYS, .bits_per_key = 10};
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, payload, size, &options, &raw, NULL, 0) ==
                LANEBLOOM_OK &&
            lanebloom_filter_nkeys(raw) == NKEYS);
  cr_assert(lanebloom_filter_write(built, NULL, 0, &nbytes) == LANEBLOOM_ERR_ROOM);
  uint8_t *expected = test_alloc(nbytes), *found = test_alloc(nbytes);
  cr_assert(lanebloom_filter_write(built, expected, nbytes, &nbytes) == LANEBLOOM_OK);
  cr_assert(lanebloom_filter_write(raw, found, nbytes, &found_nbytes) == LANEBLOOM_OK &&
            found_nbytes == nbytes);
  cr_assert(memcmp(found, expected, nbytes) == 0);
  lanebloom_filter_free(raw);

  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    assert_options_refused(
        &(lanebloom_raw_options){.has_bits_per_key = true, .bits_per_key = refused[i]},
        "bits per key: ");
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
    lanebloom_filter_info info;
    raw = parse_with(&unknown[i]);
    lanebloom_filter_describe(raw, &info, sizeof info);
    cr_assert(info.nkeys == LANEBLOOM_UNKNOWN && isnan(info.bits_per_key));
    lanebloom_filter_free(raw);
  }
  raw = parse_with(&(lanebloom_raw_options){.has_nkeys = true, .has_bits_per_key = true});
  cr_assert(lanebloom_filter_nkeys(raw) == 0 && lanebloom_filter_bits_per_key(raw) == 0);
  lanebloom_filter_free(raw);
  free(found);
  free(expected);
  lanebloom_filter_free(built);
}

/* Callers may have been compiled with a header whose struct has fewer fields, or more. */
Test(info, fits_smaller_and_larger_structs)
{
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, "\xff\xff\x03", 3, NULL, &filter, NULL,
                                       0) == LANEBLOOM_OK);
  lanebloom_filter_info whole;
  uint8_t caller[sizeof whole + 64];
  lanebloom_filter_describe(filter, &whole, sizeof whole);
  for (size_t size = 0; size <= sizeof caller; size++) {
    memset(caller, 0xee, sizeof caller);
    lanebloom_filter_describe(filter, (void *)caller, size);
    const size_t both = size < sizeof whole ? size : sizeof whole;
    cr_assert(memcmp(caller, &whole, both) == 0, "%zu bytes", size);
    for (size_t i = both; i < sizeof caller; i++)
      cr_assert(caller[i] == (i < size ? 0 : 0xee), "%zu bytes: byte %zu", size, i);
  }
  lanebloom_filter_free(filter);
}

static uint64_t mixed(uint64_t i) /* splitmix64's finalizer */
{
  i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9;
  i = (i ^ i >> 27) * 0x94d049bb133111eb;
  return i ^ i >> 31;
}

/* Compares the estimate with the number of keys added, within the bounds that lanebloom.h
 * states. */
Test(info, the_estimate_is_near_the_number_of_keys)
{
  enum { MAX_NKEYS = 1000000 };
  static uint64_t keys[MAX_NKEYS];
  static const double bits[] = {1, 2, 3, 5, 10, 20, 30};
  static const struct {
    size_t nkeys;
    double most_rocksdb, most_parquet, most_leveldb,
        least_leveldb; /* bounds of relative errors; a single bound holds on both sides */
  } numbers[] = {{10000, 0.04, 0.07, 0.02, -0.07},
                 {100000, 0.01, 0.03, 0.02, -0.16},
                 {MAX_NKEYS, 0.01, 0.02, 0.02, -0.30}};
  const size_t nnumbers = test_exhaustive() ? 3 : 2;
  double least_of_leveldb = 0;
  for (uint64_t i = 0; i < MAX_NKEYS; i++)
    keys[i] = mixed((i + 1) * 0x9e3779b97f4a7c15);
  for (size_t f = 0; f < lanebloom_format_count(); f++) {
    const lanebloom_format format = lanebloom_format_at(f);
    const bool is_leveldb = format == LANEBLOOM_LEVELDB || format == LANEBLOOM_LEVELDB_SIGNED;
    if (!lanebloom_format_table(format)->plan)
      continue;
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
      for (size_t i = 0; i < nnumbers; i++) {
        const size_t n = numbers[i].nkeys;
        const lanebloom_keys batch = lanebloom_keys_fixed(keys, sizeof *keys, n);
        lanebloom_filter *filter;
        lanebloom_filter_info info;
        cr_assert(lanebloom_filter_build(format, bits[b], &batch, &filter) == LANEBLOOM_OK);
        lanebloom_filter_describe(filter, &info, sizeof info);
        const double error = (double)info.nkeys_estimate / (double)n - 1;
        const double most = is_leveldb                    ? numbers[i].most_leveldb
                            : format == LANEBLOOM_PARQUET ? numbers[i].most_parquet
                                                          : numbers[i].most_rocksdb;
        const double least = is_leveldb ? numbers[i].least_leveldb : -most;
        cr_assert(error >= least && error <= most, "%s, %g bits per key: %zu keys, %llu estimated",
                  lanebloom_format_name(format), bits[b], n,
                  (unsigned long long)info.nkeys_estimate);
        if (is_leveldb)
          least_of_leveldb = fmin(least_of_leveldb, error);
        lanebloom_filter_free(filter);
      }
  }
  cr_assert(least_of_leveldb < -0.1, "LevelDB's estimates are better than lanebloom.h says");
}

/* One unset bit among 2^28 corresponds to 2^28 * ln(2^28) hashes of one probe, more than 2^32. */
Test(info, the_estimate_is_unknown_beyond_all_hashes)
{
  const struct filter_shape shape = {
      .answer = ANSWER_BY_PROBES, .nprobes = 1, .nbytes = 1 << 25, .nbits = 1 << 28};
  cr_assert(lanebloom_estimate_nkeys(&shape, shape.nbits - 1, 32) == LANEBLOOM_UNKNOWN);
  cr_assert(lanebloom_estimate_nkeys(&shape, shape.nbits - 1, 64) != LANEBLOOM_UNKNOWN);
}

Test(info, the_estimate_knows_its_limits)
{
  static const struct {
    lanebloom_format format;
    const char *bytes;
    size_t size;
    uint64_t estimate;
  } cases[] = {
      {LANEBLOOM_LEVELDB, "", 0, LANEBLOOM_UNKNOWN},           /* answers never */
      {LANEBLOOM_LEVELDB, "\0\0\x1f", 3, LANEBLOOM_UNKNOWN},   /* answers always */
      {LANEBLOOM_LEVELDB, "\xff\xff\3", 3, LANEBLOOM_UNKNOWN}, /* all bits are set */
      {LANEBLOOM_LEVELDB, "\0\0\0\0\0\0\0\0\6", 9, 0},         /* no bit is set */
      {LANEBLOOM_LEVELDB, "\x77\0\0\0\0\0\0\0\6", 9, 1},       /* six of 64 bits, six probes */
      {LANEBLOOM_ROCKSDB, "\0\0\0\0\0", 5, LANEBLOOM_UNKNOWN},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    lanebloom_filter *filter;
    lanebloom_filter_info info;
    cr_assert(lanebloom_filter_parse_raw(cases[i].format, cases[i].bytes, cases[i].size, NULL,
                                         &filter, NULL, 0) == LANEBLOOM_OK);
    lanebloom_filter_describe(filter, &info, sizeof info);
    cr_assert(info.nkeys_estimate == cases[i].estimate, "case %zu: %llu", i,
              (unsigned long long)info.nkeys_estimate);
    lanebloom_filter_free(filter);
  }
}
