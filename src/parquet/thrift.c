/* Reads Thrift's compact protocol.
 * SPDX-License-Identifier: MIT */
#include "thrift.h"

enum {
  MAX_DEPTH = 16, /* levels of nested values that are skipped; Parquet's own metadata has 8 */
  DOUBLE_NBYTES = 8,
  UUID_NBYTES = 16,
  LONG_COUNT = 15 /* in the head of a list: the number of elements follows as a varint */
};

void lanebloom_thrift_damage(struct thrift *thrift, const char *expected)
{
  if (!thrift->expected)
    thrift->expected = expected;
}

/* ---- Values without their types ---- */

static uint64_t read_varint(struct thrift *thrift)
{
  uint64_t value = 0;
  if (!thrift->expected && !cursor_varint(&thrift->cursor, &value))
    lanebloom_thrift_damage(thrift, "a number");
  return thrift->expected ? 0 : value;
}

/* Reads a signed integer. The integers 0, -1, 1, -2, ... are stored as 0, 1, 2, 3, ... */
static int64_t read_integer(struct thrift *thrift)
{
  const uint64_t zigzag = read_varint(thrift);
  return (int64_t)(zigzag >> 1 ^ -(zigzag & 1));
}

static uint8_t read_byte(struct thrift *thrift)
{
  const uint8_t *byte;
  if (!thrift->expected && cursor_bytes(&thrift->cursor, 1, &byte))
    return *byte;
  lanebloom_thrift_damage(thrift, "another byte");
  return 0;
}

static lanebloom_slice read_bytes(struct thrift *thrift, uint64_t nbytes)
{
  const uint8_t *bytes;
  if (!thrift->expected && cursor_bytes(&thrift->cursor, nbytes, &bytes))
    return (lanebloom_slice){bytes, (size_t)nbytes};
  lanebloom_thrift_damage(thrift, "as many bytes as their length states");
  return (lanebloom_slice){NULL, 0};
}

static size_t read_list(struct thrift *thrift, enum thrift_type *element)
{
  const uint8_t head = read_byte(thrift);
  const uint64_t n = head >> 4 == LONG_COUNT ? read_varint(thrift) : head >> 4;
  *element = (enum thrift_type)(head & 0xf);
  if (n > cursor_left(&thrift->cursor))
    lanebloom_thrift_damage(thrift, "as many elements as the list states");
  return thrift->expected ? 0 : (size_t)n;
}

/* ---- Skipping ---- */

/* A value that consists of parts, which are skipped one by one. The parts are the fields of a
 * struct, or the elements of a list, set or map. */
struct nested {
  bool is_struct;
  struct thrift_field field; /* struct: the current field */
  uint64_t nleft;            /* other kinds: parts left; each key and value of a map is a part */
  enum thrift_type types[2]; /* the type of the next part is types[nleft % 2] */
};

static bool is_nested(enum thrift_type type)
{
  return type == THRIFT_LIST || type == THRIFT_SET || type == THRIFT_MAP || type == THRIFT_STRUCT;
}

static struct nested enter(struct thrift *thrift, enum thrift_type type)
{
  if (type == THRIFT_STRUCT)
    return (struct nested){.is_struct = true};
  if (type != THRIFT_MAP) {
    enum thrift_type element;
    const size_t n = read_list(thrift, &element);
    return (struct nested){.nleft = n, .types = {element, element}};
  }
  const uint64_t n = read_varint(thrift);
  const uint8_t types = n > 0 ? read_byte(thrift) : 0;
  if (n > cursor_left(&thrift->cursor))
    lanebloom_thrift_damage(thrift, "as many elements as the map states");
  return (struct nested){
      .nleft = thrift->expected ? 0 : 2 * n,
      .types = {(enum thrift_type)(types >> 4), (enum thrift_type)(types & 0xf)}};
}

/* Finds the type of the next part. Returns false if no part is left. A boolean element of a list
 * takes a byte, unlike a boolean field, which has its value in its type. */
static bool next(struct thrift *thrift, struct nested *nested, enum thrift_type *type)
{
  if (nested->is_struct) {
    const bool is_there = lanebloom_thrift_next(thrift, &nested->field);
    *type = nested->field.type;
    return is_there;
  }
  if (nested->nleft == 0)
    return false;
  *type = nested->types[nested->nleft % 2];
  if (*type == THRIFT_TRUE || *type == THRIFT_FALSE)
    *type = THRIFT_I8;
  nested->nleft--;
  return true;
}

static void skip_plain(struct thrift *thrift, enum thrift_type type)
{
  switch (type) {
  case THRIFT_TRUE:
  case THRIFT_FALSE:
    return;
  case THRIFT_I8:
    (void)read_byte(thrift);
    return;
  case THRIFT_I16:
  case THRIFT_I32:
  case THRIFT_I64:
    (void)read_varint(thrift);
    return;
  case THRIFT_DOUBLE:
    (void)read_bytes(thrift, DOUBLE_NBYTES);
    return;
  case THRIFT_UUID:
    (void)read_bytes(thrift, UUID_NBYTES);
    return;
  case THRIFT_BINARY:
    (void)read_bytes(thrift, read_varint(thrift));
    return;
  default:
    lanebloom_thrift_damage(thrift, "a type that Thrift defines");
  }
}

void lanebloom_thrift_skip(struct thrift *thrift, struct thrift_field field)
{
  struct nested nested[MAX_DEPTH];
  size_t depth = 0;
  enum thrift_type type = field.type;
  do {
    if (!is_nested(type))
      skip_plain(thrift, type);
    else if (depth < MAX_DEPTH)
      nested[depth++] = enter(thrift, type);
    else
      lanebloom_thrift_damage(thrift, "values that are less deeply nested");
    while (depth > 0 && !next(thrift, &nested[depth - 1], &type))
      depth--;
  } while (depth > 0 && !thrift->expected);
}

/* ---- Fields ---- */

bool lanebloom_thrift_next(struct thrift *thrift, struct thrift_field *field)
{
  const uint8_t head = read_byte(thrift);
  field->type = (enum thrift_type)(head & 0xf);
  if (thrift->expected || field->type == THRIFT_STOP)
    return false;
  const int64_t id = head >> 4 ? field->id + (head >> 4) : read_integer(thrift);
  if (id < INT16_MIN || id > INT16_MAX)
    lanebloom_thrift_damage(thrift, "the number of a field");
  field->id = (int32_t)id;
  return !thrift->expected;
}

static bool has_type(struct thrift *thrift, struct thrift_field field, enum thrift_type type,
                     const char *expected)
{
  if (field.type != type)
    lanebloom_thrift_damage(thrift, expected);
  return !thrift->expected;
}

int32_t lanebloom_thrift_i8(struct thrift *thrift, struct thrift_field field)
{
  return has_type(thrift, field, THRIFT_I8, "an integer of 8 bits") ? (int8_t)read_byte(thrift) : 0;
}

int32_t lanebloom_thrift_i32(struct thrift *thrift, struct thrift_field field)
{
  const char *expected = "an integer of 32 bits";
  const int64_t value = has_type(thrift, field, THRIFT_I32, expected) ? read_integer(thrift) : 0;
  if (value < INT32_MIN || value > INT32_MAX)
    lanebloom_thrift_damage(thrift, expected);
  return thrift->expected ? 0 : (int32_t)value;
}

int64_t lanebloom_thrift_i64(struct thrift *thrift, struct thrift_field field)
{
  return has_type(thrift, field, THRIFT_I64, "an integer of 64 bits") ? read_integer(thrift) : 0;
}

uint64_t lanebloom_thrift_size(struct thrift *thrift, struct thrift_field field)
{
  const int64_t value = lanebloom_thrift_i64(thrift, field);
  if (value < 0)
    lanebloom_thrift_damage(thrift, "a number that is not negative");
  return thrift->expected ? 0 : (uint64_t)value;
}

bool lanebloom_thrift_bool(struct thrift *thrift, struct thrift_field field)
{
  if (field.type != THRIFT_TRUE)
    (void)has_type(thrift, field, THRIFT_FALSE, "true or false");
  return !thrift->expected && field.type == THRIFT_TRUE;
}

lanebloom_slice lanebloom_thrift_binary(struct thrift *thrift, struct thrift_field field)
{
  (void)has_type(thrift, field, THRIFT_BINARY, "bytes");
  return lanebloom_thrift_binary_element(thrift);
}

lanebloom_slice lanebloom_thrift_binary_element(struct thrift *thrift)
{
  return read_bytes(thrift, read_varint(thrift));
}

bool lanebloom_thrift_enter(struct thrift *thrift, struct thrift_field field)
{
  return has_type(thrift, field, THRIFT_STRUCT, "a struct");
}

size_t lanebloom_thrift_list(struct thrift *thrift, struct thrift_field field,
                             enum thrift_type element)
{
  enum thrift_type found;
  (void)has_type(thrift, field, THRIFT_LIST, "a list");
  const size_t n = read_list(thrift, &found);
  if (n > 0 && found != element)
    lanebloom_thrift_damage(thrift, "a list of another type");
  return thrift->expected ? 0 : n;
}

int32_t lanebloom_thrift_member(struct thrift *thrift, struct thrift_field field)
{
  return lanebloom_thrift_enter(thrift, field) ? lanebloom_thrift_member_element(thrift) : 0;
}

int32_t lanebloom_thrift_member_element(struct thrift *thrift)
{
  int32_t member = 0;
  for (struct thrift_field field = {0}; lanebloom_thrift_next(thrift, &field);) {
    if (member != 0)
      lanebloom_thrift_damage(thrift, "a union with one member");
    member = field.id;
    lanebloom_thrift_skip(thrift, field);
  }
  return thrift->expected ? 0 : member;
}
