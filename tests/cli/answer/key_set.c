/* The table of `match`: finding keys that were chosen to have equal hashes takes no longer than
 * finding others.
 * SPDX-License-Identifier: MIT */
#include "../cli/answer/key_set.h"

#include <criterion/criterion.h>
#include <lanebloom.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KEY_NBYTES = 32, NKEYS = 20000 };

/* XXPH3 xors a key's first 8 bytes with these bytes, and multiplies the result by other bytes. The
 * product is 0 for all keys that begin with these bytes. */
static const unsigned char secret[] = {0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe};

static void make_key(char key[KEY_NBYTES + 1], unsigned number)
{
  memcpy(key, secret, sizeof secret);
  snprintf(key + sizeof secret, KEY_NBYTES + 1 - sizeof secret, "%08x0123456789abcdef", number);
}

/* Reads n lines, which repeat ndistinct keys. */
static void read_keys(struct key_set *set, unsigned n, unsigned ndistinct)
{
  char path[32], line[KEY_NBYTES + 1];
  const int fd = memfd_create("keys", 0);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  FILE *file = fdopen(fd, "wb");
  cr_assert(file);
  for (unsigned i = 0; i < n; i++) {
    make_key(line, i % ndistinct);
    line[KEY_NBYTES] = '\n';
    cr_assert(fwrite(line, sizeof line, 1, file) == 1);
  }
  cr_assert(fflush(file) == 0);
  key_set_read(set, path, &(struct record_syntax){.terminator = '\n'},
               &(struct input_messages){.verb = "match"});
  fclose(file);
}

/* Returns an upper bound of the steps to find every key. Finding one key takes at most as many
 * steps as there are slots in the key's run. */
static size_t count_steps(const struct key_set *set)
{
  size_t nsteps = 0, run = 0;
  for (size_t i = 0; i < set->nregions * set->region_nslots; i++) {
    run = set->slots[i] ? run + 1 : 0;
    nsteps += run; /* a run of n slots adds about n * n / 2 */
  }
  return 2 * nsteps;
}

static size_t steps_of(unsigned n, unsigned ndistinct)
{
  struct key_set set;
  read_keys(&set, n, ndistinct);
  const size_t nsteps = count_steps(&set);
  key_set_free(&set);
  return nsteps;
}

Test(key_set, chosen_keys_take_linear_time)
{
  char keys[2][KEY_NBYTES + 1];
  uint64_t hashes[2];
  make_key(keys[0], 0);
  make_key(keys[1], 1);
  const lanebloom_keys both = lanebloom_keys_strided(keys, KEY_NBYTES, sizeof keys[0], 2);
  cr_assert(lanebloom_hash(LANEBLOOM_ROCKSDB_LOCAL, &both, hashes) == LANEBLOOM_OK &&
                hashes[0] == hashes[1],
            "the keys share no hash");

  const size_t once = steps_of(NKEYS, NKEYS), twice = steps_of(2 * NKEYS, 2 * NKEYS);
  cr_assert(twice <= once * 5 / 2, "%zu steps become %zu", once, twice);
  cr_assert(steps_of(NKEYS, 1) == 2, "repeated keys take steps");
}
