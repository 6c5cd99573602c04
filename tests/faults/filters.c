/* The first library while memory or the file system fails.
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <lanebloom_arrow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults.h"

/* ---- Memory ---- */

static uint64_t expected_keys; /* 0: hashes are stored */

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

static lanebloom_status add_in_parts(lanebloom_builder *builder, size_t first, size_t n)
{
  lanebloom_status status = LANEBLOOM_OK;
  for (size_t done = 0, nparts = 3; !status && done < n; nparts--) {
    const size_t nkeys = nparts > 1 ? (n - done) / 50 : n - done; /* the last is large */
    const lanebloom_keys keys = keys_from(first + done, nkeys);
    INSIST(status, lanebloom_builder_add(builder, &keys));
    done += nkeys;
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

/* Adds in parts to two builders and merges them; then reuses one of them. */
static lanebloom_status stream(void)
{
  const size_t n = expected_keys > NKEYS ? NKEYS : NFEW;
  lanebloom_builder *into, *from = NULL;
  lanebloom_status status;
  INSIST_ON(into, status, lanebloom_builder_create(format, 10, expected_keys, &into));
  if (!status)
    INSIST_ON(from, status, lanebloom_builder_create(format, 10, expected_keys, &from));
  if (!status)
    status = add_in_parts(into, 0, n / 2);
  if (!status)
    status = add_in_parts(from, n / 2, n - n / 2);
  if (!status)
    INSIST(status, lanebloom_builder_merge(into, from));
  if (!status)
    status = finish(into, n);
  if (!status)
    status = add_in_parts(into, 0, n);
  if (!status)
    status = finish(into, n);
  lanebloom_builder_destroy(into);
  lanebloom_builder_destroy(from);
  return status;
}

/* Merges the parts of one builder. */
static lanebloom_status parts(void)
{
  lanebloom_builder *whole, *into = NULL, *from = NULL;
  lanebloom_status status;
  INSIST_ON(whole, status, lanebloom_builder_create(format, 10, 0, &whole));
  if (!status)
    status = add_in_parts(whole, 0, NFEW);
  if (!status)
    INSIST_ON(into, status, lanebloom_builder_part(whole, 0, 2, &into));
  if (!status)
    INSIST_ON(from, status, lanebloom_builder_part(whole, 1, 2, &from));
  if (!status)
    INSIST(status, lanebloom_builder_merge(into, from));
  if (!status)
    status = finish(into, NFEW);
  lanebloom_builder_destroy(whole);
  lanebloom_builder_destroy(into);
  lanebloom_builder_destroy(from);
  return status;
}

Test(faults, memory)
{
  static const struct scenario scenarios[] = {
      {.name = "open", .run = open_filter},    {.name = "build", .run = build_filter},
      {.name = "merge", .run = merge_filters}, {.name = "stream", .run = stream},
      {.name = "parts", .run = parts},
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

/* Large filters are mapped, and LevelDB's use more memory for a while if they can get it. */
Test(faults, memory_of_large_filters)
{
  expected_keys = 11000000;
  make_filters(LANEBLOOM_LEVELDB, NKEYS, expected_keys);
  survive(&(struct scenario){
      .name = "large, stream", .run = stream, .tolerates = 1 << ALLOCATE | 1 << MAP});
  survive(&(struct scenario){.name = "large, merge", .run = merge_filters});
  cr_assert(ntolerated > 0 || lanebloom_kernel_count() == 1,
            "buckets were never tried"); /* the scalar kernel has none */
  free_filters();
  report(10);
}

/* ---- Arrays ---- */

static void keep_schema(struct ArrowSchema *schema)
{
  (void)schema;
}

static void keep_array(struct ArrowArray *array)
{
  (void)array;
}

static struct {
  const void *buffers[2], *index_buffers[2];
  struct ArrowSchema schema, by;
  struct ArrowArray keys, rows; /* rows: the keys by their indices, each twice, out of order */
  uint16_t indices[2 * NFEW];
  uint8_t valid[(NFEW + 7) / 8];
} arrow;

static void make_arrays(void)
{
  for (size_t i = 0; i < COUNT(arrow.indices); i++)
    arrow.indices[i] = (uint16_t)(i * 7 % NFEW);
  memset(arrow.valid, 0xff, sizeof arrow.valid);
  arrow.buffers[0] = arrow.valid;
  arrow.buffers[1] = key_bytes.bytes;
  arrow.index_buffers[1] = arrow.indices;
  arrow.schema = (struct ArrowSchema){.format = "w:8", .name = "keys", .release = keep_schema};
  arrow.by = (struct ArrowSchema){
      .format = "S", .name = "rows", .dictionary = &arrow.schema, .release = keep_schema};
  arrow.keys = (struct ArrowArray){.length = NFEW,
                                   .null_count = -1,
                                   .n_buffers = 2,
                                   .buffers = arrow.buffers,
                                   .release = keep_array};
  arrow.rows = (struct ArrowArray){.length = COUNT(arrow.indices),
                                   .n_buffers = 2,
                                   .buffers = arrow.index_buffers,
                                   .dictionary = &arrow.keys,
                                   .release = keep_array};
}

static lanebloom_status make_booleans(struct ArrowSchema *schema, struct ArrowArray *booleans)
{
  const lanebloom_status status =
      lanebloom_filter_booleans_arrow(expected, &arrow.by, &arrow.rows, schema, booleans, NULL, 0);
  if (status && (schema->release || booleans->release))
    test_fatal("an error, and booleans that are not released");
  return status;
}

static lanebloom_status screen_arrays(void)
{
  static uint8_t bitmap[COUNT(arrow.indices) / 8], unwritten[sizeof bitmap];
  struct ArrowSchema schema;
  struct ArrowArray booleans;
  size_t count = 1;
  lanebloom_status status;
  char problem[100] = "";
  memset(bitmap, 0, sizeof bitmap);
  INSIST(status, lanebloom_filter_screen_arrow(expected, &arrow.by, &arrow.rows, bitmap, &count,
                                               problem, sizeof problem));
  if (status && (count != 1 || memcmp(bitmap, unwritten, sizeof bitmap) != 0 ||
                 strncmp(problem, "out of memory: ", 15) != 0))
    test_fatal("an error, and an answer");
  if (!status && count != COUNT(arrow.indices))
    test_fatal("a key is lost");
  if (!status)
    INSIST(status, make_booleans(&schema, &booleans));
  if (!status) {
    test_same_bytes("booleans", booleans.buffers[1], bitmap, sizeof bitmap);
    booleans.release(&booleans);
    schema.release(&schema);
  }
  return status;
}

/* Each value of a dictionary is added once. */
static lanebloom_status add_arrays(void)
{
  lanebloom_status status = LANEBLOOM_OK;
  for (size_t i = 0; !status && i < 2; i++) {
    lanebloom_builder *builder;
    INSIST_ON(builder, status, lanebloom_builder_create(format, 10, expected_keys, &builder));
    if (!status)
      INSIST(status, lanebloom_builder_add_arrow(builder, i ? &arrow.by : &arrow.schema,
                                                 i ? &arrow.rows : &arrow.keys, NULL, 0));
    if (!status)
      status = finish(builder, NFEW);
    lanebloom_builder_destroy(builder);
  }
  return status;
}

Test(faults, memory_of_arrays)
{
  lanebloom_format formats[MAX_FORMATS];
  const size_t nformats = test_formats_that_build(formats);
  for (size_t i = 0; i < nformats; i++) {
    make_filters(formats[i], NFEW, NFEW);
    make_arrays();
    survive(&(struct scenario){.name = "arrays, screened", .run = screen_arrays});
    for (expected_keys = 0; expected_keys <= NFEW; expected_keys += NFEW)
      survive(&(struct scenario){.name = "arrays, added", .run = add_arrays});
    free_filters();
  }
  report(50);
}

/* ---- Calls that need no memory ---- */

/* Makes these calls while every allocation would fail. */
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
  size_t nfound = NFEW, count = 0;
  make_arrays();
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
    if (!status)
      status = lanebloom_hash_arrow(format, &arrow.schema, &arrow.keys, hashes, NULL, 0);
    if (!status)
      status = lanebloom_arrow_slices(&arrow.schema, &arrow.keys, slices, NULL, NULL, 0);
    if (!status)
      status = lanebloom_filter_screen_arrow(expected, &arrow.schema, &arrow.keys, bitmap, &count,
                                             NULL, 0);
    if (status)
      return status;
    if (count != NFEW)
      nfound = 0;
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

/* ---- Files ---- */

static struct guarded container; /* the bytes that `expected` is saved as */

static void make_container(void)
{
  must(lanebloom_filter_save(expected, "filter"));
  size_t nbytes;
  uint8_t *bytes = test_read_file("filter", &nbytes);
  container = guarded_copy(bytes, nbytes, AT_END);
  guarded_freeze(&container);
  free(bytes);
}

static void is_file(const char *path, const void *bytes, size_t nbytes)
{
  size_t found_nbytes;
  uint8_t *found = test_read_file(path, &found_nbytes);
  if (found_nbytes != nbytes)
    test_fatal("%s: %zu bytes, expected %zu", path, found_nbytes, nbytes);
  test_same_bytes(path, found, bytes, nbytes);
  free(found);
}

static void write_old_files(void)
{
  empty_folder();
  test_write_file("old", "old", 3);
  cr_assert(chmod("old", 0664) == 0);
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

/* Each file is absent, old or whole, and no other file is left. If its ACL could not be read, only
 * the owner has access. */
static void check_saved(lanebloom_status status)
{
  struct stat found;
  const bool has_new = stat("new", &found) == 0, has_raw = stat("raw", &found) == 0;
  cr_assert(stat("old", &found) == 0);
  const bool is_old = found.st_size == 3;
  is_file("old", is_old ? (const void *)"old" : container.bytes, is_old ? 3 : container.nbytes);
  const bool is_protected = !is_old && fault.struck && fault.function == ACL;
  if ((found.st_mode & 0777) != (is_protected ? 0600 : 0664))
    test_fatal("mode %o", found.st_mode & 0777);
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
  test_write_file("filter", container.bytes, container.nbytes);
  test_write_file("raw", engine_bytes.bytes, engine_bytes.nbytes);
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

/* The size of a pipe is unknown, and what was read cannot be read again. */
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
  /* A failing stat is noticed by the calls after it, and a file can be closed only once. */
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
                                 .tolerates =
                                     OF_LINKS | OF_CLOSING | 1 << ACL | (named ? 0 : 1 << OPEN)});
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
