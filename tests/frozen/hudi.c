/* Answers of Hudi 1.0.2 for filters that it built. The file says what its rows are.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/bytes.h"
#include "frozen.h"
#include "model.h"

enum { MAX_KEYS = 64 };

static lanebloom_status open_text(const void *text, size_t size, lanebloom_filter **filter)
{
  char problem[200];
  const lanebloom_status status =
      lanebloom_filter_parse_raw(LANEBLOOM_HUDI, text, size, NULL, filter, problem, sizeof problem);
  cr_assert(!status == !*problem && !status == (*filter != NULL), "%s", problem);
  return status;
}

/* Screens keys, whose expected answers are the digits of a text. The keys are screened as they are,
 * and many times, so that lanes are full. */
static void check_answers(const lanebloom_filter *filter, const lanebloom_slice *keys, size_t n,
                          const char *answers)
{
  enum { NTIMES = 20 };
  static lanebloom_slice many[NTIMES * MAX_KEYS];
  static uint8_t mask[NTIMES * MAX_KEYS];
  cr_assert(n <= MAX_KEYS && strlen(answers) == n, "%zu answers for %zu keys", strlen(answers), n);
  for (size_t i = 0; i < NTIMES * n; i++)
    many[i] = keys[i % n];
  const lanebloom_keys once = lanebloom_keys_slices(keys, n),
                       repeated = lanebloom_keys_slices(many, NTIMES * n);
  lanebloom_filter_mask(filter, &once, mask);
  for (size_t i = 0; i < n; i++)
    if (mask[i] != (answers[i] == '1') ||
        lanebloom_filter_may_contain(filter, keys[i].data, keys[i].size) != mask[i])
      test_fatal("key %zu: %d", i, mask[i]);
  lanebloom_filter_mask(filter, &repeated, mask);
  for (size_t i = 0; i < NTIMES * n; i++)
    if (mask[i] != (answers[i % n] == '1'))
      test_fatal("key %zu of many: %d", i, mask[i]);
}

/* Checks a filter that Hudi built: its text, with and without a line end, and its bytes. */
static void check_filter(char *text, char *present, char *queries, const char *answers)
{
  char line[8192];
  lanebloom_filter *filter, *same;
  cr_assert(open_text(text, strlen(text), &filter) == LANEBLOOM_OK);
  size_t size, same_size;
  const void *bytes = lanebloom_filter_bytes(filter, &size);
  for (int ending = 0; ending < 2; ending++) {
    snprintf(line, sizeof line, "%s%s", text, ending ? "\r\n" : "\n");
    cr_assert(open_text(line, strlen(line), &same) == LANEBLOOM_OK);
    const void *same_bytes = lanebloom_filter_bytes(same, &same_size);
    cr_assert(same_size == size && memcmp(same_bytes, bytes, size) == 0);
    lanebloom_filter_free(same);
  }
  cr_assert(open_text(bytes, size, &same) == LANEBLOOM_OK);
  struct key_list added = parse_keys(present), asked = parse_keys(queries);
  const lanebloom_keys all = lanebloom_keys_slices(added.slices, added.n);
  cr_assert(lanebloom_filter_screen(filter, &all, NULL) == all.n, "a key is missing");
  check_answers(filter, asked.slices, asked.n, answers);
  check_answers(same, asked.slices, asked.n, answers);
  free_keys(&asked);
  free_keys(&added);
  /* of a small DYNAMIC_V0 record, so many bytes are a SIMPLE one */
  const size_t simple_size = HUDI_HEADER_NBYTES + (load_be32((const uint8_t *)bytes + 9) + 7) / 8;
  for (size_t left = 0; left < size; left++) {
    lanebloom_filter *cut;
    const lanebloom_status status =
        lanebloom_filter_parse_raw(LANEBLOOM_HUDI, bytes, left, NULL, &cut, NULL, 0);
    const bool is_simple = left == simple_size && left < HUDI_DYNAMIC_NBYTES + HUDI_HEADER_NBYTES;
    cr_assert(status == (is_simple ? LANEBLOOM_OK : LANEBLOOM_ERR_FORMAT), "%zu of %zu bytes", left,
              size);
    lanebloom_filter_free(cut);
  }
  lanebloom_filter_free(same);
  lanebloom_filter_free(filter);
}

/* ---- Hashes ---- */

/* The model has Hudi's hash of the key. If the seed is 0, the filter in which only the bit of this
 * hash is set has the key, and the filter in which only this bit is clear does not. */
static void check_hash(char *key_text, const char *seed_text, const char *hash_text)
{
  enum { NBITS = 100003, NBYTES = NBITS / 8 + 1 };
  static uint8_t record[HUDI_HEADER_NBYTES + NBYTES];
  uint8_t bytes[256];
  const size_t size = hex_decode(key_text, bytes, sizeof bytes);
  const uint32_t seed = (uint32_t)strtoul(seed_text, NULL, 16),
                 hash = (uint32_t)strtoul(hash_text, NULL, 16);
  cr_assert(model_hudi_hash(bytes, size, seed) == hash, "%s", key_text);
  if (seed != 0 || size == 0)
    return;
  const uint64_t magnitude = hash > INT32_MAX ? (UINT64_C(1) << 32) - hash : hash;
  const size_t bit = magnitude % NBITS;
  for (int is_clear = 0; is_clear < 2; is_clear++) {
    lanebloom_filter *filter;
    memset(record, is_clear ? 0xff : 0, sizeof record);
    model_hudi_write_headers(record, 0, 1, NBITS);
    record[HUDI_HEADER_NBYTES + bit / 8] ^= (uint8_t)(1 << bit % 8);
    cr_assert(open_text(record, sizeof record, &filter) == LANEBLOOM_OK);
    const lanebloom_slice key = {bytes, size};
    check_answers(filter, &key, 1, is_clear ? "0" : "1");
    lanebloom_filter_free(filter);
  }
}

/* ---- The file ---- */

/* Hudi reads the record that is longer than it says, and the one without rows. */
static bool is_refused_here_alone(const char *name)
{
  return strcmp(name, "body-long") == 0 || strcmp(name, "rows-0") == 0;
}

static void check_file(const char *kernel)
{
  size_t nhashes = 0, nfilters = 0, nrefused = 0;
  struct rows rows = rows_open("hudi.txt");
  for (char *columns[9]; rows_next(&rows, kernel, columns, 4);) {
    char *rest = columns[3] + strlen(columns[3]) + 1;
    lanebloom_filter *filter;
    uint8_t bytes[256];
    if (columns[0][0] == 'H') {
      check_hash(columns[1], columns[2], columns[3]);
      nhashes++;
      continue;
    }
    for (size_t i = 4; i < 9; i++)
      columns[i] = strtok_r(rest, " \n", &rest);
    switch (columns[0][0]) {
    case 'F':
      check_filter(columns[5], columns[6], columns[7], columns[8]);
      nfilters++;
      break;
    case 'R': /* generated.c */
      break;
    case 'J':
      cr_assert(open_text(columns[2], strlen(columns[2]), &filter) == LANEBLOOM_ERR_FORMAT);
      nrefused++;
      break;
    default: {
      const size_t size = hex_decode(columns[3], bytes, sizeof bytes);
      cr_assert(is_refused_here_alone(columns[1]) || strcmp(columns[4], "refused") == 0);
      cr_assert(open_text(bytes, size, &filter) == LANEBLOOM_ERR_FORMAT);
      nrefused++;
    }
    }
  }
  rows_close(&rows);
  cr_assert(nhashes == 54 && nfilters == 8 && nrefused == 10,
            "hudi.txt: %zu hashes, %zu filters, %zu refused", nhashes, nfilters, nrefused);
}

Test(vectors, hudi_file)
{
  for_each_kernel(check_file);
}

/* ---- Refused records ---- */

/* Changes a byte of a record with two rows, or cuts it. The problem says what was expected and what
 * was found. */
Test(vectors, hudi_refusals)
{
  enum { NBITS = 12, ROW = HUDI_HEADER_NBYTES + 2, SIZE = HUDI_DYNAMIC_NBYTES + 2 * ROW };
  static const struct {
    size_t size, at;
    uint8_t byte;
    lanebloom_status status;
    const char *text;
  } cases[] = {
      {SIZE, 0, 0xff, LANEBLOOM_OK, ""},
      {SIZE, SIZE - 1, 0xff, LANEBLOOM_OK, ""},
      {0, 0, 0, LANEBLOOM_ERR_FORMAT, "more than 13 bytes, found 0"},
      {HUDI_HEADER_NBYTES - 1, 0, 0xff, LANEBLOOM_ERR_FORMAT, "more than 13 bytes, found 12"},
      {SIZE, 3, 0xfe, LANEBLOOM_ERR_FORMAT, "expected version -1 of Hudi's filters, found -2"},
      {SIZE, 0, 0, LANEBLOOM_ERR_FORMAT, "Hudi's filters, found 16777215"},
      {SIZE, 8, 0, LANEBLOOM_ERR_FORMAT, "1 (Murmur), which Hudi writes, found 0 (Jenkins)"},
      {SIZE, 8, 2, LANEBLOOM_ERR_FORMAT, "expected the hash 1 (Murmur), found 2"},
      {SIZE, 7, 0, LANEBLOOM_ERR_FORMAT, "at least 1 probe and 1 bit, found 0 and 12"},
      {SIZE, 4, 0x80, LANEBLOOM_ERR_FORMAT, "1 bit, found -2147483645 and 12"},
      {SIZE, 12, 0, LANEBLOOM_ERR_FORMAT, "found 3 and 0"},
      {SIZE, 9, 0xff, LANEBLOOM_ERR_FORMAT, "found 3 and -16777204"},
      {SIZE, 6, 1, LANEBLOOM_ERR_LIMIT, "at most 255 probes per key, found 259"},
      {SIZE - 1, 0, 0xff, LANEBLOOM_ERR_FORMAT, "55 bytes for 2 rows of 12 bits, found 54"},
      {SIZE, 24, 1, LANEBLOOM_ERR_FORMAT, "40 bytes for 1 rows of 12 bits, found 55"},
      {SIZE, 24, 0, LANEBLOOM_ERR_FORMAT, "25 bytes for 0 rows of 12 bits, found 55"},
      {SIZE, 21, 0xff, LANEBLOOM_ERR_FORMAT, "for 4278190082 rows of 12 bits, found 55"},
      {SIZE, 12, 20, LANEBLOOM_ERR_FORMAT, "16 bytes for 1 rows of 20 bits, found 55"},
      {SIZE, HUDI_DYNAMIC_NBYTES + ROW + 12, 11, LANEBLOOM_ERR_FORMAT, "another header in row 1"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    uint8_t record[SIZE] = {0};
    model_hudi_write_headers(record, 2, 3, NBITS);
    record[cases[i].at] = cases[i].byte;
    lanebloom_filter *filter;
    char problem[200];
    cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_HUDI, record, cases[i].size, NULL, &filter,
                                         problem, sizeof problem) == cases[i].status,
              "%zu: %s", i, problem);
    cr_assert(strstr(problem, cases[i].text) && !filter == (cases[i].status != LANEBLOOM_OK),
              "%zu: %s", i, problem);
    if (filter) {
      lanebloom_filter_info info;
      lanebloom_filter_describe(filter, &info, sizeof info);
      cr_assert(info.nbits == 2 * NBITS && info.nprobes == 3 &&
                info.nkeys_estimate == LANEBLOOM_UNKNOWN);
      cr_assert(info.nbits_set == (cases[i].at > 0 ? 4 : 0), "%llu bits",
                (unsigned long long)info.nbits_set);
    }
    lanebloom_filter_free(filter);
  }
}
