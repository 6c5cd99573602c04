/* Reads inputs one after the other and delivers them in chunks. A chunk is a sequence of whole
 * records that were read together. The ends of chunks depend on what read(2) returns, not on the
 * number of workers.
 *
 * For a large regular file without quotes, inputs_next() only searches the last bytes of a chunk
 * for the end of the last record. inputs_load() then reads the chunk, while another worker handles
 * the next one. In all other cases, and at the end of each file, inputs_next() reads the data
 * itself. A compressed input is decompressed in a separate thread.
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

/* The number of bytes that one read(2) requests. A chunk takes one read, or several if a record is
 * longer. One worker is as fast with 64 KiB as with 1 MiB. Two workers wait for each other less
 * often when reads are large. The time of two workers that only read and cut 100 million lines of
 * 12 bytes on an AMD EPYC, in seconds, was 0.60 with 64 KiB, 0.39 with 128 KiB, 0.30 with 256 KiB,
 * 0.25 with 512 KiB and 0.23 with 1 MiB. */
#ifndef LANEBLOOM_READ_NBYTES /* tests use smaller reads */
#define LANEBLOOM_READ_NBYTES (512 << 10)
#endif
enum { READ_NBYTES = LANEBLOOM_READ_NBYTES };

/* The most records of a chunk. Every record of a chunk ends in the bytes of the chunk's last read,
 * and never in the bytes carried over from the previous chunk. So there is at most one record for
 * each byte of that read. */
enum { CHUNK_NRECORDS = READ_NBYTES };

/* This many bytes after the data of a chunk may be read. They are not initialized. */
enum { CHUNK_PADDING_NBYTES = 64 };

/* Whole records of one input. If an error ended the input, the chunk has no records, only the
 * error. */
struct chunk {
  const char *name;       /* the name of the input in messages */
  char error[320];        /* the message of an error; the chunk then has no bytes; "": no error */
  bool is_fatal;          /* the command must exit, because memory ran out, or because the input is
                           * a filter or another file that holds no records */
  char *data;             /* the records; whoever holds the chunk may overwrite them */
  size_t nbytes;          /* 0 in a chunk that has an error or only a header */
  uint64_t nread;         /* the bytes that were read from files for this chunk */
  bool at_beginning;      /* the records are the first of an input */
  bool has_nuls;          /* the records are the first lines of an input and contain NULs */
  uint64_t header_nlines; /* the number of lines of the input before its first records */

  /* The first header of all inputs, in the chunk that begins after it; NULL in every other chunk.
   * It is delivered before the records of the chunk, and borrowed from the inputs. */
  const char *header;
  size_t header_nbytes;

  /* private */
  uint64_t input; /* the number of the input, from 1 */
  char *buffer;
  size_t capacity;
  int fd; /* the file that inputs_load() reads at `position'; -1: the data are already here */
  off_t position;
};

/* Allocates the buffer of a chunk. Returns false if memory ran out. */
bool chunk_create(struct chunk *chunk);
void chunk_destroy(struct chunk *chunk);

/* May records of this syntax begin with the same bytes as a file of this kind? Records of fixed
 * width may begin with any bytes. */
static inline bool may_be_records(const struct record_syntax *syntax, const struct file_kind *kind)
{
  return syntax->width > 0 || (kind->has_nuls && syntax->terminator == '\0');
}

struct inputs {
  struct input_messages messages;
  struct record_syntax syntax; /* the first header changes it: it tells the numbers of the named
                                * fields */
  char *const *paths;          /* the inputs that are not opened yet */
  size_t npaths;
  struct stat target; /* the regular file that the command writes, which must not be an input;
                       * zeros: none */

  /* private */
  int fd;                            /* the open input; -1: no input is open */
  struct decompressor *decompressor; /* decompresses the open input; NULL: the input is not
                                      * compressed */
  bool at_beginning;         /* true until the first bytes of the open input have shown whether it
                              * holds records */
  bool needs_header;         /* the next record of the open input is its header */
  bool has_carriage_returns; /* lines of the open input end in CR LF, and the CR is not part of the
                              * key */
  off_t nbytes; /* the size that the open input had when it was opened; 0 if it is no regular
                 * file */
  const char *name;
  uint64_t input;                /* the number of inputs that were opened so far */
  _Atomic uint64_t failed_input; /* the number of the last input that had an error; 0: none */
  size_t ncarried;
  struct cutter checker; /* finds the fault in a chunk whose records have no end */
  char *header;          /* the header of the first input that has one; NULL: none yet */
  size_t header_nbytes;
  char carried[READ_NBYTES]; /* the first `ncarried' bytes are the incomplete record after the last
                              * chunk */
};

/* Begins to read the inputs at these paths, which are borrowed. The path "-" and an empty list mean
 * standard input. `target' is the file that the command writes, or NULL. `inputs` must be zeroed
 * before its first use. */
void inputs_begin(struct inputs *inputs, const struct input_messages *messages,
                  const struct record_syntax *syntax, char *const *paths, size_t npaths,
                  const struct stat *target);

/* Returns the total size of the inputs that are not open yet, or 0 unless all of them are regular
 * files. */
uint64_t inputs_nbytes(const struct inputs *inputs);

/* Takes the next chunk, which has a header, an error or at least one whole record. Returns false if
 * all inputs have ended. Only one thread at a time may call this. */
bool inputs_next(struct inputs *inputs, struct chunk *chunk);

/* Reads the data of the chunk, unless inputs_next() has read them. Several threads may call this at
 * once, each with its own chunk. */
void inputs_load(const struct inputs *inputs, struct chunk *chunk);

/* Call this once for each chunk, in the order of the chunks. Returns false if an earlier chunk of
 * the same input had an error; the caller must then ignore this chunk. */
bool inputs_continue(struct inputs *inputs, const struct chunk *chunk);

/* Frees the memory that the inputs allocated. */
void inputs_end(struct inputs *inputs);

/* Has the file become shorter since it was opened? Call this at the end of a file. `nbytes` is the
 * size that it had when it was opened, or 0 if it is not regular. shrunk_text is the message for
 * this error. */
bool has_shrunk(int fd, off_t nbytes);
extern const char shrunk_text[];

#endif
