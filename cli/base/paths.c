/* Functions for the paths of inputs and outputs; they also tell which paths are standard input or
 * output.
 * SPDX-License-Identifier: MIT */
#include "paths.h"

#include <errno.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../system/files.h"

bool is_standard_input(const char *path)
{
  return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0;
}

const char *input_name(const char *path)
{
  return strcmp(path, "-") == 0 ? "(standard input)" : path;
}

const char also_output_text[] = "input file is also the output: write to another file";

bool is_same_file(const struct system_info *a, const struct system_info *b)
{
  return a->device == b->device && a->number == b->number;
}

bool is_standard_output(const char *path)
{
  struct system_info input, results;
  return lanebloom_system_info(is_standard_input(path) ? "/dev/stdin" : path, &input) &&
         lanebloom_system_file_info(STANDARD_OUTPUT, &results) && input.kind == SYSTEM_FILE &&
         is_same_file(&input, &results);
}

const char *directory_advice(int error)
{
  return error == EISDIR
             ? "; name the files in it; `screen --db' queries the tables of a database, "
               "and `screen --parquet' the Parquet files of a folder"
             : "";
}
