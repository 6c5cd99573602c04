/* This header makes lanebloom the filter policy of LevelDB. A filter policy is an object that
 * builds and queries filters. The filters of this policy equal the filters of LevelDB's built-in
 * Bloom policy, byte for byte. The policy is in this header alone. A program that includes the
 * header links lanebloom (pkg-config: lanebloom) and LevelDB. In C, the policy is for LevelDB's C
 * API; in C++, there is a leveldb::FilterPolicy, too:
 *
 *   leveldb_options_set_filter_policy(options, lanebloom_leveldb_filterpolicy_create(10));  // C
 *   options.filter_policy = lanebloom::NewLevelDBFilterPolicy(10);                          // C++
 *
 * Databases   The policy has the name of the built-in one, "leveldb.BuiltinBloomFilter2", and makes
 *             and reads the same filters. So each of the two policies reads what the other wrote,
 *             and you may change from either to the other whenever you open the database. Existing
 *             tables keep their filters.
 * Errors      A policy cannot report an error to LevelDB. Nor can it return an empty filter,
 *             because LevelDB takes an empty filter to hold no keys, and would no longer find the
 *             table's keys. If memory runs out in C, the policy writes a filter of 2 bytes that
 *             every reader takes to hold every key: results stay correct, but lookups in that part
 *             of the table read the data. If not even 2 bytes can be allocated, the policy calls
 *             abort(). In C++ it throws std::bad_alloc, as the built-in policy does.
 * Threads     A policy never changes. LevelDB calls it from several threads at once, and several
 *             databases may share one policy. The policy must outlive the databases.
 * Cost        LevelDB builds one filter for each 2 KiB of data blocks, so a filter has few keys:
 *             about 34 if a key and its value have 116 bytes together. The policy builds such
 *             filters faster than the built-in policy does. For filters of 16 keys or fewer it is
 *             no faster. docs/database-files.md has the figures. Building uses at most 90 KiB of
 *             stack.
 * Comparators As with the built-in policy, keys that the comparator treats as equal must have equal
 *             bytes.
 * Source      LevelDB 1.23 util/bloom.cc, table/filter_block.cc, db/c.cc.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LEVELDB_H
#define LANEBLOOM_LEVELDB_H

#include <lanebloom.h>
#include <leveldb/c.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------
 * Code for both languages. The names that begin with lanebloom_leveldb_impl_ are private.
 * ---------------------------------------------------------------------------------------------- */

#define LANEBLOOM_LEVELDB_POLICY_NAME "leveldb.BuiltinBloomFilter2"

/* If there are at most this many keys, their slices are collected on the stack, without an
 * allocation. */
enum { LANEBLOOM_LEVELDB_IMPL_FEW = 256 };

/* The size of a filter that every reader takes to hold every key. The last byte of this filter
 * names 31 probes. LevelDB never writes more than 30, and its reader takes a filter with more
 * probes to hold every key. */
enum { LANEBLOOM_LEVELDB_IMPL_EVERY_KEY_SIZE = 2 };
static const char lanebloom_leveldb_impl_every_key[LANEBLOOM_LEVELDB_IMPL_EVERY_KEY_SIZE] = {0, 31};

/* A filter is first built in a buffer of this many bytes on the stack. If it fits, it is copied
 * from there. */
enum { LANEBLOOM_LEVELDB_IMPL_SMALL = 1024 };

/* Returns true if filters with this number of bits per key can be built. */
static inline bool lanebloom_leveldb_impl_builds(int bits_per_key)
{
  uint64_t size;
  uint32_t nprobes;
  return lanebloom_plan_size(LANEBLOOM_LEVELDB, bits_per_key, 1, &size, &nprobes) == LANEBLOOM_OK;
}

/* Builds the filter of n keys in `bytes`, which has room for `room` bytes. Returns false if the
 * filter does not fit or cannot be built. *size becomes the size of the filter, or 0 if it cannot
 * be built. */
static inline bool lanebloom_leveldb_impl_build(int bits_per_key, const lanebloom_slice *slices,
                                                size_t n, char *bytes, size_t room, size_t *size)
{
  const lanebloom_keys keys = lanebloom_keys_slices(slices, n);
  return lanebloom_filter_build_raw(LANEBLOOM_LEVELDB, bits_per_key, &keys, bytes, room, size) ==
         LANEBLOOM_OK;
}

/* -------------------------------------------------------------------------------------------------
 * C
 * ---------------------------------------------------------------------------------------------- */

/* Returns the filter of the keys in n slices, or NULL if it cannot be built. The caller frees it
 * with free(). */
static inline char *lanebloom_leveldb_impl_create(int bits_per_key, const lanebloom_slice *slices,
                                                  size_t n, size_t *size)
{
  char small[LANEBLOOM_LEVELDB_IMPL_SMALL], *filter;
  if (lanebloom_leveldb_impl_build(bits_per_key, slices, n, small, sizeof small, size)) {
    filter = (char *)malloc(*size);
    return filter ? (char *)memcpy(filter, small, *size) : NULL;
  }
  filter = *size > 0 ? (char *)malloc(*size) : NULL;
  if (filter && !lanebloom_leveldb_impl_build(bits_per_key, slices, n, filter, *size, size)) {
    free(filter);
    filter = NULL;
  }
  return filter;
}

static inline char *lanebloom_leveldb_impl_create_filter(void *state, const char *const *keys,
                                                         const size_t *sizes, int n, size_t *size)
{
  const size_t nkeys = n > 0 ? (size_t)n : 0;
  lanebloom_slice few[LANEBLOOM_LEVELDB_IMPL_FEW], *slices = few;
  char *filter = NULL;
  if (nkeys > LANEBLOOM_LEVELDB_IMPL_FEW)
    slices = (lanebloom_slice *)malloc(nkeys * sizeof *slices);
  if (slices) {
    for (size_t i = 0; i < nkeys; i++) {
      slices[i].data = keys[i];
      slices[i].size = sizes[i];
    }
    filter = lanebloom_leveldb_impl_create(*(const int *)state, slices, nkeys, size);
  }
  if (slices != few)
    free(slices);
  if (filter)
    return filter;
  *size = LANEBLOOM_LEVELDB_IMPL_EVERY_KEY_SIZE;
  filter = (char *)malloc(*size);
  if (!filter)
    abort(); /* any other result would lose keys */
  return (char *)memcpy(filter, lanebloom_leveldb_impl_every_key, *size);
}

static inline uint8_t lanebloom_leveldb_impl_key_may_match(void *state, const char *key,
                                                           size_t key_size, const char *filter,
                                                           size_t filter_size)
{
  (void)state;
  return lanebloom_filter_may_contain_raw(LANEBLOOM_LEVELDB, filter, filter_size, key, key_size);
}

static inline const char *lanebloom_leveldb_impl_name(void *state)
{
  (void)state;
  return LANEBLOOM_LEVELDB_POLICY_NAME;
}

/* Returns a policy for leveldb_options_set_filter_policy(). Free it with
 * leveldb_filterpolicy_destroy() after the databases that use it are closed. bits_per_key: 0 or
 * more; 10 lets about 1 % of absent keys pass. The policy also reads filters that the built-in
 * policy made, and filters with other numbers of bits per key. Returns NULL if bits_per_key is
 * negative, memory runs out, or $LANEBLOOM_KERNEL names a kernel that cannot run. Cost:
 * constant. */
static inline leveldb_filterpolicy_t *lanebloom_leveldb_filterpolicy_create(int bits_per_key)
{
  int *state;
  if (!lanebloom_leveldb_impl_builds(bits_per_key))
    return NULL;
  state = (int *)malloc(sizeof *state);
  if (!state)
    return NULL;
  *state = bits_per_key;
  return leveldb_filterpolicy_create(state, free, lanebloom_leveldb_impl_create_filter,
                                     lanebloom_leveldb_impl_key_may_match,
                                     lanebloom_leveldb_impl_name);
}

/* -------------------------------------------------------------------------------------------------
 * C++, from C++11 on
 * ---------------------------------------------------------------------------------------------- */

#ifdef __cplusplus
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <new>
#include <string>
#include <vector>

namespace lanebloom
{
namespace impl
{
/* The policy that NewLevelDBFilterPolicy() makes. */
class LevelDBFilterPolicy : public leveldb::FilterPolicy
{
public:
  explicit LevelDBFilterPolicy(int bits_per_key) : bits_per_key_(bits_per_key)
  {
  }

  const char *Name() const override
  {
    return LANEBLOOM_LEVELDB_POLICY_NAME;
  }

  void CreateFilter(const leveldb::Slice *keys, int n, std::string *to) const override
  {
    const size_t nkeys = n > 0 ? static_cast<size_t>(n) : 0;
    lanebloom_slice few[LANEBLOOM_LEVELDB_IMPL_FEW], *slices = few;
    std::vector<lanebloom_slice> many;
    if (nkeys > LANEBLOOM_LEVELDB_IMPL_FEW) {
      many.resize(nkeys);
      slices = many.data();
    }
    for (size_t i = 0; i < nkeys; i++) {
      slices[i].data = keys[i].data();
      slices[i].size = keys[i].size();
    }
    char small[LANEBLOOM_LEVELDB_IMPL_SMALL];
    size_t size;
    if (lanebloom_leveldb_impl_build(bits_per_key_, slices, nkeys, small, sizeof small, &size)) {
      to->append(small, size);
      return;
    }
    const size_t begin = to->size();
    to->resize(begin + size);
    if (size == 0 ||
        !lanebloom_leveldb_impl_build(bits_per_key_, slices, nkeys, &(*to)[begin], size, &size)) {
      to->resize(begin);
      to->append(lanebloom_leveldb_impl_every_key, LANEBLOOM_LEVELDB_IMPL_EVERY_KEY_SIZE);
    }
  }

  bool KeyMayMatch(const leveldb::Slice &key, const leveldb::Slice &filter) const override
  {
    return lanebloom_filter_may_contain_raw(LANEBLOOM_LEVELDB, filter.data(), filter.size(),
                                            key.data(), key.size());
  }

private:
  const int bits_per_key_;
};
} // namespace impl

/* Like leveldb::NewBloomFilterPolicy(): returns a policy for leveldb::Options. Delete the policy
 * after the databases that use it are closed. bits_per_key: as for
 * lanebloom_leveldb_filterpolicy_create(). Returns nullptr when that function would return NULL. */
inline const leveldb::FilterPolicy *NewLevelDBFilterPolicy(int bits_per_key)
{
  if (!lanebloom_leveldb_impl_builds(bits_per_key))
    return nullptr;
  return new (std::nothrow) impl::LevelDBFilterPolicy(bits_per_key);
}
} // namespace lanebloom
#endif

#endif
