/* Describes the version of a database that was read: the state that the results refer to, and the
 * kinds of writes that this state cannot contain.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <json-c/json.h>

#include "../base/json_object.h"
#include "../base/report.h"
#include "database.h"

static const char not_seen[] =
    "writes without a log, and writes that the process has not handed to the system";

struct json_object *version_in_json(const lanebloom_database *database)
{
  lanebloom_database_info info;
  lanebloom_database_describe(database, &info, sizeof info);
  struct json_object *object = json_needed(json_object_new_object());
  json_object_object_add(object, "manifest", json_name(info.manifest));
  json_object_object_add(object, "sequence", json_object_new_uint64(info.sequence));
  json_object_object_add(object, "tables", json_object_new_uint64(info.ntables));
  json_object_object_add(object, "logs", json_object_new_uint64(info.nlogs));
  json_object_object_add(object, "log_bytes", json_object_new_uint64(info.log_nbytes));
  json_object_object_add(object, "log_entries", json_object_new_uint64(info.nlog_entries));
  json_object_object_add(object, "complete",
                         json_object_new_boolean(lanebloom_database_damage_count(database) == 0));
  json_object_object_add(object, "not_seen", json_object_new_string(not_seen));
  return object;
}

void print_version_of(FILE *stream, const char *name, const lanebloom_database *database)
{
  lanebloom_database_info info;
  lanebloom_database_describe(database, &info, sizeof info);
  print_name(stream, name);
  fprintf(stream,
          ": sequence number %" PRIu64 ", tables %" PRIu64 ", logs %" PRIu64 " of %" PRIu64
          " bytes, %s; not seen: %s",
          info.sequence, info.ntables, info.nlogs, info.log_nbytes,
          lanebloom_database_damage_count(database) > 0 ? "damaged" : "complete", not_seen);
}
