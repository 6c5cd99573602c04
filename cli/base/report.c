/* Prints the messages and results of the command, and ends the command.
 * SPDX-License-Identifier: MIT */
#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/common/characters.h"
#include "../../src/common/problem.h"
#include "../../src/system/replace.h"
#include "../system/files.h"
#include "../system/process.h"
#include "../system/threads.h"
#include "memory.h"
#include "progress.h"

/* Prints the first character of the bytes. If the character is not printable, changes the direction
 * of text, or is in `escaped`, prints only its first byte, as \ooo. Returns how many of the bytes
 * were printed. */
static size_t print_character(FILE *stream, const char *bytes, size_t nbytes, const char *escaped)
{
  uint32_t character;
  const size_t n = read_character(bytes, nbytes, &character);
  if (n > 0 && is_printable(character) && !problem_turns(character) && !strchr(escaped, *bytes)) {
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
  if (stream == stderr)
    fflush(stream); /* does nothing if the stream has written the line */
  free(text);
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

/* What is left to do when the command ends. */
static void (*last_work[2])(void);
static size_t nlast_work;

static void do_last_work(void)
{
  while (nlast_work > 0)
    last_work[--nlast_work]();
}

/* Not quick_exit() of C11, which macOS lacks. */
void call_at_end(void (*work)(void))
{
  if (nlast_work == 0 && atexit(do_last_work) != 0)
    die(NULL, "%s", strerror(ENOMEM));
  last_work[nlast_work++] = work;
}

void leave(int status)
{
  static atomic_flag is_leaving = ATOMIC_FLAG_INIT;
  while (atomic_flag_test_and_set(&is_leaving))
    wait_for_end();            /* the first caller ends the command */
  if (has_started_threads()) { /* exit() would destroy objects that the threads still use, such as
                                * objects of simdjson */
    fflush(stderr);
    do_last_work();
    _Exit(status);
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

/* Prints no message for EPIPE: the reader of a closed pipe wants no more output. */
static void complain_of_output(void)
{
  if (!is_pipe_closed())
    complain(NULL, "write error: %s", strerror(errno));
  fflush(stderr);
}

/* Discards the output that could not be written, because exit() would try to write it again. */
static _Noreturn void die_of_output(void)
{
  complain_of_output();
  discard_stream(stdout);
  clearerr(stdout); /* so that output_close() does not report the error again */
  leave(EXIT_TROUBLE);
}

void output(const void *data, size_t nbytes)
{
  if (write_stream(data, nbytes, stdout) != nbytes)
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
  if (flush_stream(stdout) != 0)
    die_of_output();
}

void output_whole(const void *data, size_t nbytes)
{
  output_flush();
  if (!lanebloom_write_all(STANDARD_OUTPUT, data, nbytes))
    die_of_output();
}

void output_close(void)
{
  const bool has_failed = ferror(stdout) != 0; /* argp ignores write errors; errno still holds the
                                                * reason */
  if (fclose(stdout) == 0 && !has_failed)
    return;
  complain_of_output();
  _Exit(EXIT_TROUBLE); /* not exit(), because exit() called this function */
}
