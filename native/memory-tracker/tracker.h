/* What the parts of the memory tracker share; tracker-main.c says what the program does. */
#ifndef TRACKER_H
#define TRACKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE_BYTES 4096ull

/*
 * Follows the writes to all private anonymous memory of a process from now on.
 *
 * Requires: it stands still, and `uffd` was made in it. Returns whether all that is present there was
 * protected; otherwise the descriptor is to be closed, with which the kernel forgets what was.
 */
bool protect(pid_t pid, int uffd);

/* The first half of it: registers the mappings that are new, and protects nothing. */
bool register_new(pid_t pid, int uffd);

/* Makes a descriptor that was made in a process fit for it. */
bool prepare_uffd(int uffd);

/* Returns the time at which a process was started, which no other with its number has; 0 if it is gone. */
uint64_t start_time(pid_t pid);

/* Tries all that is relied on with memory of its own; returns what is missing, or NULL. */
const char *find_missing_feature(void);

#endif
