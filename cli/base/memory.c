/* Allocates memory for lists, trees and strings, and ends the command if memory runs out.
 * SPDX-License-Identifier: MIT */
#include "memory.h"

#include <errno.h>
#include <search.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../system/files.h"
#include "report.h"

void *resize(void *memory, size_t nbytes)
{
  void *resized = realloc(memory, nbytes);
  if (!resized)
    die(NULL, "%s", strerror(ENOMEM));
  return resized;
}

void *grow_list(void *list, size_t n, size_t element_nbytes)
{
  const bool is_full = (n & (n - 1)) == 0; /* n is 0 or a power of two */
  return is_full ? resize(list, (n > 0 ? 2 * n : 1) * element_nbytes) : list;
}

void *find_or_add(void *key, void **tree, int (*compare)(const void *, const void *))
{
  void *const *found = tsearch(key, tree, compare);
  if (found)
    return *found;
  die(NULL, "%s", strerror(ENOMEM));
}

void *find_in(const void *key, void *const *tree, int (*compare)(const void *, const void *))
{
  void *const *found = tfind(key, tree, compare);
  return found ? *found : NULL;
}

FILE *open_string(char **string, size_t *nbytes)
{
  FILE *stream = open_string_stream(string, nbytes);
  if (!stream)
    die(NULL, "%s", strerror(errno));
  return stream;
}

/* Checks the string, too: if memory runs out, fclose() of glibc may succeed without a string. */
char *close_string(FILE *stream, char *const *string)
{
  if (!close_string_stream(stream) || !*string)
    die(NULL, "%s", strerror(ENOMEM));
  return *string;
}

char *format_text(const char *format, ...)
{
  char *text;
  va_list values;
  va_start(values, format);
  const int nbytes = vasprintf(&text, format, values);
  va_end(values);
  if (nbytes < 0)
    die(NULL, "%s", strerror(ENOMEM));
  return text;
}
