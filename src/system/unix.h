/* Declares what posix.c and replace_posix.c need of each Unix system.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_UNIX_H
#define LANEBLOOM_UNIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct replacement;

/* Tells the system that huge pages suit this memory. Without them, probes are slower, but not
 * wrong. */
void lanebloom_unix_prefer_huge_pages(void *pages, size_t nbytes);

/* ---- For replace_posix.c ---- */

/* The folder whose names are the numbers of the process's descriptors. */
extern const char lanebloom_unix_descriptors[];

/* Returns the error with which the system would refuse to replace the file at `path` for a reason
 * that permissions do not show, or 0. */
int lanebloom_unix_refusal(const char *path);

/* Checks whether the system refuses to delete and to rename files in this folder. */
bool lanebloom_unix_only_grows(const char *folder);

/* Opens a folder. If the process is not permitted to list the folder, it is opened in a way that
 * may not permit flushing it. */
int lanebloom_unix_open_folder(const char *path);

/* Opens a new file in file->folder, with the name file->temporary or without a name. */
int lanebloom_unix_create(struct replacement *file, mode_t mode);

/* Return the owner and the group of a file, or -1 if the system does not tell them. */
uid_t lanebloom_unix_owner(const struct stat *old);
gid_t lanebloom_unix_group(const struct stat *old);

/* Gives the new file the ACL of the old file. If the old file has no ACL, removes the ACL that the
 * new file may have got from its folder. Returns false if that fails, or if the old file has an ACL
 * but the groups of the two files differ. */
bool lanebloom_unix_keep_acl(int fd, const char *old_path, bool same_group);

/* Writes the bytes of a file, or the names in a folder, to the disk. */
bool lanebloom_unix_flush(int file);

/* Flushes the new file and gives it the name of the target. */
bool lanebloom_unix_put_in_place(const struct replacement *file);

#endif
