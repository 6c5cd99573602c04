/* lanebloom's third library uses the Bloom filters and statistics inside Parquet files. From the
 * footer of a file and the filters of one column, it tells which row groups of the file can hold
 * any of the given keys. It never reads pages of data. This header is the whole public interface of
 * liblanebloom-parquet, and its manual. docs/parquet.md says what the library is for, and how to
 * make writers write filters.
 *
 * To query files for keys:
 *
 * 1. Open a file with lanebloom_parquet_open(), and find the column with lanebloom_parquet_find().
 * 2. Prepare the keys with lanebloom_parquet_keys_create(). Prepare them once: they serve for all
 *    columns of this type, in any file.
 * 3. Screen each row group with lanebloom_parquet_screen(). If none of the keys may be in a row
 *    group, a reader of the rows can skip it.
 *
 * lanebloom_parquet_find_files() lists the files of folders.
 *
 * The rules of lanebloom.h about errors, memory, threads and empty batches apply here, too. Open
 * files and prepared keys never change, so any number of threads may use them.
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

/* The files that lanebloom_parquet_find_files() found. Both lists are sorted by bytes and contain
 * each path once. */
typedef struct lanebloom_parquet_files {
  lanebloom_parquet_paths read;

  /* Files in folders that may hold Parquet data, but are not in `read` because their names are
   * hidden. Such a file begins or ends like a Parquet file, has the name of a compressed Parquet
   * file, or cannot be read. A key in a skipped file may be reported as absent, so tell the user
   * which files were skipped. */
  lanebloom_parquet_paths skipped;
} lanebloom_parquet_files;

/* Lists the files that the names stand for. The name of a file stands for that file, whatever it
 * holds. The name of a folder stands for the Parquet files in it and in all folders below it. If no
 * file or folder has the name, the name is a pattern of files and folders, as in glob(7). The path
 * of a file in a folder begins with the folder's name as it was given. Free the lists with
 * lanebloom_parquet_files_free().
 *
 * A file in a folder is listed in `read` if one of these conditions is true:
 *
 * - Its name ends in .parquet, or in .parquet and one of .gz, .zst, .bz2, .xz or .lz4.
 * - The file begins or ends with "PAR1", or it begins and ends with "PARE".
 * - The file cannot be examined. Opening it will report the error.
 *
 * Names that begin with a dot or an underscore are hidden, except names of partitions
 * (_column=value). A hidden folder is not searched, and a file with a hidden name is not listed in
 * `read`. Files that are named _metadata or _common_metadata are in neither list. Links are
 * followed. For each name, a folder is read only once, even if several links lead to it.
 *
 * problem: the line begins with the name of the file or folder, unless memory ran out. Errors:
 * ARGUMENT: a folder has no file to read. IO: a folder cannot be read, or a name does not exist and
 * no file fits it as a pattern. MEMORY. Cost: for n files and folders, n log n comparisons of
 * names, n calls of stat(), and reading the first and last 4 bytes of each file that is not named
 * .parquet. Memory: the paths. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_find_files(const char *const *names,
                                                                  size_t nnames,
                                                                  lanebloom_parquet_files **files,
                                                                  char *problem,
                                                                  size_t problem_size);

LANEBLOOM_API void lanebloom_parquet_files_free(lanebloom_parquet_files *files);

/* Sets *is_parquet to true if the path names a file that begins or ends like a Parquet file, or a
 * folder of Parquet files. In a folder and in the folders below it, a file counts if it begins and
 * ends like a Parquet file, or if its name ends in .parquet. The search ends at the first such
 * file. If the path does not exist, *is_parquet becomes false. problem: as for
 * lanebloom_parquet_find_files(). Errors: IO: the file or a folder cannot be read. CORRUPT: the
 * file became shorter while it was read. MEMORY. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_recognize(const char *path, bool *is_parquet,
                                                                 char *problem,
                                                                 size_t problem_size);

/* -------------------------------------------------------------------------------------------------
 * Files
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_parquet lanebloom_parquet;

/* Says whose statistics may rule out a key. Statistics are the bounds of a column chunk and the
 * number of its values that are null. Some writers of Parquet files have written wrong statistics.
 * Statistics that contradict each other are never used. Filters are always used. */
typedef enum lanebloom_parquet_bounds {
  LANEBLOOM_PARQUET_BOUNDS_KNOWN, /* statistics that the file's writer, in its version, is known to
                                   * write correctly for the column's type */
  LANEBLOOM_PARQUET_BOUNDS_ALL,   /* statistics of every writer; some are wrong, so keys may be
                                   * missed */
  LANEBLOOM_PARQUET_BOUNDS_NONE   /* no statistics */
} lanebloom_parquet_bounds;

/* The names of these values: "known", "all", "none". */
LANEBLOOM_API const char *lanebloom_parquet_bounds_name(lanebloom_parquet_bounds bounds);
LANEBLOOM_API bool lanebloom_parquet_bounds_by_name(const char *name,
                                                    lanebloom_parquet_bounds *bounds);

/* Opens a Parquet file and reads its footer. The file stays open until it is closed with
 * lanebloom_parquet_free().
 *
 * Errors: FORMAT: this is not a Parquet file, or it is still being written. CORRUPT: the footer
 * contradicts itself or the size of the file. LIMIT: the footer is encrypted, has 2 GiB or more,
 * nests its columns more than 100 deep, or has paths that would be far longer than the footer if
 * they were written out for each row group. IO, MEMORY. Cost and memory: linear in the footer. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_open(const char *path,
                                                            lanebloom_parquet_bounds bounds,
                                                            lanebloom_parquet **file, char *problem,
                                                            size_t problem_size);

/* Opens a Parquet file whose bytes are in memory. The bytes are borrowed. They may be NULL when
 * size is 0. Errors: as for lanebloom_parquet_open(), but never IO. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_parse(const void *bytes, size_t size,
                                                             lanebloom_parquet_bounds bounds,
                                                             lanebloom_parquet **file,
                                                             char *problem, size_t problem_size);

/* Closes a file and frees it. */
LANEBLOOM_API void lanebloom_parquet_free(lanebloom_parquet *file);

typedef struct lanebloom_parquet_info {
  uint64_t file_nbytes;
  uint64_t footer_nbytes;
  uint64_t nrows;
  size_t nrow_groups;
  size_t ncolumns;        /* leaves of the schema; groups are not counted */
  const char *created_by; /* the writer's name for itself, or "" if there is none. Borrowed */
} lanebloom_parquet_info;

/* Describes the file. */
LANEBLOOM_API void lanebloom_parquet_describe(const lanebloom_parquet *file,
                                              lanebloom_parquet_info *info, size_t info_size);

/* -------------------------------------------------------------------------------------------------
 * Columns
 * ---------------------------------------------------------------------------------------------- */

/* Describes a column. Texts are borrowed from the file. */
typedef struct lanebloom_parquet_column_info {
  const char *path; /* the names from the root on, joined by dots: "user.id" */
  const char *type; /* for people: "int32", "string", "timestamp-us", "decimal(10,2)", ... */

  /* The encoding of the column's keys, which lanebloom_parquet_keys_create() takes. has_keys is
   * false if the column cannot be queried. For example, columns of booleans, half floats or
   * intervals cannot be queried, nor can columns of decimals that are stored as byte arrays or have
   * more digits than their size has room for. */
  bool has_keys;
  lanebloom_encoding encoding;
  uint32_t key_size; /* bytes of each key, or 0 if keys may have any size */

  /* For the encoding LANEBLOOM_DECIMAL128, `precision` is the most decimal digits that a value has,
   * and `scale` is how many of them are after the decimal point. For other encodings both are 0. */
  uint32_t precision;
  int32_t scale;
  bool is_big_endian; /* the bounds of these decimals are big-endian; their keys never are */

  /* If the column stores times of day, its keys have the encoding LANEBLOOM_INT32 or
   * LANEBLOOM_INT64. They count units from midnight on, and this is the number of units per second:
   * 1000, 1000000 or 1000000000. For other columns it is 0. */
  int32_t units_per_second;

  /* True if the column stores timestamps as INT96, which has nanoseconds and room for any year. The
   * keys of such a column may have the encoding LANEBLOOM_TIMESTAMP_S, _MS, _US or _NS, and may be
   * signed numbers of 8 or of 16 bytes. INT96 can write the same time in several ways, each with a
   * different hash. A key is looked up in the ways that docs/parquet.md names. If the file has the
   * time in yet another way, for example with 24 hours of nanoseconds, the key is reported as
   * absent. */
  bool is_int96;
} lanebloom_parquet_column_info;

/* Describes a column. column: an index below ncolumns. */
LANEBLOOM_API void lanebloom_parquet_describe_column(const lanebloom_parquet *file, size_t column,
                                                     lanebloom_parquet_column_info *info,
                                                     size_t info_size);

/* Finds the column with this path. If the path names a group that has only one column, finds this
 * column. Lists are such groups: "tags" finds "tags.list.element". Errors: ARGUMENT: no column, or
 * more than one, has this path. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_find(const lanebloom_parquet *file,
                                                            const char *path, size_t *column,
                                                            char *problem, size_t problem_size);

/* -------------------------------------------------------------------------------------------------
 * Row groups
 * ---------------------------------------------------------------------------------------------- */

/* Describes a column chunk, which is one column's part of one row group. Slices and texts are
 * borrowed from the file. */
typedef struct lanebloom_parquet_chunk_info {
  uint64_t first_row, nrows; /* the rows of the row group; a file's first row has the number 0 */
  uint64_t nvalues;          /* values in the chunk, nulls included */
  uint64_t nnulls;           /* nulls in the chunk; LANEBLOOM_UNKNOWN if the file does not say */
  uint64_t offset, nbytes;   /* where the chunk's pages are in the file, and their size there */

  /* True if the chunk is encrypted, or is in another file, like the chunks that a _metadata file
   * lists. Then neither the filter nor the bounds of the chunk can be read, and
   * lanebloom_parquet_screen() returns LIMIT. */
  bool is_elsewhere;

  bool has_filter;
  uint64_t filter_offset; /* where the filter is in the file: a header, followed by the bits */
  uint64_t filter_nbytes; /* the size of header and bits; LANEBLOOM_UNKNOWN if the footer does not
                           * have it */

  /* The bounds: no value of the chunk is below min or above max, in the order of the type. The
   * chunk may have no value that equals min or max. NaN may be in the chunk in spite of the bounds,
   * and zeros of either sign are equal. The bytes of the bounds are as in the file: numbers are
   * little-endian, decimals of fixed size are big-endian. If the writer's bounds must not rule out
   * a key (lanebloom_parquet_bounds), the bounds are left out, and has_min and has_max are false.
   * Deprecated bounds of unsigned numbers and strings are always left out. */
  bool has_min, has_max;
  lanebloom_slice min, max;
  const char *bounds_doubt; /* why bounds are left out, as one of the words not-asked-for,
                             * writer-unnamed, writer-untried, version-untried, writer-wrong,
                             * contradictory, nan; NULL if no bounds are left out */
} lanebloom_parquet_chunk_info;

/* Describes a column chunk. row_group: an index below nrow_groups. column: an index below ncolumns.
 * Nothing is read from the file. */
LANEBLOOM_API void lanebloom_parquet_describe_chunk(const lanebloom_parquet *file, size_t row_group,
                                                    size_t column,
                                                    lanebloom_parquet_chunk_info *info,
                                                    size_t info_size);

/* Reads the filter of a column chunk. The caller owns the filter. The filter has the format
 * LANEBLOOM_PARQUET, and can be saved, merged and screened like any other filter. Errors: ARGUMENT:
 * the chunk has no filter. FORMAT: the filter has an algorithm, a hash or a compression that the
 * standard does not define. CORRUPT: the filter's sizes contradict each other or the file, or the
 * filter of another chunk begins before this one ends. LIMIT: the chunk is encrypted or in another
 * file. IO, MEMORY, KERNEL. Memory: twice the filter's size while it is read. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_load_filter(const lanebloom_parquet *file,
                                                                   size_t row_group, size_t column,
                                                                   lanebloom_filter **filter,
                                                                   char *problem,
                                                                   size_t problem_size);

/* -------------------------------------------------------------------------------------------------
 * Apache Hudi: the filter of a file's record keys, which Hudi writes into the footer
 * ---------------------------------------------------------------------------------------------- */

/* Says what the footer has of Hudi. Slices are borrowed from the file. */
typedef struct lanebloom_parquet_hudi_info {
  bool has_filter;
  bool has_range; /* are the least and the greatest record key of the file known? */
  lanebloom_slice min_key, max_key;
} lanebloom_parquet_hudi_info;

/* Describes what Hudi wrote into the footer. Nothing is read from the file. */
LANEBLOOM_API void lanebloom_parquet_describe_hudi(const lanebloom_parquet *file,
                                                   lanebloom_parquet_hudi_info *info,
                                                   size_t info_size);

/* Reads the filter that Hudi wrote. The caller owns the filter, whose format is LANEBLOOM_HUDI.
 * Errors: ARGUMENT: the footer has no such filter. FORMAT: the filter has another type than SIMPLE
 * and DYNAMIC_V0, or is not the Base64 of a record that lanebloom_filter_parse_raw() accepts.
 * LIMIT: it has 256 probes or more. MEMORY, KERNEL. Memory: three quarters of the size that the
 * filter has in the footer. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_load_hudi_filter(
    const lanebloom_parquet *file, lanebloom_filter **filter, char *problem, size_t problem_size);

/* Finds the record keys that may be in the file, by the range of its record keys and by the filter
 * that Hudi wrote. keys: the bytes of the column _hoodie_record_key, as UTF-8. The range rules out
 * only keys of ASCII characters, because Hudi does not always sort other characters by their bytes.
 * bitmap and *nmaybe become the same as the bitmap and the result of lanebloom_filter_screen(). If
 * the footer has neither a filter nor a range, every key may be in the file.
 *
 * The result is correct if Hudi wrote the file. If another program copied the footer's metadata
 * into a file with other rows, keys of these rows may be reported as absent.
 *
 * Errors: FORMAT, LIMIT, MEMORY and KERNEL are as for lanebloom_parquet_load_hudi_filter(). After
 * an error the bitmap has all keys that the range does not rule out. Cost: linear in the filter and
 * the keys. Memory: the filter. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_screen_hudi(const lanebloom_parquet *file,
                                                                   const lanebloom_keys *keys,
                                                                   uint8_t *bitmap, size_t *nmaybe,
                                                                   char *problem,
                                                                   size_t problem_size);

/* -------------------------------------------------------------------------------------------------
 * Keys
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_parquet_keys lanebloom_parquet_keys;

/* Prepares keys for all columns that have the same type as this one, in any file. The keys are
 * copied, converted to the values that such a column stores, sorted and hashed. encoding: the
 * encoding of the keys. It must be the encoding of the column's keys; if is_int96 is true, the
 * comment on is_int96 names other encodings that are allowed, too. *bad_key becomes the index of a
 * wrong key, or keys->n if no key is wrong. bad_key may be NULL.
 *
 * Errors: ARGUMENT: the column cannot be queried or has keys of another encoding, or a key has a
 * wrong size or a value that the column cannot hold. MEMORY, KERNEL. Cost: n log n. Memory: the
 * bytes of the keys and 24 to 32 bytes per key. If more than 8,192 keys are screened against many
 * row groups, the memory of a sorted lanebloom_hash_batch is added. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_keys_create(
    const lanebloom_parquet *file, size_t column, lanebloom_encoding encoding,
    const lanebloom_keys *keys, lanebloom_parquet_keys **prepared, size_t *bad_key, char *problem,
    size_t problem_size);

LANEBLOOM_API void lanebloom_parquet_keys_free(lanebloom_parquet_keys *keys);

/* Finds the keys that may be in a column chunk. The chunk's statistics rule out keys first, then
 * its filter, if it has one. A key that is reported as absent is in no row of the row group. bitmap
 * and *nmaybe become the same as the bitmap and the result of lanebloom_filter_screen(), in the
 * order in which the keys were given.
 *
 * Errors: ARGUMENT: the column has another type than the one for which the keys were prepared.
 * FORMAT: the filter is of a kind that the standard does not define. Such a filter is ignored: the
 * bitmap has the keys that the statistics do not rule out. On any other error the bitmap has all
 * keys, so that using it is still correct. CORRUPT, LIMIT, IO, MEMORY and KERNEL are as for
 * lanebloom_parquet_load_filter(). Cost: linear in the number of keys within the bounds and in the
 * size of the filter, which is read. If there are few keys, only the blocks of 32 bytes that the
 * keys probe are read. Memory: one filter. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_parquet_screen(const lanebloom_parquet *file,
                                                              size_t row_group, size_t column,
                                                              const lanebloom_parquet_keys *keys,
                                                              uint8_t *bitmap, size_t *nmaybe,
                                                              char *problem, size_t problem_size);

#ifdef __cplusplus
}
#endif

#endif
