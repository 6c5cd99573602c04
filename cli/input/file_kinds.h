/* Recognizes files that hold no records, such as documents, and compressed files. Examines the
 * first or the last bytes of a file.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_FILE_KINDS_H
#define LANEBLOOM_CLI_FILE_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs.h"

struct file_kind {
  const char *name;
  size_t nbytes; /* a file is recognized by this many bytes */
  unsigned char magic[16];
  unsigned char first_mask; /* these bits of the first byte may have any value */
  bool (*tells)(const char *bytes, size_t nbytes); /* a function that checks the bytes instead of
                                                    * `magic'; NULL: none */
  bool has_terminators; /* `magic' contains line ends or NULs; an input that has fewer bytes than
                         * `magic' so far is taken for records at once */
  bool has_nuls;        /* records that end in NUL may begin in the same way */
  enum codec codec;
  const char *converter; /* a command that converts the file to records; NULL: none */
  const char *advice;    /* how to use the file; NULL: the message names the converter or, if there
                          * is none, gives the advice of the verb */
};

/* Returns the kind of file that begins with these bytes. If there are fewer bytes than the nbytes
 * of a kind, returns a kind of file that may begin with them. Returns NULL if the bytes are
 * records. */
const struct file_kind *find_file_kind(const char *bytes, size_t nbytes);

/* Returns the kind of a file. `bytes` are all bytes of the file, so its last bytes are checked,
 * too. Returns NULL if the file may be records. */
const struct file_kind *find_whole_file_kind(const char *bytes, size_t nbytes);

/* Reads nbytes at this position of the file, or fewer if the file ends earlier. Returns how many
 * bytes were read. On an error returns -1 and sets errno. The position of the descriptor does not
 * change. */
int64_t read_at(int fd, char *bytes, size_t nbytes, uint64_t position);

/* Sets *kind to the kind of a regular file of nbytes, according to its last bytes, or to NULL if
 * they tell nothing. Returns false and sets errno if the bytes cannot be read. The position of the
 * descriptor does not change. */
bool find_file_kind_at_end(int fd, uint64_t nbytes, const struct file_kind **kind);

/* The length of the magic at the beginning of a container. */
enum { CONTAINER_MAGIC_NBYTES = 4 };
bool is_container_magic(const char bytes[CONTAINER_MAGIC_NBYTES]);

/* Is an input of nbytes only the beginning of compressed data? `kind' is the kind that the input
 * may have. Returns false for a single byte, which may be a line, and for skippable frames of zstd,
 * which begin like text. */
bool is_stump(const struct file_kind *kind, size_t nbytes);

/* The message for such an input. Its arguments are the name of the kind and the number of bytes. */
#define STUMP_TEXT "truncated: expected %s, found only its first %zu bytes"

/* The parts of messages about inputs that depend on the verb. */
struct input_messages {
  const char *verb;
  const char *container_advice; /* what to do with a container that was given in the place of
                                 * records */
  const char *header_advice;    /* what to do if a header lacks a field; NULL: no advice */
};

/* Writes a message into `text`: that records were expected, which kind of file was found, and what
 * to do. */
void describe_file_kind(const struct file_kind *kind, const struct input_messages *messages,
                        char *text, size_t size);

#endif
