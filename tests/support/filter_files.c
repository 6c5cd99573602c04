/* Functions that the tests of container files share.
 * SPDX-License-Identifier: MIT */
#include "filter_files.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void enter_empty_folder(void)
{
  static char folder[64];
  snprintf(folder, sizeof folder, "/tmp/lanebloom-test-XXXXXX");
  cr_assert(mkdtemp(folder) && chdir(folder) == 0, "%s", strerror(errno));
}

void leave_folder(void)
{
  char here[256], command[300];
  cr_assert(getcwd(here, sizeof here) && strncmp(here, "/tmp/lanebloom-test-", 20) == 0);
  snprintf(command, sizeof command, "rm -rf %s", here);
  cr_assert(chdir("/") == 0 && system(command) == 0);
}

size_t files_here(void)
{
  FILE *list = popen("ls -A | wc -l", "r");
  size_t n = 0;
  cr_assert(list && fscanf(list, "%zu", &n) == 1);
  pclose(list);
  return n;
}

lanebloom_filter *build(double bits_per_key, size_t nkeys, uint64_t seed)
{
  uint64_t *keys = malloc(nkeys * sizeof *keys);
  for (size_t i = 0; i < nkeys; i++)
    keys[i] = (i + seed) * 0x9e3779b97f4a7c15;
  const lanebloom_keys batch = lanebloom_keys_fixed(keys, sizeof *keys, nkeys);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, bits_per_key, &batch, &filter) ==
            LANEBLOOM_OK);
  free(keys);
  return filter;
}

void save(const lanebloom_filter *filter, const char *path)
{
  lanebloom_status status = lanebloom_filter_save(filter, path);
  cr_assert(status == LANEBLOOM_OK, "%s: %s, %s", path, lanebloom_status_text(status),
            strerror(errno));
}

bool equal(const lanebloom_filter *a, const lanebloom_filter *b)
{
  size_t asize, bsize;
  const void *abytes = lanebloom_filter_bytes(a, &asize),
             *bbytes = lanebloom_filter_bytes(b, &bsize);
  lanebloom_filter_info ainfo, binfo;
  lanebloom_filter_describe(a, &ainfo, sizeof ainfo);
  lanebloom_filter_describe(b, &binfo, sizeof binfo);
  if (isnan(ainfo.bits_per_key) && isnan(binfo.bits_per_key))
    ainfo.bits_per_key = binfo.bits_per_key = 0;
  return asize == bsize && memcmp(abytes, bbytes, asize) == 0 &&
         memcmp(&ainfo, &binfo, sizeof ainfo) == 0;
}

size_t read_file(const char *path, uint8_t *bytes, size_t room)
{
  FILE *file = fopen(path, "rb");
  cr_assert(file, "%s: %s", path, strerror(errno));
  size_t n = fread(bytes, 1, room, file);
  fclose(file);
  return n;
}
