/* Parquet files made by hand.
 * SPDX-License-Identifier: MIT */
#include "writer.h"

#include <unistd.h>

void store_le(__int128 value, size_t nbytes, uint8_t *to)
{
  for (size_t i = 0; i < nbytes; i++)
    to[i] = (uint8_t)(value >> 8 * i);
}

void write_bytes(struct writer *writer, const void *bytes, size_t nbytes)
{
  if (writer->n + nbytes > writer->room) {
    writer->room = 2 * (writer->n + nbytes) + 1000;
    writer->bytes = realloc(writer->bytes, writer->room);
    cr_assert(writer->bytes);
  }
  if (nbytes > 0)
    memcpy(writer->bytes + writer->n, bytes, nbytes);
  writer->n += nbytes;
}

static void write_byte(struct writer *writer, unsigned byte)
{
  write_bytes(writer, &(uint8_t){(uint8_t)byte}, 1);
}

void write_varint(struct writer *writer, uint64_t value)
{
  for (; value >= 0x80; value >>= 7)
    write_byte(writer, (unsigned)(value & 0x7f) | 0x80);
  write_byte(writer, (unsigned)value);
}

static void write_zigzag(struct writer *writer, int64_t value)
{
  write_varint(writer, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

void write_field(struct writer *writer, int id, int type)
{
  int *last = &writer->last_id[writer->depth];
  if (id > *last && id - *last < 16) {
    write_byte(writer, (unsigned)((id - *last) << 4 | type));
  } else {
    write_byte(writer, (unsigned)type);
    write_zigzag(writer, id);
  }
  *last = id;
}

void write_i32(struct writer *writer, int id, int32_t value)
{
  write_field(writer, id, I32);
  write_zigzag(writer, value);
}

void write_i64(struct writer *writer, int id, int64_t value)
{
  write_field(writer, id, I64);
  write_zigzag(writer, value);
}

void write_binary(struct writer *writer, int id, const void *bytes, size_t nbytes)
{
  if (id > 0)
    write_field(writer, id, BINARY);
  write_varint(writer, nbytes);
  write_bytes(writer, bytes, nbytes);
}

void write_list(struct writer *writer, int id, int element, size_t n)
{
  write_field(writer, id, LIST);
  write_byte(writer, n < 15 ? (unsigned)(n << 4) | (unsigned)element : 0xf0 | (unsigned)element);
  if (n >= 15)
    write_varint(writer, n);
}

void begin_struct(struct writer *writer, int id)
{
  if (id > 0)
    write_field(writer, id, STRUCT);
  writer->last_id[++writer->depth] = 0;
}

void end_struct(struct writer *writer)
{
  write_byte(writer, STOP);
  writer->depth--;
}

/* ---- The parts of a footer ---- */

static void write_member(struct writer *writer, int id, int member)
{
  begin_struct(writer, id);
  begin_struct(writer, member);
  end_struct(writer);
  end_struct(writer);
}

static void write_logical(struct writer *writer, const struct file_plan *plan)
{
  begin_struct(writer, 10);
  begin_struct(writer, plan->logical);
  if (plan->logical == 5) {
    write_i32(writer, 1, plan->scale);
    write_i32(writer, 2, plan->precision);
  } else if (plan->logical == 7 || plan->logical == 8) {
    write_field(writer, 1, YES);
    write_member(writer, 2, plan->logical_unit);
  } else if (plan->logical == 10) {
    write_field(writer, 1, I8);
    write_byte(writer, (unsigned)plan->logical_nbits);
    write_field(writer, 2, plan->logical_is_signed ? YES : NO);
  }
  end_struct(writer);
  end_struct(writer);
}

static const char *name_of(const struct file_plan *plan)
{
  return plan->name ? plan->name : "column";
}

static void write_schema(struct writer *writer, const struct file_plan *plan)
{
  write_list(writer, 2, STRUCT, 2);
  begin_struct(writer, 0);
  write_binary(writer, 4, "root", 4);
  write_i32(writer, 5, 1);
  end_struct(writer);
  begin_struct(writer, 0);
  write_i32(writer, 1, plan->physical);
  if (plan->length)
    write_i32(writer, 2, plan->length);
  write_i32(writer, 3, 1);
  write_binary(writer, 4, name_of(plan), strlen(name_of(plan)));
  if (plan->converted >= 0) {
    write_i32(writer, 6, plan->converted);
    write_i32(writer, 7, plan->scale);
    write_i32(writer, 8, plan->precision);
  }
  if (plan->logical != NO_LOGICAL)
    write_logical(writer, plan);
  end_struct(writer);
}

static void write_value(struct writer *writer, int id, const struct value *value)
{
  if (value->is_there)
    write_binary(writer, id, value->bytes, value->nbytes);
}

static void write_metadata(struct writer *writer, const struct file_plan *plan, size_t row_group)
{
  const char *path = plan->chunk_path ? plan->chunk_path : name_of(plan);
  const int64_t filter_offset = plan->offset_in_footer ? plan->offset_in_footer : 4;
  begin_struct(writer, 3);
  write_i32(writer, 1, plan->chunk_physical < 0 ? plan->physical : plan->chunk_physical);
  if (!plan->without_path) {
    write_list(writer, 3, BINARY, plan->with_empty_path ? 0 : 1);
    if (!plan->with_empty_path)
      write_binary(writer, 0, path, strlen(path));
  }
  write_i64(writer, 5, plan->nvalues);
  write_i64(writer, 7, 0);
  write_i64(writer, 9, 4);
  begin_struct(writer, 12);
  write_value(writer, 1, &plan->old_max);
  write_value(writer, 2, &plan->old_min);
  if (plan->nnulls != NO_COUNT)
    write_i64(writer, 3, plan->nnulls);
  write_value(writer, 5, &plan->max);
  write_value(writer, 6, &plan->min);
  end_struct(writer);
  if (plan->filter)
    write_i64(writer, 14, filter_offset + (int64_t)row_group * plan->filter_stride);
  if (plan->length_in_footer)
    write_i32(writer, 15, (int32_t)plan->length_in_footer);
  end_struct(writer);
}

static void write_row_group(struct writer *writer, const struct file_plan *plan, size_t row_group)
{
  begin_struct(writer, 0);
  write_list(writer, 1, STRUCT, plan->nchunks);
  for (size_t i = 0; i < plan->nchunks; i++) {
    begin_struct(writer, 0);
    if (plan->file_path)
      write_binary(writer, 1, plan->file_path, strlen(plan->file_path));
    write_metadata(writer, plan, row_group);
    if (plan->is_encrypted)
      write_member(writer, 8, 1);
    end_struct(writer);
  }
  write_i64(writer, 3, plan->nvalues);
  end_struct(writer);
}

/* ---- Files ---- */

struct file_plan plain_plan(void)
{
  return (struct file_plan){.physical = 1,
                            .converted = -1,
                            .nvalues = 10,
                            .nnulls = NO_COUNT,
                            .bounds = LANEBLOOM_PARQUET_BOUNDS_ALL,
                            .chunk_physical = -1,
                            .nchunks = 1};
}

uint8_t *make_file(const struct file_plan *plan, size_t *nbytes)
{
  const char *magic = plan->magic ? plan->magic : "PAR1";
  const size_t nrow_groups = plan->nrow_groups ? plan->nrow_groups : 1;
  struct writer writer = {0};
  write_bytes(&writer, magic, 4);
  if (plan->filter)
    write_bytes(&writer, plan->filter, plan->filter_nbytes);
  const size_t begin = writer.n;
  write_i32(&writer, 1, 2);
  write_schema(&writer, plan);
  write_i64(&writer, 3, plan->nvalues);
  write_list(&writer, 4, STRUCT, nrow_groups);
  for (size_t i = 0; i < nrow_groups; i++)
    write_row_group(&writer, plan, i);
  if (plan->nkey_values > 0)
    write_list(&writer, 5, STRUCT, plan->nkey_values);
  for (size_t i = 0; i < plan->nkey_values; i++) {
    const struct key_value *entry = &plan->key_values[i];
    begin_struct(&writer, 0);
    write_binary(&writer, 1, entry->key, strlen(entry->key));
    if (entry->value)
      write_binary(&writer, 2, entry->value, strlen(entry->value));
    end_struct(&writer);
  }
  const char *created_by = plan->created_by ? plan->created_by : "by hand";
  write_binary(&writer, 6, created_by, strlen(created_by));
  if (plan->order) {
    write_list(&writer, 7, STRUCT, 1 + plan->nmore_orders);
    for (size_t i = 0; i <= plan->nmore_orders; i++)
      write_member(&writer, 0, plan->order);
  }
  write_byte(&writer, STOP);
  uint8_t footer_nbytes[4];
  store_le((__int128)(writer.n - begin), 4, footer_nbytes);
  write_bytes(&writer, footer_nbytes, 4);
  write_bytes(&writer, magic, 4);
  *nbytes = writer.n;
  return writer.bytes;
}

lanebloom_parquet *open_planned(const struct file_plan *plan, uint8_t **bytes)
{
  char problem[PROBLEM_NBYTES];
  size_t nbytes;
  lanebloom_parquet *file;
  *bytes = make_file(plan, &nbytes);
  if (lanebloom_parquet_parse(*bytes, nbytes, plan->bounds, &file, problem, sizeof problem) !=
      LANEBLOOM_OK)
    test_fatal("%s", problem);
  return file;
}

lanebloom_parquet *open_as_file(const uint8_t *bytes, size_t nbytes)
{
  char name[] = "/tmp/lanebloom-XXXXXX";
  lanebloom_parquet *file;
  const int fd = mkstemp(name);
  cr_assert(fd >= 0 && write(fd, bytes, nbytes) == (ssize_t)nbytes);
  close(fd);
  cr_assert(lanebloom_parquet_open(name, LANEBLOOM_PARQUET_BOUNDS_ALL, &file, NULL, 0) ==
            LANEBLOOM_OK);
  unlink(name);
  return file;
}

void write_filter_header(struct writer *writer, struct filter_header header)
{
  writer->last_id[writer->depth] = 0;
  write_i32(writer, 1, header.nbytes);
  write_member(writer, 2, header.algorithm);
  write_member(writer, 3, header.hash);
  write_member(writer, 4, header.compression);
  write_byte(writer, STOP);
}
