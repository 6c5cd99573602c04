/* Runs the command once for each fault, in children that it forks before main(), and judges how
 * each run ended. The command's target is the file `target` of the current folder.
 *
 * $LANEBLOOM_FAULTS           FUNCTION HOW FIRST STEP: each STEP-th call of FUNCTION fails in turn,
 *                             from FIRST on, until a run makes fewer calls. If HOW is `none`, no
 *                             call fails, and the calls of one run are counted.
 * $LANEBLOOM_FAULT_NORMAL     a folder with out, err, target and status of a run without faults
 * $LANEBLOOM_FAULT_MESSAGE    the pattern of standard error if the command refuses to go on
 * $LANEBLOOM_FAULT_MUST_FAIL  set if every fault must have an effect
 * $LANEBLOOM_FAULT_TOLERATED  lines of STATUS OUTPUT PATTERN: other allowed endings. PATTERN
 *                             matches standard error. OUTPUT is `any`, or `lines` if no line of the
 *                             normal output may be lost.
 *
 * Prints the counts as an expression of bash, or names the fault that had another end.
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpose.h"

struct bytes {
  char *data; /* with a 0 byte after the data */
  size_t n;
  bool exists;
};

/* How a run ended. */
struct end {
  int status;
  struct bytes out, err, target;
};

static char function[16], how[16];
static unsigned long n; /* the number of the call that fails */
static bool is_add;
static struct end normal;
static struct bytes old_target;

static _Noreturn void fail(const char *format, ...)
{
  va_list rest;
  va_start(rest, format);
  dprintf(STDERR_FILENO, "%s %lu %s: ", function, n, how);
  vdprintf(STDERR_FILENO, format, rest);
  dprintf(STDERR_FILENO, "\n");
  va_end(rest);
  _exit(EXIT_FAILURE);
}

static bool is_how(const char *name)
{
  return strcmp(how, name) == 0;
}

/* ---- Files ---- */

static struct bytes read_file(const char *folder, const char *name)
{
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat found;
  if (fd < 0)
    return (struct bytes){0};
  if (fstat(fd, &found) != 0)
    fail("%s cannot be read", path);
  struct bytes bytes = {malloc((size_t)found.st_size + 1), (size_t)found.st_size, true};
  if (!bytes.data || read(fd, bytes.data, bytes.n) != found.st_size)
    fail("%s cannot be read", path);
  bytes.data[bytes.n] = 0;
  close(fd);
  return bytes;
}

static void write_file(const char *name, const struct bytes *bytes)
{
  const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0 || write(fd, bytes->data, bytes->n) != (ssize_t)bytes->n)
    fail("%s cannot be written", name);
  close(fd);
}

/* Counts the files of a folder, and calls `visit` for each unless it is NULL. */
static size_t each_file(const char *folder, void (*visit)(const char *folder, const char *name))
{
  size_t nfiles = 0;
  DIR *files = opendir(folder);
  if (!files)
    fail("the folder %s cannot be read", folder);
  for (const struct dirent *file; (file = readdir(files)); nfiles++)
    if (visit)
      visit(folder, file->d_name);
  closedir(files);
  return nfiles;
}

static void restore(const char *folder, const char *name)
{
  if (*name == '.')
    return;
  struct bytes bytes = read_file(folder, name);
  write_file(name, &bytes);
  free(bytes.data);
}

static void remove_temporary(const char *folder, const char *name)
{
  (void)folder;
  if (strncmp(name, ".lanebloom-", strlen(".lanebloom-")) == 0)
    unlink(name);
}

/* ---- Runs ---- */

static void redirect(int to, const char *name)
{
  const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (fd < 0 || dup2(fd, to) != to)
    fail("%s cannot be written", name);
  close(fd);
}

/* Runs the command in a child whose nth call fails. Returns false in the child. A child that hangs
 * is killed. */
static bool run(unsigned long nth, struct end *end, atomic_ulong *ncalls)
{
  free(end->out.data);
  free(end->err.data);
  free(end->target.data);
  *ncalls = 0;
  const pid_t child = fork();
  if (child == 0) {
    redirect(STDOUT_FILENO, "out");
    redirect(STDERR_FILENO, "err");
    alarm(60);
    arm(function, nth, how, ncalls);
    return false;
  }
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child)
    fail("no child can be had");
  end->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  end->out = read_file(".", "out");
  end->err = read_file(".", "err");
  end->target = read_file(".", "target");
  return true;
}

/* ---- Judging ---- */

static bool begins_with(const struct bytes *whole, const struct bytes *part)
{
  return part->n <= whole->n && memcmp(whole->data, part->data, part->n) == 0;
}

static bool same(const struct bytes *a, const struct bytes *b)
{
  return a->exists == b->exists && a->n == b->n &&
         (a->n == 0 || memcmp(a->data, b->data, a->n) == 0);
}

static bool matches(const char *pattern, const struct bytes *text)
{
  return fnmatch(pattern, text->data, FNM_EXTMATCH) == 0;
}

/* Returns whether the fault had no effect at all. */
static bool is_undisturbed(const struct end *end)
{
  return end->status == normal.status && same(&end->out, &normal.out) &&
         same(&end->err, &normal.err) && same(&end->target, &normal.target);
}

/* Returns whether the command refused to go on: its output so far is right, and a message gives the
 * reason. */
static bool is_refused(const struct end *end)
{
  const bool is_cut = is_add && is_how("shrink"); /* the fault cut the target itself */
  return end->status == 2 && matches(getenv("LANEBLOOM_FAULT_MESSAGE"), &end->err) &&
         (is_cut || same(&end->target, &old_target) || same(&end->target, &normal.target)) &&
         begins_with(&normal.out, &end->out);
}

/* Does the output have every line of the normal output, in the same order? A command that failed
 * may have printed nothing. */
static bool has_all_lines(const struct end *end)
{
  if (end->status == 2 && end->out.n == 0)
    return true;
  const char *line = normal.out.data;
  size_t length;
  for (const char *next = end->out.data; *next; next += length) {
    length = strcspn(next, "\n");
    length += next[length] == '\n';
    if (strncmp(line, next, length) == 0)
      line += length;
  }
  return !*line;
}

static bool is_tolerated(const struct end *end)
{
  const char *rest = getenv("LANEBLOOM_FAULT_TOLERATED");
  while (rest && *rest) {
    char line[256], output[8];
    int status, at = 0;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(rest, "\n"), rest);
    if (sscanf(line, "%d %7s %n", &status, output, &at) != 2 || at == 0)
      fail("'%s' is not STATUS OUTPUT PATTERN", line);
    if (end->status == status && matches(line + at, &end->err) &&
        (strcmp(output, "any") == 0 || has_all_lines(end)))
      return true;
    rest += strcspn(rest, "\n");
    rest += *rest == '\n';
  }
  return false;
}

/* Fails unless the run had an acceptable end. Returns whether the command refused to go on. */
static bool judge(const struct end *end)
{
  const bool may_end = strncmp(how, "fail", 4) == 0 || is_how("shrink") || is_how("nothing");
  if (!getenv("LANEBLOOM_FAULT_MUST_FAIL") && is_undisturbed(end))
    return false;
  if (may_end && is_tolerated(end))
    return false;
  if (!may_end || !is_refused(end))
    fail("status %d", end->status);
  return true;
}

/* Returns whether the killed command left the complete new target. */
static bool judge_kill(const struct end *end)
{
  const bool is_whole = same(&end->target, &normal.target);
  if (end->status != 128 + SIGKILL)
    fail("status %d", end->status);
  if (!is_whole && !same(&end->target, &old_target))
    fail("the target is neither old nor whole: %zu bytes", end->target.n);
  return is_whole;
}

void serve(const char *faults, const char *verb)
{
  unsigned long first, step;
  if (sscanf(faults, "%15s %15s %lu %lu", function, how, &first, &step) != 4)
    fail("'%s' is not FUNCTION HOW FIRST STEP", faults);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0});
  struct end end = {0};
  atomic_ulong *ncalls =
      mmap(NULL, sizeof *ncalls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (ncalls == MAP_FAILED)
    fail("no memory");
  if (is_how("none")) {
    if (!run(ULONG_MAX, &end, ncalls))
      return;
    dprintf(STDOUT_FILENO, "ncalls = %lu\n", *ncalls);
    _exit(EXIT_SUCCESS);
  }

  const char *folder = getenv("LANEBLOOM_FAULT_NORMAL");
  struct bytes status = read_file(folder, "status");
  normal = (struct end){atoi(status.data), read_file(folder, "out"), read_file(folder, "err"),
                        read_file(folder, "target")};
  is_add = strcmp(verb, "add") == 0;
  old_target = read_file(".", "target");
  const bool is_kill = strncmp(how, "kill", 4) == 0;
  const size_t nfiles = each_file(".", NULL);
  unsigned long nfaults = 0, nothers = 0;
  for (n = first;; n += step) {
    write_file("target", &old_target);
    if (is_how("shrink"))
      each_file("kept", restore);
    if (!run(n, &end, ncalls))
      return;
    if (*ncalls < n)
      break;
    nfaults++;
    if (is_kill) {
      nothers += judge_kill(&end);
      if (is_add)
        write_file("target", &old_target);
      if (!run(ULONG_MAX, &end, ncalls)) /* a run without a kill, over what the killed one left */
        return;
      if (!is_undisturbed(&end))
        fail("the next run has status %d", end.status);
      each_file(".", remove_temporary);
    }
    if (each_file(".", NULL) != nfiles)
      fail("a file is left");
    if (!is_kill)
      nothers += judge(&end);
  }
  if (!is_undisturbed(&end))
    fail("without a fault, the status is %d", end.status);
  dprintf(STDOUT_FILENO,
          is_kill ? "nkills += %lu, nwhole += %lu\n" : "nfaults += %lu, nrefused += %lu\n", nfaults,
          nothers);
  _exit(EXIT_SUCCESS);
}
