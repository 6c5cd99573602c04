/* Completes tsearch(3): only some systems have a function that frees a whole tree.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TREE_H
#define LANEBLOOM_TREE_H

#include <search.h>
#include <stddef.h>

static inline int tree_equals(const void *a, const void *b)
{
  (void)a, (void)b;
  return 0;
}

/* Frees a tree, and each of its elements by `free_element`, which may be NULL. Deletes the root
 * until none is left: to tree_equals(), the root equals every element. */
static inline void tree_free(void **root, void (*free_element)(void *))
{
  while (*root) {
    void *element = *(void **)*root; /* a node begins with the pointer to its element */
    tdelete(element, root, tree_equals);
    if (free_element)
      free_element(element);
  }
}

#endif
