/* Reads inputs one after the other in chunks. A chunk is whole records that were read together. The
 * ends of chunks depend on what read(2) returns, not on the number of workers.
 *
 * For a large regular file without quotes, inputs_next() only searches the last bytes of a chunk
 * for the end of the last record. inputs_load() then reads the chunk, while another worker handles
 * the next one. In all other cases, and at the end of each file, inputs_next() reads the data
 * itself. Compressed inputs are decompressed by a thread of their own.
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

/* The number of bytes that one read(2) requests. A chunk is one read, or several for a longer
 * record. One worker is as fast with 64 KiB as with 1 MiB; two workers wait for each other less
 * often when reads are large. Two workers that only read and cut, 100 million lines of 12 bytes,
 * AMD EPYC, seconds: 64 KiB 0.60, 128 KiB 0.39, 256 KiB 0.30, 512 KiB 0.25, 1 MiB 0.23. */
#ifndef LANEBLOOM_READ_NBYTES /* tests use smaller reads */
#define LANEBLOOM_READ_NBYTES (512 << 10)
#endif
enum { READ_NBYTES = LANEBLOOM_READ_NBYTES };

/* The most records of a chunk. Every record ends in the bytes of the chunk's last read, never in
 * the bytes carried over from the previous chunk. */
enum { CHUNK_NRECORDS = READ_NBYTES };

/* The number of bytes after a chunk's data that may be read. They are not initialized. */
enum { CHUNK_PADDING_NBYTES = 64 };

/* Whole records of one input; or no records, and the error that ended the input. */
struct chunk {
  const char *name;       /* the input's name, for messages */
  char error[320];        /* "", or a message; then nbytes is 0 */
  bool is_fatal;          /* the command must exit: out of memory, or a filter was given as
                           * records */
  char *data;             /* the records; the chunk's owner may overwrite them */
  size_t nbytes;          /* 0 in a chunk that has only a header */
  uint64_t nread;         /* bytes read from files for this chunk */
  bool at_beginning;      /* the records are the first of an input */
  bool has_nuls;          /* the records are the first lines of an input, and contain NULs */
  uint64_t header_nlines; /* lines of the input before its first records */

  /* The first header of all inputs. It is delivered before the records. NULL: none. Borrowed from
   * the inputs. */
  const char *header;
  size_t header_nbytes;

  /* private */
  uint64_t input; /* number of the input, from 1 */
  char *buffer;
  size_t capacity;
  int fd; /* inputs_load() reads from here at `position'; -1: the data are read already */
  off_t position;
};

/* Allocates the buffer of a chunk. false: memory ran out. */
bool chunk_create(struct chunk *chunk);
void chunk_destroy(struct chunk *chunk);

/* May such records begin like a file of this kind? Records of fixed width may begin with any
 * bytes. */
static inline bool may_be_records(const struct record_syntax *syntax, const struct file_kind *kind)
{
  return syntax->width > 0 || (kind->has_nuls && syntax->terminator == '\0');
}

struct inputs {
  struct input_messages messages;
  struct record_syntax syntax; /* changed by the first header, which names the fields */
  char *const *paths;          /* inputs that are not opened yet */
  size_t npaths;
  struct stat target; /* the regular file that is written; it must not be an input; 0: none */

  /* private */
  int fd;                            /* -1: between inputs */
  struct decompressor *decompressor; /* of the open input; NULL: it is not compressed */
  bool at_beginning;         /* of the open input: the first bytes may still show that it holds no
                      * records */
  bool needs_header;         /* of the open input: the next record is the header */
  bool has_carriage_returns; /* of the open input: lines end in CR LF, and the CR is not part of the
                              * key */
  off_t nbytes; /* size of the open input when it was opened; 0 unless it is a regular file */
  const char *name;
  uint64_t input;                /* the number of inputs opened so far */
  _Atomic uint64_t failed_input; /* number of the last input with an error; 0: none */
  size_t ncarried;
  struct cutter checker; /* finds faults in a chunk without an end */
  char *header;          /* of the first input with a header; NULL: none yet */
  size_t header_nbytes;
  char carried[READ_NBYTES]; /* the incomplete record after the last chunk: ncarried bytes */
};

/* Begins to read these paths, which are borrowed. "-" is standard input; so is an empty list.
 * target: may be NULL. `inputs` must be zeroed before its first use. */
void inputs_begin(struct inputs *inputs, const struct input_messages *messages,
                  const struct record_syntax *syntax, char *const *paths, size_t npaths,
                  const struct stat *target);

/* Returns the bytes of all inputs that are not open yet; 0 unless all are regular files. */
uint64_t inputs_nbytes(const struct inputs *inputs);

/* Takes the next chunk, which has at least one whole record. false: all inputs have ended. One
 * thread at a time. */
bool inputs_next(struct inputs *inputs, struct chunk *chunk);

/* Reads the data of the chunk, unless this was done already. All threads may call this at once,
 * each with its own chunk. */
void inputs_load(const struct inputs *inputs, struct chunk *chunk);

/* Call this for each chunk in order. false: an earlier chunk of the same input has an error; ignore
 * this chunk. */
bool inputs_continue(struct inputs *inputs, const struct chunk *chunk);

/* Frees what the inputs allocated. */
void inputs_end(struct inputs *inputs);

/* Has the file become shorter? Call this at the end of a file. nbytes: its size when it was opened;
 * 0 if it is not regular. shrunk_text is the message. */
bool has_shrunk(int fd, off_t nbytes);
extern const char shrunk_text[];

#endif
