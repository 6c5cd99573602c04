// RocksDB's databases.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <memory>
#include <vector>

#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>

#include "databases.h"

namespace rocksdb_databases
{
namespace
{
using Options = rocksdb::Options;
using Families = std::vector<rocksdb::ColumnFamilyHandle *>;

Options default_options()
{
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.merge_operator = nullptr;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

Options partitioned_options()
{
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.partition_filters = true;
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.metadata_block_size = 512;
  Options options = default_options();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

const rocksdb::Comparator *comparator_with_times()
{
  const rocksdb::Comparator *comparator = rocksdb::BytewiseComparator();
  check(rocksdb::Comparator::CreateFromString({}, "leveldb.BytewiseComparator.u64ts", &comparator));
  return comparator;
}

class Append : public rocksdb::AssociativeMergeOperator
{
public:
  bool Merge(const rocksdb::Slice &, const rocksdb::Slice *old, const rocksdb::Slice &more,
             std::string *made, rocksdb::Logger *) const override
  {
    *made = (old ? old->ToString() : "") + more.ToString();
    return true;
  }
  const char *Name() const override
  {
    return "test.Append";
  }
};

Options merging_options()
{
  Options options = default_options();
  options.merge_operator = std::make_shared<Append>();
  return options;
}

struct Database {
  std::unique_ptr<rocksdb::DB> db;
  Families families;
  ~Database()
  {
    for (auto *family : families)
      check(db->DestroyColumnFamilyHandle(family));
  }
  void put(const char *begin, int n, size_t family = 0)
  {
    for (int i = 0; i < n; i++)
      check(db->Put({}, families[family], key(begin, i), value));
  }
  void flush(size_t family = 0)
  {
    check(db->Flush({}, families[family]));
  }
};

void open(Database &database, const Options &options, const std::string &folder,
          const std::vector<std::string> &names = {"default"})
{
  std::vector<rocksdb::ColumnFamilyDescriptor> wanted;
  for (const auto &name : names)
    wanted.emplace_back(name, options);
  rocksdb::DB *db;
  check(rocksdb::DB::Open(options, folder, wanted, &database.families, &db));
  database.db.reset(db);
}

void with_database(const Options &options, const std::string &folder,
                   const std::vector<std::string> &names,
                   const std::function<void(Database &)> &run)
{
  Database database;
  open(database, options, folder, names);
  run(database);
}

void with_database(const Options &options, const std::string &folder,
                   const std::function<void(Database &)> &run)
{
  with_database(options, folder, {"default"}, run);
}

void transactions(const std::string &folder)
{
  rocksdb::TransactionDB *opened;
  Options options = default_options();
  options.allow_2pc = true;
  check(rocksdb::TransactionDB::Open(options, {}, folder, &opened));
  std::unique_ptr<rocksdb::TransactionDB> db(opened);
  std::unique_ptr<rocksdb::Transaction> committed(db->BeginTransaction({}));
  check(committed->SetName("committed"));
  for (int i = 0; i < NKEYS; i++)
    check(committed->Put(key("prepared", i), value));
  check(committed->Prepare());
  for (int i = 0; i < NKEYS; i++)
    check(db->Put({}, key("flushed", i), value));
  check(db->Flush({})); // the prepared transaction is in an older log than the family's
  check(committed->Commit());
  std::unique_ptr<rocksdb::Transaction> rolled_back(db->BeginTransaction({}));
  check(rolled_back->SetName("gone"));
  check(rolled_back->Put("rolled back", value));
  check(rolled_back->Prepare());
  check(rolled_back->Rollback());
}
} // namespace

const Kinds kinds = {
    {"rocksdb-small",
     [](auto &folder) {
       Options options = default_options();
       options.wal_compression = rocksdb::kZSTD;
       with_database(options, folder, {"default", "users"}, [](Database &database) {
         database.put("key-00", 20);
         database.flush();
         database.put("key-0000", 20, 1);
       });
     }},
    {"rocksdb-log",
     [](auto &folder) {
       with_database(default_options(), folder,
                     [](Database &database) { database.put("log", NKEYS); });
     }},
    {"rocksdb-empty",
     [](auto &folder) { with_database(default_options(), folder, [](Database &) {}); }},
    {"rocksdb-reopened",
     [](auto &folder) {
       with_database(default_options(), folder,
                     [](Database &database) { database.put("old", NKEYS); });
       with_database(default_options(), folder,
                     [](Database &database) { database.put("new", NKEYS); });
     }},
    {"rocksdb-families",
     [](auto &folder) {
       with_database(default_options(), folder, {"default", "users", "orders"},
                     [](Database &database) {
                       database.put("default", NKEYS);
                       database.put("user", NKEYS, 1);
                       database.flush(1);
                       database.put("order", NKEYS, 2);
                       database.put("user2", NKEYS, 1);
                     });
     }},
    {"rocksdb-dropped",
     [](auto &folder) {
       with_database(default_options(), folder, {"default", "gone"}, [](Database &database) {
         database.put("default", NKEYS);
         database.put("gone", NKEYS, 1);
         database.flush(1);
         database.put("lost", NKEYS, 1);
         check(database.db->DropColumnFamily(database.families[1]));
         rocksdb::ColumnFamilyHandle *late;
         check(database.db->CreateColumnFamily(default_options(), "late", &late));
         database.families.push_back(late);
         database.put("late", NKEYS, 2);
       });
     }},
    {"rocksdb-merges",
     [](auto &folder) {
       with_database(merging_options(), folder, [](Database &database) {
         database.put("key", NKEYS);
         for (int i = 0; i < NKEYS; i++)
           check(database.db->Merge({}, key("merged", i), value));
       });
     }},
    {"rocksdb-ranges",
     [](auto &folder) {
       with_database(default_options(), folder, [](Database &database) {
         database.put("key", NKEYS);
         check(
             database.db->DeleteRange({}, database.families[0], key("key", 100), key("key", 2000)));
         check(database.db->SingleDelete({}, key("key", 50)));
         check(database.db->Put({}, key("key", 500), value));
       });
     }},
    {"rocksdb-compressed-log",
     [](auto &folder) {
       Options options = default_options();
       options.wal_compression = rocksdb::kZSTD;
       with_database(options, folder, [](Database &database) {
         database.put("key", NKEYS);
         rocksdb::WriteBatch batch;
         for (int i = 0; i < 2 * NKEYS; i++)
           check(batch.Put(key("batch", i), value));
         check(database.db->Write({}, &batch));
         check(database.db->Put({}, "large", std::string(900000, 'v')));
         check(database.db->Put({}, "after", value));
       });
     }},
    {"rocksdb-recycled-log",
     [](auto &folder) {
       Options options = default_options();
       options.recycle_log_file_num = 2;
       options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
       with_database(options, folder, [](Database &database) {
         for (int round = 0; round < 6; round++) {
           database.put(("round" + std::to_string(round) + "-").c_str(), NKEYS);
           database.flush();
         }
         database.put("last", NKEYS / 10);
       });
     }},
    {"rocksdb-transactions", transactions},
    {"rocksdb-ingested",
     [](auto &folder) {
       const std::string path = folder + ".ingest";
       rocksdb::SstFileWriter writer({}, default_options());
       check(writer.Open(path));
       for (int i = 0; i < NKEYS; i++)
         check(writer.Put(key("ingested", i), value));
       check(writer.Finish());
       with_database(default_options(), folder, [&](Database &database) {
         database.put("key", NKEYS);
         check(database.db->IngestExternalFile({path}, {}));
         database.put("more", NKEYS);
       });
       std::remove(path.c_str());
     }},
    {"rocksdb-wal-dir",
     [](auto &folder) {
       Options options = default_options();
       options.wal_dir = folder + ".logs";
       with_database(options, folder, [](Database &database) {
         database.put("table", NKEYS);
         database.flush();
         database.put("log", NKEYS);
       });
     }},
    {"rocksdb-db-paths",
     [](auto &folder) {
       Options options = default_options();
       options.db_paths = {{folder + ".fast", 1 << 10}, {folder + ".slow", 1 << 30}};
       with_database(options, folder, [](Database &database) {
         database.put("table", NKEYS);
         database.flush();
         check(database.db->CompactRange({}, nullptr, nullptr));
         database.put("log", NKEYS);
       });
     }},
    {"rocksdb-partitioned",
     [](auto &folder) {
       const Options options = partitioned_options();
       with_database(options, folder, [](Database &database) {
         database.put("table", NKEYS);
         database.flush();
         database.put("log", NKEYS);
       });
     }},
    {"rocksdb-prefixes",
     [](auto &folder) {
       Options options = default_options();
       options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(4));
       with_database(options, folder, [](Database &database) {
         database.put("table", NKEYS);
         database.flush();
         database.put("log", NKEYS);
       });
     }},
    {"rocksdb-ribbon",
     [](auto &folder) {
       Options options = default_options();
       rocksdb::BlockBasedTableOptions table;
       table.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10, -1)); // -1: flushes, too
       options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
       with_database(options, folder, [](Database &database) {
         database.put("table", NKEYS);
         database.flush();
         database.put("log", NKEYS);
       });
     }},
    {"rocksdb-obsolete",
     [](auto &folder) {
       Options options = default_options();
       with_database(options, folder, [](Database &database) {
         check(database.db->DisableFileDeletions());
         database.put("old", NKEYS);
         database.flush();
         for (int i = 0; i < NKEYS; i++)
           check(database.db->Delete({}, key("old", i)));
         database.put("new", NKEYS);
         database.flush();
         check(database.db->CompactRange({}, nullptr, nullptr));
         database.put("log", NKEYS);
       });
     }},
    {"rocksdb-groups",
     [](auto &folder) {
       Options options = default_options();
       options.atomic_flush = true;
       options.track_and_verify_wals_in_manifest = true;
       with_database(options, folder, {"default", "users"}, [](Database &database) {
         for (int round = 0; round < 3; round++) {
           database.put(("a" + std::to_string(round)).c_str(), NKEYS);
           database.put(("b" + std::to_string(round)).c_str(), NKEYS, 1);
           check(database.db->Flush({}, database.families));
         }
         database.put("log", NKEYS);
       });
     }},
    {"rocksdb-blobs",
     [](auto &folder) {
       Options options = default_options();
       options.enable_blob_files = true;
       with_database(options, folder, [](Database &database) {
         database.put("table", NKEYS);
         database.flush();
         database.put("log", NKEYS);
       });
     }},
    {"rocksdb-reverse",
     [](auto &folder) {
       Options options = default_options();
       options.comparator = rocksdb::ReverseBytewiseComparator();
       with_database(options, folder, [](Database &database) {
         database.put("table", NKEYS);
         database.flush();
         database.put("log", NKEYS);
       });
     }},
    {"rocksdb-reverse-partitions",
     [](auto &folder) {
       Options options = partitioned_options();
       options.comparator = rocksdb::ReverseBytewiseComparator();
       with_database(options, folder, [](Database &database) {
         database.put("table", 2 * NKEYS);
         database.flush();
         database.put("log", NKEYS);
       });
     }},
    {"rocksdb-times",
     [](auto &folder) {
       Options options = default_options();
       options.comparator = comparator_with_times();
       with_database(options, folder, [](Database &database) {
         const std::string time(8, '\1');
         for (int i = 0; i < NKEYS; i++)
           check(database.db->Put({}, database.families[0], key("key", i), time, value));
       });
     }},
};

void print(const std::string &folder, const char *family, const std::string &kind)
{
  Options options = merging_options();
  rocksdb::ReadOptions reading;
  const std::string time(8, '\2');
  const rocksdb::Slice timestamp(time);
  if (kind == "rocksdb-times") {
    options.comparator = comparator_with_times();
    reading.timestamp = &timestamp;
  }
  if (kind.rfind("rocksdb-reverse", 0) == 0)
    options.comparator = rocksdb::ReverseBytewiseComparator();
  if (kind == "rocksdb-wal-dir")
    options.wal_dir = folder + ".logs";
  if (kind == "rocksdb-db-paths")
    options.db_paths = {{folder + ".fast", 1 << 10}, {folder + ".slow", 1 << 30}};
  options.allow_2pc = true;
  std::vector<std::string> names;
  check(rocksdb::DB::ListColumnFamilies(options, folder, &names));
  with_database(options, folder, names, [&](Database &database) {
    for (size_t i = 0; i < names.size(); i++) {
      if (family && names[i] != family)
        continue;
      std::unique_ptr<rocksdb::Iterator> at(
          database.db->NewIterator(reading, database.families[i]));
      print_keys(*at);
    }
  });
}

void write(const std::string &folder, bool recycles)
{
  Options options = default_options();
  options.write_buffer_size = 64 << 10;
  if (recycles) {
    options.recycle_log_file_num = 2;
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  }
  with_database(options, folder, [](Database &database) { write_until_killed(*database.db); });
}
} // namespace rocksdb_databases
