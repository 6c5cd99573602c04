/* A reader of Thrift's compact protocol, which footers and the headers of filters are written in.
 *
 * It never leaves its bytes. After the first damage every call returns nothing at once: loops end,
 * and callers look at `expected` when they are done. Every element of a list takes a byte at least,
 * so that both time and counts are bounded by the bytes.
 * Source: Apache Thrift, doc/specs/thrift-compact-protocol.md.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_THRIFT_H
#define LANEBLOOM_PARQUET_THRIFT_H

#include "../cursor.h"

struct thrift {
  struct cursor cursor;
  const char *expected; /* NULL, or what was expected, and not found, where the cursor stands */
};

/* Types of fields and of elements. A boolean field is its own value. */
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

/* Goes to the next field of a struct. false: it has no more, or is damaged. Each field must then be
 * read or skipped:
 *
 *   for (struct thrift_field field = {0}; lanebloom_thrift_next(thrift, &field);) */
bool lanebloom_thrift_next(struct thrift *thrift, struct thrift_field *field);

void lanebloom_thrift_skip(struct thrift *thrift, struct thrift_field field);

/* Read a field, whose type must be this one. Integers: i8, i32 or i64; a size is not negative. */
int32_t lanebloom_thrift_i8(struct thrift *thrift, struct thrift_field field);
int32_t lanebloom_thrift_i32(struct thrift *thrift, struct thrift_field field);
int64_t lanebloom_thrift_i64(struct thrift *thrift, struct thrift_field field);
uint64_t lanebloom_thrift_size(struct thrift *thrift, struct thrift_field field);
bool lanebloom_thrift_bool(struct thrift *thrift, struct thrift_field field);
lanebloom_slice lanebloom_thrift_binary(struct thrift *thrift, struct thrift_field field);

/* Enters a struct, whose fields come next. false: it is none. */
bool lanebloom_thrift_enter(struct thrift *thrift, struct thrift_field field);

/* Returns how many elements of this type a list has, which come next: at most as many as bytes are
 * left. */
size_t lanebloom_thrift_list(struct thrift *thrift, struct thrift_field field,
                             enum thrift_type element);

/* An element of a list of binaries. */
lanebloom_slice lanebloom_thrift_binary_element(struct thrift *thrift);

/* Unions. Returns which member a union has, and skips it; 0: none. */
int32_t lanebloom_thrift_member(struct thrift *thrift, struct thrift_field field);
int32_t lanebloom_thrift_member_element(struct thrift *thrift);

#endif
