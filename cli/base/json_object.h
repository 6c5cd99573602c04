/* Makes JSON objects and prints them. If memory runs out, these functions print a message and exit
 * with EXIT_TROUBLE.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_JSON_OBJECT_H
#define LANEBLOOM_CLI_JSON_OBJECT_H

/* Returns a new object, to be printed by json_line() or output_json(). Sets errno to 0. If errno is
 * ENOMEM at a later call of one of these functions, json-c has run out of memory in between. */
struct json_object;
struct json_object *json_begin(void);

/* Returns the object. If it is NULL, memory ran out, so this prints a message and exits. */
struct json_object *json_needed(struct json_object *object);

/* Returns the name as a JSON string. JSON cannot hold a name that is not UTF-8, so such a name is
 * escaped as by print_name(). */
struct json_object *json_name(const char *name);

/* Returns the value as a JSON number. If the value is not finite, returns NULL, which json-c prints
 * as null. */
struct json_object *json_number(double value);

/* Returns the text of the object in one line. The text is borrowed from the object. If json-c ran
 * out of memory since json_begin(), prints a message and exits. */
const char *json_line(struct json_object *object);

/* Prints the object in one line and frees it. */
void output_json(struct json_object *object);

#endif
