/* Reads the schemas of files.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "schema.h"

enum { MAX_DEPTH = 100 /* groups may be nested this deep */ };

struct element {
  struct type_source type;
  lanebloom_slice name;
  /* 0 for a column or an empty group. Some writers also give a type to groups, so the type does not
   * tell columns from groups. */
  int32_t nmembers;
};

static void read_element(struct thrift *thrift, struct element *element)
{
  *element = (struct element){0};
  for (struct thrift_field field = {0}; lanebloom_thrift_next(thrift, &field);)
    switch (field.id) {
    case 1:
      element->type.physical = lanebloom_thrift_i32(thrift, field);
      element->type.has_physical = true;
      break;
    case 2:
      element->type.length = lanebloom_thrift_i32(thrift, field);
      break;
    case 4:
      element->name = lanebloom_thrift_binary(thrift, field);
      break;
    case 5:
      element->nmembers = lanebloom_thrift_i32(thrift, field);
      break;
    case 6:
      element->type.converted = lanebloom_thrift_i32(thrift, field);
      element->type.has_converted = true;
      break;
    case 7:
      element->type.scale = lanebloom_thrift_i32(thrift, field);
      break;
    case 8:
      element->type.precision = lanebloom_thrift_i32(thrift, field);
      break;
    case 10:
      lanebloom_type_read_logical(thrift, field, &element->type);
      break;
    default:
      lanebloom_thrift_skip(thrift, field);
    }
  const struct type_source *type = &element->type;
  if (element->nmembers < 0)
    lanebloom_thrift_damage(thrift, "a column, or a group with members");
  if (type->has_physical && (type->physical < 0 || type->physical >= NPHYSICAL))
    lanebloom_thrift_damage(thrift, "a physical type from 0 to 7");
  if (type->has_physical && type->physical == PHYSICAL_FIXED && type->length < 1)
    lanebloom_thrift_damage(thrift, "the length of fixed-length values");
  if (element->name.size > 0 && memchr(element->name.data, 0, element->name.size))
    lanebloom_thrift_damage(thrift, "a name without zero bytes");
}

/* One of the groups that contain the current element. */
struct group {
  int32_t nmembers_left;
  size_t path_nbytes;
};

struct walk {
  struct schema *schema;
  size_t columns_room, paths_room, max_paths_nbytes;
  struct group groups[MAX_DEPTH];
  size_t depth;
  char *path; /* the path of the element that is being read */
  size_t path_nbytes, path_room;
};

/* Makes room for n elements of `size` bytes in *memory, which has room for *room elements. Returns
 * false if memory ran out. */
static bool make_room(void **memory, size_t *room, size_t n, size_t size)
{
  if (n <= *room)
    return true;
  const size_t more = n > 2 * *room ? n : 2 * *room;
  void *grown = realloc(*memory, more * size);
  if (!grown)
    return false;
  *memory = grown;
  *room = more;
  return true;
}

/* Sets walk->path for an element: the path of its group, a dot and its name. The name of the root
 * is not part of paths. Returns false if memory ran out. */
static bool set_path(struct walk *walk, lanebloom_slice name)
{
  const size_t before = walk->groups[walk->depth - 1].path_nbytes,
               dot = before > 0 || walk->depth > 1;
  walk->path_nbytes = before + dot + name.size;
  if (!make_room((void **)&walk->path, &walk->path_room, walk->path_nbytes + 1, 1))
    return false;
  if (dot)
    walk->path[before] = '.';
  if (name.size > 0)
    memcpy(walk->path + before + dot, name.data, name.size);
  walk->path[walk->path_nbytes] = 0;
  return true;
}

static lanebloom_status add_column(struct walk *walk, const struct type_source *type,
                                   const struct problem *problem)
{
  struct schema *schema = walk->schema;
  const size_t nbytes = walk->path_nbytes + 1;
  if (nbytes > walk->max_paths_nbytes - schema->paths_nbytes)
    return problem_set(
        problem, LANEBLOOM_ERR_LIMIT,
        "column paths: expected at most %zu bytes for a footer of this size, found more",
        walk->max_paths_nbytes);
  if (!make_room((void **)&schema->columns, &walk->columns_room, schema->ncolumns + 1,
                 sizeof *schema->columns) ||
      !make_room((void **)&schema->paths, &walk->paths_room, schema->paths_nbytes + nbytes, 1))
    return problem_memory(problem, schema->paths_nbytes + nbytes);
  memcpy(schema->paths + schema->paths_nbytes, walk->path, nbytes);
  schema->paths_nbytes += nbytes;
  schema->columns[schema->ncolumns++] =
      (struct column){.path_nbytes = nbytes - 1, .type = lanebloom_type_make(type)};
  return LANEBLOOM_OK;
}

static lanebloom_status walk_element(struct walk *walk, struct thrift *thrift,
                                     const struct problem *problem)
{
  struct element element;
  read_element(thrift, &element);
  while (walk->depth > 1 && walk->groups[walk->depth - 1].nmembers_left == 0)
    walk->depth--;
  if (walk->groups[walk->depth - 1].nmembers_left-- == 0)
    lanebloom_thrift_damage(thrift, "no more elements than the schema's groups have");
  if (thrift->expected)
    return LANEBLOOM_OK;
  if (!set_path(walk, element.name))
    return problem_memory(problem, walk->path_nbytes);
  if (element.type.has_physical && element.nmembers == 0)
    return add_column(walk, &element.type, problem);
  if (walk->depth == MAX_DEPTH)
    return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                       "the schema: expected groups nested at most %d deep, found more", MAX_DEPTH);
  walk->groups[walk->depth++] =
      (struct group){.nmembers_left = element.nmembers, .path_nbytes = walk->path_nbytes};
  return LANEBLOOM_OK;
}

static lanebloom_status walk_schema(struct walk *walk, struct thrift *thrift, size_t nelements,
                                    const struct problem *problem)
{
  struct element root;
  if (nelements == 0) {
    lanebloom_thrift_damage(thrift, "a schema with a root");
    return LANEBLOOM_OK;
  }
  read_element(thrift, &root); /* some writers give the root a type, which is ignored */
  walk->groups[walk->depth++].nmembers_left = root.nmembers;
  lanebloom_status status = LANEBLOOM_OK;
  for (size_t i = 1; i < nelements && !status && !thrift->expected; i++)
    status = walk_element(walk, thrift, problem);
  for (size_t i = 0; i < walk->depth; i++)
    if (walk->groups[i].nmembers_left > 0)
      lanebloom_thrift_damage(thrift, "as many elements as the schema's groups have");
  return status;
}

lanebloom_status lanebloom_schema_read(struct thrift *thrift, struct thrift_field field,
                                       struct schema *schema, const struct problem *problem)
{
  const uint8_t *begin = thrift->cursor.at;
  const size_t nelements = lanebloom_thrift_list(thrift, field, THRIFT_STRUCT);
  struct walk walk = {.schema = schema,
                      .max_paths_nbytes = schema_max_paths((size_t)(thrift->cursor.end - begin))};
  *schema = (struct schema){0};
  lanebloom_status status = walk_schema(&walk, thrift, nelements, problem);
  free(walk.path);
  if (status) {
    lanebloom_schema_free(schema);
    return status;
  }
  const char *path = schema->paths;
  for (size_t i = 0; i < schema->ncolumns; i++) {
    schema->columns[i].path = path;
    path += schema->columns[i].path_nbytes + 1;
  }
  return LANEBLOOM_OK;
}

void lanebloom_schema_free(struct schema *schema)
{
  free(schema->columns);
  free(schema->paths);
  *schema = (struct schema){0};
}
