// Makes LevelDB's filter policy a peer, with which lanebloom is compared.
// SPDX-License-Identifier: MIT
#include <memory>
#include <string>
#include <vector>

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include "peers.h"

// This declaration is from LevelDB 1.23 util/hash.h, which is not installed. Only the static
// library has the function.
namespace leveldb
{
uint32_t Hash(const char *data, size_t n, uint32_t seed);
}

using policy = std::unique_ptr<const leveldb::FilterPolicy>;

static leveldb::Slice slice_of(const uint64_t &key)
{
  return leveldb::Slice(reinterpret_cast<const char *>(&key), sizeof key);
}

struct reader {
  policy engine;
  leveldb::Slice filter;
};

static void *open_reader(const void *bytes, size_t size)
{
  // The 10 bits per key do not matter: a reader uses the number of probes that the filter states.
  return new reader{policy(leveldb::NewBloomFilterPolicy(10)),
                    leveldb::Slice(static_cast<const char *>(bytes), size)};
}

static size_t screen(void *opened, const void *keys, size_t width, size_t n)
{
  const reader *from = static_cast<const reader *>(opened);
  const char *bytes = static_cast<const char *>(keys);
  size_t count = 0;
  for (size_t i = 0; i < n; i++)
    count += from->engine->KeyMayMatch(leveldb::Slice(bytes + i * width, width), from->filter);
  return count;
}

static void close_reader(void *opened)
{
  delete static_cast<reader *>(opened);
}

struct writer {
  policy engine;
  std::vector<leveldb::Slice> keys;
  std::string filter;
};

static void *open_writer(double bits_per_key, const uint64_t *keys, size_t n)
{
  writer *made =
      new writer{policy(leveldb::NewBloomFilterPolicy(static_cast<int>(bits_per_key))), {}, {}};
  made->keys.reserve(n);
  for (size_t i = 0; i < n; i++)
    made->keys.push_back(slice_of(keys[i]));
  return made;
}

static size_t build(void *opened, const void **bytes)
{
  writer *with = static_cast<writer *>(opened);
  with->filter = std::string(); // free the last filter in the timed part, as in all other rows
  with->engine->CreateFilter(with->keys.data(), static_cast<int>(with->keys.size()), &with->filter);
  *bytes = with->filter.data();
  return with->filter.size();
}

static void close_writer(void *opened)
{
  delete static_cast<writer *>(opened);
}

static void hash(const uint8_t *data, const uint32_t *offsets, size_t n, void *hashes)
{
  const uint32_t seed = 0xbc9f1d34; // LevelDB 1.23 util/bloom.cc
  for (size_t i = 0; i < n; i++)
    static_cast<uint32_t *>(hashes)[i] = leveldb::Hash(
        reinterpret_cast<const char *>(data) + offsets[i], offsets[i + 1] - offsets[i], seed);
}

const bench_peer bench_leveldb_peers[] = {
    {"leveldb", LANEBLOOM_LEVELDB, 1, open_reader, screen, close_reader, open_writer, build,
     close_writer, hash},
    {},
};

const char *bench_leveldb_version(void)
{
  static const std::string version =
      std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion);
  return version.c_str();
}
