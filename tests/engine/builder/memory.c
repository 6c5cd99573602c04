/* Builders that get too little memory, and the memory that builders request.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "builder.h"
#include "filter.h"

/* LevelDB counts bits in a 64-bit number. A size that would wrap around is refused because of this
 * limit. A smaller size that exceeds the memory fails for lack of memory. */
Test(builder, sizes_that_wrap_and_sizes_that_are_not_to_be_had)
{
  lanebloom_builder *builder = (void *)1;
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 10, UINT64_MAX / 10 + 1, &builder) ==
            LANEBLOOM_ERR_LIMIT);
  cr_assert(!builder);
  builder = (void *)1;
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 10, (uint64_t)1e18, &builder) ==
            LANEBLOOM_ERR_MEMORY);
  cr_assert(!builder);
  const lanebloom_keys many =
      lanebloom_keys_fixed("", 0, SIZE_MAX); /* no memory can hold their hashes */
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 10, 0, &builder) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_add(builder, &many) == LANEBLOOM_ERR_MEMORY);
  lanebloom_builder_free(builder);
}

static uint64_t asked_nbytes; /* the size of the last request */
bool refuses_memory;

struct memory __real_lanebloom_memory_create(uint64_t nbytes);
struct memory __wrap_lanebloom_memory_create(uint64_t nbytes);
struct memory __wrap_lanebloom_memory_create(uint64_t nbytes)
{
  asked_nbytes = nbytes;
  return refuses_memory ? (struct memory){0} : __real_lanebloom_memory_create(nbytes);
}

/* To add a large batch to a large LevelDB filter, a builder requests scratch memory, up to half as
 * much as the filter takes, but can do without it. It requests none for small batches, small
 * filters or kernels that do not use it. */
Test(builder, memory_besides)
{
  const bool uses_memory = lanebloom_kernels_current()->layout[LAYOUT_LEVELDB].scratch_nbytes;
  enum { MIB = 1 << 20, EXPECTED = 24 * MIB * 8 / 10, MANY = 2500000, FEW = 1000 };
  uint64_t *data = malloc(MANY * sizeof *data);
  cr_assert(data);
  for (uint64_t i = 0; i < MANY; i++)
    data[i] = i * 0x9e3779b97f4a7c15;
  const lanebloom_keys keys = lanebloom_keys_fixed(data, 8, MANY);

  lanebloom_builder *given = create(10, EXPECTED), *refused = create(10, EXPECTED);
  asked_nbytes = 0;
  add(given, &keys, 0, FEW);
  cr_assert(asked_nbytes == 0, "%llu bytes for few keys", (unsigned long long)asked_nbytes);
  add(given, &keys, FEW, MANY - FEW);
  cr_assert(uses_memory ? asked_nbytes > 6 * MIB && asked_nbytes <= 12 * MIB + 64 * 1024
                        : asked_nbytes == 0,
            "%llu bytes", (unsigned long long)asked_nbytes);

  asked_nbytes = 0;
  refuses_memory = true;
  add(refused, &keys, 0, MANY);
  refuses_memory = false;
  cr_assert(uses_memory ? asked_nbytes > 6 * MIB : asked_nbytes == 0, "%llu bytes",
            (unsigned long long)asked_nbytes);
  assert_equal_and_close(finish(refused), finish(given), "without memory besides");
  lanebloom_builder_free(given);
  lanebloom_builder_free(refused);

  given = create(10, EXPECTED / 2); /* 12 MiB */
  asked_nbytes = 0;
  add(given, &keys, 0, MANY);
  cr_assert(asked_nbytes == 0, "%llu bytes for a small filter", (unsigned long long)asked_nbytes);
  lanebloom_builder_free(given);
  free(data);
}

/* No memory can hold the hashes of this many keys, so the keys are not even counted. */
Test(builder, many_keys_of_no_bytes)
{
  const lanebloom_keys keys = lanebloom_keys_fixed("", 0, SIZE_MAX);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_build(LANEBLOOM_ROCKSDB_LOCAL, 10, &keys, &filter) ==
            LANEBLOOM_ERR_MEMORY);
}
