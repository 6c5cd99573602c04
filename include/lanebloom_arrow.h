/* lanebloom for Arrow: functions that screen, hash and add arrays of the Arrow C data interface.
 * The arrays are not converted first. The functions are in liblanebloom. The rules of lanebloom.h
 * about errors, problems, memory and threads apply here, too.
 *
 * The keys are the values of an array. The array must have one of the types below. For each type,
 * the table names the encoding (lanebloom_encoding), which says what the bytes of a key are:
 *
 *   string, large string, string view                        BYTES: text in UTF-8
 *   binary, large binary, binary view, fixed-size binary     BYTES; HEX, BASE64 and UUID fit, too
 *   fixed-size binary of 16 bytes, marked arrow.uuid         UUID
 *   int8, int16, int32; uint8, uint16, uint32                INT32; UINT32
 *   int64, uint64; float, double                             INT64, UINT64; FLOAT32, FLOAT64
 *   date32; date64; timestamp                                DATE32; TIMESTAMP_MS; TIMESTAMP_S ...
 *   time32; time64, duration                                 INT32; INT64
 *   decimal128 without digits after the point                DECIMAL128
 *   dictionary of one of these                               the encoding of its values
 *
 * - If an array has any other type, the call returns LANEBLOOM_ERR_FORMAT, and the problem names
 *   the type.
 * - If the type does not fit the key form of the filter or builder, the call returns
 *   LANEBLOOM_ERR_MISMATCH, and the problem names both. For example, a filter of int64 keys cannot
 *   be screened with int32 or with text. lanebloom_arrow_key_form() returns the form of a type.
 * - A null is never in a filter: screening gives it the result 0, and adding an array leaves it
 *   out. The null_count of an array may be -1.
 * - An array that is a slice of another (offset above 0) is read in place. When an array with a
 *   dictionary is screened or added, each value of the dictionary is hashed at most once. If the
 *   array to screen has fewer rows than its dictionary has values, its rows are hashed instead.
 * - The structs are only read, and never released. The sizes of buffers are not in the structs, so
 *   buffers are assumed to be as large as the array requires. Offsets, views and indices are
 *   checked as far as the structs allow; if one of them is wrong, the call returns CORRUPT. The
 *   call returns ARGUMENT if a struct was released or lacks a buffer, if a length or an offset is
 *   negative, or if the values would take more bytes than memory can have.
 * - Cost: linear in the bytes of the keys. Memory: one bit per value of a dictionary, otherwise
 *   none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_ARROW_H
#define LANEBLOOM_ARROW_H

#include <lanebloom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The two structs of the Arrow C data interface, inside the include guard that the interface
 * requires. Source: https://arrow.apache.org/docs/format/CDataInterface.html */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif

/* Returns the key form of a type. Before you add arrays of this type to a builder, pass the form to
 * lanebloom_builder_set_key_form(). Errors: FORMAT, ARGUMENT. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_arrow_key_form(const struct ArrowSchema *schema,
                                                              lanebloom_key_form *form,
                                                              char *problem, size_t problem_size);

/* Find the rows of an array that may be in the filter.
 *
 * bitmap   ceil(length / 8) bytes, filled as lanebloom_filter_screen() does. An Arrow boolean array
 *          has the same layout. The bitmap may be NULL if you only need the count.
 * mask     length bytes; each becomes 1 if the row may be in the filter, otherwise 0.
 * indices  room for length numbers; the first ones become the rows that may be in the filter,
 *          ascending.
 * count    *count becomes the number of rows that may be in the filter.
 *
 * Errors: ARGUMENT, FORMAT, MISMATCH, CORRUPT, MEMORY. lanebloom_filter_select_arrow() returns
 * LIMIT if there are more than UINT32_MAX rows. Outputs are written only on success. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_screen_arrow(const lanebloom_filter *filter,
                                                                   const struct ArrowSchema *schema,
                                                                   const struct ArrowArray *array,
                                                                   uint8_t *bitmap, size_t *count,
                                                                   char *problem,
                                                                   size_t problem_size);
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_mask_arrow(const lanebloom_filter *filter,
                                                                 const struct ArrowSchema *schema,
                                                                 const struct ArrowArray *array,
                                                                 uint8_t *mask, size_t *count,
                                                                 char *problem,
                                                                 size_t problem_size);
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_select_arrow(const lanebloom_filter *filter,
                                                                   const struct ArrowSchema *schema,
                                                                   const struct ArrowArray *array,
                                                                   uint32_t *indices, size_t *count,
                                                                   char *problem,
                                                                   size_t problem_size);

/* Returns the result of screening as a boolean array without nulls, together with a schema for it.
 * This schema has the same name as the schema of the screened array. The caller releases both. On
 * an error both are marked as released (release is NULL). Errors: as for
 * lanebloom_filter_screen_arrow(). Memory: one bit per row. */
LANEBLOOM_NODISCARD lanebloom_status
lanebloom_filter_booleans_arrow(const lanebloom_filter *filter, const struct ArrowSchema *schema,
                                const struct ArrowArray *array, struct ArrowSchema *booleans_schema,
                                struct ArrowArray *booleans, char *problem, size_t problem_size);

/* Adds the values of an array to a builder whose key form fits the array's type. If the array has a
 * dictionary, each value that at least one row uses is added once; the other values are not added.
 * Errors: ARGUMENT, FORMAT, MISMATCH, CORRUPT, MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_add_arrow(lanebloom_builder *builder,
                                                                 const struct ArrowSchema *schema,
                                                                 const struct ArrowArray *array,
                                                                 char *problem,
                                                                 size_t problem_size);

/* Hashes every row, as lanebloom_hash() does. hashes: length x lanebloom_format_hash_size() bytes.
 * The hash of a null row becomes 0, which may also be the hash of a key. Errors: ARGUMENT, FORMAT,
 * CORRUPT, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_hash_arrow(lanebloom_format format,
                                                          const struct ArrowSchema *schema,
                                                          const struct ArrowArray *array,
                                                          void *hashes, char *problem,
                                                          size_t problem_size);

/* Returns the values of an array as slices, for calls that take lanebloom_keys.
 *
 * slices   room for length slices. Nulls become {NULL, 0}; the slice of any other value has data
 *          that is not NULL.
 * numbers  room for 16 bytes per row. Keys whose bytes differ from the stored bytes of their values
 *          are written here: integers of fewer than 4 bytes and, on big-endian hosts, all numbers.
 *          The slices of all other values are borrowed from the array.
 *
 * Errors: ARGUMENT, FORMAT, CORRUPT. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_arrow_slices(const struct ArrowSchema *schema,
                                                            const struct ArrowArray *array,
                                                            lanebloom_slice *slices, void *numbers,
                                                            char *problem, size_t problem_size);

#ifdef __cplusplus
}
#endif

#endif
