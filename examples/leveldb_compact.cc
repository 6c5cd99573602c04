// Compacts a LevelDB database with lanebloom's filter policy, and compares this policy with
// LevelDB's own.
//   leveldb_compact [--built-in] [--alone] DATABASE [BITS_PER_KEY]
// Both policies build each filter. The bytes of the two filters are compared, and the program
// prints how long each policy took in all calls of this compaction. The database gets lanebloom's
// filters or, with --built-in, LevelDB's. With --alone, only the policy whose filters the database
// gets runs, so that the time of the whole compaction can be measured.
//
// The database must use the bytewise comparator, and no other program may have it open. To compile:
//   c++ -O2 leveldb_compact.cc $(pkg-config --cflags --libs lanebloom) -lleveldb
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include <lanebloom_leveldb.h>
#include <leveldb/db.h>

using nanoseconds = std::chrono::duration<double, std::nano>;
using stopwatch = std::chrono::steady_clock;

// A filter policy that builds each filter by one or two other policies and measures them. LevelDB
// compacts in one thread, so the counts need no lock.
class Both : public leveldb::FilterPolicy
{
public:
  std::unique_ptr<const leveldb::FilterPolicy> used, other; // other may be null
  mutable double used_ns = 0, other_ns = 0;
  mutable unsigned long nfilters = 0, nkeys = 0, ndifferent = 0;
  double clock_ns = 1e9; // the time for reading the clock

  Both()
  {
    for (int i = 0; i < 1000; i++) {
      const stopwatch::time_point begin = stopwatch::now();
      const double ns = nanoseconds(stopwatch::now() - begin).count();
      clock_ns = ns < clock_ns ? ns : clock_ns;
    }
  }

  const char *Name() const override
  {
    return used->Name();
  }

  void CreateFilter(const leveldb::Slice *keys, int n, std::string *to) const override
  {
    nfilters++;
    nkeys += static_cast<unsigned long>(n);
    if (!other) {
      used->CreateFilter(keys, n, to);
      return;
    }
    if (nfilters % 2) // the policies take turns, because the second one finds the keys in the cache
      other_ns += timed(*other, keys, n, &of_other_);
    used_ns += timed(*used, keys, n, &of_used_);
    if (nfilters % 2 == 0)
      other_ns += timed(*other, keys, n, &of_other_);
    ndifferent += of_used_ != of_other_;
    to->append(of_used_);
  }

  bool KeyMayMatch(const leveldb::Slice &key, const leveldb::Slice &filter) const override
  {
    return used->KeyMayMatch(key, filter);
  }

private:
  mutable std::string of_used_, of_other_;

  double timed(const leveldb::FilterPolicy &policy, const leveldb::Slice *keys, int n,
               std::string *to) const
  {
    to->clear();
    const stopwatch::time_point begin = stopwatch::now();
    policy.CreateFilter(keys, n, to);
    return nanoseconds(stopwatch::now() - begin).count() - clock_ns;
  }
};

static int usage()
{
  fprintf(stderr, "usage: leveldb_compact [--built-in] [--alone] DATABASE [BITS_PER_KEY]\n");
  return 2;
}

int main(int argc, char **argv)
{
  bool built_in = false, alone = false;
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; at++) {
    if (strcmp(argv[at], "--built-in") == 0)
      built_in = true;
    else if (strcmp(argv[at], "--alone") == 0)
      alone = true;
    else
      return usage();
  }
  if (at == argc || argc > at + 2)
    return usage();
  const int bits_per_key = at + 1 < argc ? atoi(argv[at + 1]) : 10;

  Both policy;
  policy.used.reset(lanebloom::NewLevelDBFilterPolicy(bits_per_key));
  if (!policy.used) {
    fprintf(stderr,
            "leveldb_compact: expected bits per key and a kernel that runs here, found "
            "%d bits and LANEBLOOM_KERNEL\n",
            bits_per_key);
    return 2;
  }
  policy.other.reset(leveldb::NewBloomFilterPolicy(bits_per_key));
  if (built_in)
    policy.used.swap(policy.other);
  if (alone)
    policy.other.reset();

  leveldb::Options options;
  options.filter_policy = &policy;
  leveldb::DB *opened;
  const leveldb::Status status = leveldb::DB::Open(options, argv[at], &opened);
  if (!status.ok()) {
    fprintf(stderr, "leveldb_compact: %s\n", status.ToString().c_str());
    return 2;
  }
  std::unique_ptr<leveldb::DB> db(opened);
  const stopwatch::time_point begin = stopwatch::now();
  db->CompactRange(nullptr, nullptr);
  const double seconds = nanoseconds(stopwatch::now() - begin).count() / 1e9;
  db.reset();

  printf("compacted in %.2f s: %lu filters of %.1f keys each\n", seconds, policy.nfilters,
         policy.nfilters ? static_cast<double>(policy.nkeys) / policy.nfilters : 0.0);
  if (alone || policy.nfilters == 0)
    return 0;
  const double ours = built_in ? policy.other_ns : policy.used_ns;
  const double theirs = built_in ? policy.used_ns : policy.other_ns;
  printf("building them: LevelDB's policy %.3f s, lanebloom's %.3f s, %.2f times as fast\n",
         theirs / 1e9, ours / 1e9, theirs / ours);
  if (policy.ndifferent > 0)
    printf("%lu filters differ\n", policy.ndifferent);
  return policy.ndifferent > 0;
}
