/* Parses lists of fields, and finds the names of fields in a header. This code is slower than the
 * cutter.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/report.h"
#include "../options/options.h"
#include "fields.h"

/* ---- One field ---- */

/* A field without its quotes. A NUL byte follows the text. */
struct item {
  char *text;
  size_t nbytes;
  bool quoted;
};

/* Takes the field that begins at *next. Sets *next to the byte after the separator that follows, or
 * to NULL if this is the last field. Changes the bytes, including the byte at `end`. Returns false
 * if the quotes of the field are wrong. */
static bool take_item(char **next, const char *end, char separator, bool quotes, struct item *item)
{
  char *at = *next, *to = at;
  *item = (struct item){.text = at, .quoted = quotes && at < end && *at == '"'};
  bool in_quotes = item->quoted;
  for (at += item->quoted; at < end && (in_quotes || *at != separator); at++) {
    if (!quotes || *at != '"')
      *to++ = *at;
    else if (in_quotes && at + 1 < end && at[1] == '"')
      *to++ = *at++;
    else if (in_quotes && (at + 1 == end || at[1] == separator))
      in_quotes = false;
    else
      break;
  }
  const bool ends = !in_quotes && (at == end || *at == separator);
  *next = at < end ? at + 1 : NULL;
  *to = '\0';
  item->nbytes = (size_t)(to - item->text);
  return ends;
}

/* ---- Lists of fields ---- */

__attribute__((format(printf, 3, 4))) static bool refuse(char *problem, size_t size,
                                                         const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(problem, size, format, arguments);
  va_end(arguments);
  return false;
}

/* Is each ~ of the JSON pointer followed by 0 or 1? */
static bool is_pointer(const char *text)
{
  while ((text = strchr(text, '~')))
    if (*++text != '0' && *text != '1')
      return false;
  return true;
}

/* Does the JSON pointer lead to this member of the outermost object? */
static bool points_to(const char *pointer, const char *member)
{
  for (pointer++; *pointer && *pointer != '/'; pointer++, member++) {
    char c = *pointer;
    if (c == '~')
      c = *++pointer == '0' ? '~' : '/';
    if (c != *member)
      return false;
  }
  return !*pointer && !*member;
}

static bool is_same_name(const struct field_syntax *syntax, const char *a, const char *b)
{
  if (syntax->dialect == DIALECT_JSON && (*a == '/') != (*b == '/'))
    return *a == '/' ? points_to(a, b) : points_to(b, a);
  return strcmp(a, b) == 0;
}

static bool add_field(struct field_syntax *syntax, const char *name, size_t number, char *problem,
                      size_t problem_size)
{
  if (syntax->n == MAX_NFIELDS)
    return refuse(problem, problem_size, "expected at most %d fields, found more", MAX_NFIELDS);
  for (size_t i = 0; i < syntax->n; i++) {
    const struct field *other = &syntax->fields[i];
    if (name && other->name && is_same_name(syntax, name, other->name))
      return refuse(problem, problem_size, "expected each field once, found '%s' twice", name);
    if (!name && !other->name && number == other->number)
      return refuse(problem, problem_size, "expected each field once, found field %zu twice",
                    number + 1);
  }
  syntax->fields[syntax->n++] = (struct field){.name = name, .number = number};
  return true;
}

/* Reads a number from 1 to 4294967295, and moves *text to its end. Returns 0 if there is no such
 * number. */
static size_t take_number(const char **text)
{
  char *end;
  if (**text < '0' || **text > '9')
    return 0;
  errno = 0;
  const unsigned long long number = strtoull(*text, &end, 10);
  *text = end;
  return errno || number > UINT32_MAX ? 0 : (size_t)number;
}

/* Adds the fields that an item of a list means. N is one field, and N-M is several. Any other text
 * is the name of a field. */
static bool add_item(struct field_syntax *syntax, const struct item *item, char *problem,
                     size_t problem_size)
{
  const char *text = item->text;
  const bool digits = !item->quoted && syntax->dialect != DIALECT_JSON && item->nbytes > 0 &&
                      strspn(text, "0123456789-") == item->nbytes;
  if (item->nbytes == 0)
    return refuse(problem, problem_size, "expected a number or a name, found nothing");
  if (syntax->dialect == DIALECT_JSON && *text == '/' && !is_pointer(text))
    return refuse(problem, problem_size,
                  "expected ~0 for ~ and ~1 for / in a JSON pointer, found '%s'", text);
  if (!digits)
    return add_field(syntax, text, 0, problem, problem_size);
  const size_t first = take_number(&text);
  size_t last = first;
  if (*text == '-') {
    text++;
    last = take_number(&text);
  }
  if (first == 0 || last < first || *text)
    return refuse(problem, problem_size,
                  "expected numbers from 1, as in 2 or 2-4, or names; found '%s'", item->text);
  for (size_t number = first; number <= last; number++)
    if (!add_field(syntax, NULL, number - 1, problem, problem_size))
      return false;
  return true;
}

bool add_fields(struct field_syntax *syntax, char *list, char *problem, size_t problem_size)
{
  char *next = list;
  const char *end = list + strlen(list);
  while (next) {
    struct item item;
    if (!take_item(&next, end, ',', true, &item))
      return refuse(problem, problem_size,
                    "expected quotes around a whole name, found some inside it or none at its end");
    if (!add_item(syntax, &item, problem, problem_size))
      return false;
  }
  return true;
}

/* Reads a range of bytes, and moves *text to its end. Returns false if there is none. */
static bool take_range(const char **text, struct field *range)
{
  const char *begin = *text;
  const size_t first = *begin == '-' ? 1 : take_number(text);
  size_t last = first;
  if (**text == '-') {
    ++*text;
    last = **text >= '0' && **text <= '9' ? take_number(text) : *begin == '-' ? 0 : SIZE_MAX;
  }
  if (first == 0 || last < first)
    return false;
  *range = (struct field){.number = first - 1, .last = last - (last < SIZE_MAX)};
  return true;
}

bool add_byte_ranges(struct field_syntax *syntax, const char *list, char *problem,
                     size_t problem_size)
{
  const char *at = list;
  for (bool more = true; more; at++) {
    struct field range;
    if (!take_range(&at, &range) || (*at && *at != ','))
      return refuse(problem, problem_size,
                    "expected numbers of bytes from 1, as in 5, 2-9, 10- or -4; found '%s'", list);
    for (size_t i = 0; i < syntax->n; i++)
      if (range.number <= syntax->fields[i].last && syntax->fields[i].number <= range.last)
        return refuse(
            problem, problem_size, "expected each byte once, found byte %zu twice",
            (range.number > syntax->fields[i].number ? range.number : syntax->fields[i].number) +
                1);
    if (syntax->n == MAX_NFIELDS)
      return refuse(problem, problem_size, "expected at most %d ranges, found more", MAX_NFIELDS);
    syntax->fields[syntax->n++] = range;
    more = *at == ',';
  }
  return true;
}

/* ---- Headers ---- */

/* The part of a header whose fields were not taken yet. */
struct header {
  char *copy; /* a copy of the header, because taking a field changes its bytes */
  char *next; /* the beginning of the next field; NULL: there is none */
  const char *end;
};

static struct header header_begin(const char *bytes, size_t nbytes)
{
  char *copy = memcpy(resize(NULL, nbytes + 1), bytes, nbytes);
  struct header header = {copy, copy + count_bom(bytes, nbytes), copy + nbytes};
  if (header.end > header.next && header.end[-1] == '\r')
    header.end--;
  return header;
}

static bool take_name(const struct field_syntax *syntax, struct header *header, struct item *item)
{
  return take_item(&header->next, header->end, syntax->separator, has_quotes(syntax), item);
}

/* If a header has only one field, the separator may be wrong. Returns another separator that occurs
 * in the header, or 0. */
static char find_separator(const struct field_syntax *syntax, const char *header, size_t nbytes)
{
  static const char separators[] = {'\t', ';', ',', '|'};
  for (size_t i = 0; i < sizeof separators; i++)
    if (separators[i] != syntax->separator && memchr(header, separators[i], nbytes))
      return separators[i];
  return 0;
}

/* Returns advice about a field that the header lacks, or "" if there is none. The caller frees the
 * text. */
static char *advise(const struct field_syntax *syntax, const char *name, size_t nfields,
                    const char *bytes, size_t nbytes)
{
  char separator = '\0';
  if (nfields == 1)
    separator = find_separator(syntax, bytes, nbytes);
  const char *prefix = option_prefix(syntax);
  struct suggestion suggestion = {.word = name};
  struct header header = header_begin(bytes, nbytes);
  char *advice;
  size_t advice_nbytes;
  FILE *stream = open_string(&advice, &advice_nbytes);
  for (struct item item; name && header.next && take_name(syntax, &header, &item);)
    suggest(&suggestion, item.text);
  if (separator == '\t')
    fprintf(stream, "; is the separator a tab? (--%stsv)", prefix);
  else if (separator == ',')
    fprintf(stream, "; is the separator a comma? (--%scsv)", prefix);
  else if (separator)
    fprintf(stream, "; is the separator '%c'? (--%scsv --%sdelimiter '%c')", separator, prefix,
            prefix, separator);
  else if (suggestion.name) {
    fputs("; did you mean '", stream);
    print_name(stream, suggestion.name);
    fputs("'?", stream);
  }
  free(header.copy);
  return close_string(stream, &advice);
}

static bool check_fields(const struct field_syntax *syntax, const bool *found, size_t nfields,
                         const char *header, size_t nbytes, char *problem, size_t problem_size)
{
  for (size_t i = 0; i < syntax->n; i++) {
    const struct field *field = &syntax->fields[i];
    if (field->name && !found[i]) {
      char *names = escape_word(header, nbytes, 100), *name = escape_name(field->name);
      char *advice = advise(syntax, field->name, nfields, header, nbytes);
      refuse(problem, problem_size, "expected a field '%s' in the header, found %s%s", name, names,
             advice);
      free(advice);
      free(names);
      free(name);
      return false;
    }
    if (field->number >= nfields) {
      char *advice = advise(syntax, NULL, nfields, header, nbytes);
      refuse(problem, problem_size, "expected field %zu in the header, found %zu field%s%s",
             field->number + 1, nfields, nfields == 1 ? "" : "s", advice);
      free(advice);
      return false;
    }
    for (size_t j = 0; j < i; j++)
      if (syntax->fields[j].number == field->number)
        return refuse(problem, problem_size, "expected each field once, found field %zu twice",
                      field->number + 1);
  }
  return true;
}

/* Compares the item, which is field `number` of the header, with all names of the key. If a name
 * equals the item, sets the number of the field that has this name. Returns false if an earlier
 * item had the same name. */
static bool find_item(struct field_syntax *syntax, const struct item *item, size_t number,
                      bool *found, char *problem, size_t problem_size)
{
  for (size_t i = 0; i < syntax->n; i++) {
    struct field *field = &syntax->fields[i];
    if (!field->name || strlen(field->name) != item->nbytes ||
        memcmp(field->name, item->text, item->nbytes) != 0)
      continue;
    if (found[i])
      return refuse(
          problem, problem_size,
          "expected one field '%s' in the header, found fields %zu and %zu; give a number",
          item->text, field->number + 1, number + 1);
    found[i] = true;
    field->number = number;
  }
  return true;
}

bool find_fields(struct field_syntax *syntax, const char *header, size_t nbytes, char *problem,
                 size_t problem_size)
{
  bool found[MAX_NFIELDS] = {false}, fits = true;
  struct header rest = header_begin(header, nbytes);
  size_t number = 0;
  for (; rest.next && fits; number++) {
    struct item item;
    if (take_name(syntax, &rest, &item))
      fits = find_item(syntax, &item, number, found, problem, problem_size);
    else
      fits = refuse(
          problem, problem_size,
          "header, field %zu: expected quotes around the whole field, found some inside it or "
          "none at its end; is the separator right? (--%sdelimiter)",
          number + 1, option_prefix(syntax));
  }
  free(rest.copy);
  return fits && check_fields(syntax, found, number, header, nbytes, problem, problem_size);
}
