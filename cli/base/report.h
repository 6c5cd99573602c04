/* Messages on standard error, results on standard output, and the end of the command. A function is
 * called from one thread at a time, unless its comment says otherwise. If memory runs out, the
 * command prints a message and exits with EXIT_TROUBLE.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_REPORT_H
#define LANEBLOOM_CLI_REPORT_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { EXIT_SELECTED = 0, EXIT_NONE_SELECTED = 1, EXIT_TROUBLE = 2 }; /* as in grep */

/* Prints a message and a line end. All messages are printed by this function. Bytes that are not
 * printable UTF-8, which may occur in file names, appear as \ooo. Backslashes are not escaped: a
 * message may quote text that is escaped already. */
__attribute__((format(printf, 2, 0))) void print_message(FILE *stream, const char *format,
                                                         va_list arguments);

/* Prints "lanebloom: NAME: message", or "lanebloom: message" if the name is NULL. */
__attribute__((format(printf, 2, 3))) void complain(const char *name, const char *format, ...);

/* Ends the command: flushes its output and discards incomplete files. Several threads may call this
 * while others work: the status of the first call counts. */
_Noreturn void leave(int status);

/* Works like complain(), then exits with EXIT_TROUBLE. */
__attribute__((format(printf, 2, 3))) _Noreturn void die(const char *name, const char *format, ...);

/* Works like realloc(), but never returns NULL. nbytes is not 0. */
void *resize(void *memory, size_t nbytes);

/* Makes room for one more element of a list that has n elements. The list must always have been
 * grown by this function, which doubles the room. */
void *grow_list(void *list, size_t n, size_t element_nbytes);

/* Returns the equal key of a tree of tsearch(3). If there is none, adds this key, which the tree
 * borrows, and returns it. */
void *find_or_add(void *key, void **tree, int (*compare)(const void *, const void *));

/* Does nothing: for tdestroy(3) of a tree that borrows its keys. */
void leave_key(void *key);

/* Prints a file name; backslashes and bytes that are not printable UTF-8 appear as \ooo. */
void print_name(FILE *stream, const char *name);

/* Returns the text of print_name() as a string, which the caller frees. */
char *escape_name(const char *name);

/* Escapes any bytes in this way, as one word: a space becomes \040, and an empty value becomes "".
 * After `most` characters of output the rest becomes "...". */
char *escape_word(const void *bytes, size_t nbytes, size_t most);

/* Opens a stream that writes into a new string. close_string() returns the string, which the caller
 * frees. */
FILE *open_string(char **string, size_t *nbytes);
char *close_string(FILE *stream, char *const *string);

/* Write results to standard output. After a write error these functions print a message, except for
 * EPIPE, and exit with EXIT_TROUBLE. */
void output(const void *data, size_t nbytes);
__attribute__((format(printf, 1, 2))) void outputf(const char *format, ...);
void output_flush(void);
void output_whole(const void *data, size_t nbytes); /* flushes, then writes unbuffered */
void output_close(void);

/* Are the bytes UTF-8, as JSON requires? Preserves errno. */
bool is_text(const void *bytes, size_t nbytes);

/* Returns a new object for json_line() or output_json(). Sets errno to 0: until the object is
 * printed, ENOMEM means that json-c ran out of memory. */
struct json_object;
struct json_object *json_begin(void);

/* Returns the object. If it is NULL, memory ran out, and the command exits. */
struct json_object *json_needed(struct json_object *object);

/* Returns a string. A name that is not UTF-8, which JSON cannot hold, is escaped as by
 * print_name(). */
struct json_object *json_name(const char *name);

/* Returns a number, or NULL, which json-c prints as null, if the value is not finite. */
struct json_object *json_number(double value);

/* Returns the object as one line, which is borrowed from it. If memory ran out, exits. */
const char *json_line(struct json_object *object);

/* Prints the object in one line and frees it. */
void output_json(struct json_object *object);

/* Returns the time of a monotonic clock, in seconds. */
double seconds(void);

#endif
