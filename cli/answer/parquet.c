/* Screens keys against the filters and the bounds of Parquet files.
 * SPDX-License-Identifier: MIT */
#include "parquet.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "../base/bits.h"
#include "../base/json_object.h"
#include "../base/memory.h"
#include "../base/report.h"
#include "../files/recognize.h"
#include "../input/key_form.h"
#include "../system/threads.h"

/* ---- The type of the column ---- */

/* Opens a file and finds the column in it. On failure returns false and stores a message in
 * `problem'. */
static bool open_file(const struct parquet_query *query, const char *path, lanebloom_parquet **file,
                      size_t *column, char problem[PARQUET_PROBLEM_NBYTES])
{
  lanebloom_status status =
      lanebloom_parquet_open(path, query->bounds, file, problem, PARQUET_PROBLEM_NBYTES);
  if (!status)
    status = lanebloom_parquet_find(*file, query->column, column, problem, PARQUET_PROBLEM_NBYTES);
  if (!status)
    return true;
  lanebloom_parquet_free(*file);
  *file = NULL;
  return false;
}

/* Returns the message about a file. If the file is no Parquet file, the message says what it is. */
static const char *explain(const char *path, char problem[PARQUET_PROBLEM_NBYTES])
{
  if (!is_parquet(path))
    explain_other_kind(path, "a Parquet file", problem, PARQUET_PROBLEM_NBYTES);
  return problem;
}

/* Finds the type of the column. The first file that can be opened determines the type. The other
 * files are opened later, and their errors are reported then. */
static struct parquet_model find_model(const lanebloom_parquet_paths *paths,
                                       const struct parquet_query *query)
{
  char first_problem[PARQUET_PROBLEM_NBYTES], problem[PARQUET_PROBLEM_NBYTES];
  struct parquet_model model = {0};
  for (size_t i = 0; i < paths->n && !model.file; i++) {
    model.path = paths->all[i];
    open_file(query, model.path, &model.file, &model.column, i == 0 ? first_problem : problem);
  }
  if (!model.file)
    die(paths->all[0], "%s", explain(paths->all[0], first_problem));
  lanebloom_parquet_describe_column(model.file, model.column, &model.type, sizeof model.type);
  if (!model.type.has_keys)
    die(model.path,
        "expected a column whose values can be keys, found column %s of type %s, which cannot be "
        "queried",
        model.type.path, model.type.type);
  return model;
}

/* Sets the form of keys, so that their text becomes values of the column's type. If --decode or
 * several fields conflict with this type, prints a message and exits. */
static void take_type(struct record_syntax *syntax, const struct parquet_model *model)
{
  const lanebloom_parquet_column_info *type = &model->type;
  const lanebloom_encoding asked = syntax->form.encoding;
  const bool is_bytes_of_text =
      type->encoding == LANEBLOOM_BYTES && (asked == LANEBLOOM_HEX || asked == LANEBLOOM_BASE64);
  if (syntax->form.flags & LANEBLOOM_KEY_DIGEST && type->encoding)
    die(model->path, "expected a column of bytes, as --digest says, found column %s of type %s",
        type->path, type->type);
  if (asked && asked != type->encoding && !is_bytes_of_text)
    die(model->path, "expected a column of %s, as --decode says, found column %s of type %s",
        lanebloom_encoding_name(asked), type->path, type->type);
  if (syntax->is_decoded || is_bytes_of_text)
    return;
  if (type->encoding && syntax->fields.n > 1)
    die(model->path, "expected one field as the key, since column %s has type %s; -f names %zu",
        type->path, type->type, syntax->fields.n);
  syntax->form.encoding = type->encoding;
  syntax->units = (struct text_units){.decimal_scale = type->scale,
                                      .per_second = type->units_per_second,
                                      .is_int96 = type->is_int96};
  if (!form_has_text(syntax->form))
    die(model->path, "column %s has type %s, to which text cannot be converted", type->path,
        type->type);
}

/* ---- The keys ---- */

static lanebloom_parquet_keys *prepare_keys(const struct stored_keys *stored,
                                            const struct parquet_model *model)
{
  const lanebloom_keys keys =
      lanebloom_keys_offsets64(stored->bytes, stored->offsets, stored->nkeys);
  char problem[PARQUET_PROBLEM_NBYTES];
  lanebloom_parquet_keys *prepared;
  size_t bad;
  const lanebloom_status status =
      lanebloom_parquet_keys_create(model->file, model->column, model->type.encoding, &keys,
                                    &prepared, &bad, problem, sizeof problem);
  if (status && bad < stored->nkeys)
    die(model->path, "record %" PRIu64 ": column %s of type %s cannot hold this key",
        stored->numbers[bad], model->type.path, model->type.type);
  if (status)
    die(model->path, "%s", problem);
  return prepared;
}

/* ---- The files ---- */

const char hudi_column[] = "_hoodie_record_key";

struct scan {
  struct parquet_query *query;
  const struct parquet_screening *screening;
  const lanebloom_parquet_keys *keys;
  size_t bitmap_nbytes; /* a multiple of 8 bytes, because bitmaps are read in whole words */

  pthread_mutex_t lock; /* protects the following members and the results in the query */
  pthread_cond_t turned;
  size_t next, turn; /* the indices of the next file to open and of the next file to deliver */
};

static uint8_t *new_bitmap(const struct scan *scan)
{
  return memset(resize(NULL, scan->bitmap_nbytes), 0, scan->bitmap_nbytes);
}

static void list_keys(const struct scan *scan, struct parquet_file *found, const uint8_t *bitmap,
                      size_t nmaybe)
{
  const size_t nkeys = scan->query->nkeys;
  if (found->nindices + nmaybe > found->indices_capacity) {
    found->indices_capacity = (found->nindices + nmaybe) * 3 / 2;
    found->indices = resize(found->indices, found->indices_capacity * sizeof *found->indices);
  }
  for (size_t i = 0; (i = find_bit(bitmap, i, nkeys, true)) < nkeys; i++)
    found->indices[found->nindices++] = i;
}

/* The results of Hudi's filter and range of keys, which are for a whole file. */
struct hudi {
  bool is_used, has_filter;
  uint8_t *bitmap;
};

static void store_problem(struct parquet_file *found, const char *where,
                          const char problem[PARQUET_PROBLEM_NBYTES])
{
  if (!*found->problem)
    snprintf(found->problem, sizeof found->problem, "%s%.*s", where, PARQUET_PROBLEM_NBYTES - 64,
             problem);
}

static void screen_hudi(const struct scan *scan, const lanebloom_parquet *file, size_t column,
                        struct hudi *hudi, struct parquet_file *found)
{
  char problem[PARQUET_PROBLEM_NBYTES];
  const struct stored_keys *stored = scan->screening->keys;
  const lanebloom_keys keys =
      lanebloom_keys_offsets64(stored->bytes, stored->offsets, stored->nkeys);
  lanebloom_parquet_column_info type;
  lanebloom_parquet_hudi_info info;
  size_t nmaybe;
  lanebloom_parquet_describe_column(file, column, &type, sizeof type);
  lanebloom_parquet_describe_hudi(file, &info, sizeof info);
  hudi->is_used = strcmp(type.path, hudi_column) == 0 && type.encoding == LANEBLOOM_BYTES &&
                  (info.has_filter || info.has_range);
  hudi->has_filter = hudi->is_used && info.has_filter;
  if (!hudi->is_used)
    return;
  const lanebloom_status status =
      lanebloom_parquet_screen_hudi(file, &keys, hudi->bitmap, &nmaybe, problem, sizeof problem);
  hudi->has_filter = hudi->has_filter && !status;
  if (status && status != LANEBLOOM_ERR_FORMAT && status != LANEBLOOM_ERR_LIMIT)
    store_problem(found, "", problem); /* filters that cannot be used are like none */
}

/* Clears the bits of keys that Hudi's filter or range rules out. Returns how many bits are left. */
static size_t keep_hudi(const struct hudi *hudi, uint8_t *bitmap, size_t nkeys)
{
  size_t n = 0;
  for (size_t i = 0; i < (nkeys + 7) / 8; i++) {
    bitmap[i] &= hudi->bitmap[i];
    n += (unsigned)__builtin_popcount(bitmap[i]);
  }
  return n;
}

static void screen_row_group(const struct scan *scan, const lanebloom_parquet *file, size_t column,
                             size_t row_group, const struct hudi *hudi, uint8_t *bitmap,
                             struct parquet_file *found)
{
  char problem[PARQUET_PROBLEM_NBYTES];
  lanebloom_parquet_chunk_info chunk;
  size_t nmaybe;
  lanebloom_parquet_describe_chunk(file, row_group, column, &chunk, sizeof chunk);
  const lanebloom_status status = lanebloom_parquet_screen(
      file, row_group, column, scan->keys, bitmap, &nmaybe, problem, sizeof problem);
  const bool is_of_another_kind = status == LANEBLOOM_ERR_FORMAT;
  char where[40];
  snprintf(where, sizeof where, "row group %zu: ", row_group);
  if (status && !is_of_another_kind)
    store_problem(found, where, problem);
  if (hudi->is_used)
    nmaybe = keep_hudi(hudi, bitmap, scan->query->nkeys);
  const bool has_no_filter =
      !hudi->has_filter &&
      (is_of_another_kind || (!chunk.has_filter && !chunk.is_elsewhere && chunk.nvalues > 0));
  found->nwithout_filter += has_no_filter;
  found->nwithout_both += has_no_filter && !chunk.has_min && !chunk.has_max;
  found->counts[row_group] = nmaybe;
  if (nmaybe == 0)
    return;
  if (!found->found)
    found->found = new_bitmap(scan);
  add_bits(found->found, bitmap, (scan->query->nkeys + 7) / 8);
  if (scan->screening->wants_indices)
    list_keys(scan, found, bitmap, nmaybe);
}

static void screen_file(const struct scan *scan, const char *path, struct hudi *hudi,
                        uint8_t *bitmap, struct parquet_file *found)
{
  lanebloom_parquet *file;
  lanebloom_parquet_info info;
  size_t column;
  *found = (struct parquet_file){0};
  found->is_open = open_file(scan->query, path, &file, &column, found->problem);
  if (!found->is_open)
    return;
  lanebloom_parquet_describe(file, &info, sizeof info);
  screen_hudi(scan, file, column, hudi, found);
  found->nrow_groups = info.nrow_groups;
  found->counts = resize(NULL, (info.nrow_groups + 1) * sizeof *found->counts);
  for (size_t i = 0; i < info.nrow_groups; i++)
    screen_row_group(scan, file, column, i, hudi, bitmap, found);
  lanebloom_parquet_free(file);
}

static void file_free(struct parquet_file *found)
{
  free(found->counts);
  free(found->indices);
  free(found->found);
}

static void set_all(uint8_t *bitmap, size_t n)
{
  memset(bitmap, 0xff, n / 8);
  if (n % 8)
    bitmap[n / 8] = (uint8_t)((1 << n % 8) - 1);
}

static void deliver(struct scan *scan, const char *path, struct parquet_file *found)
{
  struct parquet_query *query = scan->query;
  if (*found->problem) {
    complain(path, "%s", explain(path, found->problem));
    query->nfailed++;
  }
  if (query->require_filters && found->nwithout_filter > 0)
    die(path, "expected a filter of column %s in every row group, found %zu of %zu without one",
        query->column, found->nwithout_filter, found->nrow_groups);
  if (found->nwithout_filter > 0 && !query->first_without)
    query->first_without = path;
  query->nrow_groups += found->nrow_groups;
  query->nwithout_filter += found->nwithout_filter;
  query->nwithout_both += found->nwithout_both;
  for (size_t i = 0; i < found->nrow_groups; i++)
    query->nleft += found->counts[i] > 0;
  if (found->found)
    add_bits(query->found, found->found, scan->bitmap_nbytes);
  if (!found->is_open) /* the file may contain every key */
    set_all(query->found, query->nkeys);
  scan->screening->deliver(scan->screening->context, path, found);
  progress_report(scan->turn + 1, scan->turn + 1);
}

/* Runs one worker. It screens one file after the other. Results are delivered in the order of the
 * files, so each result waits until the results of all earlier files are delivered. */
static void screen_files(void *context, size_t worker)
{
  struct scan *scan = context;
  const lanebloom_parquet_paths *paths = &scan->query->files->read;
  uint8_t *bitmap = new_bitmap(scan);
  struct hudi hudi = {.bitmap = new_bitmap(scan)};
  (void)worker;
  pthread_mutex_lock(&scan->lock);
  while (scan->next < paths->n) {
    const size_t i = scan->next++;
    struct parquet_file found;
    pthread_mutex_unlock(&scan->lock);
    screen_file(scan, paths->all[i], &hudi, bitmap, &found);
    pthread_mutex_lock(&scan->lock);
    while (scan->turn < i)
      pthread_cond_wait(&scan->turned, &scan->lock);
    deliver(scan, paths->all[i], &found);
    scan->turn++;
    pthread_cond_broadcast(&scan->turned);
    file_free(&found);
  }
  pthread_mutex_unlock(&scan->lock);
  free(hudi.bitmap);
  free(bitmap);
}

static void warn_of_filters(const struct parquet_query *query)
{
  char bounds[128] = "every key within their bounds may be there";
  if (query->nwithout_filter == 0)
    return;
  if (query->nwithout_both > 0)
    snprintf(bounds, sizeof bounds,
             "every key may be in %zu of them, whose bounds are missing or not used",
             query->nwithout_both);
  complain(
      NULL,
      "warning: %zu of %zu row groups have no filter of column %s that can be used: %s; the first "
      "is in %s",
      query->nwithout_filter, query->nrow_groups, query->column, bounds, query->first_without);
}

/* ---- The answer ---- */

void parquet_begin(struct parquet_query *query)
{
  query->files = parquet_list(query->names, query->nnames);
  query->model = find_model(&query->files->read, query);
}

void parquet_take_type(const struct parquet_query *query, struct record_syntax *syntax)
{
  take_type(syntax, &query->model);
}

void parquet_screen(struct parquet_query *query, const struct parquet_screening *screening)
{
  const size_t nfiles = query->files->read.n, nworkers = screening->nworkers;
  lanebloom_parquet_keys *keys = prepare_keys(screening->keys, &query->model);
  lanebloom_parquet_free(query->model.file);
  query->model.file = NULL;
  query->nkeys = screening->keys->nkeys;
  struct scan scan = {.query = query,
                      .screening = screening,
                      .keys = keys,
                      .bitmap_nbytes = query->nkeys / 64 * 8 + 8,
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .turned = PTHREAD_COND_INITIALIZER};
  query->found = new_bitmap(&scan);
  progress_begin(screening->progress, nfiles, "files");
  run_in_threads(nworkers < nfiles ? nworkers : nfiles, screen_files, &scan);
  progress_end(nfiles);
  lanebloom_parquet_keys_free(keys);
  warn_of_filters(query);
}

static size_t screen(void *context, const struct batch *batch, uint8_t *bitmap, size_t *counts)
{
  struct parquet_query *query = context;
  size_t nfound = 0;
  (void)counts; /* this answer has no sources */
  memset(bitmap, 0, (batch->n + 7) / 8);
  for (size_t i = 0; i < batch->n; i++) {
    if (!batch_has_key(batch, i))
      continue;
    const uint64_t key = query->next++;
    const unsigned bit = query->found[key / 8] >> key % 8 & 1;
    bitmap[i / 8] |= (uint8_t)(bit << i % 8);
    nfound += bit;
  }
  return nfound;
}

static bool is_whole(void *context, bool tells_absence)
{
  const struct parquet_query *query = context;
  return query->nfailed == 0 && !(query->files->skipped.n > 0 && tells_absence);
}

static void print(void *context, FILE *stream)
{
  const struct parquet_query *query = context;
  fprintf(stream,
          "\n%zu Parquet files, %zu failed, %zu skipped, %zu row groups, %zu without a filter, %zu "
          "that may have a key",
          query->files->read.n, query->nfailed, query->files->skipped.n, query->nrow_groups,
          query->nwithout_filter, query->nleft);
}

static void add_json(void *context, struct json_object *summary)
{
  const struct parquet_query *query = context;
  struct json_object *object = json_needed(json_object_new_object());
  const struct {
    const char *name;
    uint64_t n;
  } counts[] = {{"files", query->files->read.n},
                {"failed_files", query->nfailed},
                {"skipped_files", query->files->skipped.n},
                {"row_groups", query->nrow_groups},
                {"without_filter", query->nwithout_filter},
                {"left", query->nleft},
                {"keys", query->nkeys}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    json_object_object_add(object, counts[i].name, json_object_new_uint64(counts[i].n));
  json_object_object_add(summary, "parquet", object);
}

static void query_free(void *context)
{
  struct parquet_query *query = context;
  free(query->found);
  lanebloom_parquet_files_free(query->files);
  free(query->names);
}

static const struct answer_kind kind = {.screen = screen,
                                        .is_whole = is_whole,
                                        .print = print,
                                        .add_json = add_json,
                                        .free = query_free};

struct answer parquet_answer(struct parquet_query *query)
{
  return (struct answer){.kind = &kind, .context = query};
}
