/* Compares every kernel with the scalar one, and the scalar one with the model, output for output.
 * This is the table {kernel x case}. A kernel takes part if it is in the library's list, and a
 * format if it has a row in `rows`.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

/* If writers on other CPUs use other line sizes, each size that readers accept has a row. The first
 * row has the size that this library builds. */
static const struct {
  lanebloom_format id;
  uint32_t line_nbytes;
  bool may_have_rest;
  const struct model *model;
} rows[] = {
    {LANEBLOOM_LEVELDB, 1, false, &model_leveldb},
    {LANEBLOOM_LEVELDB_SIGNED, 1, false, &model_leveldb_signed},
    {LANEBLOOM_ROCKSDB_LEGACY, 64, false, &model_rocksdb_legacy},
    {LANEBLOOM_ROCKSDB_LEGACY, 1, false, &model_rocksdb_legacy},
    {LANEBLOOM_ROCKSDB_LEGACY, 2, false, &model_rocksdb_legacy},
    {LANEBLOOM_ROCKSDB_LEGACY, 4, false, &model_rocksdb_legacy},
    {LANEBLOOM_ROCKSDB_LEGACY, 32, false, &model_rocksdb_legacy},
    {LANEBLOOM_ROCKSDB_LEGACY, 128, false, &model_rocksdb_legacy},
    {LANEBLOOM_ROCKSDB_LEGACY, 256, false, &model_rocksdb_legacy},
    {LANEBLOOM_ROCKSDB_LOCAL, 64, true, &model_rocksdb_local},
    {LANEBLOOM_ROCKSDB_RIBBON, 0, true, &model_rocksdb_ribbon},
    {LANEBLOOM_PARQUET, 32, false, &model_parquet},
    {LANEBLOOM_SPARK_V1, 8, false, &model_spark_v1},
    {LANEBLOOM_SPARK_V2, 8, false, &model_spark_v2},
    {LANEBLOOM_PEBBLE_BINARYFUSE, 0, false, &model_pebble_binaryfuse},
    {LANEBLOOM_DCSO, 8, false, &model_dcso},
    {LANEBLOOM_DCSO_SIGNED, 8, false, &model_dcso_signed},
    {LANEBLOOM_GUAVA_32, 8, false, &model_guava_32},
    {LANEBLOOM_GUAVA_64, 8, false, &model_guava_64},
    {LANEBLOOM_CASSANDRA, 8, false, &model_cassandra},
    {LANEBLOOM_CASSANDRA_3, 8, false, &model_cassandra_3},
    {LANEBLOOM_CASSANDRA_2, 8, false, &model_cassandra_2},
    {LANEBLOOM_HUDI, 0, false, &model_hudi},
};

static struct format format_of_row(size_t row)
{
  const struct format_table *table = lanebloom_format_table(rows[row].id);
  return (struct format){
      .id = table->id,
      .table = table,
      .hash_nbytes = HASH_NBYTES[table->hash],
      .line_nbytes = rows[row].line_nbytes,
      .max_nbytes = table->max_nbytes == UINT64_MAX
                        ? 0
                        : table->max_nbytes - table->header_nbytes - table->trailer_nbytes,
      .is_built = table->plan && (row == 0 || rows[row - 1].id != table->id),
      .may_have_rest = rows[row].may_have_rest,
      .model = rows[row].model,
  };
}

/* ONCE_PER_HASH applies to the first row of each hash; RIBBON, FUSE, DCSO and HUDI apply to the
 * rows of these formats; the other two apply to the rows of formats that are built. */
enum applies { ONCE_PER_HASH, ONCE_PER_FORMAT, EVERY_ROW, RIBBON, FUSE, DCSO, HUDI };

static bool applies_to(enum applies applies, const struct format *format)
{
  switch (applies) {
  case ONCE_PER_HASH:
    return format->hash_nbytes > 0 && lanebloom_format_hash(format->id) == format->id &&
           format->line_nbytes == format->table->line_nbytes;
  case ONCE_PER_FORMAT:
    return format->is_built;
  case EVERY_ROW:
    return format->table->plan;
  case RIBBON:
    return format->id == LANEBLOOM_ROCKSDB_RIBBON;
  case FUSE:
    return format->id == LANEBLOOM_PEBBLE_BINARYFUSE;
  case DCSO:
    return format->id == LANEBLOOM_DCSO;
  case HUDI:
    return format->id == LANEBLOOM_HUDI;
  }
  return false;
}

/* The kinds of functions that a case tests. */
enum about { HASHING = 1, PROBING = 2, ADDING = 4, ALL = HASHING | PROBING | ADDING };

/* The simplest cases come first. */
static const struct {
  const char *name;
  void (*run)(const struct trial *trial);
  enum applies applies;
  enum about about;
} cases[] = {
    {"hash, one width", hash_one_width, ONCE_PER_HASH, HASHING},
    {"hash, mixed lengths", hash_mixed_lengths, ONCE_PER_HASH, HASHING},
    {"hash, long keys", hash_long_keys, ONCE_PER_HASH, HASHING},
    {"hash, at page edges", hash_at_page_edges, ONCE_PER_HASH, HASHING},
    {"hash, every kind of byte", hash_every_kind_of_byte, ONCE_PER_HASH, HASHING},
    {"hash, strided", hash_strided, ONCE_PER_HASH, HASHING},
    {"hash, far offsets", hash_far_offsets, ONCE_PER_HASH, HASHING},
    {"filter, batch sizes", filter_batch_sizes, EVERY_ROW, PROBING | ADDING},
    {"filter, shapes", filter_shapes, EVERY_ROW, PROBING | ADDING},
    {"filter, rests of lines", filter_rests_of_lines, EVERY_ROW, PROBING | ADDING},
    {"filter, every kind of hash", filter_every_kind_of_hash, EVERY_ROW, PROBING | ADDING},
    {"filter, hashes at multiples", filter_hashes_at_multiples, EVERY_ROW, PROBING | ADDING},
    {"filter, each probe decides", filter_each_probe_decides, EVERY_ROW, PROBING | ADDING},
    {"filter, beyond caches", filter_beyond_caches, ONCE_PER_FORMAT, PROBING | ADDING},
    {"filter, around 2^32 bits", filter_around_2_to_32_bits, EVERY_ROW, PROBING | ADDING},
    {"filter, around 2^32 bytes", filter_around_2_to_32_bytes, EVERY_ROW, PROBING | ADDING},
    {"large, hit rates", large_hit_rates, EVERY_ROW, PROBING},
    {"large, batch sizes", large_batch_sizes, EVERY_ROW, PROBING},
    {"large, adding", large_adding, EVERY_ROW, ADDING},
    {"ribbon, solutions", ribbon_solutions, RIBBON, PROBING},
    {"ribbon, every kind of hash", ribbon_every_kind_of_hash, RIBBON, PROBING},
    {"ribbon, large", ribbon_large, RIBBON, PROBING},
    {"ribbon, calls", ribbon_calls, RIBBON, ALL},
    {"fuse, answers", fuse_answers, FUSE, PROBING},
    {"fuse, every kind of hash", fuse_every_kind_of_hash, FUSE, PROBING},
    {"fuse, large", fuse_large, FUSE, PROBING},
    {"fuse, calls", fuse_calls, FUSE, ALL},
    {"dcso, any number of bits", dcso_any_number_of_bits, DCSO, PROBING | ADDING},
    {"dcso, steps that reach the prime", dcso_steps_reach_the_prime, DCSO, PROBING | ADDING},
    {"dcso, beyond 2^32 bytes", dcso_beyond_2_to_32_bytes, DCSO, PROBING | ADDING},
    {"hudi, answers", hudi_answers, HUDI, PROBING},
    {"hudi, mixed lengths", hudi_mixed_lengths, HUDI, PROBING},
    {"hudi, every kind of hash", hudi_every_kind_of_hash, HUDI, PROBING},
    {"hudi, large", hudi_large, HUDI, PROBING},
    {"hudi, calls", hudi_calls, HUDI, PROBING},
    {"sources of keys", sources_of_keys, ONCE_PER_FORMAT, ALL},
    {"calls, around a block", calls_around_a_block, ONCE_PER_FORMAT, ALL},
    {"calls, around a part", calls_around_a_part, ONCE_PER_FORMAT, ALL},
    {"sorted hashes", sorted_hashes, ONCE_PER_FORMAT, PROBING},
    {"batches of hashes", batches_of_hashes, ONCE_PER_FORMAT, PROBING},
};

/* Does this table use scalar's own functions for the case? If so, they are tested as scalar's. */
static bool inherits(const struct kernel_table *table, size_t the_case, const struct format *format)
{
  const enum about about = cases[the_case].about;
  const struct operations ops = operations_of(table, format->table),
                          scalar = operations_of(&lanebloom_kernels_scalar, format->table);
  return table != &lanebloom_kernels_scalar && (!(about & HASHING) || ops.hash == scalar.hash) &&
         (!(about & PROBING) || (ops.probe == scalar.probe && ops.may_match == scalar.may_match)) &&
         (!(about & ADDING) ||
          (ops.add == scalar.add && ops.scratch_nbytes == scalar.scratch_nbytes));
}

static bool takes_part(const struct kernel_table *table, size_t the_case, size_t row)
{
  const struct format format = format_of_row(row);
  return applies_to(cases[the_case].applies, &format) && !inherits(table, the_case, &format);
}

static size_t count_rows(const struct kernel_table *table, size_t the_case)
{
  size_t n = 0;
  for (size_t row = 0; row < COUNT(rows); row++)
    n += takes_part(table, the_case, row);
  return n;
}

struct cell {
  size_t kernel, the_case;
};

enum { MAX_KERNELS = 32 };

/* asked_for: a kernel's name; "native" for all but emulated kernels, which are named "name(simde)";
 * or NULL for all. */
static bool is_asked_for(const char *kernel, const char *asked_for)
{
  return !asked_for || strcmp(kernel, asked_for) == 0 ||
         (strcmp(asked_for, "native") == 0 && !strchr(kernel, '('));
}

/* Lists the cells of the requested kernels to which at least one format applies. Returns
 * how many. */
static size_t list_cells(const char *kernel_asked_for, struct cell *cells)
{
  size_t n = 0;
  for (size_t kernel = 0; kernel < lanebloom_kernel_count() && kernel < MAX_KERNELS; kernel++) {
    const char *name = lanebloom_kernel_at(kernel);
    if (!is_asked_for(name, kernel_asked_for) || lanebloom_kernel_use(name) != LANEBLOOM_OK)
      continue;
    for (size_t c = 0; c < COUNT(cases); c++)
      if (count_rows(lanebloom_kernels_current(), c) > 0)
        cells[n++] = (struct cell){kernel, c};
  }
  return n;
}

static const char *kernel_asked_for(void)
{
  const char *name = getenv("LANEBLOOM_TEST_KERNEL");
  return name && *name ? name : NULL;
}

/* $LANEBLOOM_TEST_PART is N/M and selects every Mth cell from the Nth on, so that M parts can run
 * in parallel. */
static size_t keep_part(struct cell *cells, size_t n)
{
  const char *asked_for = getenv("LANEBLOOM_TEST_PART");
  size_t part = 1, nparts = 1, nkept = 0;
  if (asked_for && (sscanf(asked_for, "%zu/%zu", &part, &nparts) != 2 || !part || !nparts))
    return 0;
  for (size_t i = part - 1; i < n; i += nparts)
    cells[nkept++] = cells[i];
  return nkept;
}

ParameterizedTestParameters(kernels, agree)
{
  static struct cell cells[MAX_KERNELS * COUNT(cases)];
  size_t n = keep_part(cells, list_cells(kernel_asked_for(), cells));
  if (n == 0)
    cells[n++] = (struct cell){SIZE_MAX, 0}; /* this cell fails; an empty list would pass */
  return cr_make_param_array(struct cell, cells, n);
}

ParameterizedTest(struct cell *cell, kernels, agree)
{
  const char *kernel = lanebloom_kernel_at(cell->kernel);
  cr_assert(kernel, "LANEBLOOM_TEST_KERNEL=%s is no kernel of this build and CPU; the best is %s",
            kernel_asked_for(), lanebloom_kernel_at(0));
  cr_assert(lanebloom_kernel_use(kernel) == LANEBLOOM_OK, "kernel %s cannot be used", kernel);
  const struct kernel_table *table = lanebloom_kernels_current();
  cr_assert(strcmp(table->name, kernel) == 0, "kernel %s is used instead of %s", table->name,
            kernel);
  struct rng rng = rng_start(cell->the_case);

  for (size_t row = 0; row < COUNT(rows); row++) {
    if (!takes_part(table, cell->the_case, row))
      continue;
    const struct format format = format_of_row(row);
    char name[128];
    snprintf(name, sizeof name, "%s, %s, %s", kernel, format.table->name,
             cases[cell->the_case].name);
    test_context("%s", name);
    const struct operations ops = operations_of(table, format.table),
                            scalar = operations_of(&lanebloom_kernels_scalar, format.table);
    cases[cell->the_case].run(&(struct trial){
        .name = name,
        .format = &format,
        .ops = &ops,
        .reference = table == &lanebloom_kernels_scalar ? &format.model->ops : &scalar,
        .rng = &rng,
    });
  }
}

Test(kernels, one_kernel_can_be_asked_for)
{
  static struct cell cells[MAX_KERNELS * COUNT(cases)];
  cr_assert(list_cells("nonsense", cells) == 0);
  size_t n = 0;
  for (size_t kernel = 0; kernel < lanebloom_kernel_count(); kernel++)
    n += list_cells(lanebloom_kernel_at(kernel), cells);
  cr_assert(list_cells(NULL, cells) == n);
  cr_assert(list_cells("scalar", cells) == COUNT(cases));
  for (size_t c = 0; c < COUNT(cases); c++) {
    cr_assert(strcmp(lanebloom_kernel_at(cells[c].kernel), "scalar") == 0);
    cr_assert(cells[c].the_case == c);
  }
}

static void crash_with(int signal_number)
{
  if (signal_number == SIGABRT)
    abort();
  raise(signal_number);
  raise(signal_number); /* as if the instruction were repeated after the handler */
}

/* A process that crashes prints to standard error which kernel and case it ran. */
Test(kernels, a_crash_says_kernel_and_case)
{
  static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  static const char where[] = "a kernel, a case: 7 keys";
  for (size_t s = 0; s < COUNT(signals); s++) {
    FILE *said = tmpfile();
    cr_assert(said);
    const pid_t child = fork();
    if (child < 0 && errno == ENOSYS)
      cr_skip_test("this system has no fork()");
    if (child == 0) {
      dup2(fileno(said), STDERR_FILENO);
      test_context("%s", where);
      crash_with(signals[s]);
      _exit(0);
    }
    int status = 0;
    cr_assert(child > 0 && waitpid(child, &status, 0) == child && status != 0,
              "signal %d: status %d", signals[s], status);
    char line[128] = "";
    rewind(said);
    cr_assert(fgets(line, sizeof line, said) && strstr(line, where), "signal %d: %s", signals[s],
              line);
    fclose(said);
  }
}

/* If emulated kernels were missing from the list, only this test would show it. */
Test(kernels, kernels_of_another_cpu_take_part)
{
  const char *const emulated = LANEBLOOM_TEST_EMULATED;
  if (*emulated)
    cr_assert(lanebloom_kernel_use(emulated) == LANEBLOOM_OK, "%s is not in the list", emulated);
}

/* A table that has only scalar functions has no case. A table that changes two of them has exactly
 * the cases of these two. */
Test(kernels, inherited_functions_alone_are_left_out)
{
  struct kernel_table table = lanebloom_kernels_scalar;
  for (size_t c = 0; c < COUNT(cases); c++)
    cr_assert(count_rows(&table, c) == 0, "%s", cases[c].name);
  table.hash[HASH_XXPH3] = table.hash[HASH_XXH64];
  table.layout[LAYOUT_LEVELDB].add = table.layout[LAYOUT_PARQUET].add;
  for (size_t c = 0; c < COUNT(cases); c++) {
    const bool runs_hash = cases[c].about & HASHING, runs_add = cases[c].about & ADDING;
    for (size_t row = 0; row < COUNT(rows); row++) {
      const struct format format = format_of_row(row);
      const bool changed = (runs_hash && format.table->hash == HASH_XXPH3) ||
                           (runs_add && format.table->layout == LAYOUT_LEVELDB);
      cr_assert(takes_part(&table, c, row) == (changed && applies_to(cases[c].applies, &format)),
                "%s, %s", cases[c].name, format.table->name);
    }
  }
}

/* Without a row, a format or kernel would not be tested at all. */
Test(kernels, every_kernel_and_format_has_a_row)
{
  cr_assert(lanebloom_kernel_count() <= MAX_KERNELS, "MAX_KERNELS is too small");
  for (size_t i = 0; i < lanebloom_format_count(); i++) {
    const struct format_table *table = lanebloom_format_listed(i);
    size_t nrows = 0;
    for (size_t row = 0; row < COUNT(rows); row++)
      nrows += rows[row].id == table->id && (format_of_row(row).is_built || !table->plan) &&
               rows[row].line_nbytes == table->line_nbytes;
    cr_assert(nrows == !table->recognise, "format %s has %zu rows", table->name, nrows);
  }
}
