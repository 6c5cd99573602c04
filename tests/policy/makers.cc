// Policies and databases that the real LevelDB makes.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <lanebloom_leveldb.h>
#include <leveldb/db.h>

#include "policy.h"

extern "C" leveldb_filterpolicy_t *c_api_create(int bits_per_key); // in c_api.c

struct policy {
  leveldb_filterpolicy_t *c_api; // NULL if the policy is from C++
  const leveldb::FilterPolicy *used;
};

policy *policy_create(maker maker, int bits_per_key)
{
  policy made = {};
  switch (maker) {
  case BUILT_IN:
    made.used = leveldb::NewBloomFilterPolicy(bits_per_key);
    break;
  case BY_CLASS:
    made.used = lanebloom::NewLevelDBFilterPolicy(bits_per_key);
    break;
  default: // a policy of the C API is a FilterPolicy (LevelDB 1.23 db/c.cc)
    made.c_api = c_api_create(bits_per_key);
    made.used = reinterpret_cast<const leveldb::FilterPolicy *>(made.c_api);
  }
  return made.used ? new policy(made) : nullptr;
}

void policy_destroy(policy *with)
{
  if (with->c_api)
    leveldb_filterpolicy_destroy(with->c_api);
  else
    delete with->used;
  delete with;
}

const char *policy_name(const policy *with)
{
  return with->used->Name();
}

static leveldb::Slice slice_of(const void *data, size_t size)
{
  return size > 0 ? leveldb::Slice(static_cast<const char *>(data), size) : leveldb::Slice();
}

uint8_t *policy_filter(const policy *with, const lanebloom_slice *keys, size_t n, size_t *size)
{
  static const std::string before("what is there already");
  std::vector<leveldb::Slice> slices;
  for (size_t i = 0; i < n; i++)
    slices.push_back(slice_of(keys[i].data, keys[i].size));
  std::string to(before);
  with->used->CreateFilter(slices.data(), static_cast<int>(n), &to);
  if (to.compare(0, before.size(), before) != 0)
    std::abort();
  *size = to.size() - before.size();
  uint8_t *filter = static_cast<uint8_t *>(std::malloc(*size + 1));
  if (!filter)
    std::abort();
  std::memcpy(filter, to.data() + before.size(), *size);
  return filter;
}

bool policy_may_match(const policy *with, const void *filter, size_t size, const void *key,
                      size_t key_size)
{
  return with->used->KeyMayMatch(slice_of(key, key_size), slice_of(filter, size));
}

// ---- Databases ----

static void check(const leveldb::Status &status)
{
  if (!status.ok()) {
    std::fprintf(stderr, "LevelDB: %s\n", status.ToString().c_str());
    std::abort();
  }
}

static leveldb::Options options_of(const policy *with)
{
  leveldb::Options options;
  options.create_if_missing = true;
  options.filter_policy = with->used;
  options.write_buffer_size = 64 << 20; // so large that only requested compactions happen
  options.max_file_size = 1 << 20;
  return options;
}

static std::unique_ptr<leveldb::DB> open(const policy *with, const char *folder)
{
  leveldb::DB *db;
  check(leveldb::DB::Open(options_of(with), folder, &db));
  return std::unique_ptr<leveldb::DB>(db);
}

// Makes a key of one of many lengths. An absent key is a present one with one more byte.
static std::string key(size_t i, bool present)
{
  std::string key = std::to_string(i * 2654435761u % 1000000007u) + std::string(i % 37, 'k');
  return key + (present ? "" : i % 3 == 0 ? "+" : "\xff");
}

static std::string value(size_t i)
{
  std::string value;
  for (size_t j = 0; j < i % 20; j++) // these digits do not compress well
    value += std::to_string((i + 1) * (j + 1) * 2654435761u);
  return value;
}

void database_write(const policy *with, const char *folder, size_t nkeys)
{
  const std::unique_ptr<leveldb::DB> db = open(with, folder);
  for (int time = 0; time < 2; time++) { // the second time compacts the first tables
    for (size_t i = 0; i < nkeys; i++)
      check(db->Put({}, key(i, true), value(i)));
    db->CompactRange(nullptr, nullptr);
  }
}

size_t database_read(const policy *with, const char *folder, size_t nkeys)
{
  const std::unique_ptr<leveldb::DB> db = open(with, folder);
  size_t nright = 0;
  for (size_t i = 0; i < nkeys; i++) {
    std::string found;
    nright += db->Get({}, key(i, true), &found).ok() && found == value(i);
    nright += db->Get({}, key(i, false), &found).IsNotFound();
  }
  return nright;
}
