/* Files that are not records, or not yet, told by their first bytes, or by their last.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_FILE_KINDS_H
#define LANEBLOOM_CLI_FILE_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "codecs.h"

struct file_kind {
  const char *name;
  size_t nbytes; /* that tell it, at least */
  unsigned char magic[16];
  unsigned char first_mask; /* of the first byte, the bits that do not tell */
  bool (*tells)(const char *bytes, size_t nbytes); /* instead of the magic; NULL: none */
  bool has_terminators; /* in the magic: then fewer are records, and nobody waits for more */
  bool has_nuls;        /* records that end in NUL may begin so, too */
  enum codec codec;
  const char *converter; /* to records; NULL: none */
  const char *advice;    /* what to do with it; NULL: that is the converter, or the verb's */
};

/* The kind of file that begins with these bytes, or may begin with them if they are fewer than its
 * nbytes; NULL: records. */
const struct file_kind *find_file_kind(const char *bytes, size_t nbytes);

/* The same for all bytes of a file, the last ones included. */
const struct file_kind *find_whole_file_kind(const char *bytes, size_t nbytes);

/* Reads so many bytes at this position, or fewer if the file ends before. Returns how many, or -1
 * with errno. The descriptor's position stays. */
ssize_t read_at(int fd, char *bytes, size_t nbytes, off_t position);

/* Finds the kind of a regular file of so many bytes, by its last ones; NULL: they do not tell.
 * Returns false with errno if they cannot be read. The descriptor's position stays. */
bool find_file_kind_at_end(int fd, off_t nbytes, const struct file_kind **kind);

/* The bytes that tell a container. */
enum { CONTAINER_MAGIC_NBYTES = 4 };
bool is_container_magic(const char bytes[CONTAINER_MAGIC_NBYTES]);

/* Do lines that end after these bytes, which may be of a kind, end inside compressed data? A single
 * byte may be a line, and frames to be skipped begin as text does. */
bool is_stump(const struct file_kind *kind, size_t nbytes);

/* A message, for the kind's name and the bytes. */
#define STUMP_TEXT "truncated: expected %s, found only its first %zu bytes"

/* What messages about inputs say of the verb. */
struct input_messages {
  const char *verb;
  const char *container_advice; /* what to do with a container that was given as records */
  const char *header_advice;    /* what to do if a header lacks a field; NULL: nothing to say */
};

/* Puts into `text` that records were expected, what was found, and what to do. */
void describe_file_kind(const struct file_kind *kind, const struct input_messages *messages,
                        char *text, size_t size);

#endif
