/* Screens Parquet files, and prints their names, their row groups, or the records that may be in
 * them.
 * SPDX-License-Identifier: MIT */
#include "parquet_results.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../answer/parquet.h"
#include "../base/bits.h"
#include "../base/memory.h"
#include "../base/report.h"
#include "../input/stored_keys.h"

struct printing {
  struct screen *screen;
  const struct parquet_query *query;
  const struct stored_keys *stored;
  bool is_for_terminal; /* the output of --prune goes to a terminal */
  struct text {
    char *bytes;
    size_t nbytes, capacity;
  } names; /* the lines that --prune prints */
};

static void add_text(struct text *text, const void *bytes, size_t nbytes)
{
  if (text->nbytes + nbytes > text->capacity) {
    text->capacity = (text->nbytes + nbytes) * 3 / 2;
    text->bytes = resize(text->bytes, text->capacity);
  }
  memcpy(text->bytes + text->nbytes, bytes, nbytes);
  text->nbytes += nbytes;
}

/* Adds a line to the output of --prune. If the output is a terminal, escapes the name. Otherwise a
 * program may read the output, so the name stays as it is. `group' is the number of a row group, or
 * "" if only files are printed. */
static void add_name(struct printing *printing, const char *path, const char *group)
{
  const char terminator = printing->screen->syntax.terminator;
  char *escaped = printing->is_for_terminal ? escape_name(path) : NULL;
  const char *name = escaped ? escaped : path;
  if (terminator && strchr(name, terminator))
    die(path, "expected a name without a line end, found one: give -z, or another name");
  printing->screen->nselected++;
  add_text(&printing->names, name, strlen(name));
  free(escaped);
  if (*group) {
    add_text(&printing->names, "\t", 1);
    add_text(&printing->names, group, strlen(group));
  }
  add_text(&printing->names, &terminator, 1);
}

static void prune(struct printing *printing, const char *path, const struct parquet_file *found)
{
  char group[32];
  if (!printing->query->row_groups || !found->is_open) {
    if (found->found || *found->problem)
      add_name(printing, path, printing->query->row_groups ? "*" : "");
    return;
  }
  for (size_t i = 0; i < found->nrow_groups; i++) {
    snprintf(group, sizeof group, "%zu", i);
    if (found->counts[i] > 0)
      add_name(printing, path, group);
  }
}

/* For --which: prints each row group with each record that may be in it, or with the number of
 * these records. */
static void print_row_groups(struct printing *printing, const char *path,
                             const struct parquet_file *found)
{
  struct sink *sink = &printing->screen->output;
  char *name = escape_name(path);
  char label[32];
  size_t at = 0;
  for (size_t i = 0; i < found->nrow_groups; i++) {
    const int nbytes = snprintf(label, sizeof label, "\t%zu\t", i);
    if (printing->screen->count)
      outputf("%s%s%" PRIu64 "\n", name, label, found->counts[i]);
    for (const size_t end = at + found->counts[i]; found->indices && at < end; at++) {
      const lanebloom_slice record = printing->stored->records[found->indices[at]];
      sink_write(sink, name, strlen(name));
      sink_write(sink, label, (size_t)nbytes);
      sink_write(sink, record.data, record.size);
      if (printing->screen->syntax.width)
        sink_write(sink, "\n", 1);
    }
  }
  free(name);
}

static void print_file(void *context, const char *path, const struct parquet_file *found)
{
  struct printing *printing = context;
  if (printing->query->prune)
    prune(printing, path, found);
  else if (printing->screen->which && !printing->screen->quiet)
    print_row_groups(printing, path, found);
}

/* Prints the selected records in the same way as for other answers. */
static void print_records(struct screen *screen, struct inputs *inputs, struct stored_keys *stored)
{
  static struct cutter cutter;
  screen->job.nrecords = screen->job.nmissing = 0;
  if (stored->header)
    deliver_header(screen, stored->header, stored->header_nbytes);
  for (size_t i = 0; i < stored->nchunks; i++) {
    struct chunk *chunk = &stored->chunks[i].chunk;
    cutter_begin(&cutter, &inputs->syntax, chunk->data, chunk->nbytes,
                 chunk->at_beginning && chunk->header_nlines == 0);
    screen_chunk(screen, 0, &cutter, chunk);
    screen->job.nrecords += cutter.nrecords;
    screen->job.nmissing += cutter.nmissing;
    deliver_chunk(screen, 0, chunk, stored->chunks[i].first);
  }
  cutter_end(&cutter);
}

/* Returns the number of selected records for an output that does not print them one by one. */
static uint64_t count_selected(const struct screen *screen, const struct parquet_query *query)
{
  const uint64_t nkeys = query->nkeys, nfound = count_bits(query->found, (nkeys + 7) / 8);
  const bool keeps = screen->syntax.fields.missing == MISSING_KEEP;
  return (screen->invert ? nkeys - nfound : nfound) + (keeps ? screen->job.nmissing : 0);
}

int screen_parquet(struct screen *screen, struct parquet_query *query,
                   const struct input_messages *messages)
{
  const bool prints_names = query->prune && !screen->count && !screen->quiet;
  struct stored_keys stored = {.keeps_chunks = !query->prune && !screen->quiet,
                               .keeps_records = screen->which};
  screen->answer = parquet_answer(query);
  begin_screen(screen, messages);
  struct inputs *inputs = screen->job.inputs;
  parquet_begin(query);
  for (size_t i = 0; i < query->files->read.n; i++)
    check_is_no_output(screen, query->files->read.all[i]);
  parquet_take_type(query, &inputs->syntax);
  screen->syntax = inputs->syntax;
  stored_keys_read(&stored, &screen->job);

  struct printing printing = {.screen = screen,
                              .query = query,
                              .stored = &stored,
                              .is_for_terminal = sink_is_terminal(&screen->output)};
  const struct parquet_screening screening = {.keys = &stored,
                                              .nworkers = screen->job.nworkers,
                                              .progress = screen->job.progress,
                                              .wants_indices = screen->which && !screen->count,
                                              .deliver = print_file,
                                              .context = &printing};
  parquet_screen(query, &screening);
  if (prints_names && printing.names.nbytes > 0)
    sink_write(&screen->output, printing.names.bytes, printing.names.nbytes);
  else if (!query->prune && !screen->which && !screen->quiet)
    print_records(screen, inputs, &stored);
  else if (!query->prune)
    screen->nselected = count_selected(screen, query);
  free(printing.names.bytes);
  stored_keys_free(&stored);
  return end_screen(screen);
}
