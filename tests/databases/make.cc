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
#include <cstring>

#include "databases.h"

std::string key(const char *begin, int i)
{
  char text[40];
  std::snprintf(text, sizeof text, "%s%06d", begin, i);
  return text;
}

int main(int argc, char **argv)
{
  const std::string what = argc > 1 ? argv[1] : "";
  Kinds kinds = leveldb_databases::kinds;
  kinds.insert(rocksdb_databases::kinds.begin(), rocksdb_databases::kinds.end());
  if (what == "kinds")
    for (const auto &kind : kinds)
      std::cout << kind.first << "\n";
  else if (what == "make" && argc == 4 && kinds.count(argv[2]))
    kinds.at(argv[2])(argv[3]);
  else if (what == "keys" && argc >= 4 && std::strncmp(argv[2], "leveldb", 7) == 0)
    leveldb_databases::print(argv[3], argv[2]);
  else if (what == "keys" && argc >= 4)
    rocksdb_databases::print(argv[3], argc > 4 ? argv[4] : nullptr, argv[2]);
  else if (what == "write" && argc == 4 && std::strcmp(argv[2], "leveldb") == 0)
    leveldb_databases::write(argv[3]);
  else if (what == "write" && argc == 4)
    rocksdb_databases::write(argv[3], std::strcmp(argv[2], "rocksdb-recycled") == 0);
  else
    return EXIT_FAILURE;
  return EXIT_SUCCESS;
}
