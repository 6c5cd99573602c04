/* Functions for the paths of inputs and outputs; they also tell which paths are standard input or
 * output.
 * SPDX-License-Identifier: MIT */
#include "paths.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool is_standard_input(const char *path)
{
  return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0;
}

const char *input_name(const char *path)
{
  return strcmp(path, "-") == 0 ? "(standard input)" : path;
}

const char also_output_text[] = "input file is also the output: write to another file";

bool is_same_file(const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool is_standard_output(const char *path)
{
  struct stat input, results;
  return stat(is_standard_input(path) ? "/dev/stdin" : path, &input) == 0 &&
         fstat(STDOUT_FILENO, &results) == 0 && S_ISREG(input.st_mode) &&
         is_same_file(&input, &results);
}

const char *directory_advice(int error)
{
  return error == EISDIR
             ? "; name the files in it; `screen --db' queries the tables of a database, "
               "and `screen --parquet' the Parquet files of a folder"
             : "";
}
