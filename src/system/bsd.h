/* Declares what replace_bsd.c needs of macOS and of FreeBSD.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BSD_H
#define LANEBLOOM_BSD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h> /* before sys/acl.h, which needs it */

#include <sys/acl.h>

/* The types of ACL that files can have. */
extern const acl_type_t lanebloom_bsd_acl_types[];
extern const size_t lanebloom_bsd_nacl_types;

/* Checks whether the ACL says more than the mode of its file. */
bool lanebloom_bsd_acl_says_more(acl_t acl);

#endif
