/* Twice as many names take at most two and a half times the comparisons and the memory. The linker
 * makes the command call the functions here (tests/cli/CMakeLists.txt).
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cli/answer/database.h"
#include "../cli/base/report.h"
#include "../cli/verbs/verbs.h"
#include "filter_files.h"

static uint64_t ncompared, nresized; /* comparisons of names; the bytes requested of realloc */

int __real_strcmp(const char *a, const char *b);
int __wrap_strcmp(const char *a, const char *b);

int __wrap_strcmp(const char *a, const char *b)
{
  ncompared++;
  return __real_strcmp(a, b);
}

void *__real_realloc(void *memory, size_t nbytes);
void *__wrap_realloc(void *memory, size_t nbytes);

void *__wrap_realloc(void *memory, size_t nbytes)
{
  nresized += nbytes;
  return __real_realloc(memory, nbytes);
}

enum { NNAMES = 200 };

static void check_counts(const char *what, const uint64_t counts[2])
{
  cr_assert(counts[0] >= NNAMES, "%" PRIu64 " %s", counts[0], what);
  cr_assert(counts[1] <= counts[0] * 5 / 2, "%d names: %" PRIu64 " %s, twice as many: %" PRIu64,
            NNAMES, counts[0], what, counts[1]);
}

/* work: runs the command's code on n names. */
static void is_nearly_linear(void (*work)(size_t n))
{
  uint64_t comparisons[2], bytes[2];
  for (size_t i = 0; i < 2; i++) {
    enter_empty_folder();
    ncompared = nresized = 0;
    work((i + 1) * NNAMES);
    comparisons[i] = ncompared;
    bytes[i] = nresized;
    leave_folder();
  }
  check_counts("comparisons", comparisons);
  check_counts("bytes", bytes);
}

static void screen_by_filters(size_t n)
{
  char *arguments[] = {"lanebloom screen", "-q", "--filters-from", "names", "key", NULL};
  lanebloom_filter *filter = build(10, 1, 1);
  save(filter, "filter");
  lanebloom_filter_free(filter);
  FILE *key = fopen("key", "w"), *names = fopen("names", "w");
  cr_assert(key && names);
  fputs("key\n", key);
  for (size_t i = 0; i < n; i++) {
    char name[32];
    snprintf(name, sizeof name, "filter-%zu", i * 7919 % n);
    cr_assert(link("filter", name) == 0);
    fprintf(names, "%s\n", name);
  }
  fclose(key);
  fclose(names);
  cr_assert(screen_main(5, arguments) != EXIT_TROUBLE);
}

Test(many_names, of_filters)
{
  is_nearly_linear(screen_by_filters);
}

/* Each warning concerns two tables. During the call, standard error goes to a file. */
static void warn_of_many(size_t n)
{
  char **texts = malloc(n * sizeof *texts), *paths[2 * NNAMES * 2];
  const char *warnings[2 * NNAMES * 2];
  for (size_t i = 0; i < n; i++) {
    cr_assert(texts && asprintf(&texts[i], "warning-%zu", i * 7919 % n) > 0);
    warnings[i] = warnings[n + i] = texts[i];
    paths[i] = paths[n + i] = "table";
  }
  const int terminal = dup(STDERR_FILENO), fd = open("err", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  cr_assert(terminal >= 0 && fd >= 0 && dup2(fd, STDERR_FILENO) >= 0);
  warn_of_tables(paths, warnings, 2 * n);
  fflush(stderr);
  cr_assert(dup2(terminal, STDERR_FILENO) >= 0);
  size_t nlines = 0;
  char line[80];
  FILE *file = fopen("err", "r");
  for (; file && fgets(line, sizeof line, file); nlines++)
    cr_assert(strstr(line, "table: warning: warning-") && strstr(line, " (and 1 more)\n"), "%s",
              line);
  cr_assert(nlines == n, "%zu lines", nlines);
  fclose(file);
  close(fd);
  close(terminal);
  for (size_t i = 0; i < n; i++)
    free(texts[i]);
  free(texts);
}

Test(many_names, of_tables_with_warnings)
{
  is_nearly_linear(warn_of_many);
}
