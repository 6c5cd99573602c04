// LevelDB's databases.
// SPDX-License-Identifier: MIT
#include <memory>

#include <leveldb/comparator.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include "../tables/reverse.h"
#include "databases.h"

namespace leveldb_databases
{
namespace
{
const leveldb::Comparator *reverse()
{
  static const Reverse made;
  return &made;
}

std::unique_ptr<leveldb::DB>
open(const std::string &folder, size_t buffer_nbytes = 4 << 20,
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

void put(leveldb::DB &db, const char *begin, int n)
{
  for (int i = 0; i < n; i++)
    check(db.Put({}, key(begin, i), value));
}
} // namespace

const Kinds kinds = {
    {"leveldb-log", [](auto &folder) { put(*open(folder), "log", NKEYS); }},
    {"leveldb-small", // has a table and a log
     [](auto &folder) {
       put(*open(folder), "key-00", 20);
       put(*open(folder), "key-0000", 20);
     }},
    {"leveldb-empty", [](auto &folder) { open(folder); }},
    {"leveldb-reopened",
     [](auto &folder) {
       put(*open(folder), "old", NKEYS);
       put(*open(folder), "new", NKEYS);
     }},
    {"leveldb-reverse", // has a table with many filters, and a log
     [](auto &folder) {
       auto db = open(folder, 4 << 20, reverse());
       put(*db, "table", 2 * NKEYS);
       db->CompactRange(nullptr, nullptr);
       put(*db, "log", NKEYS);
     }},
    {"leveldb-tables",
     [](auto &folder) {
       auto db = open(folder, 64 << 10);
       put(*db, "table", 10 * NKEYS);
       put(*db, "table", NKEYS);
     }},
    {"leveldb-deleted",
     [](auto &folder) {
       put(*open(folder), "key", NKEYS);
       auto db = open(folder);
       for (int i = 0; i < NKEYS; i += 2)
         check(db->Delete({}, key("key", i)));
       check(db->Put({}, key("key", 2), value));
     }},
    {"leveldb-batches",
     [](auto &folder) {
       auto db = open(folder);
       for (int i = 0; i < 10; i++) {
         leveldb::WriteBatch batch;
         for (int j = 0; j < NKEYS; j++)
           batch.Put(key("batch", NKEYS * i + j), std::string(i * 40, 'v'));
         check(db->Write({}, &batch));
       }
       check(db->Put({}, std::string(100000, 'k'), std::string(300000, 'v')));
     }},
};

void print(const std::string &folder, const std::string &kind)
{
  auto db = kind == "leveldb-reverse" ? open(folder, 4 << 20, reverse()) : open(folder);
  std::unique_ptr<leveldb::Iterator> at(db->NewIterator({}));
  print_keys(*at);
}

void write(const std::string &folder)
{
  write_until_killed(*open(folder, 64 << 10));
}
} // namespace leveldb_databases
