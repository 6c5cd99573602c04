/* Decides whether the extension may open files. While the setting enable_external_access is false,
 * the extension must not open files. But the stable C API does not tell a running SQL function what
 * the setting is. Some versions of DuckDB are known to export other functions that tell it, and
 * these are called. With other versions, files are opened only if the settings were locked before
 * the extension was loaded.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "extension.h"

/* ---- Functions that DuckDB exports ---- */

typedef void context_function(duckdb_bind_info info, duckdb_client_context *context);
typedef duckdb_value option_function(duckdb_client_context context, const char *name, int *scope);
typedef void destroy_function(duckdb_client_context *context);

static struct {
  context_function *get_context;
  option_function *get_option;
  destroy_function *destroy_context;
} exported;

/* Finds a function that is exported by the library of DuckDB whose API this extension uses. Returns
 * NULL if that library does not export the function, even if another library of DuckDB in this
 * process does. */
static void *find_exported(const char *name)
{
  Dl_info ours, found;
  if (!dladdr((void *)duckdb_query, &ours))
    return NULL;
  void *library = dlopen(ours.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void *function = dlsym(library ? library : RTLD_DEFAULT, name);
  if (library)
    dlclose(library);
  return function && dladdr(function, &found) && found.dli_fbase == ours.dli_fbase ? function
                                                                                   : NULL;
}

/* Returns true for the versions of DuckDB whose exported functions are known to have the parameters
 * declared above. Later versions may change the parameters. */
static bool is_known(const char *version)
{
  int major = 0, minor = 0;
  return sscanf(version, "v%d.%d", &major, &minor) == 2 &&
         ((major == 1 && minor >= 5) || (major == 2 && minor == 0));
}

static void find_all(void)
{
  if (!is_known(duckdb_library_version()))
    return;
  exported.get_option = (option_function *)find_exported("duckdb_client_context_get_config_option");
  exported.get_context =
      (context_function *)find_exported("duckdb_table_function_get_client_context");
  exported.destroy_context = (destroy_function *)find_exported("duckdb_destroy_client_context");
}

void files_begin(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_all);
}

/* ---- Queries ---- */

struct files_context {
  duckdb_client_context context;
};

files_context *files_context_of(duckdb_bind_info info)
{
  if (!exported.get_option || !exported.get_context || !exported.destroy_context)
    return NULL;
  files_context *made = calloc(1, sizeof *made);
  if (made)
    exported.get_context(info, &made->context);
  return made;
}

void files_context_free(files_context *context)
{
  if (context && context->context)
    exported.destroy_context(&context->context);
  free(context);
}

static bool has_external_access(const files_context *context)
{
  duckdb_value value = exported.get_option(context->context, "enable_external_access", NULL);
  const bool has = value && duckdb_get_bool(value);
  if (value)
    duckdb_destroy_value(&value);
  return has;
}

bool files_may_be_opened(const struct instance *instance, const files_context *context,
                         problem_text problem)
{
  const char *why = NULL;
  if (context && context->context) {
    if (!has_external_access(context))
      why = "enable_external_access is false: files are not opened";
  } else if (!instance_is_locked(instance)) {
    why = "this DuckDB does not say whether files may be opened: SET lock_configuration = true "
          "before LOAD, or use DuckDB 1.5 or 2.0; a filter can also be read with SELECT "
          "lanebloom_register(NAME, content) FROM read_blob(PATH)";
  }
  snprintf(problem, PROBLEM_NBYTES, "%s", why ? why : "");
  return !why;
}
