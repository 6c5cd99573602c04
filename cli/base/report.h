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

/* Calls `work' when the command ends, by leave(), by exit() or at the end of main(). The last one
 * that was passed is called first. */
void call_at_end(void (*work)(void));

/* Prints a message like complain(), then exits with EXIT_TROUBLE. */
__attribute__((format(printf, 2, 3))) _Noreturn void die(const char *name, const char *format, ...);

/* Prints a file name. Backslashes and bytes that are not printable UTF-8 appear as \ooo. */
void print_name(FILE *stream, const char *name);

/* Returns what print_name() would print, as a string. The caller frees it. */
char *escape_name(const char *name);

/* Returns the bytes as one printable word, which the caller frees. Escapes them as print_name()
 * does, and a space as \040. An empty value becomes "". If the output has reached `most`
 * characters, "..." replaces the rest. */
char *escape_word(const void *bytes, size_t nbytes, size_t most);

/* Write results to standard output. If writing fails, these functions print a message and exit with
 * EXIT_TROUBLE. They print no message for EPIPE, a closed pipe. */
void output(const void *data, size_t nbytes);
__attribute__((format(printf, 1, 2))) void outputf(const char *format, ...);
void output_flush(void);
void output_whole(const void *data, size_t nbytes); /* flushes stdout, then writes directly to its
                                                     * descriptor */
void output_close(void);

#endif
