/* Loads filters from gzip files.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_COMPRESSED_FILTER_H
#define LANEBLOOM_CLI_COMPRESSED_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include <lanebloom.h>

/* Is the path a regular file in gzip that can hold bare bytes of this format? This is so if the
 * format's bytes never begin as a gzip file does. Of such formats, programs compress only those of
 * DCSO, which do not record it. */
bool is_gzip_filter(const char *path, lanebloom_format format);

/* Decompresses the file and makes a filter of the bytes. Memory: twice the size that the header
 * announces and twice the attached data. Errors: as for lanebloom_filter_load_raw(); CORRUPT if the
 * file cannot be decompressed; LIMIT also if it has much attached data. */
lanebloom_status load_gzip_filter(const char *path, lanebloom_format format,
                                  lanebloom_filter **filter, char *problem, size_t problem_size);

#endif
