// The option sets of both engines, and functions that write databases with them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include "oracle.h"

namespace oracle
{
// ---- Both engines ----

template <class Status> void check(const Status &status)
{
  if (status.ok())
    return;
  std::fprintf(stderr, "oracle: %s\n", status.ToString().c_str());
  std::abort();
}

struct Rng {
  uint64_t state;
  uint64_t next();
  uint64_t below(uint64_t end);
};

std::string bytes(Rng &rng, size_t n);

// Makes keys of all kinds: decimal, binary, short and long, including the empty key and one of 100
// KB.
std::string key(Rng &rng, size_t i);
std::string value(Rng &rng);

// Makes nkeys keys, sorted and without duplicates.
std::vector<std::string> sorted_keys(Rng &rng, size_t nkeys);

// Receives keys that are read.
struct Sink {
  oracle_key *take;
  void *context;
  template <class Iterator> void all(Iterator *at, size_t suffix_nbytes = 0) const
  {
    for (at->SeekToFirst(); at->Valid(); at->Next())
      take(context, at->key().data(), at->key().size() - suffix_nbytes);
    check(at->status());
  }
};

// ---- LevelDB ----

struct LevelDbSet {
  bool has_filter = true, is_table = false, is_reverse = false, has_versions = false;
  const char *renamed = nullptr;
  bool is_signed = false;
  int bits = 10;
  size_t block_nbytes = 4096, write_buffer_nbytes = 4 << 20;
  bool is_packed = true;
};

void write_leveldb(const LevelDbSet &set, const std::string &folder, size_t nkeys, uint64_t seed);
void read_leveldb_table(const LevelDbSet &set, const std::string &path, const Sink &sink);
void read_leveldb_database(const LevelDbSet &set, const std::string &folder, const Sink &sink);

// ---- RocksDB ----

struct RocksDbSet {
  std::function<void(rocksdb::Options &, rocksdb::BlockBasedTableOptions &)> change;
  bool is_external = false, is_ingested = false, has_tombstones_alone = false, has_times = false;
};

void write_rocksdb(const RocksDbSet &set, const std::string &folder, size_t nkeys, uint64_t seed);
void read_rocksdb_table(const RocksDbSet &set, const std::string &path, const Sink &sink);
void read_rocksdb_database(const RocksDbSet &set, const std::string &folder, const Sink &sink);
} // namespace oracle
