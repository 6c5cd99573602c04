/* Makes the types of columns from the schema, and compares values.
 * Source: parquet-format, LogicalTypes.md and parquet.thrift (ConvertedType, LogicalType,
 * ColumnOrder).
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../common/bytes.h"
#include "type.h"

/* The members of the union LogicalType. */
enum logical {
  LOGICAL_NONE,
  LOGICAL_STRING = 1,
  LOGICAL_ENUM = 4,
  LOGICAL_DECIMAL = 5,
  LOGICAL_DATE = 6,
  LOGICAL_TIME = 7,
  LOGICAL_TIMESTAMP = 8,
  LOGICAL_INTERVAL = 9, /* reserved; used here for the older annotation */
  LOGICAL_INTEGER = 10,
  LOGICAL_NULL = 11,
  LOGICAL_JSON = 12,
  LOGICAL_BSON = 13,
  LOGICAL_UUID = 14,
  LOGICAL_FLOAT16 = 15,
  LOGICAL_GEOMETRY = 17,
  LOGICAL_GEOGRAPHY = 18
};

enum unit { UNIT_MS = 1, UNIT_US, UNIT_NS };

enum {
  MAX_DECIMAL_NBYTES = 32, /* larger decimals have no keys */
  INT96_NBYTES = 12,
  UUID_NBYTES = 16
};

/* ---- Annotations ---- */

static void read_decimal(struct thrift *thrift, struct type_source *source)
{
  for (struct thrift_field field = {0}; lanebloom_thrift_next(thrift, &field);)
    if (field.id == 1)
      source->logical_scale = lanebloom_thrift_i32(thrift, field);
    else if (field.id == 2)
      source->logical_precision = lanebloom_thrift_i32(thrift, field);
    else
      lanebloom_thrift_skip(thrift, field);
}

/* Reads the annotation of times and timestamps. Field 1 says whether they are in UTC. It is
 * skipped, because it does not change the keys. */
static void read_time(struct thrift *thrift, struct type_source *source)
{
  for (struct thrift_field field = {0}; lanebloom_thrift_next(thrift, &field);)
    if (field.id == 2)
      source->logical_unit = lanebloom_thrift_member(thrift, field);
    else
      lanebloom_thrift_skip(thrift, field);
}

static void read_integer(struct thrift *thrift, struct type_source *source)
{
  for (struct thrift_field field = {0}; lanebloom_thrift_next(thrift, &field);)
    if (field.id == 1)
      source->logical_nbits = lanebloom_thrift_i8(thrift, field);
    else if (field.id == 2)
      source->logical_is_signed = lanebloom_thrift_bool(thrift, field);
    else
      lanebloom_thrift_skip(thrift, field);
}

static void read_member(struct thrift *thrift, struct thrift_field field,
                        struct type_source *source)
{
  const bool has_fields = field.id == LOGICAL_DECIMAL || field.id == LOGICAL_TIME ||
                          field.id == LOGICAL_TIMESTAMP || field.id == LOGICAL_INTEGER;
  source->logical = field.id;
  if (!has_fields)
    lanebloom_thrift_skip(thrift, field);
  else if (!lanebloom_thrift_enter(thrift, field))
    return;
  else if (field.id == LOGICAL_DECIMAL)
    read_decimal(thrift, source);
  else if (field.id == LOGICAL_INTEGER)
    read_integer(thrift, source);
  else
    read_time(thrift, source);
}

void lanebloom_type_read_logical(struct thrift *thrift, struct thrift_field field,
                                 struct type_source *source)
{
  if (!lanebloom_thrift_enter(thrift, field))
    return;
  for (struct thrift_field member = {0}; lanebloom_thrift_next(thrift, &member);) {
    if (source->logical != LOGICAL_NONE)
      lanebloom_thrift_damage(thrift, "one logical type");
    read_member(thrift, member, source);
  }
}

/* If there is only the older annotation, translates it into the newer one. */
static void convert(struct type_source *source)
{
  static const struct {
    enum logical logical;
    int32_t detail; /* unit or bits */
    bool is_signed;
  } logical[] = {{LOGICAL_STRING, 0, false},
                 {LOGICAL_NONE, 0, false}, /* three annotations of groups: map, entries of a map,
                                            * list */
                 {LOGICAL_NONE, 0, false},
                 {LOGICAL_NONE, 0, false},
                 {LOGICAL_ENUM, 0, false},
                 {LOGICAL_DECIMAL, 0, false},
                 {LOGICAL_DATE, 0, false},
                 {LOGICAL_TIME, UNIT_MS, false},
                 {LOGICAL_TIME, UNIT_US, false},
                 {LOGICAL_TIMESTAMP, UNIT_MS, false},
                 {LOGICAL_TIMESTAMP, UNIT_US, false},
                 {LOGICAL_INTEGER, 8, false},
                 {LOGICAL_INTEGER, 16, false},
                 {LOGICAL_INTEGER, 32, false},
                 {LOGICAL_INTEGER, 64, false},
                 {LOGICAL_INTEGER, 8, true},
                 {LOGICAL_INTEGER, 16, true},
                 {LOGICAL_INTEGER, 32, true},
                 {LOGICAL_INTEGER, 64, true},
                 {LOGICAL_JSON, 0, false},
                 {LOGICAL_BSON, 0, false},
                 {LOGICAL_INTERVAL, 0, false}};
  if (source->logical != LOGICAL_NONE || !source->has_converted)
    return;
  const bool is_known =
      source->converted >= 0 && (size_t)source->converted < sizeof logical / sizeof *logical;
  if (!is_known) {
    source->logical = INT32_MAX; /* not a known one */
    return;
  }
  source->logical = (int32_t)logical[source->converted].logical;
  source->logical_unit = source->logical_nbits = logical[source->converted].detail;
  source->logical_is_signed = logical[source->converted].is_signed;
  source->logical_scale = source->scale;
  source->logical_precision = source->precision;
}

/* ---- Types of columns ---- */

#define set_text(type, ...) ((void)snprintf((type)->text, sizeof(type)->text, __VA_ARGS__))

static void set_keys(struct column_type *type, enum value_order order, lanebloom_encoding encoding,
                     uint32_t key_nbytes)
{
  type->order = order;
  type->has_keys = true;
  type->encoding = encoding;
  type->key_nbytes = key_nbytes;
}

/* Sets the members of a type that has no annotation. */
static void make_plain(struct column_type *type)
{
  switch (type->physical) {
  case PHYSICAL_INT32:
    set_text(type, "int32");
    type->nbits = 32;
    set_keys(type, ORDER_SIGNED, LANEBLOOM_INT32, 4);
    break;
  case PHYSICAL_INT64:
    set_text(type, "int64");
    set_keys(type, ORDER_SIGNED, LANEBLOOM_INT64, 8);
    break;
  case PHYSICAL_INT96:
    set_text(type, "timestamp-int96");
    set_keys(type, ORDER_NONE, LANEBLOOM_TIMESTAMP_NS, 8);
    break;
  case PHYSICAL_FLOAT:
    set_text(type, "float32");
    set_keys(type, ORDER_FLOAT, LANEBLOOM_FLOAT32, 4);
    break;
  case PHYSICAL_DOUBLE:
    set_text(type, "float64");
    set_keys(type, ORDER_FLOAT, LANEBLOOM_FLOAT64, 8);
    break;
  case PHYSICAL_BYTES:
    set_text(type, "binary");
    set_keys(type, ORDER_BYTES, LANEBLOOM_BYTES, 0);
    break;
  case PHYSICAL_FIXED:
    set_text(type, "binary(%" PRIu32 ")", type->value_nbytes);
    set_keys(type, ORDER_BYTES, LANEBLOOM_BYTES, type->value_nbytes);
    break;
  case PHYSICAL_BOOLEAN:
  case NPHYSICAL:
    set_text(type, "boolean");
    break;
  }
}

static void make_text(struct column_type *type, const char *text, enum value_order order)
{
  if (type->physical != PHYSICAL_BYTES)
    return;
  set_text(type, "%s", text);
  set_keys(type, order, LANEBLOOM_BYTES, 0);
}

static void make_integer(struct column_type *type, const struct type_source *source)
{
  const bool is_signed = source->logical_is_signed;
  const int32_t nbits = source->logical_nbits;
  const bool is_short = nbits == 8 || nbits == 16 || nbits == 32;
  if (!(type->physical == PHYSICAL_INT32 && is_short) &&
      !(type->physical == PHYSICAL_INT64 && nbits == 64))
    return;
  set_text(type, "%sint%" PRId32, is_signed ? "" : "u", nbits);
  type->nbits = (uint32_t)nbits;
  const enum value_order order = is_signed ? ORDER_SIGNED : ORDER_UNSIGNED;
  if (is_short)
    set_keys(type, order, is_signed ? LANEBLOOM_INT32 : LANEBLOOM_UINT32, 4);
  else
    set_keys(type, order, is_signed ? LANEBLOOM_INT64 : LANEBLOOM_UINT64, 8);
}

/* Returns how many decimal digits a number may have so that it always fits into nbytes bytes. This
 * is floor(log10(2^(8 nbytes - 1) - 1)). */
static uint64_t max_ndigits(uint32_t nbytes)
{
  return (UINT64_C(8) * nbytes - 1) * 30103 / 100000;
}

/* Sets the members of a decimal type. Decimals in byte arrays of any size have no limit for the
 * precision, and no keys. */
static void make_decimal(struct column_type *type, const struct type_source *source)
{
  const int32_t precision = source->logical_precision, scale = source->logical_scale;
  const bool is_integer = type->physical == PHYSICAL_INT32 || type->physical == PHYSICAL_INT64;
  if (precision < 1 || scale < 0 || scale > precision ||
      (type->value_nbytes > 0 && (uint32_t)precision > max_ndigits(type->value_nbytes)))
    return;
  set_text(type, "decimal(%" PRId32 ",%" PRId32 ")", precision, scale);
  if (!is_integer && (type->physical != PHYSICAL_FIXED || type->value_nbytes == 0 ||
                      type->value_nbytes > MAX_DECIMAL_NBYTES))
    return;
  set_keys(type, is_integer ? ORDER_SIGNED : ORDER_BIG_ENDIAN, LANEBLOOM_DECIMAL128, 16);
  type->precision = (uint32_t)precision;
  type->scale = scale;
}

/* Sets the members of a type for times of day. lanebloom.h has no encoding for times of day, so
 * their keys are plain numbers. */
static void make_time(struct column_type *type, const struct type_source *source)
{
  if (type->physical == PHYSICAL_INT32 && source->logical_unit == UNIT_MS) {
    set_text(type, "time-ms");
    type->nbits = 32;
    type->units_per_second = 1000;
    set_keys(type, ORDER_SIGNED, LANEBLOOM_INT32, 4);
  } else if (type->physical == PHYSICAL_INT64 &&
             (source->logical_unit == UNIT_US || source->logical_unit == UNIT_NS)) {
    set_text(type, "time-%s", source->logical_unit == UNIT_US ? "us" : "ns");
    type->units_per_second = source->logical_unit == UNIT_US ? 1000000 : 1000000000;
    set_keys(type, ORDER_SIGNED, LANEBLOOM_INT64, 8);
  }
}

static void make_timestamp(struct column_type *type, const struct type_source *source)
{
  static const struct {
    lanebloom_encoding encoding;
    const char *text;
  } units[] = {[UNIT_MS] = {LANEBLOOM_TIMESTAMP_MS, "timestamp-ms"},
               [UNIT_US] = {LANEBLOOM_TIMESTAMP_US, "timestamp-us"},
               [UNIT_NS] = {LANEBLOOM_TIMESTAMP_NS, "timestamp-ns"}};
  const int32_t unit = source->logical_unit;
  if (type->physical != PHYSICAL_INT64 || unit < UNIT_MS || unit > UNIT_NS)
    return;
  set_text(type, "%s", units[unit].text);
  set_keys(type, ORDER_SIGNED, units[unit].encoding, 8);
}

static void make_annotated(struct column_type *type, const struct type_source *source)
{
  switch (source->logical) {
  case LOGICAL_STRING:
    make_text(type, "string", ORDER_BYTES);
    return;
  case LOGICAL_ENUM:
    make_text(type, "enum", ORDER_BYTES);
    return;
  case LOGICAL_JSON:
    make_text(type, "json", ORDER_BYTES);
    return;
  case LOGICAL_BSON:
    make_text(type, "bson", ORDER_BYTES);
    return;
  case LOGICAL_GEOMETRY:
    make_text(type, "geometry", ORDER_NONE);
    return;
  case LOGICAL_GEOGRAPHY:
    make_text(type, "geography", ORDER_NONE);
    return;
  case LOGICAL_DECIMAL:
    make_decimal(type, source);
    return;
  case LOGICAL_DATE:
    if (type->physical == PHYSICAL_INT32) {
      set_text(type, "date");
      set_keys(type, ORDER_SIGNED, LANEBLOOM_DATE32, 4);
    }
    return;
  case LOGICAL_TIME:
    make_time(type, source);
    return;
  case LOGICAL_TIMESTAMP:
    make_timestamp(type, source);
    return;
  case LOGICAL_INTEGER:
    make_integer(type, source);
    return;
  case LOGICAL_UUID:
    if (type->physical == PHYSICAL_FIXED && type->value_nbytes == UUID_NBYTES) {
      set_text(type, "uuid");
      set_keys(type, ORDER_BYTES, LANEBLOOM_UUID, UUID_NBYTES);
    }
    return;
  case LOGICAL_FLOAT16:
    set_text(type, "float16");
    return;
  case LOGICAL_INTERVAL:
    set_text(type, "interval");
    return;
  case LOGICAL_NULL:
    set_text(type, "null");
    return;
  default:
    return;
  }
}

struct column_type lanebloom_type_make(const struct type_source *source)
{
  static const uint32_t nbytes[NPHYSICAL] = {
      [PHYSICAL_BOOLEAN] = 1,          [PHYSICAL_INT32] = 4, [PHYSICAL_INT64] = 8,
      [PHYSICAL_INT96] = INT96_NBYTES, [PHYSICAL_FLOAT] = 4, [PHYSICAL_DOUBLE] = 8};
  struct column_type type = {.physical = (enum physical)source->physical,
                             .value_nbytes = source->physical == PHYSICAL_FIXED
                                                 ? (uint32_t)source->length
                                                 : nbytes[source->physical]};
  struct type_source annotated = *source;
  convert(&annotated);
  if (annotated.logical == LOGICAL_NONE)
    make_plain(&type);
  else
    make_annotated(&type, &annotated);
  if (!*type.text)
    set_text(&type, "unknown");
  return type;
}

bool lanebloom_type_same_keys(const struct column_type *a, const struct column_type *b)
{
  return a->has_keys && b->has_keys && a->physical == b->physical && a->encoding == b->encoding &&
         a->value_nbytes == b->value_nbytes && a->scale == b->scale &&
         a->units_per_second == b->units_per_second;
}

/* ---- Values ---- */

static const uint64_t SIGN64 = UINT64_C(1) << 63;

static uint64_t float_ordinal(double value)
{
  if (value != value)
    return ORDINAL_NAN;
  if (value == 0)
    return SIGN64;
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits & SIGN64 ? ~bits : bits | SIGN64;
}

static uint64_t load_float(const struct column_type *type, const void *bytes)
{
  if (type->physical == PHYSICAL_DOUBLE) {
    const uint64_t bits = load_le64(bytes);
    double value;
    memcpy(&value, &bits, sizeof value);
    return float_ordinal(value);
  }
  const uint32_t bits = load_le32(bytes);
  float value;
  memcpy(&value, &bits, sizeof value);
  return float_ordinal((double)value);
}

/* Returns the first 8 bytes of a value as a big-endian number. Missing bytes count as 0. */
static uint64_t first_bytes(lanebloom_slice value)
{
  uint64_t first = 0;
  if (value.size > 0)
    memcpy(&first, value.data, value.size < sizeof first ? value.size : sizeof first);
  return big64(first);
}

uint64_t lanebloom_value_ordinal(const struct column_type *type, lanebloom_slice value)
{
  const bool is_short = type->value_nbytes == 4;
  switch (type->order) {
  case ORDER_SIGNED:
    return SIGN64 ^
           (is_short ? (uint64_t)(int64_t)(int32_t)load_le32(value.data) : load_le64(value.data));
  case ORDER_UNSIGNED:
    return is_short ? load_le32(value.data) : load_le64(value.data);
  case ORDER_FLOAT:
    return load_float(type, value.data);
  case ORDER_BIG_ENDIAN:
    return SIGN64 ^ first_bytes(value);
  case ORDER_BYTES:
  case ORDER_NONE:
    break;
  }
  return first_bytes(value);
}

int lanebloom_value_compare(const struct column_type *type, lanebloom_slice a, lanebloom_slice b)
{
  const uint64_t ordinal_a = lanebloom_value_ordinal(type, a),
                 ordinal_b = lanebloom_value_ordinal(type, b);
  if (ordinal_a != ordinal_b)
    return ordinal_a < ordinal_b ? -1 : 1;
  if (type->order == ORDER_SIGNED || type->order == ORDER_UNSIGNED || type->order == ORDER_FLOAT)
    return 0;
  const size_t both = a.size < b.size ? a.size : b.size;
  const int order = both > 0 ? memcmp(a.data, b.data, both) : 0;
  return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}
