/* Recognizes files that are not records, or not yet, by their first or last bytes.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_FILE_KINDS_H
#define LANEBLOOM_CLI_FILE_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "codecs.h"

struct file_kind {
  const char *name;
  size_t nbytes; /* the fewest bytes that identify it */
  unsigned char magic[16];
  unsigned char first_mask; /* bits of the first byte that may have any value */
  bool (*tells)(const char *bytes, size_t nbytes); /* instead of the magic; NULL: none */
  bool has_terminators; /* the magic contains terminators: fewer bytes are taken for records,
                         * without waiting for more */
  bool has_nuls;        /* NUL-terminated records may begin in the same way */
  enum codec codec;
  const char *converter; /* a command that converts it to records; NULL: none */
  const char *advice;    /* what to do with it; NULL: the converter, or else the verb's advice, is
                          * used */
};

/* Returns the kind of file that begins with these bytes, or may begin with them if they are fewer
 * than its nbytes. NULL: records. */
const struct file_kind *find_file_kind(const char *bytes, size_t nbytes);

/* Returns the kind of a file from all its bytes, the last ones included. */
const struct file_kind *find_whole_file_kind(const char *bytes, size_t nbytes);

/* Reads up to nbytes at this position, fewer only at the end of the file. Returns the number of
 * bytes, or -1 with errno. The descriptor's position does not change. */
ssize_t read_at(int fd, char *bytes, size_t nbytes, off_t position);

/* Finds the kind of a regular file of nbytes by its last bytes; NULL: unknown. Returns false with
 * errno if they cannot be read. The descriptor's position does not change. */
bool find_file_kind_at_end(int fd, off_t nbytes, const struct file_kind **kind);

/* The length of the magic of a container. */
enum { CONTAINER_MAGIC_NBYTES = 4 };
bool is_container_magic(const char bytes[CONTAINER_MAGIC_NBYTES]);

/* Is an input of nbytes, which may be of this kind, only the beginning of compressed data? false
 * for a single byte, which may be a line, and for skippable frames, which begin like text. */
bool is_stump(const struct file_kind *kind, size_t nbytes);

/* A message. Its arguments are the name of the kind and the number of bytes. */
#define STUMP_TEXT "truncated: expected %s, found only its first %zu bytes"

/* What messages about inputs say about the verb. */
struct input_messages {
  const char *verb;
  const char *container_advice; /* what to do with a container that was given as records */
  const char *header_advice;    /* what to do if a header lacks a field; NULL: no advice */
};

/* Writes into `text` that records were expected, what was found, and what to do. */
void describe_file_kind(const struct file_kind *kind, const struct input_messages *messages,
                        char *text, size_t size);

#endif
