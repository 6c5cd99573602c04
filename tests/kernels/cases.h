/* The cases with which every kernel is tested, and the functions that the cases share.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_KERNELS_CASES_H
#define LANEBLOOM_TESTS_KERNELS_CASES_H

#include "batch.h"
#include "format.h"
#include "model.h"
#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct format {
  lanebloom_format id;
  const struct format_table *table;
  size_t hash_nbytes;
  uint32_t line_nbytes; /* a payload is a multiple of this; 1: no lines */
  uint64_t max_nbytes;  /* the largest payload that can be opened; 0: no limit */
  bool is_built;        /* does the builder use lines of this size? */
  bool may_have_rest;   /* may a payload end with a part of a line? */
  const struct model *model;
};

/* A kernel and a case, for one format. */
struct trial {
  const char *name;
  const struct format *format;
  const struct operations *ops, *reference;
  struct rng *rng;
};

/* ---- The cases ---- */

/* Hash functions: hashes.c. */
void hash_one_width(const struct trial *trial);
void hash_mixed_lengths(const struct trial *trial);
void hash_long_keys(const struct trial *trial);
void hash_at_page_edges(const struct trial *trial);
void hash_every_kind_of_byte(const struct trial *trial);
void hash_strided(const struct trial *trial);
void hash_far_offsets(const struct trial *trial);

/* Probing and adding: filters.c. */
void filter_batch_sizes(const struct trial *trial);
void filter_shapes(const struct trial *trial);
void filter_rests_of_lines(const struct trial *trial);
void filter_every_kind_of_hash(const struct trial *trial);
void filter_hashes_at_multiples(const struct trial *trial);
void filter_each_probe_decides(const struct trial *trial);
void filter_beyond_caches(const struct trial *trial);
void filter_around_2_to_32_bits(const struct trial *trial);
void filter_around_2_to_32_bytes(const struct trial *trial);

/* Large batches: large.c. */
void large_hit_rates(const struct trial *trial);
void large_batch_sizes(const struct trial *trial);
void large_adding(const struct trial *trial);

/* Formats that only open: ribbon.c, fuse.c and hudi.c. */
void ribbon_solutions(const struct trial *trial);
void ribbon_every_kind_of_hash(const struct trial *trial);
void ribbon_large(const struct trial *trial);
void ribbon_calls(const struct trial *trial);
void fuse_answers(const struct trial *trial);
void fuse_every_kind_of_hash(const struct trial *trial);
void fuse_large(const struct trial *trial);
void fuse_calls(const struct trial *trial);
void hudi_answers(const struct trial *trial);
void hudi_mixed_lengths(const struct trial *trial);
void hudi_every_kind_of_hash(const struct trial *trial);
void hudi_large(const struct trial *trial);
void hudi_calls(const struct trial *trial);

/* DCSO's layout: dcso.c. */
void dcso_any_number_of_bits(const struct trial *trial);
void dcso_steps_reach_the_prime(const struct trial *trial);
void dcso_beyond_2_to_32_bytes(const struct trial *trial);

/* Keys that are hashed while they are probed or added, and the public calls: calls.c. */
void sources_of_keys(const struct trial *trial);
void calls_around_a_block(const struct trial *trial);
void calls_around_a_part(const struct trial *trial);

/* Sorted hashes and batches of hashes: sorted.c. */
void sorted_hashes(const struct trial *trial);
void batches_of_hashes(const struct trial *trial);

/* ---- Checks that formats that only open share: opened.c ---- */

/* Probes n hashes. The bytes after the first readable_nbytes of the payload may be unmapped. */
void opened_check_probe(const struct trial *trial, const struct filter_shape *shape,
                        const uint8_t *payload, size_t readable_nbytes, const uint64_t *hashes,
                        size_t n);

/* Makes the public calls, which split keys into blocks and parts, with a filter of these bytes. */
void opened_check_calls(const struct trial *trial, const uint8_t *bytes, size_t nbytes);

/* ---- Functions that the cases share: trial.c ---- */

/* Numbers of keys around the width of every kind of vector. */
enum { NBATCH_SIZES = 19, MAX_BATCH = 1000 };
extern const size_t batch_sizes[NBATCH_SIZES];

/* Each check runs in several rounds. In the first round its buffers end at unmapped pages, in the
 * second they begin there, and then they are placed at random. */
enum { NROUNDS = 4 };

size_t trial_place(const struct trial *trial, size_t round);
size_t aligned_place(size_t round); /* for indices, which must be aligned */

/* Makes read-only string views of these keys, as an engine holds them in memory. The function does
 * not use the library's constants, so that an error in the constants is found. */
struct guarded trial_views(const lanebloom_slice *slices, size_t n, size_t place);

/* Calls the operations with an array of n hashes. */
void trial_probe(const struct trial *trial, const struct operations *ops,
                 const struct filter_shape *shape, const uint8_t *payload, const void *hashes,
                 size_t n, uint8_t *bitmap);
void trial_add(const struct trial *trial, const struct operations *ops,
               const struct filter_shape *shape, uint8_t *payload, const void *hashes, size_t n);

/* Adds with the scratch memory of the format. */
void trial_add_with_scratch(const struct trial *trial, const struct operations *ops,
                            const struct filter_shape *shape, uint8_t *payload, const void *hashes,
                            size_t n);

/* Calls test_context() with a description of these values. */
void trial_note(const struct trial *trial, const struct filter_shape *shape, size_t n,
                size_t round);

/* Returns the shape of a payload with nbytes, rounded down to whole lines. It has nprobes probes
 * or, if readers do not accept that number, the next one that they accept. */
struct filter_shape format_shape(const struct format *format, uint64_t nbytes, uint32_t nprobes);

/* Returns the number of probes to test after this one, from the format's min_nprobes to its
 * max_nprobes, and 0 at the end. Writers use at most 30 probes. */
uint32_t format_next_nprobes(const struct format *format, uint32_t nprobes, uint32_t step);

#endif
