/* Decompresses MinLZ blocks (see minlz.h). Numbers of several bytes are little-endian.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "../../cursor.h"
#include "minlz.h"

/* The number of bytes that an element stores, and the number of bytes that it copies afterwards
 * from `offset` bytes before. An element that repeats has the offset of the previous copy. */
struct element {
  size_t nliterals, ncopied, offset;
};

static bool take(struct cursor *from, size_t nbytes, uint32_t *number)
{
  const uint8_t *bytes;
  if (!cursor_bytes(from, nbytes, &bytes))
    return false;
  *number = 0;
  for (size_t i = nbytes; i-- > 0;)
    *number = *number << 8 | bytes[i];
  return true;
}

/* The encoding of a length: a code below nshort stands for code + shortest. The codes from nshort
 * on say that 1, 2 or 3 bytes follow, which have the length less `longer`. */
struct length_form {
  uint32_t nshort, shortest, longer;
};

static bool take_length(struct cursor *from, uint32_t code, struct length_form form, size_t *length)
{
  uint32_t rest;
  *length = code + form.shortest;
  if (code < form.nshort)
    return true;
  if (!take(from, code - form.nshort + 1, &rest))
    return false;
  *length = form.longer + rest;
  return true;
}

/* Takes all of an element but the bytes that it stores. The low two bits of its first byte are its
 * kind. */
static bool take_element(struct cursor *from, struct element *element)
{
  static const struct length_form literals_or_repeat = {29, 1, 30}, near_copy = {15, 4, 18},
                                  far_copy = {61, 4, 64};
  enum {
    LITERALS_OR_REPEAT,
    NEAR_COPY,
    FAR_COPY,
    LITERALS_AND_COPY,
    IS_REPEAT = 4,
    IS_FARTHER = 4
  };
  enum { FAR_OFFSET = 64, FARTHER_OFFSET = 1 << 16 };
  uint32_t tag, number;
  if (!take(from, 1, &tag))
    return false;
  element->nliterals = element->ncopied = 0;
  switch (tag & 3) {
  case LITERALS_OR_REPEAT:
    return take_length(from, tag >> 3, literals_or_repeat,
                       tag & IS_REPEAT ? &element->ncopied : &element->nliterals);
  case NEAR_COPY:
    if (!take(from, 1, &number))
      return false;
    element->offset = 1 + (number << 2 | tag >> 6);
    return take_length(from, tag >> 2 & 15, near_copy, &element->ncopied);
  case FAR_COPY:
    if (!take(from, 2, &number))
      return false;
    element->offset = FAR_OFFSET + number;
    return take_length(from, tag >> 2, far_copy, &element->ncopied);
  default:
    if (!take(from, tag & IS_FARTHER ? 3 : 2, &number))
      return false;
    if (tag & IS_FARTHER) {
      element->nliterals = tag >> 3 & 3;
      element->offset = FARTHER_OFFSET + (number >> 3);
      return take_length(from, (number << 3 | tag >> 5) & 63, far_copy, &element->ncopied);
    }
    element->nliterals = 1 + (tag >> 3 & 3);
    element->ncopied = 4 + (tag >> 5);
    element->offset = FAR_OFFSET + number;
    return true;
  }
}

/* Repeats the bytes from `from` to `to`, until n bytes are written at `to`. */
static void repeat(const uint8_t *from, uint8_t *to, size_t n)
{
  while (n > 0) {
    const size_t nsame = n < (size_t)(to - from) ? n : (size_t)(to - from);
    memcpy(to, from, nsame);
    to += nsame;
    n -= nsame;
  }
}

static bool run(struct cursor from, uint8_t *const begin, size_t nbytes)
{
  struct element element = {.offset = 1};
  uint8_t *to = begin, *const end = begin + nbytes;
  while (cursor_left(&from) > 0) {
    const uint8_t *literals;
    if (!take_element(&from, &element) || !cursor_bytes(&from, element.nliterals, &literals) ||
        element.nliterals + element.ncopied > (size_t)(end - to))
      return false;
    memcpy(to, literals, element.nliterals);
    to += element.nliterals;
    if (element.ncopied == 0)
      continue;
    if (element.offset > (size_t)(to - begin))
      return false;
    repeat(to - element.offset, to, element.ncopied);
    to += element.ncopied;
  }
  return to == end;
}

/* Parses a block up to its elements. A block without a size has no data. If the size is 0, the rest
 * of the block is the data. */
static bool begin_block(lanebloom_slice block, struct cursor *rest, bool *is_stored,
                        uint64_t *nbytes)
{
  enum { MAX_NBYTES = 8 << 20 };
  *rest = (struct cursor){block.data, (const uint8_t *)block.data + block.size};
  uint32_t first;
  if (!take(rest, 1, &first) || first != 0)
    return false;
  *nbytes = 0;
  if (cursor_left(rest) > 0 && !cursor_varint(rest, nbytes))
    return false;
  *is_stored = *nbytes == 0;
  if (*is_stored)
    *nbytes = cursor_left(rest);
  return *nbytes <= MAX_NBYTES;
}

bool lanebloom_minlz_size(lanebloom_slice block, size_t *nbytes)
{
  struct cursor rest;
  bool is_stored;
  uint64_t size;
  const bool is_whole = begin_block(block, &rest, &is_stored, &size);
  *nbytes = is_whole ? (size_t)size : 0;
  return is_whole;
}

bool lanebloom_minlz_decompress(lanebloom_slice block, uint8_t *to, size_t nbytes)
{
  struct cursor rest;
  bool is_stored;
  uint64_t size;
  if (!begin_block(block, &rest, &is_stored, &size) || size != nbytes)
    return false;
  if (!is_stored)
    return run(rest, to, nbytes);
  memcpy(to, rest.at, nbytes);
  return true;
}
