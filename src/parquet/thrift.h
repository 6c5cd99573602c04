/* Reads Thrift's compact protocol, the encoding in which Parquet files store footers and the
 * headers of filters.
 *
 * The reader never reads past its bytes. After the first damage, every call returns 0, false or an
 * empty slice at once, so that loops end. Callers therefore need not check each call: they check
 * `expected` when they are done. Every element of a list takes at least one byte. So the number of
 * bytes limits both the running time and the number of elements.
 * Source: Apache Thrift, doc/specs/thrift-compact-protocol.md.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_THRIFT_H
#define LANEBLOOM_PARQUET_THRIFT_H

#include "../cursor.h"

struct thrift {
  struct cursor cursor;
  const char *expected; /* after damage: what was expected, but not found; otherwise NULL */
};

/* The types of fields and of elements. The type of a boolean field is also its value: true or
 * false. */
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
  int32_t id; /* 0 before the first field */
  enum thrift_type type;
};

static inline struct thrift thrift_start(const void *bytes, size_t nbytes)
{
  const uint8_t *begin = bytes;
  return (struct thrift){.cursor = {begin, begin + nbytes}};
}

/* Marks the bytes as damaged. If they are marked already, the earlier `expected` stays. */
void lanebloom_thrift_damage(struct thrift *thrift, const char *expected);

/* Moves to the next field of a struct. Returns false if the struct has no more fields or is
 * damaged. Use it in this loop, in which each field must be read or skipped:
 *
 *   for (struct thrift_field field = {0}; lanebloom_thrift_next(thrift, &field);) */
bool lanebloom_thrift_next(struct thrift *thrift, struct thrift_field *field);

void lanebloom_thrift_skip(struct thrift *thrift, struct thrift_field field);

/* These functions read the current field, which must have the type in the function's name.
 * lanebloom_thrift_size() reads an i64 that must not be negative. */
int32_t lanebloom_thrift_i8(struct thrift *thrift, struct thrift_field field);
int32_t lanebloom_thrift_i32(struct thrift *thrift, struct thrift_field field);
int64_t lanebloom_thrift_i64(struct thrift *thrift, struct thrift_field field);
uint64_t lanebloom_thrift_size(struct thrift *thrift, struct thrift_field field);
bool lanebloom_thrift_bool(struct thrift *thrift, struct thrift_field field);
lanebloom_slice lanebloom_thrift_binary(struct thrift *thrift, struct thrift_field field);

/* Enters a field that is a struct, so that lanebloom_thrift_next() moves over its fields. Returns
 * false if the field is not a struct. */
bool lanebloom_thrift_enter(struct thrift *thrift, struct thrift_field field);

/* Enters a field that is a list of elements of this type. The caller then reads the elements.
 * Returns the number of elements, which is at most the number of bytes left. */
size_t lanebloom_thrift_list(struct thrift *thrift, struct thrift_field field,
                             enum thrift_type element);

/* Reads the next element of a list of binaries. */
lanebloom_slice lanebloom_thrift_binary_element(struct thrift *thrift);

/* Both functions read a union. The first reads a union that is the current field, the second a
 * union that is the next element of a list. They skip the member of the union and return the
 * member's number, or 0 if the union has no member. */
int32_t lanebloom_thrift_member(struct thrift *thrift, struct thrift_field field);
int32_t lanebloom_thrift_member_element(struct thrift *thrift);

#endif
