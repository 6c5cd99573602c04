/* Fuzzes the options of the command with any words. The following must be true: the groups of
 * options that verbs share get valid values, numbers are parsed exactly, and each verb either
 * accepts or refuses the words.
 *
 *   what is tested, 1 byte | words, each with a NUL byte after it
 *
 * SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <math.h>
#include <setjmp.h>

#include "answer/database.h"
#include "base/report.h"
#include "files/filters.h"
#include "fuzz.h"
#include "input/record_options.h"
#include "options/numbers.h"
#include "options/options.h"
#include "system/threads.h"
#include "verbs/verbs.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEAKS_ARE_SEEN
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define LEAKS_ARE_SEEN
#endif

/* ---- Calls that would exit, or begin to work, return by longjmp() ---- */

enum end { ACCEPTED = 1, REFUSED };

static jmp_buf end;

/* The linker replaces argp_parse(), argp_error() and exit() by the functions whose names begin with
 * __wrap_. argp then returns its errors, and does not print them. */
error_t __real_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
                          int *index, void *input);
error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
                          int *index, void *input);
_Noreturn void __wrap_argp_error(const struct argp_state *state, const char *format, ...);
_Noreturn void __real_exit(int status);
_Noreturn void __wrap_exit(int status);

static bool is_running;

error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
                          int *index, void *input)
{
  const error_t error =
      __real_argp_parse(argp, argc, argv, flags | ARGP_NO_EXIT | ARGP_NO_ERRS, index, input);
  longjmp(end, error ? REFUSED : ACCEPTED); /* the verb would begin its work now */
}

void __wrap_argp_error(const struct argp_state *state, const char *format, ...)
{
  (void)state, (void)format;
  longjmp(end, REFUSED);
}

void __wrap_exit(int status)
{
  if (!is_running)
    __real_exit(status);
  CHECK(status == EXIT_TROUBLE);
  longjmp(end, REFUSED);
}

/* ---- Memory that these calls do not free, because the process would end ---- */

enum { MAX_NBLOCKS = 10000 };

static const volatile void *blocks[MAX_NBLOCKS];
static size_t nblocks;

#ifdef LEAKS_ARE_SEEN
int __sanitizer_install_malloc_and_free_hooks(void (*malloced)(const volatile void *, size_t),
                                              void (*freed)(const volatile void *));

static void note(const volatile void *block, size_t nbytes)
{
  (void)nbytes;
  if (is_running && nblocks < MAX_NBLOCKS)
    blocks[nblocks++] = block;
}

static void forget(const volatile void *block)
{
  for (size_t i = nblocks; is_running && i-- > 0;)
    if (blocks[i] == block) {
      blocks[i] = blocks[--nblocks];
      return;
    }
}
#endif

static FILE *standard_output, *standard_error;

static void begin(void)
{
#ifdef LEAKS_ARE_SEEN
  static bool is_installed;
  if (!is_installed)
    CHECK(__sanitizer_install_malloc_and_free_hooks(note, forget) > 0);
  is_installed = true;
#endif
  static FILE *nothing; /* /dev/null, for help and messages */
  if (!nothing) {
    static char buffers[BUFSIZ];
    CHECK((nothing = fopen("/dev/null", "w")) &&
          setvbuf(nothing, buffers, _IOFBF, sizeof buffers) == 0);
  }
  argp_err_exit_status = EXIT_TROUBLE;
  standard_output = stdout;
  standard_error = stderr;
  stdout = stderr = nothing;
  is_running = true;
}

static void finish(void)
{
  is_running = false;
  stdout = standard_output;
  stderr = standard_error;
  while (nblocks > 0)
    free((void *)(uintptr_t)blocks[--nblocks]);
}

/* ---- Groups of options ---- */

struct groups {
  struct record_syntax syntax;
  size_t nworkers;
  struct filter_source source;
  lanebloom_writer writer;
};

static error_t parse_groups(int key, char *text, struct argp_state *state)
{
  (void)text;
  struct groups *groups = state->input;
  if (key == ARGP_KEY_ARG)
    return 0;
  if (key != ARGP_KEY_INIT)
    return ARGP_ERR_UNKNOWN;
  state->child_inputs[0] = &groups->syntax;
  state->child_inputs[1] = &groups->nworkers;
  state->child_inputs[2] = &groups->source;
  state->child_inputs[3] = &groups->writer;
  return 0;
}

static void check_groups(int argc, char **argv)
{
  static struct groups groups;
  static const struct argp_child children[] = {{.argp = &record_argp}, {.argp = &jobs_argp},
                                               {.argp = &filter_argp}, {.argp = &writer_argp},
                                               {.argp = &kernel_argp}, {0}};
  static const struct argp argp = {.parser = parse_groups, .children = children};
  groups = (struct groups){0};
  const int how = setjmp(end);
  if (how == 0)
    __wrap_argp_parse(&argp, argc, argv, 0, NULL, &groups);
  if (how == REFUSED)
    return;
  const struct record_syntax *syntax = &groups.syntax;
  CHECK(syntax->terminator == '\n' || syntax->terminator == '\0');
  CHECK((syntax->width > 0) + (syntax->terminator == '\0') + syntax->crlf <= 1);
  CHECK(groups.nworkers >= 1 && groups.nworkers <= WORKERS_MAX);
  CHECK(groups.source.raw == (groups.source.format != 0));
  CHECK(!groups.source.raw || strcmp(lanebloom_format_name(groups.source.format), "unknown") != 0);
  CHECK(groups.writer <= LANEBLOOM_WRITER_GOLEVELDB);
  CHECK(lanebloom_kernel_active());
}

/* ---- Values ---- */

static const struct argp no_options = {0};
static const struct argp_state no_state = {.root_argp = &no_options, .name = "options"};

/* ---- A second reading of whole numbers: long multiplication and division, digit by digit ---- */

enum { MAX_NUMBER_NBYTES = 200 };

struct digits {
  unsigned char *digit; /* the digits, the last one first */
  size_t n;
};

static void multiply_add(struct digits *number, unsigned factor, unsigned summand)
{
  unsigned carry = summand;
  for (size_t i = 0; i < number->n || carry > 0; i++, carry /= 10) {
    if (i == number->n)
      number->digit[number->n++] = 0;
    carry += number->digit[i] * factor;
    number->digit[i] = (unsigned char)(carry % 10);
  }
}

/* Appends a 0, or removes the last digit. Returns false if the removed digit was not 0. */
static bool shift(struct digits *number, bool left)
{
  if (left) {
    if (number->n > 0)
      multiply_add(number, 10, 0);
    return true;
  }
  if (number->n == 0)
    return true;
  const bool is_zero = number->digit[0] == 0;
  memmove(number->digit, number->digit + 1, --number->n);
  return is_zero;
}

/* Checks whether the text has the form DIGITS[.DIGITS][eEXPONENT][UNIT] and its value is a whole
 * number from 1 to `most`. Stores the number. */
static bool is_count(const char *text, uint64_t most, uint64_t *number)
{
  static const char names[] = "kKMGT";
  static const int powers[] = {1, 1, 2, 3, 4};
  static unsigned char room[2 * MAX_NUMBER_NBYTES];
  struct digits digits = {room, 0};
  long exponent = 0, given = 0;
  size_t nread = 0;
  const char *point = NULL;
  for (; isdigit((unsigned char)*text) || (*text == '.' && !point); text++)
    if (*text == '.') {
      point = text;
    } else {
      multiply_add(&digits, 10, (unsigned)(*text - '0'));
      exponent -= point != NULL;
      nread++;
    }
  int nbytes = 0;
  if ((*text == 'e' || *text == 'E') && !isspace((unsigned char)text[1]) &&
      sscanf(text + 1, "%ld%n", &given, &nbytes) == 1)
    text += 1 + nbytes;
  const char *name = *text ? strchr(names, *text) : NULL;
  const int power = name ? powers[name - names] : 0;
  const bool is_binary = name && text[1] == 'i';
  text += (name != NULL) + is_binary;
  if (*text || nread == 0 || given < -1000000 || given > 1000000)
    return false;
  for (int i = 0; is_binary && i < power; i++)
    multiply_add(&digits, 1024, 0);
  exponent += given + (is_binary ? 0 : 3L * power);
  for (; exponent < 0; exponent++)
    if (!shift(&digits, false))
      return false;
  for (; exponent > 0 && digits.n > 0 && digits.n <= 20; exponent--)
    shift(&digits, true);
  unsigned __int128 value = 0;
  for (size_t i = digits.n; i-- > 0 && value <= most;)
    value = value * 10 + digits.digit[i];
  *number = (uint64_t)value;
  return value >= 1 && value <= most;
}

/* The functions take_...() call a parser of the command. They return false if the parser refuses
 * the text. */
static bool take_count(const char *text, uint64_t most, uint64_t *number)
{
  if (setjmp(end))
    return false;
  *number = parse_count(&no_state, "--count", text, most);
  return true;
}

static bool take_number(const char *text, double *number)
{
  if (setjmp(end))
    return false;
  *number = parse_number(&no_state, "--number", text);
  return true;
}

static bool take_rate(const char *text, double *rate)
{
  if (setjmp(end))
    return false;
  *rate = parse_rate(&no_state, "--rate", text);
  return true;
}

static bool take_format(const char *text, bool to_hash, lanebloom_format *format)
{
  if (setjmp(end))
    return false;
  *format = to_hash ? parse_hashing_format(&no_state, text) : parse_format(&no_state, text);
  return true;
}

static void check_values(const char *text, uint64_t most)
{
  uint64_t count, expected_count;
  double number, rate;
  lanebloom_format format, hashing;
  const size_t nbytes = strlen(text);
  const bool is_taken = take_count(text, most, &count);
  if (nbytes <= MAX_NUMBER_NBYTES) {
    const bool is_good = is_count(text, most, &expected_count);
    CHECK(!is_taken || (is_good && count == expected_count));
    CHECK(is_taken || !is_good || strchr(text, 'i')); /* 1.5Ki may have more digits than fit */
  }
  const bool is_number = take_number(text, &number), is_rate = take_rate(text, &rate);
  CHECK(!is_number || (isfinite(number) && number == strtod(text, NULL)));
  CHECK(!is_taken || strpbrk(text, "kKMGT") || (is_number && number == (double)count));
  CHECK(!is_rate || (rate > 0 && rate < 1));
  CHECK(text[nbytes - (nbytes > 0)] == '%' ? !is_number
                                           : is_rate == (is_number && number > 0 && number < 1));
  const bool is_format = take_format(text, false, &format),
             is_hashing = take_format(text, true, &hashing);
  CHECK(!is_format || strcmp(lanebloom_format_name(format), text) == 0);
  CHECK(is_hashing == (is_format && lanebloom_format_hash_size(format) > 0) &&
        (!is_hashing || hashing == format));
}

/* ---- Verbs ---- */

static void check_verb(int (*verb)(int argc, char **argv), int argc, char **argv)
{
  if (setjmp(end) == 0) {
    verb(argc, argv);
    CHECK(false); /* the verb returned without reading its options */
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  static int (*const verbs[])(int argc, char **argv) = {
      build_main,   screen_main, info_main,   hash_main, tables_main, extract_main,
      kernels_main, merge_main,  verify_main, plan_main, add_main};
  enum { NVERBS = sizeof verbs / sizeof *verbs, MAX_NWORDS = 50 };
  struct fuzz_input input = {bytes, size};
  enum { VALUES, GROUPS, FIRST_VERB };
  const uint8_t who = input_byte(&input) % (FIRST_VERB + NVERBS);
  char *text = fuzz_alloc(input.left + 1), *words[MAX_NWORDS + 2] = {"lanebloom"};
  if (input.left > 0)
    memcpy(text, input.at, input.left);
  text[input.left] = '\0';
  int n = 1;
  for (size_t at = 0; at < input.left && n <= MAX_NWORDS; at += strlen(text + at) + 1) {
    words[n++] = text + at;
    if (strncmp(text + at, "--H", 3) == 0) /* argp has an option --HANG, which sleeps for an hour */
      text[at + 2] = 'h';
  }

  begin();
  if (who >= FIRST_VERB)
    check_verb(verbs[who - FIRST_VERB], n, words);
  else if (who == GROUPS)
    check_groups(n, words);
  for (int i = 1; who == VALUES && i < n; i++)
    check_values(words[i], i % 2 ? UINT64_MAX : WORKERS_MAX);
  finish();
  CHECK(lanebloom_kernel_use(NULL) == LANEBLOOM_OK);
  free(text);
  return 0;
}
