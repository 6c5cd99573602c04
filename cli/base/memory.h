/* Allocates memory for lists, trees and strings. If memory runs out, these functions print a
 * message and exit with EXIT_TROUBLE.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_MEMORY_H
#define LANEBLOOM_CLI_MEMORY_H

#include <stddef.h>
#include <stdio.h>

/* Works like realloc(), but exits with a message if memory runs out, so it never returns NULL.
 * nbytes is not 0. */
void *resize(void *memory, size_t nbytes);

/* Makes room for one more element in a list of n elements, and returns the list, which may have
 * moved. Whenever the list is full, this doubles its room. This function recognizes a full list by
 * n alone, so only this function may grow the list. */
void *grow_list(void *list, size_t n, size_t element_nbytes);

/* Finds a key that equals this key in a tree of tsearch(3), and returns it. If there is none, adds
 * this key to the tree and returns it. The tree borrows the key. */
void *find_or_add(void *key, void **tree, int (*compare)(const void *, const void *));

/* Returns the key in the tree that equals this key, or NULL if there is none. */
void *find_in(const void *key, void *const *tree, int (*compare)(const void *, const void *));

/* open_string() opens a stream that writes into a new string. close_string() closes the stream and
 * returns the string, which the caller frees. */
FILE *open_string(char **string, size_t *nbytes);
char *close_string(FILE *stream, char *const *string);

/* Returns a formatted string, which the caller frees. */
__attribute__((format(printf, 1, 2))) char *format_text(const char *format, ...);

#endif
