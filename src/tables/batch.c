/* Parses write batches, whose form is in batch.h.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/bytes.h"
#include "../cursor.h"
#include "batch.h"

/* ---- Tags ---- */

enum { TAG_BEGIN_PREPARE = 0x09, TAG_END_PREPARE = 0x0a, AT_COUNT = 8, NTAGS = 0x1b };

/* The meaning of a tag. Markers have no key, and the header's number of entries does not include
 * them. */
struct tag {
  enum batch_kind kind;
  bool has_family;
  unsigned nstrings; /* the key is the first */
};

/* LevelDB's batches use only the tags 0x00 and 0x01. */
static const struct tag rocksdb_tags[NTAGS] = {
    [0x00] = {BATCH_DELETES, false, 1},
    [0x01] = {BATCH_GIVES, false, 2},  /* put */
    [0x02] = {BATCH_GIVES, false, 2},  /* merge */
    [0x03] = {BATCH_MARKER, false, 1}, /* the program's own data */
    [0x04] = {BATCH_DELETES, true, 1},
    [0x05] = {BATCH_GIVES, true, 2},    /* put */
    [0x06] = {BATCH_GIVES, true, 2},    /* merge */
    [0x07] = {BATCH_DELETES, false, 1}, /* a single delete */
    [0x08] = {BATCH_DELETES, true, 1},
    [TAG_BEGIN_PREPARE] = {BATCH_MARKER, false, 0},
    [TAG_END_PREPARE] = {BATCH_MARKER, false, 1},
    [0x0b] = {BATCH_MARKER, false, 1}, /* commit */
    [0x0c] = {BATCH_MARKER, false, 1}, /* roll back */
    [0x0d] = {BATCH_MARKER, false, 0}, /* nothing */
    [0x0e] = {BATCH_DELETES, true, 2}, /* a range */
    [0x0f] = {BATCH_DELETES, false, 2},
    [0x10] = {BATCH_GIVES, true, 2}, /* the position of a value in a blob file */
    [0x11] = {BATCH_GIVES, false, 2},
    [0x12] = {BATCH_MARKER, false, 0}, /* begin to prepare, for WritePrepared, WriteUnprepared */
    [0x13] = {BATCH_MARKER, false, 0},
    [0x15] = {BATCH_MARKER, false, 2}, /* commit with a timestamp */
    [0x16] = {BATCH_GIVES, false, 2},  /* wide columns */
    [0x17] = {BATCH_GIVES, true, 2},
    [0x18] = {BATCH_GIVES, false, 2}, /* put with a timestamp */
    [0x19] = {BATCH_GIVES, true, 2},
};

static const struct tag pebble_tags[NTAGS] = {
    [0x00] = {BATCH_DELETES, false, 1},
    [0x01] = {BATCH_GIVES, false, 2},   /* set */
    [0x02] = {BATCH_GIVES, false, 2},   /* merge */
    [0x03] = {BATCH_MARKER, false, 1},  /* the program's own data */
    [0x07] = {BATCH_DELETES, false, 1}, /* a single delete */
    [0x0f] = {BATCH_DELETES, false, 2}, /* a range */
    [0x13] = {BATCH_DELETES, false, 2}, /* delete, unset, set a range key */
    [0x14] = {BATCH_DELETES, false, 2},
    [0x15] = {BATCH_DELETES, false, 2},
    [0x16] = {BATCH_INGESTS, false, 1},
    [0x17] = {BATCH_DELETES, false, 2}, /* with the size of the value */
    [0x18] = {BATCH_DELETES, false, 2}, /* excise a range */
    [0x1a] = {BATCH_INGESTS, false, 2}, /* with blob files */
};

/* ---- Parsing ---- */

void lanebloom_batch_init(struct batch_parser *parser, lanebloom_engine engine, batch_take *take,
                          void *context)
{
  *parser =
      (struct batch_parser){.tags = engine == LANEBLOOM_ENGINE_PEBBLE ? pebble_tags : rocksdb_tags,
                            .take = take,
                            .context = context};
}

void lanebloom_batch_free(struct batch_parser *parser)
{
  free(parser->key);
  parser->key = NULL;
}

void lanebloom_batch_begin(struct batch_parser *parser)
{
  parser->problem = NULL;
  parser->state = BATCH_HEADER;
  parser->nparsed = 0;
  parser->nentries = 0;
  parser->sequence = 0;
  parser->is_prepared = false;
}

uint32_t lanebloom_batch_count(const struct batch_parser *parser)
{
  return parser->nparsed == sizeof parser->header ? load_le32(parser->header + AT_COUNT) : 0;
}

static void parse_header(struct batch_parser *parser, struct cursor *rest)
{
  while (parser->nparsed < sizeof parser->header && rest->at < rest->end)
    parser->header[parser->nparsed++] = *rest->at++;
  if (parser->nparsed < sizeof parser->header)
    return;
  parser->sequence = load_le64(parser->header);
  parser->state = BATCH_TAG;
}

static void begin_varint(struct batch_parser *parser, enum batch_state state)
{
  parser->state = state;
  parser->number = 0;
  parser->number_nbits = 0;
}

/* Returns false if the number continues in the next piece or is damaged. */
static bool parse_varint(struct batch_parser *parser, struct cursor *rest)
{
  while (rest->at < rest->end) {
    if (parser->number_nbits >= 64) {
      parser->problem = "expected a number of at most 10 bytes, found more";
      return false;
    }
    const uint8_t byte = *rest->at++;
    parser->number |= (uint64_t)(byte & 0x7f) << parser->number_nbits;
    parser->number_nbits += 7;
    if (byte < 0x80)
      return true;
  }
  return false;
}

/* Continues with the next string of the entry. If there is none, continues with the next entry. */
static void go_on(struct batch_parser *parser)
{
  if (parser->nstrings == 0)
    parser->state = BATCH_TAG;
  else
    begin_varint(parser, BATCH_LENGTH);
}

static void parse_tag(struct batch_parser *parser, struct cursor *rest)
{
  const uint8_t number = *rest->at++;
  const struct tag *tag = number < NTAGS ? &parser->tags[number] : &(struct tag){0};
  if (tag->kind == BATCH_UNKNOWN) {
    snprintf(parser->unknown, sizeof parser->unknown, "expected an entry of a known kind, found %u",
             number);
    parser->problem = parser->unknown;
    return;
  }
  if (number == TAG_BEGIN_PREPARE)
    parser->is_prepared = true;
  if (number == TAG_END_PREPARE)
    parser->is_prepared = false;
  parser->kind = tag->kind;
  parser->nentries += tag->kind != BATCH_MARKER;
  parser->nstrings = tag->nstrings;
  parser->is_key = tag->kind != BATCH_MARKER;
  parser->family = 0;
  if (tag->has_family)
    begin_varint(parser, BATCH_FAMILY);
  else
    go_on(parser);
}

static lanebloom_status take_key(struct batch_parser *parser, const uint8_t *key, size_t nbytes)
{
  parser->is_key = false;
  return parser->take(parser->context, &(struct batch_entry){.family = parser->family,
                                                             .kind = parser->kind,
                                                             .is_prepared = parser->is_prepared,
                                                             .key = {key, nbytes}});
}

/* Begins a string, whose length was just parsed. If `rest` has the whole key, the callback gets it
 * from there, without a copy. */
static lanebloom_status begin_string(struct batch_parser *parser, struct cursor *rest)
{
  parser->nstrings--;
  parser->nbytes_left = parser->number;
  parser->key_nbytes = 0;
  parser->state = BATCH_BYTES;
  if (parser->is_key && parser->number > BATCH_MAX_KEY_NBYTES) {
    parser->has_large_key = true;
    parser->is_key = false;
  }
  const uint8_t *key;
  if (parser->is_key && cursor_bytes(rest, parser->number, &key)) {
    parser->nbytes_left = 0;
    const size_t nbytes = (size_t)parser->number;
    go_on(parser);
    return take_key(parser, key, nbytes);
  }
  if (parser->nbytes_left == 0)
    go_on(parser);
  return LANEBLOOM_OK;
}

static bool add_to_key(struct batch_parser *parser, const uint8_t *bytes, size_t nbytes)
{
  if (nbytes > parser->key_room - parser->key_nbytes) {
    /* Allocates twice the bytes that were read. The length that the entry states may be damaged,
     * and could claim gigabytes. */
    const size_t room = 2 * (parser->key_nbytes + nbytes);
    uint8_t *key = realloc(parser->key, room);
    if (!key)
      return false;
    parser->key = key;
    parser->key_room = room;
  }
  memcpy(parser->key + parser->key_nbytes, bytes, nbytes);
  parser->key_nbytes += nbytes;
  return true;
}

static lanebloom_status parse_bytes(struct batch_parser *parser, struct cursor *rest)
{
  const size_t left = cursor_left(rest);
  const size_t nbytes = parser->nbytes_left < left ? (size_t)parser->nbytes_left : left;
  if (parser->is_key && !add_to_key(parser, rest->at, nbytes))
    return LANEBLOOM_ERR_MEMORY;
  rest->at += nbytes;
  parser->nbytes_left -= nbytes;
  if (parser->nbytes_left > 0)
    return LANEBLOOM_OK;
  go_on(parser);
  return parser->is_key ? take_key(parser, parser->key, parser->key_nbytes) : LANEBLOOM_OK;
}

static lanebloom_status parse(struct batch_parser *parser, struct cursor *rest)
{
  switch (parser->state) {
  case BATCH_HEADER:
    parse_header(parser, rest);
    break;
  case BATCH_TAG:
    parse_tag(parser, rest);
    break;
  case BATCH_FAMILY:
    if (parse_varint(parser, rest)) {
      parser->family = (uint32_t)parser->number;
      if (parser->number > UINT32_MAX)
        parser->problem = "expected a column family of 32 bits, found more";
      go_on(parser);
    }
    break;
  case BATCH_LENGTH:
    return parse_varint(parser, rest) ? begin_string(parser, rest) : LANEBLOOM_OK;
  case BATCH_BYTES:
    return parse_bytes(parser, rest);
  }
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_batch_feed(struct batch_parser *parser, const uint8_t *bytes,
                                      size_t nbytes)
{
  struct cursor rest = {bytes, bytes + nbytes};
  lanebloom_status status = LANEBLOOM_OK;
  while (!status && !parser->problem && rest.at < rest.end)
    status = parse(parser, &rest);
  return status;
}

bool lanebloom_batch_end(struct batch_parser *parser)
{
  if (parser->problem)
    return false;
  if (parser->state == BATCH_HEADER)
    parser->problem = "expected a batch of at least 12 bytes, found fewer";
  else if (parser->state != BATCH_TAG)
    parser->problem = "expected a whole entry at the end of the batch, found a part";
  else if (parser->nentries != lanebloom_batch_count(parser))
    parser->problem = "expected as many entries as the batch states, found more or fewer";
  return !parser->problem;
}
