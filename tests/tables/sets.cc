// The option sets, and what lanebloom should report about the tables that engines write with them.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>

#include "engines.h"

namespace oracle
{
// ---- Keys ----

uint64_t Rng::next()
{
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

uint64_t Rng::below(uint64_t end)
{
  return next() % end;
}

std::string bytes(Rng &rng, size_t n)
{
  std::string made(n, 0);
  for (auto &byte : made)
    byte = static_cast<char>(rng.next());
  return made;
}

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

std::vector<std::string> sorted_keys(Rng &rng, size_t nkeys)
{
  std::vector<std::string> keys;
  for (size_t i = 0; i < nkeys; i++)
    keys.push_back(key(rng, i));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

// ---- Sets ----

namespace
{
struct Set {
  oracle_set seen;
  LevelDbSet level;
  RocksDbSet rock;
};

using Options = rocksdb::Options;
using Table = rocksdb::BlockBasedTableOptions;

constexpr auto NONE = LANEBLOOM_TABLE_FILTER_NONE, BLOCK = LANEBLOOM_TABLE_FILTER_BLOCK,
               FULL = LANEBLOOM_TABLE_FILTER_FULL, PARTS = LANEBLOOM_TABLE_FILTER_PARTITIONED;

Set level(const char *name, const LevelDbSet &set)
{
  const bool is_known = !set.is_reverse;
  return {{name, true, set.has_filter ? BLOCK : NONE, 0, 1, set.has_filter, false, is_known,
           set.has_filter, set.has_versions},
          set,
          {}};
}

Set rock(const char *name, lanebloom_table_filter filter, bool has_whole_keys, bool has_prefixes,
         const std::function<void(Options &, Table &)> &change)
{
  const bool uses_filter = filter == FULL || filter == PARTS;
  Set set{{name, false, filter, 5, 3, has_whole_keys, has_prefixes, true, uses_filter, false},
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

void add_leveldb(std::vector<Set> &sets)
{
  LevelDbSet l;
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
  l = LevelDbSet();
  l.renamed = "leveldb.BuiltinBloomFilter";
  sets.push_back(level("goleveldb", l));
  l.is_signed = true;
  sets.push_back(level("leveldb before 1.18", l));
  l.renamed = "rocksdb.BuiltinBloomFilter";
  sets.push_back(level("rocksdb's block-based filter", l));
  l = LevelDbSet();
  l.has_filter = false;
  sets.push_back(level("leveldb, no filter", l));
  l = LevelDbSet();
  l.is_reverse = true;
  sets.push_back(level("leveldb, reverse", l));
  l.block_nbytes = 64 << 10; // makes only few filters
  sets.push_back(level("leveldb, reverse, large blocks", l));
  l.is_table = true;
  sets.push_back(level("leveldb, reverse, a table", l));
  l.renamed = "leveldb.BuiltinBloomFilter";
  sets.push_back(level("goleveldb, reverse", l));
  l.is_table = false;
  l.is_signed = true;
  sets.push_back(level("leveldb before 1.18, reverse", l));
  l.renamed = nullptr;
  l.is_signed = l.has_filter = false;
  sets.push_back(level("leveldb, reverse, no filter", l));
  l = LevelDbSet();
  l.is_table = true;
  sets.push_back(level("leveldb, a table", l));
  l.block_nbytes = 300;
  sets.push_back(level("leveldb, a table of small blocks", l));
  l.has_filter = false;
  sets.push_back(level("leveldb, a table without filter", l));
}

// Adds sets with other format versions, checksums, codecs and sizes.
void add_rocksdb_blocks(std::vector<Set> &sets)
{
  for (uint32_t version = 2; version <= 5; version++)
    for (uint32_t checksum = 0; checksum <= 4; checksum++)
      sets.push_back(
          rock("rocksdb, version and checksum", FULL, true, false, [=](Options &, Table &t) {
            t.format_version = version;
            t.checksum = static_cast<rocksdb::ChecksumType>(checksum);
          }));
  for (auto codec :
       {rocksdb::kNoCompression, rocksdb::kSnappyCompression, rocksdb::kZlibCompression,
        rocksdb::kBZip2Compression, rocksdb::kLZ4Compression, rocksdb::kZSTD})
    for (uint32_t version : {0, 1})
      sets.push_back(rock("rocksdb, old versions", FULL, true, false, [=](Options &o, Table &t) {
        o.compression = codec;
        t.format_version = version;
        t.checksum = rocksdb::kCRC32c;
      }));
  for (auto codec :
       {rocksdb::kSnappyCompression, rocksdb::kZlibCompression, rocksdb::kBZip2Compression,
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
}

// Adds sets with indexes and filters in partitions.
void add_rocksdb_partitions(std::vector<Set> &sets)
{
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
}

// Adds sets with other indexes, filters and orders, and sets of single tables.
void add_rocksdb_others(std::vector<Set> &sets)
{
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
  sets.push_back(rock("rocksdb, ribbon", FULL, true, false, [](Options &, Table &t) {
    t.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10, -1));
  }));
  sets.push_back(rock("rocksdb, ribbon, partitioned", PARTS, true, false, [](Options &, Table &t) {
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
  sets.back().seen.has_range = false;
  sets.push_back(
      rock("rocksdb, reverse, few partitions", PARTS, true, false, [](Options &o, Table &t) {
        o.comparator = rocksdb::ReverseBytewiseComparator();
        partition(t, 4096);
      }));
  sets.back().seen.has_range = false;
  sets.push_back(
      rock("rocksdb, reverse, partitioned, prefixes", PARTS, false, true, [](Options &o, Table &t) {
        o.comparator = rocksdb::ReverseBytewiseComparator();
        o.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(12));
        t.whole_key_filtering = false;
        partition(t, 4096);
      }));
  sets.back().seen.has_range = false;
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
}

std::vector<Set> make_sets()
{
  std::vector<Set> sets;
  add_leveldb(sets);
  add_rocksdb_blocks(sets);
  add_rocksdb_partitions(sets);
  add_rocksdb_others(sets);
  return sets;
}

const std::vector<Set> &all_sets()
{
  static const std::vector<Set> made = make_sets();
  return made;
}
} // namespace
} // namespace oracle

using oracle::all_sets;

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
  const auto &set = all_sets()[i];
  if (set.seen.is_leveldb)
    oracle::write_leveldb(set.level, folder, nkeys, seed);
  else
    oracle::write_rocksdb(set.rock, folder, nkeys, seed);
}

void oracle_keys_of_table(size_t i, const char *path, oracle_key *take, void *context)
{
  const auto &set = all_sets()[i];
  if (set.seen.is_leveldb)
    oracle::read_leveldb_table(set.level, path, {take, context});
  else
    oracle::read_rocksdb_table(set.rock, path, {take, context});
}

void oracle_keys_of_database(size_t i, const char *folder, oracle_key *take, void *context)
{
  const auto &set = all_sets()[i];
  if (set.level.is_table || (set.rock.is_external && !set.rock.is_ingested) || set.rock.has_times)
    return;
  if (set.seen.is_leveldb)
    oracle::read_leveldb_database(set.level, folder, {take, context});
  else
    oracle::read_rocksdb_database(set.rock, folder, {take, context});
}
