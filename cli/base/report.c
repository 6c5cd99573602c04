/* Prints the messages and results of the command, and ends the command.
 * SPDX-License-Identifier: MIT */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <search.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "../../src/common/problem.h"
#include "../../src/common/replace.h"
#include "progress.h"
#include "threads.h"

/* Prints the first character of the bytes. Prints its first byte as \ooo if the character is not
 * printable, changes the direction of text, or is in `escaped`. Returns how many of the bytes were
 * printed. */
static size_t print_character(FILE *stream, const char *bytes, size_t nbytes, const char *escaped)
{
  mbstate_t state = {0};
  wchar_t wide;
  const size_t n = mbrtowc(&wide, bytes, nbytes, &state);
  if (n > 0 && n <= nbytes && iswprint((wint_t)wide) && !problem_turns((uint32_t)wide) &&
      !strchr(escaped, *bytes)) {
    fwrite(bytes, 1, n, stream);
    return n;
  }
  fprintf(stream, "\\%03o", (unsigned)(unsigned char)*bytes);
  return 1;
}

static void print_escaped(FILE *stream, const char *text, const char *escaped)
{
  for (size_t nleft = strlen(text), n; nleft > 0; text += n, nleft -= n)
    n = print_character(stream, text, nleft, escaped);
}

void print_name(FILE *stream, const char *name)
{
  print_escaped(stream, name, "\\");
}

void print_message(FILE *stream, const char *format, va_list arguments)
{
  char room[4096] = "", *text = NULL; /* a fixed array, because the message may report that memory
                                       * ran out */
  va_list again;
  va_copy(again, arguments);
  const int nbytes = vsnprintf(room, sizeof room, format, arguments);
  if (nbytes >= (int)sizeof room && vasprintf(&text, format, again) < 0)
    text = NULL;
  va_end(again);
  print_escaped(stream, text ? text : room, "");
  fputc('\n', stream);
  free(text);
}

FILE *open_string(char **string, size_t *nbytes)
{
  FILE *stream = open_memstream(string, nbytes);
  if (!stream)
    die(NULL, "%s", strerror(errno));
  return stream;
}

/* Checks the string, too: if memory runs out, fclose() of glibc may succeed without a string. */
char *close_string(FILE *stream, char *const *string)
{
  if (fclose(stream) != 0 || !*string)
    die(NULL, "%s", strerror(ENOMEM));
  return *string;
}

char *escape_name(const char *name)
{
  char *text;
  size_t nbytes;
  FILE *stream = open_string(&text, &nbytes);
  print_name(stream, name);
  return close_string(stream, &text);
}

char *escape_word(const void *bytes, size_t nbytes, size_t most)
{
  char *text;
  size_t text_nbytes;
  FILE *stream = open_string(&text, &text_nbytes);
  if (nbytes == 0)
    fputs("\"\"", stream);
  const char *next = bytes;
  for (size_t n; nbytes > 0 && (size_t)ftell(stream) < most; next += n, nbytes -= n)
    n = print_character(stream, next, nbytes, "\\ ");
  if (nbytes > 0)
    fputs("...", stream);
  return close_string(stream, &text);
}

static void complain_va(const char *name, const char *format, va_list arguments)
{
  progress_erase();
  fputs("lanebloom: ", stderr);
  if (name) {
    print_name(stderr, name);
    fputs(": ", stderr);
  }
  print_message(stderr, format, arguments);
}

void complain(const char *name, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  complain_va(name, format, arguments);
  va_end(arguments);
}

void leave(int status)
{
  static atomic_flag is_leaving = ATOMIC_FLAG_INIT;
  while (atomic_flag_test_and_set(&is_leaving))
    pause();                   /* wait until the first caller has ended the command */
  if (has_started_threads()) { /* exit() would destroy objects that the threads still use, such as
                                * those of simdjson */
    fflush(stderr);
    quick_exit(status);
  }
  exit(status);
}

void die(const char *name, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  complain_va(name, format, arguments);
  va_end(arguments);
  leave(EXIT_TROUBLE);
}

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

void leave_key(void *key)
{
  (void)key;
}

/* Prints no message for EPIPE: the reader of a closed pipe wants no more output. */
static void complain_of_output(void)
{
  if (errno != EPIPE)
    complain(NULL, "write error: %s", strerror(errno));
  fflush(stderr);
}

/* Discards the output that could not be written, because exit() would try to write it again. */
static _Noreturn void die_of_output(void)
{
  complain_of_output();
  __fpurge(stdout);
  clearerr(stdout); /* so that output_close() does not report the error again */
  leave(EXIT_TROUBLE);
}

void output(const void *data, size_t nbytes)
{
  if (fwrite_unlocked(data, 1, nbytes, stdout) != nbytes)
    die_of_output();
}

void outputf(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  if (vprintf(format, arguments) < 0)
    die_of_output();
  va_end(arguments);
}

void output_flush(void)
{
  if (fflush_unlocked(stdout) != 0)
    die_of_output();
}

void output_whole(const void *data, size_t nbytes)
{
  output_flush();
  if (!lanebloom_write_all(STDOUT_FILENO, data, nbytes))
    die_of_output();
}

void output_close(void)
{
  const bool has_failed = ferror(stdout) != 0; /* argp ignores write errors; errno still holds the
                                                * reason */
  if (fclose(stdout) == 0 && !has_failed)
    return;
  complain_of_output();
  _exit(EXIT_TROUBLE); /* not exit(), because exit() called this function */
}

/* Also compares with U+10FFFF, the last character of Unicode, because glibc accepts larger
 * numbers. */
bool is_text(const void *bytes, size_t nbytes)
{
  const char *next = bytes;
  mbstate_t state = {0};
  const int error = errno;
  bool is_unicode = true;
  for (size_t nleft = nbytes, n; is_unicode && nleft > 0; nleft -= n, next += n) {
    wchar_t wide = 0;
    n = mbrtowc(&wide, next, nleft, &state);
    is_unicode = n <= nleft && (unsigned long)wide <= 0x10ffff;
    n = is_unicode && n > 0 ? n : 1; /* n is 0 for NUL, which is one byte */
  }
  errno = error;
  return is_unicode;
}

/* If memory runs out, json-c leaves out a member or writes null, and returns no error. But malloc()
 * sets errno to ENOMEM, so errno tells whether the text is complete. */
struct json_object *json_begin(void)
{
  errno = 0;
  return json_needed(json_object_new_object());
}

struct json_object *json_needed(struct json_object *object)
{
  if (!object)
    die(NULL, "%s", strerror(ENOMEM));
  return object;
}

struct json_object *json_name(const char *name)
{
  if (is_text(name, strlen(name)))
    return json_object_new_string(name);
  char *text = escape_name(name);
  struct json_object *string = json_object_new_string(text);
  free(text);
  return string;
}

struct json_object *json_number(double value)
{
  return isfinite(value) ? json_object_new_double(value) : NULL;
}

const char *json_line(struct json_object *object)
{
  const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
                                                                JSON_C_TO_STRING_NOSLASHESCAPE);
  if (!text || errno == ENOMEM)
    die(NULL, "%s", strerror(ENOMEM));
  return text;
}

void output_json(struct json_object *object)
{
  outputf("%s\n", json_line(object));
  json_object_put(object);
}

double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
