// Does in C++ what consumer.c does.
// SPDX-License-Identifier: MIT
#include <lanebloom.h>

int main()
{
  const lanebloom_keys key = lanebloom_keys_fixed("hello", 5, 1);
  lanebloom_filter *filter;
  if (lanebloom_filter_build(LANEBLOOM_LEVELDB, 10, &key, &filter) != LANEBLOOM_OK)
    return 1;
  const bool right = lanebloom_filter_may_contain(filter, "hello", 5) &&
                     !lanebloom_filter_may_contain(filter, "x", 1);
  lanebloom_filter_free(filter);
  return !right;
}
