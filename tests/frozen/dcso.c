/* Hashes, positions, filters, plans and answers must equal those of DCSO's program.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "common/bytes.h"
#include "frozen.h"

enum { HEADER_NBYTES = 48, MAX_KEY_NBYTES = 1024, MAX_NPROBES = 64, NCOPIES = 40 };

static struct {
  size_t nhashes, npositions, nfilters, nplans, nbytes;
} used;

static lanebloom_filter *parse(const uint8_t *bytes, size_t size)
{
  lanebloom_filter *filter;
  char problem[128];
  const lanebloom_status status = lanebloom_filter_parse_raw(LANEBLOOM_DCSO, bytes, size, NULL,
                                                             &filter, problem, sizeof problem);
  if (status)
    test_fatal("%s", problem);
  return filter;
}

/* Screens copies of a key, so that they fill lanes. All must have the same answer. */
static bool may_contain(const lanebloom_filter *filter, lanebloom_slice key)
{
  lanebloom_slice copies[NCOPIES];
  for (size_t i = 0; i < NCOPIES; i++)
    copies[i] = key;
  const lanebloom_keys keys = lanebloom_keys_slices(copies, NCOPIES);
  const size_t count = lanebloom_filter_screen(filter, &keys, NULL);
  const bool one = lanebloom_filter_may_contain(filter, key.data, key.size);
  if (count != (one ? NCOPIES : 0))
    test_fatal("a key of %zu bytes: %zu of %d copies pass", key.size, count, NCOPIES);
  return one;
}

/* H: key, hash */
static void check_hash(char *columns[])
{
  uint8_t key[MAX_KEY_NBYTES];
  uint64_t hashes[NCOPIES];
  lanebloom_slice copies[NCOPIES];
  const size_t size = hex_decode(columns[1], key, sizeof key);
  for (size_t i = 0; i < NCOPIES; i++)
    copies[i] = (lanebloom_slice){key, size};
  const lanebloom_keys keys = lanebloom_keys_slices(copies, NCOPIES);
  cr_assert(lanebloom_hash(LANEBLOOM_DCSO, &keys, hashes) == LANEBLOOM_OK);
  for (size_t i = 0; i < NCOPIES; i++)
    if (hashes[i] != strtoull(columns[2], NULL, 16))
      test_fatal("a key of %zu bytes hashes to %016" PRIx64 ", expected %s", size, hashes[i],
                 columns[2]);
  used.nhashes++;
}

/* P: key, probes, bits, positions. A filter that has only these bits lets the key pass; without any
 * one of them, it does not. */
static void check_positions(char *columns[])
{
  uint8_t key[MAX_KEY_NBYTES];
  const size_t size = hex_decode(columns[1], key, sizeof key);
  const uint64_t nprobes = strtoull(columns[2], NULL, 10), nbits = strtoull(columns[3], NULL, 10);
  const size_t nbytes = HEADER_NBYTES + (size_t)(nbits + 63) / 64 * 8;
  uint64_t expected[MAX_NPROBES], found[MAX_NPROBES], hash;
  uint8_t *bytes = test_alloc(nbytes);
  bytes[0] = 1;
  store_le64(bytes + 24, nprobes);
  store_le64(bytes + 32, nbits);
  size_t n = 0;
  for (char *rest = columns[4], *text; (text = strsep(&rest, ",")); n++) {
    cr_assert(n < MAX_NPROBES);
    expected[n] = 8 * HEADER_NBYTES + strtoull(text, NULL, 10);
    bytes[expected[n] / 8] |= (uint8_t)(1 << expected[n] % 8);
  }
  lanebloom_filter *filter = parse(bytes, nbytes);
  const lanebloom_keys keys = lanebloom_keys_fixed(key, size, 1);
  cr_assert(lanebloom_hash(LANEBLOOM_DCSO, &keys, &hash) == LANEBLOOM_OK);
  if (n != nprobes || lanebloom_filter_positions(filter, &hash, found) != n ||
      memcmp(found, expected, n * sizeof *found) != 0)
    test_fatal("other positions");
  cr_assert(may_contain(filter, (lanebloom_slice){key, size}));
  for (size_t i = 0; i < n; i++) {
    bytes[expected[i] / 8] ^= (uint8_t)(1 << expected[i] % 8);
    if (may_contain(filter, (lanebloom_slice){key, size}))
      test_fatal("passes without probe %zu", i);
    bytes[expected[i] / 8] ^= (uint8_t)(1 << expected[i] % 8);
  }
  lanebloom_filter_free(filter);
  free(bytes);
  used.npositions++;
}

/* Builds a filter for the rate, from keys in batches of this size. */
static lanebloom_filter *build(double rate, uint64_t nkeys, const lanebloom_keys *keys,
                               size_t batch)
{
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  cr_assert(lanebloom_builder_create_for_rate(LANEBLOOM_DCSO, rate, nkeys, &builder) ==
            LANEBLOOM_OK);
  for (size_t at = 0; at < keys->n; at += batch) {
    const lanebloom_keys part = lanebloom_keys_part(keys, at, batch);
    cr_assert(lanebloom_builder_add(builder, &part) == LANEBLOOM_OK);
  }
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK);
  lanebloom_builder_free(builder);
  return filter;
}

/* Checks that a filter that was built has the bytes of the file up to the attached data. The union
 * with an empty filter has these data, too. */
static void check_built(lanebloom_filter *built, const lanebloom_filter *file, size_t batch)
{
  lanebloom_filter *merged;
  size_t size, file_size, merged_size;
  const uint8_t *bytes = lanebloom_filter_bytes(built, &size),
                *file_bytes = lanebloom_filter_bytes(file, &file_size);
  cr_assert(size <= file_size, "%zu bytes, expected at most %zu", size, file_size);
  test_same_bytes(batch == 3 ? "in small batches" : "in one batch", bytes, file_bytes, size);
  const lanebloom_keys none = lanebloom_keys_slices(NULL, 0);
  lanebloom_filter_info info;
  lanebloom_filter_describe(file, &info, sizeof info);
  double rate;
  uint64_t bits = load_le64(file_bytes + 16);
  memcpy(&rate, &bits, sizeof rate);
  lanebloom_filter *empty = build(rate, info.planned_nkeys, &none, 1);
  cr_assert(lanebloom_filter_merge((const lanebloom_filter *[]){empty, file}, 2, &merged, NULL,
                                   NULL, 0) == LANEBLOOM_OK);
  const uint8_t *merged_bytes = lanebloom_filter_bytes(merged, &merged_size);
  cr_assert(merged_size == file_size);
  test_same_bytes("union", merged_bytes, file_bytes, file_size);
  lanebloom_filter_free(merged);
  lanebloom_filter_free(empty);
  lanebloom_filter_free(built);
}

/* F: planned keys, rate, probes, bits, file, keys, queries, answers */
static void check_file(char *columns[])
{
  const uint64_t nkeys = strtoull(columns[1], NULL, 10);
  const double rate = strtod(columns[2], NULL);
  const size_t room = strlen(columns[5]) / 2;
  uint8_t *bytes = test_alloc(room);
  const size_t size = hex_decode(columns[5], bytes, room);
  lanebloom_filter *file = parse(bytes, size);
  lanebloom_filter_info info;
  lanebloom_filter_describe(file, &info, sizeof info);
  cr_assert(info.nprobes == strtoul(columns[3], NULL, 10) &&
            info.nbits == strtoull(columns[4], NULL, 10) && info.planned_nkeys == nkeys &&
            info.nkeys == load_le64(bytes + 40));
  struct key_list added = parse_keys(columns[6]), asked = parse_keys(columns[7]);
  const lanebloom_keys keys = lanebloom_keys_slices(added.slices, added.n);
  check_built(build(rate, nkeys, &keys, 3), file, 3);
  check_built(build(rate, nkeys, &keys, 1000), file, 1000);
  cr_assert(strlen(columns[8]) == asked.n, "%zu queries", asked.n);
  for (size_t i = 0; i < asked.n; i++)
    if (may_contain(file, asked.slices[i]) != (columns[8][i] == '1'))
      test_fatal("query %zu: expected %c", i, columns[8][i]);
  free_keys(&asked);
  free_keys(&added);
  lanebloom_filter_free(file);
  free(bytes);
  used.nfilters++;
}

/* M: planned keys, rate, probes, bits */
static void check_plan(char *columns[])
{
  uint64_t nbytes;
  unsigned nprobes;
  const uint64_t nbits = strtoull(columns[4], NULL, 10);
  cr_assert(lanebloom_plan_size_for_rate(LANEBLOOM_DCSO, strtod(columns[2], NULL),
                                         strtoull(columns[1], NULL, 10), &nbytes, &nprobes,
                                         NULL) == LANEBLOOM_OK);
  cr_assert(
      nprobes == strtoul(columns[3], NULL, 10) && nbytes == HEADER_NBYTES + (nbits + 63) / 64 * 8,
      "%s keys, rate %s: %u probes, %" PRIu64 " bytes", columns[1], columns[2], nprobes, nbytes);
  used.nplans++;
}

/* X: name, bytes, the answer for the key `a', or `refused', or `crash' */
static void check_bytes(char *columns[])
{
  uint8_t bytes[256];
  const size_t size = hex_decode(columns[2], bytes, sizeof bytes);
  if (strcmp(columns[3], "refused") == 0 || strcmp(columns[3], "crash") == 0) {
    lanebloom_filter *filter;
    char problem[128];
    const lanebloom_status status = lanebloom_filter_parse_raw(LANEBLOOM_DCSO, bytes, size, NULL,
                                                               &filter, problem, sizeof problem);
    cr_assert((status == LANEBLOOM_ERR_FORMAT || status == LANEBLOOM_ERR_LIMIT) && !filter &&
                  *problem,
              "%s", columns[1]);
  } else {
    lanebloom_filter *filter = parse(bytes, size);
    cr_assert(may_contain(filter, (lanebloom_slice){"a", 1}) == (columns[3][0] == '1'), "%s",
              columns[1]);
    lanebloom_filter_free(filter);
  }
  used.nbytes++;
}

static void check_rows(const char *kernel)
{
  static const struct {
    char kind;
    size_t ncolumns;
    void (*check)(char *columns[]);
  } kinds[] = {{'H', 3, check_hash},
               {'P', 5, check_positions},
               {'F', 9, check_file},
               {'M', 5, check_plan},
               {'X', 4, check_bytes}};
  struct rows rows = rows_open("dcso.txt");
  memset(&used, 0, sizeof used);
  for (char *columns[9]; rows_next(&rows, kernel, columns, 1);) {
    char *rest = columns[0] + strlen(columns[0]) + 1;
    for (size_t k = 0; k < COUNT(kinds); k++) {
      if (columns[0][0] != kinds[k].kind)
        continue;
      for (size_t i = 1; i < kinds[k].ncolumns; i++)
        if (!(columns[i] = strtok_r(rest, " \n", &rest)))
          test_fatal("fewer than %zu columns", kinds[k].ncolumns);
      kinds[k].check(columns);
    }
  }
  rows_close(&rows);
  cr_assert(used.nhashes == 65 && used.npositions == 90 && used.nfilters == 6 &&
                used.nplans == 200 && used.nbytes == 15,
            "dcso.txt: used %zu hashes, %zu positions, %zu filters, %zu plans, %zu others",
            used.nhashes, used.npositions, used.nfilters, used.nplans, used.nbytes);
}

Test(vectors, dcso_file)
{
  for_each_kernel(check_rows);
}

/* fleur hashes the bytes of a key as signed, so its hashes differ as soon as a byte is 0x80 or
 * more. By hand: 0xcbf29ce484222325 times 0x100000001b3 is 0xaf63bd4c8601b7df; its last byte and
 * 0xff give 0x20, and the bits above change if the byte is signed. */
static void check_signed(const char *kernel)
{
  test_context("%s", kernel);
  static const uint8_t byte[] = {0xff};
  lanebloom_slice copies[NCOPIES];
  uint64_t hashes[NCOPIES];
  for (size_t i = 0; i < NCOPIES; i++)
    copies[i] = (lanebloom_slice){byte, 1};
  const lanebloom_keys keys = lanebloom_keys_slices(copies, NCOPIES);
  cr_assert(lanebloom_hash(LANEBLOOM_DCSO, &keys, hashes) == LANEBLOOM_OK);
  cr_assert(hashes[0] == 0xaf63bd4c8601b720 && hashes[NCOPIES - 1] == hashes[0]);
  cr_assert(lanebloom_hash(LANEBLOOM_DCSO_SIGNED, &keys, hashes) == LANEBLOOM_OK);
  cr_assert(hashes[0] == 0x509c42b379fe4820 && hashes[NCOPIES - 1] == hashes[0]);
}

Test(vectors, dcso_signed)
{
  for_each_kernel(check_signed);
}
