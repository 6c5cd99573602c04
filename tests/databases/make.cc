// Writes databases with the real LevelDB and RocksDB, and lists their keys:
//
//   test_databases kinds                       all kinds, one per line
//   test_databases make KIND FOLDER            writes a database
//   test_databases keys KIND FOLDER [FAMILY]   the keys that the engine's iterator shows
//   test_databases write ENGINE FOLDER         writes w000000, w000001, ... and prints each when it
//                                              is acknowledged, until it is killed
//
// "keys" opens the database, which changes it: give it a copy.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <leveldb/comparator.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>
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

#include "../tables/reverse.h"

namespace
{
template <class Status> void check(const Status &status)
{
  if (status.ok())
    return;
  std::cerr << status.ToString() << "\n";
  std::exit(EXIT_FAILURE);
}

std::string key(const char *begin, int i)
{
  char text[40];
  std::snprintf(text, sizeof text, "%s%06d", begin, i);
  return text;
}

const std::string value(100, 'v');

// ---- LevelDB ----

const leveldb::Comparator *reverse_level()
{
  static const Reverse made;
  return &made;
}

std::unique_ptr<leveldb::DB>
open_level(const std::string &folder, size_t buffer_nbytes = 4 << 20,
           const leveldb::Comparator *comparator = leveldb::BytewiseComparator())
{
  static const leveldb::FilterPolicy *policy = leveldb::NewBloomFilterPolicy(10);
  leveldb::Options options;
  options.comparator = comparator;
  options.create_if_missing = true;
  options.filter_policy = policy;
  options.write_buffer_size = buffer_nbytes;
  leveldb::DB *db;
  check(leveldb::DB::Open(options, folder, &db));
  return std::unique_ptr<leveldb::DB>(db);
}

void put_level(leveldb::DB &db, const char *begin, int n)
{
  for (int i = 0; i < n; i++)
    check(db.Put({}, key(begin, i), value));
}

// ---- RocksDB ----

using Options = rocksdb::Options;
using Families = std::vector<rocksdb::ColumnFamilyHandle *>;

Options rock_options()
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

const rocksdb::Comparator *with_times()
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

Options merging()
{
  Options options = rock_options();
  options.merge_operator = std::make_shared<Append>();
  return options;
}

struct Rock {
  std::unique_ptr<rocksdb::DB> db;
  Families families;
  ~Rock()
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

void open_rock(Rock &rock, const Options &options, const std::string &folder,
               const std::vector<std::string> &names = {"default"})
{
  std::vector<rocksdb::ColumnFamilyDescriptor> wanted;
  for (const auto &name : names)
    wanted.emplace_back(name, options);
  rocksdb::DB *db;
  check(rocksdb::DB::Open(options, folder, wanted, &rock.families, &db));
  rock.db.reset(db);
}

void with_rock(const Options &options, const std::string &folder,
               const std::vector<std::string> &names, const std::function<void(Rock &)> &run)
{
  Rock rock;
  open_rock(rock, options, folder, names);
  run(rock);
}

void with_rock(const Options &options, const std::string &folder,
               const std::function<void(Rock &)> &run)
{
  with_rock(options, folder, {"default"}, run);
}

// ---- Kinds ----

const int N = 3000;

void transactions(const std::string &folder)
{
  rocksdb::TransactionDB *opened;
  Options options = rock_options();
  options.allow_2pc = true;
  check(rocksdb::TransactionDB::Open(options, {}, folder, &opened));
  std::unique_ptr<rocksdb::TransactionDB> db(opened);
  std::unique_ptr<rocksdb::Transaction> committed(db->BeginTransaction({}));
  check(committed->SetName("committed"));
  for (int i = 0; i < N; i++)
    check(committed->Put(key("prepared", i), value));
  check(committed->Prepare());
  for (int i = 0; i < N; i++)
    check(db->Put({}, key("flushed", i), value));
  check(db->Flush({})); // the transaction is in an older log than the family's
  check(committed->Commit());
  std::unique_ptr<rocksdb::Transaction> gone(db->BeginTransaction({}));
  check(gone->SetName("gone"));
  check(gone->Put("rolled back", value));
  check(gone->Prepare());
  check(gone->Rollback());
}

const std::map<std::string, std::function<void(const std::string &)>> kinds = {
    {"leveldb-log", [](auto &folder) { put_level(*open_level(folder), "log", N); }},
    {"leveldb-small", // has a table and a log
     [](auto &folder) {
       put_level(*open_level(folder), "key-00", 20);
       put_level(*open_level(folder), "key-0000", 20);
     }},
    {"rocksdb-small",
     [](auto &folder) {
       Options options = rock_options();
       options.wal_compression = rocksdb::kZSTD;
       with_rock(options, folder, {"default", "users"}, [](Rock &rock) {
         rock.put("key-00", 20);
         rock.flush();
         rock.put("key-0000", 20, 1);
       });
     }},
    {"leveldb-empty", [](auto &folder) { open_level(folder); }},
    {"leveldb-reopened",
     [](auto &folder) {
       put_level(*open_level(folder), "old", N);
       put_level(*open_level(folder), "new", N);
     }},
    {"leveldb-reverse", // has a table with many filters, and a log
     [](auto &folder) {
       auto db = open_level(folder, 4 << 20, reverse_level());
       put_level(*db, "table", 2 * N);
       db->CompactRange(nullptr, nullptr);
       put_level(*db, "log", N);
     }},
    {"leveldb-tables",
     [](auto &folder) {
       auto db = open_level(folder, 64 << 10);
       put_level(*db, "table", 10 * N);
       put_level(*db, "table", N);
     }},
    {"leveldb-deleted",
     [](auto &folder) {
       put_level(*open_level(folder), "key", N);
       auto db = open_level(folder);
       for (int i = 0; i < N; i += 2)
         check(db->Delete({}, key("key", i)));
       check(db->Put({}, key("key", 2), value));
     }},
    {"leveldb-batches",
     [](auto &folder) {
       auto db = open_level(folder);
       for (int i = 0; i < 10; i++) {
         leveldb::WriteBatch batch;
         for (int j = 0; j < N; j++)
           batch.Put(key("batch", N * i + j), std::string(i * 40, 'v'));
         check(db->Write({}, &batch));
       }
       check(db->Put({}, std::string(100000, 'k'), std::string(300000, 'v')));
     }},
    {"rocksdb-log",
     [](auto &folder) {
       with_rock(rock_options(), folder, [](Rock &rock) { rock.put("log", N); });
     }},
    {"rocksdb-empty", [](auto &folder) { with_rock(rock_options(), folder, [](Rock &) {}); }},
    {"rocksdb-reopened",
     [](auto &folder) {
       with_rock(rock_options(), folder, [](Rock &rock) { rock.put("old", N); });
       with_rock(rock_options(), folder, [](Rock &rock) { rock.put("new", N); });
     }},
    {"rocksdb-families",
     [](auto &folder) {
       with_rock(rock_options(), folder, {"default", "users", "orders"}, [](Rock &rock) {
         rock.put("default", N);
         rock.put("user", N, 1);
         rock.flush(1);
         rock.put("order", N, 2);
         rock.put("user2", N, 1);
       });
     }},
    {"rocksdb-dropped",
     [](auto &folder) {
       with_rock(rock_options(), folder, {"default", "gone"}, [](Rock &rock) {
         rock.put("default", N);
         rock.put("gone", N, 1);
         rock.flush(1);
         rock.put("lost", N, 1);
         check(rock.db->DropColumnFamily(rock.families[1]));
         rocksdb::ColumnFamilyHandle *late;
         check(rock.db->CreateColumnFamily(rock_options(), "late", &late));
         rock.families.push_back(late);
         rock.put("late", N, 2);
       });
     }},
    {"rocksdb-merges",
     [](auto &folder) {
       with_rock(merging(), folder, [](Rock &rock) {
         rock.put("key", N);
         for (int i = 0; i < N; i++)
           check(rock.db->Merge({}, key("merged", i), value));
       });
     }},
    {"rocksdb-ranges",
     [](auto &folder) {
       with_rock(rock_options(), folder, [](Rock &rock) {
         rock.put("key", N);
         check(rock.db->DeleteRange({}, rock.families[0], key("key", 100), key("key", 2000)));
         check(rock.db->SingleDelete({}, key("key", 50)));
         check(rock.db->Put({}, key("key", 500), value));
       });
     }},
    {"rocksdb-compressed-log",
     [](auto &folder) {
       Options options = rock_options();
       options.wal_compression = rocksdb::kZSTD;
       with_rock(options, folder, [](Rock &rock) {
         rock.put("key", N);
         rocksdb::WriteBatch batch;
         for (int i = 0; i < 2 * N; i++)
           check(batch.Put(key("batch", i), value));
         check(rock.db->Write({}, &batch));
         check(rock.db->Put({}, "large", std::string(900000, 'v')));
         check(rock.db->Put({}, "after", value));
       });
     }},
    {"rocksdb-recycled-log",
     [](auto &folder) {
       Options options = rock_options();
       options.recycle_log_file_num = 2;
       options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
       with_rock(options, folder, [](Rock &rock) {
         for (int round = 0; round < 6; round++) {
           rock.put(("round" + std::to_string(round) + "-").c_str(), N);
           rock.flush();
         }
         rock.put("last", N / 10);
       });
     }},
    {"rocksdb-transactions", transactions},
    {"rocksdb-ingested",
     [](auto &folder) {
       const std::string path = folder + ".ingest";
       rocksdb::SstFileWriter writer({}, rock_options());
       check(writer.Open(path));
       for (int i = 0; i < N; i++)
         check(writer.Put(key("ingested", i), value));
       check(writer.Finish());
       with_rock(rock_options(), folder, [&](Rock &rock) {
         rock.put("key", N);
         check(rock.db->IngestExternalFile({path}, {}));
         rock.put("more", N);
       });
       std::remove(path.c_str());
     }},
    {"rocksdb-wal-dir",
     [](auto &folder) {
       Options options = rock_options();
       options.wal_dir = folder + ".logs";
       with_rock(options, folder, [](Rock &rock) {
         rock.put("table", N);
         rock.flush();
         rock.put("log", N);
       });
     }},
    {"rocksdb-db-paths",
     [](auto &folder) {
       Options options = rock_options();
       options.db_paths = {{folder + ".fast", 1 << 10}, {folder + ".slow", 1 << 30}};
       with_rock(options, folder, [](Rock &rock) {
         rock.put("table", N);
         rock.flush();
         check(rock.db->CompactRange({}, nullptr, nullptr));
         rock.put("log", N);
       });
     }},
    {"rocksdb-partitioned",
     [](auto &folder) {
       Options options = rock_options();
       rocksdb::BlockBasedTableOptions table;
       table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
       table.partition_filters = true;
       table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
       table.metadata_block_size = 512;
       options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
       with_rock(options, folder, [](Rock &rock) {
         rock.put("table", N);
         rock.flush();
         rock.put("log", N);
       });
     }},
    {"rocksdb-prefixes",
     [](auto &folder) {
       Options options = rock_options();
       options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(4));
       with_rock(options, folder, [](Rock &rock) {
         rock.put("table", N);
         rock.flush();
         rock.put("log", N);
       });
     }},
    {"rocksdb-ribbon",
     [](auto &folder) {
       Options options = rock_options();
       rocksdb::BlockBasedTableOptions table;
       table.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10, -1)); // also flushes
       options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
       with_rock(options, folder, [](Rock &rock) {
         rock.put("table", N);
         rock.flush();
         rock.put("log", N);
       });
     }},
    {"rocksdb-obsolete",
     [](auto &folder) {
       Options options = rock_options();
       with_rock(options, folder, [](Rock &rock) {
         check(rock.db->DisableFileDeletions());
         rock.put("old", N);
         rock.flush();
         for (int i = 0; i < N; i++)
           check(rock.db->Delete({}, key("old", i)));
         rock.put("new", N);
         rock.flush();
         check(rock.db->CompactRange({}, nullptr, nullptr));
         rock.put("log", N);
       });
     }},
    {"rocksdb-groups",
     [](auto &folder) {
       Options options = rock_options();
       options.atomic_flush = true;
       options.track_and_verify_wals_in_manifest = true;
       with_rock(options, folder, {"default", "users"}, [](Rock &rock) {
         for (int round = 0; round < 3; round++) {
           rock.put(("a" + std::to_string(round)).c_str(), N);
           rock.put(("b" + std::to_string(round)).c_str(), N, 1);
           check(rock.db->Flush({}, rock.families));
         }
         rock.put("log", N);
       });
     }},
    {"rocksdb-blobs",
     [](auto &folder) {
       Options options = rock_options();
       options.enable_blob_files = true;
       with_rock(options, folder, [](Rock &rock) {
         rock.put("table", N);
         rock.flush();
         rock.put("log", N);
       });
     }},
    {"rocksdb-reverse",
     [](auto &folder) {
       Options options = rock_options();
       options.comparator = rocksdb::ReverseBytewiseComparator();
       with_rock(options, folder, [](Rock &rock) {
         rock.put("table", N);
         rock.flush();
         rock.put("log", N);
       });
     }},
    {"rocksdb-reverse-partitions",
     [](auto &folder) {
       rocksdb::BlockBasedTableOptions table;
       table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
       table.partition_filters = true;
       table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
       table.metadata_block_size = 512;
       Options options = rock_options();
       options.comparator = rocksdb::ReverseBytewiseComparator();
       options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
       with_rock(options, folder, [](Rock &rock) {
         rock.put("table", 2 * N);
         rock.flush();
         rock.put("log", N);
       });
     }},
    {"rocksdb-times",
     [](auto &folder) {
       Options options = rock_options();
       options.comparator = with_times();
       with_rock(options, folder, [](Rock &rock) {
         const std::string time(8, '\1');
         for (int i = 0; i < N; i++)
           check(rock.db->Put({}, rock.families[0], key("key", i), time, value));
       });
     }},
};

// ---- Keys ----

void print_level(const std::string &folder, const char *kind)
{
  const bool is_reverse = std::strcmp(kind, "leveldb-reverse") == 0;
  auto db = is_reverse ? open_level(folder, 4 << 20, reverse_level()) : open_level(folder);
  std::unique_ptr<leveldb::Iterator> at(db->NewIterator({}));
  for (at->SeekToFirst(); at->Valid(); at->Next())
    std::cout << at->key().ToString() << "\n";
  check(at->status());
}

void print_rock(const std::string &folder, const char *wanted, const char *kind)
{
  Options options = merging();
  rocksdb::ReadOptions reading;
  const std::string time(8, '\2');
  const rocksdb::Slice timestamp(time);
  if (std::strcmp(kind, "rocksdb-times") == 0) {
    options.comparator = with_times();
    reading.timestamp = &timestamp;
  }
  if (std::strncmp(kind, "rocksdb-reverse", 15) == 0)
    options.comparator = rocksdb::ReverseBytewiseComparator();
  if (std::strcmp(kind, "rocksdb-wal-dir") == 0)
    options.wal_dir = folder + ".logs";
  if (std::strcmp(kind, "rocksdb-db-paths") == 0)
    options.db_paths = {{folder + ".fast", 1 << 10}, {folder + ".slow", 1 << 30}};
  options.allow_2pc = true;
  std::vector<std::string> names;
  check(rocksdb::DB::ListColumnFamilies(options, folder, &names));
  with_rock(options, folder, names, [&](Rock &rock) {
    for (size_t i = 0; i < names.size(); i++) {
      if (wanted && names[i] != wanted)
        continue;
      std::unique_ptr<rocksdb::Iterator> at(rock.db->NewIterator(reading, rock.families[i]));
      for (at->SeekToFirst(); at->Valid(); at->Next())
        std::cout << at->key().ToString() << "\n";
      check(at->status());
    }
  });
}

// ---- A writer ----

template <class Database> void write_on(Database &db)
{
  const std::string large(700, 'v');
  for (int i = 0;; i++) {
    check(db.Put({}, key("w", i), large));
    std::cout << key("w", i) << std::endl;
  }
}

void write_level(const std::string &folder)
{
  write_on(*open_level(folder, 64 << 10));
}

void write_rock(const std::string &folder, bool recycles)
{
  Options options = rock_options();
  options.write_buffer_size = 64 << 10;
  if (recycles) {
    options.recycle_log_file_num = 2;
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  }
  with_rock(options, folder, [](Rock &rock) { write_on(*rock.db); });
}
} // namespace

int main(int argc, char **argv)
{
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "kinds")
    for (const auto &kind : kinds)
      std::cout << kind.first << "\n";
  else if (what == "make" && argc == 4 && kinds.count(argv[2]))
    kinds.at(argv[2])(argv[3]);
  else if (what == "keys" && argc >= 4 && std::strncmp(argv[2], "leveldb", 7) == 0)
    print_level(argv[3], argv[2]);
  else if (what == "keys" && argc >= 4)
    print_rock(argv[3], argc > 4 ? argv[4] : nullptr, argv[2]);
  else if (what == "write" && argc == 4 && std::strcmp(argv[2], "leveldb") == 0)
    write_level(argv[3]);
  else if (what == "write" && argc == 4)
    write_rock(argv[3], std::strcmp(argv[2], "rocksdb-recycled") == 0);
  else
    return EXIT_FAILURE;
  return EXIT_SUCCESS;
}
