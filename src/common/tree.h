/* Completes tsearch(3): only some systems have a function that frees a whole tree.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TREE_H
#define LANEBLOOM_TREE_H

#include <search.h>
#include <stdlib.h>

/* Frees a tree and its elements, which malloc() made. */
static inline void tree_free(void **root, int (*compare)(const void *, const void *))
{
  while (*root) {
    void *element = *(void **)*root; /* a node begins with the pointer to its element */
    tdelete(element, root, compare);
    free(element);
  }
}

#endif
