/* Visits every value of a line, so that invalid JSON is detected anywhere in the line, and stores
 * the values that are needed. simdjson finds the tokens and checks that they form objects and
 * arrays. Numbers are checked here, because simdjson rejects numbers that fit into no type of C.
 *
 * The code uses no exceptions: memory is allocated by operators that return NULL. simdjson does not
 * check all of its own allocations, so this file unescapes strings into a buffer of its own.
 * SPDX-License-Identifier: MIT */
#include "json.h"

#define SIMDJSON_DEVELOPMENT_CHECKS 0 /* they allocate without a check */
#include <simdjson.h>

#include <cstring>
#include <memory>
#include <new>

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

static_assert(size_t{JSON_PADDING_NBYTES} >= simdjson::SIMDJSON_PADDING, "lines have less padding");

/* One step of a path, which leads into a member or an array element. */
struct step {
  std::string_view name;
  uint64_t index; /* the name as the index of an array element; UINT64_MAX: it is no index */
};

struct path {
  const step *steps;
  size_t nsteps;
};

struct json_parser {
  ondemand::parser parser;
  path paths[MAX_NFIELDS];
  size_t npaths;
  std::unique_ptr<step[]> steps;     /* the steps of all paths */
  std::unique_ptr<char[]> names;     /* the names of all steps */
  std::unique_ptr<uint8_t[]> buffer; /* receives unescaped strings */
  uint8_t *buffer_end;               /* the end of the strings in `buffer' */
  bool has_escapes;                  /* the line contains a backslash */
};

/* Sets a handler for memory that runs out, because simdjson stores names of implementations in
 * std::string, whose allocation may throw an exception. */
void json_prepare(void (*out_of_memory)(void))
{
  std::set_new_handler(out_of_memory);
  (void)simdjson::get_active_implementation()->name();
  std::set_new_handler(nullptr);
}

/* ---- Paths ---- */

/* Returns the index of an array element, or UINT64_MAX if the name is no index. An index has no
 * sign and no leading zeros. It has at most 18 digits, which fit into 64 bits. */
static uint64_t parse_index(std::string_view name)
{
  uint64_t index = 0;
  if (name.empty() || name.size() > 18 || (name[0] == '0' && name.size() > 1))
    return UINT64_MAX;
  for (const char digit : name) {
    if (digit < '0' || digit > '9')
      return UINT64_MAX;
    index = 10 * index + (uint64_t)(digit - '0');
  }
  return index;
}

/* Copies one step of a JSON pointer (RFC 6901), and replaces its escapes. The step begins at *text.
 * Sets *text to the end of the step, and returns the end of the copy. */
static char *copy_step(const char **text, char *to)
{
  for (; **text && **text != '/'; ++*text)
    if (**text == '~')
      *to++ = *++*text == '0' ? '~' : '/';
    else
      *to++ = **text;
  return to;
}

static void make_paths(json_parser *parser, const field_syntax *fields)
{
  step *next = parser->steps.get();
  char *name = parser->names.get();
  parser->npaths = fields->n;
  for (size_t i = 0; i < fields->n; i++) {
    path &path = parser->paths[i];
    const char *text = fields->fields[i].name;
    const bool is_pointer = *text == '/';
    path.steps = next;
    do {
      text += is_pointer;
      char *end = is_pointer ? copy_step(&text, name) : strcpy(name, text) + strlen(text);
      const std::string_view copy(name, (size_t)(end - name));
      *next++ = {copy, is_pointer ? parse_index(copy) : UINT64_MAX}; /* only a JSON pointer can name
                                                                      * an array element */
      name = end;
    } while (is_pointer && *text);
    path.nsteps = (size_t)(next - path.steps);
  }
}

json_parser *json_parser_create(const field_syntax *fields)
{
  size_t nbytes = 0; /* the size of all names, each with a NUL byte; there are at most as many
                      * steps, because a path has no more steps than bytes */
  for (size_t i = 0; i < fields->n; i++)
    nbytes += strlen(fields->fields[i].name) + 1;
  std::unique_ptr<json_parser> parser(new (std::nothrow) json_parser());
  if (!parser)
    return nullptr;
  parser->steps.reset(new (std::nothrow) step[nbytes]);
  parser->names.reset(new (std::nothrow) char[nbytes]);
  if (!parser->steps || !parser->names)
    return nullptr;
  make_paths(parser.get(), fields);
  return parser.release();
}

void json_parser_destroy(json_parser *parser)
{
  delete parser;
}

/* ---- Tokens ---- */

static bool is_space(char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static std::string_view trim(std::string_view token)
{
  while (is_space(token.back())) /* ends, because the first byte is no space */
    token.remove_suffix(1);
  return token;
}

static bool is_number(std::string_view token)
{
  size_t at = token[0] == '-';
  const auto is = [&](char c) { return at < token.size() && token[at] == c; };
  const auto count_digits = [&] {
    const size_t begin = at;
    while (at < token.size() && token[at] >= '0' && token[at] <= '9')
      at++;
    return at - begin;
  };
  const bool begins_with_0 = is('0');
  const size_t ndigits = count_digits();
  if (ndigits == 0 || (begins_with_0 && ndigits > 1))
    return false;
  if (is('.') && (at++, count_digits() == 0))
    return false;
  if (is('e') || is('E')) {
    at++;
    at += is('+') || is('-');
    if (count_digits() == 0)
      return false;
  }
  return at == token.size();
}

/* Does this string contain only escapes that JSON allows? It begins after the opening quote. */
static bool is_well_formed(const char *string)
{
  for (; *(string += strcspn(string, "\"\\")) == '\\'; string += 2)
    if (string[1] == 'u' ? strspn(string + 2, "0123456789ABCDEFabcdef") < 4
                         : !strchr("\"\\/bfnrt", string[1]))
      return false;
  return true;
}

/* Removes the escapes from a string, which begins after the opening quote. If the string contains a
 * lone surrogate, sets *text to NULL and returns no error: JSON allows lone surrogates, but
 * simdjson rejects them because UTF-8 cannot represent them. */
static error_code unescape(json_parser *parser, const char *string, std::string_view *text)
{
  const auto raw = ondemand::raw_json_string(reinterpret_cast<const uint8_t *>(string));
  *text = {};
  const error_code error = parser->parser.unescape(raw, parser->buffer_end).get(*text);
  return error && is_well_formed(string) ? simdjson::SUCCESS : error;
}

/* Returns the error for an invalid value. `first' is its first byte. */
static error_code explain_scalar(char first)
{
  return strchr("]},:", first)            ? simdjson::TAPE_ERROR
         : strchr("+-.0123456789", first) ? simdjson::NUMBER_ERROR
                                          : simdjson::T_ATOM_ERROR;
}

/* Reads the text of a value that is neither an object nor an array. Returns an error if it is no
 * valid value. */
static error_code read_scalar(json_parser *parser, std::string_view token, json_value *value)
{
  std::string_view text = trim(token);
  value->kind = JSON_TEXT;
  if (text[0] == '"') {
    text = text.substr(1, text.size() - 2); /* the last byte is a quote, because simdjson has
                                             * checked that strings are closed */
    if (parser->has_escapes && memchr(text.data(), '\\', text.size()))
      SIMDJSON_TRY(unescape(parser, text.data(), &text));
    if (!text.data())
      value->kind = JSON_SURROGATE;
  } else if (text == "null") {
    value->kind = JSON_NULL;
  } else if (text != "true" && text != "false" && !is_number(text)) {
    return explain_scalar(text[0]);
  }
  value->text = {text.data(), text.size()};
  return simdjson::SUCCESS;
}

static error_code read_name(json_parser *parser, const char *string, std::string_view *name)
{
  size_t nbytes = 0; /* this loop is faster than memchr(), because names are short */
  while (string[nbytes] != '"' && string[nbytes] != '\\')
    nbytes++;
  *name = {string, nbytes};
  return string[nbytes] == '"' ? simdjson::SUCCESS : unescape(parser, string, name);
}

/* ---- The walk ---- */

/* The data that all functions of the walk through a line share. In these functions, a set of paths
 * is a number with one bit for each path. */
struct walk {
  json_parser *parser;
  json_value *values;
};

static_assert(MAX_NFIELDS <= 64, "a set of paths has 64 bits");

/* Returns the subset of the paths whose step at this level satisfies fits(). */
template <class Fits>
static uint64_t follow(const walk &walk, uint64_t paths, size_t level, Fits fits)
{
  uint64_t followed = 0;
  for (uint64_t left = paths; left; left &= left - 1) {
    const path &path = walk.parser->paths[__builtin_ctzll(left)];
    if (path.nsteps > level && fits(path.steps[level]))
      followed |= left & -left;
  }
  return followed;
}

/* Stores the value for each path that ends at this level. Sets the value for each longer path to
 * absent, because an earlier member of the same name may have stored a value. */
static void keep(const walk &walk, uint64_t paths, size_t level, const json_value &value)
{
  for (; paths; paths &= paths - 1) {
    const int i = __builtin_ctzll(paths);
    walk.values[i] = walk.parser->paths[i].nsteps == level ? value : json_value{JSON_ABSENT, {}};
  }
}

static error_code visit(const walk &walk, ondemand::value &value, uint64_t paths, size_t level);

static error_code visit_members(const walk &walk, ondemand::value &value, uint64_t paths,
                                size_t level)
{
  ondemand::object object;
  SIMDJSON_TRY(value.get_object().get(object));
  for (auto item : object) {
    std::string_view name;
    SIMDJSON_TRY(item.error());
    ondemand::field &field = item.value_unsafe(); /* a reference: when fields were copied, the
                                                   * copies took a third of the time */
    if (paths || walk.parser->has_escapes)
      SIMDJSON_TRY(read_name(walk.parser, field.key().raw(), &name));
    const uint64_t followed = follow(
        walk, paths, level, [&](const step &step) { return name.data() && step.name == name; });
    SIMDJSON_TRY(visit(walk, field.value(), followed, level + 1));
  }
  return simdjson::SUCCESS;
}

static error_code visit_elements(const walk &walk, ondemand::value &value, uint64_t paths,
                                 size_t level)
{
  ondemand::array array;
  uint64_t index = 0;
  SIMDJSON_TRY(value.get_array().get(array));
  for (auto item : array) {
    SIMDJSON_TRY(item.error());
    const uint64_t followed =
        follow(walk, paths, level, [&](const step &step) { return step.index == index; });
    SIMDJSON_TRY(visit(walk, item.value_unsafe(), followed, level + 1));
    index++;
  }
  return simdjson::SUCCESS;
}

/* Checks a value and all values inside it. `paths' is the set of paths whose first `level' steps
 * lead to this value. */
static error_code visit(const walk &walk, ondemand::value &value, uint64_t paths, size_t level)
{
  const std::string_view token = value.raw_json_token();
  json_value found = {};
  if (token.empty()) /* the line ends in the place of a value */
    return simdjson::INCOMPLETE_ARRAY_OR_OBJECT;
  if (token[0] != '{' && token[0] != '[') {
    if (token[0] == '"') /* checks the string; without this call, simdjson would skip a string
                          * before a colon, as if it were a name */
      SIMDJSON_TRY(value.get_raw_json_string().error());
    SIMDJSON_TRY(read_scalar(walk.parser, token, &found));
    keep(walk, paths, level, found);
    return simdjson::SUCCESS;
  }
  if (level == JSON_MAX_NLEVELS)
    return simdjson::DEPTH_ERROR;
  found.kind = token[0] == '{' ? JSON_OBJECT : JSON_ARRAY;
  keep(walk, paths, level, found);
  return (token[0] == '{' ? visit_members : visit_elements)(walk, value, paths, level);
}

static error_code visit_line(const walk &walk, const char *line, size_t nbytes)
{
  ondemand::document document;
  ondemand::value value;
  std::string_view token;
  SIMDJSON_TRY(
      walk.parser->parser.iterate(line, nbytes, nbytes + JSON_PADDING_NBYTES).get(document));
  SIMDJSON_TRY(document.raw_json_token().get(token));
  const char first = *token.data();
  if (first == '{' || first == '[') {
    SIMDJSON_TRY(document.get_value().get(value));
    SIMDJSON_TRY(visit(walk, value, ~uint64_t{0} >> (64 - walk.parser->npaths), 0));
    return document.current_location().error() == simdjson::OUT_OF_BOUNDS
               ? simdjson::SUCCESS
               : simdjson::TRAILING_CONTENT;
  }
  json_value found;
  SIMDJSON_TRY(read_scalar(walk.parser, token, &found));
  return token.end() < line + nbytes ? simdjson::TRAILING_CONTENT : simdjson::SUCCESS;
}

/* ---- Lines ---- */

/* Makes room for a line of nbytes. Allocates more than that, so that longer lines seldom need
 * another allocation. */
static error_code reserve(json_parser *parser, size_t nbytes)
{
  const size_t capacity = parser->parser.capacity();
  if (nbytes <= capacity && parser->buffer)
    return simdjson::SUCCESS;
  size_t larger = capacity < 4096 ? 4096 : 2 * capacity;
  larger = larger < nbytes || larger > parser->parser.max_capacity() ? nbytes : larger;
  SIMDJSON_TRY(parser->parser.allocate(larger, JSON_MAX_NLEVELS));
  parser->buffer.reset(new (std::nothrow) uint8_t[larger + simdjson::SIMDJSON_PADDING]);
  return parser->buffer ? simdjson::SUCCESS : simdjson::MEMALLOC;
}

static const char *describe(error_code error)
{
  switch (error) {
  case simdjson::CAPACITY:
    return "a line of 4 GiB or more";
  case simdjson::DEPTH_ERROR:
    return "more than 512 objects or arrays inside one another";
  case simdjson::UTF8_ERROR:
    return "bytes that are not UTF-8";
  case simdjson::UNCLOSED_STRING:
    return "a string without a closing quote";
  case simdjson::UNESCAPED_CHARS:
    return "a control character in a string";
  case simdjson::STRING_ERROR:
    return "an escape that is not JSON";
  case simdjson::NUMBER_ERROR:
    return "a number that is not JSON";
  case simdjson::T_ATOM_ERROR:
    return "a word without quotes";
  case simdjson::TRAILING_CONTENT:
    return "more text after it";
  default:
    return "a quote, comma, colon or bracket that is missing or misplaced";
  }
}

json_status json_parse(json_parser *parser, const char *line, size_t nbytes, json_value *values,
                       const char **found)
{
  for (size_t i = 0; i < parser->npaths; i++)
    values[i] = {};
  error_code error = reserve(parser, nbytes);
  parser->buffer_end = parser->buffer.get();
  parser->has_escapes = memchr(line, '\\', nbytes);
  if (!error)
    error = visit_line({parser, values}, line, nbytes);
  *found = describe(error);
  return error == simdjson::SUCCESS    ? JSON_OK
         : error == simdjson::EMPTY    ? JSON_EMPTY
         : error == simdjson::MEMALLOC ? JSON_OUT_OF_MEMORY
                                       : JSON_INVALID;
}
