// Databases that the real LevelDB and RocksDB write, for tests in C.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
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

#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>

#include "oracle_tables.h"

namespace
{
template <class Status> void check(const Status &status)
{
  if (status.ok())
    return;
  std::fprintf(stderr, "oracle: %s\n", status.ToString().c_str());
  std::abort();
}

// ---- Keys ----

struct Rng {
  uint64_t state;
  uint64_t next()
  {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t end)
  {
    return next() % end;
  }
};

std::string bytes(Rng &rng, size_t n)
{
  std::string made(n, 0);
  for (auto &byte : made)
    byte = static_cast<char>(rng.next());
  return made;
}

// Decimal, binary, short, long; the empty one and one of 100 KB among them.
std::string key(Rng &rng, size_t i)
{
  const size_t huge = 100 << 10;
  char text[40];
  if (i == 0)
    return "";
  if (i == 1)
    return "h" + std::string(huge, 'k');
  switch (rng.below(8)) {
  case 0:
    return bytes(rng, rng.below(4));
  case 1:
    return bytes(rng, rng.below(40));
  case 2:
    return bytes(rng, 8);
  case 3:
    return "\xff\xff\xff" + bytes(rng, rng.below(12));
  case 4:
    std::snprintf(text, sizeof text, "ab%03u", static_cast<unsigned>(rng.below(1000)));
    return text + bytes(rng, rng.below(300));
  default:
    std::snprintf(text, sizeof text, "user%016llu",
                  static_cast<unsigned long long>(rng.below(100000000)));
    return text;
  }
}

std::string value(Rng &rng)
{
  return std::string(rng.below(200), 'v') + bytes(rng, rng.below(20));
}

// ---- LevelDB ----

struct LevelSet {
  bool has_filter = true, is_table = false, is_reverse = false, has_versions = false;
  const char *renamed = nullptr;
  bool is_signed = false;
  int bits = 10;
  size_t block_nbytes = 4096, write_buffer_nbytes = 4 << 20;
  bool is_packed = true;
};

class Reverse : public leveldb::Comparator
{
public:
  int Compare(const leveldb::Slice &a, const leveldb::Slice &b) const override
  {
    return b.compare(a);
  }
  const char *Name() const override
  {
    return "test.Reverse";
  }
  void FindShortestSeparator(std::string *, const leveldb::Slice &) const override
  {
  }
  void FindShortSuccessor(std::string *) const override
  {
  }
};

// LevelDB's filters under other names: goleveldb's; that of LevelDB before 1.18, whose hash had
// signed tails; that of
// RocksDB's block-based filter, which has them, too.
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
    lanebloom_filter_close(filter);
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

leveldb::Options options_of(const LevelSet &set,
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

void write_level(const LevelSet &set, const std::string &folder, size_t nkeys, uint64_t seed)
{
  Rng rng{seed};
  std::unique_ptr<const leveldb::FilterPolicy> policy;
  const leveldb::Options options = options_of(set, &policy);
  if (set.is_table) {
    std::vector<std::string> keys;
    for (size_t i = 0; i < nkeys; i++)
      keys.push_back(key(rng, i));
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
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
  std::vector<std::string> kept;
  for (size_t i = 0; i < nkeys; i++) {
    const std::string one = key(rng, i);
    check(db->Put({}, one, value(rng)));
    if (i % 8 == 0)
      kept.push_back(one);
    if (i % 16 == 15)
      check(db->Delete({}, kept[rng.below(kept.size())]));
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

// ---- RocksDB ----

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

struct RockSet {
  std::function<void(rocksdb::Options &, rocksdb::BlockBasedTableOptions &)> change;
  bool is_external = false, is_ingested = false, has_tombstones_alone = false, has_times = false;
};

rocksdb::Options options_of(const RockSet &set)
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

/* A table by itself; or then taken in by a database that has one of its keys, and so gives it a
 * number. */
void write_external(const RockSet &set, const rocksdb::Options &options, const std::string &folder,
                    size_t nkeys, Rng &rng)
{
  const std::string path = folder + "/external.sst";
  std::vector<std::string> keys;
  for (size_t i = 0; i < nkeys; i++)
    keys.push_back(key(rng, i));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
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

void write_rock(const RockSet &set, const std::string &folder, size_t nkeys, uint64_t seed)
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
  std::vector<std::string> kept;
  for (size_t i = 0; i < nkeys; i++) {
    const std::string one = key(rng, i);
    if (i % 32 == 7)
      check(db->Merge({}, one, value(rng)));
    else
      check(db->Put({}, one, value(rng)));
    if (i % 8 == 0)
      kept.push_back(one);
    if (i % 16 == 15)
      check(db->Delete({}, kept[rng.below(kept.size())]));
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
    if (i == nkeys / 2) /* one table by compaction, then others above it */
      check(db->CompactRange({}, nullptr, nullptr));
    if (i % (nkeys / 4) == nkeys / 8)
      check(db->Flush({}));
  }
  check(db->Flush({}));
  for (const auto *snapshot : snapshots)
    db->ReleaseSnapshot(snapshot);
}

// ---- The sets ----

struct Set {
  oracle_set seen;
  LevelSet level;
  RockSet rock;
};

using Options = rocksdb::Options;
using Table = rocksdb::BlockBasedTableOptions;

constexpr auto NONE = LANEBLOOM_TABLE_FILTER_NONE, BLOCK = LANEBLOOM_TABLE_FILTER_BLOCK,
               FULL = LANEBLOOM_TABLE_FILTER_FULL, PARTS = LANEBLOOM_TABLE_FILTER_PARTITIONED,
               OTHER = LANEBLOOM_TABLE_FILTER_OTHER;

Set level(const char *name, const LevelSet &set)
{
  const bool is_known = !set.is_reverse;
  return {{name, true, set.has_filter ? BLOCK : NONE, 0, 1, set.has_filter, false, is_known,
           set.has_filter && is_known, false, set.has_versions},
          set,
          {}};
}

Set rock(const char *name, lanebloom_table_filter filter, bool has_whole_keys, bool has_prefixes,
         const std::function<void(Options &, Table &)> &change)
{
  const bool uses_filter = filter == FULL || filter == PARTS;
  Set set{
      {name, false, filter, 5, 3, has_whole_keys, has_prefixes, true, uses_filter, false, false},
      {},
      {change}};
  Options options;
  Table table;
  table.format_version = 5;
  table.checksum = rocksdb::kxxHash64;
  change(options, table);
  set.seen.version = table.format_version;
  set.seen.checksum = table.checksum;
  return set;
}

void partition(Table &table, uint64_t nbytes)
{
  table.partition_filters = true;
  table.index_type = Table::kTwoLevelIndexSearch;
  table.metadata_block_size = nbytes;
}

std::vector<Set> make_sets()
{
  std::vector<Set> sets;
  LevelSet l;
  sets.push_back(level("leveldb", l));
  l.is_packed = false;
  sets.push_back(level("leveldb, not compressed", l));
  l.block_nbytes = 200;
  sets.push_back(level("leveldb, small blocks", l));
  l.has_versions = true;
  sets.push_back(level("leveldb, many versions", l));
  l.bits = 30;
  l.block_nbytes = 64 << 10;
  sets.push_back(level("leveldb, large blocks, 30 bits", l));
  l = LevelSet();
  l.renamed = "leveldb.BuiltinBloomFilter";
  sets.push_back(level("goleveldb", l));
  l.is_signed = true;
  sets.push_back(level("leveldb before 1.18", l));
  l.renamed = "rocksdb.BuiltinBloomFilter";
  sets.push_back(level("rocksdb's block-based filter", l));
  l = LevelSet();
  l.has_filter = false;
  sets.push_back(level("leveldb, no filter", l));
  l = LevelSet();
  l.is_reverse = true;
  sets.push_back(level("leveldb, reverse", l));
  l = LevelSet();
  l.is_table = true;
  sets.push_back(level("leveldb, a table", l));
  l.block_nbytes = 300;
  sets.push_back(level("leveldb, a table of small blocks", l));
  l.has_filter = false;
  sets.push_back(level("leveldb, a table without filter", l));

  for (uint32_t version = 2; version <= 5; version++)
    for (uint32_t checksum = 0; checksum <= 4; checksum++)
      sets.push_back(
          rock("rocksdb, version and checksum", FULL, true, false, [=](Options &, Table &t) {
            t.format_version = version;
            t.checksum = static_cast<rocksdb::ChecksumType>(checksum);
          }));
  for (auto codec : {rocksdb::kNoCompression, rocksdb::kSnappyCompression,
                     rocksdb::kZlibCompression, rocksdb::kLZ4Compression, rocksdb::kZSTD})
    for (uint32_t version : {0, 1})
      sets.push_back(rock("rocksdb, old versions", FULL, true, false, [=](Options &o, Table &t) {
        o.compression = codec;
        t.format_version = version;
        t.checksum = rocksdb::kCRC32c;
      }));
  for (auto codec : {rocksdb::kSnappyCompression, rocksdb::kZlibCompression,
                     rocksdb::kLZ4Compression, rocksdb::kLZ4HCCompression, rocksdb::kZSTD})
    for (uint32_t dictionary : {0, 4096})
      sets.push_back(rock("rocksdb, compressed", FULL, true, false, [=](Options &o, Table &t) {
        o.compression = codec;
        o.compression_opts.max_dict_bytes = dictionary;
        o.compression_opts.zstd_max_train_bytes = codec == rocksdb::kZSTD ? 16 * dictionary : 0;
        t.format_version = dictionary ? 5 : 3;
        t.checksum = rocksdb::kCRC32c;
        if (dictionary)
          partition(t, 512), t.partition_filters = false;
      }));
  sets.push_back(rock("rocksdb, bzip2", FULL, true, false,
                      [](Options &o, Table &) { o.compression = rocksdb::kBZip2Compression; }));
  sets.back().seen.is_limit = true;
  for (double bits : {1.0, 3.3, 16.0, 40.0})
    sets.push_back(rock("rocksdb, bits", FULL, true, false, [=](Options &, Table &t) {
      t.filter_policy.reset(rocksdb::NewBloomFilterPolicy(bits));
      t.optimize_filters_for_memory = bits > 10;
      t.format_version = bits < 2 ? 4 : 5;
    }));
  for (size_t nbytes : {64, 1024, 65536})
    sets.push_back(rock("rocksdb, block size", FULL, true, false, [=](Options &, Table &t) {
      t.block_size = nbytes;
      t.block_restart_interval = nbytes == 64 ? 1 : 16;
      t.data_block_index_type =
          nbytes == 1024 ? Table::kDataBlockBinaryAndHash : Table::kDataBlockBinarySearch;
    }));
  for (int restarts : {1, 16})
    for (uint32_t version = 2; version <= 5; version++) {
      sets.push_back(rock("rocksdb, partitioned", PARTS, true, false, [=](Options &o, Table &t) {
        partition(t, version == 5 ? 4096 : 128);
        t.format_version = version;
        t.index_block_restart_interval = restarts;
        t.block_size = version == 3 ? 256 : 4096;
        o.compression = version == 4 ? rocksdb::kZSTD : rocksdb::kNoCompression;
      }));
      sets.push_back(
          rock("rocksdb, partitioned, prefixes", PARTS, false, true, [=](Options &o, Table &t) {
            partition(t, 256);
            t.format_version = version;
            t.index_block_restart_interval = restarts;
            t.whole_key_filtering = false;
            o.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3));
          }));
      sets.push_back(rock("rocksdb, index restarts", FULL, true, false, [=](Options &, Table &t) {
        t.format_version = version;
        t.index_block_restart_interval = restarts;
        t.index_type =
            restarts == 16 ? Table::kTwoLevelIndexSearch : Table::kBinarySearchWithFirstKey;
      }));
    }
  sets.push_back(rock("rocksdb, first keys, restarts", FULL, true, false, [](Options &, Table &t) {
    t.index_block_restart_interval = 16;
    t.index_type = Table::kBinarySearchWithFirstKey;
    t.index_shortening = Table::IndexShorteningMode::kNoShortening;
  }));
  sets.push_back(rock("rocksdb, hash index", FULL, true, true, [](Options &o, Table &t) {
    t.index_type = Table::kHashSearch;
    o.prefix_extractor.reset(rocksdb::NewCappedPrefixTransform(3)); // every key must have a prefix
  }));
  sets.push_back(rock("rocksdb, compressed index", FULL, true, false, [](Options &o, Table &t) {
    o.compression = rocksdb::kZSTD;
    t.enable_index_compression = true;
    t.index_shortening = Table::IndexShorteningMode::kShortenSeparatorsAndSuccessor;
  }));
  sets.push_back(rock("rocksdb, prefixes and keys", FULL, true, true, [](Options &o, Table &) {
    o.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3));
  }));
  sets.push_back(rock("rocksdb, fixed prefixes", FULL, false, true, [](Options &o, Table &t) {
    o.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(12));
    t.whole_key_filtering = false;
  }));
  sets.push_back(rock("rocksdb, capped prefixes", FULL, false, true, [](Options &o, Table &t) {
    o.prefix_extractor.reset(rocksdb::NewCappedPrefixTransform(5));
    t.whole_key_filtering = false;
    t.format_version = 4;
  }));
  sets.push_back(rock("rocksdb, noop prefixes", FULL, false, true, [](Options &o, Table &t) {
    o.prefix_extractor.reset(rocksdb::NewNoopTransform());
    t.whole_key_filtering = false;
  }));
  sets.push_back(rock("rocksdb, ribbon", OTHER, true, false, [](Options &, Table &t) {
    t.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10, -1));
  }));
  sets.push_back(rock("rocksdb, ribbon, partitioned", OTHER, true, false, [](Options &, Table &t) {
    t.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10, -1));
    partition(t, 4096);
  }));
  sets.push_back(rock("rocksdb, no filter", NONE, false, false,
                      [](Options &, Table &t) { t.filter_policy.reset(); }));
  sets.push_back(rock("rocksdb, reverse", FULL, true, false, [](Options &o, Table &) {
    o.comparator = rocksdb::ReverseBytewiseComparator();
  }));
  sets.back().seen.has_range = false;
  sets.push_back(
      rock("rocksdb, reverse, partitioned", PARTS, true, false, [](Options &o, Table &t) {
        o.comparator = rocksdb::ReverseBytewiseComparator();
        partition(t, 256);
      }));
  sets.back().seen.has_range = sets.back().seen.uses_filter = false;
  sets.push_back(rock("rocksdb, times", FULL, true, false, [](Options &o, Table &) {
    check(rocksdb::Comparator::CreateFromString({}, "leveldb.BytewiseComparator.u64ts",
                                                &o.comparator));
  }));
  sets.back().seen.has_range = false;
  sets.back().rock.has_times = true;
  sets.push_back(rock("rocksdb, SstFileWriter", FULL, true, false, [](Options &, Table &) {}));
  sets.back().rock.is_external = true;
  for (uint32_t checksum = 0; checksum <= 4; checksum++) {
    sets.push_back(rock("rocksdb, taken in", FULL, true, false, [=](Options &, Table &t) {
      t.checksum = static_cast<rocksdb::ChecksumType>(checksum);
    }));
    sets.back().rock.is_external = sets.back().rock.is_ingested = true;
  }
  sets.push_back(
      rock("rocksdb, range tombstones alone", NONE, false, false, [](Options &, Table &) {}));
  sets.back().rock.has_tombstones_alone = true;
  sets.back().seen.has_range = false;
  return sets;
}

const std::vector<Set> &all_sets()
{
  static const std::vector<Set> made = make_sets();
  return made;
}
} // namespace

size_t oracle_sets(void)
{
  return all_sets().size();
}

const oracle_set *oracle_set_at(size_t i)
{
  return &all_sets()[i].seen;
}

void oracle_write(size_t i, const char *folder, size_t nkeys, uint64_t seed)
{
  const Set &set = all_sets()[i];
  if (set.seen.is_leveldb)
    write_level(set.level, folder, nkeys, seed);
  else
    write_rock(set.rock, folder, nkeys, seed);
}

void oracle_keys_of_table(size_t i, const char *path, oracle_key *take, void *context)
{
  const Set &set = all_sets()[i];
  if (!set.seen.is_leveldb) {
    rocksdb::SstFileReader reader(options_of(set.rock));
    check(reader.Open(path));
    rocksdb::ReadOptions read;
    const rocksdb::Slice time("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    if (set.rock.has_times)
      read.timestamp = &time;
    read.total_order_seek = true;
    std::unique_ptr<rocksdb::Iterator> at(reader.NewIterator(read));
    for (at->SeekToFirst(); at->Valid(); at->Next())
      take(context, at->key().data(), at->key().size());
    check(at->status());
    return;
  }
  std::unique_ptr<const leveldb::FilterPolicy> policy;
  leveldb::Options options = options_of(set.level, &policy);
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
  for (at->SeekToFirst(); at->Valid(); at->Next())
    take(context, at->key().data(), at->key().size() - (set.level.is_table ? 0 : 8));
  check(at->status());
}

void oracle_keys_of_database(size_t i, const char *folder, oracle_key *take, void *context)
{
  const Set &set = all_sets()[i];
  if (set.level.is_table || (set.rock.is_external && !set.rock.is_ingested) || set.rock.has_times)
    return;
  if (set.seen.is_leveldb) {
    std::unique_ptr<const leveldb::FilterPolicy> policy;
    leveldb::DB *opened;
    check(leveldb::DB::Open(options_of(set.level, &policy), folder, &opened));
    std::unique_ptr<leveldb::DB> db(opened);
    std::unique_ptr<leveldb::Iterator> at(db->NewIterator({}));
    for (at->SeekToFirst(); at->Valid(); at->Next())
      take(context, at->key().data(), at->key().size());
    check(at->status());
    return;
  }
  rocksdb::DB *opened;
  check(rocksdb::DB::OpenForReadOnly(options_of(set.rock), folder, &opened));
  std::unique_ptr<rocksdb::DB> db(opened);
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  std::unique_ptr<rocksdb::Iterator> at(db->NewIterator(read));
  for (at->SeekToFirst(); at->Valid(); at->Next())
    take(context, at->key().data(), at->key().size());
  check(at->status());
}
