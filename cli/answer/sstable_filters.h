/* A record passes this answer if its key may be in any of several SSTables.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SSTABLE_FILTERS_H
#define LANEBLOOM_CLI_SSTABLE_FILTERS_H

#include "../files/sstables.h"
#include "answer.h"

struct sstable_filters {
  struct sstables sstables;

  /* private */
  struct sources sources;
};

/* Are the names SSTables, or folders of SSTables? If only some of them are, prints a message and
 * exits. */
bool are_sstables(char *const *names, size_t n);

/* Loads the filters of all SSTables and returns the answer. If a filter cannot be loaded, prints a
 * message and exits. */
struct answer sstables_answer(struct sstable_filters *filters, char *const *names, size_t n);

#endif
