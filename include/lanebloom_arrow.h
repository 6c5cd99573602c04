/* lanebloom for Arrow: screens, hashes and adds arrays of the Arrow C data interface as they are.
 * These functions are in liblanebloom. The rules of lanebloom.h about errors, problems, memory and
 * threads apply here, too.
 *
 * Keys are the values of an array of one of these types. The encoding (lanebloom_encoding) says
 * what the bytes of a key are:
 *
 *   string, large string, string view                        BYTES: text in UTF-8
 *   binary, large binary, binary view, fixed-size binary     BYTES, or those of HEX, BASE64, UUID
 *   fixed-size binary of 16 bytes, marked arrow.uuid         UUID
 *   int8, int16, int32; uint8, uint16, uint32                INT32; UINT32
 *   int64, uint64; float, double                             INT64, UINT64; FLOAT32, FLOAT64
 *   date32; date64; timestamp                                DATE32; TIMESTAMP_MS; TIMESTAMP_S ...
 *   time32; time64, duration                                 INT32; INT64
 *   decimal128 without digits after the point                DECIMAL128
 *   dictionary of one of these                               that of its values
 *
 * - Any other type is LANEBLOOM_ERR_FORMAT, and the problem names it.
 * - An array whose type does not fit the key form of the filter or builder is
 *   LANEBLOOM_ERR_MISMATCH, and the problem names both: a filter of int64 keys is never queried
 *   with int32 or with text. lanebloom_arrow_key_form() returns the form of a type.
 * - Nulls are in no filter: their result is 0, and they are not added. null_count may be -1.
 * - Slices (offset) are read in place. To screen and to add, each distinct value of a dictionary is
 *   hashed once, unless the array has fewer rows than the dictionary has values.
 * - The structs are only read, and never released. Lengths of buffers are trusted; offsets, views
 *   and indices are checked against them as far as the structs allow: CORRUPT. A struct that was
 *   released, lacks a buffer, or has a length or an offset that is negative, or whose values would
 *   take more bytes than memory can have, is ARGUMENT.
 * - Cost: linear in the bytes of the keys. Memory: none, except one bit per value of a dictionary.
 *
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_ARROW_H
#define LANEBLOOM_ARROW_H

#include <lanebloom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The two structs of the Arrow C data interface, under the guard that it requires. Source:
 * https://arrow.apache.org/docs/format/CDataInterface.html */
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

/* Returns the key form of this type. Pass it to a builder (lanebloom_builder_set_key_form()) before
 * arrays of the type are added. Errors: FORMAT, ARGUMENT. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_arrow_key_form(const struct ArrowSchema *schema,
                                                              lanebloom_key_form *form,
                                                              char *problem, size_t problem_size);

/* Finds the rows of the array that may be in the filter.
 *
 * bitmap   ceil(length / 8) bytes, as for lanebloom_filter_screen(): the layout of an Arrow boolean
 *          array. NULL: only count.
 * mask     length bytes, 0 or 1.
 * indices  room for length; the first ones become the rows that may be in the filter, ascending.
 * count    how many rows may be in the filter.
 *
 * Errors: ARGUMENT, FORMAT, MISMATCH, CORRUPT, MEMORY; select: LIMIT: more than UINT32_MAX rows.
 * Outputs are written only on success. */
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

/* Returns the result of screening as a boolean array without nulls, which the caller releases, and
 * its schema, whose name is that of the array's schema. On an error both are marked as released
 * (release is NULL). Errors: as for lanebloom_filter_screen_arrow(). Memory: a bit per row. */
LANEBLOOM_NODISCARD lanebloom_status
lanebloom_filter_booleans_arrow(const lanebloom_filter *filter, const struct ArrowSchema *schema,
                                const struct ArrowArray *array, struct ArrowSchema *booleans_schema,
                                struct ArrowArray *booleans, char *problem, size_t problem_size);

/* Adds the values of an array to a builder whose key form fits the type. Dictionary values that no
 * row uses are not added; the others are added once each, however many rows use them. Errors:
 * ARGUMENT, FORMAT, MISMATCH, CORRUPT, MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_add_arrow(lanebloom_builder *builder,
                                                                 const struct ArrowSchema *schema,
                                                                 const struct ArrowArray *array,
                                                                 char *problem,
                                                                 size_t problem_size);

/* Hashes every row, as lanebloom_hash() does. hashes: length x lanebloom_format_hash_size() bytes;
 * those of null rows become 0, which other keys may have as well. Errors: ARGUMENT, FORMAT,
 * CORRUPT, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_hash_arrow(lanebloom_format format,
                                                          const struct ArrowSchema *schema,
                                                          const struct ArrowArray *array,
                                                          void *hashes, char *problem,
                                                          size_t problem_size);

/* Returns the values of an array as slices, for calls that take lanebloom_keys.
 *
 * slices   room for length. Nulls become {NULL, 0}, and no other value has data NULL.
 * numbers  16 bytes per row, for values whose stored bytes are not the key: integers of fewer than
 *          4 bytes and, on big-endian hosts, all numbers. All other slices are borrowed from the
 *          array.
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
