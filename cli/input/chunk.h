/* A chunk of an input, and its buffer. inputs.h says how inputs are divided into chunks.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_CHUNK_H
#define LANEBLOOM_CLI_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of bytes that one read(2) requests. A chunk takes one read, or several if a record is
 * longer than a read. One worker is as fast with 64 KiB as with 1 MiB. Two workers wait for each
 * other less often when reads are large. On an AMD EPYC, two workers that only read and cut 100
 * million lines of 12 bytes took:
 *
 *   KiB per read     64   128   256   512  1024
 *   seconds        0.60  0.39  0.30  0.25  0.23 */
#ifndef LANEBLOOM_READ_NBYTES /* tests use smaller reads */
#define LANEBLOOM_READ_NBYTES (512 << 10)
#endif
enum { READ_NBYTES = LANEBLOOM_READ_NBYTES };

/* The most bytes that one read(2) requests, if the caller of inputs_begin() asks for larger chunks.
 * Every record of a chunk ends in the bytes of the chunk's last read, and never in the bytes that
 * are carried over from the previous chunk. So a chunk has at most one record for each byte of a
 * read. */
enum { MAX_READ_NBYTES = 8 * READ_NBYTES };

/* This many bytes after the data of a chunk may be read. They are not initialized. */
enum { CHUNK_PADDING_NBYTES = 64 };

/* Whole records of one input. If an error ended the input, the chunk has no records, only the
 * error. */
struct chunk {
  const char *name;       /* the name of the input in messages */
  char error[320];        /* "": no error; otherwise the message of the error, and the chunk has no
                           * bytes */
  bool is_fatal;          /* the command must exit, because memory ran out, or because the input is
                           * a filter or another file that holds no records */
  char *data;             /* the records; whoever holds the chunk may overwrite them */
  size_t nbytes;          /* 0 in a chunk that has an error or only a header */
  uint64_t nread;         /* the bytes that were read from files for this chunk */
  bool at_beginning;      /* the records are the first of an input */
  bool has_nuls;          /* the records are the first lines of an input and contain NULs */
  uint64_t header_nlines; /* the number of lines of the input before its first records */

  /* The first header of all inputs. It is set only in the chunk that begins after this header; in
   * every other chunk it is NULL. It is delivered before the records of the chunk, and borrowed
   * from the inputs. */
  const char *header;
  size_t header_nbytes;

  /* private */
  uint64_t input; /* the number of the input, from 1 */
  char *buffer;
  size_t capacity;
  size_t read_nbytes; /* the number of bytes that one read requests */
  int fd; /* the file that inputs_load() reads at `position'; -1: the data are already here */
  uint64_t position;
};

/* Allocates the buffer of a chunk. read_nbytes: at most MAX_READ_NBYTES. Returns false if memory
 * ran out. */
bool chunk_create(struct chunk *chunk, size_t read_nbytes);
void chunk_destroy(struct chunk *chunk);

/* ---- For inputs.c ---- */

/* Empties the chunk. If the buffer has grown for a long record, and the last chunk would have fit
 * into a buffer of the normal size, shrinks the buffer to this size. */
void chunk_reset(struct chunk *chunk);

/* Doubles the buffer. Returns false if memory ran out. */
bool chunk_grow(struct chunk *chunk);

#endif
