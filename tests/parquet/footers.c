/* Footers that are refused, paths of columns, and bytes that are no Parquet file.
 * SPDX-License-Identifier: MIT */
#include "writer.h"

static void refused(const void *bytes, size_t nbytes, lanebloom_status expected, const char *text)
{
  lanebloom_parquet *file = (void *)&nbytes;
  char problem[PROBLEM_NBYTES] = "";
  const lanebloom_status status = lanebloom_parquet_parse(
      bytes, nbytes, LANEBLOOM_PARQUET_BOUNDS_ALL, &file, problem, sizeof problem);
  cr_assert(status == expected && !file, "%d: %s", status, problem);
  cr_assert(strstr(problem, text), "%s", problem);
}

Test(parquet, no_parquet_files)
{
  lanebloom_parquet *file;
  char problem[PROBLEM_NBYTES];
  refused(NULL, 0, LANEBLOOM_ERR_FORMAT, "expected at least 12 bytes, found 0");
  refused("PAR1PAR1", 8, LANEBLOOM_ERR_FORMAT, "expected at least 12 bytes, found 8");
  refused("PAR1\0\0\0\0text", 12, LANEBLOOM_ERR_FORMAT,
          "expected \"PAR1\" in the last 4 bytes, found 74 65 78 74");
  refused("PAR1\0\0\0\0PARE", 12, LANEBLOOM_ERR_LIMIT, "found an encrypted one");
  refused("PAR1\1\0\0\0PAR1", 12, LANEBLOOM_ERR_CORRUPT,
          "expected a footer within the file's 12 bytes, found one of 1");
  refused("PAR1\0\0\0\0PAR1", 12, LANEBLOOM_ERR_CORRUPT, "damaged footer");
  refused("PAR1\0\1\0\0\0PAR1", 13, LANEBLOOM_ERR_CORRUPT, "expected a schema and row groups");
  cr_assert(lanebloom_parquet_open("/no/such/file", LANEBLOOM_PARQUET_BOUNDS_ALL, &file, problem,
                                   sizeof problem) == LANEBLOOM_ERR_IO);
  cr_assert_str_eq(problem, "No such file or directory");
  cr_assert(lanebloom_parquet_open("/dev/null", LANEBLOOM_PARQUET_BOUNDS_ALL, &file, problem,
                                   sizeof problem) == LANEBLOOM_ERR_FORMAT);
  cr_assert_str_eq(problem, "expected a regular file, found something else");
  lanebloom_parquet_free(NULL);
  lanebloom_parquet_keys_free(NULL);
}

static void refused_footer(const struct file_plan *plan, const char *text)
{
  size_t nbytes;
  uint8_t *bytes = make_file(plan, &nbytes);
  refused(bytes, nbytes, LANEBLOOM_ERR_CORRUPT, text);
  free(bytes);
}

Test(parquet, contradictions)
{
  struct file_plan plan = plain_plan();
  plan.nchunks = 0;
  refused_footer(&plan, "expected one chunk of each column");
  plan.nchunks = 2;
  refused_footer(&plan, "expected one chunk of each column");
  plan.nchunks = 1;
  plan.chunk_path = "columns";
  refused_footer(&plan, "expected a chunk of the column that the schema has here");
  plan.chunk_path = "colum";
  refused_footer(&plan, "expected a chunk of the column that the schema has here");
  plan.chunk_path = NULL;
  plan.chunk_physical = 2;
  refused_footer(&plan, "expected a chunk of the type that the schema has here");
  plan.chunk_physical = -1;
  plan.nvalues = -1;
  refused_footer(&plan, "expected a number that is not negative");
  plan.nvalues = 10;
  plan.physical = 8;
  refused_footer(&plan, "expected a physical type from 0 to 7");
  plan.physical = 7;
  refused_footer(&plan, "expected the length of fixed-length values");
  plan.length = -5;
  refused_footer(&plan, "expected the length of fixed-length values");
}

/* ---- Schemas ---- */

static void write_group(struct writer *writer, const char *name, int32_t nmembers)
{
  begin_struct(writer, 0);
  write_binary(writer, 4, name, strlen(name));
  write_i32(writer, 5, nmembers);
  end_struct(writer);
}

static void write_column(struct writer *writer, const char *name)
{
  begin_struct(writer, 0);
  write_i32(writer, 1, 2);
  write_binary(writer, 4, name, strlen(name));
  end_struct(writer);
}

/* Ends a file whose schema is complete and that has no row groups. */
static void end_file(struct writer *writer)
{
  write_list(writer, 4, STRUCT, 0);
  write_bytes(writer, "", 1);
  uint8_t tail[] = "....PAR1";
  store_le((__int128)writer->n, 4, tail);
  write_bytes(writer, tail, 8);
  /* Makes room for the first magic number. No offset refers to the bytes that move. */
  write_bytes(writer, tail, 4);
  memmove(writer->bytes + 4, writer->bytes, writer->n - 4);
  memcpy(writer->bytes, "PAR1", 4);
}

static void start_schema(struct writer *writer, size_t nelements, int32_t nmembers)
{
  write_list(writer, 2, STRUCT, nelements);
  write_group(writer, "root", nmembers);
}

static lanebloom_status find(const lanebloom_parquet *file, const char *path, const char *expected)
{
  size_t column = SIZE_MAX;
  char problem[PROBLEM_NBYTES] = "?";
  const lanebloom_status status =
      lanebloom_parquet_find(file, path, &column, problem, sizeof problem);
  if (status) {
    /* The message also lists the columns. */
    cr_assert(strncmp(problem, expected, strlen(expected)) == 0, "%s", problem);
    cr_assert(strstr(problem, "; the file has id, user.id, user.name, "), "%s", problem);
    return status;
  }
  lanebloom_parquet_column_info info;
  lanebloom_parquet_describe_column(file, column, &info, sizeof info);
  cr_assert_str_eq(info.path, expected);
  return status;
}

Test(parquet, paths)
{
  struct writer writer = {0};
  start_schema(&writer, 13, 7);
  write_column(&writer, "id");
  write_group(&writer, "user", 2);
  write_column(&writer, "id");
  write_column(&writer, "name");
  write_group(&writer, "tags", 1);
  write_group(&writer, "list", 1);
  write_column(&writer, "element");
  write_group(&writer, "nothing", 0);
  write_column(&writer, "twice");
  write_column(&writer, "twice");
  write_group(&writer, "", 1);
  write_column(&writer, "below");
  end_file(&writer);
  lanebloom_parquet *file;
  lanebloom_parquet_info info;
  char problem[PROBLEM_NBYTES];
  if (lanebloom_parquet_parse(writer.bytes, writer.n, LANEBLOOM_PARQUET_BOUNDS_ALL, &file, problem,
                              sizeof problem))
    test_fatal("%s", problem);
  lanebloom_parquet_describe(file, &info, sizeof info);
  cr_assert(info.ncolumns == 7 && info.nrow_groups == 0 && info.nrows == 0);
  cr_assert(info.file_nbytes == writer.n && info.footer_nbytes == writer.n - 12);
  cr_assert_str_eq(info.created_by, "");
  cr_assert(!find(file, "id", "id"));
  cr_assert(!find(file, "user.id", "user.id"));
  cr_assert(!find(file, "tags", "tags.list.element"));
  cr_assert(!find(file, "tags.list", "tags.list.element"));
  cr_assert(!find(file, ".below", ".below"));
  cr_assert(find(file, "user", "expected one column \"user\", found a group with several"));
  cr_assert(find(file, "nothing", "expected one column \"nothing\", found none"));
  cr_assert(find(file, "twice", "expected one column \"twice\", found several"));
  cr_assert(find(file, "use", "expected one column \"use\", found none"));
  cr_assert(find(file, "user.id.x", "expected one column \"user.id.x\", found none"));
  lanebloom_parquet_free(file);
  free(writer.bytes);
}

/* The list of the schema states nelements, and the root states nmembers. There are ncolumns. */
static void refused_schema(size_t nelements, int32_t nmembers, size_t ncolumns, const char *text)
{
  struct writer writer = {0};
  start_schema(&writer, nelements, nmembers);
  for (size_t i = 0; i < ncolumns; i++)
    write_column(&writer, "name");
  end_file(&writer);
  refused(writer.bytes, writer.n, LANEBLOOM_ERR_CORRUPT, text);
  free(writer.bytes);
}

Test(parquet, schemas_that_are_refused)
{
  refused_schema(2, 2, 1, "expected as many elements as the schema's groups have");
  refused_schema(3, 1, 2, "expected no more elements than the schema's groups have");
  refused_schema(4, -1, 3, "expected a column, or a group with members");
  refused_schema(100, 1, 3, "expected as many elements as the list states");

  struct writer deep = {0};
  start_schema(&deep, 101, 1);
  for (int i = 0; i < 100; i++)
    write_group(&deep, "group", 1);
  end_file(&deep);
  refused(deep.bytes, deep.n, LANEBLOOM_ERR_LIMIT, "groups nested at most 100 deep");
  free(deep.bytes);

  /* The paths of all columns would take a thousand times the footer's size. */
  static char name[20001];
  memset(name, 'n', sizeof name - 1);
  struct writer wide = {0};
  start_schema(&wide, 2002, 1);
  write_group(&wide, name, 2000);
  for (int i = 0; i < 2000; i++)
    write_column(&wide, "c");
  end_file(&wide);
  refused(wide.bytes, wide.n, LANEBLOOM_ERR_LIMIT, "column paths: expected at most");
  free(wide.bytes);
}

/* ---- Structs of callers with fewer fields, or more ---- */

Test(parquet, sizes_of_structs)
{
  struct file_plan plan = plain_plan();
  uint8_t *bytes;
  lanebloom_parquet *file = open_planned(&plan, &bytes);
  struct {
    lanebloom_parquet_info info;
    uint8_t more[8];
  } later;
  memset(&later, 0xff, sizeof later);
  lanebloom_parquet_describe(file, &later.info, sizeof later);
  cr_assert_str_eq(later.info.created_by, "by hand");
  for (size_t i = 0; i < sizeof later.more; i++)
    cr_assert(later.more[i] == 0);
  memset(&later, 0xff, sizeof later);
  lanebloom_parquet_describe(file, &later.info, sizeof later.info.file_nbytes);
  cr_assert(later.info.file_nbytes > 0 && later.info.footer_nbytes == UINT64_MAX);
  lanebloom_parquet_free(file);
  free(bytes);
}
