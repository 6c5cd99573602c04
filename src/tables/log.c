/* Reads the framing of logs.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "../bytes.h"
#include "checksum.h"
#include "log.h"

enum {
  HEADER_NBYTES = 7,
  AT_LENGTH = 4,
  AT_TYPE = 6,
  NUMBER_NBYTES = 4, /* the header of recyclable logs has this, too */

  TYPE_ZERO = 0,
  TYPE_FULL = 1,
  TYPE_FIRST = 2,
  TYPE_MIDDLE = 3,
  TYPE_LAST = 4,
  TYPE_RECYCLABLE = 4, /* is added to the types above */
  TYPE_COMPRESSION = 9,
  TYPE_TIMESTAMPS = 10,
  TYPE_RECYCLABLE_TIMESTAMPS = 11,
  TYPE_MAY_SKIP = 128, /* from here on, a reader skips what it does not know */
  TYPE_RECYCLABLE_LOG_BEFORE = 131,

  COMPRESSION_ZSTD = 7,
};

/* A fragment whose header was read. */
struct fragment {
  const uint8_t *at; /* in the block */
  uint64_t offset;
  unsigned type;
  bool has_number;
  uint32_t number;
  lanebloom_slice content;
};

void lanebloom_log_begin(struct log_reader *reader, const struct input *input, uint64_t number)
{
  reader->input = input;
  reader->number = (uint32_t)number;
  reader->is_compressed = reader->is_recyclable = false;
  reader->block_offset = 0;
  reader->at = reader->end = reader->block;
  reader->is_in_record = reader->is_in_gap = reader->is_lost = reader->is_begun = false;
}

static void set_end(struct log_reader *reader, struct log_found *found, enum log_find what)
{
  found->what = what;
  reader->block_offset = reader->input->nbytes;
  reader->at = reader->end = reader->block;
  reader->is_in_record = what == LOG_TORN; /* to be found again */
}

static uint64_t offset_of(const struct log_reader *reader, const uint8_t *at)
{
  return reader->block_offset - (uint64_t)(reader->end - at);
}

/* Reports a bad spot. What belongs to the same record is then skipped without another report. */
static void set_bad(struct log_reader *reader, struct log_found *found, uint64_t offset,
                    const char *expected, uint64_t value)
{
  if (reader->is_recyclable) {
    set_end(reader, found, LOG_END);
    return;
  }
  *found =
      (struct log_found){.what = LOG_BAD, .offset = offset, .expected = expected, .found = value};
  reader->is_in_record = reader->is_in_gap = false;
  reader->is_lost = true;
}

static void skip_block(struct log_reader *reader)
{
  reader->at = reader->end;
}

/* Reads the next block. false: there is none. */
static bool read_block(struct log_reader *reader, lanebloom_status *status,
                       const struct problem *problem)
{
  const uint64_t left = reader->input->nbytes - reader->block_offset;
  const size_t nbytes = left < LOG_BLOCK_NBYTES ? (size_t)left : LOG_BLOCK_NBYTES;
  if (nbytes == 0)
    return false;
  *status =
      lanebloom_input_read(reader->input, reader->block_offset, reader->block, nbytes, problem);
  if (*status)
    return false;
  reader->block_offset += nbytes;
  reader->at = reader->block;
  reader->end = reader->block + nbytes;
  return true;
}

/* Does the file end within the block? Then more of it may be written yet. */
static bool is_cut_block(const struct log_reader *reader)
{
  return reader->end - reader->block < LOG_BLOCK_NBYTES;
}

static bool has_number(unsigned type)
{
  return (type > TYPE_RECYCLABLE && type <= TYPE_RECYCLABLE + TYPE_LAST) ||
         type == TYPE_RECYCLABLE_TIMESTAMPS || type == TYPE_RECYCLABLE_LOG_BEFORE;
}

/* Takes the fragment at reader->at, of which at least a header is there. false: something else was
 * found, and *is_done says whether that is to be reported. */
static bool take_fragment(struct log_reader *reader, struct fragment *fragment,
                          struct log_found *found, bool *is_done)
{
  const uint8_t *at = reader->at;
  const size_t left = (size_t)(reader->end - at) - HEADER_NBYTES;
  const size_t length = at[AT_LENGTH] | (size_t)at[AT_LENGTH + 1] << 8;
  *fragment = (struct fragment){.at = at,
                                .offset = offset_of(reader, at),
                                .type = at[AT_TYPE],
                                .has_number = has_number(at[AT_TYPE])};
  const size_t extra = fragment->has_number ? NUMBER_NBYTES : 0;
  *is_done = false;
  if (fragment->type == TYPE_ZERO && length == 0) { /* room that was reserved */
    reader->is_in_gap = true;
    skip_block(reader);
    return false;
  }
  *is_done = true;
  if (fragment->has_number && left >= extra)
    fragment->number = load_le32(at + HEADER_NBYTES);
  /* the number is known before the checksum: what follows may be an old log's */
  if (fragment->has_number && !reader->is_begun && fragment->number == reader->number)
    reader->is_recyclable = true;
  if (length + extra > left) {
    const bool is_torn = is_cut_block(reader);
    skip_block(reader);
    if (is_torn)
      set_end(reader, found, LOG_TORN);
    else
      set_bad(reader, found, fragment->offset, "a fragment that ends in its block, found length",
              length);
    return false;
  }
  if (lanebloom_checksum(CHECKSUM_CRC32C, at + AT_TYPE, 1 + extra + length) != load_le32(at)) {
    skip_block(reader);
    set_bad(reader, found, fragment->offset, "another checksum, found", load_le32(at));
    return false;
  }
  fragment->content = (lanebloom_slice){at + HEADER_NBYTES + extra, length};
  reader->at += HEADER_NBYTES + extra + length;
  return true;
}

/* Sets what a part of a record is. false: nothing to report. */
static bool place_in_record(struct log_reader *reader, const struct fragment *fragment,
                            struct log_found *found)
{
  const unsigned type = fragment->has_number ? fragment->type - TYPE_RECYCLABLE : fragment->type;
  const bool is_first = type == TYPE_FULL || type == TYPE_FIRST;
  const bool is_last = type == TYPE_FULL || type == TYPE_LAST;
  /* old LevelDBs wrote an empty FIRST at a block's end, and the whole record behind it */
  const bool is_broken =
      reader->is_in_record && (reader->is_in_gap || (is_first && reader->record_nbytes > 0));
  reader->is_in_gap = false;
  if (is_broken) {
    reader->at = fragment->at; /* to be found again */
    set_bad(reader, found, reader->record_offset, "the end of a record, found other fragments", 0);
    return true;
  }
  if (!is_first && !reader->is_in_record) {
    if (reader->is_lost)
      return false;
    set_bad(reader, found, fragment->offset, "the first fragment of a record, found type",
            fragment->type);
    return true;
  }
  reader->is_lost = false;
  if (is_first) {
    reader->record_offset = fragment->offset;
    reader->record_nbytes = 0;
  }
  reader->is_in_record = !is_last;
  reader->record_nbytes += fragment->content.size;
  *found = (struct log_found){.what = LOG_FRAGMENT,
                              .offset = fragment->offset,
                              .is_first = is_first,
                              .is_last = is_last,
                              .bytes = fragment->content};
  return true;
}

/* Sets what a fragment is that is whole. false: nothing to report. */
static bool classify(struct log_reader *reader, const struct fragment *fragment,
                     struct log_found *found)
{
  const lanebloom_slice content = fragment->content;
  if (fragment->has_number && fragment->number != reader->number) { /* of the log before */
    set_end(reader, found, LOG_END);
    return true;
  }
  reader->is_begun = true;
  reader->is_recyclable |= fragment->has_number;
  if (fragment->type >= TYPE_FULL && fragment->type <= TYPE_RECYCLABLE + TYPE_LAST)
    return place_in_record(reader, fragment, found);
  if (fragment->type == TYPE_TIMESTAMPS || fragment->type == TYPE_RECYCLABLE_TIMESTAMPS) {
    *found =
        (struct log_found){.what = LOG_TIMESTAMPS, .offset = fragment->offset, .bytes = content};
    return true;
  }
  if (fragment->type == TYPE_COMPRESSION && content.size == sizeof(uint32_t) &&
      load_le32(content.data) == COMPRESSION_ZSTD) {
    reader->is_compressed = true;
    return false;
  }
  if (fragment->type >= TYPE_MAY_SKIP)
    return false;
  set_bad(reader, found, fragment->offset, "a fragment of a known type, found type",
          fragment->type);
  skip_block(reader);
  return true;
}

lanebloom_status lanebloom_log_next(struct log_reader *reader, struct log_found *found,
                                    const struct problem *problem)
{
  for (;;) {
    lanebloom_status status = LANEBLOOM_OK;
    *found = (struct log_found){.offset = offset_of(reader, reader->at)};
    const size_t left = (size_t)(reader->end - reader->at);
    if (left < HEADER_NBYTES) {
      const bool is_cut = left > 0 && is_cut_block(reader);
      if (read_block(reader, &status, problem))
        continue;
      if (status == LANEBLOOM_ERR_CORRUPT) {
        const uint64_t offset = reader->block_offset;
        set_end(reader, found, LOG_END);
        set_bad(reader, found, offset, "a file that does not become shorter than", offset);
        return LANEBLOOM_OK;
      }
      set_end(reader, found, is_cut || reader->is_in_record ? LOG_TORN : LOG_END);
      return status;
    }
    struct fragment fragment;
    bool is_done;
    if (take_fragment(reader, &fragment, found, &is_done))
      is_done = classify(reader, &fragment, found);
    if (is_done)
      return LANEBLOOM_OK;
  }
}
