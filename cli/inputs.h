/* Inputs, read one after the other in chunks. A chunk is whole records that were read together.
 * Where chunks end depends on what read(2) returns, not on the number of workers.
 *
 * Of a large regular file without quotes, inputs_next() only looks for the end of the last record
 * in the last bytes of a chunk. inputs_load() reads the chunk, while another worker is at the next
 * one. All else, and the end of each file, inputs_next() reads itself. Inputs that are compressed
 * are decompressed by a thread of their own.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_INPUTS_H
#define LANEBLOOM_CLI_INPUTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "file_kinds.h"
#include "records.h"

/* How many bytes one read(2) asks for. A chunk is one read, or more for a longer record. One worker
 * is as fast with 64 KiB as with 1 MiB; two wait for each other less often when reads are large.
 * Two workers that only read and cut, 100 million lines of 12 bytes, AMD EPYC, seconds: 64 KiB
 * 0.60, 128 KiB 0.39, 256 KiB 0.30, 512 KiB 0.25, 1 MiB 0.23. */
#ifndef LANEBLOOM_READ_NBYTES /* tests have small ones */
#define LANEBLOOM_READ_NBYTES (512 << 10)
#endif
enum { READ_NBYTES = LANEBLOOM_READ_NBYTES };

/* The most records of a chunk: each ends in the bytes of its last read, not in those carried over
 * from the chunk before. */
enum { CHUNK_NRECORDS = READ_NBYTES };

/* So many bytes after a chunk's data may be read. They are not initialized. */
enum { CHUNK_PADDING_NBYTES = 64 };

/* Whole records of one input; or no records, and the error that ended that input. */
struct chunk {
  const char *name;       /* of the input, for messages */
  char error[320];        /* ""; or a message, and then nbytes is 0 */
  bool is_fatal;          /* the command ends: memory ran out, or a filter was given as records */
  char *data;             /* the records; the chunk's owner may overwrite them */
  size_t nbytes;          /* 0 in a chunk that has only a header */
  uint64_t nread;         /* bytes of files that were read for it */
  bool at_beginning;      /* the first records of an input */
  bool has_nuls;          /* these are the first lines of an input, and they have NULs */
  uint64_t header_nlines; /* of the input, before the first records */

  /* The first header of all inputs, to be delivered before the records; NULL: none. Borrowed from
   * the inputs. */
  const char *header;
  size_t header_nbytes;

  /* private */
  uint64_t input; /* its number, from 1 */
  char *buffer;
  size_t capacity;
  int fd; /* what inputs_load() reads, from `position'; -1: the data are there */
  off_t position;
};

/* false: memory ran out. */
bool chunk_create(struct chunk *chunk);
void chunk_destroy(struct chunk *chunk);

/* May such records begin as this kind of file does? Those of fixed width may begin with any
 * bytes. */
static inline bool may_be_records(const struct record_syntax *syntax, const struct file_kind *kind)
{
  return syntax->width > 0 || (kind->has_nuls && syntax->terminator == '\0');
}

struct inputs {
  struct input_messages messages;
  struct record_syntax syntax; /* the first header changes it: it names the fields */
  char *const *paths;          /* not yet opened */
  size_t npaths;
  struct stat target; /* the regular file that is written: no input may be that; 0: none */

  /* private */
  int fd;                            /* -1: between inputs */
  struct decompressor *decompressor; /* of the open input; NULL: it is read as it is */
  bool at_beginning; /* of the open input: its first bytes may show that it is not records */
  bool needs_header; /* of the open input: the next record is one */
  bool has_carriage_returns; /* of the open input: before its line ends, where they are no keys' */
  off_t nbytes; /* of the open input when it was opened; 0 unless it is a regular file */
  const char *name;
  uint64_t input;                /* the number of inputs that were opened */
  _Atomic uint64_t failed_input; /* the last one that inputs_load() could not read; 0: none */
  size_t ncarried;
  struct cutter checker; /* of a chunk that finds no end */
  char *header;          /* of the first input that had one; NULL: none yet */
  size_t header_nbytes;
  char carried[READ_NBYTES]; /* the incomplete record after the last chunk: ncarried bytes */
};

/* Begins to read these paths, which are borrowed; "-" is standard input, and so is npaths 0.
 * target: may be NULL. `inputs` must be zeroed before its first use. */
void inputs_begin(struct inputs *inputs, const struct input_messages *messages,
                  const struct record_syntax *syntax, char *const *paths, size_t npaths,
                  const struct stat *target);

/* Bytes of all inputs that are not open yet; 0 unless all are regular files. */
uint64_t inputs_nbytes(const struct inputs *inputs);

/* Takes the next chunk, which has a whole record. false: all inputs have ended. One thread at a
 * time. */
bool inputs_next(struct inputs *inputs, struct chunk *chunk);

/* Reads the data of the chunk, unless they are there. All threads at once, each its own chunk. */
void inputs_load(const struct inputs *inputs, struct chunk *chunk);

/* Call this for each chunk in their order. false: an earlier chunk of the same input has an error,
 * so that this one is to be ignored. */
bool inputs_continue(struct inputs *inputs, const struct chunk *chunk);

/* Frees what the inputs allocated. */
void inputs_end(struct inputs *inputs);

/* At the end of a file that had so many bytes when it was opened, 0 if it is not regular: did it
 * become shorter? shrunk_text says so. */
bool has_shrunk(int fd, off_t nbytes);
extern const char shrunk_text[];

#endif
