/* Inputs: read one after the other, in chunks that are whole records.
 * Where chunks end depends on what read(2) returns, never on who reads them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_INPUTS_H
#define LANEBLOOM_CLI_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "records.h"

/* What one read takes, and with it a chunk, but for long records. One worker is as quick with 64
 * KiB as with 1 MiB. Two that only read and cut, 100 million lines of 12 bytes on an AMD EPYC: 0.60
 * s with 64 KiB, 0.39 with 128, 0.30 with 256, 0.25 with 512, 0.23 with 1024, for they wait for
 * each other less often. */
enum { READ_NBYTES = 512 << 10 };

/* No chunk has more records than this: none ends in what was carried over from the chunk before. */
enum { CHUNK_NRECORDS = READ_NBYTES };

/* Whole records of one input; or none, and why that input could not be read, or no further. */
struct chunk {
  const char *name; /* of the input, for messages */
  char error[160];
  bool is_out_of_memory; /* that is the error */
  char *data;            /* the holder may write here */
  size_t nbytes;

  /* private */
  char *buffer;
  size_t capacity;
};

/* False when there is no memory. */
bool chunk_create(struct chunk *chunk);
void chunk_destroy(struct chunk *chunk);

/* Who reads, for messages. */
struct input_messages {
  const char *verb;
  const char *container_advice; /* what to do instead with a container that is given as records */
};

struct inputs {
  struct input_messages messages;
  struct record_syntax syntax;
  char *const *paths; /* not yet opened */
  size_t npaths;
  struct stat target; /* a regular file that no input may be */

  /* private */
  int fd;            /* -1: between inputs */
  bool at_beginning; /* of the open input: it may turn out to be no records */
  off_t nbytes;      /* of the open input when it was opened; 0 unless it is a regular file */
  const char *name;
  size_t ncarried;
  char carried[READ_NBYTES]; /* the beginning of a record, which the chunk before did not get */
};

/* paths: "-" is standard input, as is having none. target: may be NULL. */
void inputs_begin(struct inputs *inputs, const struct input_messages *messages,
                  const struct record_syntax *syntax, char *const *paths, size_t npaths,
                  const struct stat *target);

/* Reads the next chunk; false after the last. Returns as soon as there is a whole record. */
bool inputs_next(struct inputs *inputs, struct chunk *chunk);

#endif
