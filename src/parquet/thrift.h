/* A reader of Thrift's compact protocol, in which footers and the headers of filters are written.
 *
 * It never reads past its bytes. After the first damage every call returns nothing immediately, so
 * that loops end; callers check `expected` when they are done. Every element of a list takes at
 * least one byte, so that both time and counts are bounded by the bytes.
 * Source: Apache Thrift, doc/specs/thrift-compact-protocol.md.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_THRIFT_H
#define LANEBLOOM_PARQUET_THRIFT_H

#include "../cursor.h"

struct thrift {
  struct cursor cursor;
  const char *expected; /* NULL, or what was expected at the cursor and not found */
};

/* Types of fields and of elements. The type of a boolean field is its value. */
enum thrift_type {
  THRIFT_STOP,
  THRIFT_TRUE,
  THRIFT_FALSE,
  THRIFT_I8,
  THRIFT_I16,
  THRIFT_I32,
  THRIFT_I64,
  THRIFT_DOUBLE,
  THRIFT_BINARY,
  THRIFT_LIST,
  THRIFT_SET,
  THRIFT_MAP,
  THRIFT_STRUCT,
  THRIFT_UUID
};

struct thrift_field {
  int32_t id; /* 0 before the first one */
  enum thrift_type type;
};

static inline struct thrift thrift_start(const void *bytes, size_t nbytes)
{
  const uint8_t *begin = bytes;
  return (struct thrift){.cursor = {begin, begin + nbytes}};
}

/* Marks the bytes as damaged. The first mark stays. */
void lanebloom_thrift_damage(struct thrift *thrift, const char *expected);

/* Moves to the next field of a struct. false: it has no more, or is damaged. Each field must then
 * be read or skipped:
 *
 *   for (struct thrift_field field = {0}; lanebloom_thrift_next(thrift, &field);) */
bool lanebloom_thrift_next(struct thrift *thrift, struct thrift_field *field);

void lanebloom_thrift_skip(struct thrift *thrift, struct thrift_field field);

/* Read a field, whose type must be that of the function. Integers: i8, i32 or i64; a size is an i64
 * that is not negative. */
int32_t lanebloom_thrift_i8(struct thrift *thrift, struct thrift_field field);
int32_t lanebloom_thrift_i32(struct thrift *thrift, struct thrift_field field);
int64_t lanebloom_thrift_i64(struct thrift *thrift, struct thrift_field field);
uint64_t lanebloom_thrift_size(struct thrift *thrift, struct thrift_field field);
bool lanebloom_thrift_bool(struct thrift *thrift, struct thrift_field field);
lanebloom_slice lanebloom_thrift_binary(struct thrift *thrift, struct thrift_field field);

/* Enters a struct, whose fields come next. false: the field is no struct. */
bool lanebloom_thrift_enter(struct thrift *thrift, struct thrift_field field);

/* Enters a list of elements of this type, which come next. Returns their number, which is at most
 * the number of bytes left. */
size_t lanebloom_thrift_list(struct thrift *thrift, struct thrift_field field,
                             enum thrift_type element);

/* Reads an element of a list of binaries. */
lanebloom_slice lanebloom_thrift_binary_element(struct thrift *thrift);

/* Read a union: return the number of its member, and skip the member. 0: it has none. */
int32_t lanebloom_thrift_member(struct thrift *thrift, struct thrift_field field);
int32_t lanebloom_thrift_member_element(struct thrift *thrift);

#endif
