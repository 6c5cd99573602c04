// A comparator of LevelDB that is not bytewise, for tests.
// SPDX-License-Identifier: MIT
#ifndef LANEBLOOM_TESTS_REVERSE_H
#define LANEBLOOM_TESTS_REVERSE_H

#include <string>

#include <leveldb/comparator.h>

// Bytewise order, reversed.
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

#endif
