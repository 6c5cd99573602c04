// Databases and tables that the real LevelDB writes.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <leveldb/comparator.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/table.h>
#include <leveldb/table_builder.h>
#include <leveldb/write_batch.h>

#include "engines.h"
#include "reverse.h"

namespace oracle
{
namespace
{
// LevelDB's filters under other names: goleveldb's filter; the filter of LevelDB before 1.18, which
// hashed tails as signed; and RocksDB's block-based filter, which also does.
class Renamed : public leveldb::FilterPolicy
{
  const char *name_;
  bool is_signed_;
  int bits_;
  std::unique_ptr<const leveldb::FilterPolicy> real_;

public:
  Renamed(const char *name, bool is_signed, int bits)
      : name_(name), is_signed_(is_signed), bits_(bits), real_(leveldb::NewBloomFilterPolicy(bits))
  {
  }
  const char *Name() const override
  {
    return name_;
  }
  void CreateFilter(const leveldb::Slice *keys, int n, std::string *made) const override
  {
    if (!is_signed_) {
      real_->CreateFilter(keys, n, made);
      return;
    }
    std::vector<lanebloom_slice> slices;
    for (int i = 0; i < n; i++)
      slices.push_back({keys[i].data(), keys[i].size()});
    const lanebloom_keys batch = lanebloom_keys_slices(slices.data(), slices.size());
    lanebloom_filter *filter;
    if (lanebloom_filter_build(LANEBLOOM_LEVELDB_SIGNED, bits_, &batch, &filter) != LANEBLOOM_OK)
      std::abort();
    size_t size;
    const void *built = lanebloom_filter_bytes(filter, &size);
    made->append(static_cast<const char *>(built), size);
    lanebloom_filter_free(filter);
  }
  bool KeyMayMatch(const leveldb::Slice &, const leveldb::Slice &) const override
  {
    return true;
  }
};

const leveldb::Comparator *reverse()
{
  static const Reverse made;
  return &made;
}

leveldb::Options options_of(const LevelDbSet &set,
                            std::unique_ptr<const leveldb::FilterPolicy> *policy)
{
  leveldb::Options options;
  options.create_if_missing = true;
  options.block_size = set.block_nbytes;
  options.write_buffer_size = set.write_buffer_nbytes;
  options.max_file_size = 1 << 20;
  options.compression = set.is_packed ? leveldb::kSnappyCompression : leveldb::kNoCompression;
  if (set.is_reverse)
    options.comparator = reverse();
  if (set.has_filter) {
    if (set.renamed)
      policy->reset(new Renamed(set.renamed, set.is_signed, set.bits));
    else
      policy->reset(leveldb::NewBloomFilterPolicy(set.bits));
    options.filter_policy = policy->get();
  }
  return options;
}
} // namespace

void write_leveldb(const LevelDbSet &set, const std::string &folder, size_t nkeys, uint64_t seed)
{
  Rng rng{seed};
  std::unique_ptr<const leveldb::FilterPolicy> policy;
  const leveldb::Options options = options_of(set, &policy);
  if (set.is_table) {
    std::vector<std::string> keys = sorted_keys(rng, nkeys);
    if (set.is_reverse)
      std::reverse(keys.begin(), keys.end());
    leveldb::WritableFile *file;
    check(options.env->NewWritableFile(folder + "/table.ldb", &file));
    leveldb::TableBuilder builder(options, file);
    for (const auto &one : keys)
      builder.Add(one, value(rng));
    check(builder.Finish());
    check(file->Close());
    delete file;
    return;
  }
  leveldb::DB *opened;
  check(leveldb::DB::Open(options, folder, &opened));
  std::unique_ptr<leveldb::DB> db(opened);
  std::vector<const leveldb::Snapshot *> snapshots;
  std::vector<std::string> deletable;
  for (size_t i = 0; i < nkeys; i++) {
    const std::string one = key(rng, i);
    check(db->Put({}, one, value(rng)));
    if (i % 8 == 0)
      deletable.push_back(one);
    if (i % 16 == 15)
      check(db->Delete({}, deletable[rng.below(deletable.size())]));
    if (set.has_versions && i % 4 == 0 && snapshots.size() < 400) {
      snapshots.push_back(db->GetSnapshot());
      check(db->Put({}, "user-of-many-versions", bytes(rng, 100)));
      check(db->Put({}, "v", bytes(rng, 100)));
    }
  }
  db->CompactRange(nullptr, nullptr);
  for (const auto *snapshot : snapshots)
    db->ReleaseSnapshot(snapshot);
}

void read_leveldb_table(const LevelDbSet &set, const std::string &path, const Sink &sink)
{
  std::unique_ptr<const leveldb::FilterPolicy> policy;
  leveldb::Options options = options_of(set, &policy);
  leveldb::RandomAccessFile *file;
  uint64_t nbytes;
  check(options.env->NewRandomAccessFile(path, &file));
  check(options.env->GetFileSize(path, &nbytes));
  std::unique_ptr<leveldb::RandomAccessFile> owner(file);
  leveldb::Table *opened;
  options.filter_policy = nullptr;
  check(leveldb::Table::Open(options, file, nbytes, &opened));
  std::unique_ptr<leveldb::Table> table(opened);
  std::unique_ptr<leveldb::Iterator> at(table->NewIterator({}));
  sink.all(at.get(), set.is_table ? 0 : 8);
}

void read_leveldb_database(const LevelDbSet &set, const std::string &folder, const Sink &sink)
{
  std::unique_ptr<const leveldb::FilterPolicy> policy;
  leveldb::DB *opened;
  check(leveldb::DB::Open(options_of(set, &policy), folder, &opened));
  std::unique_ptr<leveldb::DB> db(opened);
  std::unique_ptr<leveldb::Iterator> at(db->NewIterator({}));
  sink.all(at.get());
}
} // namespace oracle
