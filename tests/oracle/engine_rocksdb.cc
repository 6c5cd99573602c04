// The real RocksDB 7.8.3, for tests in C.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include "engine_rocksdb.h"

#if ROCKSDB_MAJOR != 7 || ROCKSDB_MINOR != 8
#error "the classes below are those of RocksDB 7.8 and must be compared with any other version's"
#endif

// Declarations that RocksDB does not install. In its classes, only the order of the virtual
// functions matters, because the compiler turns this order into offsets in a table. `nm -C
// filter_policy.cc.o` of librocksdb.a shows the tables.
namespace rocksdb
{
uint32_t Hash(const char *data, size_t n, uint32_t seed); // util/hash.h
uint64_t Hash64(const char *data, size_t n);

class FilterBitsBuilder // table/block_based/filter_policy_internal.h
{
public:
  virtual ~FilterBitsBuilder() = default;
  virtual void AddKey(const Slice &key) = 0;
  virtual size_t EstimateEntriesAdded() = 0;
  virtual Slice Finish(std::unique_ptr<const char[]> *buf) = 0;
  virtual Slice Finish(std::unique_ptr<const char[]> *buf, Status *status) = 0;
  virtual Status MaybePostVerify(const Slice &filter) = 0;
  virtual size_t ApproximateNumEntries(size_t bytes) = 0;
};

class BuiltinFilterBitsBuilder : public FilterBitsBuilder
{
public:
  virtual size_t CalculateSpace(size_t num_entries) = 0;
  virtual double EstimatedFpRate(size_t num_entries, size_t bytes) = 0;
};

class FilterBitsReader
{
public:
  virtual ~FilterBitsReader() = default;
  virtual bool MayMatch(const Slice &entry) = 0;
  virtual void MayMatch(int num_keys, Slice **keys, bool *may_match) = 0;
};
} // namespace rocksdb

static rocksdb::Slice slice_of(const void *data, size_t size)
{
  return size > 0 ? rocksdb::Slice(static_cast<const char *>(data), size) : rocksdb::Slice();
}

uint32_t oracle_rocksdb_hash32(const void *key, size_t size)
{
  return rocksdb::Hash(slice_of(key, size).data(), size, 0xbc9f1d34);
}

uint64_t oracle_rocksdb_hash64(const void *key, size_t size)
{
  return rocksdb::Hash64(slice_of(key, size).data(), size);
}

struct oracle_builder {
  std::unique_ptr<const rocksdb::FilterPolicy> policy;
  std::unique_ptr<rocksdb::BuiltinFilterBitsBuilder> bits;
};

oracle_builder *oracle_rocksdb_builder(lanebloom_format format, double bits_per_key)
{
  rocksdb::BlockBasedTableOptions options;
  options.format_version = format == LANEBLOOM_ROCKSDB_LEGACY ? 4 : 5;
  options.optimize_filters_for_memory = false;
  std::unique_ptr<const rocksdb::FilterPolicy> policy(
      format == LANEBLOOM_ROCKSDB_RIBBON ? rocksdb::NewRibbonFilterPolicy(bits_per_key, -1)
                                         : rocksdb::NewBloomFilterPolicy(bits_per_key));
  auto *bits = policy->GetBuilderWithContext(rocksdb::FilterBuildingContext(options));
  if (!bits)
    return nullptr;
  // All of RocksDB's own filters derive from this class; the cast does not read the object.
  auto *builtin = static_cast<rocksdb::BuiltinFilterBitsBuilder *>(bits);
  return new oracle_builder{std::move(policy),
                            std::unique_ptr<rocksdb::BuiltinFilterBitsBuilder>(builtin)};
}

void oracle_rocksdb_destroy(oracle_builder *builder)
{
  delete builder;
}

void oracle_rocksdb_add(oracle_builder *builder, const void *key, size_t size)
{
  builder->bits->AddKey(slice_of(key, size));
}

size_t oracle_rocksdb_nentries(oracle_builder *builder)
{
  return builder->bits->EstimateEntriesAdded();
}

uint8_t *oracle_rocksdb_finish(oracle_builder *builder, size_t *size)
{
  std::unique_ptr<const char[]> owner;
  const rocksdb::Slice filter = builder->bits->Finish(&owner);
  *size = filter.size();
  auto *bytes = static_cast<uint8_t *>(std::malloc(filter.size()));
  std::copy_n(filter.data(), filter.size(), bytes); // a Ribbon filter without keys has no bytes
  return bytes;
}

uint64_t oracle_rocksdb_nbytes(oracle_builder *builder, uint64_t nentries)
{
  return builder->bits->CalculateSpace(nentries);
}

double oracle_rocksdb_rate(oracle_builder *builder, uint64_t nentries, uint64_t nbytes)
{
  return builder->bits->EstimatedFpRate(nentries, nbytes);
}

struct oracle_reader {
  std::unique_ptr<rocksdb::FilterBitsReader> bits;
};

oracle_reader *oracle_rocksdb_reader(const void *bytes, size_t size)
{
  static const rocksdb::FilterPolicy *const policy =
      rocksdb::NewBloomFilterPolicy(10); // readers ignore the number of bits
  return new oracle_reader{std::unique_ptr<rocksdb::FilterBitsReader>(
      policy->GetFilterBitsReader(slice_of(bytes, size)))};
}

bool oracle_rocksdb_may_match(oracle_reader *reader, const void *key, size_t size)
{
  return reader->bits->MayMatch(slice_of(key, size));
}

void oracle_rocksdb_close(oracle_reader *reader)
{
  delete reader;
}
