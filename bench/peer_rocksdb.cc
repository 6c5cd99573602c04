// Makes RocksDB's filter policy a peer, with which lanebloom is compared. Its two filters,
// FastLocalBloom and the legacy filter, are queried key by key and in batches of 32.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include "peers.h"

// These declarations are from RocksDB 7.8.3 table/block_based/filter_policy_internal.h, which is
// not installed. Only the order of the virtual functions must be the same as there.
namespace rocksdb
{
class FilterBitsBuilder
{
public:
  virtual ~FilterBitsBuilder();
  virtual void AddKey(const Slice &key) = 0;
  virtual size_t EstimateEntriesAdded() = 0;
  virtual Slice Finish(std::unique_ptr<const char[]> *buffer) = 0;
  virtual Slice Finish(std::unique_ptr<const char[]> *buffer, Status *status);
};

class FilterBitsReader
{
public:
  virtual ~FilterBitsReader();
  virtual bool MayMatch(const Slice &key) = 0;
  virtual void MayMatch(int n, Slice **keys, bool *may_match);
};
} // namespace rocksdb

using policy = std::unique_ptr<const rocksdb::FilterPolicy>;

enum : size_t { BATCH_NKEYS = 32 }; // MultiGetContext::MAX_BATCH_SIZE

static rocksdb::Slice slice_of(const uint64_t &key)
{
  return rocksdb::Slice(reinterpret_cast<const char *>(&key), sizeof key);
}

static void *open_reader(const void *bytes, size_t size)
{
  // The 10 bits per key do not matter: a reader uses the parameters that the filter states.
  const policy engine(rocksdb::NewBloomFilterPolicy(10));
  return engine->GetFilterBitsReader(rocksdb::Slice(static_cast<const char *>(bytes), size));
}

static size_t screen(void *opened, const void *keys, size_t width, size_t n)
{
  const char *bytes = static_cast<const char *>(keys);
  rocksdb::FilterBitsReader *from = static_cast<rocksdb::FilterBitsReader *>(opened);
  size_t count = 0;
  for (size_t i = 0; i < n; i++)
    count += from->MayMatch(rocksdb::Slice(bytes + i * width, width));
  return count;
}

static size_t screen_batches(void *opened, const void *keys, size_t width, size_t n)
{
  const char *bytes = static_cast<const char *>(keys);
  rocksdb::FilterBitsReader *from = static_cast<rocksdb::FilterBitsReader *>(opened);
  rocksdb::Slice slices[BATCH_NKEYS], *pointers[BATCH_NKEYS];
  for (size_t i = 0; i < BATCH_NKEYS; i++)
    pointers[i] = &slices[i];
  size_t count = 0;
  for (size_t first = 0; first < n; first += BATCH_NKEYS) {
    const size_t batch = std::min<size_t>(BATCH_NKEYS, n - first);
    bool may_match[BATCH_NKEYS];
    for (size_t i = 0; i < batch; i++)
      slices[i] = rocksdb::Slice(bytes + (first + i) * width, width);
    from->MayMatch(static_cast<int>(batch), pointers, may_match);
    for (size_t i = 0; i < batch; i++)
      count += may_match[i];
  }
  return count;
}

static void close_reader(void *opened)
{
  delete static_cast<rocksdb::FilterBitsReader *>(opened);
}

struct writer {
  policy engine;
  rocksdb::BlockBasedTableOptions options;
  const uint64_t *keys;
  size_t n;
  std::unique_ptr<const char[]> filter;
};

static writer *make_writer(uint32_t format_version, double bits_per_key, const uint64_t *keys,
                           size_t n)
{
  writer *made = new writer{policy(rocksdb::NewBloomFilterPolicy(bits_per_key)), {}, keys, n, {}};
  made->options.format_version = format_version;
  return made;
}

static void *open_local_writer(double bits_per_key, const uint64_t *keys, size_t n)
{
  return make_writer(5, bits_per_key, keys, n);
}

static void *open_legacy_writer(double bits_per_key, const uint64_t *keys, size_t n)
{
  return make_writer(4, bits_per_key, keys, n);
}

static size_t build(void *opened, const void **bytes)
{
  writer *with = static_cast<writer *>(opened);
  with->filter.reset(); // free the last filter in the timed part, as in all other rows
  const rocksdb::FilterBuildingContext context(with->options);
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
      with->engine->GetBuilderWithContext(context));
  for (size_t i = 0; i < with->n; i++)
    builder->AddKey(slice_of(with->keys[i]));
  const rocksdb::Slice filter = builder->Finish(&with->filter);
  *bytes = filter.data();
  return filter.size();
}

static void close_writer(void *opened)
{
  delete static_cast<writer *>(opened);
}

const bench_peer bench_rocksdb_peers[] = {
    {"rocksdb", LANEBLOOM_ROCKSDB_LOCAL, 1, open_reader, screen, close_reader, open_local_writer,
     build, close_writer, nullptr},
    {"rocksdb-32", LANEBLOOM_ROCKSDB_LOCAL, BATCH_NKEYS, open_reader, screen_batches, close_reader,
     nullptr, nullptr, nullptr, nullptr},
    {"rocksdb", LANEBLOOM_ROCKSDB_LEGACY, 1, open_reader, screen, close_reader, open_legacy_writer,
     build, close_writer, nullptr},
    {"rocksdb-32", LANEBLOOM_ROCKSDB_LEGACY, BATCH_NKEYS, open_reader, screen_batches, close_reader,
     nullptr, nullptr, nullptr, nullptr},
    {},
};

const char *bench_rocksdb_version(void)
{
  static const std::string version = rocksdb::GetRocksVersionAsString();
  return version.c_str();
}
