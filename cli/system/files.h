/* What only the command needs of files, beyond src/system/system.h, whose first comment explains
 * paths and errors.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_FILES_H
#define LANEBLOOM_CLI_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The descriptors of the standard streams. */
enum { STANDARD_INPUT, STANDARD_OUTPUT, STANDARD_ERROR };

bool is_terminal(int fd);

/* Returns the path of the file to which `path' leads, without links. The caller frees it. */
char *resolve_path(const char *path);

/* Returns the last component of a path, which is part of the path. */
const char *last_component(const char *path);

/* Opens a file for lock_open_file(), and does not wait for the writer of a pipe. Opens it for
 * writing if that is allowed, because network file systems lock only such files. */
int open_to_lock(const char *path);

/* Waits until no other process holds the lock of the file, then takes the lock. Closing the
 * descriptor releases the lock. */
bool lock_open_file(int fd);

void set_file_position(int fd, uint64_t position);

/* Tells the system that the file will be read from its beginning to its end. */
void will_read_in_order(int fd);

/* Opens a stream to read the bytes of a file. */
FILE *open_stream(const char *path);

/* Opens a stream that writes into a new string. When close_string_stream() has closed it, *string
 * and *nbytes are set; the caller frees the string. */
FILE *open_string_stream(char **string, size_t *nbytes);
bool close_string_stream(FILE *stream);

/* fwrite() and fflush(), for streams that only one thread uses. */
size_t write_stream(const void *data, size_t nbytes, FILE *stream);
int flush_stream(FILE *stream);

/* Lets the stream hold a whole message before it writes it. */
void buffer_messages(FILE *stream);

/* Did writing to a stream fail because nobody reads the pipe any more? Call this at once. */
bool is_pipe_closed(void);

/* Forgets what was written to the stream and is not flushed yet. */
void discard_stream(FILE *stream);

/* If another process shortens a mapped file, pages of the mapping may be lost. When one of them is
 * read, report() is called with its address. If report() returns, the process is ended. report()
 * may only read memory and call end_at_once(). */
void watch_maps(void (*report)(const void *address));

#endif
