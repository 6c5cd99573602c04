/* The extension for DuckDB: declarations that its files share. It uses the stable C API of version
 * 1.2.0, so that one file works with all versions of DuckDB that have this API. files.c calls more
 * functions in versions that are known to have them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_DUCKDB_EXTENSION_H
#define LANEBLOOM_DUCKDB_EXTENSION_H

#include <duckdb_extension.h>
#include <lanebloom.h>

DUCKDB_EXTENSION_EXTERN

/* ---- Errors: sentences that the caller passes to DuckDB ---- */

enum { PROBLEM_NBYTES = 1024 };

typedef char problem_text[PROBLEM_NBYTES];

/* Writes "WHERE: WHY"; if there is no `why`, the text of the status. */
void explain(problem_text problem, const char *where, lanebloom_status status, const char *why);

/* Ends a scalar function with such a sentence. Returns false. */
bool refuse(duckdb_function_info info, const char *where, lanebloom_status status, const char *why);

/* Writes why a BLOB is no filter. */
void explain_blob(problem_text problem, lanebloom_status status);

/* ---- Vectors: columns of a chunk ---- */

struct vector {
  const void *data;
  const uint64_t *valid; /* a bit per row; NULL: no NULLs. A NULL row's data is arbitrary */
};

struct vector vector_of(duckdb_data_chunk chunk, idx_t column);
bool vector_has(const struct vector *vector, idx_t row);
lanebloom_slice vector_slice(const struct vector *vector, idx_t row);

/* Returns a slice as a text for C, to be freed. NULL: memory ran out, or it has a 0 byte. */
char *text_of(lanebloom_slice slice);

/* Write the result of one row. LANEBLOOM_UNKNOWN, NaN and NULL become NULL. */
void vector_set_null(duckdb_vector vector, idx_t row);
void vector_set_bool(duckdb_vector vector, idx_t row, bool value);
void vector_set_count(duckdb_vector vector, idx_t row, uint64_t value);
void vector_set_double(duckdb_vector vector, idx_t row, double value);
void vector_set_text(duckdb_vector vector, idx_t row, const char *text);
void vector_set_bytes(duckdb_vector vector, idx_t row, lanebloom_slice bytes);

/* ---- Keys: the values of columns ---- */

/* The keys that values of a type become. */
struct key_type {
  duckdb_type type;
  const char *name; /* in SQL */
  lanebloom_encoding encoding;
  size_t nbytes; /* of a value as DuckDB stores it */
};

extern const struct key_type key_types[];
extern const size_t nkey_types;

/* The most rows that are made keys at a time: one vector of DuckDB. */
enum { BATCH_NROWS = 2048 };

/* Room for keys that differ from the values that DuckDB stores. */
struct key_room {
  _Alignas(16) uint8_t bytes[BATCH_NROWS * 16];
};

/* Returns the keys of rows first .. first + n; n is at most BATCH_NROWS. NULLs become arbitrary
 * keys. */
lanebloom_keys keys_of(const struct key_type *type, const struct vector *values, idx_t first,
                       size_t n, struct key_room *room);

/* Returns the keys of some rows, which must not be NULL. */
lanebloom_keys keys_of_rows(const struct key_type *type, const struct vector *values,
                            const uint16_t *rows, size_t n, struct key_room *room);

/* Can a filter of this form be queried with such keys? If not, says why. */
bool check_form(const struct key_type *type, lanebloom_key_form form, problem_text problem);

/* ---- One database of DuckDB, shared by its SQL functions ---- */

struct instance;

/* A filter that has a name. */
struct named_filter {
  lanebloom_filter *filter;
  char *name;
  char *path; /* NULL: the filter is from a BLOB */
  void *blob; /* the bytes that `filter` borrows; NULL: it is from a file */
  _Atomic size_t nusers;
};

/* `is_locked`: the settings of the database cannot change any more. NULL: memory ran out. */
struct instance *instance_create(bool is_locked);
struct instance *instance_share(struct instance *instance);
void instance_release(void *instance); /* the last release frees it */
bool instance_is_locked(const struct instance *instance);

/* Gives a filter its name. The filter that had the name before stays as long as it is used. *added:
 * the filter, to be released. */
lanebloom_status instance_add_file(struct instance *instance, const char *name, const char *path,
                                   struct named_filter **added, problem_text problem);
lanebloom_status instance_add_blob(struct instance *instance, const char *name,
                                   lanebloom_slice blob);
bool instance_remove(struct instance *instance, lanebloom_slice name);

/* Returns the filter of this name, to be released; NULL if there is none. */
struct named_filter *instance_take(struct instance *instance, lanebloom_slice name);
void named_filter_release(struct named_filter *filter);

/* Returns all filters, ordered by name, to be released, in a list to be freed. NULL: memory ran
 * out. */
struct named_filter **instance_take_all(struct instance *instance, size_t *n);

/* ---- Files: may they be opened? ---- */

/* Finds the functions of DuckDB that tell it. */
void files_begin(void);

/* The context with which DuckDB's settings are queried while a table function of this bind runs.
 * May be NULL. */
typedef struct files_context files_context;
files_context *files_context_of(duckdb_bind_info info);
void files_context_free(files_context *context);

/* May files be opened? If not, says what to do instead. */
bool files_may_be_opened(const struct instance *instance, const files_context *context,
                         problem_text problem);

/* ---- Table functions ---- */

struct column {
  const char *name;
  duckdb_type type;
};

/* The description of a table function. Each file that has one defines a constant of this type. */
struct table_function {
  const char *name;
  idx_t nparameters;  /* of type VARCHAR */
  const char *option; /* the name of a VARCHAR, the last parameter, which is NULL if it is not
                         given; NULL: there is none */
  const struct column *columns;
  idx_t ncolumns;

  /* Makes the state of a query; `end` frees it. */
  void *(*begin)(struct instance *instance, const files_context *context, char *const *parameters,
                 problem_text problem);
  void (*end)(void *query);

  /* Fills at most one chunk. Returns the number of rows. 0: there are no more; SIZE_MAX: it
   * failed. */
  size_t (*next)(void *query, duckdb_data_chunk chunk, problem_text problem);
};

bool register_table_function(duckdb_connection connection, struct instance *instance,
                             const struct table_function *function);

/* ---- SQL functions, one file each ---- */

bool register_build(duckdb_connection connection);
bool register_may_contain(duckdb_connection connection, struct instance *instance);
bool register_names(duckdb_connection connection, struct instance *instance);
bool register_tables(duckdb_connection connection, struct instance *instance);
bool register_parquet(duckdb_connection connection, struct instance *instance);

#endif
