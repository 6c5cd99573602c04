/* Screens all inputs and prints the result.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../base/memory.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../options/options.h"
#include "screen.h"

/* Was at least one input read to its end? If not, no count is printed, because it could be mistaken
 * for a result. */
static bool is_any_input_whole(const struct screen *screen)
{
  const size_t ninputs = screen->ninputs ? screen->ninputs : 1; /* without names there is one input,
                                                                 * standard input */
  return screen->job.nfailed < ninputs;
}

static void print_counts(const struct screen *screen)
{
  if (!screen->which) /* with --which, only the count of each source is printed */
    outputf("%" PRIu64 "\n", screen->nselected);
  for (size_t i = 0; screen->labels && i < screen->answer.sources->n; i++)
    outputf("%s%" PRIu64 "\n", screen->labels[i], screen->nhits[i]);
}

/* Does the output report any key as absent? */
static bool tells_absence(const struct screen *screen)
{
  return screen->invert || screen->unmatched_path || screen->annotation ||
         (screen->quiet && screen->nselected == 0);
}

/* Were all data of the answer read? */
static bool is_answer_whole(const struct screen *screen)
{
  const struct answer *answer = &screen->answer;
  return !answer->kind->is_whole || answer->kind->is_whole(answer->context, tells_absence(screen));
}

/* Were all data of the answer and all inputs read? */
static bool is_complete(const struct screen *screen)
{
  return screen->job.nfailed == 0 && is_answer_whole(screen);
}

/* Compares the keys of the inputs with the keys in KEYS or in the filter. If the keys of only one
 * side end in carriage returns, warns: a carriage return is part of the key, so no key can
 * match. */
static void warn_of_returns(const struct screen *screen)
{
  static const char advice[] = "--crlf leaves it out of keys";
  const struct job *job = &screen->job;
  const enum returns of_keys = screen->answer.returns;
  if (of_keys == RETURNS_ALL && job->without_returns)
    complain(job->without_returns,
             "warning: none of the first keys ends in a carriage return (CR), but those of KEYS "
             "do: %s",
             advice);
  else if (of_keys == RETURNS_NONE && job->with_returns)
    complain(
        job->with_returns,
        "warning: the first keys all end in a carriage return (CR), but no key of KEYS does: %s",
        advice);
  else if (job->with_returns && are_false_positives(screen))
    complain(job->with_returns,
             "warning: the first keys all end in a carriage return (CR), and no more pass than "
             "absent keys would: %s",
             advice);
  else
    warn_of_chance(screen);
}

/* Prints the counts and the summary after the records, moves the output files to their paths, and
 * prints warnings. */
static void finish(struct screen *screen)
{
  if (screen->count && !screen->quiet && is_any_input_whole(screen))
    print_counts(screen);
  if (screen->summary_path)
    print_summary(screen);
  if (is_answer_whole(screen))
    sinks_commit();
  else
    sinks_discard();
  if (!screen->summary_path)
    print_summary(screen);
  warn_of_returns(screen);
}

void end_early(struct screen *screen)
{
  finish(screen);
  const bool is_trouble = !is_complete(screen) && !screen->quiet;
  job_exit(&screen->job, is_trouble ? EXIT_TROUBLE : EXIT_SELECTED);
}

void open_sinks(struct screen *screen)
{
  const struct sink *sinks[] = {&screen->output, &screen->unmatched, &screen->summary_file};
  screen->begin = lanebloom_system_seconds();
  if (!screen->count && !screen->quiet)
    sink_open(&screen->output, screen->output_path);
  if (screen->unmatched_path)
    sink_open(&screen->unmatched, screen->unmatched_path);
  if (screen->summary_path)
    sink_open(&screen->summary_file, screen->summary_path);
  for (size_t i = 1; i < sizeof sinks / sizeof *sinks; i++)
    for (size_t j = 0; sinks[i]->path && j < i; j++)
      if (sinks[j]->is_open && sink_equals(sinks[i], sinks[j]))
        die(sinks[i]->path,
            "expected a file for each kind of output, found this one for two kinds");
}

void check_is_no_output(const struct screen *screen, const char *path)
{
  if (sink_is(&screen->output, path) || sink_is(&screen->unmatched, path) ||
      sink_is(&screen->summary_file, path))
    die(input_name(path), "%s", also_output_text);
}

static void label_sources(struct screen *screen)
{
  const struct sources *sources = screen->answer.sources;
  screen->labels = resize(NULL, sources->n * sizeof *screen->labels);
  for (size_t i = 0; i < sources->n; i++) {
    char *name = escape_name(input_name(sources->all[i].name));
    const size_t nbytes = strlen(name);
    screen->labels[i] = resize(name, nbytes + sizeof "\t");
    strcpy(screen->labels[i] + nbytes, "\t");
  }
  if (screen->count)
    screen->nhits = memset(resize(NULL, sources->n * sizeof *screen->nhits), 0,
                           sources->n * sizeof *screen->nhits);
}

static void screen_free(struct screen *screen)
{
  results_destroy(screen);
  for (size_t i = 0; screen->labels && i < screen->answer.sources->n; i++)
    free(screen->labels[i]);
  free(screen->labels);
  free(screen->nhits);
  screen->answer.kind->free(screen->answer.context);
}

static void check_inputs(const struct screen *screen)
{
  for (size_t i = 0; i < screen->ninputs; i++)
    check_is_no_output(screen, screen->inputs[i]);
  if (screen->ninputs == 0)
    check_is_no_output(screen, "-");
}

bool screens_whole_chunks(const struct screen *screen)
{
  const struct sources *sources = screen->answer.sources;
  return sources && sources->n >= MANY_SOURCES && screen->max_nselected == 0 &&
         (screen->nhits || !screen->labels);
}

/* Makes chunks of files as large as possible, but so small that each worker gets several. */
static void enlarge_chunks(struct inputs *inputs, size_t nworkers)
{
  enum { MIN_NCHUNKS = 4 }; /* of a worker */
  const uint64_t nbytes = inputs_nbytes(inputs) / (MIN_NCHUNKS * nworkers);
  inputs->read_nbytes = nbytes < READ_NBYTES       ? READ_NBYTES
                        : nbytes < MAX_READ_NBYTES ? (size_t)nbytes
                                                   : MAX_READ_NBYTES;
}

void begin_screen(struct screen *screen, const struct input_messages *messages)
{
  static struct inputs inputs;
  const bool prints_records = !screen->count && !screen->quiet && !screen->output_path;
  inputs_begin(&inputs, messages, &screen->syntax, screen->inputs, screen->ninputs,
               &screen->output.target);
  check_inputs(screen);
  if (screen->which && !screen->quiet && screen->answer.sources)
    label_sources(screen);
  if (screens_whole_chunks(screen))
    enlarge_chunks(&inputs, screen->job.nworkers);
  results_create(screen, inputs.read_nbytes);
  screen->job.progress = resolve_progress(screen->job.progress, prints_records);
  screen->job.needs_all = screen->output_path || screen->unmatched_path;
  screen->job.inputs = &inputs;
  screen->job.context = screen;
  screen->job.work = screen_chunk;
  screen->job.deliver = deliver_chunk;
  screen->job.deliver_header = deliver_header;
}

int end_screen(struct screen *screen)
{
  finish(screen);
  const bool complete = is_complete(screen);
  screen_free(screen);
  if (!complete)
    return EXIT_TROUBLE;
  return screen->nselected > 0 ? EXIT_SELECTED : EXIT_NONE_SELECTED;
}

int run_screen(struct screen *screen, const struct input_messages *messages)
{
  if (screen->quiet)
    screen->max_nselected = 1;
  begin_screen(screen, messages);
  job_run(&screen->job);
  return end_screen(screen);
}
