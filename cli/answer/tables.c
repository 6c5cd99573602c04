/* A record passes this answer if its key may be in any table of some databases.
 * SPDX-License-Identifier: MIT */
#include "tables.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "../base/json_object.h"
#include "../base/memory.h"
#include "../base/report.h"

void tables_add(struct tables *tables, char *name)
{
  tables->names = grow_list(tables->names, tables->n, sizeof *tables->names);
  tables->names[tables->n++] = name;
}

static size_t screen(void *context, const struct batch *batch, uint8_t *bitmap, size_t *counts)
{
  const struct tables *tables = context;
  return sources_screen(&tables->sources, &batch->keys, bitmap, NULL, counts);
}

/* Were all logs read to their ends? */
static bool is_whole(void *context, bool tells_absence)
{
  const struct tables *tables = context;
  (void)tells_absence; /* if a log was lost, its keys are missing in any output */
  return !tables->database.is_damaged;
}

static void print(void *context, FILE *stream)
{
  const struct tables *tables = context;
  for (size_t i = 0; i < tables->database.nsources; i++)
    if (tables->database.sources[i]) {
      fputc('\n', stream);
      print_version_of(stream, tables->names[i], tables->database.sources[i]);
    }
}

static void add_json(void *context, struct json_object *summary)
{
  const struct tables *tables = context;
  struct json_object *versions = json_needed(json_object_new_object());
  for (size_t i = 0; i < tables->database.nsources; i++)
    if (tables->database.sources[i]) {
      char *name = escape_name(tables->names[i]);
      json_object_object_add(versions, name, version_in_json(tables->database.sources[i]));
      free(name);
    }
  json_object_object_add(summary, "databases", versions);
}

static void tables_free(void *context)
{
  struct tables *tables = context;
  sources_free(&tables->sources);
  database_close(&tables->database);
  free_database_options(&tables->options);
  free(tables->names);
}

static const struct answer_kind kind = {.screen = screen,
                                        .is_whole = is_whole,
                                        .print = print,
                                        .add_json = add_json,
                                        .free = tables_free};

struct answer tables_answer(struct tables *tables)
{
  tables->database = database_open(tables->names, tables->n, &tables->options);
  for (size_t i = 0; i < tables->database.ntables; i++)
    sources_add_table(&tables->sources, tables->database.paths[i], tables->database.tables[i]);
  return (struct answer){.kind = &kind, .context = tables, .sources = &tables->sources};
}
