/* Records: cuts chunks of input into lines, NUL-terminated strings or fixed-width keys, a batch at
 * a time. Nothing is copied: the records of a batch are adjacent bytes of the chunk.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_RECORDS_H
#define LANEBLOOM_CLI_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

/* Records of a batch. Slices and short records stay in the L2 cache; 256, 1024 and 2048 lines of 12
 * bytes measured alike. A multiple of 8, so that the bitmaps of full batches are adjacent. */
enum { BATCH_NRECORDS = 2048 };

/* Bytes that are searched for terminators at once; so up to this many records more than a batch may
 * be found. */
enum { BLOCK_NBYTES = 64 };

/* How an input is cut into records. */
struct record_syntax {
  size_t width;    /* bytes per record; 0: records end at the terminator */
  char terminator; /* '\n' or '\0' */
  bool crlf;       /* a carriage return before the terminator is no part of the key */
};

/* Adjacent records of one chunk, at least one; borrowed until the next batch. */
struct batch {
  lanebloom_keys keys; /* the records without their terminators */
  size_t n;
  const char *data; /* the first record */
  const lanebloom_slice
      *slices;  /* n keys, then one whose data is the end of the batch; NULL for fixed width */
  size_t width; /* bytes per record; 0: slices */
};

/* Where record i begins, i at most n. It ends, terminator included, where record i + 1 begins. */
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

/* Cuts bytes that are whole records, terminators included, into batches. */
struct cutter {
  struct record_syntax syntax;
  const char *next, *end; /* the bytes that are not cut yet */
  size_t nrecords;        /* in the batches so far */
  lanebloom_slice slices[BATCH_NRECORDS + BLOCK_NBYTES + 1];
};

/* Begins to cut these bytes, which are borrowed. */
void cutter_begin(struct cutter *cutter, const struct record_syntax *syntax, const char *data,
                  size_t nbytes);

/* Cuts the next batch: BATCH_NRECORDS records, fewer only in the last batch. false: no bytes are
 * left. */
bool cutter_next(struct cutter *cutter, struct batch *batch);

#endif
