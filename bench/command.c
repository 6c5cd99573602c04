/* Measures the whole command `lanebloom screen`, from its start to its end. The command reads lines
 * from a file in memory. No line is in the filter; the command writes the lines that pass, the
 * false positives, to another file.
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peers.h"
#include "rows.h"
#include "shared.h"
#include "shim.h"

/* The lines have 12 hexadecimal digits. There are so many lines that starting the command takes
 * only a small part of the measured time. */
enum { NLINES = 1 << 23, LINE_NBYTES = 13 };

struct command_row {
  struct bench_case wanted;
  const char *kernel;
  long njobs;
  long expected; /* how many lines pass; negative if not known yet */
};

/* The descriptors of files in memory. Such files have no names: the command gets `lines` and
 * `output` as its standard input and output, and opens `filter` as /proc/self/fd/N. */
struct files {
  int lines, filter, output;
};

static struct bench_made make_lines(const struct bench_case *wanted)
{
  (void)wanted; /* all rows have the same lines */
  const struct bench_made made = bench_make_array((size_t)NLINES * LINE_NBYTES);
  uint8_t *line = bench_array(&made);
  for (uint64_t i = 0; i < NLINES; i++, line += LINE_NBYTES) {
    uint64_t number = bench_key(i);
    for (int digit = 0; digit < LINE_NBYTES - 1; digit++, number >>= 4)
      line[digit] = (uint8_t) "0123456789abcdef"[number & 15];
    line[LINE_NBYTES - 1] = '\n';
  }
  return made;
}

static int make_file(const void *bytes, size_t nbytes)
{
  const int fd = memfd_create("lanebloom-bench", 0);
  if (fd >= 0 && nbytes > 0 &&
      (ftruncate(fd, (off_t)nbytes) != 0 || pwrite(fd, bytes, nbytes, 0) != (ssize_t)nbytes)) {
    close(fd);
    return -1;
  }
  return fd;
}

static int make_filter_file(const lanebloom_filter *filter)
{
  size_t nbytes;
  lanebloom_status status = lanebloom_filter_write(filter, NULL, 0, &nbytes); /* finds the size */
  const struct bench_made container = bench_make_array(nbytes);
  status = lanebloom_filter_write(filter, bench_array(&container), nbytes, &nbytes);
  bench_check(status);
  const int fd = make_file(bench_array(&container), nbytes);
  container.release(container.value);
  return fd;
}

/* Runs the command once. Returns the number of lines that it printed, or a negative number if it
 * failed. */
static long run(const struct command_row *row, const struct files *files)
{
  char jobs[32], filter[32], kernel[64];
  snprintf(jobs, sizeof jobs, "--jobs=%ld", row->njobs);
  snprintf(filter, sizeof filter, "/proc/self/fd/%d", files->filter);
  snprintf(kernel, sizeof kernel, "--kernel=%s", row->kernel);
  char name[] = BENCH_COMMAND_NAME, verb[] = "screen", input[] = "-";
  char *arguments[] = {name, verb, jobs, kernel, filter, input, NULL};

  if (lseek(files->lines, 0, SEEK_SET) != 0 || lseek(files->filter, 0, SEEK_SET) != 0 ||
      lseek(files->output, 0, SEEK_SET) != 0 || ftruncate(files->output, 0) != 0)
    return -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, files->lines, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, files->output, STDOUT_FILENO);
  pid_t child;
  int status = -1;
  const bool started =
      posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  if (!started || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
      WEXITSTATUS(status) > 1) /* status 1 means that no line passed */
    return -1;
  return lseek(files->output, 0, SEEK_END) / LINE_NBYTES;
}

static long expected(const lanebloom_filter *filter, const uint8_t *lines)
{
  long count = 0;
  uint8_t digits[BENCH_CALL_NKEYS][LINE_NBYTES - 1];
  bench_use("scalar");
  for (size_t first = 0; first < NLINES; first += BENCH_CALL_NKEYS) {
    for (size_t i = 0; i < BENCH_CALL_NKEYS; i++)
      memcpy(digits[i], lines + (first + i) * LINE_NBYTES, sizeof digits[i]);
    const lanebloom_keys keys = lanebloom_keys_fixed(digits, sizeof *digits, BENCH_CALL_NKEYS);
    count += (long)lanebloom_filter_screen(filter, &keys, NULL);
  }
  return count;
}

static void command_row(struct bench *bench, void *argument)
{
  struct command_row *row = argument;
  const lanebloom_filter *filter = bench_filter(&row->wanted)->filter;
  const uint8_t *lines = bench_share_array(make_lines, &(struct bench_case){0});
  static int file_of_lines = -1; /* made once, for all rows */
  if (file_of_lines < 0)
    file_of_lines = make_file(lines, (size_t)NLINES * LINE_NBYTES);
  const struct files files = {file_of_lines, make_filter_file(filter), make_file(NULL, 0)};
  if (files.lines < 0 || files.filter < 0 || files.output < 0) {
    bench_skip(bench, "too little memory for files in memory");
  } else {
    if (row->expected < 0)
      row->expected = expected(filter, lines);
    long found = run(row, &files);
    while (found == row->expected && bench_next(bench, NLINES))
      found = run(row, &files);
    if (found != row->expected)
      bench_skip(bench, "wrong number of hits");
  }
  close(files.filter);
  close(files.output);
}

void bench_register_command(void)
{
  if (access("/proc/self/exe", X_OK) != 0)
    return; /* /proc is not mounted */
  static const lanebloom_format formats[] = {LANEBLOOM_LEVELDB, LANEBLOOM_ROCKSDB_LOCAL};
  static const size_t sizes[] = {256, BENCH_LARGE_KIB};
  const long ncpus = sysconf(_SC_NPROCESSORS_ONLN), jobs[] = {1, ncpus};
  for (size_t format = 0; format < 2; format++)
    for (size_t size = 0; size < 2; size++)
      for (size_t job = 0; job < (ncpus > 1 ? 2 : 1); job++)
        for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
          const struct command_row row = {
              .wanted = {.format = formats[format], .kib = sizes[size], .nprobes = BENCH_NPROBES},
              .kernel = lanebloom_kernel_at(i),
              .njobs = jobs[job],
              .expected = -1};
          bench_register_real(
              command_row, &row, sizeof row, "command/%s/%s/KiB:%zu/hits:0/jobs:%ld",
              lanebloom_format_name(row.wanted.format), row.kernel, row.wanted.kib, row.njobs);
        }
}
