/* Finds Parquet files by name, in folders and by patterns.
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "parquet_files.h"

/* ---- --bounds ---- */

enum { OPTION_BOUNDS = 0x600 };

static error_t parse(int key, char *text, struct argp_state *state)
{
  lanebloom_parquet_bounds *bounds = state->input;
  if (key != OPTION_BOUNDS)
    return ARGP_ERR_UNKNOWN;
  for (lanebloom_parquet_bounds i = LANEBLOOM_PARQUET_BOUNDS_KNOWN;
       lanebloom_parquet_bounds_name(i); i++)
    if (strcmp(text, lanebloom_parquet_bounds_name(i)) == 0) {
      *bounds = i;
      return 0;
    }
  usage_error(state, "--bounds: expected known, all or none, found '%s'", text);
  return 0;
}

const struct argp bounds_argp = {
    .options =
        (const struct argp_option[]){
            {"bounds", OPTION_BOUNDS, "WHOSE", 0,
             "Whose bounds and counts of nulls in Parquet files say that a key is absent: `known', "
             "the default, those of writers that were seen to write them right; `all', also where "
             "they may be wrong; `none'",
             3},
            {0}},
    .parser = parse,
};

/* ---- Names ---- */

static void add_path(struct paths *paths, const char *path)
{
  char *copy = resize(NULL, strlen(path) + 1);
  strcpy(copy, path);
  paths->all = grow_list(paths->all, paths->n, sizeof *paths->all);
  paths->all[paths->n++] = copy;
}

/* By the conventions of Hive and Spark: what begins with a dot or an underscore is no data, but for
 * a partition's folder, whose column may have any name. */
static bool is_hidden(const char *name)
{
  return *name == '.' || (*name == '_' && !strchr(name, '='));
}

/* Parquet files that describe the others of their folder, and have no rows. */
static bool is_summary(const char *name)
{
  return strcmp(name, "_metadata") == 0 || strcmp(name, "_common_metadata") == 0;
}

static bool is_parquet_name(const char *name)
{
  static const char suffix[] = ".parquet";
  const size_t nbytes = strlen(name), suffix_nbytes = sizeof suffix - 1;
  return nbytes > suffix_nbytes && strcmp(name + nbytes - suffix_nbytes, suffix) == 0;
}

enum { MAGIC_NBYTES = 4 };

static bool has_magic(FILE *file, off_t offset, int whence, const char *magic)
{
  char found[MAGIC_NBYTES];
  return fseeko(file, offset, whence) == 0 && fread(found, 1, sizeof found, file) == sizeof found &&
         memcmp(found, magic, sizeof found) == 0;
}

enum likeness {
  NOT_PARQUET,
  MAYBE_PARQUET, /* it cannot be read */
  DAMAGED_PARQUET,
  IS_PARQUET
};

/* Readers look at the end alone; a truncated file has but the beginning. Encrypted files need both:
 * "PARENT" may begin a text, and "COMPARE" may end it. */
static enum likeness judge_content(const char *path)
{
  const off_t end = -(off_t)MAGIC_NBYTES;
  FILE *file = fopen(path, "re");
  if (!file)
    return errno == ENOENT ? NOT_PARQUET : MAYBE_PARQUET;
  const bool at_begin = has_magic(file, 0, SEEK_SET, "PAR1"),
             at_end = has_magic(file, end, SEEK_END, "PAR1"),
             is_encrypted =
                 has_magic(file, 0, SEEK_SET, "PARE") && has_magic(file, end, SEEK_END, "PARE"),
             is_unknown = ferror(file);
  fclose(file);
  if ((at_begin && at_end) || is_encrypted)
    return IS_PARQUET;
  return at_begin || at_end ? DAMAGED_PARQUET : is_unknown ? MAYBE_PARQUET : NOT_PARQUET;
}

/* Folders that are still to be read, and those that were: links may lead to them again. */
struct folders {
  struct paths paths;
  void *ids; /* of all of them: a tree of tsearch(3) */
};

struct folder_id {
  dev_t device;
  ino_t inode;
};

static int compare_ids(const void *a, const void *b)
{
  const struct folder_id *left = a, *right = b;
  if (left->device != right->device)
    return left->device < right->device ? -1 : 1;
  return (left->inode > right->inode) - (left->inode < right->inode);
}

static void add_folder_once(struct folders *folders, const char *path, const struct stat *status)
{
  struct folder_id *id = resize(NULL, sizeof *id);
  *id = (struct folder_id){status->st_dev, status->st_ino};
  if (find_or_add(id, &folders->ids, compare_ids) == id)
    add_path(&folders->paths, path);
  else
    free(id);
}

/* What is found in folders. */
struct findings {
  struct paths read, skipped;
};

/* status: of a file in a folder; NULL: errno says why there is none. */
static enum likeness judge_file(const char *path, const char *name, const struct stat *status)
{
  struct stat link;
  if (!status && errno != ENOENT)
    return MAYBE_PARQUET;
  if (!status && lstat(path, &link) != 0) /* it was deleted meanwhile */
    return NOT_PARQUET;
  if (is_parquet_name(name))
    return IS_PARQUET;
  return status && S_ISREG(status->st_mode) ? judge_content(path) : NOT_PARQUET;
}

/* needed: how much like Parquet a file must be. */
static void add_entry(struct findings *findings, struct folders *folders, enum likeness needed,
                      const char *folder, const char *name)
{
  struct stat status;
  char *path = resize(NULL, strlen(folder) + strlen(name) + sizeof "/");
  const bool has_slash = folder[strlen(folder) - 1] == '/', hidden = is_hidden(name);
  sprintf(path, "%s%s%s", folder, has_slash ? "" : "/", name);
  const bool is_there = stat(path, &status) == 0;
  if (is_there && S_ISDIR(status.st_mode)) {
    if (!hidden)
      add_folder_once(folders, path, &status);
  } else if (!hidden) {
    if (judge_file(path, name, is_there ? &status : NULL) >= needed)
      add_path(&findings->read, path);
  } else if (is_there && S_ISREG(status.st_mode) && !is_summary(name) &&
             judge_content(path) != NOT_PARQUET) {
    add_path(&findings->skipped, path);
  }
  free(path);
}

static void read_folder(struct findings *findings, struct folders *folders, enum likeness needed,
                        const char *folder)
{
  DIR *entries = opendir(folder);
  if (!entries)
    die(folder, "%s", strerror(errno));
  errno = 0;
  /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this thread's */
  for (const struct dirent *entry; (entry = readdir(entries)); errno = 0)
    add_entry(findings, folders, needed, folder, entry->d_name);
  if (errno)
    die(folder, "%s", strerror(errno));
  closedir(entries);
}

/* Adds the files in a folder and below it, until `most' are to be read. */
static void add_folder(struct findings *findings, const char *folder, const struct stat *status,
                       enum likeness needed, size_t most)
{
  struct folders folders = {0};
  add_folder_once(&folders, folder, status);
  for (size_t i = 0; i < folders.paths.n && findings->read.n < most; i++)
    read_folder(findings, &folders, needed, folders.paths.all[i]);
  paths_free(&folders.paths);
  tdestroy(folders.ids, free);
}

static void add_name(struct findings *findings, const char *name)
{
  struct stat status;
  if (stat(name, &status) != 0)
    die(name, "%s", strerror(errno));
  if (!S_ISDIR(status.st_mode)) {
    add_path(&findings->read, name);
    return;
  }
  const size_t nbefore = findings->read.n;
  add_folder(findings, name, &status, MAYBE_PARQUET, SIZE_MAX);
  if (findings->read.n == nbefore)
    die(name, "expected a folder with Parquet files, found none in it");
}

static void add_pattern(struct findings *findings, const char *pattern)
{
  glob_t found;
  const int status = glob(pattern, GLOB_ERR | GLOB_NOSORT, NULL, &found);
  if (status == GLOB_NOMATCH)
    die(pattern, "expected the name or the pattern of Parquet files, found none of this name");
  if (status)
    die(pattern, "%s", strerror(status == GLOB_NOSPACE ? ENOMEM : errno));
  for (size_t i = 0; i < found.gl_pathc; i++)
    add_name(findings, found.gl_pathv[i]);
  globfree(&found);
}

static int compare_paths(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_once(struct paths *paths)
{
  size_t n = 0;
  qsort(paths->all, paths->n, sizeof *paths->all, compare_paths);
  for (size_t i = 0; i < paths->n; i++) {
    if (n > 0 && strcmp(paths->all[n - 1], paths->all[i]) == 0)
      free(paths->all[i]);
    else
      paths->all[n++] = paths->all[i];
  }
  paths->n = n;
}

/* Warns of the files that are skipped, unless another name stands for them. Returns how many. */
static size_t warn_of_skipped(struct findings *findings)
{
  const struct paths *read = &findings->read, *skipped = &findings->skipped;
  const char *first = NULL;
  size_t n = 0;
  for (size_t i = 0; i < skipped->n; i++)
    if (!bsearch(&skipped->all[i], read->all, read->n, sizeof *read->all, compare_paths)) {
      first = first ? first : skipped->all[i];
      n++;
    }
  char others[64] = "";
  if (n > 1)
    snprintf(others, sizeof others, " (and %zu more)", n - 1);
  if (n > 0)
    complain(first,
             "warning: a Parquet file that is not read%s, since its name begins with a dot or an "
             "underscore: name it to have it read, or remove it",
             others);
  return n;
}

struct paths parquet_list(char *const *names, size_t nnames, size_t *nskipped)
{
  struct findings findings = {0};
  struct stat status;
  for (size_t i = 0; i < nnames; i++) {
    if (stat(names[i], &status) != 0 && errno == ENOENT)
      add_pattern(&findings, names[i]);
    else
      add_name(&findings, names[i]);
  }
  sort_once(&findings.read);
  sort_once(&findings.skipped);
  *nskipped = warn_of_skipped(&findings);
  paths_free(&findings.skipped);
  return findings.read;
}

bool is_parquet(const char *name)
{
  struct stat status;
  if (stat(name, &status) != 0)
    return false;
  if (S_ISREG(status.st_mode))
    return judge_content(name) >= DAMAGED_PARQUET;
  struct findings findings = {0};
  if (S_ISDIR(status.st_mode))
    add_folder(&findings, name, &status, IS_PARQUET, 1);
  const bool is_any = findings.read.n > 0;
  paths_free(&findings.read);
  paths_free(&findings.skipped);
  return is_any;
}

void paths_free(struct paths *paths)
{
  for (size_t i = 0; i < paths->n; i++)
    free(paths->all[i]);
  free(paths->all);
}
