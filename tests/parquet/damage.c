/* Damaged files: 400 mutants of each frozen file. Either the file is refused, or every query has an
 * answer. No byte outside the file is read, and the file's size limits the memory. Pages are never
 * read, so damage to them has no effect.
 * SPDX-License-Identifier: MIT */
#include <malloc.h>

#include "writer.h"

enum {
  NMUTANTS = 400,
  MAX_NCOLUMNS = 30,
  /* The most bytes of live memory for each byte of the file. A column of the schema takes at least
   * 6 bytes in the file, but sizeof(struct column) in memory, and lists grow by doubling. */
  MAX_GROWTH = 100,
  MIN_NBYTES = 1 << 18
};

/* ---- Counted memory ---- */

static size_t nlive, npeak;

void *__real_malloc(size_t nbytes);
void *__real_calloc(size_t n, size_t nbytes);
void *__real_realloc(void *memory, size_t nbytes);
void *__real_aligned_alloc(size_t alignment, size_t nbytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t nbytes);
void *__wrap_calloc(size_t n, size_t nbytes);
void *__wrap_realloc(void *memory, size_t nbytes);
void *__wrap_aligned_alloc(size_t alignment, size_t nbytes);
void __wrap_free(void *memory);

static void *counted(void *memory)
{
  nlive += memory ? malloc_usable_size(memory) : 0;
  npeak = nlive > npeak ? nlive : npeak;
  return memory;
}

void *__wrap_malloc(size_t nbytes)
{
  return counted(__real_malloc(nbytes));
}

void *__wrap_calloc(size_t n, size_t nbytes)
{
  return counted(__real_calloc(n, nbytes));
}

void *__wrap_realloc(void *memory, size_t nbytes)
{
  nlive -= memory ? malloc_usable_size(memory) : 0;
  return counted(__real_realloc(memory, nbytes));
}

void *__wrap_aligned_alloc(size_t alignment, size_t nbytes)
{
  return counted(__real_aligned_alloc(alignment, nbytes));
}

void __wrap_free(void *memory)
{
  nlive -= memory ? malloc_usable_size(memory) : 0;
  __real_free(memory);
}

/* ---- Files and their columns ---- */

static struct original {
  char name[100];
  uint8_t *bytes;
  size_t nbytes;
  uint64_t footer_offset;
  size_t ncolumns;
  struct frozen_column columns[MAX_NCOLUMNS];
} original;

static struct tally {
  size_t nmutants, nrefused, nscreens, nrefused_screens, nlost;
} tally;

static struct rng rng;

/* Returns an offset in the pages of some chunk, or SIZE_MAX if the file has no pages. */
static size_t draw_page_byte(void)
{
  lanebloom_parquet *file;
  lanebloom_parquet_info info;
  lanebloom_parquet_chunk_info chunk;
  size_t at = SIZE_MAX;
  cr_assert(!lanebloom_parquet_parse(original.bytes, original.nbytes, LANEBLOOM_PARQUET_BOUNDS_ALL,
                                     &file, NULL, 0));
  lanebloom_parquet_describe(file, &info, sizeof info);
  if (info.nrow_groups > 0) {
    lanebloom_parquet_describe_chunk(file, rng_below(&rng, info.nrow_groups),
                                     rng_below(&rng, info.ncolumns), &chunk, sizeof chunk);
    if (chunk.nbytes > 0)
      at = chunk.offset + rng_below(&rng, chunk.nbytes);
  }
  lanebloom_parquet_free(file);
  return at;
}

enum { FOOTER, BEHIND_PAGES, PAGES, CUT, HOLE, NWAYS };

/* Damages a copy in one way, and sets its new size. Returns false if this way does not apply. */
static bool damage(uint8_t *bytes, size_t *nbytes, unsigned way)
{
  const size_t n = *nbytes, footer = original.footer_offset;
  const size_t at = rng_below(&rng, n);
  switch (way) {
  case CUT:
    *nbytes = at;
    return true;
  case HOLE: { /* so that offsets point to other data */
    const size_t hole = 1 + rng_below(&rng, n - at);
    memmove(bytes + at, bytes + at + hole, n - at - hole);
    *nbytes = n - hole;
    return true;
  }
  default:
    break;
  }
  for (size_t i = 1 + rng_below(&rng, 4); i > 0; i--) {
    const size_t offset = way == FOOTER         ? footer + rng_below(&rng, n - footer)
                          : way == BEHIND_PAGES ? footer - 1 - rng_below(&rng, footer / 3)
                                                : draw_page_byte();
    if (offset == SIZE_MAX)
      return false;
    if (rng_below(&rng, 2))
      bytes[offset] ^= (uint8_t)(1u << rng_below(&rng, 8));
    else
      bytes[offset] = (uint8_t)rng_next(&rng);
  }
  return true;
}

/* ---- Queries ---- */

static void check_answers(const struct frozen_column *frozen, size_t row_group,
                          const uint8_t *bitmap, unsigned way)
{
  for (size_t i = 0; i < frozen->n; i++) {
    const bool may = has_bit(bitmap, i);
    tally.nlost += has_bit(frozen->has[row_group], i) && !may;
    if (way == PAGES && may != has_bit(frozen->may_have[row_group], i))
      test_fatal("%s: key %zu: pages matter", frozen->path, i);
  }
}

static void screen_column(const lanebloom_parquet *file, const struct frozen_column *frozen,
                          size_t nrow_groups, unsigned way)
{
  size_t column, nmaybe;
  char problem[PROBLEM_NBYTES] = "";
  uint8_t bitmap[BITMAP_NBYTES];
  const lanebloom_keys keys = lanebloom_keys_slices(frozen->keys, frozen->n);
  lanebloom_parquet_keys *prepared;
  if (lanebloom_parquet_find(file, frozen->path, &column, problem, sizeof problem)) {
    cr_assert(*problem && way != PAGES);
    return;
  }
  if (lanebloom_parquet_keys_create(file, column, frozen->encoding, &keys, &prepared, NULL, problem,
                                    sizeof problem)) {
    cr_assert(*problem && way != PAGES, "%s", problem);
    return;
  }
  for (size_t i = 0; i < nrow_groups; i++) {
    memset(bitmap, 0, sizeof bitmap);
    const lanebloom_status status = lanebloom_parquet_screen(file, i, column, prepared, bitmap,
                                                             &nmaybe, problem, sizeof problem);
    tally.nscreens++;
    tally.nrefused_screens += status != LANEBLOOM_OK;
    cr_assert(nmaybe == count_set_bits(bitmap, sizeof bitmap) && !status == !*problem);
    cr_assert(!status || status == LANEBLOOM_ERR_FORMAT || nmaybe == frozen->n);
    if (i < frozen->ngroups)
      check_answers(frozen, i, bitmap, way);
  }
  lanebloom_parquet_keys_free(prepared);
}

/* Calls everything that describes the file, whether its contents make sense or not. */
static void describe_all(const lanebloom_parquet *file, const lanebloom_parquet_info *info)
{
  uint64_t sum = strlen(info->created_by);
  for (size_t column = 0; column < info->ncolumns; column++) {
    lanebloom_parquet_column_info type;
    lanebloom_parquet_describe_column(file, column, &type, sizeof type);
    sum += strlen(type.path) + strlen(type.type);
    for (size_t i = 0; i < info->nrow_groups; i++) {
      lanebloom_parquet_chunk_info chunk;
      lanebloom_filter *filter;
      lanebloom_parquet_describe_chunk(file, i, column, &chunk, sizeof chunk);
      sum += chunk.has_min && chunk.min.size > 0 ? *(const uint8_t *)chunk.min.data : 0;
      if (!lanebloom_parquet_load_filter(file, i, column, &filter, NULL, 0))
        sum += lanebloom_filter_may_contain(filter, "key", 3);
      lanebloom_filter_free(filter);
    }
  }
  cr_assert(sum < UINT64_MAX);
}

static void try_mutant(const struct guarded *mutant, unsigned way)
{
  lanebloom_parquet *file = NULL;
  char problem[PROBLEM_NBYTES] = "";
  const size_t before = nlive;
  npeak = nlive;
  const lanebloom_status status = lanebloom_parquet_parse(
      mutant->bytes, mutant->nbytes, LANEBLOOM_PARQUET_BOUNDS_ALL, &file, problem, sizeof problem);
  tally.nmutants++;
  tally.nrefused += status != LANEBLOOM_OK;
  cr_assert(!status == !*problem && !status == (file != NULL));
  cr_assert(status == LANEBLOOM_OK || status == LANEBLOOM_ERR_FORMAT ||
                status == LANEBLOOM_ERR_CORRUPT || status == LANEBLOOM_ERR_LIMIT,
            "%d: %s", status, problem);
  if (!status) {
    lanebloom_parquet_info info;
    lanebloom_parquet_describe(file, &info, sizeof info);
    describe_all(file, &info);
    for (size_t i = 0; i < original.ncolumns; i++)
      screen_column(file, &original.columns[i], info.nrow_groups, way);
  } else {
    cr_assert(way != PAGES, "%s", problem);
  }
  lanebloom_parquet_free(file);
  cr_assert(nlive == before, "%zu bytes are left", nlive - before);
  cr_assert(npeak - before <= MIN_NBYTES + MAX_GROWTH * mutant->nbytes, "%zu bytes for %zu",
            npeak - before, mutant->nbytes);
}

static void try_original(void)
{
  original.bytes = frozen_bytes(original.name, &original.nbytes);
  lanebloom_parquet *file;
  lanebloom_parquet_info info;
  cr_assert(!lanebloom_parquet_parse(original.bytes, original.nbytes, LANEBLOOM_PARQUET_BOUNDS_ALL,
                                     &file, NULL, 0));
  lanebloom_parquet_describe(file, &info, sizeof info);
  original.footer_offset = original.nbytes - 8 - info.footer_nbytes;
  lanebloom_parquet_free(file);
  uint8_t *copy = test_alloc(original.nbytes);
  for (unsigned i = 0; i < NMUTANTS; i++) {
    const unsigned way = i % NWAYS;
    size_t nbytes = original.nbytes;
    memcpy(copy, original.bytes, nbytes);
    if (!damage(copy, &nbytes, way))
      continue;
    test_context("%s, mutant %u", original.name, i);
    struct guarded mutant = guarded_copy(copy, nbytes, AT_END);
    guarded_freeze(&mutant);
    try_mutant(&mutant, way);
    guarded_free(&mutant);
  }
  free(copy);
  free(original.bytes);
  original.ncolumns = 0;
}

/* Collects the columns of one file. When a column of the next file comes, tries the file
 * before it. */
static void collect(const struct frozen_column *column, void *context)
{
  (void)context;
  if (original.ncolumns > 0 && strcmp(column->file, original.name) != 0)
    try_original();
  snprintf(original.name, sizeof original.name, "%s", column->file);
  cr_assert(original.ncolumns < MAX_NCOLUMNS);
  struct frozen_column *copy = &original.columns[original.ncolumns++];
  *copy = *column;
  for (size_t i = 0; i < copy->n; i++)
    copy->keys[i].data = copy->bytes + ((const uint8_t *)column->keys[i].data - column->bytes);
}

Test(parquet, damage)
{
  rng = rng_start(3);
  visit_frozen(collect, NULL);
  try_original();
  printf("# %zu mutants, %zu refused; %zu screens, %zu refused; %zu keys lost to damaged filters "
         "and bounds\n",
         tally.nmutants, tally.nrefused, tally.nscreens, tally.nrefused_screens, tally.nlost);
  cr_assert(tally.nmutants > 3000 && tally.nrefused > 500);
  cr_assert(tally.nscreens > 20000 && tally.nrefused_screens > 100);
}
