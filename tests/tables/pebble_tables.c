/* Columnar blocks and tables of Pebble, made here from random keys and from the keys of a frozen
 * filter.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <string.h>

#include "common/bytes.h"
#include "rows.h"
#include "tables/loader.h"

/* ---- Blocks ---- */

enum { FILE_NBYTES = 1 << 18, MAX_NKEYS = 300, NUMBERS = 2, SLICES = 3, PREFIXES = 4 };

struct file {
  size_t n, begin; /* begin: where the current block begins */
  uint8_t bytes[FILE_NBYTES];
};

static void put_number(struct file *file, uint64_t number, size_t nbytes)
{
  for (size_t i = 0; i < nbytes; i++)
    file->bytes[file->n++] = (uint8_t)(number >> 8 * i);
}

static void put_bytes(struct file *file, lanebloom_slice bytes)
{
  cr_assert(bytes.size < FILE_NBYTES - file->n);
  memcpy(file->bytes + file->n, bytes.data, bytes.size);
  file->n += bytes.size;
}

/* Puts numbers in a width of 2, 4 or 8 bytes, with a base if it is not 8. */
static void put_numbers(struct file *file, const uint64_t *numbers, size_t n, size_t width)
{
  enum { BASE = 3 };
  const bool has_base = width < 8;
  put_number(file, width | (has_base ? 0x80 : 0), 1);
  if (has_base)
    put_number(file, 0 - (uint64_t)BASE, 8);
  while ((file->n - file->begin) % width != 0)
    put_number(file, 0, 1);
  for (size_t i = 0; i < n; i++)
    put_number(file, numbers[i] + (has_base ? BASE : 0), width);
}

static void put_slices(struct file *file, const lanebloom_slice *slices, size_t n, bool has_begin)
{
  uint64_t ends[3 * MAX_NKEYS + 2] = {0};
  size_t nends = has_begin;
  for (size_t i = 0; i < n; i++, nends++)
    ends[nends] = (nends > 0 ? ends[nends - 1] : 0) + slices[i].size;
  put_numbers(file, ends, nends, n % 3 == 0 ? 2 : n % 3 == 1 ? 4 : 8);
  for (size_t i = 0; i < n; i++)
    put_bytes(file, slices[i]);
}

static size_t common(lanebloom_slice a, lanebloom_slice b)
{
  size_t n = 0;
  while (n < a.size && n < b.size && ((const char *)a.data)[n] == ((const char *)b.data)[n])
    n++;
  return n;
}

static lanebloom_slice part(lanebloom_slice slice, size_t begin, size_t end)
{
  return (lanebloom_slice){(const uint8_t *)slice.data + begin, end - begin};
}

/* Puts ascending keys in bundles of 2^shift keys. */
static void put_prefixes(struct file *file, const lanebloom_slice *keys, size_t n, unsigned shift)
{
  lanebloom_slice slices[3 * MAX_NKEYS];
  const size_t shared = common(keys[0], keys[n - 1]);
  size_t nslices = 1, in_bundle = 0;
  slices[0] = part(keys[0], 0, shared);
  for (size_t i = 0; i < n; i++) {
    const size_t end = ((i >> shift) + 1) << shift;
    const bool is_first = (i >> shift) << shift == i;
    if (is_first) {
      in_bundle = common(keys[i], keys[(end < n ? end : n) - 1]);
      slices[nslices++] = part(keys[i], shared, in_bundle);
    }
    const bool is_equal = !is_first && lanebloom_key_compare(keys[i - 1], keys[i]) == 0;
    slices[nslices++] = part(keys[i], is_equal ? keys[i].size : in_bundle, keys[i].size);
  }
  put_number(file, shift, 1);
  put_slices(file, slices, nslices, false);
}

/* A column of the block to make. */
struct made_column {
  uint8_t type;
  const uint64_t *numbers;
  const lanebloom_slice *slices;
};

static void put_columns(struct file *file, size_t header_nbytes, size_t nrows, unsigned shift,
                        const struct made_column *columns, size_t n)
{
  put_number(file, 0, header_nbytes);
  put_number(file, COLUMNS_FORMAT, 1);
  put_number(file, n, 2);
  put_number(file, nrows, 4);
  uint8_t *list = file->bytes + file->n;
  put_bytes(file, (lanebloom_slice){(uint8_t[5 * 8]){0}, 5 * n});
  for (size_t i = 0; i < n; i++) {
    list[5 * i] = columns[i].type;
    store_le32(list + 5 * i + 1, (uint32_t)(file->n - file->begin));
    if (nrows == 0)
      continue;
    if (columns[i].type == NUMBERS)
      put_numbers(file, columns[i].numbers, nrows, 8);
    else if (columns[i].type == PREFIXES)
      put_prefixes(file, columns[i].slices, nrows, shift);
    else
      put_slices(file, columns[i].slices, nrows, true);
  }
  put_number(file, 0, 1);
}

static void put_data(struct file *file, const lanebloom_slice *prefixes,
                     const lanebloom_slice *suffixes, const uint64_t *trailers, size_t n,
                     unsigned shift)
{
  put_columns(file, 4, n, shift,
              (struct made_column[]){{PREFIXES, NULL, prefixes},
                                     {SLICES, NULL, suffixes},
                                     {NUMBERS, trailers, NULL},
                                     {SLICES, NULL, suffixes}},
              4);
}

/* ---- Random keys ---- */

static int compare_keys(const void *a, const void *b)
{
  return lanebloom_key_compare(*(const lanebloom_slice *)a, *(const lanebloom_slice *)b);
}

Test(pebble_tables, random_keys)
{
  static uint8_t bytes[MAX_NKEYS][40];
  static struct file file;
  const size_t nblocks = test_exhaustive() ? 20000 : 500;
  for (size_t block_number = 0; block_number < nblocks; block_number++) {
    test_context("block %zu", block_number);
    struct rng rng = rng_start(block_number);
    lanebloom_slice keys[MAX_NKEYS], suffixes[MAX_NKEYS];
    uint64_t trailers[MAX_NKEYS];
    const size_t n = 1 + (size_t)rng_below(&rng, MAX_NKEYS),
                 nletters = 1 + (size_t)rng_below(&rng, 4);
    const unsigned shift = (unsigned)rng_below(&rng, 8);
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < sizeof bytes[i]; j++)
        bytes[i][j] = (uint8_t)(j < 3 ? 'x' : rng_below(&rng, nletters));
      keys[i] = (lanebloom_slice){bytes[i], (size_t)rng_below(&rng, 20) + 3 * (block_number % 2)};
      suffixes[i] = (lanebloom_slice){bytes[i] + 20, (size_t)rng_below(&rng, 4)};
      trailers[i] = rng_next(&rng);
    }
    qsort(keys, n, sizeof *keys, compare_keys);
    file.n = 0;
    put_data(&file, keys, suffixes, trailers, n, shift);
    struct guarded copy = guarded_copy(file.bytes, file.n, AT_END);
    const struct block block = {.bytes = copy.bytes, .nbytes = copy.nbytes, .layout = COLUMNS_KEYS};
    struct entries entries;
    cr_assert(lanebloom_entries_begin(&block, (struct entry_form){0}, LANEBLOOM_ENGINE_PEBBLE,
                                      &no_problem, &entries) == LANEBLOOM_OK);
    for (size_t i = 0; i < n; i++) {
      cr_assert(lanebloom_entries_next(&entries), "row %zu", i);
      cr_assert(entries.key_nbytes == keys[i].size + suffixes[i].size + SUFFIX_NBYTES);
      test_same_bytes("prefix", entries.key, keys[i].data, keys[i].size);
      test_same_bytes("suffix", entries.key + keys[i].size, suffixes[i].data, suffixes[i].size);
      cr_assert(load_le64(entries.key + keys[i].size + suffixes[i].size) == trailers[i]);
    }
    cr_assert(!lanebloom_entries_next(&entries));
    cr_assert(lanebloom_entries_end(&entries, "block", &no_problem) == LANEBLOOM_OK);
    guarded_free(&copy);
  }
}

/* ---- Tables ---- */

static struct handle end_block(struct file *file)
{
  const struct handle handle = {file->begin, file->n - file->begin};
  put_number(file, 0, 1);
  put_number(
      file,
      lanebloom_checksum(CHECKSUM_CRC32C, file->bytes + handle.offset, (size_t)handle.nbytes + 1),
      4);
  file->begin = file->n;
  return handle;
}

static struct handle put_index(struct file *file, const lanebloom_slice *separators,
                               const struct handle *handles, size_t n)
{
  uint64_t offsets[MAX_NKEYS], sizes[MAX_NKEYS];
  lanebloom_slice none[MAX_NKEYS];
  for (size_t i = 0; i < n; i++) {
    offsets[i] = handles[i].offset;
    sizes[i] = handles[i].nbytes;
    none[i] = (lanebloom_slice){"", 0};
  }
  put_columns(file, 0, n, 0,
              (struct made_column[]){{SLICES, NULL, separators},
                                     {NUMBERS, offsets, NULL},
                                     {NUMBERS, sizes, NULL},
                                     {SLICES, NULL, none}},
              4);
  return end_block(file);
}

static void put_handle(struct file *file, struct handle handle)
{
  for (size_t i = 0; i < 2; i++) {
    uint64_t number = i ? handle.nbytes : handle.offset;
    for (; number >= 0x80; number >>= 7)
      put_number(file, number | 0x80, 1);
    put_number(file, number, 1);
  }
}

static lanebloom_slice string(const char *text)
{
  return (lanebloom_slice){text, strlen(text)};
}

/* How a table is made. */
struct form {
  const char *comparator, *schema;
  size_t nblocks; /* of data */
  bool has_two_levels, has_filter_block;
  size_t prefix_nbytes; /* of a key; the rest is a suffix. 0: a key is a prefix */
};

static struct handle put_properties(struct file *file, const struct form *form, uint8_t nkeys)
{
  const lanebloom_slice names[] = {string("pebble.colblk.schema"),
                                   string("rocksdb.block.based.table.index.type"),
                                   string("rocksdb.comparator"), string("rocksdb.num.entries")},
                        values[] = {string(form->schema),
                                    {form->has_two_levels ? "\2\0\0" : "\0\0\0", 4},
                                    string(form->comparator),
                                    {&nkeys, 1}};
  put_columns(file, 0, 4, 0, (struct made_column[]){{SLICES, NULL, names}, {SLICES, NULL, values}},
              2);
  return end_block(file);
}

/* Puts a filter block that has a filter for each data block. Pebble writes no such block, but a
 * file may have one. */
static void put_filter_block(struct file *file, const struct handle *data, size_t nblocks,
                             const lanebloom_slice *keys, size_t n)
{
  enum { BITS_PER_KEY = 20, BASE_LG = 4 /* less than a data block */ };
  lanebloom_filter_block_builder *builder;
  lanebloom_slice block;
  cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, BITS_PER_KEY, BASE_LG,
                                                  &builder) == LANEBLOOM_OK);
  for (size_t i = 0; i < nblocks; i++) {
    const size_t begin = n * i / nblocks, end = n * (i + 1) / nblocks;
    const lanebloom_keys some = lanebloom_keys_slices(keys + begin, end - begin);
    cr_assert(lanebloom_filter_block_builder_start_block(builder, data[i].offset) == LANEBLOOM_OK);
    cr_assert(lanebloom_filter_block_builder_add(builder, &some) == LANEBLOOM_OK);
  }
  cr_assert(lanebloom_filter_block_builder_finish(builder, &block.data, &block.size) ==
            LANEBLOOM_OK);
  put_bytes(file, block);
  lanebloom_filter_block_builder_free(builder);
}

/* Makes a table of version 7. Its data blocks have about as many keys each. */
static void make_table(struct file *file, const struct form *form, const lanebloom_slice *keys,
                       size_t n, lanebloom_slice filter)
{
  lanebloom_slice prefixes[MAX_NKEYS], suffixes[MAX_NKEYS], separators[MAX_NKEYS];
  uint64_t trailers[MAX_NKEYS] = {0};
  struct handle data[MAX_NKEYS], index[2];
  for (size_t i = 0; i < n; i++) {
    const bool has_suffix = form->prefix_nbytes > 0 && form->prefix_nbytes < keys[i].size;
    const size_t split = has_suffix ? form->prefix_nbytes : keys[i].size;
    prefixes[i] = part(keys[i], 0, split);
    suffixes[i] = part(keys[i], split, keys[i].size);
  }
  file->n = file->begin = 0;
  for (size_t i = 0; i < form->nblocks; i++) {
    const size_t begin = n * i / form->nblocks, end = n * (i + 1) / form->nblocks;
    put_data(file, prefixes + begin, suffixes + begin, trailers, end - begin, 4);
    data[i] = end_block(file);
    separators[i] = n > 0 ? keys[end - 1] : string("");
  }
  if (form->has_two_levels) {
    const size_t half = form->nblocks / 2;
    index[0] = put_index(file, separators, data, half);
    index[1] = put_index(file, separators + half, data + half, form->nblocks - half);
    const lanebloom_slice top[] = {separators[half - 1], separators[form->nblocks - 1]};
    index[0] = put_index(file, top, index, 2);
  } else {
    index[0] = put_index(file, separators, data, form->nblocks);
  }
  const struct handle properties = put_properties(file, form, (uint8_t)n);
  if (form->has_filter_block)
    put_filter_block(file, data, form->nblocks, keys, n);
  else
    put_bytes(file, filter);
  const struct handle filter_handle = end_block(file);

  static struct file handles;
  handles.n = 0;
  put_handle(&handles, filter_handle);
  const size_t nfilter = handles.n;
  put_handle(&handles, properties);
  const lanebloom_slice names[] = {string(form->has_filter_block
                                              ? "filter.leveldb.BuiltinBloomFilter2"
                                              : "fullfilter.rocksdb.BuiltinBloomFilter"),
                                   string("rocksdb.properties")},
                        values[] = {{handles.bytes, nfilter},
                                    {handles.bytes + nfilter, handles.n - nfilter}};
  put_columns(file, 0, 2, 0, (struct made_column[]){{SLICES, NULL, names}, {SLICES, NULL, values}},
              2);
  const struct handle metaindex = end_block(file);

  const size_t footer = file->n;
  put_number(file, CHECKSUM_CRC32C, 1);
  put_handle(file, metaindex);
  put_handle(file, index[0]);
  put_bytes(file, (lanebloom_slice){(uint8_t[40]){0}, footer + 45 - file->n});
  uint8_t behind[12];
  store_le32(behind, 7);
  store_le64(behind + 4, 0xb3aa9ff0b3aa9ff0);
  put_bytes(file, (lanebloom_slice){behind, sizeof behind});
  const uint32_t sum = lanebloom_checksum(CHECKSUM_CRC32C, file->bytes + footer, 57);
  file->n -= sizeof behind;
  put_number(file, sum, 4);
  put_bytes(file, (lanebloom_slice){behind, sizeof behind});
}

/* The keys of a frozen filter, and its bytes. */
struct sample {
  struct guarded bytes[MAX_NKEYS], filter;
  lanebloom_slice keys[MAX_NKEYS];
  size_t n;
};

static void sample_read(struct sample *sample)
{
  enum { ROW = 7 }; /* 40 keys */
  struct rows rows = rows_open("pebble_bloom.txt");
  for (size_t i = 0; i < ROW; i++)
    cr_assert(rows_next(&rows, 6));
  sample->filter = rows_bytes(rows.values[4]);
  for (char *rest = rows.values[3], *key; (key = strtok_r(rest, ",", &rest)); sample->n++) {
    sample->bytes[sample->n] = rows_bytes(key);
    sample->keys[sample->n] =
        (lanebloom_slice){sample->bytes[sample->n].bytes, sample->bytes[sample->n].nbytes};
  }
  qsort(sample->keys, sample->n, sizeof *sample->keys, compare_keys);
  rows_close(&rows);
}

static void sample_free(struct sample *sample)
{
  for (size_t i = 0; i < sample->n; i++)
    guarded_free(&sample->bytes[i]);
  guarded_free(&sample->filter);
}

Test(pebble_tables, schemas_and_orders)
{
#define DEFAULT_SCHEMA "DefaultKeySchema(leveldb.BytewiseComparator,16)"
  static const char bytewise[] = "leveldb.BytewiseComparator",
                    split[] = "it holds what its comparer or key schema extracts from keys",
                    other[] = "in their comparator's order, so the key range is not known";
  static const struct {
    struct form form;
    const char *warning; /* NULL: there is a range, and no warning */
    bool uses_filter;
  } cases[] = {
      {{bytewise, DEFAULT_SCHEMA, 1, false, false, 0}, NULL, true},
      {{bytewise, DEFAULT_SCHEMA, 7, false, false, 0}, NULL, true},
      {{bytewise, DEFAULT_SCHEMA, 7, true, false, 0}, NULL, true},
      {{bytewise, "", 3, false, false, 0}, split, false},
      {{bytewise, "unheard-of", 3, false, false, 0}, split, false},
      {{bytewise, "crdb1", 3, false, false, 0}, split, false},
      {{bytewise, "DefaultKeySchema(other,16)", 3, false, false, 0}, split, false},
      {{bytewise, "DefaultKeySchema(leveldb.BytewiseComparator2,16)", 3, false, false, 0},
       split,
       false},
      {{bytewise, DEFAULT_SCHEMA, 7, true, true, 0}, NULL, true},
      {{bytewise, "unheard-of", 7, false, true, 0}, split, false},
      {{bytewise, "crdb1", 7, false, true, 0}, split, false},
      {{"other", "DefaultKeySchema(other,16)", 3, true, false, 0}, other, false},
  };
  static struct file file;
  static struct sample sample;
  sample_read(&sample);
  const lanebloom_slice filter = {sample.filter.bytes, sample.filter.nbytes};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_context("case %zu", i);
    make_table(&file, &cases[i].form, sample.keys, sample.n, filter);
    lanebloom_table *table;
    char problem[300];
    cr_assert(lanebloom_table_parse(file.bytes, file.n, LANEBLOOM_WRITER_UNKNOWN, &table, problem,
                                    sizeof problem) == LANEBLOOM_OK,
              "%s", problem);
    cr_assert(cases[i].warning ? strstr(table->warning, cases[i].warning) && !table->has_range
                               : !table->warning[0] && table->has_range,
              "%s", table->warning);
    cr_assert(table->uses_filter == cases[i].uses_filter);
    if (table->has_range)
      cr_assert(lanebloom_key_compare(table->smallest, sample.keys[0]) == 0 &&
                lanebloom_key_compare(table->largest, sample.keys[sample.n - 1]) == 0);
    const lanebloom_keys keys = lanebloom_keys_slices(sample.keys, sample.n);
    cr_assert(lanebloom_table_screen(table, &keys, NULL) == sample.n);
    lanebloom_table_free(table);
  }
  sample_free(&sample);
}

/* A program may let a copy of the default comparer extract prefixes, and keep its name. */
Test(pebble_tables, changed_comparers)
{
  static struct file file;
  static struct sample sample;
  sample_read(&sample);
  for (size_t i = 0; i < 4; i++) {
    test_context("case %zu", i);
    const bool has_suffixes = i & 1, lacks_keys = i & 2;
    const struct form form = {
        "leveldb.BytewiseComparator", DEFAULT_SCHEMA, 7, false, false, has_suffixes};
    lanebloom_slice keys[MAX_NKEYS];
    for (size_t j = 0; j < sample.n; j++) /* the filter lacks the first key without its last byte */
      keys[j] = part(sample.keys[j], 0, sample.keys[j].size - (lacks_keys && j == 0));
    make_table(&file, &form, keys, sample.n,
               (lanebloom_slice){sample.filter.bytes, sample.filter.nbytes});
    lanebloom_table *table;
    cr_assert(lanebloom_table_parse(file.bytes, file.n, LANEBLOOM_WRITER_UNKNOWN, &table, NULL,
                                    0) == LANEBLOOM_OK);
    const bool is_default = !has_suffixes && !lacks_keys;
    cr_assert(table->uses_filter == is_default && table->has_range == is_default);
    cr_assert(table->has_whole_keys == is_default && table->has_prefixes == !is_default);
    cr_assert(is_default || strstr(table->warning, "extracts parts of keys"), "%s", table->warning);
    const lanebloom_keys all = lanebloom_keys_slices(keys, sample.n);
    cr_assert(lanebloom_table_screen(table, &all, NULL) == sample.n);
    lanebloom_table_free(table);
  }
  sample_free(&sample);
}

/* A table that holds only ranges has a data block without rows. */
Test(pebble_tables, no_keys)
{
  static struct file file;
  const struct form form = {"leveldb.BytewiseComparator", DEFAULT_SCHEMA, 1, false, false, 0};
  make_table(&file, &form, NULL, 0, (lanebloom_slice){"\0\0\0\0\0", 5});
  lanebloom_table *table;
  cr_assert(lanebloom_table_parse(file.bytes, file.n, LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0) ==
            LANEBLOOM_OK);
  cr_assert(table->is_empty && !table->has_range && !table->warning[0]);
  lanebloom_table_free(table);
}
