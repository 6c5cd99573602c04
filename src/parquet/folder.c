/* Finds the Parquet files that a caller names: files, folders with files, and patterns of names.
 * SPDX-License-Identifier: MIT */
#include <lanebloom_parquet.h>
#include <stdlib.h>

#include "../common/tree.h"
#include "../input.h"
#include "../system/system.h"

/* ---- Names ---- */

static lanebloom_status add_path(lanebloom_parquet_paths *paths, const char *path,
                                 const struct problem *problem)
{
  const size_t n = paths->n;
  if ((n & (n - 1)) == 0) { /* full: the array has room for 0 paths, or for a power of two */
    const size_t nbytes = (n > 0 ? 2 * n : 1) * sizeof *paths->all;
    char **all = realloc(paths->all, nbytes);
    if (!all)
      return problem_memory(problem, nbytes);
    paths->all = all;
  }
  paths->all[n] = strdup(path);
  if (!paths->all[n])
    return problem_memory(problem, strlen(path));
  paths->n++;
  return LANEBLOOM_OK;
}

static void free_paths(lanebloom_parquet_paths *paths)
{
  for (size_t i = 0; i < paths->n; i++)
    free(paths->all[i]);
  free(paths->all);
}

static int compare_paths(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts paths, and removes duplicates and all paths that are also in `others`. `others` must be
 * sorted, and may be empty. */
static void sort_once(lanebloom_parquet_paths *paths, const lanebloom_parquet_paths *others)
{
  const size_t size = sizeof *paths->all;
  size_t n = 0;
  if (paths->n > 0)
    qsort(paths->all, paths->n, size, compare_paths);
  for (size_t i = 0; i < paths->n; i++) {
    char *path = paths->all[i];
    if ((n > 0 && strcmp(paths->all[n - 1], path) == 0) ||
        (others->n > 0 && bsearch(&path, others->all, others->n, size, compare_paths)))
      free(path);
    else
      paths->all[n++] = path;
  }
  paths->n = n;
}

/* Checks whether the name says that a file or a folder has no data. By the conventions of Hive and
 * Spark, names that begin with a dot or an underscore say so. But a folder of a partition is called
 * COLUMN=VALUE, and the name of its column may begin with an underscore, so such a folder has
 * data. */
static bool is_hidden(const char *name)
{
  return *name == '.' || (*name == '_' && !strchr(name, '='));
}

/* Checks whether this is the name of a summary, which is a Parquet file that has no rows and
 * describes the other files in its folder. */
static bool is_summary(const char *name)
{
  return strcmp(name, "_metadata") == 0 || strcmp(name, "_common_metadata") == 0;
}

static bool ends_in(const char *name, const char *suffix)
{
  const size_t nbytes = strlen(name), suffix_nbytes = strlen(suffix);
  return nbytes > suffix_nbytes && strcmp(name + nbytes - suffix_nbytes, suffix) == 0;
}

/* Checks whether the name says that a Parquet file was compressed as a whole. */
static bool is_compressed_name(const char *name)
{
  return ends_in(name, ".parquet.bz2") || ends_in(name, ".parquet.gz") ||
         ends_in(name, ".parquet.lz4") || ends_in(name, ".parquet.xz") ||
         ends_in(name, ".parquet.zst");
}

/* ---- Files ---- */

enum likeness {
  NOT_PARQUET,
  MAYBE_PARQUET, /* the file cannot be read, or is compressed */
  DAMAGED_PARQUET,
  IS_PARQUET
};

enum { MAGIC_NBYTES = 4 };

/* Judges a file by its first and last 4 bytes. A whole file has the magic number in both places.
 * Readers check only the end, and a truncated file has only the beginning, so a file with only one
 * of the two magic numbers counts as a damaged Parquet file. The magic number of an encrypted file
 * must be in both places, because a text may begin with "PARENT", and another may end with
 * "COMPARE". */
static enum likeness judge_magic(const char *begin, const char *end)
{
  const bool at_begin = memcmp(begin, "PAR1", MAGIC_NBYTES) == 0,
             at_end = memcmp(end, "PAR1", MAGIC_NBYTES) == 0,
             is_encrypted =
                 memcmp(begin, "PARE", MAGIC_NBYTES) == 0 && memcmp(end, "PARE", MAGIC_NBYTES) == 0;
  if ((at_begin && at_end) || is_encrypted)
    return IS_PARQUET;
  return at_begin || at_end ? DAMAGED_PARQUET : NOT_PARQUET;
}

/* Sets *likeness from the content of a file. Errors: FORMAT if the file is no regular file; IO or
 * CORRUPT if it cannot be read. */
static lanebloom_status read_likeness(const char *path, enum likeness *likeness,
                                      const struct problem *problem)
{
  char begin[MAGIC_NBYTES], end[MAGIC_NBYTES];
  struct input input;
  lanebloom_status status = lanebloom_input_open(path, &input, problem);
  *likeness = NOT_PARQUET;
  if (status)
    return status;
  if (input.nbytes >= MAGIC_NBYTES) {
    status = lanebloom_input_read(&input, 0, begin, MAGIC_NBYTES, problem);
    if (!status)
      status =
          lanebloom_input_read(&input, input.nbytes - MAGIC_NBYTES, end, MAGIC_NBYTES, problem);
    if (!status)
      *likeness = judge_magic(begin, end);
  }
  lanebloom_input_close(&input);
  return status;
}

static enum likeness judge_content(const char *path)
{
  enum likeness likeness;
  const lanebloom_status status = read_likeness(path, &likeness, &no_problem);
  if (status)
    return status == LANEBLOOM_ERR_FORMAT || errno == ENOENT ? NOT_PARQUET : MAYBE_PARQUET;
  return likeness == NOT_PARQUET && is_compressed_name(path) ? MAYBE_PARQUET : likeness;
}

/* Judges a file in a folder. found: what is known of the file, or NULL if the system would not
 * describe it. Then errno must still have the reason. */
static enum likeness judge_file(const char *path, const char *name, const struct system_info *found)
{
  if (!found && errno != ENOENT)
    return MAYBE_PARQUET;
  if (!found && !lanebloom_system_has_name(path)) /* it was just deleted */
    return NOT_PARQUET;
  if (ends_in(name, ".parquet"))
    return IS_PARQUET;
  return found && found->kind == SYSTEM_FILE ? judge_content(path) : NOT_PARQUET;
}

/* ---- Folders ---- */

struct folder_id {
  uint64_t device, number;
};

static int compare_ids(const void *a, const void *b)
{
  const struct folder_id *left = a, *right = b;
  if (left->device != right->device)
    return left->device < right->device ? -1 : 1;
  return (left->number > right->number) - (left->number < right->number);
}

struct search {
  const struct problem *problem;
  lanebloom_parquet_files files; /* the files that were found */
  enum likeness needed;          /* files in folders with less likeness than this are left out */
  size_t most;                   /* the search stops when it has found this many files */
  int error;                     /* the value of errno when the search failed */

  /* The folders that were found below one of the caller's names. Folders stay in the list after
   * they are read, because links may lead to them again. */
  lanebloom_parquet_paths folders;
  void *ids; /* the ids of these folders, in a tree of tsearch(3) */

  size_t nmatches; /* the paths that the last pattern matched */
};

/* Reports a problem with a path. If the path is long, it is cut, so that there is room for the
 * reason after it. */
static lanebloom_status fail(struct search *search, const char *path, lanebloom_status status,
                             const char *why)
{
  search->error = errno;
  return problem_set(search->problem, status, "%.800s: %s", path, why);
}

static lanebloom_status fail_io(struct search *search, const char *path)
{
  char text[128];
  return fail(search, path, LANEBLOOM_ERR_IO, lanebloom_system_error(errno, text, sizeof text));
}

static lanebloom_status add_folder_once(struct search *search, const char *path,
                                        const struct system_info *found)
{
  struct folder_id *id = malloc(sizeof *id);
  if (!id)
    return problem_memory(search->problem, sizeof *id);
  *id = (struct folder_id){found->device, found->number};
  struct folder_id *const *known = tsearch(id, &search->ids, compare_ids);
  if (known && *known == id)
    return add_path(&search->folders, path, search->problem);
  free(id);
  return known ? LANEBLOOM_OK : problem_memory(search->problem, sizeof *id);
}

static lanebloom_status add_entry(struct search *search, const char *folder, const char *name)
{
  lanebloom_parquet_files *files = &search->files;
  lanebloom_status status = LANEBLOOM_OK;
  struct system_info found;
  char *path;
  const bool has_slash = folder[strlen(folder) - 1] == '/', hidden = is_hidden(name);
  if (asprintf(&path, "%s%s%s", folder, has_slash ? "" : "/", name) < 0)
    return problem_memory(search->problem, strlen(folder) + strlen(name));
  const bool is_there = lanebloom_system_info(path, &found);
  if (is_there && found.kind == SYSTEM_FOLDER) {
    if (!hidden)
      status = add_folder_once(search, path, &found);
  } else if (!hidden) {
    if (judge_file(path, name, is_there ? &found : NULL) >= search->needed)
      status = add_path(&files->read, path, search->problem);
  } else if (is_there && found.kind == SYSTEM_FILE && !is_summary(name) &&
             judge_content(path) != NOT_PARQUET) {
    status = add_path(&files->skipped, path, search->problem);
  }
  free(path);
  return status;
}

static lanebloom_status read_folder(struct search *search, const char *folder)
{
  lanebloom_status status = LANEBLOOM_OK;
  struct system_folder *entries = lanebloom_system_folder_open(folder);
  if (!entries)
    return fail_io(search, folder);
  for (const char *name; !status && (name = lanebloom_system_folder_next(entries));)
    status = add_entry(search, folder, name);
  if (!status && errno)
    status = fail_io(search, folder);
  lanebloom_system_folder_close(entries);
  return status;
}

/* Adds the files in a folder and in all folders below it, until search->most files are found. */
static lanebloom_status add_folder(struct search *search, const char *folder,
                                   const struct system_info *found)
{
  search->folders = (lanebloom_parquet_paths){0};
  search->ids = NULL;
  lanebloom_status status = add_folder_once(search, folder, found);
  for (size_t i = 0; !status && i < search->folders.n && search->files.read.n < search->most; i++)
    status = read_folder(search, search->folders.all[i]);
  free_paths(&search->folders);
  tree_free(&search->ids, free);
  return status;
}

/* ---- Names of files and folders, and patterns ---- */

static lanebloom_status add_name(struct search *search, const char *name)
{
  const size_t nbefore = search->files.read.n;
  struct system_info found;
  if (!lanebloom_system_info(name, &found))
    return fail_io(search, name);
  if (found.kind != SYSTEM_FOLDER)
    return add_path(&search->files.read, name, search->problem);
  const lanebloom_status status = add_folder(search, name, &found);
  if (!status && search->files.read.n == nbefore)
    return fail(search, name, LANEBLOOM_ERR_ARGUMENT,
                "expected a folder with Parquet files, found none in it");
  return status;
}

static int add_match(void *context, const char *path)
{
  struct search *search = context;
  search->nmatches++;
  return (int)add_name(search, path);
}

static lanebloom_status add_pattern(struct search *search, const char *pattern)
{
  search->nmatches = 0;
  const int result = lanebloom_system_match(pattern, add_match, search);
  if (result < 0)
    return errno == ENOMEM ? problem_memory(search->problem, 0) : fail_io(search, pattern);
  if (search->nmatches > 0)
    return (lanebloom_status)result;
  errno = ENOENT;
  return fail(search, pattern, LANEBLOOM_ERR_IO,
              "expected the name or the pattern of Parquet files, found none of this name");
}

lanebloom_status lanebloom_parquet_find_files(const char *const *names, size_t nnames,
                                              lanebloom_parquet_files **files, char *problem_text,
                                              size_t problem_size)
{
  const struct problem problem = problem_begin(problem_text, problem_size);
  struct search search = {.problem = &problem, .needed = MAYBE_PARQUET, .most = SIZE_MAX};
  lanebloom_status status = LANEBLOOM_OK;
  struct system_info found;
  *files = malloc(sizeof **files);
  if (!*files)
    return problem_memory(&problem, sizeof **files);
  for (size_t i = 0; !status && i < nnames; i++)
    status = !lanebloom_system_info(names[i], &found) && errno == ENOENT
                 ? add_pattern(&search, names[i])
                 : add_name(&search, names[i]);
  sort_once(&search.files.read, &(lanebloom_parquet_paths){0});
  sort_once(&search.files.skipped, &search.files.read);
  **files = search.files;
  if (status) {
    lanebloom_parquet_files_free(*files);
    *files = NULL;
  }
  if (status == LANEBLOOM_ERR_IO)
    errno = search.error;
  return status;
}

void lanebloom_parquet_files_free(lanebloom_parquet_files *files)
{
  if (!files)
    return;
  free_paths(&files->read);
  free_paths(&files->skipped);
  free(files);
}

lanebloom_status lanebloom_parquet_recognize(const char *path, bool *is_parquet, char *problem_text,
                                             size_t problem_size)
{
  const struct problem problem = problem_begin(problem_text, problem_size);
  struct search search = {.problem = &problem, .needed = IS_PARQUET, .most = 1};
  lanebloom_status status = LANEBLOOM_OK;
  struct system_info found;
  *is_parquet = false;
  if (!lanebloom_system_info(path, &found))
    return errno == ENOENT ? LANEBLOOM_OK : fail_io(&search, path);
  if (found.kind == SYSTEM_FOLDER) {
    status = add_folder(&search, path, &found);
    *is_parquet = search.files.read.n > 0;
    free_paths(&search.files.read);
    free_paths(&search.files.skipped);
  } else if (found.kind == SYSTEM_FILE) {
    char why_text[256];
    const struct problem why = problem_begin(why_text, sizeof why_text);
    enum likeness likeness;
    status = read_likeness(path, &likeness, &why);
    *is_parquet = likeness >= DAMAGED_PARQUET;
    if (status)
      fail(&search, path, status, why_text);
  }
  if (status == LANEBLOOM_ERR_IO)
    errno = search.error;
  return status;
}
