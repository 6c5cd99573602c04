/* Container files: a saved filter can be loaded, and a damaged file is refused.
 * SPDX-License-Identifier: MIT */
#define XXH_INLINE_ALL
#include <criterion/criterion.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <lanebloom.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "filter_files.h"
#include "formats/rocksdb.h"
#include "support.h"

/* ---- A saved filter is loaded ---- */

static void assert_round_trip(const lanebloom_filter *filter)
{
  static uint8_t bytes[100000];
  lanebloom_filter *found;
  char why[200] = "something";
  save(filter, "f.lbf");
  const size_t size = read_file("f.lbf", bytes, sizeof bytes);

  cr_assert(lanebloom_filter_load("f.lbf", &found, NULL, 0) == LANEBLOOM_OK &&
            equal(filter, found));
  lanebloom_filter_close(found);
  cr_assert(lanebloom_filter_load("f.lbf", &found, why, sizeof why) == LANEBLOOM_OK &&
            equal(filter, found) && !*why);
  lanebloom_filter_close(found);
  cr_assert(lanebloom_filter_map("f.lbf", &found, NULL, 0) == LANEBLOOM_OK && equal(filter, found));
  lanebloom_filter_close(found);
  cr_assert(lanebloom_filter_parse(bytes, size, &found) == LANEBLOOM_OK && equal(filter, found));
  size_t nbytes;
  cr_assert((const uint8_t *)lanebloom_filter_bytes(found, &nbytes) == bytes + 64,
            "parsing borrows");
  lanebloom_filter_close(found);

  /* Writing to memory gives the same container, and one byte less is too little room. */
  uint8_t *written = test_alloc(size);
  cr_assert(lanebloom_filter_write(filter, NULL, 0) == size);
  cr_assert(lanebloom_filter_write(filter, written, size - 1) == size);
  for (size_t i = 0; i < size; i++)
    cr_assert(written[i] == 0, "byte %zu of too little room is written to", i);
  cr_assert(lanebloom_filter_write(filter, written, size) == size);
  test_same_bytes("written", written, bytes, size);
  free(written);
}

/* Room that is not needed is left unchanged. */
Test(container, what_is_written_to_memory_ends_where_it_ends)
{
  static const uint8_t payload[] = {1, 2, 3, 6};
  lanebloom_filter *filter, *found;
  for (size_t n = 0; n <= sizeof payload; n++) {
    uint8_t bytes[100];
    memset(bytes, 0xa5, sizeof bytes);
    cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, payload, n, &filter) == LANEBLOOM_OK);
    cr_assert(lanebloom_filter_write(filter, bytes, sizeof bytes) == 64 + n);
    for (size_t i = 64 + n; i < sizeof bytes; i++)
      cr_assert(bytes[i] == 0xa5);
    cr_assert(lanebloom_filter_parse(bytes, 64 + n, &found) == LANEBLOOM_OK &&
              equal(filter, found));
    lanebloom_filter_close(found);
    lanebloom_filter_close(filter);
  }
}

Test(container, what_is_saved_is_loaded)
{
  enter_empty_folder();
  for (size_t nkeys = 0; nkeys < 5000; nkeys = 3 * nkeys + 1) {
    lanebloom_filter *filter = build((double)(nkeys % 31), nkeys, 1);
    assert_round_trip(filter);
    lanebloom_filter_close(filter);
  }
  leave_folder();
}

Test(container, engine_bytes_of_every_kind)
{
  static const char *const kinds[] = {
      "", "\x06", "\0\x06", "\xff\xff\x00", "\xff\xff\xff", "abcdefghij\x0a"};
  enter_empty_folder();
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (int is_signed = 0; is_signed < 2; is_signed++) {
      lanebloom_filter *filter, *raw;
      const lanebloom_format format = is_signed ? LANEBLOOM_LEVELDB_SIGNED : LANEBLOOM_LEVELDB;
      const size_t size = i == 0 ? 0 : i == 1 ? 1 : i == 2 ? 2 : i < 5 ? 3 : 11;
      cr_assert(lanebloom_filter_parse_raw(format, kinds[i], size, &filter) == LANEBLOOM_OK);
      assert_round_trip(filter);
      cr_assert(lanebloom_filter_save_raw(filter, "raw") == LANEBLOOM_OK);
      uint8_t bytes[16];
      cr_assert(read_file("raw", bytes, sizeof bytes) == size &&
                memcmp(bytes, kinds[i], size) == 0);
      cr_assert(lanebloom_filter_load_raw(format, "raw", &raw, NULL, 0) == LANEBLOOM_OK &&
                equal(filter, raw));
      lanebloom_filter_close(raw);
      lanebloom_filter_close(filter);
    }
  leave_folder();
}

struct pipe_writer {
  const uint8_t *bytes;
  size_t size;
  int fd;
};

static void *write_pipe(void *argument)
{
  struct pipe_writer *writer = argument;
  for (size_t n = 0; n < writer->size;) {
    size_t nbytes = writer->size - n < 1000 ? writer->size - n : 1000;
    n += (size_t)write(writer->fd, writer->bytes + n, nbytes);
  }
  close(writer->fd);
  return NULL;
}

Test(container, a_pipe_can_be_loaded_whatever_its_size)
{
  enter_empty_folder();
  static uint8_t bytes[3000000];
  for (size_t nkeys = 1; nkeys < 2000000; nkeys *= 11) {
    lanebloom_filter *filter = build(10, nkeys, 5), *found;
    save(filter, "f.lbf");
    struct pipe_writer writer = {.bytes = bytes, .size = read_file("f.lbf", bytes, sizeof bytes)};
    for (int cut = 0; cut < 2; cut++, writer.size--) {
      int ends[2];
      char path[32];
      pthread_t thread;
      cr_assert(pipe(ends) == 0);
      writer.fd = ends[1];
      snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
      pthread_create(&thread, NULL, write_pipe, &writer);
      lanebloom_status status = lanebloom_filter_load(path, &found, NULL, 0);
      pthread_join(thread, NULL);
      close(ends[0]);
      cr_assert(status == (cut ? LANEBLOOM_ERR_CORRUPT : LANEBLOOM_OK), "%zu keys, %d cut: %d",
                nkeys, cut, status);
      cr_assert(cut || equal(filter, found));
      lanebloom_filter_close(found);
    }
    lanebloom_filter_close(filter);
  }
  leave_folder();
}

/* ---- A damaged file is refused ---- */

Test(container, every_flipped_bit_is_noticed)
{
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 30, 7), *found;
  save(filter, "f.lbf");
  uint8_t bytes[256];
  const size_t size = read_file("f.lbf", bytes, sizeof bytes);
  for (size_t bit = 0; bit < 8 * size; bit++) {
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    const lanebloom_status status = lanebloom_filter_parse(bytes, size, &found);
    cr_assert((status == LANEBLOOM_ERR_FORMAT || status == LANEBLOOM_ERR_CORRUPT) && !found,
              "bit %zu: %d", bit, status);
    if (bit % 9 == 0 || test_exhaustive()) {
      char why[200] = "";
      test_write_file("f.lbf", bytes, size);
      cr_assert(lanebloom_filter_load("f.lbf", &found, why, sizeof why) == status && !found,
                "bit %zu", bit);
      cr_assert(strstr(why, "expected") && strstr(why, "found"), "bit %zu: %s", bit, why);
      if (bit < 8 * 48) /* the header, except for the checksum of the whole file */
        cr_assert(lanebloom_filter_map("f.lbf", &found, NULL, 0) == status && !found, "bit %zu",
                  bit);
    }
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  lanebloom_filter_close(filter);
  leave_folder();
}

Test(container, every_wrong_length_is_noticed)
{
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 30, 7), *found;
  save(filter, "f.lbf");
  uint8_t bytes[256] = {0};
  const size_t size = read_file("f.lbf", bytes, sizeof bytes);
  for (size_t n = 0; n < sizeof bytes; n++) {
    if (n == size)
      continue;
    test_write_file("f.lbf", bytes, n);
    char why[200] = "";
    const lanebloom_status expected = n < 8 ? LANEBLOOM_ERR_FORMAT : LANEBLOOM_ERR_CORRUPT;
    cr_assert(lanebloom_filter_load("f.lbf", &found, why, sizeof why) == expected && !found,
              "%zu bytes", n);
    cr_assert(strstr(why, "expected") && strstr(why, "found"), "%zu bytes: %s", n, why);
    cr_assert(lanebloom_filter_map("f.lbf", &found, NULL, 0) == expected && !found, "%zu bytes", n);
    cr_assert(lanebloom_filter_parse(bytes, n, &found) == expected && !found, "%zu bytes", n);
  }
  lanebloom_filter_close(filter);
  leave_folder();
}

static void assert_refused(const void *bytes, size_t size, const char *what,
                           const char *part_of_why)
{
  lanebloom_filter *found;
  char why[200];
  test_write_file("f", bytes, size);
  cr_assert(lanebloom_filter_load("f", &found, why, sizeof why) == LANEBLOOM_ERR_FORMAT && !found,
            "%s", what);
  cr_assert(strstr(why, part_of_why), "%s: %s", what, why);
}

/* The first byte of a container that another process changes after its header was checked. */
static uint8_t *changing;

const struct format_table *__real_lanebloom_format_table(lanebloom_format id);
const struct format_table *__wrap_lanebloom_format_table(lanebloom_format id);

const struct format_table *__wrap_lanebloom_format_table(lanebloom_format id)
{
  if (changing)
    memset(changing, 'x', 64);
  changing = NULL;
  return __real_lanebloom_format_table(id);
}

Test(container, a_header_that_changes_is_read_once)
{
  static uint8_t bytes[1000];
  lanebloom_filter *filter, *found;
  const lanebloom_keys keys = lanebloom_keys_fixed("0123456789abcdef", 4, 4);
  cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, 10, &keys, &filter) == LANEBLOOM_OK);
  const size_t nbytes = lanebloom_filter_write(filter, bytes, sizeof bytes);
  changing = bytes;
  cr_assert(lanebloom_filter_parse(bytes, nbytes, &found) == LANEBLOOM_OK && !changing &&
            equal(filter, found));
  lanebloom_filter_close(filter);
  lanebloom_filter_close(found);
}

/* The trailer of a RocksDB filter, which is changed after the filter's kind was read from it. */
static uint8_t *changing_trailer;

lanebloom_status __real_lanebloom_rocksdb_parse(const uint8_t *bytes, size_t size,
                                                enum rocksdb_kind expected,
                                                struct filter_shape *shape);
lanebloom_status __wrap_lanebloom_rocksdb_parse(const uint8_t *bytes, size_t size,
                                                enum rocksdb_kind expected,
                                                struct filter_shape *shape);

lanebloom_status __wrap_lanebloom_rocksdb_parse(const uint8_t *bytes, size_t size,
                                                enum rocksdb_kind expected,
                                                struct filter_shape *shape)
{
  const lanebloom_status status = __real_lanebloom_rocksdb_parse(bytes, size, expected, shape);
  if (changing_trailer)
    memset(changing_trailer, changing_trailer[0] == 0xfe ? 0 : 0xff, ROCKSDB_TRAILER_NBYTES);
  return status;
}

Test(container, a_trailer_that_changes_is_damaged)
{
  static const struct {
    lanebloom_format format;
    uint8_t trailer[ROCKSDB_TRAILER_NBYTES];
    lanebloom_status expected;
  } cases[] = {{LANEBLOOM_ROCKSDB_LEGACY, {6, 1, 0, 0, 0}, LANEBLOOM_ERR_CORRUPT},
               {LANEBLOOM_ROCKSDB_LOCAL, {0xff, 0, 6, 0, 0}, LANEBLOOM_OK},
               {LANEBLOOM_ROCKSDB_RIBBON, {0xfe, 0, 2, 0, 0}, LANEBLOOM_ERR_CORRUPT}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t bytes[64 + ROCKSDB_TRAILER_NBYTES] = {0};
    lanebloom_filter *filter = NULL;
    memcpy(bytes + 64, cases[i].trailer, ROCKSDB_TRAILER_NBYTES);
    cr_assert(lanebloom_filter_parse_raw(cases[i].format, bytes, sizeof bytes, &filter) ==
              LANEBLOOM_OK);
    lanebloom_filter_close(filter);
    changing_trailer = bytes + 64;
    const lanebloom_status status =
        lanebloom_filter_parse_raw(cases[i].format, bytes, sizeof bytes, &filter);
    changing_trailer = NULL;
    cr_assert(status == cases[i].expected, "trailer %zu: %s", i, lanebloom_status_text(status));
    if (!status)
      lanebloom_filter_close(filter);
  }
}

Test(container, what_is_newer_or_something_else_is_told_so)
{
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 3, 7), *found;
  save(filter, "f");
  cr_assert(lanebloom_filter_load_raw(LANEBLOOM_LEVELDB, "f", &found, NULL, 0) ==
                    LANEBLOOM_ERR_FORMAT &&
                !found,
            "a container is no engine's filter");
  uint8_t bytes[256];
  const size_t size = read_file("f", bytes, sizeof bytes);
  bytes[8] = 3;
  assert_refused(bytes, size, "version 3", "version: expected 1 or 2, found 3");
  assert_refused("#!/bin/sh\n", 10, "a script", "found 23 21 2f 62 69 6e 2f 73");
  assert_refused("\x89LB", 3, "three bytes", "found 89 4c 42");
  assert_refused("", 0, "empty", "found nothing");

  char tiny[8] = "#######";
  cr_assert(lanebloom_filter_load("f", &found, tiny, 4) == LANEBLOOM_ERR_FORMAT);
  cr_assert(strcmp(tiny, "not") == 0 && tiny[4] == '#', "cut to fit: %s", tiny);
  lanebloom_filter_close(filter);
  leave_folder();
}

Test(container, what_cannot_be_read_says_why)
{
  static const struct {
    const char *path;
    int error;
  } paths[] = {
      {"nothing-here", ENOENT}, {"/", EISDIR}, {"/dev/null/x", ENOTDIR}, {"/proc/self/mem", EIO}};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    lanebloom_filter *found = (void *)1;
    char why[100];
    errno = 0;
    cr_assert(lanebloom_filter_load(paths[i].path, &found, why, sizeof why) == LANEBLOOM_ERR_IO &&
              !found);
    cr_assert(errno == paths[i].error && strcmp(why, strerror(paths[i].error)) == 0, "%s: %s",
              paths[i].path, why);
    errno = 0;
    cr_assert(lanebloom_filter_load_raw(LANEBLOOM_LEVELDB, paths[i].path, &found, NULL, 0) ==
                  LANEBLOOM_ERR_IO &&
              !found);
    cr_assert(errno == paths[i].error);
  }
  lanebloom_filter *found;
  cr_assert(lanebloom_filter_map("/", &found, NULL, 0) == LANEBLOOM_ERR_IO && !found);
  cr_assert(lanebloom_filter_map("nothing-here", &found, NULL, 0) == LANEBLOOM_ERR_IO &&
            errno == ENOENT);
  enter_empty_folder();
  cr_assert(mkfifo("fifo", 0666) == 0);
  cr_assert(lanebloom_filter_map("fifo", &found, NULL, 0) == LANEBLOOM_ERR_IO && errno == ENODEV &&
            !found);
  leave_folder();
}

/* Sets both checksums right again, so that the fields behind them are checked. */
static void seal(uint8_t *bytes, size_t size)
{
  const uint32_t header = htole32((uint32_t)XXH3_64bits(bytes, 44));
  memcpy(bytes + 44, &header, sizeof header);
  memset(bytes + 48, 0, 8);
  const uint64_t whole = htole64(XXH3_64bits(bytes, size));
  memcpy(bytes + 48, &whole, sizeof whole);
}

Test(container, fields_that_are_well_sealed_but_unknown)
{
  static const struct {
    size_t at;
    uint8_t value;
    lanebloom_status status;
    const char *why;
  } fields[] = {
      {12, 1, LANEBLOOM_OK, ""},
      {12, 99, LANEBLOOM_ERR_FORMAT, "found number 99"},
      {8, 2, LANEBLOOM_ERR_FORMAT, "not both 0, found encoding 0 and flags 0000"},
      {40, 1, LANEBLOOM_ERR_FORMAT, "expected none in version 1, found encoding 1 and flags 0000"},
      {43, 1, LANEBLOOM_ERR_FORMAT, "expected none in version 1, found encoding 0 and flags 0100"},
      {56, 1, LANEBLOOM_ERR_FORMAT, "reserved bytes: expected 0, found 0000000000000001"},
      {63, 0x80, LANEBLOOM_ERR_FORMAT, "reserved bytes: expected 0"},
      {31, 0xff, LANEBLOOM_ERR_CORRUPT, "bits per key: expected at most"},
      {39, 0x80, LANEBLOOM_ERR_CORRUPT, "truncated: expected a payload of"},
      {32, 0, LANEBLOOM_ERR_CORRUPT, "too long: expected a payload of 0"},
  };
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 3, 7), *found;
  save(filter, "f");
  uint8_t original[256], bytes[256];
  const size_t size = read_file("f", original, sizeof original);
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    memcpy(bytes, original, size);
    bytes[fields[i].at] = fields[i].value;
    seal(bytes, size);
    test_write_file("f", bytes, size);
    char why[200];
    cr_assert(lanebloom_filter_load("f", &found, why, sizeof why) == fields[i].status,
              "field %zu: %s", i, why);
    cr_assert(strstr(why, fields[i].why), "field %zu: %s", i, why);
    lanebloom_filter_close(found);
    cr_assert(lanebloom_filter_map("f", &found, NULL, 0) == fields[i].status, "field %zu", i);
    lanebloom_filter_close(found);
    cr_assert(lanebloom_filter_parse(bytes, size, &found) == fields[i].status, "field %zu", i);
    lanebloom_filter_close(found);
  }
  cr_assert(lanebloom_filter_parse(NULL, 0, &found) == LANEBLOOM_ERR_FORMAT && !found);
  cr_assert(lanebloom_filter_parse(NULL, 1, &found) == LANEBLOOM_ERR_ARGUMENT && !found);
  lanebloom_filter_close(filter);
  leave_folder();
}

/* ---- Key forms ---- */

static lanebloom_filter *build_two_keys(lanebloom_key_form form)
{
  static const lanebloom_slice slices[] = {{"hello", 5}, {"world", 5}};
  const lanebloom_keys keys = lanebloom_keys_slices(slices, 2);
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 10, 0, &builder) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_set_key_form(builder, form) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_add(builder, &keys) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK);
  lanebloom_builder_destroy(builder);
  return filter;
}

/* The bytes of docs/file-format.md, which never change. */
Test(container, frozen_bytes_of_both_versions)
{
  static const struct {
    lanebloom_key_form form;
    const char *hex;
  } files[] = {
      {{LANEBLOOM_BYTES, 0},
       "894c42460d0a1a0a01000000010000000200000000000000"
       "102700000000000009000000000000000000000052130a97"
       "43bfe411c94f66430000000000000000114000414410401006"},
      {{LANEBLOOM_HEX, LANEBLOOM_KEY_TRIMMED | LANEBLOOM_KEY_LOWERED},
       "894c42460d0a1a0a02000000010000000200000000000000"
       "10270000000000000900000000000000010003004e6122b3"
       "bb763402ea24aa7f0000000000000000114000414410401006"},
  };
  enter_empty_folder();
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    uint8_t expected[100], found[100];
    const size_t size = hex_decode(files[i].hex, expected, sizeof expected);
    lanebloom_filter *filter = build_two_keys(files[i].form);
    save(filter, "f");
    cr_assert(read_file("f", found, sizeof found) == size);
    test_same_bytes("container", found, expected, size);
    lanebloom_filter_close(filter);
  }
  leave_folder();
}

Test(container, a_key_form_is_loaded_as_it_was_saved)
{
  enter_empty_folder();
  for (int encoding = LANEBLOOM_BYTES; encoding <= LANEBLOOM_UUID; encoding++)
    for (uint32_t flags = 0; flags < 8; flags++) {
      const lanebloom_key_form form = {(lanebloom_encoding)encoding, flags};
      lanebloom_filter *filter = build_two_keys(form), *raw;
      const lanebloom_key_form found = lanebloom_filter_key_form(filter);
      cr_assert(found.encoding == form.encoding && found.flags == flags);
      assert_round_trip(filter);
      uint8_t version[9];
      cr_assert(read_file("f.lbf", version, sizeof version) == sizeof version &&
                version[8] == (encoding > 0 || flags > 0 ? 2 : 1));
      cr_assert(lanebloom_filter_save_raw(filter, "raw") == LANEBLOOM_OK &&
                lanebloom_filter_load_raw(LANEBLOOM_LEVELDB, "raw", &raw, NULL, 0) == LANEBLOOM_OK);
      const lanebloom_key_form plain = lanebloom_filter_key_form(raw);
      cr_assert(plain.encoding == LANEBLOOM_BYTES && plain.flags == 0, "bare bytes have no form");
      cr_assert(lanebloom_filter_set_key_form(raw, form) == LANEBLOOM_OK);
      assert_round_trip(raw); /* with the key form that was set */
      lanebloom_filter_close(raw);
      lanebloom_filter_close(filter);
    }
  leave_folder();
}

Test(container, an_unknown_key_form_is_refused)
{
  static const uint8_t forms[][4] = {{LANEBLOOM_UUID + 1}, {0, 1}, {0, 0, 8}, {1, 0, 0, 1}};
  enter_empty_folder();
  lanebloom_filter *filter = build_two_keys((lanebloom_key_form){LANEBLOOM_HEX, 0}), *found;
  save(filter, "f");
  uint8_t bytes[256];
  const size_t size = read_file("f", bytes, sizeof bytes);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    memcpy(bytes + 40, forms[i], 4);
    seal(bytes, size);
    assert_refused(bytes, size, "a form",
                   "key form: expected an encoding up to 15 and flags up to");
    cr_assert(lanebloom_filter_parse(bytes, size, &found) == LANEBLOOM_ERR_FORMAT && !found);
  }
  lanebloom_filter_close(filter);
  leave_folder();
}

Test(container, encodings_have_names)
{
  for (int i = LANEBLOOM_BYTES; i <= LANEBLOOM_UUID; i++)
    for (int j = LANEBLOOM_BYTES; j <= LANEBLOOM_UUID + 1; j++)
      cr_assert((strcmp(lanebloom_encoding_name((lanebloom_encoding)i),
                        lanebloom_encoding_name((lanebloom_encoding)j)) == 0) == (i == j));
  cr_assert_str_eq(lanebloom_encoding_name(LANEBLOOM_TIMESTAMP_MS), "timestamp-ms");
  cr_assert_str_eq(lanebloom_encoding_name((lanebloom_encoding)-1), "unknown");
}

/* Every call that reads a file, and the problem it reports: none on success, whatever the buffer
 * held before. */
Test(container, every_reader_says_its_problem)
{
  static const struct {
    const char *path;
    lanebloom_status load, map, load_raw;
    const char *of_load, *of_map, *of_load_raw;
  } files[] = {
      {"f.lbf", LANEBLOOM_OK, LANEBLOOM_OK, LANEBLOOM_ERR_FORMAT, "", "",
       "expected the bare bytes of rocksdb, found a lanebloom container"},
      {"raw", LANEBLOOM_ERR_FORMAT, LANEBLOOM_ERR_FORMAT, LANEBLOOM_OK,
       "not a lanebloom container: expected it to start with 89 4c 42 46 0d 0a 1a 0a, found 00 00 "
       "00 00 00",
       "not a lanebloom container: expected it to start with 89 4c 42 46 0d 0a 1a 0a, found 00 00 "
       "00 00 00",
       ""},
      {"none", LANEBLOOM_ERR_IO, LANEBLOOM_ERR_IO, LANEBLOOM_ERR_IO, "No such file or directory",
       "No such file or directory", "No such file or directory"},
      {".", LANEBLOOM_ERR_IO, LANEBLOOM_ERR_IO, LANEBLOOM_ERR_IO, "Is a directory",
       "No such device", "Is a directory"},
      {"large", LANEBLOOM_ERR_FORMAT, LANEBLOOM_ERR_FORMAT, LANEBLOOM_ERR_LIMIT,
       "not a lanebloom container: expected it to start with 89 4c 42 46 0d 0a 1a 0a, found 00 00 "
       "00 00 00 00 00 00",
       "not a lanebloom container: expected it to start with 89 4c 42 46 0d 0a 1a 0a, found 00 00 "
       "00 00 00 00 00 00",
       "expected at most the 4294967295 bytes that rocksdb can hold, found 4294967296"},
  };
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 3, 7), *found;
  save(filter, "f.lbf");
  test_write_file("raw", "\0\0\0\0\0", 5);
  test_write_file("large", "", 0);
  cr_assert(truncate("large", (off_t)1 << 32) == 0);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char said[200] = "before";
    cr_assert(lanebloom_filter_load(files[i].path, &found, said, sizeof said) == files[i].load);
    cr_assert_str_eq(said, files[i].of_load);
    lanebloom_filter_close(found);
    cr_assert(lanebloom_filter_map(files[i].path, &found, said, sizeof said) == files[i].map);
    cr_assert_str_eq(said, files[i].of_map);
    lanebloom_filter_close(found);
    cr_assert(lanebloom_filter_load_raw(LANEBLOOM_ROCKSDB, files[i].path, &found, said,
                                        sizeof said) == files[i].load_raw);
    cr_assert_str_eq(said, files[i].of_load_raw);
    lanebloom_filter_close(found);
    char cut[4] = "xyz";
    if (files[i].load_raw) {
      cr_assert(lanebloom_filter_load_raw(LANEBLOOM_ROCKSDB, files[i].path, &found, cut, 3) ==
                files[i].load_raw);
      cr_assert(strncmp(cut, files[i].of_load_raw, 2) == 0 && cut[2] == 0 && cut[3] == 0);
    }
  }
  lanebloom_filter_close(filter);
  leave_folder();
}

Test(container, what_may_not_be_read_or_written)
{
  enter_empty_folder();
  lanebloom_filter *filter = build(10, 3, 7);
  save(filter, "secret.lbf");
  cr_assert(chmod("secret.lbf", 0) == 0 && mkdir("closed", 0755) == 0 && mkdir("blind", 0755) == 0);
  cr_assert(chmod("closed", 0555) == 0 && chmod("blind", 0333) == 0 && chmod(".", 0777) == 0);
  pid_t child = fork();
  if (child == 0) { /* as a user whom file modes bind */
    lanebloom_filter *found;
    bool right = geteuid() != 0 || setresuid(65534, 65534, 65534) == 0;
    right = right && lanebloom_filter_load("secret.lbf", &found, NULL, 0) == LANEBLOOM_ERR_IO &&
            errno == EACCES;
    right = right && lanebloom_filter_map("secret.lbf", &found, NULL, 0) == LANEBLOOM_ERR_IO &&
            errno == EACCES;
    right = right && lanebloom_filter_save(filter, "closed/f.lbf") == LANEBLOOM_ERR_IO &&
            errno == EACCES;
    right = right && lanebloom_filter_save(filter, "blind/f.lbf") == LANEBLOOM_OK;
    _exit(!right);
  }
  int status;
  cr_assert(waitpid(child, &status, 0) == child && status == 0);
  cr_assert(chmod("blind", 0755) == 0 && access("blind/f.lbf", F_OK) == 0);
  lanebloom_filter_close(filter);
  leave_folder();
}
