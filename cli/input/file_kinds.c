/* Recognizes kinds of files by their first and last bytes.
 * SPDX-License-Identifier: MIT */
#include "file_kinds.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../src/common/table_end.h"
#include "../../src/system/system.h"

/* ---- Kinds that are not recognized by one magic number at their beginning ---- */

enum {
  TAR_NBYTES = 512,
  CPIO_NBYTES = 111,
  BZIP2_NBYTES = 10,
  ZIP_DOCUMENT_NBYTES = 72,
  ORC_NBYTES = 6,
  DUCKDB_NBYTES = 20,
  UTF16_NBYTES = 8,
  UTF32_NBYTES = 8
};

/* Checks the first header of a tar archive, which begins with a name, and has the sum of its bytes
 * in octal digits at byte 148. The bytes of the sum itself are counted as spaces. Archives that are
 * older than the magic number of tar have this sum, too. */
static bool is_tar(const char *bytes, size_t nbytes)
{
  enum { SUM_AT = 148, SUM_NBYTES = 8 };
  unsigned long found = 0, sum = SUM_NBYTES * ' ';
  (void)nbytes;
  for (size_t i = 0; i < TAR_NBYTES; i++)
    sum += i < SUM_AT || i >= SUM_AT + SUM_NBYTES ? (unsigned char)bytes[i] : 0;
  for (size_t i = SUM_AT; i < SUM_AT + SUM_NBYTES; i++)
    if (bytes[i] >= '0' && bytes[i] <= '7')
      found = 8 * found + (unsigned long)(bytes[i] - '0');
    else if (bytes[i] && bytes[i] != ' ')
      return false;
  return *bytes && found == sum;
}

/* Checks a header of cpio, which consists of hexadecimal or octal digits. The name of a file
 * follows. */
static bool is_cpio(const char *bytes, size_t nbytes)
{
  enum { MAGIC_NBYTES = 6, OCTAL_NBYTES = 76 };
  const bool is_octal = memcmp(bytes, "070707", MAGIC_NBYTES) == 0;
  const size_t header_nbytes = is_octal ? OCTAL_NBYTES : CPIO_NBYTES - 1;
  (void)nbytes;
  if (!is_octal && memcmp(bytes, "070701", MAGIC_NBYTES) != 0 &&
      memcmp(bytes, "070702", MAGIC_NBYTES) != 0)
    return false;
  for (size_t i = 0; i < header_nbytes; i++)
    if (!strchr("0123456789abcdefABCDEF", bytes[i]) || !bytes[i])
      return false;
  return (unsigned char)bytes[header_nbytes] > ' ';
}

/* Checks the constants of bzip2 at the beginning and at byte 4. Between them is a digit, the block
 * size. */
static bool is_bzip2(const char *bytes, size_t nbytes)
{
  (void)nbytes;
  return memcmp(bytes, "BZh", 3) == 0 && bytes[3] >= '1' && bytes[3] <= '9' &&
         memcmp(bytes + 4, "1AY&SY", BZIP2_NBYTES - 4) == 0;
}

/* Checks whether a zip archive is a document, by the first file in the archive. The name of this
 * file is at byte 30. The file of a document is the list of types, is in a folder that only
 * documents have, or is called "mimetype" and contains the type of an OpenDocument file. */
static bool is_zip_document(const char *bytes, size_t nbytes)
{
  enum { NAME_AT = 30 };
  static const char *const beginnings[] = {"[Content_Types].xml",
                                           "_rels/",
                                           "docProps/",
                                           "xl/",
                                           "word/",
                                           "ppt/",
                                           "mimetypeapplication/vnd.oasis.opendocument"};
  bool is_document = false;
  (void)nbytes;
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
    is_document |= memcmp(bytes + NAME_AT, beginnings[i], strlen(beginnings[i])) == 0;
  return is_document && memcmp(bytes, "PK\3\4", 4) == 0;
}

/* Checks the name "ORC" and the three bytes after it, because text may begin with this name, too.
 * In an ORC file, the three bytes are a number or part of a Protocol Buffers message, and one of
 * them is a control character. */
static bool is_orc(const char *bytes, size_t nbytes)
{
  enum { NAME_NBYTES = 3 };
  (void)nbytes;
  if (memcmp(bytes, "ORC", NAME_NBYTES) != 0)
    return false;
  for (size_t i = NAME_NBYTES; i < ORC_NBYTES; i++) {
    const unsigned char c = (unsigned char)bytes[i];
    if (c < '\t' || (c > '\r' && c < ' '))
      return true;
  }
  return false;
}

/* Checks the name at byte 8, after a checksum, and the number of eight bytes that follows the name.
 * Only the lowest two bytes of the number are used, so the others must be zeros. */
static bool is_duckdb(const char *bytes, size_t nbytes)
{
  enum { NAME_AT = 8, HIGH_AT = 14 };
  (void)nbytes;
  return memcmp(bytes + NAME_AT, "DUCK", 4) == 0 &&
         memcmp(bytes + HIGH_AT, "\0\0\0\0\0\0", DUCKDB_NBYTES - HIGH_AT) == 0;
}

/* Is the text UTF-16, mostly of characters that fit into one byte? If so, the first bytes contain
 * line ends of two bytes, and many NULs, which are the upper bytes of characters. `high` is the
 * position of the upper byte in a character, 0 or 1. */
static bool is_utf16(const char *bytes, size_t nbytes, size_t high)
{
  enum { MAX_NBYTES = 1 << 16 };
  const size_t n = nbytes < MAX_NBYTES ? nbytes : MAX_NBYTES;
  size_t nnuls = 0, nlines = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t other = i ^ 1; /* the other byte of the same character */
    if ((bytes[i] == '\0' && i % 2 != high) ||
        (bytes[i] == '\n' && (i % 2 == high || (other < n && bytes[other]))))
      return false;
    nnuls += bytes[i] == '\0';
    nlines += bytes[i] == '\n';
  }
  return nlines > 0 && nnuls >= n / 4;
}

static bool is_utf16_little(const char *bytes, size_t nbytes)
{
  return is_utf16(bytes, nbytes, 1);
}

static bool is_utf16_big(const char *bytes, size_t nbytes)
{
  return is_utf16(bytes, nbytes, 0);
}

/* Checks the first two characters. Each character has four bytes. The upper two are zeros in all
 * common scripts. */
static bool is_utf32_little(const char *bytes, size_t nbytes)
{
  (void)nbytes;
  return bytes[0] && !bytes[2] && !bytes[3] && bytes[4] && !bytes[6] && !bytes[7];
}

static bool is_utf32_big(const char *bytes, size_t nbytes)
{
  (void)nbytes;
  return !bytes[0] && !bytes[1] && bytes[3] && !bytes[4] && !bytes[5] && bytes[7];
}

/* ---- All kinds ---- */

#define TABLE_ADVICE "pyarrow can write its columns as CSV"
#define SPREADSHEET_ADVICE "a spreadsheet can be saved as CSV"

static const char container[] = "a lanebloom container";

/* Records are unlikely to begin with these bytes. If a magic contains no terminator, no record can
 * be complete before all bytes of the magic were read, so such a file is always recognized. */
static const struct file_kind kinds[] = {
    {.name = container, .nbytes = CONTAINER_MAGIC_NBYTES, .magic = {0x89, 'L', 'B', 'F'}},
    /* The magic is the name of the format and the byte after it. This byte begins a page header or
     * a footer: it says that the first field is a number. */
    {.name = "a Parquet file",
     .nbytes = 5,
     .magic = {'P', 'A', 'R', '1', 0x15},
     .advice = "`lanebloom screen --parquet' queries it (quote a pattern of files) for the records "
               "of other inputs"},
    {.name = "gzip data",
     .nbytes = 3,
     .magic = {0x1f, 0x8b, 0x08},
     .codec = CODEC_GZIP,
     .converter = "zcat"},
    {.name = "zstd data",
     .nbytes = 4,
     .magic = {0x28, 0xb5, 0x2f, 0xfd},
     .codec = CODEC_ZSTD,
     .converter = "zstdcat"},
    /* Parallel compressors write a skippable frame first. Its magic has sixteen possible values. */
    {.name = "zstd data",
     .nbytes = 4,
     .magic = {0x50, 0x2a, 0x4d, 0x18},
     .first_mask = 0x0f,
     .codec = CODEC_ZSTD,
     .converter = "zstdcat"},
    {.name = "lz4 data", .nbytes = 4, .magic = {0x04, 0x22, 0x4d, 0x18}, .converter = "lz4cat"},
    {.name = "lz4 data", .nbytes = 4, .magic = {0x02, 0x21, 0x4c, 0x18}, .converter = "lz4cat"},
    {.name = "xz data", .nbytes = 5, .magic = {0xfd, '7', 'z', 'X', 'Z'}, .converter = "xzcat"},
    {.name = "lzma data",
     .nbytes = 4,
     .magic = {0x5d, 0, 0, 0x80},
     .has_terminators = true,
     .has_nuls = true,
     .converter = "xzcat"},
    {.name = "lzma data",
     .nbytes = 5,
     .magic = {0x5d, 0, 0, 0, 0x04},
     .has_terminators = true,
     .has_nuls = true,
     .converter = "xzcat"},
    {.name = "lzip data", .nbytes = 5, .magic = {'L', 'Z', 'I', 'P', 1}, .converter = "lzip -dc"},
    {.name = "lzop data", .nbytes = 4, .magic = {0x89, 'L', 'Z', 'O'}, .converter = "lzop -dc"},
    {.name = "snappy data",
     .nbytes = 6,
     .magic = {0xff, 0x06, 0, 0, 's', 'N'},
     .has_terminators = true,
     .converter = "snzip -dc"},
    {.name = "compress data", .nbytes = 3, .magic = {0x1f, 0x9d, 0x90}, .converter = "zcat"},
    {.name = "bzip2 data", .nbytes = BZIP2_NBYTES, .tells = is_bzip2, .converter = "bzcat"},
    {.name = "a document that is a zip archive (.xlsx, .docx, .ods)",
     .nbytes = ZIP_DOCUMENT_NBYTES,
     .tells = is_zip_document,
     .advice = SPREADSHEET_ADVICE},
    {.name = "a zip archive", .nbytes = 4, .magic = {'P', 'K', 3, 4}, .converter = "unzip -p"},
    {.name = "an empty zip archive",
     .nbytes = 4,
     .magic = {'P', 'K', 5, 6},
     .advice = "it has no records"},
    {.name = "7z data",
     .nbytes = 6,
     .magic = {'7', 'z', 0xbc, 0xaf, 0x27, 0x1c},
     .converter = "7z x -so"},
    {.name = "a RAR archive",
     .nbytes = 6,
     .magic = {'R', 'a', 'r', '!', 0x1a, 0x07},
     .converter = "unrar p -inul"},
    {.name = "a document of OLE (.xls, .doc)",
     .nbytes = 8,
     .magic = {0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1},
     .advice = SPREADSHEET_ADVICE},
    {.name = "a PDF document",
     .nbytes = 5,
     .magic = {'%', 'P', 'D', 'F', '-'},
     .advice = "`pdftotext FILE -' prints its text"},
    {.name = "a database of SQLite",
     .nbytes = 15,
     .magic = {'S', 'Q', 'L', 'i', 't', 'e', ' ', 'f', 'o', 'r', 'm', 'a', 't', ' ', '3'},
     .advice = "`sqlite3 FILE \"SELECT ...\"' prints records"},
    {.name = "a database of DuckDB",
     .nbytes = DUCKDB_NBYTES,
     .tells = is_duckdb,
     .advice = "`duckdb -csv FILE \"SELECT ...\"' prints records"},
    {.name = "a dump of PostgreSQL",
     .nbytes = 6,
     .magic = {'P', 'G', 'D', 'M', 'P', 1},
     .advice = "`psql -c \"COPY ... TO STDOUT\"' prints the records of a table"},
    {.name = "a file of Arrow (Feather)",
     .nbytes = 6,
     .magic = {'A', 'R', 'R', 'O', 'W', '1'},
     .advice = TABLE_ADVICE},
    {.name = "a stream of Arrow",
     .nbytes = 4,
     .magic = {0xff, 0xff, 0xff, 0xff},
     .advice = TABLE_ADVICE},
    {.name = "a file of Feather 1",
     .nbytes = 5,
     .magic = {'F', 'E', 'A', '1', 0},
     .has_terminators = true,
     .has_nuls = true,
     .advice = TABLE_ADVICE},
    {.name = "an ORC file",
     .nbytes = ORC_NBYTES,
     .tells = is_orc,
     .has_nuls = true,
     .advice = TABLE_ADVICE},
    {.name = "an Avro file",
     .nbytes = 4,
     .magic = {'O', 'b', 'j', 1},
     .advice = "`avro-tools tojson FILE' prints lines of JSON, which --jsonl reads"},
    {.name = "a SequenceFile of Hadoop",
     .nbytes = 4,
     .magic = {'S', 'E', 'Q', 6},
     .advice = "`hadoop fs -text FILE' prints its records"},
    {.name = "an HDF5 file",
     .nbytes = 5,
     .magic = {0x89, 'H', 'D', 'F', '\r'},
     .advice = "h5py or pandas can write its values as CSV"},
    {.name = "an array of NumPy",
     .nbytes = 6,
     .magic = {0x93, 'N', 'U', 'M', 'P', 'Y'},
     .advice = "numpy.savetxt() writes its values as text, and tofile() as bytes for --width"},
    {.name = "a program (ELF)",
     .nbytes = 4,
     .magic = {0x7f, 'E', 'L', 'F'},
     .advice = "it has no records"},
    {.name = "UTF-32 text",
     .nbytes = 4,
     .magic = {0xff, 0xfe, 0, 0},
     .has_terminators = true,
     .converter = "iconv -f UTF-32 -t UTF-8"},
    {.name = "UTF-32 text",
     .nbytes = 4,
     .magic = {0, 0, 0xfe, 0xff},
     .has_terminators = true,
     .converter = "iconv -f UTF-32 -t UTF-8"},
    {.name = "UTF-16 text",
     .nbytes = 2,
     .magic = {0xff, 0xfe},
     .converter = "iconv -f UTF-16 -t UTF-8"},
    {.name = "UTF-16 text",
     .nbytes = 2,
     .magic = {0xfe, 0xff},
     .converter = "iconv -f UTF-16 -t UTF-8"},
    {.name = "UTF-16 text",
     .nbytes = UTF16_NBYTES,
     .tells = is_utf16_little,
     .has_nuls = true,
     .converter = "iconv -f UTF-16LE -t UTF-8"},
    {.name = "UTF-16 text",
     .nbytes = UTF16_NBYTES,
     .tells = is_utf16_big,
     .has_nuls = true,
     .converter = "iconv -f UTF-16BE -t UTF-8"},
    {.name = "UTF-32 text",
     .nbytes = UTF32_NBYTES,
     .tells = is_utf32_little,
     .has_nuls = true,
     .converter = "iconv -f UTF-32LE -t UTF-8"},
    {.name = "UTF-32 text",
     .nbytes = UTF32_NBYTES,
     .tells = is_utf32_big,
     .has_nuls = true,
     .converter = "iconv -f UTF-32BE -t UTF-8"},
    {.name = "a cpio archive",
     .nbytes = CPIO_NBYTES,
     .tells = is_cpio,
     .advice = "`cpio -i --to-stdout <FILE' prints what is in it"},
    {.name = "a tar archive", .nbytes = TAR_NBYTES, .tells = is_tar, .converter = "tar -xOf"},
};

/* A table has its magic number at its end. In a pipe, the end is not known before everything was
 * read, so only files are recognized. */
static const struct file_kind table = {
    .name = "a table of LevelDB, RocksDB or Pebble",
    .advice = "`lanebloom tables' describes it, `extract' saves its filter, and `screen --db' "
              "queries it"};

static bool may_be(const struct file_kind *kind, const char *bytes, size_t nbytes)
{
  if ((kind->has_terminators || kind->tells) && nbytes < kind->nbytes)
    return false;
  if (kind->tells)
    return kind->tells(bytes, nbytes);
  if (nbytes == 0)
    return true;
  const size_t ncompared = nbytes < kind->nbytes ? nbytes : kind->nbytes;
  return ((unsigned char)*bytes & ~kind->first_mask) == kind->magic[0] &&
         memcmp(bytes + 1, kind->magic + 1, ncompared - 1) == 0;
}

const struct file_kind *find_file_kind(const char *bytes, size_t nbytes)
{
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (may_be(&kinds[i], bytes, nbytes))
      return &kinds[i];
  return NULL;
}

static const struct file_kind *find_kind_by_end(const char bytes[FOOTER_END_NBYTES])
{
  return lanebloom_footer_ends_table((const uint8_t *)bytes) ? &table : NULL;
}

const struct file_kind *find_whole_file_kind(const char *bytes, size_t nbytes)
{
  const struct file_kind *kind = find_file_kind(bytes, nbytes);
  if (kind && nbytes >= kind->nbytes)
    return kind;
  return nbytes >= FOOTER_END_NBYTES ? find_kind_by_end(bytes + nbytes - FOOTER_END_NBYTES) : NULL;
}

int64_t read_at(int fd, char *bytes, size_t nbytes, uint64_t position)
{
  size_t nread = 0;
  for (int64_t n = 1; n != 0 && nread < nbytes; nread += (size_t)n) {
    n = lanebloom_system_read_at(fd, bytes + nread, nbytes - nread, position + nread);
    if (n < 0)
      return -1;
  }
  return (int64_t)nread;
}

bool find_file_kind_at_end(int fd, uint64_t nbytes, const struct file_kind **kind)
{
  char bytes[FOOTER_END_NBYTES];
  *kind = NULL;
  if (nbytes < FOOTER_END_NBYTES)
    return true;
  const int64_t nread = read_at(fd, bytes, sizeof bytes, nbytes - FOOTER_END_NBYTES);
  if (nread == FOOTER_END_NBYTES)
    *kind = find_kind_by_end(bytes);
  return nread >= 0;
}

bool is_container_magic(const char bytes[CONTAINER_MAGIC_NBYTES])
{
  const struct file_kind *kind = find_whole_file_kind(bytes, CONTAINER_MAGIC_NBYTES);
  return kind && kind->name == container;
}

bool is_stump(const struct file_kind *kind, size_t nbytes)
{
  return kind->codec && !kind->first_mask && nbytes > 1 && nbytes < kind->nbytes;
}

void describe_file_kind(const struct file_kind *kind, const struct input_messages *messages,
                        char *text, size_t size)
{
  if (kind->converter)
    snprintf(text, size, "expected records, found %s: run %s FILE | lanebloom %s ...", kind->name,
             kind->converter, messages->verb);
  else
    snprintf(text, size, "expected records, found %s: %s", kind->name,
             kind->advice ? kind->advice : messages->container_advice);
}
