/* The C API of lanebloom_leveldb.h, compiled as C11. The makers are in makers.cc.
 * SPDX-License-Identifier: MIT */
#include <lanebloom_leveldb.h>

leveldb_filterpolicy_t *c_api_create(int bits_per_key);

leveldb_filterpolicy_t *c_api_create(int bits_per_key)
{
  return lanebloom_leveldb_filterpolicy_create(bits_per_key);
}
