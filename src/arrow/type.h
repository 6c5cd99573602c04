/* Describes the types of Arrow arrays whose values can be keys.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_ARROW_TYPE_H
#define LANEBLOOM_ARROW_TYPE_H

#include <lanebloom_arrow.h>

#include "../common/problem.h"

enum array_layout { FIXED, OFFSETS32, OFFSETS64, VIEWS };

/* The memory layout of a type's values, and the encoding of these values as keys. */
struct type {
  enum array_layout layout;
  size_t width; /* FIXED: the size of a value in bytes */
  lanebloom_encoding encoding;
  bool is_text; /* for BYTES: the values are text, so HEX, BASE64 and UUID do not fit */
  bool is_signed;
};

/* Finds the types of rows and of values. If the array has a dictionary, rows are indices into the
 * dictionary, and the values have the dictionary's type. Otherwise rows and values have the same
 * type. */
lanebloom_status lanebloom_arrow_find_types(const struct ArrowSchema *schema, struct type *rows,
                                            struct type *values, const struct problem *problem);

/* Reports an error if the type does not fit the key form. The message names the owner of the key
 * form, which is "filter" or "builder". */
lanebloom_status lanebloom_arrow_check_form(const struct type *type, lanebloom_key_form form,
                                            const char *owner, const struct problem *problem);

static inline bool is_integer(const struct type *type)
{
  return type->encoding >= LANEBLOOM_INT32 && type->encoding <= LANEBLOOM_UINT64;
}

/* Returns the size of a key in bytes. Integers of fewer than 4 bytes become integers of 4. */
static inline size_t key_nbytes(const struct type *type)
{
  return is_integer(type) && type->width < sizeof(uint32_t) ? sizeof(uint32_t) : type->width;
}

/* Checks whether the bytes of a value are its key. If they are not, the value is copied as a
 * little-endian number, and an integer gets at least 4 bytes. */
static inline bool is_as_stored(const struct type *type)
{
  const bool is_number = type->encoding != LANEBLOOM_BYTES && type->encoding != LANEBLOOM_UUID;
  return key_nbytes(type) == type->width &&
         (!is_number || __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

#endif
