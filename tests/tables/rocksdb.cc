// Databases and tables that the real RocksDB writes.
// SPDX-License-Identifier: MIT
#include <memory>
#include <string>
#include <vector>

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>

#include "engines.h"

namespace oracle
{
namespace
{
class Append : public rocksdb::AssociativeMergeOperator
{
public:
  bool Merge(const rocksdb::Slice &, const rocksdb::Slice *existing, const rocksdb::Slice &more,
             std::string *made, rocksdb::Logger *) const override
  {
    *made = (existing ? existing->ToString() : "") + more.ToString();
    return true;
  }
  const char *Name() const override
  {
    return "test.Append";
  }
};

rocksdb::Options options_of(const RocksDbSet &set)
{
  rocksdb::Options options;
  rocksdb::BlockBasedTableOptions table;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  options.merge_operator = std::make_shared<Append>();
  options.disable_auto_compactions = true;
  options.target_file_size_base = 256 << 10;
  options.max_open_files = 64;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.format_version = 5;
  table.checksum = rocksdb::kxxHash64;
  set.change(options, table);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

void write_times(rocksdb::DB *db, size_t nkeys, Rng &rng)
{
  for (size_t i = 0; i < nkeys; i++)
    check(db->Put({}, key(rng, i), rocksdb::Slice("\0\0\0\0\0\0\0\1", 8), value(rng)));
  check(db->Flush({}));
}

/* Writes a table outside of a database. If it is to be ingested, a database that has one of its
 * keys then takes it in, and gives it a sequence number. */
void write_external(const RocksDbSet &set, const rocksdb::Options &options,
                    const std::string &folder, size_t nkeys, Rng &rng)
{
  const std::string path = folder + "/external.sst";
  const std::vector<std::string> keys = sorted_keys(rng, nkeys);
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  check(writer.Open(path));
  for (const auto &one : keys)
    check(writer.Put(one, value(rng)));
  check(writer.Finish());
  if (!set.is_ingested)
    return;
  rocksdb::DB *opened;
  check(rocksdb::DB::Open(options, folder, &opened));
  std::unique_ptr<rocksdb::DB> db(opened);
  check(db->Put({}, keys[keys.size() / 2], value(rng)));
  check(db->Flush({}));
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  check(db->IngestExternalFile({path}, ingest));
}
} // namespace

void write_rocksdb(const RocksDbSet &set, const std::string &folder, size_t nkeys, uint64_t seed)
{
  Rng rng{seed};
  const rocksdb::Options options = options_of(set);
  if (set.is_external) {
    write_external(set, options, folder, nkeys, rng);
    return;
  }
  rocksdb::DB *opened;
  check(rocksdb::DB::Open(options, folder, &opened));
  std::unique_ptr<rocksdb::DB> db(opened);
  if (set.has_tombstones_alone) {
    const rocksdb::Snapshot *snapshot = db->GetSnapshot();
    check(db->DeleteRange({}, db->DefaultColumnFamily(), "a", "b"));
    check(db->Flush({}));
    db->ReleaseSnapshot(snapshot);
    return;
  }
  if (set.has_times) {
    write_times(db.get(), nkeys, rng);
    return;
  }
  std::vector<const rocksdb::Snapshot *> snapshots;
  std::vector<std::string> deletable;
  for (size_t i = 0; i < nkeys; i++) {
    const std::string one = key(rng, i);
    if (i % 32 == 7)
      check(db->Merge({}, one, value(rng)));
    else
      check(db->Put({}, one, value(rng)));
    if (i % 8 == 0)
      deletable.push_back(one);
    if (i % 16 == 15)
      check(db->Delete({}, deletable[rng.below(deletable.size())]));
    if (i % 4 == 0 && snapshots.size() < 300) {
      snapshots.push_back(db->GetSnapshot());
      check(db->Put({}, "user-of-many-versions", bytes(rng, 100)));
      check(db->Put({}, "v", bytes(rng, 100)));
    }
    if (i % 512 == 511) {
      const std::string from = "user" + std::string(10, '0') + std::to_string(rng.below(100)),
                        to = from + "\xff";
      if (options.comparator == rocksdb::BytewiseComparator())
        check(db->DeleteRange({}, db->DefaultColumnFamily(), from, to));
    }
    if (i == nkeys / 2) /* one table by compaction, and others above it */
      check(db->CompactRange({}, nullptr, nullptr));
    if (i % (nkeys / 4) == nkeys / 8)
      check(db->Flush({}));
  }
  check(db->Flush({}));
  for (const auto *snapshot : snapshots)
    db->ReleaseSnapshot(snapshot);
}

void read_rocksdb_table(const RocksDbSet &set, const std::string &path, const Sink &sink)
{
  rocksdb::SstFileReader reader(options_of(set));
  check(reader.Open(path));
  rocksdb::ReadOptions read;
  const rocksdb::Slice time("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  if (set.has_times)
    read.timestamp = &time;
  read.total_order_seek = true;
  std::unique_ptr<rocksdb::Iterator> at(reader.NewIterator(read));
  sink.all(at.get());
}

void read_rocksdb_database(const RocksDbSet &set, const std::string &folder, const Sink &sink)
{
  rocksdb::DB *opened;
  check(rocksdb::DB::OpenForReadOnly(options_of(set), folder, &opened));
  std::unique_ptr<rocksdb::DB> db(opened);
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  std::unique_ptr<rocksdb::Iterator> at(db->NewIterator(read));
  sink.all(at.get());
}
} // namespace oracle
