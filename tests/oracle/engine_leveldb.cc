// The real LevelDB, for tests in C. Link libleveldb.a, because the shared library hides
// leveldb::Hash.
// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include "engine_leveldb.h"

namespace leveldb
{
uint32_t Hash(const char *data, size_t n, uint32_t seed); // util/hash.h, which is not installed
}

static leveldb::Slice slice_of(const void *data, size_t size)
{
  return size > 0 ? leveldb::Slice(static_cast<const char *>(data), size) : leveldb::Slice();
}

uint32_t oracle_leveldb_hash(const void *key, size_t size)
{
  const leveldb::Slice slice = slice_of(key, size);
  return leveldb::Hash(slice.data(), slice.size(), 0xbc9f1d34);
}

uint8_t *oracle_leveldb_create(int bits_per_key, const lanebloom_slice *keys, size_t n,
                               size_t *size)
{
  const std::unique_ptr<const leveldb::FilterPolicy> policy(
      leveldb::NewBloomFilterPolicy(bits_per_key));
  std::vector<leveldb::Slice> slices;
  for (size_t i = 0; i < n; i++)
    slices.push_back(slice_of(keys[i].data, keys[i].size));
  std::string filter;
  policy->CreateFilter(slices.data(), static_cast<int>(n), &filter);
  *size = filter.size();
  void *bytes = std::malloc(filter.size());
  return static_cast<uint8_t *>(std::memcpy(bytes, filter.data(), filter.size()));
}

bool oracle_leveldb_may_match(const void *bytes, size_t size, const void *key, size_t key_size)
{
  static const leveldb::FilterPolicy *const policy =
      leveldb::NewBloomFilterPolicy(10); // readers ignore the number of bits
  return policy->KeyMayMatch(slice_of(key, key_size), slice_of(bytes, size));
}
