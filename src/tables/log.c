/* Reads the framing of logs: finds the fragments of records, damage, and the end of the log (see
 * log.h).
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "../common/bytes.h"
#include "checksum.h"
#include "log.h"

enum {
  HEADER_NBYTES = 7,
  AT_LENGTH = 4,
  AT_TYPE = 6,
  NUMBER_NBYTES = 4, /* follows the header in recyclable logs */
  SYNCED_NBYTES = 8, /* follows the number in newer logs of Pebble */

  TYPE_ZERO = 0,
  TYPE_FULL = 1,
  TYPE_FIRST = 2,
  TYPE_MIDDLE = 3,
  TYPE_LAST = 4,
  TYPE_RECYCLABLE = 4, /* added to the types above */
  TYPE_SYNCED = 8,     /* Pebble: added to the types FULL to LAST */

  /* RocksDB's types of fragments that are not parts of records */
  TYPE_COMPRESSION = 9,
  TYPE_TIMESTAMPS = 10,
  TYPE_RECYCLABLE_TIMESTAMPS = 11,
  TYPE_MAY_SKIP = 128, /* a reader skips unknown types from here on */
  TYPE_RECYCLABLE_LOG_BEFORE = 131,

  COMPRESSION_ZSTD = 7,
};

/* A fragment whose header was read. */
struct fragment {
  const uint8_t *at; /* in the block */
  uint64_t offset;
  unsigned type;
  unsigned part;         /* TYPE_FULL to TYPE_LAST; 0 if not part of a record */
  unsigned extra_nbytes; /* between header and content: number, synced bytes */
  uint32_t number;
  uint64_t nsynced; /* bytes of the log that were on disk when the fragment was written, or 0 */
  lanebloom_slice content;
};

void lanebloom_log_begin(struct log_reader *reader, const struct input *input,
                         lanebloom_engine engine, uint64_t number)
{
  reader->input = input;
  reader->is_pebble = engine == LANEBLOOM_ENGINE_PEBBLE;
  reader->number = (uint32_t)number;
  reader->is_compressed = reader->is_recyclable = false;
  reader->block_offset = 0;
  reader->at = reader->end = reader->block;
  reader->is_in_record = reader->is_in_gap = reader->is_lost = reader->is_begun = false;
  reader->is_seen = false;
  reader->nsynced = 0;
}

static void set_end(struct log_reader *reader, struct log_found *found, enum log_find what)
{
  found->what = what;
  reader->block_offset = reader->input->nbytes;
  reader->at = reader->end = reader->block;
  reader->is_in_record = what == LOG_TORN; /* so that the next call finds TORN again */
}

static uint64_t offset_of(const struct log_reader *reader, const uint8_t *at)
{
  return reader->block_offset - (uint64_t)(reader->end - at);
}

/* Sets *found to damage. The other fragments of the damaged record are then skipped without a
 * report. */
static void set_bad(struct log_reader *reader, struct log_found *found, uint64_t offset,
                    const char *expected, uint64_t value)
{
  *found =
      (struct log_found){.what = LOG_BAD, .offset = offset, .expected = expected, .found = value};
  reader->is_in_record = reader->is_in_gap = false;
  reader->is_lost = true;
}

static void skip_block(struct log_reader *reader)
{
  reader->at = reader->end;
}

/* Reads the next block. Returns false at the end of the log and on an error. On an error, also sets
 * *status. */
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

/* Does the file end within the block? If so, the log's writer may still append to the block. */
static bool is_cut_block(const struct log_reader *reader)
{
  return reader->end - reader->block < LOG_BLOCK_NBYTES;
}

/* ---- Fragments ---- */

/* Sets the members part and extra_nbytes, which depend on the type. */
static void set_kind(const struct log_reader *reader, struct fragment *fragment)
{
  const unsigned type = fragment->type, newest = reader->number == 0 ? 0 /* a MANIFEST */
                                                 : reader->is_pebble ? TYPE_SYNCED
                                                                     : TYPE_RECYCLABLE;
  fragment->part = fragment->extra_nbytes = 0;
  if (type > TYPE_ZERO && type <= newest + TYPE_LAST)
    fragment->part = (type - TYPE_FULL) % TYPE_LAST + TYPE_FULL;
  if (fragment->part && type > TYPE_SYNCED)
    fragment->extra_nbytes = NUMBER_NBYTES + SYNCED_NBYTES;
  else if ((fragment->part && type > TYPE_RECYCLABLE) ||
           (!reader->is_pebble &&
            (type == TYPE_RECYCLABLE_TIMESTAMPS || type == TYPE_RECYCLABLE_LOG_BEFORE)))
    fragment->extra_nbytes = NUMBER_NBYTES;
}

/* Does the fragment belong to another log, which was in this file before? */
static bool is_of_other_log(const struct log_reader *reader, const struct fragment *fragment)
{
  return fragment->extra_nbytes > 0 && fragment->number != reader->number;
}

enum defect { WHOLE, TOO_LONG, OTHER_CHECKSUM };

/* Parses the fragment at reader->at. At least HEADER_NBYTES of the block must be left. */
static enum defect parse_fragment(const struct log_reader *reader, struct fragment *fragment)
{
  const uint8_t *at = reader->at;
  const size_t left = (size_t)(reader->end - at) - HEADER_NBYTES;
  *fragment = (struct fragment){.at = at, .offset = offset_of(reader, at), .type = at[AT_TYPE]};
  set_kind(reader, fragment);
  const unsigned extra = fragment->extra_nbytes;
  fragment->content.size = at[AT_LENGTH] | (size_t)at[AT_LENGTH + 1] << 8;
  if (extra > 0 && left >= extra) /* also if damaged: the fragment may be an old log's */
    fragment->number = load_le32(at + HEADER_NBYTES);
  if (fragment->content.size + extra > left)
    return TOO_LONG;
  if (extra > NUMBER_NBYTES)
    fragment->nsynced = load_le64(at + HEADER_NBYTES + NUMBER_NBYTES);
  fragment->content.data = at + HEADER_NBYTES + extra;
  return lanebloom_checksum(CHECKSUM_CRC32C, at + AT_TYPE, 1 + extra + fragment->content.size) ==
                 load_le32(at)
             ? WHOLE
             : OTHER_CHECKSUM;
}

static const uint8_t *end_of(const struct fragment *fragment)
{
  return (const uint8_t *)fragment->content.data + fragment->content.size;
}

/* Is the rest of the block a gap, that is, unused or reserved? A gap begins with an empty fragment
 * of type 0. But in a recyclable log of Pebble, such a fragment is the end of the log if another
 * fragment would fit into the block. */
static bool is_gap(const struct log_reader *reader, const struct fragment *fragment)
{
  enum { PEBBLE_HEADER_NBYTES = HEADER_NBYTES + NUMBER_NBYTES + SYNCED_NBYTES };
  return fragment->type == TYPE_ZERO && fragment->content.size == 0 &&
         (!reader->is_pebble || !reader->is_recyclable ||
          reader->end - reader->at < PEBBLE_HEADER_NBYTES);
}

/* Handles a fragment with the number of another log, in a log of Pebble. Such a fragment ends the
 * log. Its checksum does not matter, because Pebble closes a log with a fragment that has the next
 * number and no checksum. */
static void set_end_of_pebble(struct log_reader *reader, const struct fragment *fragment,
                              struct log_found *found)
{
  if (fragment->number == reader->number + 1 && !reader->is_in_record) {
    set_end(reader, found, LOG_END);
    return;
  }
  reader->is_recyclable = true;
  set_bad(reader, found, fragment->offset, "a fragment of this log, found one of log",
          fragment->number);
}

static void set_defect(struct log_reader *reader, const struct fragment *fragment,
                       enum defect defect, struct log_found *found)
{
  if (defect == OTHER_CHECKSUM)
    set_bad(reader, found, fragment->offset, "another checksum, found", load_le32(fragment->at));
  else if (is_cut_block(reader))
    set_end(reader, found, LOG_TORN);
  else
    set_bad(reader, found, fragment->offset, "a fragment that ends in its block, found length",
            fragment->content.size);
}

/* Reads the fragment at reader->at. At least HEADER_NBYTES of the block must be left. Returns false
 * if there is no whole fragment. *is_done then says whether *found is set and must be returned to
 * the caller. */
static bool take_fragment(struct log_reader *reader, struct fragment *fragment,
                          struct log_found *found, bool *is_done)
{
  const enum defect defect = parse_fragment(reader, fragment);
  *is_done = !is_gap(reader, fragment);
  if (!*is_done) {
    reader->is_in_gap = true;
    skip_block(reader);
    return false;
  }
  if (fragment->extra_nbytes > 0 && !reader->is_begun && fragment->number == reader->number)
    reader->is_recyclable = true;
  const bool is_end = reader->is_pebble && is_of_other_log(reader, fragment);
  if (is_end)
    set_end_of_pebble(reader, fragment, found);
  else if (defect)
    set_defect(reader, fragment, defect, found);
  if (is_end || defect)
    skip_block(reader);
  else
    reader->at = end_of(fragment);
  return !is_end && !defect;
}

/* Sets *found for a fragment that is part of a record, or for damage if the fragment does not fit
 * the fragments before it. Returns false if the fragment must be skipped without a report. */
static bool place_in_record(struct log_reader *reader, const struct fragment *fragment,
                            struct log_found *found)
{
  const bool is_first = fragment->part == TYPE_FULL || fragment->part == TYPE_FIRST;
  const bool is_last = fragment->part == TYPE_FULL || fragment->part == TYPE_LAST;
  /* Old versions of LevelDB wrote an empty fragment FIRST at a block's end, and then the whole
   * record into the next block. That is no damage. */
  const bool is_broken =
      reader->is_in_record && (reader->is_in_gap || (is_first && reader->record_nbytes > 0));
  reader->is_in_gap = false;
  if (is_broken) {
    reader->at = fragment->at; /* so that the next call finds this fragment again */
    set_bad(reader, found, reader->record_offset,
            "the end of a record, found a fragment that does not continue it at", fragment->offset);
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

/* Sets *found for a whole fragment. Returns false if the fragment has nothing for the caller. */
static bool classify(struct log_reader *reader, const struct fragment *fragment,
                     struct log_found *found)
{
  const lanebloom_slice content = fragment->content;
  if (is_of_other_log(reader, fragment)) {
    set_end(reader, found, LOG_END);
    return true;
  }
  reader->is_begun = true;
  reader->is_recyclable |= fragment->extra_nbytes > 0;
  if (fragment->part)
    return place_in_record(reader, fragment, found);
  if (!reader->is_pebble &&
      (fragment->type == TYPE_TIMESTAMPS || fragment->type == TYPE_RECYCLABLE_TIMESTAMPS)) {
    *found =
        (struct log_found){.what = LOG_TIMESTAMPS, .offset = fragment->offset, .bytes = content};
    return true;
  }
  if (!reader->is_pebble && fragment->type == TYPE_COMPRESSION &&
      content.size == sizeof(uint32_t) && load_le32(content.data) == COMPRESSION_ZSTD) {
    reader->is_compressed = true;
    return false;
  }
  if (!reader->is_pebble && fragment->type >= TYPE_MAY_SKIP)
    return false;
  set_bad(reader, found, fragment->offset, "a fragment of a known type, found type",
          fragment->type);
  skip_block(reader);
  return true;
}

/* ---- Ends of recyclable logs ---- */

/* Reads the rest of the log. Each fragment may state how many bytes of the log were on disk; sets
 * reader->nsynced to the highest of these numbers. */
static lanebloom_status look_ahead(struct log_reader *reader, const struct problem *problem)
{
  lanebloom_status status = LANEBLOOM_OK;
  reader->is_seen = true;
  while (read_block(reader, &status, problem)) {
    struct fragment fragment;
    while (reader->end - reader->at >= HEADER_NBYTES &&
           parse_fragment(reader, &fragment) == WHOLE && !is_of_other_log(reader, &fragment) &&
           fragment.part) {
      reader->nsynced = fragment.nsynced > reader->nsynced ? fragment.nsynced : reader->nsynced;
      reader->at = end_of(&fragment);
    }
  }
  return status == LANEBLOOM_ERR_CORRUPT ? LANEBLOOM_OK : status; /* the file has become shorter */
}

/* Moves the reader back to the fragment at this offset. */
static lanebloom_status go_to(struct log_reader *reader, uint64_t offset,
                              const struct problem *problem)
{
  lanebloom_status status = LANEBLOOM_OK;
  const size_t in_block = (size_t)(offset % LOG_BLOCK_NBYTES);
  reader->block_offset = offset - in_block;
  skip_block(reader);
  if (read_block(reader, &status, problem))
    reader->at += in_block;
  reader->is_in_record = reader->is_in_gap = reader->is_lost = false;
  return status == LANEBLOOM_ERR_CORRUPT ? LANEBLOOM_OK : status;
}

/* Decides whether damage in a recyclable log is the end of the log. In most cases it is, because
 * the bytes that look damaged belong to the old log. But if a later fragment of Pebble states that
 * these bytes were on disk, the log does not end there: the bytes are really damaged, or were still
 * being written when they were read. To find out which, moves the reader back to `from`, where the
 * caller must read again, and sets *is_done to false. */
static lanebloom_status judge(struct log_reader *reader, struct log_found *found, uint64_t from,
                              bool *is_done, const struct problem *problem)
{
  if (reader->is_pebble && !reader->is_seen) {
    lanebloom_status status = look_ahead(reader, problem);
    *is_done = status || found->offset >= reader->nsynced;
    if (!*is_done)
      status = go_to(reader, from, problem);
    if (status || !*is_done)
      return status;
  }
  if (found->offset >= reader->nsynced)
    set_end(reader, found, reader->is_pebble ? LOG_TORN : LOG_END);
  return LANEBLOOM_OK;
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
        if (!reader->is_recyclable)
          set_bad(reader, found, offset, "a file that does not become shorter than", offset);
        return LANEBLOOM_OK;
      }
      set_end(reader, found, is_cut || reader->is_in_record ? LOG_TORN : LOG_END);
      return status;
    }
    const uint64_t from = reader->is_in_record ? reader->record_offset : found->offset;
    struct fragment fragment;
    bool is_done;
    if (take_fragment(reader, &fragment, found, &is_done))
      is_done = classify(reader, &fragment, found);
    if (is_done && found->what == LOG_BAD && reader->is_recyclable)
      status = judge(reader, found, from, &is_done, problem);
    if (is_done || status)
      return status;
  }
}
