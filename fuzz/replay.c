/* Runs a fuzz target on each file of a folder, without libFuzzer. Each file has a process of its
 * own, so that all are tried even if one fails. Prints the results as TAP (Test Anything Protocol).
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

static int is_shown(const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

static void run(const char *path)
{
  FILE *file = fopen(path, "rb");
  struct stat info;
  if (!file || fstat(fileno(file), &info) != 0)
    exit(EXIT_FAILURE);
  uint8_t *bytes = malloc((size_t)info.st_size +
                          (info.st_size == 0)); /* exact size, so sanitizers detect reads past it */
  if (!bytes || fread(bytes, 1, (size_t)info.st_size, file) != (size_t)info.st_size)
    exit(EXIT_FAILURE);
  fclose(file);
  LLVMFuzzerTestOneInput(bytes, (size_t)info.st_size);
  free(bytes);
}

static bool passes(const char *path)
{
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    run(path);
    exit(EXIT_SUCCESS); /* not _exit(), because sanitizers report at exit */
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
  struct dirent **files;
  const int n = argc == 2 ? scandir(argv[1], &files, is_shown, alphasort) : -1;
  if (n <= 0) {
    fprintf(stderr, "usage: %s FOLDER, with at least one file in it\n", argv[0]);
    return EXIT_FAILURE;
  }
  bool all_pass = true;
  printf("1..%d\n", n);
  for (int i = 0; i < n; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", argv[1], files[i]->d_name);
    const bool pass = passes(path);
    printf("%sok %d - %s\n", pass ? "" : "not ", i + 1, files[i]->d_name);
    all_pass &= pass;
    free(files[i]);
  }
  free(files);
  return all_pass ? EXIT_SUCCESS : EXIT_FAILURE;
}
