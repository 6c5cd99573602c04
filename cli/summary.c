/* Prints the summary of a run of `screen' or `match'.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "key_form.h"
#include "screen.h"

/* Returns the share of absent keys that pass; NaN: unknown, or none passes. */
static double expected_rate(const struct screen *screen)
{
  return screen->exact || screen->parquet.nnames > 0 ? NAN : sources_rate(&screen->sources);
}

/* The records that have a key, and how many of these keys passed, whether or not they are
 * selected. */
struct passing {
  uint64_t nkeys, nhits;
};

static struct passing count_passing(const struct screen *screen)
{
  const bool keeps = screen->syntax.fields.missing == MISSING_KEEP;
  const uint64_t nkeys = screen->job.nrecords - screen->job.nmissing;
  const uint64_t nselected = screen->nselected - (keeps ? screen->job.nmissing : 0);
  return (struct passing){nkeys, screen->invert ? nkeys - nselected : nselected};
}

bool are_false_positives(const struct screen *screen)
{
  const struct passing passing = count_passing(screen);
  const double rate = expected_rate(screen), expected = rate * (double)passing.nkeys;
  if (screen->exact || isnan(rate))
    return !screen->exact && passing.nhits == 0;
  return (double)passing.nhits <= 1.1 * expected + 3 * sqrt(expected * (1 - rate));
}

/* If none of n keys passes, fewer than 3 / n of all such keys are in the filter, with 95 %
 * confidence (the rule of three). For 1,000 keys that is 0.3 %, less than the false positives of
 * most filters. Fewer keys are no reason to doubt the options. */
enum { MIN_NKEYS = 1000 };

/* Are there enough keys for a conclusion? The rate is checked last, because it requires reading the
 * filters. */
static bool are_telling(const struct screen *screen)
{
  return count_passing(screen).nkeys >= MIN_NKEYS && !isnan(expected_rate(screen));
}

/* Bytes that often separate fields. */
static const struct separator {
  char byte;
  const char *name;
} separators[] = {{'\t', "a tab"}, {',', "a comma"}, {';', "a semicolon"},
                  {'|', "a bar"},  {' ', "a space"}, {':', "a colon"}};
enum { NSEPARATORS = sizeof separators / sizeof *separators };

void look_for_separators(struct screen *screen, const struct chunk *chunk)
{
  enum { MIN_NRECORDS = 10, MAX_NRECORDS = 100 }; /* fewer may have been queried one by one */
  const struct record_syntax *syntax = &screen->syntax;
  if (!screen->exact || syntax->fields.n > 0 || syntax->width || form_converts(syntax->form))
    return;
  const char *record = chunk->data, *end = record + chunk->nbytes;
  unsigned found = (1u << NSEPARATORS) - 1;
  size_t n = 0;
  for (size_t nbytes; n < MAX_NRECORDS && record < end; n++, record += nbytes) {
    nbytes = record_nbytes(syntax, record, (size_t)(end - record));
    for (size_t i = 0; i < NSEPARATORS; i++)
      if (!memchr(record, separators[i].byte, nbytes))
        found &= ~(1u << i);
  }
  if (n >= MIN_NRECORDS)
    screen->separators = found;
}

/* Returns a separator that the first records contain and that no key contains; NULL: there is
 * none. */
static const struct separator *find_separator(const struct screen *screen)
{
  for (size_t i = 0; i < NSEPARATORS; i++)
    if (screen->separators >> i & 1 && !key_set_has_byte(screen->exact, separators[i].byte))
      return &separators[i];
  return NULL;
}

/* Records with a separator that no key contains cannot match. Otherwise a warning needs many
 * records and many keys: it is normal that no record has one of a few keys. */
static void warn_of_no_match(const struct screen *screen, uint64_t nrecords)
{
  const uint64_t nkeys = screen->exact->nkeys;
  if (nkeys == 0)
    return;
  const struct separator *separator = find_separator(screen);
  if (separator)
    complain(NULL,
             "warning: none of %" PRIu64 " records matches any of %" PRIu64
             " keys: the first records have %s, and no key has; -f names the fields that are the "
             "key",
             nrecords, nkeys, separator->name);
  else if (nrecords >= MIN_NKEYS && nkeys >= MIN_NKEYS)
    complain(NULL,
             "warning: none of %" PRIu64 " records matches any of %" PRIu64
             " keys: if some should, check -f, --keys-field, --crlf, --lower and --trim",
             nrecords, nkeys);
}

/* If an input failed, its error comes first, and nothing is warned of. */
void warn_of_chance(const struct screen *screen)
{
  static const char advice[] = "if some should be there, check -f, --crlf, --lower and --trim, "
                               "here and where the filter was built";
  const struct passing passing = count_passing(screen);
  if (screen->invert || screen->quiet || screen->summary || screen->job.nfailed > 0)
    return;
  if (screen->exact) {
    if (passing.nhits == 0)
      warn_of_no_match(screen, passing.nkeys);
    return;
  }
  if (!are_telling(screen) || !are_false_positives(screen))
    return;
  if (passing.nhits > 0)
    complain(NULL,
             "warning: %" PRIu64 " of %" PRIu64 " keys passed, no more than chance: all may be "
             "false positives; %s",
             passing.nhits, passing.nkeys, advice);
  else if (expected_rate(screen) != 0) /* 0: a message said that the filter has no keys */
    complain(NULL, "warning: none of %" PRIu64 " keys passed; %s", passing.nkeys, advice);
}

static void print_versions(const struct screen *screen, FILE *stream)
{
  for (size_t i = 0; i < screen->database.nsources; i++)
    if (screen->database.sources[i]) {
      fputc('\n', stream);
      print_version_of(stream, screen->databases[i], screen->database.sources[i]);
    }
}

static void print_parquet(const struct parquet_query *query, FILE *stream)
{
  fprintf(stream,
          "\n%zu Parquet files, %zu failed, %zu skipped, %zu row groups, %zu without a filter, %zu "
          "that may have a key",
          query->nfiles, query->nfailed, query->nskipped, query->nrow_groups,
          query->nwithout_filter, query->nleft);
}

static struct json_object *parquet_in_json(const struct parquet_query *query)
{
  struct json_object *object = json_needed(json_object_new_object());
  const struct {
    const char *name;
    uint64_t n;
  } counts[] = {{"files", query->nfiles},
                {"failed_files", query->nfailed},
                {"skipped_files", query->nskipped},
                {"row_groups", query->nrow_groups},
                {"without_filter", query->nwithout_filter},
                {"left", query->nleft},
                {"keys", query->nkeys}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    json_object_object_add(object, counts[i].name, json_object_new_uint64(counts[i].n));
  return object;
}

static void print_text(const struct screen *screen, FILE *stream, double nseconds)
{
  const struct job *job = &screen->job;
  fprintf(stream, "%" PRIu64 " records, %" PRIu64 " selected, %" PRIu64 " without a key", //
          job->nrecords, screen->nselected, job->nmissing);
  fprintf(stream, ", %zu inputs failed, %.3f seconds", job->nfailed, nseconds);
  const double rate = expected_rate(screen);
  if (!isnan(rate))
    fprintf(stream, ", %.3g %% of absent keys expected to pass", 100 * rate);
  const struct passing passing = count_passing(screen);
  if (are_telling(screen) && are_false_positives(screen))
    fprintf(stream, "; %" PRIu64 " of %" PRIu64 " keys did, no more than chance", passing.nhits,
            passing.nkeys);
  if (screen->parquet.nnames > 0)
    print_parquet(&screen->parquet, stream);
  print_versions(screen, stream);
}

static struct json_object *versions_in_json(const struct screen *screen)
{
  struct json_object *versions = json_needed(json_object_new_object());
  for (size_t i = 0; i < screen->database.nsources; i++)
    if (screen->database.sources[i]) {
      char *name = escape_name(screen->databases[i]);
      json_object_object_add(versions, name, version_in_json(screen->database.sources[i]));
      free(name);
    }
  return versions;
}

static void print_json(const struct screen *screen, FILE *stream, double nseconds)
{
  const struct job *job = &screen->job;
  struct json_object *object = json_begin();
  const struct {
    const char *name;
    uint64_t n;
  } counts[] = {{"records", job->nrecords},
                {"selected", screen->nselected},
                {"without_key", job->nmissing},
                {"failed_inputs", job->nfailed}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    json_object_object_add(object, counts[i].name, json_object_new_uint64(counts[i].n));
  json_object_object_add(object, "seconds", json_number(nseconds));
  json_object_object_add(object, "expected_rate", json_number(expected_rate(screen)));
  json_object_object_add(object, "within_expected_rate",
                         are_telling(screen) ? json_object_new_boolean(are_false_positives(screen))
                                             : NULL);
  if (screen->parquet.nnames > 0)
    json_object_object_add(object, "parquet", parquet_in_json(&screen->parquet));
  if (screen->ndatabases > 0)
    json_object_object_add(object, "databases", versions_in_json(screen));
  fputs(json_line(object), stream);
  json_object_put(object);
}

void print_summary(struct screen *screen)
{
  if (!screen->summary)
    return;
  const double nseconds = seconds() - screen->begin;
  char *text;
  size_t nbytes;
  FILE *stream = open_string(&text, &nbytes);
  (screen->summary == SUMMARY_JSON ? print_json : print_text)(screen, stream, nseconds);
  close_string(stream, &text);
  if (screen->summary_path) {
    sink_write(&screen->summary_file, text, nbytes);
    sink_write(&screen->summary_file, "\n", 1);
  } else {
    progress_erase();
    fprintf(stderr, "%s%s\n", screen->summary == SUMMARY_TEXT ? "lanebloom: " : "", text);
  }
  free(text);
}
