/* Faults that scripts/check.sh must find: one for each checker that reads C.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

double for_clang_tidy(int nhits, int nkeys);
double for_clang_tidy(int nhits, int nkeys)
{
  return nhits / nkeys;
}

char for_cppcheck(void);
char for_cppcheck(void)
{
  const char text[4] = {'a', 'b', 'c', 'd'};
  return text[4];
}

int for_clang_analyzer(int is_set);
int for_clang_analyzer(int is_set)
{
  const int *number = NULL;
  if (is_set)
    number = &is_set;
  return *number;
}

int for_fanalyzer(void);
int for_fanalyzer(void)
{
  int *number = calloc(1, sizeof *number);
  return *number;
}
