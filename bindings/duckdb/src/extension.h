/* Declarations that the files of the extension for DuckDB share. The extension uses the stable C
 * API of version 1.2.0, so that one binary works with all versions of DuckDB that have this API.
 * Some versions are known to export more functions; files.c calls these, too.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_DUCKDB_EXTENSION_H
#define LANEBLOOM_DUCKDB_EXTENSION_H

#include <duckdb_extension.h>
#include <lanebloom.h>

DUCKDB_EXTENSION_EXTERN

/* ---- Errors: messages that the caller passes to DuckDB ---- */

enum { PROBLEM_NBYTES = 1024 };

typedef char problem_text[PROBLEM_NBYTES];

/* Writes the message "WHERE: WHY". If `why` is NULL or "", the text of the status takes its
 * place. */
void explain(problem_text problem, const char *where, lanebloom_status status, const char *why);

/* Ends a scalar function with the message of explain(). Always returns false. */
bool refuse(duckdb_function_info info, const char *where, lanebloom_status status, const char *why);

/* Writes why a BLOB is no filter. `why` is the library's message, which may be empty or NULL. */
void explain_blob(problem_text problem, lanebloom_status status, const char *why);

/* ---- Vectors: columns of a chunk ---- */

struct vector {
  const void *data;
  const uint64_t *valid; /* one bit per row; if it is 0, the row is NULL and its data is
                          * arbitrary. `valid` is NULL if no row is NULL */
};

struct vector vector_of(duckdb_data_chunk chunk, idx_t column);
bool vector_has(const struct vector *vector, idx_t row);
lanebloom_slice vector_slice(const struct vector *vector, idx_t row);

/* Returns a copy of a slice as a text for C. The caller frees the copy. Returns NULL if memory runs
 * out, or if the slice has a 0 byte, because a text for C ends at the first 0 byte. */
char *text_of(lanebloom_slice slice);

/* Write the value of one row. LANEBLOOM_UNKNOWN, NaN and a NULL pointer become NULL in SQL. */
void vector_set_null(duckdb_vector vector, idx_t row);
void vector_set_bool(duckdb_vector vector, idx_t row, bool value);
void vector_set_count(duckdb_vector vector, idx_t row, uint64_t value);
void vector_set_double(duckdb_vector vector, idx_t row, double value);
void vector_set_text(duckdb_vector vector, idx_t row, const char *text);
void vector_set_bytes(duckdb_vector vector, idx_t row, lanebloom_slice bytes);

/* ---- Keys: the values of columns ---- */

/* A type of DuckDB whose values can be keys, and the form of these keys. */
struct key_type {
  duckdb_type type;
  const char *name; /* in SQL */
  lanebloom_encoding encoding;
  size_t nbytes; /* the size of a value as DuckDB stores it */
};

extern const struct key_type key_types[];
extern const size_t nkey_types;

/* The most rows whose values are converted to keys at a time: the size of one vector of DuckDB. */
enum { BATCH_NROWS = 2048 };
#define TOO_MANY_ROWS_TEXT "expected vectors of at most 2048 rows"

/* Memory for keys. It is used if the bytes of keys differ from the values that DuckDB stores. */
struct key_room {
  _Alignas(16) uint8_t bytes[BATCH_NROWS * 16];
};

/* Returns the keys of rows first .. first + n, which may point into `values` and `room`. n is at
 * most BATCH_NROWS. A row that is NULL has an arbitrary key, so the caller must ignore its
 * result. */
lanebloom_keys keys_of(const struct key_type *type, const struct vector *values, idx_t first,
                       size_t n, struct key_room *room);

/* Returns the keys of the n rows that `rows` lists, which may point into `values` and `room`. None
 * of these rows may be NULL. */
lanebloom_keys keys_of_rows(const struct key_type *type, const struct vector *values,
                            const uint16_t *rows, size_t n, struct key_room *room);

/* Checks whether a filter whose keys have this form can be queried with keys of this type. If not,
 * writes why and returns false. */
bool check_form(const struct key_type *type, lanebloom_key_form form, problem_text problem);

/* ---- Instances: what the extension stores for one database of DuckDB ---- */

struct instance;

/* A filter to which the user gave a name. It is freed when its last user releases it. */
struct named_filter {
  lanebloom_filter *filter;
  char *name;
  char *path; /* NULL if the filter is from a BLOB */
  void *blob; /* the bytes that `filter` borrows; NULL if it is from a file */
  _Atomic size_t nusers;
};

/* Makes an instance, or returns NULL if memory runs out. is_locked: true if the settings of the
 * database cannot change any more. The SQL functions share the instance, and each of them releases
 * it. */
struct instance *instance_create(bool is_locked);
struct instance *instance_share(struct instance *instance);
void instance_release(void *instance); /* the last release frees the instance */
bool instance_is_locked(const struct instance *instance);

/* Add a filter under a name. If another filter had this name before, that filter is removed, and
 * freed when its last user releases it. If `added` is not NULL, *added becomes the new filter,
 * which the caller releases. */
lanebloom_status instance_add_file(struct instance *instance, const char *name, const char *path,
                                   struct named_filter **added, problem_text problem);
lanebloom_status instance_add_blob(struct instance *instance, const char *name,
                                   lanebloom_slice blob, problem_text problem);
bool instance_remove(struct instance *instance, lanebloom_slice name);

/* Returns the filter of this name, or NULL if there is none. The caller releases the filter. */
struct named_filter *instance_take(struct instance *instance, lanebloom_slice name);
void named_filter_release(struct named_filter *filter);

/* Returns a list of all filters, ordered by name, or NULL if memory runs out. The caller releases
 * each filter and frees the list. */
struct named_filter **instance_take_all(struct instance *instance, size_t *n);

/* ---- Files: may the extension open them? ---- */

/* Finds the functions of DuckDB with which files_may_be_opened() queries DuckDB's settings. Call
 * files_begin() before the other functions of this section. */
void files_begin(void);

/* The context with which DuckDB's settings are queried while a table function runs.
 * files_context_of() makes the context when DuckDB binds the table function. It returns NULL if
 * DuckDB does not export the functions for such queries. */
typedef struct files_context files_context;
files_context *files_context_of(duckdb_bind_info info);
void files_context_free(files_context *context);

/* Returns true if the extension may open files. If not, writes what the user can do instead.
 * context: may be NULL. */
bool files_may_be_opened(const struct instance *instance, const files_context *context,
                         problem_text problem);

/* ---- Table functions ---- */

struct column {
  const char *name;
  duckdb_type type;
};

/* The values that a call of a table function passes. */
struct parameters {
  char *texts[3]; /* the parameters, and then the option */
  bool has_list;  /* does the call pass the option that is a list? */
  lanebloom_slice *list;
  size_t nlist;
};

/* Describes a table function. Each file with a table function defines a constant of this type. */
struct table_function {
  const char *name;
  idx_t nparameters;       /* parameters of type VARCHAR */
  const char *option;      /* the name of an optional parameter of type VARCHAR, or NULL if there is
                       * none. Its text is NULL if the call does not pass it */
  const char *list_option; /* the name of an optional parameter that is a list of VARCHAR, or NULL
                            * if there is none. Elements that are NULL are left out */
  const struct column *columns;
  idx_t ncolumns;

  /* Makes the state of a query, which `end` frees. The parameters outlive the query. On an error,
   * writes the message to `problem` (or leaves it "" if memory ran out) and returns NULL. */
  void *(*begin)(struct instance *instance, const files_context *context,
                 const struct parameters *parameters, problem_text problem);
  void (*end)(void *query);

  /* Fills at most one chunk and returns the number of its rows. Returns 0 if there are no more
   * rows, and SIZE_MAX on an error. */
  size_t (*next)(void *query, duckdb_data_chunk chunk, problem_text problem);
};

bool register_table_function(duckdb_connection connection, struct instance *instance,
                             const struct table_function *function);

/* ---- Registration of SQL functions, one function for each file ---- */

bool register_build(duckdb_connection connection);
bool register_may_contain(duckdb_connection connection, struct instance *instance);
bool register_names(duckdb_connection connection, struct instance *instance);
bool register_tables(duckdb_connection connection, struct instance *instance);
bool register_parquet(duckdb_connection connection, struct instance *instance);

#endif
