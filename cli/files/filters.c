/* Loads filters from files or from standard input, saves them, and protects files that hold
 * something else.
 * SPDX-License-Identifier: MIT */
#include "filters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/system/replace.h"
#include "../../src/system/system.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../input/file_kinds.h"
#include "compressed_filter.h"
#include "mapped.h"
#include "recognize.h"

bool is_container(const char *path)
{
  struct system_info found;
  if (is_standard_input(path) || !lanebloom_system_info(path, &found) || found.kind != SYSTEM_FILE)
    return false;
  struct mapped mapped;
  const lanebloom_status status = map_filter(&mapped, path, NULL, 0);
  unmap_filter(&mapped);
  return status == LANEBLOOM_OK || status == LANEBLOOM_ERR_CORRUPT;
}

/* Does the file begin with the magic of a container? The version of the container does not matter,
 * and it may be damaged. Returns false if the file cannot be read. */
static bool begins_as_container(const char *path)
{
  char bytes[CONTAINER_MAGIC_NBYTES];
  const int fd = lanebloom_system_open(path, false);
  const bool begins =
      lanebloom_system_read(fd, bytes, sizeof bytes) == sizeof bytes && is_container_magic(bytes);
  if (fd >= 0)
    lanebloom_system_close(fd);
  return begins;
}

bool complain_of_order(const char *verb, const char *path, const char *problem, char *const *inputs,
                       size_t ninputs)
{
  size_t i = 0;
  while (i < ninputs && !is_container(inputs[i]))
    i++;
  if (i == ninputs || begins_as_container(path))
    return false;
  complain(input_name(path), "%s; %s is one, and FILTER comes first: lanebloom %s %s %s", problem,
           inputs[i], verb, inputs[i], path);
  return true;
}

static bool is_other_file(lanebloom_status status, const char *problem)
{
  return status == LANEBLOOM_ERR_FORMAT && strstr(problem, "not a lanebloom container");
}

bool explain_no_filter(const char *path, lanebloom_status status, char *problem, size_t size)
{
  const size_t n = status == LANEBLOOM_ERR_IO ? strlen(problem) : 0;
  if (n > 0)
    snprintf(problem + n, size - n, "%s", directory_advice(errno));
  return is_other_file(status, problem) &&
         explain_other_kind(path, "a lanebloom container", problem, size);
}

lanebloom_filter *load_filter(const char *path, const struct filter_source *source)
{
  const char *file = is_standard_input(path) ? "/dev/stdin" : path;
  lanebloom_filter *filter;
  lanebloom_status status;
  char problem[256];
  if (is_standard_output(path)) {
    complain(input_name(path), "%s", also_output_text);
    return NULL;
  }
  if (source->raw && is_gzip_filter(file, source->format))
    status = load_gzip_filter(file, source->format, &filter, problem, sizeof problem);
  else if (source->raw)
    status =
        lanebloom_filter_load_raw(source->format, file, NULL, &filter, problem, sizeof problem);
  else
    status = lanebloom_filter_load(file, &filter, problem, sizeof problem);
  const bool is_other = is_other_file(status, problem);
  if (is_other && complain_of_order("screen", path, problem, source->inputs, source->ninputs))
    return NULL;
  const bool is_explained = explain_no_filter(path, status, problem, sizeof problem);
  const char *hint = "";
  if (status == LANEBLOOM_ERR_FORMAT && source->raw && strstr(problem, "container"))
    hint = "; leave out --raw";
  else if (status == LANEBLOOM_ERR_FORMAT && source->raw && strstr(problem, "rocksdb"))
    hint = "; --format rocksdb opens the format that the bytes name";
  else if (is_other && !is_explained)
    hint =
        "; `lanebloom match' takes a file of keys itself, `lanebloom build' makes a filter of it, "
        "--raw --format NAME reads an engine's bare bytes, `screen --db' queries a database, and "
        "`screen --parquet' Parquet files";
  if (status != LANEBLOOM_OK)
    complain(input_name(path), "%s%s", problem, hint);
  return filter;
}

struct target check_target(const char *path)
{
  const bool is_stdout = strcmp(path, "-") == 0;
  const struct target target = {.name = is_stdout ? "(standard output)" : path,
                                .path = is_stdout ? "/dev/stdout" : path};
  const lanebloom_status status = lanebloom_filter_save_check(target.path);
  if (status != LANEBLOOM_OK)
    die(target.name, "%s", status_text(status));
  return target;
}

/* Would saving replace a file that is not empty? If so, stores the path of that file in `path`.
 * Returns false for descriptors and for files that are not regular: saving writes into them and
 * does not replace them. */
static bool replaces_file(const struct target *target, char path[FOLLOW_NBYTES])
{
  struct system_info found;
  return lanebloom_follow(target->path, path) == FOLLOW_PATH &&
         lanebloom_system_info(path, &found) && found.kind == SYSTEM_FILE && found.nbytes > 0;
}

void check_is_filter(const struct target *target)
{
  char path[FOLLOW_NBYTES];
  if (replaces_file(target, path) && !begins_as_container(path))
    die(target->name, "expected a new file, or a container to replace, found another file; name "
                      "another one by -o, or replace this one by --force");
}

/* Describing a filter counts all its bits, which takes 1.5 s for 1 GB. So this first looks at all
 * bytes except the first 48 and the last 48, because they hold only bits of keys. If one of them is
 * not zero, the filter has keys. Otherwise the description decides. */
bool has_no_keys(const lanebloom_filter *filter)
{
  enum { EDGE_NBYTES = 48 };
  lanebloom_filter_info info;
  size_t nbytes;
  const char *bytes = lanebloom_filter_bytes(filter, &nbytes);
  if (nbytes > 2 * EDGE_NBYTES &&
      (bytes[EDGE_NBYTES] != 0 ||
       memcmp(bytes + EDGE_NBYTES, bytes + EDGE_NBYTES + 1, nbytes - 2 * EDGE_NBYTES - 1) != 0))
    return false;
  lanebloom_filter_describe(filter, &info, sizeof info);
  return info.nbits_set == 0 && info.model_rate == 0;
}

/* A file that cannot be loaded as a filter, for example because it is damaged, counts as a filter
 * that may have keys. */
void check_keeps_keys(const struct target *target, const lanebloom_filter *filter, bool raw)
{
  char path[FOLLOW_NBYTES];
  lanebloom_filter *found = NULL;
  if (!has_no_keys(filter) || !replaces_file(target, path))
    return;
  const lanebloom_status status =
      raw ? lanebloom_filter_load_raw(lanebloom_filter_format(filter), path, NULL, &found, NULL, 0)
          : lanebloom_filter_load(path, &found, NULL, 0);
  const bool may_have_keys = status != LANEBLOOM_OK || !has_no_keys(found);
  lanebloom_filter_free(found);
  if (may_have_keys)
    die(target->name, "expected keys, found none: this file may have some, and was not changed; to "
                      "replace it by a filter without keys, give --force");
}

bool save_filter(const lanebloom_filter *filter, const struct target *target, bool raw)
{
  const lanebloom_status status =
      (raw ? lanebloom_filter_save_raw : lanebloom_filter_save)(filter, target->path);
  if (status != LANEBLOOM_OK && (status != LANEBLOOM_ERR_IO || errno != EPIPE))
    complain(target->name, "%s", status_text(status));
  return status == LANEBLOOM_OK;
}

const char *status_text(lanebloom_status status)
{
  return status == LANEBLOOM_ERR_IO ? strerror(errno) : lanebloom_status_text(status);
}
