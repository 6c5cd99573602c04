/* lanebloom: screens batches of keys against the Bloom filters that storage engines write. To
 * screen a batch is to find the keys in it that may be in a filter. This header is the library's
 * public interface and its manual. lanebloom_arrow.h adds functions for Arrow arrays. Two more
 * libraries have headers of their own: lanebloom_tables.h for database files and
 * lanebloom_parquet.h for Parquet files.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_H
#define LANEBLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of this header. lanebloom_version() returns the version of the library. */
#define LANEBLOOM_VERSION_MAJOR 0
#define LANEBLOOM_VERSION_MINOR 1
#define LANEBLOOM_VERSION_PATCH 0

#if defined(__GNUC__)
#define LANEBLOOM_API __attribute__((visibility("default")))
#else
#define LANEBLOOM_API
#endif

/* Marks a function whose status must be checked: compilers warn if a caller ignores the status. */
#if (defined(__cplusplus) && __cplusplus >= 201703L) ||                                            \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define LANEBLOOM_NODISCARD [[nodiscard]] LANEBLOOM_API
#elif defined(__GNUC__)
#define LANEBLOOM_NODISCARD LANEBLOOM_API __attribute__((warn_unused_result))
#else
#define LANEBLOOM_NODISCARD LANEBLOOM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------
 * Rules for every function
 *
 * Errors    A function that can fail returns a status. Each comment lists the errors of its
 *           function, without the prefix LANEBLOOM_ERR_. On an error no object has changed, and an
 *           output that is a pointer becomes NULL. Screening cannot fail. The library never
 *           prints. It aborts in one case only: if it was built without NDEBUG, and
 *           lanebloom_keys_offsets32() or lanebloom_keys_offsets64() gets an offset that is below
 *           the one before it.
 * Problems  A function that returns a status has the parameter `problem`, an array of problem_size
 *           bytes, if it reads a file, parses bytes, takes Arrow structs or merges. On an error,
 *           the function writes one line of text into the array. The line says what was expected
 *           and what was found, or why the system refused. The line is cut to fit and always ends
 *           with a 0 byte. On success it is "". The line may quote names from the file; bytes that
 *           are not printable UTF-8 appear in it as \ooo. Pass NULL and 0 if you want no line.
 * Objects   Each kind of object has a function whose name ends in _free. It frees the object and
 *           the memory that the object owns, but not the memory that it borrows. If it gets NULL,
 *           it does nothing. No other thread may still use the object.
 * Outputs   If the caller cannot know the size of an output, the function takes `room`, the number
 *           of bytes of the caller's memory, and *size becomes the number that it needs. If there
 *           is too little room, the function writes nothing and returns LANEBLOOM_ERR_ROOM. So a
 *           call with NULL and 0 asks for the size. Bytes that a function returns without copying
 *           them come as a pointer and a *size, and belong to an object.
 * Infos     A function that describes an object fills a struct of the caller. info_size is the
 *           size of that struct, in bytes. If the program and the library were compiled with
 *           different versions of the header, the function sets the members that both versions
 *           have. All further members of the caller's struct become 0.
 * Lists     A function whose name ends in _count returns the length of a list, and the function
 *           with _at returns its member i. If i is not below the length, the result is 0 or NULL.
 * Names     A function whose name ends in _name returns the name of a value, as the command writes
 *           it, or "unknown". A function whose name ends in _by_name sets its output to the value
 *           of a name and returns true; if no value has the name, it returns false and changes
 *           nothing.
 * Kernels   A kernel table, or kernel for short, holds the functions for one instruction set. All
 *           kernels give the same results. The default is the kernel that $LANEBLOOM_KERNEL names
 *           or, if that variable is not set, the best one that this CPU can run. The variable is
 *           read once, with secure_getenv(), and an empty value counts as unset. While the variable
 *           names a kernel that cannot run here, functions that need a kernel and return a status
 *           return LANEBLOOM_ERR_KERNEL. lanebloom_kernel_use() overrides the variable.
 * Memory    Keys, filter bytes, string views, hashes, masks and bitmaps may have any alignment.
 *           Offsets, slices and indices have the alignment of their type. Outputs must not overlap
 *           inputs. Pointers must not be NULL unless a comment allows it. Memory that a filter or
 *           another object borrows must stay valid and unchanged until that object is freed. Sizes
 *           may exceed 32 bits.
 * Stack     Screening, hashing and building use at most 80 KiB of stack per call (measured on
 *           x86-64, with optimisation).
 * Threads   Any number of threads may use one filter at a time, because a filter never changes. A
 *           builder may be used by one thread at a time, unless a comment allows more. All other
 *           functions may be called from any thread at any time. If another thread calls
 *           lanebloom_kernel_use(), a call that is running keeps the kernel with which it began.
 * Empty     A batch of no keys is allowed everywhere: the count is 0 and nothing is written. An
 *           empty key (0 bytes) is a key like any other.
 * ---------------------------------------------------------------------------------------------- */

/* The values are fixed and never renumbered. */
typedef enum lanebloom_status {
  LANEBLOOM_OK = 0,
  LANEBLOOM_ERR_ARGUMENT = 1, /* an argument is outside its documented range */
  LANEBLOOM_ERR_MEMORY = 2,   /* out of memory */
  LANEBLOOM_ERR_FORMAT = 3,   /* the data has another format, or the call does not take it */
  LANEBLOOM_ERR_CORRUPT = 4,  /* a checksum, a size or the structure is wrong */
  LANEBLOOM_ERR_LIMIT = 5,    /* beyond a limit of the format or of this build */
  LANEBLOOM_ERR_MISMATCH = 6, /* do not fit together: formats, sizes, bits, probes or key forms */
  LANEBLOOM_ERR_KERNEL = 7,   /* no such kernel, or this CPU cannot run it */
  LANEBLOOM_ERR_IO = 8,       /* a file could not be read or written; errno says why */
  LANEBLOOM_ERR_ROOM = 9      /* memory of the caller is too small for an output */
} lanebloom_status;

/* Returns the meaning of a status in one line of English, never NULL. */
LANEBLOOM_API const char *lanebloom_status_text(lanebloom_status status);

/* Returns the version of the library in use, as "major.minor.patch". */
LANEBLOOM_API const char *lanebloom_version(void);

/* Stands for a count that is not known. */
#define LANEBLOOM_UNKNOWN UINT64_MAX

/* -------------------------------------------------------------------------------------------------
 * Keys: a batch of byte strings, in the layout in which the caller already has them. The batch
 * borrows the bytes and only reads them. Make a batch with one of these functions and pass a
 * pointer to it to the functions that screen, hash or build. The struct may be copied. Making a
 * batch reads no key, so its cost is constant.
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_slice {
  const void *data; /* may be NULL when size is 0 */
  size_t size;      /* bytes */
} lanebloom_slice;

/* The fields are private. */
typedef struct lanebloom_keys {
  const void *data;  /* bytes of the keys */
  const void *index; /* offsets, slices or string views; NULL if all have one width */
  size_t width;      /* bytes per key; 0 unless all have one width */
  size_t stride;     /* bytes from one key to the next; 0 unless all have one width */
  size_t n;          /* keys */
  uint32_t layout;
  uint32_t reserved32;
  uint64_t reserved[2];
} lanebloom_keys;

/* Returns a batch of n keys of `width` bytes side by side: key i is
 * data[i * width .. (i + 1) * width). A width of 0 makes n empty keys. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_fixed(const void *data, size_t width, size_t n);

/* Returns a batch of n keys that are one field of an array of records: key i is
 * data[i * stride .. i * stride + width). stride: bytes from one key to the next. If the stride is
 * 0, all n keys are the same field. Keys may overlap. The last record may end with its key: no
 * memory after that key is needed. Vector kernels may read up to 15 bytes past a key, from pages
 * that hold keys of the batch, and ignore them. Cost: kernels read the keys in place. If the keys
 * overlap, or have gaps of 4 KiB or more, they are hashed as slices. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_strided(const void *data, size_t width, size_t stride,
                                                    size_t n);

/* Return a batch of n keys in a column as Arrow lays it out: key i is
 * data[offsets[i] .. offsets[i + 1]). offsets: n + 1 numbers, none below the one before it. If n is
 * 0, no offset is read. A release build does not check the offsets. A library built without NDEBUG
 * aborts if an offset is below the one before it. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_offsets32(const void *data, const uint32_t *offsets,
                                                      size_t n);
LANEBLOOM_API lanebloom_keys lanebloom_keys_offsets64(const void *data, const uint64_t *offsets,
                                                      size_t n);

/* Returns a batch of n keys that may be anywhere in memory, one slice for each. Vector kernels may
 * read up to 15 bytes past a key, within its page, and ignore them. Valgrind may report these
 * reads: use the kernel "scalar" under it. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_slices(const lanebloom_slice *slices, size_t n);

/* Returns a batch of the strings of n string views. views: n x 16 bytes, laid out as in DuckDB's
 * string_t, Velox's StringView and Umbra. A view begins with the string's size, a uint32_t. If the
 * string has at most 12 bytes, its bytes follow directly. If the string is longer, its first 4
 * bytes follow, which are ignored, and then a pointer to the whole string. Two similar types are
 * not string views. For an array of char *, make slices and call lanebloom_keys_slices(). Pass
 * Arrow string views, which hold no pointers, to the functions of lanebloom_arrow.h. Vector kernels
 * may read up to 15 bytes past a string, within its page, and ignore them. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_strings(const void *views, size_t n);

/* Returns keys first .. first + n of a batch, for example to give each thread a part. If the part
 * would go past the end of the batch, it ends there. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_part(const lanebloom_keys *keys, size_t first,
                                                 size_t n);

/* -------------------------------------------------------------------------------------------------
 * Formats and hashes
 * ---------------------------------------------------------------------------------------------- */

/* The formats of filters. If a build of the library does not have a format, calls with it return
 * LANEBLOOM_ERR_FORMAT. docs/choosing-a-filter.md says which format to choose. */
typedef enum lanebloom_format {
  LANEBLOOM_LEVELDB = 1,        /* leveldb.BuiltinBloomFilter2; also goleveldb's */
  LANEBLOOM_ROCKSDB_LEGACY = 2, /* RocksDB with format_version below 5, Pebble */
  LANEBLOOM_ROCKSDB_LOCAL = 3,  /* RocksDB's FastLocalBloom, format_version 5 and above */
  LANEBLOOM_ROCKSDB =
      4, /* only for opening: stands for the RocksDB format that the filter's trailer names, or
          * for a constant answer (every key or no key may be in the filter) */
  LANEBLOOM_LEVELDB_SIGNED =
      5, /* LEVELDB, but with a key's last bytes hashed as signed: LevelDB < 1.18 on x86,
          * RocksDB's block-based filter */
  LANEBLOOM_ROCKSDB_RIBBON = 6, /* only for opening: RocksDB's Ribbon filters, of 6.15 and above */
  LANEBLOOM_PARQUET =
      7, /* the bits of Parquet's split-block filters, without the header that files have */
  LANEBLOOM_SPARK_V1 = 8, /* what Apache Spark's BloomFilter.writeTo() writes, up to Spark 4.0 */
  LANEBLOOM_SPARK_V2 = 9, /* what writeTo() writes from Spark 4.1 on, if the seed is 0 */
  LANEBLOOM_PEBBLE_BINARYFUSE = 10, /* only for opening: Pebble's binary fuse filters */
  LANEBLOOM_DCSO = 11, /* the files of DCSO's bloom and flor, of poppy's version 1, and of fleur if
                        * keys are ASCII; CIRCL's hashlookup is one */
  LANEBLOOM_DCSO_SIGNED = 12, /* DCSO, but with the bytes of keys hashed as signed: fleur on x86 */
  LANEBLOOM_GUAVA_32 = 13,    /* Guava's BloomFilter.writeTo(), strategy 0, of old versions */
  LANEBLOOM_GUAVA_64 = 14,    /* Guava's writeTo(), strategy 1, which Guava creates */
  LANEBLOOM_GUAVA = 15, /* only for opening: stands for the strategy that the first byte names */
  LANEBLOOM_CASSANDRA = 16,   /* Filter.db of Cassandra 4.0 and later: versions na, nb, oa, da */
  LANEBLOOM_CASSANDRA_3 = 17, /* of Cassandra 3.0 to 3.11 and ScyllaDB: ma to me, ms, mt */
  LANEBLOOM_CASSANDRA_2 = 18, /* of Cassandra 2.2 and earlier and old ScyllaDB: ka, la */
  LANEBLOOM_HUDI = 19 /* only for opening: the filters that Apache Hudi writes into the footers of
                       * Parquet files */
} lanebloom_format;

/* The formats that this build has. */
LANEBLOOM_API size_t lanebloom_format_count(void);
LANEBLOOM_API lanebloom_format lanebloom_format_at(size_t i);

/* The names of formats: "leveldb", "rocksdb-local", ... */
LANEBLOOM_API const char *lanebloom_format_name(lanebloom_format format);
LANEBLOOM_API bool lanebloom_format_by_name(const char *name, lanebloom_format *format);

/* Returns the size of a hash of this format: 4, 8 or 16 bytes. For LANEBLOOM_ROCKSDB,
 * LANEBLOOM_GUAVA, LANEBLOOM_HUDI and unknown formats it returns 0. HUDI hashes a key once per
 * probe, and each hash depends on the one before, so there is no hash that could be used for
 * several filters. */
LANEBLOOM_API size_t lanebloom_format_hash_size(lanebloom_format format);

/* No format has larger hashes: room for n hashes of any format takes n times this many bytes. */
#define LANEBLOOM_MAX_HASH_SIZE ((size_t)16)

/* Returns the first of all formats that hash keys in the same way as this format. Two formats share
 * a hash if this function returns the same value for both. The hashes of one format can then be
 * screened against filters of the other. If a format hashes no keys, or is unknown, it is returned
 * unchanged. */
LANEBLOOM_API lanebloom_format lanebloom_format_hash(lanebloom_format format);

typedef struct lanebloom_format_info {
  const char *name;  /* as lanebloom_format_name() returns it */
  const char *text;  /* one line for people: which programs write such filters */
  size_t hash_size;  /* as lanebloom_format_hash_size() returns it */
  uint64_t max_size; /* the most bytes of a filter; UINT64_MAX: no limit */

  /* Can filters of this format be built? If not, filters can only be opened, and all members below
   * are 0. */
  bool builds;

  /* Which bits per key a builder accepts: the next three members give a minimum, a maximum and a
   * step. If rounds_bits is true, a number between two steps is rounded to a whole step, and a
   * number above the maximum counts as the maximum. If rounds_bits is false, such numbers are
   * LANEBLOOM_ERR_ARGUMENT. A number below the minimum is always LANEBLOOM_ERR_ARGUMENT. */
  bool rounds_bits;
  double min_bits_per_key;  /* the smallest that is accepted */
  double max_bits_per_key;  /* the largest that has an effect */
  double bits_per_key_step; /* between values that have an effect */

  /* The fewest and the most probes per key. Filters with a constant answer have no probes. */
  uint32_t min_nprobes;
  uint32_t max_nprobes;
} lanebloom_format_info;

/* Describes a format. The strings are constant. Errors: FORMAT. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_format_describe(lanebloom_format format,
                                                               lanebloom_format_info *info,
                                                               size_t info_size);

/* Hashes every key as `format` does. hashes: n x lanebloom_format_hash_size() bytes; each hash is
 * an integer in the host's byte order, or two integers of 8 bytes if it has 16 bytes. Errors:
 * FORMAT, KERNEL. Cost: linear in the bytes of the keys; no memory is allocated.
 *
 * Sources: LEVELDB is LevelDB 1.23 util/hash.cc with seed 0xbc9f1d34. LEVELDB_SIGNED and
 * ROCKSDB_LEGACY are RocksDB 7.8.3 util/hash.cc; their hash differs from LEVELDB's only for keys
 * with a byte of 0x80 or more among the last (size mod 4) bytes. ROCKSDB_LOCAL and ROCKSDB_RIBBON
 * are RocksDB 7.8.3 util/xxph3.h, the preview of XXH3 in xxHash 0.7.2, with seed 0. PARQUET is
 * XXH64 with seed 0. PEBBLE_BINARYFUSE is the final XXH3 of 64 bits, from xxHash 0.8 on, with seed
 * 0. SPARK_V1 and SPARK_V2 join two hashes of Spark 4.1 Murmur3_x86_32.java: the low half is the
 * hash with seed 0, and the high half is the hash with the low half as its seed. DCSO and
 * DCSO_SIGNED are FNV-1 with 64 bits; their hashes differ only for keys with a byte of 0x80 or
 * more. Guava's formats are MurmurHash3_x64_128 with seed 0. So are Cassandra's, except that each
 * of the last (size mod 16) bytes is read as signed, as in Cassandra 5.0 MurmurHash.java.
 *
 * Keys of Spark: a whole number of any type is hashed as the 8 bytes of LANEBLOOM_INT64, and a
 * string as its UTF-8. The filters that Spark's queries make for joins do not hold a value x
 * itself, but the number xxhash64(x), which is XXH64 with seed 42: the key is the 8 bytes of that
 * number. This library does not compute it.
 *
 * Keys of Guava: a filter does not record its funnel, which makes the bytes that are hashed. They
 * are the bytes of the array with byteArrayFunnel(), 8 and 4 little-endian bytes with longFunnel()
 * and integerFunnel(), the encoded text with stringFunnel(), and UTF-16LE with
 * unencodedCharsFunnel(). Keys of Cassandra are serialised partition keys. The key of one column is
 * its value: UTF-8, 4 or 8 big-endian bytes, 16 bytes of a UUID. In a key of several columns, each
 * value comes after its size in 2 big-endian bytes, and before a byte 0. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_hash(lanebloom_format format,
                                                    const lanebloom_keys *keys, void *hashes);

/* -------------------------------------------------------------------------------------------------
 * Key forms: how text or typed values became the bytes that were hashed
 *
 * The library hashes the bytes that it gets and converts nothing. A key form is a note for programs
 * that make keys. A program that builds a filter sets the key form on the builder, and the form is
 * saved with the filter. A program that screens keys later reads the form from the filter, and
 * makes its keys in the same way. A key form does not say where in a record the key was.
 * ---------------------------------------------------------------------------------------------- */

/* The meaning of a key's bytes. The values are fixed and never renumbered. On every host, numbers
 * are little-endian and, if they are signed, in two's complement. */
typedef enum lanebloom_encoding {
  LANEBLOOM_BYTES = 0,         /* plain bytes, of a text or of a record */
  LANEBLOOM_HEX = 1,           /* bytes; in text, two hexadecimal digits of either case each */
  LANEBLOOM_BASE64 = 2,        /* bytes; in text, base64 (RFC 4648, section 4) with its padding */
  LANEBLOOM_INT32 = 3,         /* 4 bytes */
  LANEBLOOM_INT64 = 4,         /* 8 bytes */
  LANEBLOOM_UINT32 = 5,        /* 4 bytes */
  LANEBLOOM_UINT64 = 6,        /* 8 bytes */
  LANEBLOOM_FLOAT32 = 7,       /* 4 bytes, IEEE 754 binary32 */
  LANEBLOOM_FLOAT64 = 8,       /* 8 bytes, IEEE 754 binary64 */
  LANEBLOOM_DATE32 = 9,        /* 4 bytes, signed: days since 1970-01-01 */
  LANEBLOOM_TIMESTAMP_S = 10,  /* 8 bytes, signed: seconds since 1970-01-01 00:00:00 UTC */
  LANEBLOOM_TIMESTAMP_MS = 11, /* 8 bytes, signed: milliseconds since that time */
  LANEBLOOM_TIMESTAMP_US = 12, /* 8 bytes, signed: microseconds since that time */
  LANEBLOOM_TIMESTAMP_NS = 13, /* 8 bytes, signed: nanoseconds since that time */
  LANEBLOOM_DECIMAL128 = 14,   /* 16 bytes, signed: the unscaled value */
  LANEBLOOM_UUID = 15          /* 16 bytes, in the order of the digits in text */
} lanebloom_encoding;

/* Bits of lanebloom_key_form.flags: the steps by which a program that makes keys prepares text.
 * TRIMMED, LOWERED and UPPERED apply to each field before it is decoded; LOWERED and UPPERED
 * exclude each other. JOINED applies to several fields.
 *
 * Then the text may be replaced by its digest. The bits of the mask DIGEST hold one of the four
 * values below it, or 0: no digest. A digest is the last step, so the encoding of such a form is
 * LANEBLOOM_BYTES. The key consists of the 16, 20 or 32 bytes of the digest. If LOWER_HEX or
 * UPPER_HEX is set, the key is the digest as text, two hexadecimal digits for each byte. */
enum {
  LANEBLOOM_KEY_TRIMMED = 1, /* spaces, tabs, CR and LF are taken off both ends */
  LANEBLOOM_KEY_LOWERED = 2, /* the ASCII letters A to Z become a to z */
  LANEBLOOM_KEY_JOINED = 4,  /* the key is several fields, joined by one tab */
  LANEBLOOM_KEY_UPPERED = 8, /* the ASCII letters a to z become A to Z */
  LANEBLOOM_KEY_DIGEST = 0xf0,
  LANEBLOOM_KEY_MD5 = 0x10,
  LANEBLOOM_KEY_SHA1 = 0x20,
  LANEBLOOM_KEY_SHA256 = 0x30,
  LANEBLOOM_KEY_NTLM = 0x40, /* MD4 of the text in UTF-16, little-endian; the text is UTF-8 */
  LANEBLOOM_KEY_LOWER_HEX = 0x100,
  LANEBLOOM_KEY_UPPER_HEX = 0x200
};

/* How keys were made. If both members are 0, the form is plain: keys are bytes as they came. */
typedef struct lanebloom_key_form {
  lanebloom_encoding encoding;
  uint32_t flags;
} lanebloom_key_form;

/* The names of encodings: "bytes", "hex", "timestamp-ms", ... */
LANEBLOOM_API const char *lanebloom_encoding_name(lanebloom_encoding encoding);
LANEBLOOM_API bool lanebloom_encoding_by_name(const char *name, lanebloom_encoding *encoding);

/* Describes a key form in a few words, such as "hex, lower-cased" or "sha1:HEX, trimmed". The words
 * are written into `text` and cut to fit its text_size bytes; LANEBLOOM_KEY_FORM_NBYTES are always
 * enough, and text_size must be at least 1. Returns text. */
enum { LANEBLOOM_KEY_FORM_NBYTES = 64 };
LANEBLOOM_API const char *lanebloom_key_form_text(lanebloom_key_form form, char *text,
                                                  size_t text_size);

/* -------------------------------------------------------------------------------------------------
 * Planning: the size and the false-positive rate of a filter before it is built
 *
 * bits_per_key  NaN, negative and infinite numbers are ARGUMENT. lanebloom_format_describe()
 *               returns the bounds that follow. If a filter is so large that the engine's
 *               arithmetic would overflow or be cut off, the call returns LIMIT. Filters record the
 *               bits per key in effect, which is the number after rounding.
 *               - LevelDB's formats take whole numbers from 0 to INT_MAX; a fraction is ARGUMENT.
 *               - RocksDB's formats take 0.5 and more, in thousandths. Numbers below 1 count as 1,
 *               and numbers above 100 as 100. ROCKSDB_LEGACY rounds to whole numbers. Numbers below
 *               0.5 are ARGUMENT, because RocksDB writes no filter for them.
 *               - PARQUET takes 0.5 to 1000, in thousandths. The size of a filter in bytes becomes
 *               the next power of two, from 32 to 2^30, because readers such as Arrow C++'s refuse
 *               other sizes. Such readers also refuse sizes above 2^27.
 *               - SPARK_V1 and SPARK_V2 take 0.5 to 100, in thousandths. A filter of n keys has the
 *               size of BloomFilter.create(n, numBits), where numBits is n * bits_per_key without
 *               its fraction. n and numBits are at least 1.
 *               - DCSO's formats take 0.5 to 360, in thousandths. Their writers take a rate, which
 *               is stored in the filter. So a filter has the size that they give it for the rate
 *               that belongs to these bits per key; it may be one bit less than asked for.
 *               - GUAVA_32 and GUAVA_64 take 0.5 to 100, in thousandths. A filter has as many bits
 *               as Spark's, and the number of probes that Guava chooses with the rate that leads to
 *               these bits per key.
 *               - Cassandra's formats round to whole numbers from 1 to 20. Numbers below 0.5 are
 *               ARGUMENT. A filter has 20 bits in addition to those of its keys.
 * rate          The share of absent keys that the filter lets pass, by a model. For RocksDB's
 *               formats the model is RocksDB's own estimate; for PARQUET it assumes that the
 *               numbers of keys in blocks are Poisson distributed; for all others it is the
 *               textbook's formula. For LevelDB's formats the model is rough:
 *               docs/leveldb-false-positives.md states the error, and `lanebloom info --measure`
 *               measures the rate of a given filter. For SPARK_V1 and GUAVA_32 the model's rate is
 *               too low if 2^31 is no multiple of the number of bits. At 10 bits per key the error
 *               is at most 1 % for filters below 2^28 bits, 4 % below 2^29 bits, 14 % below 2^30
 *               bits and 43 % below 2^31 bits. For DCSO's formats it is far too low if the number
 *               of bits is a power of two, because all probes of a key then depend on the same bits
 *               of its hash.
 * Errors        ARGUMENT, FORMAT, LIMIT, KERNEL. Outputs are written only on success.
 * ---------------------------------------------------------------------------------------------- */

/* Computes the size of a filter. *nbytes becomes the number of bytes that the engine writes, header
 * and trailer included, and *nprobes the number of probes per key. Sources: LevelDB 1.23
 * util/bloom.cc, RocksDB 7.8.3 table/block_based/filter_policy.cc with optimize_filters_for_memory
 * off, Spark 4.1 BloomFilter.java, Guava 33.4 BloomFilter.java, and Cassandra 5.0
 * BloomCalculations.java. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_plan_size(lanebloom_format format,
                                                         double bits_per_key, uint64_t nkeys,
                                                         uint64_t *nbytes, uint32_t *nprobes);

/* Computes the false-positive rate that the model gives for a filter of nkeys distinct keys. For 0
 * keys the rate is 0. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_plan_rate(lanebloom_format format,
                                                         double bits_per_key, uint64_t nkeys,
                                                         double *rate);

/* Computes the fewest bits per key with which the model's rate is at most `rate`. A rate that is
 * not between 0 and 1, both excluded, is ARGUMENT. If the format does not reach this rate, for
 * example because nkeys hashes of 32 bits collide more often, the call returns LIMIT.
 *
 * For PARQUET the result is not the fewest bits: it gives the size that the writers of Parquet
 * files choose for this rate. These writers assume that all blocks fill equally. By the model, the
 * rate of this size may be higher than `rate`: up to 1.5 times as high for 1 %, 2.1 times for
 * 0.1 %, and 3.2 times for 0.01 %. lanebloom_plan_rate() computes the model's rate. If a format's
 * writer takes a rate, as DCSO's does, the result is the bits per key that the writer chooses. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_plan_bits(lanebloom_format format, double rate,
                                                         uint64_t nkeys, double *bits_per_key);

/* Computes the size of the filter that lanebloom_builder_create_for_rate() makes for nkeys keys,
 * and the rate that the model gives for it; model_rate may be NULL. Where an engine's writer takes
 * a rate, the model's may be higher than `rate`. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_plan_size_for_rate(lanebloom_format format,
                                                                  double rate, uint64_t nkeys,
                                                                  uint64_t *nbytes,
                                                                  uint32_t *nprobes,
                                                                  double *model_rate);

/* -------------------------------------------------------------------------------------------------
 * Filters
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_filter lanebloom_filter;

/* Says what the bare bytes of an engine do not record. Pass NULL, or zeros, if you know nothing. */
typedef struct lanebloom_raw_options {
  lanebloom_key_form key_form;      /* how the keys were made; zeros: plain */
  bool has_nkeys, has_bits_per_key; /* are the next two members known? */
  uint64_t nkeys;                   /* keys added */

  /* If the number is above the highest number that has an effect, the highest is recorded, as in a
   * builder. A container stores the number in thousandths. */
  double bits_per_key;
} lanebloom_raw_options;

/* Makes a filter of the bytes that an engine wrote, header and trailer included. The filter borrows
 * the bytes. They may be NULL when size is 0. Kernels may load up to 3 bytes before and after the
 * bytes, within the same aligned 4 bytes, and ignore them. Damaged bytes are accepted, except as
 * listed here, and the filter answers as the engine's reader does:
 *
 * - LevelDB's formats: with fewer than 2 bytes, no key is in the filter. The last byte is the
 *   number of probes. If it is 0 or above 30, every key may be in the filter.
 * - RocksDB's formats: with fewer than 6 bytes, no key is in the filter. The last 5 bytes are the
 *   trailer. If RocksDB 7.8.3 does not understand the trailer, or the trailer describes lines
 *   outside the bytes, every key may be in the filter. Pass LANEBLOOM_ROCKSDB to get the format
 *   that the trailer names; if the filter has a constant answer, its format stays
 *   LANEBLOOM_ROCKSDB. If you pass another of RocksDB's formats and the bytes do not have it, the
 *   call returns FORMAT. If there are 2^32 bytes or more, the call returns LIMIT.
 * - PARQUET: if the size is no multiple of 32 bytes, the call returns FORMAT. If there are 2^31
 *   bytes or more, the call returns LIMIT.
 * - SPARK_V1, SPARK_V2: the bytes must begin with the header of this version. The seed in the
 *   header must be 0. The header must announce at least one word of bits, and exactly the announced
 *   number of words must follow. Otherwise the call returns FORMAT. If the number of probes is 0 or
 *   negative, every key may be in the filter. If there are 256 probes or more, or 2^31 words or
 *   more, the call returns LIMIT.
 * - PEBBLE_BINARYFUSE: with at most 14 bytes, no key is in the filter. The last 14 bytes are the
 *   trailer. If the trailer has another width than 4, 8, 10, 12 or 16 bits, no segments, or 2^32
 *   slots or more, or if the size is not the one that the trailer implies, the call returns FORMAT.
 * - GUAVA_32, GUAVA_64: the first byte must be the number of the strategy, 0 or 1. Pass
 *   LANEBLOOM_GUAVA to get the format that it names. The header must announce at least one probe
 *   and one word of bits, and exactly the announced number of words must follow. Otherwise the call
 *   returns FORMAT.
 * - Cassandra's formats: with 0 bytes, every key may be in the filter. Otherwise the header must
 *   announce at least one word of bits, and exactly the announced number of words must follow, or
 *   the call returns FORMAT. If the number of probes is 0 or negative, every key may be in the
 *   filter. If there are 22 probes or more, the call returns LIMIT. Nothing in the bytes tells
 *   which of the three formats they have.
 * - DCSO's formats: the first byte must be 1, and the header must be followed by the words that it
 *   announces; any bytes may follow them. The header must announce bits if it announces probes.
 *   Otherwise the call returns FORMAT. With 0 probes, every key may be in the filter. With 256
 *   probes or more, the call returns LIMIT. If the options do not state the number of keys, it is
 *   the header's count of the keys that set a bit when they were added; and if they do not state
 *   the bits per key, these are the ones that were planned.
 * - HUDI: the bytes are a record of the type SIMPLE or DYNAMIC_V0, or the Base64 of such a record,
 *   as it is in the footer of a Parquet file; a line end may follow the Base64. If the bytes are
 *   Base64, the filter owns the decoded record. If the record has another version than -1, another
 *   hash than Murmur (1), no probes or no bits, or if it is shorter or longer than it says, or if
 *   its rows begin with different headers, the call returns FORMAT. If there are 256 probes or
 *   more, the call returns LIMIT.
 *
 * Errors: ARGUMENT: an encoding or a flag of the key form is not defined, or the bits per key are
 * not between 0 and 2^31 - 1, or bytes is NULL and size is not 0. CORRUPT: the bytes were changed
 * meanwhile. FORMAT, LIMIT, MEMORY, KERNEL. Cost: constant. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_parse_raw(
    lanebloom_format format, const void *bytes, size_t size, const lanebloom_raw_options *options,
    lanebloom_filter **filter, char *problem, size_t problem_size);

/* Builds the filter that the engine would build of these keys in this order, byte for byte.
 * Duplicate keys enlarge the filter as they do in the engine. LevelDB's formats count every
 * duplicate. RocksDB's formats count a duplicate only if the key before it has another hash.
 * Without keys, RocksDB's formats make a filter of 5 bytes, which holds no key.
 *
 * Errors: ARGUMENT, FORMAT, LIMIT, MEMORY, KERNEL. Cost: linear in the bytes of the keys. Memory:
 * the filter, and the memory that lanebloom_builder_add() uses while bits are set. For RocksDB's
 * formats one hash per key is stored, too. But if the batch is large and its keys have at most 16
 * bytes, no hashes are stored, and the keys are hashed twice. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_build(lanebloom_format format,
                                                            double bits_per_key,
                                                            const lanebloom_keys *keys,
                                                            lanebloom_filter **filter);

/* Builds the same filter as lanebloom_filter_build() in memory of the caller, for example inside a
 * file's block. The size that lanebloom_plan_size() returns for keys->n keys is always enough
 * room. Errors: ROOM, ARGUMENT, FORMAT, LIMIT, KERNEL. On every error but ROOM, *size is 0. Cost:
 * linear in the bytes of the keys; RocksDB's formats hash them twice. For few keys this function is
 * much faster than lanebloom_filter_build(), because it allocates no memory, except the memory that
 * lanebloom_builder_add() uses for large filters. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_build_raw(lanebloom_format format,
                                                                double bits_per_key,
                                                                const lanebloom_keys *keys,
                                                                void *bytes, size_t room,
                                                                size_t *size);

/* Makes the union of n filters, which is a new filter with the bits of all. Its number of keys is
 * the sum of the filters' numbers of keys, or LANEBLOOM_UNKNOWN if one of these numbers is unknown.
 * Its bits per key are NaN unless all filters have the same bits per key. Its key form is the one
 * that all filters have. Filters that differ in key form, format, size or probes are MISMATCH. If a
 * RocksDB filter without keys was built without expected_keys, it has a size of its own, so it is
 * MISMATCH with any filter that has keys. Ribbon and binary fuse filters cannot be merged and are
 * MISMATCH, too. The union of DCSO's filters has the sum of their counts of keys in its header, or
 * 2^64 - 1 if the sum is larger, and the bytes after the bits of the filters that have such bytes;
 * if these differ, the filters are MISMATCH. In C, declare the array as
 * `const lanebloom_filter *filters[n]`.
 *
 * On MISMATCH *bad_filter becomes the index of a filter that differs from filters[0], or that
 * cannot be merged, and the problem says in which property it differs; otherwise *bad_filter
 * becomes n. bad_filter may be NULL. Errors: ARGUMENT when n is 0, MISMATCH, MEMORY, KERNEL. Cost:
 * linear in the filters' bytes. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_merge(const lanebloom_filter *const *filters,
                                                            size_t n, lanebloom_filter **merged,
                                                            size_t *bad_filter, char *problem,
                                                            size_t problem_size);

/* Make a filter of a container: the file format of this library, which docs/file-format.md
 * describes.
 *
 * - lanebloom_filter_load() reads the whole file into memory and verifies its checksum. Large
 *   filters use huge pages if possible. The path may name a pipe. If the path is /dev/stdin,
 *   /dev/fd/N or another name of a descriptor of this process, the file is read from the
 *   descriptor's position on.
 * - lanebloom_filter_map() maps a regular file and verifies its header. It does not verify the
 *   payload's checksum, so its cost is constant. Processes that map one file share its pages. If
 *   the file becomes shorter while it is mapped, SIGBUS ends the process.
 * - lanebloom_filter_parse() takes a container's bytes in memory, verifies their checksum and
 *   borrows them.
 *
 * Errors: IO with errno. FORMAT: the file is no container, or its version, format or key form is
 * newer than this build. CORRUPT: a size or a checksum is wrong. LIMIT: the filter has 2^32 bytes
 * or more in one of RocksDB's formats, more than 255 probes in one of Spark's or DCSO's, or 22
 * probes or more in one of Cassandra's. MEMORY, KERNEL. ARGUMENT is returned only by
 * lanebloom_filter_parse(). */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_load(const char *path,
                                                           lanebloom_filter **filter, char *problem,
                                                           size_t problem_size);
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_map(const char *path,
                                                          lanebloom_filter **filter, char *problem,
                                                          size_t problem_size);
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_parse(const void *bytes, size_t size,
                                                            lanebloom_filter **filter,
                                                            char *problem, size_t problem_size);

/* Saves a filter as a container. If a save fails or is interrupted, an old file stays as it was.
 *
 * A new file, or one that replaces a regular file, is written in the same folder, flushed, and
 * renamed to the path; then the folder is flushed. If only that last step fails, the new file is in
 * place but may not survive a power cut. The new file has no name until it is complete. If the file
 * system does not allow nameless files, the new file has a name .lanebloom-* until then. A file
 * that replaces another always has such a name for a moment before the replacement. A process that
 * is killed may leave a file of such a name. Symbolic links are followed where the system follows
 * them.
 *
 * A new file has the mode that the umask leaves, or the folder's default ACL. A file that replaces
 * another gets the mode and the POSIX ACL of the old file, and its owner and group if the process
 * may set them. If the group cannot be kept, the new file's group gets no permissions, and all
 * other users lose the permissions that the old group did not have. If the ACL cannot be kept, or
 * if there is an ACL and the group cannot be kept, only the owner gets permissions. In a user
 * namespace, an owner or group that the namespace does not map cannot be kept.
 *
 * If the path is a pipe or another file that is not regular, or a path such as /dev/stdout or
 * /dev/fd/N, the container is written to it directly. A write to a closed pipe raises SIGPIPE.
 * Errors: IO with errno, KERNEL. Threads: if two threads save to one path, one of the two files
 * remains, complete. Cost: linear in the filter's bytes. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_save(const lanebloom_filter *filter,
                                                           const char *path);

/* Writes a container, as lanebloom_filter_save() does, but into memory of the caller.
 * lanebloom_filter_parse() reads it. Errors: ROOM. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_write(const lanebloom_filter *filter,
                                                            void *bytes, size_t room, size_t *size);

/* Checks whether a filter could be saved to this path now. Call it before a long build. It opens
 * and writes nothing. A later save may still fail, for example on a full disk. Errors: IO with
 * errno, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_save_check(const char *path);

/* Load and save the bare bytes that an engine writes, like lanebloom_filter_load() and
 * lanebloom_filter_save(). Such bytes hold no checksum. Errors: as for
 * lanebloom_filter_parse_raw(); FORMAT, also if the file is a container. CORRUPT: the file became
 * shorter while it was read. IO with errno. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_load_raw(lanebloom_format format,
                                                               const char *path,
                                                               const lanebloom_raw_options *options,
                                                               lanebloom_filter **filter,
                                                               char *problem, size_t problem_size);
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_save_raw(const lanebloom_filter *filter,
                                                               const char *path);

/* Returns the filter's bytes as the engine writes them, header and trailer included. They are
 * borrowed from the filter. */
LANEBLOOM_API const void *lanebloom_filter_bytes(const lanebloom_filter *filter, size_t *size);

/* Return the members of lanebloom_filter_info that have these names. Cost: constant, because no
 * bits are counted. */
LANEBLOOM_API lanebloom_format lanebloom_filter_format(const lanebloom_filter *filter);
LANEBLOOM_API uint64_t lanebloom_filter_nkeys(const lanebloom_filter *filter);
LANEBLOOM_API double lanebloom_filter_bits_per_key(const lanebloom_filter *filter);
LANEBLOOM_API lanebloom_key_form lanebloom_filter_key_form(const lanebloom_filter *filter);

typedef struct lanebloom_filter_info {
  /* The format. A filter that was opened as LANEBLOOM_ROCKSDB has the format that its trailer
   * names; if it has a constant answer, its format is LANEBLOOM_ROCKSDB. */
  lanebloom_format format;

  /* Probes per key; 0 for a constant answer. For Ribbon and binary fuse it is the largest number of
   * bits in which a key is compared. */
  uint32_t nprobes;
  uint64_t nbits;      /* bits that probes can reach; 0 for a constant answer */
  uint64_t nbits_set;  /* how many of them are set */
  uint64_t nkeys;      /* keys added, duplicates too; LANEBLOOM_UNKNOWN if unknown */
  double bits_per_key; /* after rounding and limits of the format; NaN if unknown */

  /* The false-positive rate by the model. It is computed from the number of bits that are set and,
   * if known, the number of keys. All keys are assumed to be distinct. */
  double model_rate;

  /* The number of distinct keys, estimated from the bits that are set. It is LANEBLOOM_UNKNOWN for
   * a constant answer, for Ribbon, binary fuse and HUDI, if all bits are set, and if the estimate
   * exceeds the number of hashes of the format (2^32 if a hash has 4 bytes).
   *
   * The error was measured with random keys and 1 to 30 bits per key:
   *
   * - RocksDB's, Spark's and DCSO's formats: at most 4 % for 10,000 keys, and 1 % for 100,000 and
   *   1,000,000.
   * - PARQUET: at most 7 % for 10,000 keys, 3 % for 100,000 and 2 % for 1,000,000. The error is
   *   this large because filters of 1 bit per key are nearly full.
   * - LevelDB's formats: the estimate is at most 2 % too high. It is too low by up to 7 % for
   *   10,000 keys, 16 % for 100,000 and 30 % for 1,000,000, because the probes of different keys
   *   overlap more often than the model assumes (docs/leveldb-false-positives.md).
   *
   * For keys that resemble each other the error is larger, except in ROCKSDB_LOCAL. If the keys are
   * the decimal or hexadecimal digits of 10,000 numbers, the error is up to 17 %. */
  uint64_t nkeys_estimate;

  lanebloom_key_form key_form; /* how the keys were made */

  /* The number of keys that the filter was planned for, if its header says so, as in DCSO's
   * formats; otherwise LANEBLOOM_UNKNOWN. */
  uint64_t planned_nkeys;
} lanebloom_filter_info;

/* Describes a filter. Cost: linear in the filter's bytes, because the bits that are set are
 * counted. Source of nkeys_estimate: Swamidass and Baldi, J. Chem. Inf. Model. 47(3), 2007; for
 * RocksDB's formats their formula is applied to cache lines that fill independently. */
LANEBLOOM_API void lanebloom_filter_describe(const lanebloom_filter *filter,
                                             lanebloom_filter_info *info, size_t info_size);

LANEBLOOM_API void lanebloom_filter_free(lanebloom_filter *filter);

/* -------------------------------------------------------------------------------------------------
 * Screening: finding the keys that may be in a filter. A key that was added is always found.
 * Screening cannot fail, and only lanebloom_filter_screen_batch() allocates memory.
 * ---------------------------------------------------------------------------------------------- */

/* Returns true if this key may be in the filter. key may be NULL when size is 0. For many keys,
 * lanebloom_filter_screen() is much faster. */
LANEBLOOM_API bool lanebloom_filter_may_contain(const lanebloom_filter *filter, const void *key,
                                                size_t size);

/* Returns true if this key may be in the filter whose bytes an engine wrote. The function gives the
 * result of the filter that lanebloom_filter_parse_raw() would make of the bytes, or true if
 * lanebloom_filter_parse_raw() would return an error. For Base64 of HUDI the result is always true.
 * bytes and key may be NULL when their size is 0. Use this function to query each filter for one
 * key: it allocates no memory, but reads the filter's header or trailer in each call. */
LANEBLOOM_API bool lanebloom_filter_may_contain_raw(lanebloom_format format, const void *bytes,
                                                    size_t size, const void *key, size_t key_size);

/* Returns how many keys may be in the filter. bitmap: ceil(n / 8) bytes; bit i mod 8 of byte i / 8
 * becomes 1 if key i may be in the filter, otherwise 0, and bits past n become 0. bitmap may be
 * NULL if you only need the count. */
LANEBLOOM_API size_t lanebloom_filter_screen(const lanebloom_filter *filter,
                                             const lanebloom_keys *keys, uint8_t *bitmap);

/* Returns how many keys may be in the filter. mask: n bytes; mask[i] becomes 1 if key i may be in
 * the filter, otherwise 0. */
LANEBLOOM_API size_t lanebloom_filter_mask(const lanebloom_filter *filter,
                                           const lanebloom_keys *keys, uint8_t *mask);

/* Returns how many keys may be in the filter. indices: room for n numbers; the first ones become
 * the indices of the keys that may be in the filter, ascending. If n is above UINT32_MAX, the
 * function writes nothing and returns SIZE_MAX. */
LANEBLOOM_API size_t lanebloom_filter_select(const lanebloom_filter *filter,
                                             const lanebloom_keys *keys, uint32_t *indices);

/* Screens hashes that lanebloom_hash() made for this filter's format, as lanebloom_filter_screen()
 * screens keys. Use it to hash keys once and screen them against many filters. hashes:
 * n x lanebloom_format_hash_size() bytes. If the format has no hashes, every hash passes. */
LANEBLOOM_API size_t lanebloom_filter_screen_hashes(const lanebloom_filter *filter,
                                                    const void *hashes, size_t n, uint8_t *bitmap);

/* A batch of hashes that is screened against many filters, such as the filters of all tables of a
 * database. If the format is parquet or rocksdb-local, the kernel is one of AVX2 or AVX-512, and
 * the filters have at least 12 of the hashes per cache line or block, the batch can sort its
 * hashes. This takes as long as screening a few dozen filters. From then on a filter takes 0.5 to
 * 0.8 of the time of lanebloom_filter_screen_hashes() with 16 hashes per line, and 0.2 to 0.4 with
 * 200 (AVX2 on a Zen 3). */
typedef struct lanebloom_hash_batch lanebloom_hash_batch;

/* Makes a batch of n hashes that lanebloom_hash() made for this format. hashes: n x
 * lanebloom_format_hash_size() bytes, which the batch borrows. nfilters: about how many filters the
 * batch will be screened against; if so few that sorting does not pay, it is not done, otherwise it
 * is done at once. If you do not know, pass 0. Errors: FORMAT, MEMORY. Memory: none until the
 * hashes are sorted, then at most 21 bytes per hash, and 16 more during sorting. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_hash_batch_create(lanebloom_format format,
                                                                 const void *hashes, size_t n,
                                                                 size_t nfilters,
                                                                 lanebloom_hash_batch **batch);

LANEBLOOM_API void lanebloom_hash_batch_free(lanebloom_hash_batch *batch);

/* Screens the hashes of a batch as lanebloom_filter_screen_hashes() does, with the same result. The
 * filter's format must have the hash of the batch's format. If memory runs out, the hashes are not
 * sorted. Threads: any number of threads may screen one batch at a time. */
LANEBLOOM_API size_t lanebloom_filter_screen_batch(const lanebloom_filter *filter,
                                                   lanebloom_hash_batch *batch, uint8_t *bitmap);

/* Writes the positions of the bits that one hash probes, in the order of the format's definition,
 * and returns their number. Position p is bit p mod 8 of byte p / 8 of the engine's bytes. hash:
 * lanebloom_format_hash_size() bytes. positions: room for nprobes (of lanebloom_filter_info)
 * numbers. For Ribbon and binary fuse the function returns 0, because they compare a key with
 * sums of bits, and for HUDI, which has no hashes. */
LANEBLOOM_API size_t lanebloom_filter_positions(const lanebloom_filter *filter, const void *hash,
                                                uint64_t *positions);

/* -------------------------------------------------------------------------------------------------
 * Streaming build: for keys that come in many batches, or from several threads with a builder each
 *
 * If expected_keys is 0, the builder stores a hash of 4, 8 or 16 bytes per key, and the size of the
 * filter is chosen when the builder is finished. The filter equals the one that
 * lanebloom_filter_build() makes of the same keys in the same order. Merging appends the keys of
 * one builder to another. lanebloom_builder_part() lets several threads set the bits.
 *
 * If expected_keys is E, the size of the filter is chosen for E keys when the builder is created,
 * so memory is bounded. Merging is a bitwise or. The filter equals the engine's if E keys are added
 * and the engine counts every one of them; RocksDB counts equal hashes in a row once. More than E
 * keys may be added, but they raise the false-positive rate.
 *
 * The headers of DCSO's formats count the keys that set a bit when they were added. This count is
 * the engine's if one builder gets all keys, in their order. If builders or parts are merged, it is
 * the sum of their counts, so a key may be counted once for each of them.
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_builder lanebloom_builder;

/* Makes an empty builder. bits_per_key: as described for planning, above. Errors: ARGUMENT, FORMAT,
 * LIMIT, MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_create(lanebloom_format format,
                                                              double bits_per_key,
                                                              uint64_t expected_keys,
                                                              lanebloom_builder **builder);

/* Makes an empty builder of filters with at most this false-positive rate, by the model. The bits
 * per key are those that lanebloom_plan_bits() returns for the number of keys. But if the engine's
 * writer takes a rate, the filter has the size and the header that the writer gives it for this
 * rate and expected_keys. Errors: as for lanebloom_plan_bits(), MEMORY. If expected_keys is 0, the
 * size is chosen when the builder is finished, which may then return LIMIT. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_create_for_rate(lanebloom_format format,
                                                                       double rate,
                                                                       uint64_t expected_keys,
                                                                       lanebloom_builder **builder);

/* Makes an empty builder of filters that can be merged with this filter: they have its format,
 * size, probes and key form. Errors: ARGUMENT if the filter has a constant answer; FORMAT if its
 * format is only opened; MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_create_like(const lanebloom_filter *filter,
                                                                   lanebloom_builder **builder);

/* Adds a batch of keys. Errors: MEMORY, KERNEL. Cost: linear in the bytes of the keys. Memory:
 * adding a large batch to a builder with expected_keys takes additional memory, if the system has
 * it. For a filter of LevelDB's formats of 14 MiB or more, the additional memory is up to half the
 * filter's size. For a filter of rocksdb-local or parquet of 128 MiB or more, it is up to the
 * filter's size. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_add(lanebloom_builder *builder,
                                                           const lanebloom_keys *keys);

/* Sets the key form. A new builder has the plain form. The new form applies to filters that are
 * finished later and to parts that are made later. Errors: ARGUMENT: an encoding or a flag that is
 * not defined above. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_set_key_form(lanebloom_builder *builder,
                                                                    lanebloom_key_form form);

/* Returns the key form that was set last, or the plain form. */
LANEBLOOM_API lanebloom_key_form lanebloom_builder_key_form(const lanebloom_builder *builder);

/* Adds the keys of `from` to `into`. `from` does not change. Errors: ARGUMENT: both are one
 * builder. MISMATCH: the formats or the key forms differ, or only one of the two builders was
 * created with expected_keys 0. Two builders with expected_keys 0 are also MISMATCH if their bits
 * per key or rates differ. Two other builders are also MISMATCH if the sizes of their filters or
 * their numbers of probes differ. The problem says in which property they differ. MEMORY, KERNEL.
 * Threads: any number of threads may merge from one builder at a time, if no thread changes it. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_merge(lanebloom_builder *into,
                                                             const lanebloom_builder *from,
                                                             char *problem, size_t problem_size);

/* Makes part i of n of a builder that was created with expected_keys 0. The part is a builder of
 * the whole filter's size, to which an n-th of the keys was added. All n parts, merged in any
 * order, give the same filter as `whole`. `whole` does not change. Errors: ARGUMENT: `whole` was
 * created with expected_keys or is a part, or i is not below n. LIMIT, MEMORY, KERNEL. Threads: any
 * number of threads may make parts of one builder at a time, for example one part each. Cost:
 * linear in the part's keys and the filter's bytes. Memory: the whole filter's size and, during the
 * call, the memory that lanebloom_builder_add() uses. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_part(const lanebloom_builder *whole,
                                                            size_t i, size_t n,
                                                            lanebloom_builder **part);

/* Makes the filter and empties the builder. Keys for another filter may then be added. Errors:
 * LIMIT, MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_finish(lanebloom_builder *builder,
                                                              lanebloom_filter **filter);

LANEBLOOM_API void lanebloom_builder_free(lanebloom_builder *builder);

/* -------------------------------------------------------------------------------------------------
 * Kernels: the instruction sets that this build has and this CPU and its operating system can run
 * ---------------------------------------------------------------------------------------------- */

/* The names of the kernels, the best one for this CPU first. There is at least one, because
 * "scalar" runs everywhere. On an x86 CPU that QEMU emulates (TCG), "scalar" is the best, because
 * vector instructions are slow there. */
LANEBLOOM_API size_t lanebloom_kernel_count(void);
LANEBLOOM_API const char *lanebloom_kernel_at(size_t i);

/* Returns the name of the kernel in use, or NULL while $LANEBLOOM_KERNEL names one that cannot run
 * here. */
LANEBLOOM_API const char *lanebloom_kernel_active(void);

/* Returns in a few words why the kernel in use was chosen, or NULL while none is in use. */
LANEBLOOM_API const char *lanebloom_kernel_reason(void);

/* Uses the named kernel from now on, in every thread. If name is NULL, the default is used again.
 * Errors: KERNEL: this build has no such kernel, or this CPU cannot run it. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_kernel_use(const char *name);

#ifdef __cplusplus
}
#endif

#endif
