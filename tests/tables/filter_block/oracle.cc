// The real LevelDB's filter blocks, for tests in C. Link libleveldb.a, because the shared library
// hides them.
// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include "oracle.h"

// Declarations from LevelDB 1.23's table/filter_block.h, which is not installed. Only the layout of
// the members matters.
namespace leveldb
{
class FilterBlockBuilder
{
public:
  explicit FilterBlockBuilder(const FilterPolicy *policy);
  void StartBlock(uint64_t block_offset);
  void AddKey(const Slice &key);
  Slice Finish();

private:
  void GenerateFilter();

  const FilterPolicy *policy_;
  std::string keys_;
  std::vector<size_t> start_;
  std::string result_;
  std::vector<Slice> tmp_keys_;
  std::vector<uint32_t> filter_offsets_;
};

class FilterBlockReader
{
public:
  FilterBlockReader(const FilterPolicy *policy, const Slice &contents);
  bool KeyMayMatch(uint64_t block_offset, const Slice &key);

private:
  const FilterPolicy *policy_;
  const char *data_, *offset_;
  size_t num_, base_lg_;
};
} // namespace leveldb

namespace
{
leveldb::Slice slice_of(const void *data, size_t size)
{
  return size > 0 ? leveldb::Slice(static_cast<const char *>(data), size) : leveldb::Slice();
}

// A LevelDB policy that makes lanebloom's filters.
class Policy : public leveldb::FilterPolicy
{
public:
  Policy(lanebloom_format format, int bits_per_key) : format_(format), bits_per_key_(bits_per_key)
  {
  }

  const char *Name() const override
  {
    return lanebloom_format_name(format_);
  }

  void CreateFilter(const leveldb::Slice *keys, int n, std::string *filter) const override
  {
    std::vector<lanebloom_slice> slices;
    for (int i = 0; i < n; i++)
      slices.push_back({keys[i].data(), keys[i].size()});
    const lanebloom_keys batch = lanebloom_keys_slices(slices.data(), slices.size());
    lanebloom_filter *made;
    if (lanebloom_filter_build(format_, bits_per_key_, &batch, &made) != LANEBLOOM_OK)
      std::abort();
    size_t size;
    const void *bytes = lanebloom_filter_bytes(made, &size);
    filter->append(static_cast<const char *>(bytes), size);
    lanebloom_filter_free(made);
  }

  bool KeyMayMatch(const leveldb::Slice &key, const leveldb::Slice &filter) const override
  {
    lanebloom_filter *opened;
    if (lanebloom_filter_parse_raw(format_, filter.data(), filter.size(), NULL, &opened, NULL, 0) !=
        LANEBLOOM_OK)
      std::abort();
    const bool may = lanebloom_filter_may_contain(opened, key.data(), key.size());
    lanebloom_filter_free(opened);
    return may;
  }

private:
  const lanebloom_format format_;
  const int bits_per_key_;
};

const leveldb::FilterPolicy *make_policy(lanebloom_format format, int bits_per_key)
{
  if (format == LANEBLOOM_LEVELDB)
    return leveldb::NewBloomFilterPolicy(bits_per_key);
  return new Policy(format, bits_per_key);
}
} // namespace

struct oracle_block_builder {
  std::unique_ptr<const leveldb::FilterPolicy> policy;
  leveldb::FilterBlockBuilder builder;
};

oracle_block_builder *oracle_block_builder_create(lanebloom_format format, int bits_per_key)
{
  const leveldb::FilterPolicy *policy = make_policy(format, bits_per_key);
  return new oracle_block_builder{std::unique_ptr<const leveldb::FilterPolicy>(policy),
                                  leveldb::FilterBlockBuilder(policy)};
}

void oracle_block_builder_start_block(oracle_block_builder *builder, uint64_t data_block_offset)
{
  builder->builder.StartBlock(data_block_offset);
}

void oracle_block_builder_add(oracle_block_builder *builder, const void *key, size_t size)
{
  builder->builder.AddKey(slice_of(key, size));
}

uint8_t *oracle_block_builder_finish(oracle_block_builder *builder, size_t *size)
{
  const leveldb::Slice block = builder->builder.Finish();
  *size = block.size();
  void *bytes = std::memcpy(std::malloc(block.size()), block.data(), block.size());
  delete builder;
  return static_cast<uint8_t *>(bytes);
}

bool oracle_block_may_match(lanebloom_format format, const void *bytes, size_t size,
                            uint64_t data_block_offset, const void *key, size_t key_size)
{
  static const leveldb::FilterPolicy *const leveldb_policy = make_policy(LANEBLOOM_LEVELDB, 10),
                                            *const signed_policy =
                                                make_policy(LANEBLOOM_LEVELDB_SIGNED, 10);
  const leveldb::FilterPolicy *policy =
      format == LANEBLOOM_LEVELDB ? leveldb_policy : signed_policy;
  return leveldb::FilterBlockReader(policy, slice_of(bytes, size))
      .KeyMayMatch(data_block_offset, slice_of(key, key_size));
}
