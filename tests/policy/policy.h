/* LevelDB's built-in Bloom policy, and lanebloom's policy made in two ways, for tests in C. Link
 * libleveldb.a.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_POLICY_H
#define LANEBLOOM_TESTS_POLICY_H

#include <lanebloom.h>

#ifdef __cplusplus
extern "C" {
#endif

enum maker { BUILT_IN, BY_CLASS, BY_C_API, NMAKERS };

typedef struct policy policy;

/* Returns a policy, or NULL if the maker refuses this number of bits. */
policy *policy_create(enum maker maker, int bits_per_key);
void policy_destroy(policy *with);
const char *policy_name(const policy *with);

/* Calls CreateFilter, and checks that it only appends. For free(). */
uint8_t *policy_filter(const policy *with, const lanebloom_slice *keys, size_t n, size_t *size);

bool policy_may_match(const policy *with, const void *filter, size_t size, const void *key,
                      size_t key_size);

/* Writes nkeys keys twice to a database, and compacts it whole each time. Equal calls make equal
 * files. If LevelDB fails, the program ends. */
void database_write(const policy *with, const char *folder, size_t nkeys);

/* Looks up every key, and compares its value. Also looks up as many absent keys, none of which may
 * be found. Returns the number of right results. */
size_t database_read(const policy *with, const char *folder, size_t nkeys);

#ifdef __cplusplus
}
#endif

#endif
