/* The process of the command, and the machine on which it runs.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PROCESS_H
#define LANEBLOOM_CLI_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Prepares the process before anything else is done: opens a descriptor that can be neither read
 * nor written for each standard descriptor that is closed. Otherwise the next opened file would get
 * the number of a standard descriptor, and messages or results would be written into that file.
 * Makes a file-size limit cause an error instead of a signal. Makes the arguments UTF-8, and makes
 * the standard streams pass every byte as it is. */
void begin_process(int *argc, char ***argv);

/* Prints a message on standard error and ends the process with this status. Does nothing else, so a
 * handler of a signal may call it. */
_Noreturn void end_at_once(const char *message, int status);

/* Waits until another thread ends the process. */
_Noreturn void wait_for_end(void);

/* Is this character of Unicode printable? */
bool is_printable(uint32_t character);

/* Fills `to' with random bytes that nobody can predict. Otherwise returns false and sets errno. */
bool fill_randomly(void *to, size_t nbytes);

/* Returns the number of CPUs that this process may use. The number may be 0 or less if the system
 * does not tell. */
long count_cpus(void);

/* Writes the name of the CPU, or of its architecture if the CPU has no name. */
void name_cpu(char *name, size_t size);

void sleep_for(double nseconds);

#endif
