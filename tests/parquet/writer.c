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

static void write_logical(struct writer *writer, const struct file_plan *made)
{
  begin_struct(writer, 10);
  begin_struct(writer, made->logical);
  if (made->logical == 5) {
    write_i32(writer, 1, made->scale);
    write_i32(writer, 2, made->precision);
  } else if (made->logical == 7 || made->logical == 8) {
    write_field(writer, 1, YES);
    write_member(writer, 2, made->logical_unit);
  } else if (made->logical == 10) {
    write_field(writer, 1, I8);
    write_byte(writer, (unsigned)made->logical_nbits);
    write_field(writer, 2, made->logical_is_signed ? YES : NO);
  }
  end_struct(writer);
  end_struct(writer);
}

static const char *name_of(const struct file_plan *made)
{
  return made->name ? made->name : "column";
}

static void write_schema(struct writer *writer, const struct file_plan *made)
{
  write_list(writer, 2, STRUCT, 2);
  begin_struct(writer, 0);
  write_binary(writer, 4, "root", 4);
  write_i32(writer, 5, 1);
  end_struct(writer);
  begin_struct(writer, 0);
  write_i32(writer, 1, made->physical);
  if (made->length)
    write_i32(writer, 2, made->length);
  write_i32(writer, 3, 1);
  write_binary(writer, 4, name_of(made), strlen(name_of(made)));
  if (made->converted >= 0) {
    write_i32(writer, 6, made->converted);
    write_i32(writer, 7, made->scale);
    write_i32(writer, 8, made->precision);
  }
  if (made->logical != NO_LOGICAL)
    write_logical(writer, made);
  end_struct(writer);
}

static void write_value(struct writer *writer, int id, const struct value *value)
{
  if (value->is_there)
    write_binary(writer, id, value->bytes, value->nbytes);
}

static void write_metadata(struct writer *writer, const struct file_plan *made, size_t row_group)
{
  const char *path = made->chunk_path ? made->chunk_path : name_of(made);
  const int64_t filter_offset = made->offset_in_footer ? made->offset_in_footer : 4;
  begin_struct(writer, 3);
  write_i32(writer, 1, made->chunk_physical < 0 ? made->physical : made->chunk_physical);
  if (!made->without_path) {
    write_list(writer, 3, BINARY, made->with_empty_path ? 0 : 1);
    if (!made->with_empty_path)
      write_binary(writer, 0, path, strlen(path));
  }
  write_i64(writer, 5, made->nvalues);
  write_i64(writer, 7, 0);
  write_i64(writer, 9, 4);
  begin_struct(writer, 12);
  write_value(writer, 1, &made->old_max);
  write_value(writer, 2, &made->old_min);
  if (made->nnulls != NO_COUNT)
    write_i64(writer, 3, made->nnulls);
  write_value(writer, 5, &made->max);
  write_value(writer, 6, &made->min);
  end_struct(writer);
  if (made->filter)
    write_i64(writer, 14, filter_offset + (int64_t)row_group * made->filter_stride);
  if (made->length_in_footer)
    write_i32(writer, 15, (int32_t)made->length_in_footer);
  end_struct(writer);
}

static void write_row_group(struct writer *writer, const struct file_plan *made, size_t row_group)
{
  begin_struct(writer, 0);
  write_list(writer, 1, STRUCT, made->nchunks);
  for (size_t i = 0; i < made->nchunks; i++) {
    begin_struct(writer, 0);
    if (made->file_path)
      write_binary(writer, 1, made->file_path, strlen(made->file_path));
    write_metadata(writer, made, row_group);
    if (made->is_encrypted)
      write_member(writer, 8, 1);
    end_struct(writer);
  }
  write_i64(writer, 3, made->nvalues);
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

uint8_t *make_file(const struct file_plan *made, size_t *nbytes)
{
  const char *magic = made->magic ? made->magic : "PAR1";
  const size_t nrow_groups = made->nrow_groups ? made->nrow_groups : 1;
  struct writer writer = {0};
  write_bytes(&writer, magic, 4);
  if (made->filter)
    write_bytes(&writer, made->filter, made->filter_nbytes);
  const size_t begin = writer.n;
  write_i32(&writer, 1, 2);
  write_schema(&writer, made);
  write_i64(&writer, 3, made->nvalues);
  write_list(&writer, 4, STRUCT, nrow_groups);
  for (size_t i = 0; i < nrow_groups; i++)
    write_row_group(&writer, made, i);
  const char *created_by = made->created_by ? made->created_by : "by hand";
  write_binary(&writer, 6, created_by, strlen(created_by));
  if (made->order) {
    write_list(&writer, 7, STRUCT, 1 + made->nmore_orders);
    for (size_t i = 0; i <= made->nmore_orders; i++)
      write_member(&writer, 0, made->order);
  }
  write_byte(&writer, STOP);
  uint8_t footer_nbytes[4];
  store_le((__int128)(writer.n - begin), 4, footer_nbytes);
  write_bytes(&writer, footer_nbytes, 4);
  write_bytes(&writer, magic, 4);
  *nbytes = writer.n;
  return writer.bytes;
}

lanebloom_parquet *open_planned(const struct file_plan *made, uint8_t **bytes)
{
  char problem[PROBLEM_NBYTES];
  size_t nbytes;
  lanebloom_parquet *file;
  *bytes = make_file(made, &nbytes);
  if (lanebloom_parquet_parse(*bytes, nbytes, made->bounds, &file, problem, sizeof problem) !=
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
