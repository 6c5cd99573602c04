/* Stores the named filters of one database of DuckDB. They are freed with the database.
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "extension.h"

struct instance {
  bool is_locked;
  pthread_rwlock_t lock;     /* protects the list of filters */
  struct named_filter **all; /* ordered by name */
  size_t n;
  _Atomic size_t nusers; /* the SQL functions that share the instance */
};

/* ---- One filter ---- */

void named_filter_release(struct named_filter *filter)
{
  if (!filter || atomic_fetch_sub(&filter->nusers, 1) > 1)
    return;
  lanebloom_filter_free(filter->filter);
  free(filter->blob);
  free(filter->path);
  free(filter->name);
  free(filter);
}

static struct named_filter *make(const char *name)
{
  struct named_filter *made = calloc(1, sizeof *made);
  if (!made)
    return NULL;
  made->nusers = 1;
  made->name = strdup(name);
  if (made->name)
    return made;
  named_filter_release(made);
  return NULL;
}

/* ---- All filters ---- */

struct instance *instance_create(bool is_locked)
{
  struct instance *instance = calloc(1, sizeof *instance);
  if (!instance)
    return NULL;
  if (pthread_rwlock_init(&instance->lock, NULL) != 0) {
    free(instance);
    return NULL;
  }
  instance->is_locked = is_locked;
  instance->nusers = 1;
  return instance;
}

struct instance *instance_share(struct instance *instance)
{
  atomic_fetch_add(&instance->nusers, 1);
  return instance;
}

void instance_release(void *shared)
{
  struct instance *instance = shared;
  if (atomic_fetch_sub(&instance->nusers, 1) > 1)
    return;
  for (size_t i = 0; i < instance->n; i++)
    named_filter_release(instance->all[i]);
  pthread_rwlock_destroy(&instance->lock);
  free(instance->all);
  free(instance);
}

bool instance_is_locked(const struct instance *instance)
{
  return instance->is_locked;
}

static int compare(lanebloom_slice name, const struct named_filter *filter)
{
  const size_t size = strlen(filter->name);
  const int order = memcmp(name.data, filter->name, name.size < size ? name.size : size);
  return order ? order : (name.size > size) - (name.size < size);
}

/* Finds a filter by its name. *at becomes its position in the list. If there is no such filter,
 * returns false, and *at becomes the position at which it would be inserted. */
static bool find(const struct instance *instance, lanebloom_slice name, size_t *at)
{
  size_t first = 0, last = instance->n;
  while (first < last) {
    const size_t middle = first + (last - first) / 2;
    const int order = compare(name, instance->all[middle]);
    if (order == 0) {
      *at = middle;
      return true;
    }
    if (order < 0)
      last = middle;
    else
      first = middle + 1;
  }
  *at = first;
  return false;
}

/* Adds a filter, or replaces the filter that has the same name. If `added` is not NULL, *added
 * becomes the new filter, which the caller releases. Returns false if memory runs out. */
static bool add(struct instance *instance, struct named_filter *filter, struct named_filter **added)
{
  size_t at;
  struct named_filter *before = NULL;
  pthread_rwlock_wrlock(&instance->lock);
  bool is_done = find(instance, (lanebloom_slice){filter->name, strlen(filter->name)}, &at);
  if (is_done) {
    before = instance->all[at];
    instance->all[at] = filter;
  } else {
    struct named_filter **all = realloc(instance->all, (instance->n + 1) * sizeof *all);
    if (all) {
      memmove(all + at + 1, all + at, (instance->n - at) * sizeof *all);
      all[at] = filter;
      instance->all = all;
      instance->n++;
      is_done = true;
    }
  }
  if (is_done && added) {
    atomic_fetch_add(&filter->nusers, 1);
    *added = filter;
  }
  pthread_rwlock_unlock(&instance->lock);
  named_filter_release(before);
  return is_done;
}

lanebloom_status instance_add_file(struct instance *instance, const char *name, const char *path,
                                   struct named_filter **added, problem_text problem)
{
  *problem = 0;
  struct named_filter *filter = make(name);
  lanebloom_status status = filter ? LANEBLOOM_OK : LANEBLOOM_ERR_MEMORY;
  if (!status)
    status = lanebloom_filter_map(path, &filter->filter, problem, PROBLEM_NBYTES);
  if (!status && !(filter->path = strdup(path)))
    status = LANEBLOOM_ERR_MEMORY;
  if (!status && !add(instance, filter, added))
    status = LANEBLOOM_ERR_MEMORY;
  if (status)
    named_filter_release(filter);
  return status;
}

lanebloom_status instance_add_blob(struct instance *instance, const char *name,
                                   lanebloom_slice blob, problem_text problem)
{
  *problem = 0;
  struct named_filter *filter = make(name);
  if (!filter || !(filter->blob = malloc(blob.size + 1))) {
    named_filter_release(filter);
    return LANEBLOOM_ERR_MEMORY;
  }
  memcpy(filter->blob, blob.data, blob.size);
  lanebloom_status status =
      lanebloom_filter_parse(filter->blob, blob.size, &filter->filter, problem, PROBLEM_NBYTES);
  if (!status && !add(instance, filter, NULL))
    status = LANEBLOOM_ERR_MEMORY;
  if (status)
    named_filter_release(filter);
  return status;
}

bool instance_remove(struct instance *instance, lanebloom_slice name)
{
  size_t at;
  struct named_filter *before = NULL;
  pthread_rwlock_wrlock(&instance->lock);
  if (find(instance, name, &at)) {
    before = instance->all[at];
    instance->n--;
    memmove(instance->all + at, instance->all + at + 1, (instance->n - at) * sizeof *instance->all);
  }
  pthread_rwlock_unlock(&instance->lock);
  const bool is_found = before;
  named_filter_release(before);
  return is_found;
}

struct named_filter *instance_take(struct instance *instance, lanebloom_slice name)
{
  size_t at;
  struct named_filter *found = NULL;
  pthread_rwlock_rdlock(&instance->lock);
  if (find(instance, name, &at)) {
    found = instance->all[at];
    atomic_fetch_add(&found->nusers, 1);
  }
  pthread_rwlock_unlock(&instance->lock);
  return found;
}

struct named_filter **instance_take_all(struct instance *instance, size_t *n)
{
  pthread_rwlock_rdlock(&instance->lock);
  struct named_filter **all = malloc((instance->n + 1) * sizeof *all);
  *n = all ? instance->n : 0;
  for (size_t i = 0; i < *n; i++) {
    all[i] = instance->all[i];
    atomic_fetch_add(&all[i]->nusers, 1);
  }
  pthread_rwlock_unlock(&instance->lock);
  return all;
}
