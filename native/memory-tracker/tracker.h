/* What the parts of the memory tracker share; tracker-main.c says what the program does. */
#ifndef TRACKER_H
#define TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE_BYTES 4096ull

/* What lets go of the memory of more processes than anybody has that are large. */
#define FOLLOWED_MAX 1024

/* More of them than a program has with most of their pages its own. */
#define FILES_MAX 64

/*
 * The mappings of files that are followed of a process, ascending.
 *
 * In one that can be written to nothing is clean. Where a page was given back, the kernel leaves a mark; who writes
 * there gets a copy of the file's page that looks protected, and writes to it at the second try. Between the two the
 * process may be stopped, and the reference has another page.
 */
struct files {
  size_t count;
  struct {
    uint64_t start, end;
    bool is_writable;
  } all[FILES_MAX];
};

/*
 * Follows the writes to the private memory of a process from now on: to what is anonymous, and to mappings of
 * files that hold its own pages for the most part. `files` gets the latter.
 *
 * Requires: it stands still, and `uffd` was made in it. Returns whether all that is present there was
 * protected; otherwise the descriptor is to be closed, with which the kernel forgets what was.
 */
bool protect(pid_t pid, int uffd, struct files *files);

/* The first half of it: registers the mappings that are new, and protects nothing. */
bool register_new(pid_t pid, int uffd, struct files *files);

/*
 * Tells whether a mapping of a file is worth it: reading its other pages takes a fault each from then on, in
 * place of one for sixteen. A few pages of it are looked at.
 */
bool holds_mostly_own(int pagemap, uint64_t start, uint64_t end);

/* Tells whether a range has something in common with one of the mappings of files. */
bool is_among(const struct files *files, uint64_t start, uint64_t end);

/* Notes which of them can be written to now, and which have grown. */
void note_now(pid_t pid, struct files *files);

/* Tells whether a mapping of a file has pages of the usual size: of others the kernel tells marks in another way. */
bool has_small_pages(pid_t pid, uint64_t start, uint64_t end);

/* Tells whether it can be seen here what the kernel leaves in mappings of files; it is tried once. */
bool can_follow_files(void);

/* Makes a descriptor that was made in a process fit for it. */
bool prepare_uffd(int uffd);

/* Returns the time at which a process was started, which no other with its number has; 0 if it is gone. */
uint64_t start_time(pid_t pid);

/*
 * Loads the program that tells the flags of mappings (mapping-flags.h), and returns its descriptor, or -1 where the
 * kernel has none or tells something else than smaps. `known` gets the flags that were compared.
 */
int load_mappings_program(uint64_t *known);

/*
 * Obeys a request, of which it owns the descriptor, if there is one (tracker-requests.c). Returns the answer; `given`
 * gets a descriptor that goes with it, which stays the tracker's.
 */
const char *obey(const char *request, int uffd, int *given);

/* Does what was put off until no checkpoint waits for it. */
void do_what_is_due(void);

/* Tries all that is relied on with memory of its own; returns what is missing, or NULL. */
const char *find_missing_feature(void);

#endif
