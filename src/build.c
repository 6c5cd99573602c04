/* Builds filters from one batch of keys and from a stream of batches, and merges builders.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"
#include "repetitions.h"

/* Says how the size of a filter is chosen. */
struct size_rule {
  double rate;         /* if 0, the bits per key decide; otherwise the rate does, and sets them */
  double bits_per_key; /* to record: the requested value, limited to the highest with an effect */
  uint64_t millibits;  /* the bits per key in effect, in thousandths */
};

/* A builder is sized if it was created with expected_keys, or by lanebloom_builder_part(). A sized
 * builder has the filter in `memory` from the start. A builder that is not sized stores `hashes`
 * until the filter is finished, because the number of keys is not known before. */
struct lanebloom_builder {
  const struct format_table *format;
  struct size_rule rule;
  uint64_t nkeys; /* added so far, or LANEBLOOM_UNKNOWN */
  lanebloom_key_form key_form;
  bool sized;

  struct filter_shape shape; /* if sized */
  struct memory memory;      /* if sized; has no bytes between a finish and the next add */

  uint8_t *hashes; /* if not sized: nhashes hashes, and room for `room` hashes */
  size_t nhashes, room;
};

/* ---- Sized: keys set bits at once ---- */

static lanebloom_status create_payload(const struct format_table *format,
                                       const struct filter_shape *shape, struct memory *memory)
{
  *memory = lanebloom_memory_create(format_nbytes(format, shape));
  return memory->bytes ? LANEBLOOM_OK : LANEBLOOM_ERR_MEMORY;
}

static lanebloom_status ensure_payload(lanebloom_builder *builder)
{
  return builder->memory.bytes ? LANEBLOOM_OK
                               : create_payload(builder->format, &builder->shape, &builder->memory);
}

/* ---- Not sized: hashes are stored until their number is known ---- */

/* Makes room for n more hashes. If the room grows, it is at least doubled, so that few calls copy.
 * Large arrays are cheap to grow: the system moves them by remapping pages, and pages that are
 * never written take no memory. */
static lanebloom_status ensure_room(lanebloom_builder *builder, size_t n)
{
  const size_t size = HASH_NBYTES[builder->format->hash];
  if (n <= builder->room - builder->nhashes)
    return LANEBLOOM_OK;
  if (n > PTRDIFF_MAX / size / 2 - builder->nhashes)
    return LANEBLOOM_ERR_MEMORY;
  size_t room = builder->nhashes + n;
  if (room < 2 * builder->room)
    room = 2 * builder->room;
  uint8_t *hashes = realloc(builder->hashes, room * size);
  if (!hashes)
    return LANEBLOOM_ERR_MEMORY;
  builder->hashes = hashes;
  builder->room = room;
  return LANEBLOOM_OK;
}

static uint8_t *end_of_hashes(const lanebloom_builder *builder)
{
  return builder->hashes + builder->nhashes * HASH_NBYTES[builder->format->hash];
}

/* Appends n hashes that the caller has written to end_of_hashes(). If the format drops equal
 * neighbours, repetitions are removed first. */
static void append_block(lanebloom_builder *builder, size_t n)
{
  const size_t size = HASH_NBYTES[builder->format->hash];
  uint8_t *hashes = end_of_hashes(builder);
  if (builder->format->drops_equal_neighbours) {
    const size_t first = builder->nhashes == 0; /* no hash is before the first one */
    hashes += first * size;
    n = first + lanebloom_repetitions_drop(hashes, n - first, size);
  }
  builder->nhashes += n;
}

/* Appends the hashes of keys, one block at a time, so that hashes are still in the cache when they
 * are compared with their neighbours. */
static void append_keys(lanebloom_builder *builder, hash_function *hash, const lanebloom_keys *keys)
{
  struct hash_source source;
  hash_source_of_keys(&source, keys, hash, HASH_NBYTES[builder->format->hash]);
  while (source.next < source.n)
    append_block(builder, hash_source_write(&source, hash_source_block_nkeys(&source),
                                            end_of_hashes(builder)));
}

/* Appends the hashes of `from` to the hashes of `into`. Neither of the two has repetitions, so only
 * the first hash of `from` can repeat the last hash of `into`. */
static void append_stored(lanebloom_builder *into, const lanebloom_builder *from)
{
  const size_t size = HASH_NBYTES[into->format->hash];
  uint8_t *end = end_of_hashes(into);
  const size_t first = into->format->drops_equal_neighbours && into->nhashes > 0 &&
                       memcmp(end - size, from->hashes, size) == 0;
  memcpy(end, from->hashes + first * size, (from->nhashes - first) * size);
  into->nhashes += from->nhashes - first;
}

/* ---- Both ---- */

/* Sets the bits of all hashes. If no scratch memory can be allocated, kernels do without it and are
 * only slower. */
static void add_hashes(const struct format_table *format, const struct kernel_table *kernels,
                       const struct filter_shape *shape, uint8_t *bytes, struct hash_source *source)
{
  if (source->n <= FEW_ADDED)
    kernels = &lanebloom_kernels_scalar;
  const struct layout_kernels *layout = &kernels->layout[format->layout];
  const size_t nbytes = layout->scratch_nbytes ? layout->scratch_nbytes(shape, source->n) : 0;
  struct memory scratch = {0};
  if (nbytes > 0)
    scratch = lanebloom_memory_create(nbytes);
  source->scratch = scratch.bytes;
  layout->add(shape, bytes + format->header_nbytes, source);
  format_count(format, bytes, source->nnew);
  lanebloom_memory_free(&scratch);
}

static lanebloom_status plan_filter(const struct format_table *format, struct size_rule *rule,
                                    uint64_t nkeys, struct filter_shape *shape)
{
  if (rule->rate == 0)
    return format->plan(format, rule->millibits, nkeys, shape);
  const lanebloom_status status =
      lanebloom_format_plan_for_rate(format, rule->rate, nkeys, shape, &rule->millibits);
  rule->bits_per_key = (double)rule->millibits / 1000;
  return status;
}

/* Allocates a builder that has these properties. */
static lanebloom_status allocate(lanebloom_builder made, lanebloom_builder **builder)
{
  lanebloom_status status;
  lanebloom_builder *created = malloc(sizeof *created);
  if (!created)
    return LANEBLOOM_ERR_MEMORY;
  if (made.sized && (status = ensure_payload(&made))) {
    free(created);
    return status;
  }
  *created = made;
  *builder = created;
  return LANEBLOOM_OK;
}

/* Plans and allocates a builder that has these properties. expected_keys may be 0. */
static lanebloom_status create(lanebloom_builder made, uint64_t expected_keys,
                               lanebloom_builder **builder)
{
  made.sized = expected_keys > 0;
  const lanebloom_status status = plan_filter(made.format, &made.rule, expected_keys, &made.shape);
  return status ? status : allocate(made, builder);
}

lanebloom_status lanebloom_builder_create(lanebloom_format id, double bits_per_key,
                                          uint64_t expected_keys, lanebloom_builder **builder)
{
  *builder = NULL;
  const struct format_table *format;
  lanebloom_status status = lanebloom_format_find_to_build(id, &format);
  if (status)
    return status;
  lanebloom_builder made = {.format = format};
  made.rule.bits_per_key = fmin(bits_per_key, (double)format->max_millibits / 1000);
  status = format->round_bits(format, bits_per_key, &made.rule.millibits);
  return status ? status : create(made, expected_keys, builder);
}

lanebloom_status lanebloom_builder_create_for_rate(lanebloom_format id, double rate,
                                                   uint64_t expected_keys,
                                                   lanebloom_builder **builder)
{
  *builder = NULL;
  const struct format_table *format;
  const lanebloom_status status = lanebloom_format_find_to_build(id, &format);
  if (status)
    return status;
  if (!(rate > 0 && rate < 1))
    return LANEBLOOM_ERR_ARGUMENT;
  return create((lanebloom_builder){.format = format, .rule = {.rate = rate}}, expected_keys,
                builder);
}

lanebloom_status lanebloom_builder_create_like(const lanebloom_filter *filter,
                                               lanebloom_builder **builder)
{
  *builder = NULL;
  const struct format_table *format;
  const lanebloom_status status = lanebloom_format_find_to_build(filter->format->id, &format);
  if (status)
    return status;
  if (filter->shape.answer != ANSWER_BY_PROBES)
    return LANEBLOOM_ERR_ARGUMENT;
  return allocate((lanebloom_builder){.format = format,
                                      .rule = {.bits_per_key = filter->facts.bits_per_key},
                                      .key_form = filter->facts.key_form,
                                      .sized = true,
                                      .shape = filter->shape},
                  builder);
}

void lanebloom_builder_free(lanebloom_builder *builder)
{
  if (!builder)
    return;
  lanebloom_memory_free(&builder->memory);
  free(builder->hashes);
  free(builder);
}

lanebloom_status lanebloom_builder_set_key_form(lanebloom_builder *builder, lanebloom_key_form form)
{
  if (!lanebloom_key_form_is_known(form))
    return LANEBLOOM_ERR_ARGUMENT;
  builder->key_form = form;
  return LANEBLOOM_OK;
}

lanebloom_key_form lanebloom_builder_key_form(const lanebloom_builder *builder)
{
  return builder->key_form;
}

lanebloom_status lanebloom_builder_reserve(lanebloom_builder *builder, size_t n)
{
  if (!lanebloom_kernels_current())
    return LANEBLOOM_ERR_KERNEL;
  return builder->sized ? ensure_payload(builder) : ensure_room(builder, n);
}

lanebloom_status lanebloom_builder_add(lanebloom_builder *builder, const lanebloom_keys *keys)
{
  const struct kernel_table *kernels = lanebloom_kernels_current();
  if (!kernels)
    return LANEBLOOM_ERR_KERNEL;
  const struct format_table *format = builder->format;
  lanebloom_status status =
      builder->sized ? ensure_payload(builder) : ensure_room(builder, keys->n);
  if (status)
    return status;

  if (builder->sized) {
    struct hash_source source;
    hash_source_of_keys(&source, keys, kernels->hash[format->hash], HASH_NBYTES[format->hash]);
    add_hashes(format, kernels, &builder->shape, builder->memory.bytes, &source);
  } else {
    append_keys(builder, kernels->hash[format->hash], keys);
  }
  builder->nkeys = add_counts(builder->nkeys, keys->n);
  return LANEBLOOM_OK;
}

static lanebloom_status compare_builders(const lanebloom_builder *expected,
                                         const lanebloom_builder *found,
                                         const struct problem *problem)
{
  lanebloom_status status = lanebloom_compare_formats(expected->format, expected->key_form,
                                                      found->format, found->key_form, problem);
  if (status)
    return status;
  if (expected->sized != found->sized)
    return expected->sized
               ? lanebloom_differ(problem, "a builder with a number of expected keys",
                                  "one without")
               : lanebloom_differ(problem, "a builder without a number of expected keys",
                                  "one with it");
  if (expected->sized)
    return lanebloom_compare_shapes(
        &expected->shape, format_nbytes(expected->format, &expected->shape), &found->shape,
        format_nbytes(found->format, &found->shape), problem);
  if (expected->rule.rate != found->rule.rate)
    return problem_set(problem, LANEBLOOM_ERR_MISMATCH,
                       "expected a false-positive rate of %.10g, found %.10g", expected->rule.rate,
                       found->rule.rate);
  if (expected->rule.millibits != found->rule.millibits)
    return problem_set(problem, LANEBLOOM_ERR_MISMATCH, "expected %.10g bits per key, found %.10g",
                       (double)expected->rule.millibits / 1000,
                       (double)found->rule.millibits / 1000);
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_builder_merge(lanebloom_builder *into, const lanebloom_builder *from,
                                         char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  if (!lanebloom_kernels_current())
    return problem_status(&problem, LANEBLOOM_ERR_KERNEL);
  if (into == from)
    return problem_set(&problem, LANEBLOOM_ERR_ARGUMENT,
                       "expected another builder, found the same one");
  lanebloom_status status = compare_builders(into, from, &problem);
  if (status)
    return status;

  status = into->sized ? ensure_payload(into) : ensure_room(into, from->nhashes);
  if (status)
    return problem_status(&problem, status);
  if (from->nhashes > 0)
    append_stored(into, from);
  else if (from->memory.bytes)
    merge_bytes(into->memory.bytes, from->memory.bytes, format_nbytes(into->format, &into->shape),
                into->format->count_offset);
  into->nkeys = add_counts(into->nkeys, from->nkeys);
  return LANEBLOOM_OK;
}

/* Divides `total` items into n parts whose sizes differ by at most 1, and returns the index of the
 * first item of part i. If i is n, returns `total`. */
static uint64_t part_begin(uint64_t total, size_t i, size_t n)
{
  const uint64_t nlarger = total % n;
  return total / n * i + (i < nlarger ? i : nlarger);
}

/* Creates a filter of the size that the engine would choose for all stored hashes. Divides the
 * hashes into n parts, and adds only part i to the filter. *rule becomes the builder's rule with
 * the bits per key in effect. */
static lanebloom_status build_payload(const lanebloom_builder *builder,
                                      const struct kernel_table *kernels, size_t i, size_t n,
                                      struct size_rule *rule, struct filter_shape *shape,
                                      struct memory *memory)
{
  const struct format_table *format = builder->format;
  *rule = builder->rule;
  lanebloom_status status = plan_filter(format, rule, builder->nhashes, shape);
  if (!status)
    status = create_payload(format, shape, memory);
  if (status)
    return status;
  const size_t size = HASH_NBYTES[format->hash];
  const size_t first = (size_t)part_begin(builder->nhashes, i, n);
  const size_t end = (size_t)part_begin(builder->nhashes, i + 1, n);
  struct hash_source source;
  hash_source_of_hashes(&source, builder->hashes ? builder->hashes + first * size : NULL, size,
                        end - first);
  add_hashes(format, kernels, shape, memory->bytes, &source);
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_builder_part(const lanebloom_builder *whole, size_t i, size_t n,
                                        lanebloom_builder **part)
{
  *part = NULL;
  const struct kernel_table *kernels = lanebloom_kernels_current();
  if (!kernels)
    return LANEBLOOM_ERR_KERNEL;
  if (whole->sized || i >= n)
    return LANEBLOOM_ERR_ARGUMENT;

  lanebloom_builder *created = malloc(sizeof *created);
  if (!created)
    return LANEBLOOM_ERR_MEMORY;
  *created = (lanebloom_builder){
      .format = whole->format,
      .rule = whole->rule,
      .nkeys = part_begin(whole->nkeys, i + 1, n) - part_begin(whole->nkeys, i, n),
      .key_form = whole->key_form,
      .sized = whole->nhashes > 0}; /* a filter of no keys may be too small to add keys to */
  lanebloom_status status = LANEBLOOM_OK;
  if (created->sized)
    status = build_payload(whole, kernels, i, n, &created->rule, &created->shape, &created->memory);
  if (status) {
    free(created);
    return status;
  }
  *part = created;
  return LANEBLOOM_OK;
}

static void empty(lanebloom_builder *builder)
{
  free(builder->hashes);
  builder->hashes = NULL;
  builder->nhashes = builder->room = 0;
  builder->memory = (struct memory){0}; /* the filter owns the memory now */
  builder->nkeys = 0;
}

lanebloom_status lanebloom_builder_finish(lanebloom_builder *builder, lanebloom_filter **filter)
{
  *filter = NULL;
  const struct kernel_table *kernels = lanebloom_kernels_current();
  if (!kernels)
    return LANEBLOOM_ERR_KERNEL;
  const struct format_table *format = builder->format;

  struct size_rule rule = builder->rule;
  struct filter_shape shape = builder->shape;
  struct memory payload = {0};
  lanebloom_status status = builder->sized
                                ? ensure_payload(builder)
                                : build_payload(builder, kernels, 0, 1, &rule, &shape, &payload);
  if (status)
    return status;
  struct memory memory = builder->sized ? builder->memory : payload;
  if (format->write_frame)
    format->write_frame(format, &shape, memory.bytes);
  const struct filter_facts facts = {
      .nkeys = builder->nkeys, .bits_per_key = rule.bits_per_key, .key_form = builder->key_form};
  status = lanebloom_filter_adopt(format, memory.bytes, (size_t)format_nbytes(format, &shape),
                                  &facts, memory, filter, &no_problem);
  if (status) {
    lanebloom_memory_free(&payload);
    return status;
  }
  empty(builder);
  return LANEBLOOM_OK;
}

/* Counts the hashes without the repetitions. This number decides the size of the filter. */
static uint64_t count_hashes(const struct format_table *format, const struct kernel_table *kernels,
                             const lanebloom_keys *keys)
{
  const size_t size = HASH_NBYTES[format->hash];
  _Alignas(CACHE_LINE_NBYTES) uint8_t hashes[CACHE_LINE_NBYTES + BLOCK_NBYTES];
  /* the last hash of the previous block is just before it */
  uint8_t *const block = hashes + CACHE_LINE_NBYTES;
  struct hash_source source;
  hash_source_of_keys(&source, keys, kernels->hash[format->hash], size);
  uint64_t count = 0;
  while (source.next < source.n) {
    const size_t n = hash_source_write(&source, hash_source_block_nkeys(&source), block);
    const size_t first = count == 0; /* no hash is before the first one */
    count += n - lanebloom_repetitions_count(block + first * size, n - first, size);
    memcpy(block - size, block + (n - 1) * size, size);
  }
  return count;
}

/* Checks whether it is faster to hash keys twice, first for the size and then for the bits, than to
 * store their hashes. Hashing twice is faster if the keys are short and close together, and their
 * hashes exceed the caches. */
static bool hashing_twice_pays(const lanebloom_keys *keys, size_t hash_nbytes)
{
  enum { SHORT_NBYTES = 16, MAX_STORED_NBYTES = 16 << 20 };
  return keys->layout == KEYS_FIXED && keys->width > 0 && keys->stride <= SHORT_NBYTES &&
         keys->n > MAX_STORED_NBYTES / hash_nbytes;
}

/* Returns the number of keys that decides the size of the filter, or 0 if a builder should store
 * the hashes and count them at the end. */
static uint64_t expected_keys_of(const struct format_table *format, const lanebloom_keys *keys)
{
  if (!format->drops_equal_neighbours)
    return keys->n;
  const struct kernel_table *kernels = lanebloom_kernels_current();
  return kernels && hashing_twice_pays(keys, HASH_NBYTES[format->hash])
             ? count_hashes(format, kernels, keys)
             : 0;
}

lanebloom_status lanebloom_filter_build(lanebloom_format id, double bits_per_key,
                                        const lanebloom_keys *keys, lanebloom_filter **filter)
{
  *filter = NULL;
  const struct format_table *format;
  lanebloom_status status = lanebloom_format_find_to_build(id, &format);
  if (status)
    return status;

  /* Checks the arguments first, because expected_keys_of() may have to hash all keys. */
  uint64_t nbytes;
  unsigned nprobes;
  status = lanebloom_plan_size(id, bits_per_key, 1, &nbytes, &nprobes);
  if (status)
    return status;
  lanebloom_builder *builder;
  status = lanebloom_builder_create(id, bits_per_key, expected_keys_of(format, keys), &builder);
  if (!status)
    status = lanebloom_builder_add(builder, keys);
  if (!status)
    status = lanebloom_builder_finish(builder, filter);
  lanebloom_builder_free(builder);
  return status;
}

lanebloom_status lanebloom_filter_build_raw(lanebloom_format id, double bits_per_key,
                                            const lanebloom_keys *keys, void *bytes, size_t room,
                                            size_t *size)
{
  *size = 0;
  const struct format_table *format;
  uint64_t millibits;
  struct filter_shape shape;
  lanebloom_status status = lanebloom_format_find_to_build(id, &format);
  if (!status)
    status = format->round_bits(format, bits_per_key, &millibits);
  if (status)
    return status;
  const struct kernel_table *kernels = lanebloom_kernels_current();
  if (!kernels)
    return LANEBLOOM_ERR_KERNEL;
  const uint64_t nkeys =
      format->drops_equal_neighbours ? count_hashes(format, kernels, keys) : keys->n;
  status = format->plan(format, millibits, nkeys, &shape);
  if (status)
    return status;
  const uint64_t nbytes = format_nbytes(format, &shape);
  if (nbytes > SIZE_MAX)
    return LANEBLOOM_ERR_LIMIT;
  *size = (size_t)nbytes;
  if (nbytes > room)
    return LANEBLOOM_ERR_ROOM;

  memset(bytes, 0, (size_t)nbytes);
  struct hash_source source;
  hash_source_of_keys(&source, keys, kernels->hash[format->hash], HASH_NBYTES[format->hash]);
  add_hashes(format, kernels, &shape, bytes, &source);
  if (format->write_frame)
    format->write_frame(format, &shape, bytes);
  return LANEBLOOM_OK;
}
