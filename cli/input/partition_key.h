/* Makes the partition keys of Cassandra and ScyllaDB from the text of their columns.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PARTITION_KEY_H
#define LANEBLOOM_CLI_PARTITION_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

enum { MAX_NCOLUMNS = 64 };

/* The types of the columns of a partition key, in order. */
struct partition_key {
  const struct column_type *types[MAX_NCOLUMNS];
  size_t n; /* 0: keys are not partition keys */
};

/* The names of the types, for messages. */
#define COLUMN_TYPES_TEXT "text, int, bigint, uuid and blob"

/* Reads a list of types, such as "text,int". If it is malformed, returns false and writes a message
 * into `problem`. */
bool parse_partition_key(const char *list, struct partition_key *key, char *problem,
                         size_t problem_size);

/* Returns the largest size that a partition key may have if the text of its columns has nbytes. */
size_t max_partition_key_nbytes(const struct partition_key *key, size_t nbytes);

/* Makes a partition key from the text of its columns, between which there are tabs. Writes it at
 * `to', which must not overlap the text, and returns its end. Returns NULL if the text is
 * malformed. */
uint8_t *encode_partition_key(const struct partition_key *key, lanebloom_slice text, uint8_t *to);

/* Writes into `problem' why the text is malformed. Returns the index of the faulty byte. */
size_t explain_partition_key(const struct partition_key *key, lanebloom_slice text, char *problem,
                             size_t problem_size);

#endif
