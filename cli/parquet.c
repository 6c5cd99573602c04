/* Screens keys against the filters and bounds of Parquet files. All keys are in memory. Several
 * files are read at a time; their results are printed in the order of their names.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bits.h"
#include "cli.h"
#include "key_form.h"
#include "parquet.h"
#include "parquet_files.h"
#include "screen.h"

/* ---- Options ---- */

enum {
  OPTION_PARQUET = 0x500,
  OPTION_COLUMN,
  OPTION_PRUNE,
  OPTION_ROW_GROUPS,
  OPTION_REQUIRE_FILTERS
};

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct parquet_query *query = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &query->bounds;
    return 0;
  case OPTION_PARQUET:
    query->names = grow_list(query->names, query->nnames, sizeof *query->names);
    query->names[query->nnames++] = text;
    return 0;
  case OPTION_COLUMN:
    query->column = text;
    return 0;
  case OPTION_PRUNE:
    query->prune = true;
    return 0;
  case OPTION_ROW_GROUPS:
    query->row_groups = true;
    return 0;
  case OPTION_REQUIRE_FILTERS:
    query->require_filters = true;
    return 0;
  case ARGP_KEY_END:
    if (query->nnames == 0 &&
        (query->column || query->prune || query->row_groups || query->require_filters ||
         query->bounds != LANEBLOOM_PARQUET_BOUNDS_KNOWN))
      argp_error(state, "--column, --prune, --row-groups, --require-filters and --bounds need "
                        "--parquet PATH");
    if (query->nnames > 0 && !query->column)
      argp_error(state, "--parquet needs --column NAME: which column the keys are in");
    if (query->row_groups && !query->prune)
      argp_error(state, "--row-groups needs --prune");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp parquet_argp = {
    .options =
        (const struct argp_option[]){
            {"parquet", OPTION_PARQUET, "PATH", 0,
             "Select the records whose key may be in this Parquet file, in one of this folder or "
             "below it, or in a file of this quoted pattern; repeatable. Every name is an INPUT, "
             "and all records are kept in memory",
             3},
            {"column", OPTION_COLUMN, "NAME", 0,
             "The keys are in this column; of nested ones the path, as in user.id. Their text "
             "becomes what the column has: numbers, dates, ...",
             3},
            {"prune", OPTION_PRUNE, NULL, 0,
             "Print the names of the Parquet files that may have any of the keys; with -c, how "
             "many",
             3},
            {"row-groups", OPTION_ROW_GROUPS, NULL, 0,
             "With --prune, print \"FILE<tab>NUMBER\" for each row group, from 0", 3},
            {"require-filters", OPTION_REQUIRE_FILTERS, NULL, 0,
             "A row group whose column has no filter is an error: it may have every key within its "
             "bounds",
             3},
            {0}},
    .parser = parse,
    .children = (const struct argp_child[]){{.argp = &bounds_argp}, {0}},
};

void parquet_check_options(const struct screen *screen, const struct argp_state *state)
{
  const struct parquet_query *query = &screen->parquet;
  if (screen->nfilters > 0 || screen->filter_list || screen->ndatabases > 0)
    argp_error(state, "give only one of --filter, --filters-from, --db and --parquet");
  if (screen->source.raw || screen->source.format)
    argp_error(state, "--raw and --format describe a FILTER, and --parquet takes none");
  if (has_database_options(&screen->database_options))
    argp_error(state, "--writer, --all-files, --column-family, --wal-dir and --db-path need --db "
                      "PATH");
  if (query->prune && screen->which)
    argp_error(state, "give only one of --prune and --which");
  if ((query->prune || screen->which) &&
      (screen->number || screen->max_nselected || screen->annotation || screen->unmatched_path))
    argp_error(state, "--number, --max-count, --annotate and --unmatched speak of records: with "
                      "--parquet give them without --prune and --which");
  if (query->prune && screen->invert)
    argp_error(state, "give only one of --prune and --invert-match: that a file has none of the "
                      "keys is certain of the others");
}

/* ---- The type of the column ---- */

/* Opens a file and finds the column in it. false: *problem says what is wrong. */
static bool open_file(const struct parquet_query *query, const char *path, lanebloom_parquet **file,
                      size_t *column, char problem[PARQUET_PROBLEM_NBYTES])
{
  lanebloom_status status =
      lanebloom_parquet_open(path, query->bounds, file, problem, PARQUET_PROBLEM_NBYTES);
  if (!status)
    status = lanebloom_parquet_find(*file, query->column, column, problem, PARQUET_PROBLEM_NBYTES);
  if (!status)
    return true;
  lanebloom_parquet_close(*file);
  *file = NULL;
  return false;
}

/* Returns the problem with a file. If it is no Parquet file, describes it instead. */
static const char *explain(const char *path, char problem[PARQUET_PROBLEM_NBYTES])
{
  if (!is_parquet(path))
    explain_other_kind(path, "a Parquet file", problem, PARQUET_PROBLEM_NBYTES);
  return problem;
}

/* The first readable file fixes the type of the column. The other files are opened, and report
 * errors, later. */
struct model {
  const char *path;
  lanebloom_parquet *file;
  size_t column;
  lanebloom_parquet_column_info type;
};

static struct model find_model(const lanebloom_parquet_paths *paths,
                               const struct parquet_query *query)
{
  char first_problem[PARQUET_PROBLEM_NBYTES], problem[PARQUET_PROBLEM_NBYTES];
  struct model model = {0};
  for (size_t i = 0; i < paths->n && !model.file; i++) {
    model.path = paths->all[i];
    open_file(query, model.path, &model.file, &model.column, i == 0 ? first_problem : problem);
  }
  if (!model.file)
    die(paths->all[0], "%s", explain(paths->all[0], first_problem));
  lanebloom_parquet_describe_column(model.file, model.column, &model.type, sizeof model.type);
  if (!model.type.has_keys)
    die(model.path,
        "expected a column whose values can be keys, found column %s of type %s: filters say "
        "nothing of it",
        model.type.path, model.type.type);
  return model;
}

/* Makes keys in the type of the column. */
static void take_type(struct record_syntax *syntax, const struct model *model)
{
  const lanebloom_parquet_column_info *type = &model->type;
  const lanebloom_encoding asked = syntax->form.encoding;
  const bool is_bytes_of_text =
      type->encoding == LANEBLOOM_BYTES && (asked == LANEBLOOM_HEX || asked == LANEBLOOM_BASE64);
  if (asked && asked != type->encoding && !is_bytes_of_text)
    die(model->path, "expected a column of %s, as --decode says, found column %s of type %s",
        lanebloom_encoding_name(asked), type->path, type->type);
  if (syntax->is_decoded || is_bytes_of_text)
    return;
  if (type->encoding && syntax->fields.n > 1)
    die(model->path, "expected one field as the key, since column %s has type %s; -f names %zu",
        type->path, type->type, syntax->fields.n);
  syntax->form.encoding = type->encoding;
  syntax->units = (struct text_units){type->scale, type->units_per_second, type->is_int96};
  if (!form_has_text(syntax->form))
    die(model->path, "column %s has type %s, which text cannot be made of", type->path, type->type);
}

/* ---- The keys ---- */

/* A chunk that was read. Its records are cut again once it is known which of them are printed. */
struct kept_chunk {
  struct chunk chunk;
  uint64_t first; /* the number of its first record, from 1 */
};

struct kept {
  const struct screen *screen;
  bool keeps_chunks;
  struct kept_chunk *chunks;
  size_t nchunks;
  char *header; /* NULL: none */
  size_t header_nbytes;

  uint8_t *bytes; /* of all keys, one after another */
  size_t nbytes, capacity;
  uint64_t *offsets;        /* nkeys + 1 of them */
  lanebloom_slice *records; /* the record of each key, with --which; else NULL */
  uint64_t *numbers;        /* the number of each key's record */
  size_t nkeys, keys_capacity;
  uint64_t nrecords;
};

static void reserve_keys(struct kept *kept, size_t n, size_t nbytes)
{
  if (kept->nkeys + n + 1 > kept->keys_capacity) {
    kept->keys_capacity = (kept->nkeys + n) * 3 / 2 + BATCH_NRECORDS;
    kept->offsets = resize(kept->offsets, kept->keys_capacity * sizeof *kept->offsets);
    kept->numbers = resize(kept->numbers, kept->keys_capacity * sizeof *kept->numbers);
    if (kept->screen->which)
      kept->records = resize(kept->records, kept->keys_capacity * sizeof *kept->records);
  }
  if (kept->nbytes + nbytes > kept->capacity) {
    kept->capacity = (kept->nbytes + nbytes) * 3 / 2;
    kept->bytes = resize(kept->bytes, kept->capacity);
  }
}

static void keep_key(struct kept *kept, lanebloom_slice key, lanebloom_slice record,
                     uint64_t number)
{
  if (key.size > 0)
    memcpy(kept->bytes + kept->nbytes, key.data, key.size);
  kept->nbytes += key.size;
  kept->numbers[kept->nkeys] = number;
  if (kept->records)
    kept->records[kept->nkeys] = record;
  kept->offsets[++kept->nkeys] = kept->nbytes;
}

/* Stores the keys of a batch, which was cut out of `data`; a copy of the data is at `copy`. */
static void keep_batch(struct kept *kept, const struct batch *batch, const char *data,
                       const char *copy)
{
  size_t nbytes = 0;
  for (size_t i = 0; i < batch->n; i++)
    nbytes += batch_key(batch, i).size;
  reserve_keys(kept, batch->n, nbytes);
  for (size_t i = 0; i < batch->n; i++) {
    const char *begin = batch_record(batch, i), *end = batch_record(batch, i + 1);
    kept->nrecords++;
    if (batch_has_key(batch, i))
      keep_key(kept, batch_key(batch, i),
               (lanebloom_slice){copy ? copy + (begin - data) : NULL, (size_t)(end - begin)},
               kept->nrecords);
  }
}

/* Stores a chunk. One worker reads: copying is cheaper than synchronising several. */
static void keep_chunk(void *context, size_t worker, struct cutter *cutter, struct chunk *chunk)
{
  struct kept *kept = context;
  char *copy = NULL;
  (void)worker;
  if (kept->keeps_chunks && chunk->nbytes > 0) {
    copy = resize(NULL, chunk->nbytes + CHUNK_PADDING_NBYTES);
    memcpy(copy, chunk->data, chunk->nbytes);
    kept->chunks = grow_list(kept->chunks, kept->nchunks, sizeof *kept->chunks);
    struct kept_chunk *last = &kept->chunks[kept->nchunks++];
    *last = (struct kept_chunk){.chunk = *chunk, .first = kept->nrecords + 1};
    last->chunk.data = copy;
  }
  for (struct batch batch; cutter_next(cutter, &batch);)
    keep_batch(kept, &batch, chunk->data, copy);
}

static void keep_header(void *context, const char *header, size_t nbytes)
{
  struct kept *kept = context;
  kept->header = resize(NULL, nbytes);
  kept->header_nbytes = nbytes;
  memcpy(kept->header, header, nbytes);
}

static void read_keys(struct screen *screen, struct inputs *inputs, struct kept *kept)
{
  struct job job = {.inputs = inputs,
                    .nworkers = 1,
                    .progress = screen->job.progress,
                    .needs_all = screen->job.needs_all,
                    .context = kept,
                    .work = keep_chunk,
                    .deliver_header = keep_header};
  *kept = (struct kept){.screen = screen, .keeps_chunks = !screen->parquet.prune && !screen->quiet};
  reserve_keys(kept, 0, 1);
  kept->offsets[0] = 0;
  job_run(&job);
  screen->job.nrecords = job.nrecords;
  screen->job.nmissing = job.nmissing;
  screen->job.nread = job.nread;
  screen->job.nfailed = job.nfailed;
  screen->parquet.nkeys = kept->nkeys;
}

static void kept_free(struct kept *kept)
{
  for (size_t i = 0; i < kept->nchunks; i++)
    free(kept->chunks[i].chunk.data);
  free(kept->chunks);
  free(kept->header);
  free(kept->bytes);
  free(kept->offsets);
  free(kept->records);
  free(kept->numbers);
}

static lanebloom_parquet_keys *prepare_keys(const struct kept *kept, const struct model *model)
{
  const lanebloom_keys keys = lanebloom_keys_offsets64(kept->bytes, kept->offsets, kept->nkeys);
  char problem[PARQUET_PROBLEM_NBYTES];
  lanebloom_parquet_keys *prepared;
  size_t bad;
  const lanebloom_status status =
      lanebloom_parquet_keys_create(model->file, model->column, model->type.encoding, &keys,
                                    &prepared, &bad, problem, sizeof problem);
  if (status && bad < kept->nkeys)
    die(model->path, "record %" PRIu64 ": column %s of type %s cannot hold this key",
        kept->numbers[bad], model->type.path, model->type.type);
  if (status)
    die(model->path, "%s", problem);
  return prepared;
}

/* ---- The files ---- */

/* The result for one file. */
struct answer {
  char problem[PARQUET_PROBLEM_NBYTES]; /* "": none */
  bool is_open;                         /* false: nothing is known about its row groups */
  size_t nrow_groups, nwithout_filter, nwithout_both;
  uint64_t *counts;  /* for each row group: the number of keys that may be in it */
  uint64_t *indices; /* with --which: these keys, ordered by row group; else NULL */
  size_t nindices, indices_capacity;
  uint8_t *found; /* keys that may be in the file; NULL: none */
};

struct asking {
  struct screen *screen;
  const lanebloom_parquet_paths *paths;
  const struct kept *kept;
  const lanebloom_parquet_keys *keys;
  size_t bitmap_nbytes; /* whole words of 8 bytes */
  bool is_for_terminal; /* a terminal shows the names that --prune prints */

  pthread_mutex_t lock; /* protects the following members */
  pthread_cond_t turned;
  size_t next, turn; /* indices of the next file to be opened, and of the next one to be
                      * delivered */
  uint8_t *found;
  struct text {
    char *bytes;
    size_t nbytes, capacity;
  } names; /* the output of --prune */
};

static uint8_t *new_bitmap(const struct asking *asking)
{
  return memset(resize(NULL, asking->bitmap_nbytes), 0, asking->bitmap_nbytes);
}

static void list_keys(const struct asking *asking, struct answer *answer, const uint8_t *bitmap,
                      size_t nmaybe)
{
  const size_t nkeys = asking->kept->nkeys;
  if (answer->nindices + nmaybe > answer->indices_capacity) {
    answer->indices_capacity = (answer->nindices + nmaybe) * 3 / 2;
    answer->indices = resize(answer->indices, answer->indices_capacity * sizeof *answer->indices);
  }
  for (size_t i = 0; (i = find_bit(bitmap, i, nkeys, true)) < nkeys; i++)
    answer->indices[answer->nindices++] = i;
}

static void ask_row_group(const struct asking *asking, const lanebloom_parquet *file, size_t column,
                          size_t row_group, uint8_t *bitmap, struct answer *answer)
{
  char problem[PARQUET_PROBLEM_NBYTES];
  lanebloom_parquet_chunk_info chunk;
  size_t nmaybe;
  lanebloom_parquet_describe_chunk(file, row_group, column, &chunk, sizeof chunk);
  const lanebloom_status status = lanebloom_parquet_screen(
      file, row_group, column, asking->keys, bitmap, &nmaybe, problem, sizeof problem);
  const bool is_of_another_kind = status == LANEBLOOM_ERR_FORMAT;
  if (status && !is_of_another_kind && !*answer->problem)
    snprintf(answer->problem, sizeof answer->problem, "row group %zu: %.*s", row_group,
             (int)sizeof problem - 64, problem);
  const bool has_no_filter =
      is_of_another_kind || (!chunk.has_filter && !chunk.is_elsewhere && chunk.nvalues > 0);
  answer->nwithout_filter += has_no_filter;
  answer->nwithout_both += has_no_filter && !chunk.has_min && !chunk.has_max;
  answer->counts[row_group] = nmaybe;
  if (nmaybe == 0)
    return;
  if (!answer->found)
    answer->found = new_bitmap(asking);
  add_bits(answer->found, bitmap, (asking->kept->nkeys + 7) / 8);
  if (asking->screen->which && !asking->screen->count)
    list_keys(asking, answer, bitmap, nmaybe);
}

static void ask_file(const struct asking *asking, const char *path, uint8_t *bitmap,
                     struct answer *answer)
{
  lanebloom_parquet *file;
  lanebloom_parquet_info info;
  size_t column;
  *answer = (struct answer){0};
  answer->is_open = open_file(&asking->screen->parquet, path, &file, &column, answer->problem);
  if (!answer->is_open)
    return;
  lanebloom_parquet_describe(file, &info, sizeof info);
  answer->nrow_groups = info.nrow_groups;
  answer->counts = resize(NULL, (info.nrow_groups + 1) * sizeof *answer->counts);
  for (size_t i = 0; i < info.nrow_groups; i++)
    ask_row_group(asking, file, column, i, bitmap, answer);
  lanebloom_parquet_close(file);
}

static void answer_free(struct answer *answer)
{
  free(answer->counts);
  free(answer->indices);
  free(answer->found);
}

/* ---- Printing the result of a file ---- */

static void add_text(struct text *text, const void *bytes, size_t nbytes)
{
  if (text->nbytes + nbytes > text->capacity) {
    text->capacity = (text->nbytes + nbytes) * 3 / 2;
    text->bytes = resize(text->bytes, text->capacity);
  }
  memcpy(text->bytes + text->nbytes, bytes, nbytes);
  text->nbytes += nbytes;
}

/* Adds a line of --prune. Programs read it, so names are not escaped unless a terminal shows them.
 * group: "" without --row-groups. */
static void add_name(struct asking *asking, const char *path, const char *group)
{
  const char terminator = asking->screen->syntax.terminator;
  char *escaped = asking->is_for_terminal ? escape_name(path) : NULL;
  const char *name = escaped ? escaped : path;
  if (terminator && strchr(name, terminator))
    die(path, "expected a name without a line end, found one: give -z, or another name");
  asking->screen->nselected++;
  add_text(&asking->names, name, strlen(name));
  free(escaped);
  if (*group) {
    add_text(&asking->names, "\t", 1);
    add_text(&asking->names, group, strlen(group));
  }
  add_text(&asking->names, &terminator, 1);
}

static void prune(struct asking *asking, const char *path, const struct answer *answer)
{
  char group[32];
  if (!asking->screen->parquet.row_groups || !answer->is_open) {
    if (answer->found || *answer->problem)
      add_name(asking, path, asking->screen->parquet.row_groups ? "*" : "");
    return;
  }
  for (size_t i = 0; i < answer->nrow_groups; i++) {
    snprintf(group, sizeof group, "%zu", i);
    if (answer->counts[i] > 0)
      add_name(asking, path, group);
  }
}

/* For --which: prints each row group with the records that may be in it, or with their number. */
static void print_row_groups(struct asking *asking, const char *path, const struct answer *answer)
{
  struct sink *sink = &asking->screen->output;
  char *name = escape_name(path);
  char label[32];
  size_t at = 0;
  for (size_t i = 0; i < answer->nrow_groups; i++) {
    const int nbytes = snprintf(label, sizeof label, "\t%zu\t", i);
    if (asking->screen->count)
      outputf("%s%s%" PRIu64 "\n", name, label, answer->counts[i]);
    for (const size_t end = at + answer->counts[i]; answer->indices && at < end; at++) {
      const lanebloom_slice record = asking->kept->records[answer->indices[at]];
      sink_write(sink, name, strlen(name));
      sink_write(sink, label, (size_t)nbytes);
      sink_write(sink, record.data, record.size);
      if (asking->screen->syntax.width)
        sink_write(sink, "\n", 1);
    }
  }
  free(name);
}

static void set_all(uint8_t *bitmap, size_t n)
{
  memset(bitmap, 0xff, n / 8);
  if (n % 8)
    bitmap[n / 8] = (uint8_t)((1 << n % 8) - 1);
}

static void deliver(struct asking *asking, const char *path, struct answer *answer)
{
  struct parquet_query *query = &asking->screen->parquet;
  if (*answer->problem) {
    complain(path, "%s", explain(path, answer->problem));
    query->nfailed++;
  }
  if (query->require_filters && answer->nwithout_filter > 0)
    die(path, "expected a filter of column %s in every row group, found %zu of %zu without one",
        query->column, answer->nwithout_filter, answer->nrow_groups);
  if (answer->nwithout_filter > 0 && !query->first_without)
    query->first_without = path;
  query->nrow_groups += answer->nrow_groups;
  query->nwithout_filter += answer->nwithout_filter;
  query->nwithout_both += answer->nwithout_both;
  for (size_t i = 0; i < answer->nrow_groups; i++)
    query->nleft += answer->counts[i] > 0;
  if (answer->found)
    add_bits(asking->found, answer->found, asking->bitmap_nbytes);
  if (!answer->is_open) /* a file that is not open may have every key */
    set_all(asking->found, asking->kept->nkeys);
  if (query->prune)
    prune(asking, path, answer);
  else if (asking->screen->which && !asking->screen->quiet)
    print_row_groups(asking, path, answer);
  progress_report(asking->turn + 1, asking->turn + 1);
}

/* A worker takes one file after the other. The result of each file is delivered in the order of the
 * files. */
static void ask_files(void *context, size_t worker)
{
  struct asking *asking = context;
  uint8_t *bitmap = new_bitmap(asking);
  (void)worker;
  pthread_mutex_lock(&asking->lock);
  while (asking->next < asking->paths->n) {
    const size_t i = asking->next++;
    struct answer answer;
    pthread_mutex_unlock(&asking->lock);
    ask_file(asking, asking->paths->all[i], bitmap, &answer);
    pthread_mutex_lock(&asking->lock);
    while (asking->turn < i)
      pthread_cond_wait(&asking->turned, &asking->lock);
    deliver(asking, asking->paths->all[i], &answer);
    asking->turn++;
    pthread_cond_broadcast(&asking->turned);
    answer_free(&answer);
  }
  pthread_mutex_unlock(&asking->lock);
  free(bitmap);
}

static void warn_of_filters(const struct parquet_query *query)
{
  char bounds[128] = "every key within their bounds may be there";
  if (query->nwithout_filter == 0)
    return;
  if (query->nwithout_both > 0)
    snprintf(bounds, sizeof bounds,
             "every key may be in %zu of them, whose bounds are not used or missing",
             query->nwithout_both);
  complain(NULL,
           "warning: %zu of %zu row groups have no filter of column %s that can be asked: %s; the "
           "first is in %s",
           query->nwithout_filter, query->nrow_groups, query->column, bounds, query->first_without);
}

/* ---- All ---- */

/* Prints the records, as for any other source. */
static void print_records(struct screen *screen, struct inputs *inputs, struct kept *kept)
{
  static struct cutter cutter;
  screen->job.inputs = inputs;
  screen->job.nrecords = screen->job.nmissing = 0;
  if (kept->header)
    deliver_header(screen, kept->header, kept->header_nbytes);
  for (size_t i = 0; i < kept->nchunks; i++) {
    struct chunk *chunk = &kept->chunks[i].chunk;
    cutter_begin(&cutter, &inputs->syntax, chunk->data, chunk->nbytes,
                 chunk->at_beginning && chunk->header_nlines == 0);
    screen_chunk(screen, 0, &cutter, chunk);
    screen->job.nrecords += cutter.nrecords;
    screen->job.nmissing += cutter.nmissing;
    deliver_chunk(screen, 0, chunk, kept->chunks[i].first);
  }
  cutter_end(&cutter);
}

/* Returns the number of selected records, if they are not printed one by one. */
static uint64_t count_selected(const struct screen *screen, const uint8_t *found)
{
  const uint64_t nkeys = screen->parquet.nkeys, nfound = count_bits(found, (nkeys + 7) / 8);
  const bool keeps = screen->syntax.fields.missing == MISSING_KEEP;
  return (screen->invert ? nkeys - nfound : nfound) + (keeps ? screen->job.nmissing : 0);
}

void parquet_screen(struct screen *screen, struct inputs *inputs)
{
  struct parquet_query *query = &screen->parquet;
  struct kept kept;
  lanebloom_parquet_files *files = parquet_list(query->names, query->nnames);
  const lanebloom_parquet_paths *paths = &files->read;
  struct model model = find_model(paths, query);
  query->nskipped = files->skipped.n;
  for (size_t i = 0; i < paths->n; i++)
    check_is_no_output(screen, paths->all[i]);
  take_type(&inputs->syntax, &model);
  screen->syntax = inputs->syntax;
  read_keys(screen, inputs, &kept);

  lanebloom_parquet_keys *keys = prepare_keys(&kept, &model);
  lanebloom_parquet_close(model.file);
  struct asking asking = {.screen = screen,
                          .paths = paths,
                          .kept = &kept,
                          .keys = keys,
                          .bitmap_nbytes = kept.nkeys / 64 * 8 + 8,
                          .is_for_terminal = sink_is_terminal(&screen->output),
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .turned = PTHREAD_COND_INITIALIZER};
  asking.found = new_bitmap(&asking);
  query->nfiles = paths->n;
  progress_begin(screen->job.progress, paths->n, "files");
  const size_t nworkers = screen->job.nworkers;
  run_in_threads(nworkers < paths->n ? nworkers : paths->n, ask_files, &asking);
  progress_end(paths->n);
  warn_of_filters(query);
  query->first_without = NULL; /* it is one of the paths, which are freed */

  query->found = asking.found;
  if (query->prune && !screen->count && !screen->quiet && asking.names.nbytes > 0)
    sink_write(&screen->output, asking.names.bytes, asking.names.nbytes);
  else if (!query->prune && !screen->which && !screen->quiet)
    print_records(screen, inputs, &kept);
  else if (!query->prune)
    screen->nselected = count_selected(screen, asking.found);
  query->found = NULL;
  free(asking.names.bytes);
  free(asking.found);
  lanebloom_parquet_keys_free(keys);
  kept_free(&kept);
  lanebloom_parquet_files_free(files);
}

size_t parquet_take_found(struct parquet_query *query, const struct batch *batch, uint8_t *bitmap)
{
  size_t nfound = 0;
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
