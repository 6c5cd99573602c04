/* Prints messages on standard error and results on standard output, and ends the command. Only one
 * thread at a time may call a function of this file, unless the comment of the function allows
 * more. If memory runs out, the command prints a message and exits with EXIT_TROUBLE.
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

/* Prints a message and a line end. Every message goes through this function. Bytes that are not
 * printable UTF-8, which may occur in file names, appear as \ooo. Backslashes are not escaped,
 * because a message may quote text that is already escaped. */
__attribute__((format(printf, 2, 0))) void print_message(FILE *stream, const char *format,
                                                         va_list arguments);

/* Prints "lanebloom: NAME: message", or "lanebloom: message" if the name is NULL. */
__attribute__((format(printf, 2, 3))) void complain(const char *name, const char *format, ...);

/* Ends the command: flushes its output and discards incomplete files. Any thread may call this
 * while other threads work. If several threads call it, the command exits with the status of the
 * first call. */
_Noreturn void leave(int status);

/* Prints a message like complain(), then exits with EXIT_TROUBLE. */
__attribute__((format(printf, 2, 3))) _Noreturn void die(const char *name, const char *format, ...);

/* Works like realloc(), but exits with a message if memory runs out, so it never returns NULL.
 * nbytes is not 0. */
void *resize(void *memory, size_t nbytes);

/* Makes room for one more element in a list of n elements, and returns the list, which may have
 * moved. Whenever the list is full, this doubles its room. It recognizes a full list by n alone, so
 * only this function may grow the list. */
void *grow_list(void *list, size_t n, size_t element_nbytes);

/* Finds a key that equals this key in a tree of tsearch(3), and returns it. If there is none, adds
 * this key to the tree and returns it. The tree borrows the key. */
void *find_or_add(void *key, void **tree, int (*compare)(const void *, const void *));

/* Does nothing. If a tree borrows its keys, pass this function to tdestroy(3), which would
 * otherwise need a function that frees keys. */
void leave_key(void *key);

/* Prints a file name. Backslashes and bytes that are not printable UTF-8 appear as \ooo. */
void print_name(FILE *stream, const char *name);

/* Returns what print_name() would print, as a string. The caller frees it. */
char *escape_name(const char *name);

/* Returns the bytes as one printable word, which the caller frees. Escapes them as print_name()
 * does, and a space as \040. An empty value becomes "". If the output has reached `most`
 * characters, "..." replaces the rest. */
char *escape_word(const void *bytes, size_t nbytes, size_t most);

/* open_string() opens a stream that writes into a new string. close_string() closes the stream and
 * returns the string, which the caller frees. */
FILE *open_string(char **string, size_t *nbytes);
char *close_string(FILE *stream, char *const *string);

/* Write results to standard output. If writing fails, these functions print a message and exit with
 * EXIT_TROUBLE. They print no message for EPIPE, a closed pipe. */
void output(const void *data, size_t nbytes);
__attribute__((format(printf, 1, 2))) void outputf(const char *format, ...);
void output_flush(void);
void output_whole(const void *data, size_t nbytes); /* flushes stdout, then writes directly to its
                                                     * descriptor */
void output_close(void);

/* Are the bytes valid UTF-8, which JSON requires? Preserves errno. */
bool is_text(const void *bytes, size_t nbytes);

/* Returns a new object, to be printed by json_line() or output_json(). Sets errno to 0, because
 * these two functions take ENOMEM as the sign that json-c ran out of memory since then. */
struct json_object;
struct json_object *json_begin(void);

/* Returns the object. If it is NULL, memory ran out, so this prints a message and exits. */
struct json_object *json_needed(struct json_object *object);

/* Returns the name as a JSON string. JSON cannot hold a name that is not UTF-8, so such a name is
 * escaped as by print_name(). */
struct json_object *json_name(const char *name);

/* Returns the value as a JSON number. If the value is not finite, returns NULL, which json-c prints
 * as null. */
struct json_object *json_number(double value);

/* Returns the text of the object in one line. The text is borrowed from the object. If json-c ran
 * out of memory since json_begin(), prints a message and exits. */
const char *json_line(struct json_object *object);

/* Prints the object in one line and frees it. */
void output_json(struct json_object *object);

/* Returns the time of a monotonic clock, in seconds. */
double seconds(void);

#endif
