/* Prints the text of --version: the facts about this program that a bug report or a measurement
 * needs.
 * SPDX-License-Identifier: MIT */
#include "commit.h" /* each build writes it; LANEBLOOM_COMMIT is "" outside a checkout */
#include "options.h"

static void print_kernels(FILE *stream)
{
  const char *active = lanebloom_kernel_active(); /* NULL if LANEBLOOM_KERNEL names no kernel */
  fputs("kernels:", stream);
  for (size_t i = 0; i < lanebloom_kernel_count(); i++)
    fprintf(stream, " %s", lanebloom_kernel_at(i));
  fprintf(stream, "; in use: %s\n", active ? active : "none");
}

void print_version(FILE *stream)
{
  fprintf(stream, "lanebloom %s\n", lanebloom_version());
  if (*LANEBLOOM_COMMIT)
    fprintf(stream, "commit: %s\n", LANEBLOOM_COMMIT);
  fprintf(stream, "compiler: %s\n", LANEBLOOM_COMPILER);
  print_kernels(stream);
  fprintf(stream, "inputs: %s\n", LANEBLOOM_INPUTS);
  fprintf(stream, "tables: %s\n", *LANEBLOOM_TABLES ? LANEBLOOM_TABLES : "none");
}
