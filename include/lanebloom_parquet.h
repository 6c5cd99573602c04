/* lanebloom's third library: the Bloom filters and statistics inside Parquet files. This header is
 * the whole public interface of liblanebloom-parquet, and its manual; docs/parquet.md says what it
 * is for, and how to make writers write filters.
 *
 * Which row groups of a file can hold any of these keys? The footer and the filters of one column
 * answer that; pages of data are never read. To query files for keys:
 *
 * 1. open a file with lanebloom_parquet_open(), and find the column: lanebloom_parquet_find();
 * 2. prepare the keys for columns of its type, once for all files: lanebloom_parquet_keys_create();
 * 3. screen each row group: lanebloom_parquet_screen(). If none of the keys may be in a row group,
 *    a reader of the rows can skip it.
 *
 * lanebloom_parquet_find_files() lists the files of folders.
 *
 * The rules of lanebloom.h about errors, memory, threads and empty batches apply here, too. Open
 * files and keys never change: any number of threads may use them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_H
#define LANEBLOOM_PARQUET_H

#include <lanebloom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------
 * Folders
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_parquet_paths {
  char **all;
  size_t n;
} lanebloom_parquet_paths;

/* Both lists are sorted by bytes and contain each path once. */
typedef struct lanebloom_parquet_files {
  lanebloom_parquet_paths read;

  /* Files with hidden names, found in folders, that begin or end like Parquet files, are compressed
   * ones by their names, or cannot be read, and that are not in `read`. Keys in them may be
   * reported as absent: tell the user which files they are. */
  lanebloom_parquet_paths skipped;
} lanebloom_parquet_files;

/* Lists the files that the names stand for. A file stands for itself, whatever it holds, and a
 * folder for the Parquet files in it and in all folders below it. A name that does not exist is a
 * pattern of files and folders, as in glob(7). The path of a file in a folder begins with the
 * folder's name as it was given. lanebloom_parquet_files_free() frees the lists.
 *
 * A file in a folder is listed in `read` if its name ends in .parquet, or in that and .gz, .zst,
 * .bz2, .xz or .lz4; if it begins or ends with "PAR1", or begins and ends with "PARE"; or if it
 * cannot be examined: opening it then reports the error. Names that begin with a dot or an
 * underscore are hidden, except those of partitions (_column=value); a hidden folder is not
 * searched. `_metadata' and `_common_metadata' are in neither list. Links are followed, and each
 * folder is read once per name, wherever links lead.
 *
 * problem: the line begins with the name of the file or folder, unless memory ran out. Errors:
 * ARGUMENT: a folder has no file to read; IO: a folder cannot be read, or a name does not exist and
 * no file fits it as a pattern; MEMORY. Cost: n log n comparisons of n names of files and folders,
 * a stat() of each, and the first and last 4 bytes of files that are not named .parquet. Memory:
 * the paths. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_find_files(const char *const *names,
                                                                  size_t nnames,
                                                                  lanebloom_parquet_files **files,
                                                                  char *problem,
                                                                  size_t problem_size);

/* Frees lists of files. files may be NULL. */
LANEBLOOM_API void lanebloom_parquet_files_free(lanebloom_parquet_files *files);

/* Does the path name a file that begins or ends like a Parquet file, or a folder that has, in it or
 * below it, a file that begins and ends so or is named .parquet? The first such file ends the
 * search. A path that does not exist is neither. problem: as for lanebloom_parquet_find_files().
 * Errors: IO: the file or a folder cannot be read; CORRUPT: the file became shorter; MEMORY. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_recognize(const char *path, bool *is_parquet,
                                                                 char *problem,
                                                                 size_t problem_size);

/* -------------------------------------------------------------------------------------------------
 * Files
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_parquet lanebloom_parquet;

/* The writers whose statistics may rule out a key. Statistics are the bounds of a column chunk and
 * the number of its values that are null. Filters are always used; statistics that contradict each
 * other never are. */
typedef enum lanebloom_parquet_bounds {
  LANEBLOOM_PARQUET_BOUNDS_KNOWN, /* those known to be right, by writer, version and type */
  LANEBLOOM_PARQUET_BOUNDS_ALL,   /* every writer's; some are wrong, so keys may be missed */
  LANEBLOOM_PARQUET_BOUNDS_NONE   /* no writer's */
} lanebloom_parquet_bounds;

/* "known", "all", "none"; NULL: no such value. */
LANEBLOOM_API const char *lanebloom_parquet_bounds_name(lanebloom_parquet_bounds bounds);

/* Finds the value of this name. If there is none, returns false and leaves *bounds unchanged. */
LANEBLOOM_API bool lanebloom_parquet_bounds_by_name(const char *name,
                                                    lanebloom_parquet_bounds *bounds);

/* Opens a Parquet file and reads its footer. The file stays open.
 *
 * problem: as for lanebloom_table_open(): room for one line that says what was expected and found.
 *
 * Errors: FORMAT: not a Parquet file, or one that is still being written; CORRUPT: the footer
 * contradicts itself or the size of the file; LIMIT: the footer is encrypted, has 2 GiB or more,
 * nests its columns more than 100 deep, or has paths that would be far longer than the footer if
 * they were written out for each row group; IO; MEMORY. Cost and memory: linear in the footer. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_open(const char *path,
                                                            lanebloom_parquet_bounds bounds,
                                                            lanebloom_parquet **file, char *problem,
                                                            size_t problem_size);

/* Parses a file's bytes in memory, which are borrowed. bytes may be NULL when size is 0. Errors: as
 * for lanebloom_parquet_open(), but never IO. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_parse(const void *bytes, size_t size,
                                                             lanebloom_parquet_bounds bounds,
                                                             lanebloom_parquet **file,
                                                             char *problem, size_t problem_size);

/* Closes a file. file may be NULL. */
LANEBLOOM_API void lanebloom_parquet_close(lanebloom_parquet *file);

typedef struct lanebloom_parquet_info {
  uint64_t file_nbytes;
  uint64_t footer_nbytes;
  uint64_t nrows;
  size_t nrow_groups;
  size_t ncolumns;        /* the leaves of the schema; only they have values */
  const char *created_by; /* the writer, as it names itself; "" if it does not. Borrowed */
} lanebloom_parquet_info;

/* Describes the file. info_size: sizeof(lanebloom_parquet_info), as for
 * lanebloom_table_describe(). */
LANEBLOOM_API void lanebloom_parquet_describe(const lanebloom_parquet *file,
                                              lanebloom_parquet_info *info, size_t info_size);

/* -------------------------------------------------------------------------------------------------
 * Columns
 * ---------------------------------------------------------------------------------------------- */

/* Texts are borrowed from the file. */
typedef struct lanebloom_parquet_column_info {
  const char *path; /* the names from the root on, joined by dots: "user.id" */
  const char *type; /* for people: "int32", "string", "timestamp-us", "decimal(10,2)", ... */

  /* The encoding of its keys, which lanebloom_parquet_keys_create() takes. has_keys is false if the
   * column cannot be queried (booleans, half floats, intervals, decimals as byte arrays, or of more
   * digits than their size has room for). */
  bool has_keys;
  lanebloom_encoding encoding;
  uint32_t key_size; /* bytes of each key; 0: any number */

  /* LANEBLOOM_DECIMAL128: the most decimal digits of a value, and how many of them are after the
   * decimal point. Otherwise 0. */
  uint32_t precision;
  int32_t scale;
  bool is_big_endian; /* LANEBLOOM_DECIMAL128: byte order of its bounds, never of keys */

  /* LANEBLOOM_INT32, LANEBLOOM_INT64: values are times of day, counted since midnight in units of
   * which a second has 1000, 1000000 or 1000000000. Otherwise 0. */
  int32_t units_per_second;

  /* The column stores INT96: timestamps in nanoseconds, of any year. Its keys may have the encoding
   * LANEBLOOM_TIMESTAMP_S, _MS, _US or _NS, and be signed numbers of 16 bytes instead of 8. INT96
   * can encode one time in several ways. A key is looked up in the encodings that docs/parquet.md
   * names; if the filter has another one, such as 24 hours of nanoseconds, the key is reported as
   * absent. */
  bool is_int96;
} lanebloom_parquet_column_info;

/* Describes a column. column: below ncolumns; info_size: as for lanebloom_parquet_describe(). */
LANEBLOOM_API void lanebloom_parquet_describe_column(const lanebloom_parquet *file, size_t column,
                                                     lanebloom_parquet_column_info *info,
                                                     size_t info_size);

/* Finds the column of this path. The path may end at a group that has only one column, as a list's
 * group does: "tags" finds "tags.list.element". Errors: ARGUMENT: no column, or more than one, has
 * this path. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_find(const lanebloom_parquet *file,
                                                            const char *path, size_t *column,
                                                            char *problem, size_t problem_size);

/* -------------------------------------------------------------------------------------------------
 * Row groups
 * ---------------------------------------------------------------------------------------------- */

/* One column's part of one row group: a column chunk. Slices and texts are borrowed from the
 * file. */
typedef struct lanebloom_parquet_chunk_info {
  uint64_t first_row, nrows; /* of the row group: its first row in the file, from 0 on */
  uint64_t nvalues;          /* of the column, nulls included */
  uint64_t nnulls;           /* LANEBLOOM_UNKNOWN: the file does not say */
  uint64_t offset, nbytes;   /* of the chunk's pages in the file, as they are stored */

  /* The chunk is encrypted or, like those that `_metadata` files list, in another file: neither
   * filter nor bounds can be read. lanebloom_parquet_screen() refuses it. */
  bool is_elsewhere;

  bool has_filter;
  uint64_t filter_offset; /* of the filter in the file: a header, and its bits */
  uint64_t filter_nbytes; /* of both; LANEBLOOM_UNKNOWN: the footer does not say */

  /* No value is below min or above max, in the order of the type; the bounds may be loose. NaN is
   * outside them, and zeros of either sign are equal. Values as the file has them: numbers
   * little-endian, decimals of fixed size big-endian. Bounds that may not rule out a key are left
   * out; deprecated bounds of unsigned numbers and strings always are. */
  bool has_min, has_max;
  lanebloom_slice min, max;
  const char *bounds_doubt; /* why they are left out, a word; NULL: they are not, or there are none:
                               not-asked-for, writer-unnamed, writer-untried, version-untried,
                               writer-wrong, contradictory, nan */
} lanebloom_parquet_chunk_info;

/* Describes a chunk. row_group: below nrow_groups; column: below ncolumns; info_size: as for
 * lanebloom_parquet_describe(). Reads nothing. */
LANEBLOOM_API void lanebloom_parquet_describe_chunk(const lanebloom_parquet *file, size_t row_group,
                                                    size_t column,
                                                    lanebloom_parquet_chunk_info *info,
                                                    size_t info_size);

/* Reads the filter of a chunk. The caller owns it; its format is LANEBLOOM_PARQUET, and it can be
 * saved, merged and screened like any other. Errors: ARGUMENT: the chunk has no filter; FORMAT: an
 * algorithm, a hash or a compression that the standard does not have; CORRUPT: its sizes contradict
 * each other or the file, or another chunk's filter begins before it ends; LIMIT: the chunk is
 * encrypted or in another file; IO; MEMORY; KERNEL. Memory: twice the filter while it is read. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_load_filter(const lanebloom_parquet *file,
                                                                   size_t row_group, size_t column,
                                                                   lanebloom_filter **filter,
                                                                   char *problem,
                                                                   size_t problem_size);

/* -------------------------------------------------------------------------------------------------
 * Keys
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_parquet_keys lanebloom_parquet_keys;

/* Prepares keys for all columns that have the type of this one, in any file: they are converted to
 * what the column stores, sorted and hashed. encoding: of the keys; it must be that of the column,
 * or another one that is_int96 allows. The keys are copied. *bad_key, which may be NULL: the index
 * of the key that is wrong, or keys->n if none is.
 *
 * Errors: ARGUMENT: the column has no keys, or keys of another encoding; a key has another size, or
 * is a value that the column cannot hold. MEMORY, KERNEL. Cost: n log n. Memory: the bytes of the
 * keys and 16 to 24 bytes per key. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_keys_create(
    const lanebloom_parquet *file, size_t column, lanebloom_encoding encoding,
    const lanebloom_keys *keys, lanebloom_parquet_keys **prepared, size_t *bad_key, char *problem,
    size_t problem_size);

/* Frees keys. keys may be NULL. */
LANEBLOOM_API void lanebloom_parquet_keys_free(lanebloom_parquet_keys *keys);

/* Finds the keys that may be in this chunk: first by its statistics, then by its filter, if it has
 * one. A key that is reported as absent is in no row of the row group. bitmap and *nmaybe: as the
 * bitmap and the result of lanebloom_filter_screen(), in the order in which the keys were given.
 *
 * Errors: ARGUMENT: the column has another type than the keys. The others are those of
 * lanebloom_parquet_load_filter(). FORMAT: the filter is of another kind; it is ignored, and the
 * bitmap has the keys that the statistics leave. On other errors every key may be in the chunk, and
 * the bitmap has them all.
 * Cost: linear in the keys within the bounds and in the filter, which is read; for few keys only
 * their blocks of 32 bytes are read. Memory: one filter. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_screen(const lanebloom_parquet *file,
                                                              size_t row_group, size_t column,
                                                              const lanebloom_parquet_keys *keys,
                                                              uint8_t *bitmap, size_t *nmaybe,
                                                              char *problem, size_t problem_size);

#ifdef __cplusplus
}
#endif

#endif
