/* Makes JSON objects with json-c, and prints them.
 * SPDX-License-Identifier: MIT */
#include "json_object.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "characters.h"
#include "report.h"

/* If memory runs out, json-c leaves out a member or writes null, and returns no error. But malloc()
 * sets errno to ENOMEM, so errno tells whether the text is complete. */
struct json_object *json_begin(void)
{
  errno = 0;
  return json_needed(json_object_new_object());
}

struct json_object *json_needed(struct json_object *object)
{
  if (!object)
    die(NULL, "%s", strerror(ENOMEM));
  return object;
}

struct json_object *json_name(const char *name)
{
  if (is_text(name, strlen(name)))
    return json_object_new_string(name);
  char *text = escape_name(name);
  struct json_object *string = json_object_new_string(text);
  free(text);
  return string;
}

struct json_object *json_number(double value)
{
  return isfinite(value) ? json_object_new_double(value) : NULL;
}

const char *json_line(struct json_object *object)
{
  const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
                                                                JSON_C_TO_STRING_NOSLASHESCAPE);
  if (!text || errno == ENOMEM)
    die(NULL, "%s", strerror(ENOMEM));
  return text;
}

void output_json(struct json_object *object)
{
  outputf("%s\n", json_line(object));
  json_object_put(object);
}
