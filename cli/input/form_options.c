/* Parses the options that give the form of keys, and checks that filters have the form that these
 * options require.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "../base/paths.h"
#include "../base/report.h"
#include "../options/options.h"
#include "digest.h"
#include "key_form.h"
#include "record_options.h"
#include "records.h"

enum { OPTION_DECODE = 0x100, OPTION_DIGEST, OPTION_LOWER, OPTION_TRIM, OPTION_UPPER };

static const char *const of_options = "the command line";

static const uint32_t HEX_FLAGS = LANEBLOOM_KEY_LOWER_HEX | LANEBLOOM_KEY_UPPER_HEX;
static const uint32_t DIGEST_FLAGS =
    LANEBLOOM_KEY_DIGEST | LANEBLOOM_KEY_LOWER_HEX | LANEBLOOM_KEY_UPPER_HEX;

/* ---- Options ---- */

static lanebloom_encoding parse_encoding(const struct argp_state *state, const char *text)
{
  lanebloom_encoding encoding;
  if (lanebloom_encoding_by_name(text, &encoding) && encoding != LANEBLOOM_BYTES)
    return encoding;
  usage_error(state,
              "--decode: expected none, hex, base64, int32, int64, uint32, uint64, float32, "
              "float64, date32, timestamp-s, timestamp-ms, timestamp-us, timestamp-ns, decimal128 "
              "or uuid, found '%s'",
              text);
}

static void set_encoding(struct record_syntax *syntax, const char *text,
                         const struct argp_state *state)
{
  syntax->is_decoded = strcmp(text, "none") == 0;
  syntax->form.encoding = syntax->is_decoded ? LANEBLOOM_BYTES : parse_encoding(state, text);
}

/* Parses the name of a digest, to which :hex or :HEX may be added. Returns its flags. */
static uint32_t parse_digest(const struct argp_state *state, const char *text)
{
  static const struct {
    const char *name;
    uint32_t flags;
  } digests[] = {{"md5", LANEBLOOM_KEY_MD5},
                 {"sha1", LANEBLOOM_KEY_SHA1},
                 {"sha256", LANEBLOOM_KEY_SHA256},
                 {"ntlm", LANEBLOOM_KEY_NTLM}};
  const size_t nbytes = strcspn(text, ":");
  const char *rest = text + nbytes;
  const uint32_t hex = strcmp(rest, ":hex") == 0   ? LANEBLOOM_KEY_LOWER_HEX
                       : strcmp(rest, ":HEX") == 0 ? LANEBLOOM_KEY_UPPER_HEX
                                                   : 0;
  for (size_t i = 0; i < sizeof digests / sizeof *digests && (hex || !*rest); i++)
    if (strlen(digests[i].name) == nbytes && memcmp(digests[i].name, text, nbytes) == 0)
      return digests[i].flags | hex;
  usage_error(state,
              "--digest: expected md5, sha1, sha256 or ntlm, and :hex or :HEX after it if keys are "
              "hexadecimal digits; found '%s'",
              text);
}

static void set_digest(struct record_syntax *syntax, const char *text,
                       const struct argp_state *state)
{
  const uint32_t flags = parse_digest(state, text);
  if (!has_digests())
    argp_error(state, "--digest: this lanebloom was built without Nettle, which makes digests");
  if (syntax->makes_digests)
    argp_error(state, "give --digest only once");
  syntax->form.flags |= flags;
  syntax->makes_digests = true;
}

static error_t parse_form_option(int key, char *text, struct argp_state *state)
{
  struct record_syntax *syntax = state->input;
  switch (key) {
  case OPTION_DECODE:
    set_encoding(syntax, text, state);
    break;
  case OPTION_DIGEST:
    set_digest(syntax, text, state);
    break;
  case OPTION_UPPER:
    syntax->form.flags |= LANEBLOOM_KEY_UPPERED;
    break;
  case OPTION_LOWER:
    syntax->form.flags |= LANEBLOOM_KEY_LOWERED;
    break;
  case OPTION_TRIM:
    syntax->form.flags |= LANEBLOOM_KEY_TRIMMED;
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  syntax->form_origin = of_options;
  return 0;
}

const struct argp form_argp = {
    .options =
        (const struct argp_option[]){
            {NULL, 0, NULL, 0,
             "The text of a key can be trimmed, made lower-case or upper-case, and then decoded or "
             "replaced by its digest, in this order. `build' records these options in the filter; "
             "`screen', `add' and `hash' then apply them:",
             7},
            {"trim", OPTION_TRIM, NULL, 0,
             "Remove spaces, tabs, CR and LF at both ends of the text", 7},
            {"lower", OPTION_LOWER, NULL, 0, "Make the letters A to Z lower-case", 7},
            {"upper", OPTION_UPPER, NULL, 0, "Make the letters a to z upper-case", 7},
            {"digest", OPTION_DIGEST, "NAME", 0,
             "Use the digest of the text as the key: `md5', `sha1', `sha256', or `ntlm' (the MD4 "
             "of the text in UTF-16). The key is the bytes of the digest. Add :hex or :HEX, as in "
             "sha1:HEX, if the filter's keys are its digits in lower or upper case. `screen' takes "
             "--digest also with a filter that was built from digests",
             7},
            {"decode", OPTION_DECODE, "FORM", 0,
             "Decode the text, and use these bytes as the key: `hex' and `base64' (RFC 4648, "
             "padded); decimal numbers as `int32', `int64', `uint32', `uint64', `float32', "
             "`float64' or `decimal128' (a whole number of 16 bytes), all little-endian (whole "
             "numbers may be written as 5.0 or 1e3); `date32', the days since 1970; `timestamp-s', "
             "`timestamp-ms', `timestamp-us' or `timestamp-ns', the time since 1970 "
             "(2024-02-29T12:34:56Z, or +hh:mm instead of Z, or neither for UTC); `uuid', its 16 "
             "bytes. With `none', records are those bytes already, whatever the filter says. With "
             "--missing, malformed text is a missing key",
             7},
            {0}},
    .parser = parse_form_option,
};

void finish_form(struct record_syntax *syntax, const struct argp_state *state)
{
  const uint32_t cases = LANEBLOOM_KEY_LOWERED | LANEBLOOM_KEY_UPPERED;
  if ((syntax->form.flags & cases) == cases)
    argp_error(state, "give only one of --lower and --upper");
  if (syntax->makes_digests && (syntax->form.encoding || syntax->is_decoded))
    argp_error(state, "give only one of --decode and --digest");
  if (syntax->fields.n < 2)
    return;
  if (syntax->form.encoding)
    argp_error(state, "give only one of --decode and several fields: tabs join the fields, and a "
                      "decoded field may contain one");
  syntax->form.flags |= LANEBLOOM_KEY_JOINED;
}

/* ---- Forms of filters ---- */

static bool is_same_form(lanebloom_key_form a, lanebloom_key_form b)
{
  return a.encoding == b.encoding && a.flags == b.flags;
}

/* The command requires the form `wanted', but a filter has the form `found'. Returns the name of
 * the option or of the earlier filter that requires `wanted'. */
static const char *form_origin(const struct record_syntax *syntax, lanebloom_key_form wanted,
                               lanebloom_key_form found)
{
  const uint32_t more = wanted.flags & ~found.flags;
  const bool is_of_options = syntax->form_origin == of_options;
  if (is_of_options && wanted.encoding && wanted.encoding != found.encoding)
    return "--decode";
  if (is_of_options && more & DIGEST_FLAGS)
    return "--digest";
  if (is_of_options && more & LANEBLOOM_KEY_UPPERED)
    return "--upper";
  if (is_of_options && more & LANEBLOOM_KEY_LOWERED)
    return "--lower";
  if (is_of_options && more & LANEBLOOM_KEY_TRIMMED)
    return "--trim";
  if (wanted.encoding == found.encoding && (wanted.flags ^ found.flags) == LANEBLOOM_KEY_JOINED &&
      syntax->fields.n > 0)
    return fields_option(&syntax->fields);
  return input_name(syntax->form_origin);
}

/* Reports that the filter at `path' has another form than the required one. */
static void complain_of_form(const struct record_syntax *syntax, const char *path,
                             lanebloom_key_form wanted, lanebloom_key_form found)
{
  char wanted_text[LANEBLOOM_KEY_FORM_NBYTES], found_text[LANEBLOOM_KEY_FORM_NBYTES];
  complain(input_name(path), "expected a filter of key form '%s', as %s says, found '%s'",
           lanebloom_key_form_text(wanted, wanted_text, sizeof wanted_text),
           form_origin(syntax, wanted, found),
           lanebloom_key_form_text(found, found_text, sizeof found_text));
}

/* Returns the form that the next filter must have, according to the options and to earlier filters.
 * If options and earlier filters leave a part of the form open, this part comes from `found', the
 * form of this filter. */
static lanebloom_key_form wanted_form(const struct record_syntax *syntax, lanebloom_key_form found)
{
  const uint32_t joined = LANEBLOOM_KEY_JOINED;
  lanebloom_key_form wanted = syntax->form_origin ? syntax->form : found;
  const bool joins_by_fields = syntax->fields.n > 0;
  const bool is_of_filter = syntax->form_origin && syntax->form_origin != of_options;
  if (joins_by_fields)
    wanted.flags = (wanted.flags & ~joined) | (syntax->fields.n > 1 ? joined : 0);
  else if (!is_of_filter)
    wanted.flags = (wanted.flags & ~joined) | (found.flags & joined);
  return wanted;
}

/* --digest was given, and the filter was not built from texts. Can the filter have been built from
 * digests in the form that --digest makes? The digests were read in hexadecimal or base64 and are
 * bytes now, or they are hexadecimal digits, which may have been made lower-case or upper-case. */
static bool may_hold_digests(lanebloom_key_form made, lanebloom_key_form found)
{
  const uint32_t case_of_digits = made.flags & LANEBLOOM_KEY_LOWER_HEX   ? LANEBLOOM_KEY_LOWERED
                                  : made.flags & LANEBLOOM_KEY_UPPER_HEX ? LANEBLOOM_KEY_UPPERED
                                                                         : 0;
  if (found.flags & DIGEST_FLAGS)
    return false;
  if (found.encoding == LANEBLOOM_HEX || found.encoding == LANEBLOOM_BASE64)
    return !(made.flags & HEX_FLAGS);
  return found.encoding == LANEBLOOM_BYTES &&
         !(found.flags & ~(LANEBLOOM_KEY_TRIMMED | case_of_digits));
}

/* The filter was built from texts, and its keys are the bytes of their digests. Do the options say
 * that records are such digests in hexadecimal or base64? */
static bool are_digests(const struct record_syntax *syntax, lanebloom_key_form found)
{
  return syntax->form_origin == of_options &&
         (syntax->form.encoding == LANEBLOOM_HEX || syntax->form.encoding == LANEBLOOM_BASE64) &&
         found.flags & LANEBLOOM_KEY_DIGEST && !(found.flags & HEX_FLAGS);
}

bool take_form(struct record_syntax *syntax, const char *path, const lanebloom_filter *filter)
{
  if (syntax->is_decoded)
    return true;
  const lanebloom_key_form found = lanebloom_filter_key_form(filter);
  const lanebloom_key_form wanted = wanted_form(syntax, found);
  if ((syntax->makes_digests && may_hold_digests(syntax->form, found)) ||
      are_digests(syntax, found))
    return true;
  if (!form_has_text(found)) {
    char text[LANEBLOOM_KEY_FORM_NBYTES];
    complain(input_name(path),
             "expected a key form for text (bytes, or one field as hex, base64, a number, a date, "
             "a time or a UUID), found '%s'",
             lanebloom_key_form_text(found, text, sizeof text));
    return false;
  }
  if (!is_same_form(wanted, found)) {
    complain_of_form(syntax, path, wanted, found);
    return false;
  }
  if (found.flags & LANEBLOOM_KEY_DIGEST && !has_digests()) {
    complain(input_name(path), "keys of this filter are digests, and this lanebloom was built "
                               "without Nettle, which makes digests");
    return false;
  }
  syntax->form = found;
  syntax->form_origin = path;
  return true;
}
