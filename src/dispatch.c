/* The one list of kernel tables, and the choice among them.
 * SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

static const struct kernel_table *const tables[] = {
#if defined(LANEBLOOM_WITH_AVX512)
    &lanebloom_kernels_avx512,
#endif
#if defined(LANEBLOOM_WITH_AVX2)
    &lanebloom_kernels_avx2, /* by gathers */
    &lanebloom_kernels_avx2_loads,
#endif
#if defined(LANEBLOOM_WITH_NEON)
    &lanebloom_kernels_neon,
#endif
    &lanebloom_kernels_scalar,
};
enum { NTABLES = sizeof tables / sizeof *tables };

/* The choice is one pointer to a constant table. Relaxed order is enough: the tables were there
 * before any thread was. */
typedef _Atomic(const struct kernel_table *) kernel_choice;

static const struct kernel_table refused; /* what the environment asks for cannot run here */
static kernel_choice default_table;       /* NULL: not asked yet */
static kernel_choice active_table;        /* NULL: the default */

/* Is table i better than table j? Of equal scores the one that is listed first. */
static bool better(size_t i, size_t j)
{
  const unsigned a = tables[i]->score(), b = tables[j]->score();
  return a > b || (a == b && i < j);
}

static bool usable(size_t i)
{
  return tables[i]->score() > 0;
}

/* The usable table that exactly `rank` usable ones are better than; NULL if there are not as
 * many. */
static const struct kernel_table *by_rank(size_t rank)
{
  for (size_t i = 0; i < NTABLES; i++) {
    if (!usable(i))
      continue;
    size_t nbetter = 0;
    for (size_t j = 0; j < NTABLES; j++)
      nbetter += usable(j) && better(j, i);
    if (nbetter == rank)
      return tables[i];
  }
  return NULL;
}

static const struct kernel_table *by_name(const char *name)
{
  for (size_t i = 0; i < NTABLES; i++)
    if (strcmp(tables[i]->name, name) == 0 && usable(i))
      return tables[i];
  return NULL;
}

/* Puts `value` where nothing is yet; returns what is there then. Of threads that come at once, one
 * decides for all. */
static const struct kernel_table *settle(kernel_choice *choice, const struct kernel_table *value)
{
  const struct kernel_table *found = NULL;
  return atomic_compare_exchange_strong(choice, &found, value) ? value : found;
}

static const struct kernel_table *the_default(void)
{
  const struct kernel_table *table = atomic_load_explicit(&default_table, memory_order_relaxed);
  if (table)
    return table;
  const char *name = secure_getenv("LANEBLOOM_KERNEL");
  table = name && *name ? by_name(name) : by_rank(0);
  return settle(&default_table, table ? table : &refused);
}

const struct kernel_table *lanebloom_kernels_current(void)
{
  const struct kernel_table *table = atomic_load_explicit(&active_table, memory_order_relaxed);
  if (!table)
    table = the_default();
  return table == &refused ? NULL : table;
}

size_t lanebloom_kernel_count(void)
{
  size_t n = 0;
  for (size_t i = 0; i < NTABLES; i++)
    n += usable(i);
  return n;
}

const char *lanebloom_kernel_name(size_t i)
{
  const struct kernel_table *table = by_rank(i);
  return table ? table->name : NULL;
}

const char *lanebloom_kernel_active(void)
{
  const struct kernel_table *table = lanebloom_kernels_current();
  return table ? table->name : NULL;
}

lanebloom_status lanebloom_kernel_use(const char *name)
{
  const struct kernel_table *table = name ? by_name(name) : the_default();
  if (!table || table == &refused)
    return LANEBLOOM_ERR_KERNEL;
  atomic_store_explicit(&active_table, table, memory_order_relaxed);
  return LANEBLOOM_OK;
}
