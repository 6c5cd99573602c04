// The databases of both engines: how each kind is made, and how its keys are listed.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>

const int NKEYS = 3000; // most kinds have this many keys
const std::string value(100, 'v');

std::string key(const char *begin, int i);

template <class Status> void check(const Status &status)
{
  if (status.ok())
    return;
  std::cerr << status.ToString() << "\n";
  std::exit(EXIT_FAILURE);
}

template <class Iterator> void print_keys(Iterator &at)
{
  for (at.SeekToFirst(); at.Valid(); at.Next())
    std::cout << at.key().ToString() << "\n";
  check(at.status());
}

// Writes keys until the process is killed, and prints each when the database has acknowledged it.
template <class Database> void write_until_killed(Database &db)
{
  const std::string large(700, 'v');
  for (int i = 0;; i++) {
    check(db.Put({}, key("w", i), large));
    std::cout << key("w", i) << std::endl;
  }
}

// Maps the name of each kind to a function that writes such a database into a folder.
using Kinds = std::map<std::string, std::function<void(const std::string &folder)>>;

namespace leveldb_databases
{
extern const Kinds kinds;
void print(const std::string &folder, const std::string &kind);
void write(const std::string &folder);
} // namespace leveldb_databases

namespace rocksdb_databases
{
extern const Kinds kinds;
void print(const std::string &folder, const char *family, const std::string &kind); // NULL: all
void write(const std::string &folder, bool recycles);
} // namespace rocksdb_databases
