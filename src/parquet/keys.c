/* Prepares the keys of a caller for screening a column (see keys.h): converts, sorts and hashes the
 * keys.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "../common/bytes.h"
#include "../keys.h"
#include "../system/system.h"
#include "keys.h"

/* ---- Conversion from an encoding of lanebloom.h to the values of a column ---- */

enum { WIDE_NBYTES = 16 }; /* the size of a key that is wider than int64_t */

/* Loads a key: a signed number of 8 bytes or of WIDE_NBYTES, little-endian. */
static __int128 load_signed(lanebloom_slice key)
{
  const uint64_t low = load_le64(key.data);
  if (key.size < WIDE_NBYTES)
    return (int64_t)low;
  const uint64_t high = load_le64((const uint8_t *)key.data + 8);
  return (__int128)((unsigned __int128)high << 64 | low);
}

/* Checks whether the value has at most max_ndigits decimal digits. */
static bool has_digits(__int128 value, uint32_t max_ndigits)
{
  unsigned __int128 rest = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
  for (uint32_t i = 0; i < max_ndigits && rest > 0; i++)
    rest /= 10;
  return rest == 0;
}

static bool convert_decimal(const struct column_type *type, lanebloom_slice key, uint8_t *value)
{
  __int128 decimal = load_signed(key);
  const size_t nbytes = type->value_nbytes;
  if (!has_digits(decimal, type->precision))
    return false;
  for (size_t i = 0; i < nbytes; i++) {
    const size_t at = type->physical == PHYSICAL_FIXED ? nbytes - 1 - i : i;
    value[at] = (uint8_t)decimal;
    decimal >>= 8; /* the shift is arithmetic, so the sign stays */
  }
  /* The number fits into the value if the shifts left only copies of its sign, and the highest bit
   * of the value equals this sign. */
  const bool is_negative = value[type->physical == PHYSICAL_FIXED ? 0 : nbytes - 1] & 0x80;
  return decimal == (is_negative ? -1 : 0);
}

enum { EPOCH = 2440588 }; /* 1970-01-01 in Julian days */
static const int64_t DAY_NS = INT64_C(86400000000000);

static bool is_timestamp(lanebloom_encoding encoding)
{
  return encoding >= LANEBLOOM_TIMESTAMP_S && encoding <= LANEBLOOM_TIMESTAMP_NS;
}

/* Converts a time to INT96: the nanoseconds of the day in 8 bytes, then the Julian day in 4 bytes.
 * Returns false if the day does not fit. */
static bool convert_int96(lanebloom_encoding encoding, lanebloom_slice key, uint8_t *value)
{
  int64_t unit_ns = 1;
  for (lanebloom_encoding finer = encoding; finer < LANEBLOOM_TIMESTAMP_NS; finer++)
    unit_ns *= 1000;
  const int64_t day_units = DAY_NS / unit_ns;
  const __int128 time = load_signed(key);
  const int64_t of_day = (int64_t)((time % day_units + day_units) % day_units);
  const __int128 julian = EPOCH + time / day_units - (time % day_units < 0);
  if (julian != (int32_t)julian)
    return false;
  store_le64(value, (uint64_t)(of_day * unit_ns));
  store_le32(value + 8, (uint32_t)julian);
  return true;
}

/* Changes a time to its second encoding. Some writers round the day towards 1970 instead of down.
 * In the encoding of these writers, times before 1970 have negative nanoseconds of the day. Returns
 * false if the time has only one encoding. */
static bool respell_int96(uint8_t *value)
{
  const int64_t of_day = (int64_t)load_le64(value);
  const int32_t day = (int32_t)load_le32(value + 8);
  if (day >= EPOCH || of_day == 0)
    return false;
  store_le64(value, (uint64_t)(of_day - DAY_NS));
  store_le32(value + 8, (uint32_t)day + 1);
  return true;
}

/* Checks whether the value fits into the bits of the type. Columns of 8 and 16 bits store values in
 * 32 bits. */
static bool is_narrow(const struct column_type *type, const void *key)
{
  if (type->nbits >= 32)
    return true;
  const uint32_t value = load_le32(key), half = 1u << (type->nbits - 1);
  return type->order == ORDER_SIGNED ? value + half < 2 * half : value < 2 * half;
}

/* Converts a key, whose size has been checked. Returns false if the column cannot hold its
 * value. */
static bool convert(const struct column_type *type, lanebloom_encoding encoding,
                    lanebloom_slice key, uint8_t *value)
{
  if (type->encoding == LANEBLOOM_DECIMAL128)
    return convert_decimal(type, key, value);
  if (type->physical == PHYSICAL_INT96)
    return convert_int96(encoding, key, value);
  if ((type->encoding == LANEBLOOM_INT32 || type->encoding == LANEBLOOM_UINT32) &&
      !is_narrow(type, key.data))
    return false;
  if (key.size > 0)
    memcpy(value, key.data, key.size);
  return true;
}

/* Checks the sizes of keys against the size of the column's values. The check must come before
 * memory is allocated, because the size of the values comes from the file, which may state any
 * size. */
static lanebloom_status check_sizes(const struct column_type *type, const lanebloom_keys *keys,
                                    size_t *bad_key, const struct problem *problem)
{
  for (size_t i = 0; i < keys->n && type->key_nbytes > 0; i++) {
    const size_t nbytes = keys_at(keys, i).size;
    const bool may_be_wide = type->physical == PHYSICAL_INT96;
    *bad_key = i;
    if (nbytes != type->key_nbytes && !(may_be_wide && nbytes == WIDE_NBYTES))
      return problem_set(problem, LANEBLOOM_ERR_ARGUMENT,
                         "key %zu: expected %" PRIu32 "%s bytes, as a column of type %s has, found "
                         "%zu",
                         i, type->key_nbytes, may_be_wide ? " or 16" : "", type->text, nbytes);
  }
  *bad_key = keys->n;
  return LANEBLOOM_OK;
}

static lanebloom_status convert_all(lanebloom_parquet_keys *prepared, lanebloom_encoding encoding,
                                    const lanebloom_keys *keys, size_t *bad_key,
                                    const struct problem *problem)
{
  const struct column_type *type = &prepared->type;
  uint64_t offset = 0;
  for (size_t i = 0; i < keys->n; i++) {
    const lanebloom_slice key = keys_at(keys, i);
    *bad_key = i;
    if (!convert(type, encoding, key, prepared->bytes + offset))
      return problem_set(problem, LANEBLOOM_ERR_ARGUMENT,
                         "key %zu: expected a value that a column of type %s can hold, found a "
                         "larger one",
                         i, type->text);
    offset += type->value_nbytes > 0 ? type->value_nbytes : key.size;
    if (prepared->offsets)
      prepared->offsets[i + 1] = offset;
  }
  *bad_key = keys->n;
  return LANEBLOOM_OK;
}

static lanebloom_status allocate(lanebloom_parquet_keys *prepared, const lanebloom_keys *keys,
                                 const struct problem *problem)
{
  const size_t n = keys->n, width = prepared->type.value_nbytes;
  uint64_t nbytes = 0;
  bool overflows = __builtin_mul_overflow(n, sizeof(uint64_t) * 3, &nbytes) ||
                   __builtin_mul_overflow(n, width, &nbytes);
  for (size_t i = 0; i < n && width == 0; i++)
    overflows = __builtin_add_overflow(nbytes, keys_at(keys, i).size, &nbytes) || overflows;
  if (!overflows) {
    prepared->bytes = malloc(nbytes + 1);
    prepared->order = malloc((n + 1) * sizeof *prepared->order);
    prepared->hashes = malloc((n + 1) * sizeof *prepared->hashes);
    prepared->given_hashes = malloc((n + 1) * sizeof *prepared->given_hashes);
    if (width == 0)
      prepared->offsets = calloc(n + 1, sizeof *prepared->offsets);
  }
  if (!prepared->bytes || !prepared->order || !prepared->hashes || !prepared->given_hashes ||
      (width == 0 && !prepared->offsets))
    return problem_memory(problem, overflows ? UINT64_MAX : nbytes + n * 3 * sizeof(uint64_t));
  return LANEBLOOM_OK;
}

/* ---- Order ---- */

/* A key that is being sorted. Keys are compared by their ordinals, and by their values if the
 * ordinals are equal. */
struct ranked {
  uint64_t ordinal;
  size_t index;
};

static int compare_ranked(const void *a, const void *b, void *context)
{
  const struct ranked *left = a, *right = b;
  const lanebloom_parquet_keys *prepared = context;
  if (left->ordinal != right->ordinal)
    return left->ordinal < right->ordinal ? -1 : 1;
  return lanebloom_value_compare(&prepared->type, keys_stored(prepared, left->index),
                                 keys_stored(prepared, right->index));
}

/* Finds the zeros and the NaN among sorted floats. */
static void find_special(lanebloom_parquet_keys *prepared, const struct ranked *ranked)
{
  const size_t n = prepared->n;
  static const uint8_t zero[8] = {0};
  const uint64_t ordinal_zero = lanebloom_value_ordinal(
      &prepared->type, (lanebloom_slice){zero, prepared->type.value_nbytes});
  prepared->first_zero = prepared->end_zero = prepared->first_nan = n;
  for (size_t i = n; i > 0 && ranked[i - 1].ordinal == ORDINAL_NAN; i--)
    prepared->first_nan = i - 1;
  size_t i = 0;
  while (i < n && ranked[i].ordinal < ordinal_zero)
    i++;
  prepared->first_zero = i;
  while (i < n && ranked[i].ordinal == ordinal_zero)
    i++;
  prepared->end_zero = i;
}

static lanebloom_status sort(lanebloom_parquet_keys *prepared, const struct problem *problem)
{
  const size_t n = prepared->n;
  struct ranked *ranked = malloc((n + 1) * sizeof *ranked);
  if (!ranked)
    return problem_memory(problem, (n + 1) * sizeof *ranked);
  for (size_t i = 0; i < n; i++)
    ranked[i] =
        (struct ranked){lanebloom_value_ordinal(&prepared->type, keys_stored(prepared, i)), i};
  lanebloom_system_sort(ranked, n, sizeof *ranked, compare_ranked, prepared);
  for (size_t i = 0; i < n; i++)
    prepared->order[i] = ranked[i].index;
  prepared->first_zero = prepared->end_zero = prepared->first_nan = n;
  if (prepared->type.order == ORDER_FLOAT)
    find_special(prepared, ranked);
  free(ranked);
  return LANEBLOOM_OK;
}

/* ---- Hashes ---- */

/* Hashes the zeros of both signs. */
static lanebloom_status hash_zeros(lanebloom_parquet_keys *prepared, const struct problem *problem)
{
  uint8_t zeros[2][8] = {{0}, {0}};
  const size_t nbytes = prepared->type.value_nbytes;
  zeros[1][nbytes - 1] = 0x80;
  const lanebloom_keys keys = lanebloom_keys_strided(zeros, nbytes, sizeof *zeros, 2);
  const lanebloom_status status = lanebloom_hash(LANEBLOOM_PARQUET, &keys, prepared->zero_hashes);
  return status ? problem_status(problem, status) : LANEBLOOM_OK;
}

/* Hashes the keys as they are stored now, and writes the hashes in the order of the caller and in
 * the order of the type. */
static lanebloom_status hash_stored(const lanebloom_parquet_keys *prepared, uint64_t *given,
                                    uint64_t *hashes, const struct problem *problem)
{
  const size_t n = prepared->n;
  const lanebloom_keys keys =
      prepared->offsets ? lanebloom_keys_offsets64(prepared->bytes, prepared->offsets, n)
                        : lanebloom_keys_fixed(prepared->bytes, prepared->type.value_nbytes, n);
  const lanebloom_status status = lanebloom_hash(LANEBLOOM_PARQUET, &keys, given);
  for (size_t i = 0; i < n && !status; i++)
    hashes[i] = given[prepared->order[i]];
  return status ? problem_status(problem, status) : LANEBLOOM_OK;
}

static lanebloom_status hash_given(lanebloom_parquet_keys *prepared, const struct problem *problem)
{
  lanebloom_status status =
      hash_stored(prepared, prepared->given_hashes, prepared->hashes, problem);
  if (status)
    return status;
  status = lanebloom_hash_batch_create(LANEBLOOM_PARQUET, prepared->given_hashes, prepared->n, 0,
                                       &prepared->batch);
  return status ? problem_status(problem, status) : LANEBLOOM_OK;
}

/* Changes the stored keys to their second encoding, and hashes them again. The first encoding is
 * lost. It would be needed only for comparing keys with bounds, and INT96 has no bounds. */
static lanebloom_status hash_other_spellings(lanebloom_parquet_keys *prepared,
                                             const struct problem *problem)
{
  bool has_others = false;
  for (size_t i = 0; i < prepared->n; i++)
    has_others |= respell_int96(prepared->bytes + i * prepared->type.value_nbytes);
  if (!has_others)
    return LANEBLOOM_OK;
  const size_t nbytes = prepared->n * sizeof *prepared->other_hashes;
  uint64_t *given = malloc(nbytes);
  prepared->other_hashes = malloc(nbytes);
  const lanebloom_status status =
      given && prepared->other_hashes
          ? hash_stored(prepared, given, prepared->other_hashes, problem)
          : problem_memory(problem, nbytes);
  free(given);
  return status;
}

static lanebloom_status hash(lanebloom_parquet_keys *prepared, const struct problem *problem)
{
  lanebloom_status status = hash_given(prepared, problem);
  if (!status && prepared->type.order == ORDER_FLOAT)
    status = hash_zeros(prepared, problem);
  if (!status && prepared->type.physical == PHYSICAL_INT96)
    status = hash_other_spellings(prepared, problem);
  return status;
}

/* ---- Calls ---- */

lanebloom_status lanebloom_parquet_keys_create(const lanebloom_parquet *file, size_t column,
                                               lanebloom_encoding encoding,
                                               const lanebloom_keys *keys,
                                               lanebloom_parquet_keys **prepared, size_t *bad_key,
                                               char *problem_text, size_t problem_size)
{
  const struct problem problem = problem_begin(problem_text, problem_size);
  const struct column_type *type = &file->footer.schema.columns[column].type;
  size_t bad = keys->n;
  *prepared = NULL;
  if (bad_key)
    *bad_key = bad;
  if (!type->has_keys)
    return problem_set(&problem, LANEBLOOM_ERR_ARGUMENT,
                       "expected a column whose values can be keys, found one of type %s",
                       type->text);
  if (type->encoding != encoding && !(type->physical == PHYSICAL_INT96 && is_timestamp(encoding)))
    return problem_set(&problem, LANEBLOOM_ERR_ARGUMENT,
                       "expected keys of encoding %s, as a column of type %s has, found %s",
                       lanebloom_encoding_name(type->encoding), type->text,
                       lanebloom_encoding_name(encoding));
  lanebloom_parquet_keys *made = calloc(1, sizeof *made);
  if (!made)
    return problem_memory(&problem, sizeof *made);
  made->type = *type;
  made->n = keys->n;
  lanebloom_status status = check_sizes(type, keys, &bad, &problem);
  if (!status)
    status = allocate(made, keys, &problem);
  if (!status)
    status = convert_all(made, encoding, keys, &bad, &problem);
  if (!status)
    status = sort(made, &problem);
  if (!status)
    status = hash(made, &problem);
  if (bad_key)
    *bad_key = bad;
  if (status) {
    lanebloom_parquet_keys_free(made);
    return status;
  }
  *prepared = made;
  return LANEBLOOM_OK;
}

void lanebloom_parquet_keys_free(lanebloom_parquet_keys *keys)
{
  if (!keys)
    return;
  free(keys->bytes);
  free(keys->offsets);
  free(keys->order);
  free(keys->hashes);
  lanebloom_hash_batch_free(keys->batch);
  free(keys->given_hashes);
  free(keys->other_hashes);
  free(keys);
}
