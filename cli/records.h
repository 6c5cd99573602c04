/* Records: chunks of input cut into lines, NUL-terminated strings or fixed-width keys, a batch at a
 * time. Nothing is copied: a batch lies in its chunk, its records side by side as they came.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_RECORDS_H
#define LANEBLOOM_CLI_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

/* Enough to keep the kernels busy, few enough that the slices and short records stay in the L2
 * cache. On lines of 12 bytes, 256, 1024 and 2048 measured alike. A multiple of 8, so that bitmaps
 * of full batches can lie side by side. */
enum { BATCH_NRECORDS = 2048 };

/* How many bytes are searched for terminators at once, and so how many records more than a batch
 * may turn up. */
enum { BLOCK_NBYTES = 64 };

/* How an input is cut. Zeroed, with a terminator, it stands for lines. */
struct record_syntax {
  size_t width;    /* bytes per record; 0: records end at the terminator */
  char terminator; /* '\n' or '\0' */
  bool crlf;       /* a carriage return before the terminator belongs to it */
};

/* Neighbouring records of one chunk, at least one, borrowed until the next batch. */
struct batch {
  lanebloom_keys keys; /* the records without their terminators */
  size_t n;
  const char *data; /* the first record */
  const lanebloom_slice
      *slices; /* n + 1 of them, the last one's data is the end; NULL for fixed width */
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
  return batch->slices ? batch->slices[i]
                       : (lanebloom_slice){batch->data + i * batch->width, batch->width};
}

/* Cuts bytes that are whole records, terminators included. */
struct cutter {
  struct record_syntax syntax;
  const char *next, *end; /* what no batch has had yet */
  size_t nrecords;        /* what batches have had */
  lanebloom_slice slices[BATCH_NRECORDS + BLOCK_NBYTES + 1];
};

void cutter_begin(struct cutter *cutter, const struct record_syntax *syntax, const char *data,
                  size_t nbytes);

/* The next batch; false after the last. All but the last have BATCH_NRECORDS records. */
bool cutter_next(struct cutter *cutter, struct batch *batch);

#endif
