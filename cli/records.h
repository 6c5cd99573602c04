/* Records: inputs cut into lines, NUL-terminated strings or fixed-width keys, a batch at a time.
 * Nothing is copied: a batch lies in the input buffer, its records side by side as they came.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_RECORDS_H
#define LANEBLOOM_CLI_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <lanebloom.h>

/* Enough to keep the kernels busy, few enough that the slices and short records stay in the L2 cache. On lines of 12
 * bytes, 256, 1024 and 2048 measured alike. */
enum { BATCH_NRECORDS = 2048 };

/* How an input is cut. Zeroed, with a terminator, it stands for lines. */
struct record_syntax {
  size_t width;    /* bytes per record; 0: records end at the terminator */
  char terminator; /* '\n' or '\0' */
  bool crlf;       /* a carriage return before the terminator belongs to it */
};

/* Neighbouring records of one input, at least one, borrowed until the next batch. */
struct batch {
  lanebloom_keys keys; /* the records without their terminators */
  size_t n;
  const char *data;              /* the first record */
  const lanebloom_slice *slices; /* n + 1 of them, the last one's data is the end; NULL for fixed width */
  size_t width;
};

/* Record i as it came, terminator included, ends where record i + 1 begins; i may be n. */
static inline const char *batch_record(const struct batch *batch, size_t i)
{
  return batch->slices ? batch->slices[i].data : batch->data + i * batch->width;
}

/* The key of record i. */
static inline lanebloom_slice batch_key(const struct batch *batch, size_t i)
{
  return batch->slices ? batch->slices[i] : (lanebloom_slice){batch->data + i * batch->width, batch->width};
}

struct records {
  struct record_syntax syntax;
  char *const *paths; /* inputs not yet opened */
  size_t npaths;
  struct stat target; /* a regular file that no input may be */
  bool progress;
  bool failed; /* an input could not be read, or not to its end; it has been complained about */
  uint64_t nrecords;

  /* private */
  int fd; /* -1: between inputs */
  const char *name;
  bool at_end;     /* of the open input */
  bool short_read; /* the last one: the next may have to wait */
  char *buffer;
  size_t capacity;
  size_t begin, scanned, end; /* what no batch has had yet, and how far that is known to hold no terminator */
  lanebloom_slice slices[BATCH_NRECORDS + 1];
};

/* paths: "-" is standard input, as is having none. target: may be NULL. */
void records_begin(struct records *records, const struct record_syntax *syntax, char *const *paths, size_t npaths,
                   const struct stat *target);

/* The next batch, of whichever input comes next; false after the last. An input that cannot be read is complained
 * about, marked in `failed` and left, after the records that could be read. */
bool records_next(struct records *records, struct batch *batch);

void records_end(struct records *records);

#endif
