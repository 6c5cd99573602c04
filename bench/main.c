/* lanebloom-bench: measures every kernel, every peer (an engine or another library to compare with)
 * and the floor (the limits of the hardware) in one run. Each measured case is called a row; its
 * name says what it measures.
 * SPDX-License-Identifier: MIT */
#include <argp.h>
#include <ctype.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <time.h>
#include <unistd.h>

#include <lanebloom.h>

#include "machine.h"
#include "noise.h"
#include "peers.h"
#include "rows.h"
#include "shared.h"
#include "shim.h"

enum { EXIT_USAGE = 2, EXIT_NOISY = 3 };

/* ---- The rows of a run, as regular expressions ---- */

/* In a regular expression, BEST stands for the name of the machine's best kernel. It is used for
 * rows that need not compare kernels. */
#define BEST "@best@"
#define PEERS "peer:[a-z]+(-32)?"

/* The quick run leaves out LevelDB's largest filter, because building it would take a third of the
 * run. */
static const char *const quick[] = {
    "^floor/line/"
    "|^hash/(bloomhash|xxph3)/" BEST "/bytes:8$"
    "|^screen/rocksdb-local/(" BEST "|" PEERS ")/.*/hits:(0|100)/k:6/with-hash"
    "|^screen/leveldb/(" BEST "|" PEERS ")/KiB:(16|256|1024|16384)/hits:(0|100)/k:6/with-hash"
    "|^threads/(floor/line|(leveldb|rocksdb-local)/" BEST ")/KiB:(256|16384)/(hits:0/)?real_time"
    "|^command/rocksdb-local/" BEST "/KiB:256/",
    NULL};

static const char *const standard[] = {
    "^floor/"
    "|^hash/(bloomhash|xxph3)/.*/(bytes:(4|8|16|32|64)|words|lengths:5-30)$"
    "|^screen/(leveldb|rocksdb-local)/.*/hits:(0|100)/k:6/with-hash"
    "|^batch/(leveldb|rocksdb-local)/(" BEST "|scalar|" PEERS ")/KiB:256/hits:0/"
    "|^threads/(floor/line|(leveldb|rocksdb-local)/(" BEST "|" PEERS "))/KiB:(256|16384|262144)/"
    "(hits:0/)?real_time"
    "|^command/rocksdb-local/" BEST "/"
    "|^build/(leveldb|rocksdb-local)/(" BEST "|scalar|" PEERS ")/KiB:(256|1024)$",
    NULL};

/* The full run has several parts, so that the filters of each part fit into the 2 GiB of data that
 * rows may share. */
static const char *const full[] = {"^(floor|hash|many|load|command)/",
                                   "^batch/",
                                   "^threads/",
                                   "^keys/leveldb.*",
                                   "^keys/rocksdb.*",
                                   "^screen/(leveldb.*|libbloom)/.*/k:4/",
                                   "^screen/(leveldb.*|libbloom)/.*/k:6/",
                                   "^screen/(leveldb.*|libbloom)/.*/k:10/",
                                   "^screen/rocksdb.*/k:4/",
                                   "^screen/rocksdb.*/k:6/",
                                   "^screen/rocksdb.*/k:10/",
                                   "^build/.*/KiB:(16|256|1024|16384)$",
                                   "^build/leveldb/.*/KiB:262144$",
                                   "^build/leveldb-signed/.*/KiB:262144$",
                                   "^build/rocksdb-legacy/.*/KiB:262144$",
                                   "^build/rocksdb-local/.*/KiB:262144$",
                                   NULL};

/* Copies a list of parts, replaces BEST in the copy by the name of the best kernel, and returns the
 * copy. The copy is in static memory, so a run can make only one copy. */
static const char *const *with_best_kernel(const char *const *parts)
{
  enum { MAX_NPARTS = 32 };
  static char texts[MAX_NPARTS][2048];
  static const char *filled[MAX_NPARTS + 1];
  for (size_t i = 0; parts[i]; i++) {
    FILE *text = fmemopen(texts[i], sizeof texts[i], "w");
    const char *rest = parts[i], *best;
    if (!text)
      bench_check(LANEBLOOM_ERR_MEMORY);
    for (; (best = strstr(rest, BEST)) != NULL; rest = best + strlen(BEST))
      fprintf(text, "%.*s%s", (int)(best - rest), rest, lanebloom_kernel_active());
    fputs(rest, text);
    fclose(text);
    filled[i] = texts[i];
  }
  return filled;
}

/* ---- Options ---- */

struct options {
  const char *const *parts;
  int max_nrounds;
  double max_seconds; /* the limit for the whole run */
  bool anyway;
  char output[300];
};

enum { QUICK = 256, FULL, ANYWAY };

static const struct argp_option option_list[] = {
    {"quick", QUICK, NULL, 0, "Measure only the main rows, in 20 seconds", 0},
    {"full", FULL, NULL, 0, "Measure all rows, in an hour", 0},
    {"output", 'o', "FILE", 0, "Write the results to FILE (default: CPU-TIME.json)", 0},
    {"anyway", ANYWAY, NULL, 0, "Measure even if other programs keep CPUs busy", 0},
    {0}};

static error_t parse(int key, char *text, struct argp_state *state)
{
  struct options *options = state->input;
  switch (key) {
  case QUICK:
    options->parts = quick;
    options->max_seconds = 20;
    return 0;
  case FULL:
    options->parts = full;
    options->max_nrounds = 3;
    options->max_seconds = 3600;
    return 0;
  case ANYWAY:
    options->anyway = true;
    return 0;
  case 'o':
    if ((size_t)snprintf(options->output, sizeof options->output, "%s", text) >=
        sizeof options->output)
      argp_error(state, "expected a FILE whose name has fewer than %zu bytes",
                 sizeof options->output);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options = option_list,
    .parser = parse,
    .doc =
        "Measures how fast this machine hashes keys, and builds and screens Bloom filters, in "
        "two minutes.\v"
        "Before a kernel is timed, its results are compared with the scalar kernel's. The output "
        "is google/benchmark's JSON; bench/report/lanebloom-report makes a page of it. With "
        "google/benchmark's options alone (--benchmark_filter=REGEX), the program works like "
        "others of that library.",
};

/* Makes a name for the file of results from the name of the CPU and the time. */
static void name_output(char *output, size_t output_size)
{
  char cpu[200], date[32];
  const time_t now = time(NULL);
  bench_cpu_name(cpu, sizeof cpu);
  char *end = cpu;
  for (const char *from = cpu; *from; from++)
    if (isalnum((unsigned char)*from))
      *end++ = *from;
    else if (end > cpu && end[-1] != '-')
      *end++ = '-';
  while (end > cpu && end[-1] == '-')
    end--;
  strftime(date, sizeof date, "%Y-%m-%dT%H%M%S", gmtime(&now));
  snprintf(output, output_size, "%.*s-%s.json", (int)(end - cpu), cpu, date);
}

/* ---- Running ---- */

/* Returns false if other programs keep CPUs busy. */
static bool is_quiet(void)
{
  const double allowed = 0.2;
  noise_other_cpus();
  sleep(1);
  const double others = noise_other_cpus();
  if (others > allowed)
    fprintf(stderr,
            "lanebloom-bench: REFUSED: expected an idle machine, found other programs using %.1f "
            "CPUs; stop them, or use --anyway and see many rows called unsure\n",
            others);
  return others <= allowed;
}

/* Starts the program again, with two settings that make results comparable. The first setting gives
 * engines huge pages for the filters that they build, because lanebloom uses huge pages for its own
 * filters. The second setting gives all runs the same addresses, because times depend on which
 * addresses have equal lower bits. */
static void start_again(char **argv)
{
  const char *tunables = getenv("GLIBC_TUNABLES");
  if (tunables || setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 1) != 0)
    return;
  personality(ADDR_NO_RANDOMIZE); /* if this is forbidden, addresses stay random */
  execv("/proc/self/exe", argv);
  unsetenv("GLIBC_TUNABLES"); /* if /proc is missing, the run goes on without the settings */
}

static int run(int argc, char **argv)
{
  struct options options = {.parts = standard, .max_nrounds = 20, .max_seconds = 120};
  argp_err_exit_status = EXIT_USAGE;
  argp_parse(&argp, argc, argv, 0, NULL, &options);
  if (!*options.output)
    name_output(options.output, sizeof options.output);
  if (!options.anyway && !is_quiet())
    return EXIT_NOISY;
  const int status = bench_run(&(struct bench_plan){
      .parts = with_best_kernel(options.parts),
      .nrepetitions = 5,
      .seconds = 0.005,
      .max_nrounds = options.max_nrounds,
      .max_seconds = options.max_seconds,
      .release = bench_share_nothing,
      .output = options.output,
  });
  puts(options.output);
  return status;
}

/* Checks whether there are options and all of them are options of google/benchmark. */
static bool is_benchmarks(int argc, char **argv)
{
  bool all = argc > 1;
  for (int i = 1; i < argc; i++)
    all = all && strncmp(argv[i], "--benchmark_", strlen("--benchmark_")) == 0;
  return all;
}

int main(int argc, char **argv)
{
#if defined(LANEBLOOM_BENCH_COMMAND)
  if (strcmp(basename(argv[0]), BENCH_COMMAND_NAME) == 0)
    return bench_command_main(argc, argv);
#endif
  if (!lanebloom_kernel_active()) {
    fprintf(stderr, "lanebloom-bench: %s: $LANEBLOOM_KERNEL\n",
            lanebloom_status_text(LANEBLOOM_ERR_KERNEL));
    return EXIT_USAGE;
  }
  start_again(argv);
  bench_describe();
  bench_describe_peers();
  bench_register_floor();
  bench_register_hash();
  bench_register_screen();
  bench_register_build();
  bench_register_many();
  bench_register_load();
#if defined(LANEBLOOM_BENCH_LIBBLOOM)
  bench_register_libbloom();
#endif
#if defined(LANEBLOOM_BENCH_COMMAND)
  bench_register_command();
#endif
  const int status = is_benchmarks(argc, argv) ? bench_main(argc, argv) : run(argc, argv);
  bench_share_nothing();
  return status;
}
