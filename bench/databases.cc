// Compares lanebloom with the engines in looking up absent keys in whole databases. lanebloom reads
// the databases' table files; the engines use their own calls.
//   lanebloom-bench-databases [KEYS [QUERIES [ROUNDS]]]
// lanebloom and the engine take turns, with one thread each, and the best round counts. Before the
// clock starts, both have tables, filters and blocks in memory; the time that lanebloom takes to
// open the tables is printed separately. The keys that the databases hold are screened, too, to
// check that none of them is reported as absent.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <lanebloom_tables.h>

namespace fs = std::filesystem;
using seconds = std::chrono::duration<double>;

enum { KEY_NBYTES = 16, NTABLES = 50, BITS_PER_KEY = 10 };
static const size_t MULTIGET_NKEYS[] = {32, 256, 1024}; // keys per call; the fastest counts

// Makes key i. Databases hold the keys with even numbers. Keys with odd numbers are absent, but lie
// between the others.
static void make_key(uint64_t i, uint8_t *key)
{
  for (uint64_t half = 0; half < 2; half++) {
    uint64_t z = (2 * i + half + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    z ^= z >> 31;
    memcpy(key + 8 * half, &z, 8);
  }
}

static std::vector<uint8_t> make_keys(size_t n, bool present)
{
  std::vector<uint8_t> keys(n * KEY_NBYTES);
  for (size_t i = 0; i < n; i++)
    make_key(2 * i + !present, &keys[i * KEY_NBYTES]);
  return keys;
}

template <typename Status> static void check(const Status &status)
{
  if (!status.ok()) {
    fprintf(stderr, "lanebloom-bench-databases: %s\n", status.ToString().c_str());
    exit(EXIT_FAILURE);
  }
}

static double elapsed(const std::function<void()> &work)
{
  const auto begin = std::chrono::steady_clock::now();
  work();
  return seconds(std::chrono::steady_clock::now() - begin).count();
}

// ---- lanebloom ----

struct tables {
  std::vector<lanebloom_table *> all;
  ~tables()
  {
    for (lanebloom_table *table : all)
      lanebloom_table_free(table);
  }
};

static void open_tables(const fs::path &folder, tables *to)
{
  for (const fs::directory_entry &entry : fs::directory_iterator(folder)) {
    const fs::path kind = entry.path().extension();
    if (kind != ".sst" && kind != ".ldb")
      continue;
    char problem[256] = "";
    lanebloom_table *table;
    if (lanebloom_table_open(entry.path().c_str(), LANEBLOOM_WRITER_UNKNOWN, &table, problem,
                             sizeof problem) != LANEBLOOM_OK) {
      fprintf(stderr, "lanebloom-bench-databases: %s: %s\n", entry.path().c_str(), problem);
      exit(EXIT_FAILURE);
    }
    to->all.push_back(table);
  }
}

static size_t screen(const tables &of, const std::vector<uint8_t> &keys)
{
  const lanebloom_keys batch =
      lanebloom_keys_fixed(keys.data(), KEY_NBYTES, keys.size() / KEY_NBYTES);
  return lanebloom_tables_screen(of.all.data(), of.all.size(), &batch, nullptr, nullptr, nullptr);
}

// ---- Comparing ----

struct question {
  const char *name;
  fs::path folder;
  std::function<size_t(const std::vector<uint8_t> &keys)>
      ask; // asks the engine; returns how many keys it finds
};

static void compare(const question &asked, const std::vector<uint8_t> &present,
                    const std::vector<uint8_t> &absent, int nrounds)
{
  tables opened;
  const double open_seconds = elapsed([&] { open_tables(asked.folder, &opened); });
  const size_t npresent = present.size() / KEY_NBYTES, nabsent = absent.size() / KEY_NBYTES;
  const size_t nlost = npresent - screen(opened, present);
  if (nlost > 0 || asked.ask(absent) > 0) {
    fprintf(stderr, "lanebloom-bench-databases: %s: %zu keys lost\n", asked.name, nlost);
    exit(EXIT_FAILURE);
  }
  double ours = 1e9, theirs = 1e9;
  size_t nhits = 0;
  for (int round = 0; round < nrounds; round++) {
    theirs = std::min(theirs, elapsed([&] { asked.ask(absent); }));
    ours = std::min(ours, elapsed([&] { nhits = screen(opened, absent); }));
  }
  const double ns = 1e9 / static_cast<double>(nabsent);
  printf("%-34s %4zu tables  engine %8.1f ns  lanebloom %7.1f ns per key  %5.1f times as fast  "
         "%.2f %% may be there  0 of %zu keys lost  opened in %.2f s\n",
         asked.name, opened.all.size(), theirs * ns, ours * ns, theirs / ours,
         100 * static_cast<double>(nhits) / static_cast<double>(nabsent), npresent, open_seconds);
  fflush(stdout);
}

// ---- RocksDB ----

static std::unique_ptr<rocksdb::DB> open_rocksdb(const fs::path &folder)
{
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(BITS_PER_KEY));
  table.format_version = 5;
  table.block_cache = rocksdb::NewLRUCache(size_t(4) << 30);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.level0_slowdown_writes_trigger = options.level0_stop_writes_trigger = 1 << 20;
  options.write_buffer_size = size_t(1) << 30;
  options.max_open_files = -1; // so every table's filter stays in memory
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::DB *db;
  check(rocksdb::DB::Open(options, folder, &db));
  return std::unique_ptr<rocksdb::DB>(db);
}

static size_t rocksdb_find(rocksdb::DB *db, const std::vector<uint8_t> &keys, size_t ncall)
{
  const size_t n = keys.size() / KEY_NBYTES;
  std::vector<rocksdb::Slice> slices(ncall);
  std::vector<rocksdb::PinnableSlice> values(ncall);
  std::vector<rocksdb::Status> statuses(ncall);
  size_t nfound = 0;
  for (size_t first = 0; first < n; first += ncall) {
    const size_t now = std::min(ncall, n - first);
    for (size_t i = 0; i < now; i++) {
      slices[i] = rocksdb::Slice(reinterpret_cast<const char *>(&keys[(first + i) * KEY_NBYTES]),
                                 KEY_NBYTES);
      values[i].Reset();
    }
    db->MultiGet(rocksdb::ReadOptions(), db->DefaultColumnFamily(), now, slices.data(),
                 values.data(), statuses.data());
    for (size_t i = 0; i < now; i++)
      nfound += statuses[i].ok();
  }
  return nfound;
}

static void compare_rocksdb(const fs::path &folder, const std::vector<uint8_t> &present,
                            const std::vector<uint8_t> &absent, int nrounds)
{
  std::unique_ptr<rocksdb::DB> db = open_rocksdb(folder);
  const size_t n = present.size() / KEY_NBYTES;
  for (size_t table = 0; table < NTABLES; table++) {
    for (size_t i = table; i < n; i += NTABLES)
      check(db->Put(
          rocksdb::WriteOptions(),
          rocksdb::Slice(reinterpret_cast<const char *>(&present[i * KEY_NBYTES]), KEY_NBYTES),
          "v"));
    check(db->Flush(rocksdb::FlushOptions()));
  }
  size_t best = 0;
  double least = 1e9;
  for (size_t ncall : MULTIGET_NKEYS) {
    const double took = elapsed([&] { rocksdb_find(db.get(), absent, ncall); });
    if (took < least) {
      least = took;
      best = ncall;
    }
  }
  const auto ask = [&](const std::vector<uint8_t> &keys) {
    return rocksdb_find(db.get(), keys, best);
  };
  compare({"RocksDB MultiGet, level 0", folder, ask}, present, absent, nrounds);
  rocksdb::CompactRangeOptions all;
  all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  check(db->CompactRange(all, nullptr, nullptr));
  compare({"RocksDB MultiGet, compacted", folder, ask}, present, absent, nrounds);
}

// ---- LevelDB ----

static size_t leveldb_find(leveldb::DB *db, const std::vector<uint8_t> &keys)
{
  size_t nfound = 0;
  std::string value;
  for (size_t at = 0; at < keys.size(); at += KEY_NBYTES)
    nfound += db->Get(leveldb::ReadOptions(),
                      leveldb::Slice(reinterpret_cast<const char *>(&keys[at]), KEY_NBYTES), &value)
                  .ok();
  return nfound;
}

static void compare_leveldb(const fs::path &folder, const std::vector<uint8_t> &present,
                            const std::vector<uint8_t> &absent, int nrounds)
{
  const std::unique_ptr<const leveldb::FilterPolicy> policy(
      leveldb::NewBloomFilterPolicy(BITS_PER_KEY));
  const std::unique_ptr<leveldb::Cache> cache(leveldb::NewLRUCache(size_t(4) << 30));
  leveldb::Options options;
  options.create_if_missing = true;
  options.filter_policy = policy.get();
  options.block_cache = cache.get();
  options.max_open_files = 100000;
  leveldb::DB *opened;
  check(leveldb::DB::Open(options, folder, &opened));
  const std::unique_ptr<leveldb::DB> db(opened);
  for (size_t at = 0; at < present.size(); at += KEY_NBYTES)
    check(db->Put(leveldb::WriteOptions(),
                  leveldb::Slice(reinterpret_cast<const char *>(&present[at]), KEY_NBYTES), "v"));
  db->CompactRange(nullptr, nullptr); // writes the keys that are still in memory to tables
  const auto ask = [&](const std::vector<uint8_t> &keys) { return leveldb_find(db.get(), keys); };
  ask(absent);
  compare({"LevelDB Get", folder, ask}, present, absent, nrounds);
}

static std::string folder;

int main(int argc, char **argv)
{
  const size_t nkeys = argc > 1 ? strtoul(argv[1], nullptr, 10) : 10000000;
  const size_t nqueries = argc > 2 ? strtoul(argv[2], nullptr, 10) : 1000000;
  const int nrounds = argc > 3 ? atoi(argv[3]) : 5;
  if (nkeys < NTABLES || nqueries == 0 || nrounds <= 0) {
    fprintf(stderr, "usage: lanebloom-bench-databases [KEYS [QUERIES [ROUNDS]]]\n");
    return 2;
  }
  folder = (fs::temp_directory_path() / "lanebloom-databases-XXXXXX").string();
  if (!mkdtemp(folder.data())) {
    perror("lanebloom-bench-databases");
    return EXIT_FAILURE;
  }
  atexit([] { fs::remove_all(folder); });
  const std::vector<uint8_t> absent = make_keys(nqueries, false);
  compare_rocksdb(fs::path(folder) / "rocksdb", make_keys(nkeys, true), absent, nrounds);
  compare_leveldb(fs::path(folder) / "leveldb",
                  make_keys(std::max<size_t>(nkeys / 5, NTABLES), true), absent, nrounds);
  return EXIT_SUCCESS;
}
