/* What the parts of image-copy share; image-copy.c says what the program does. */
#ifndef IMAGE_COPY_H
#define IMAGE_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#define PAGE 4096ULL

/* Consecutive pages of one process, and where they begin in a file. */
struct run {
  uint64_t address;
  uint64_t pages;
  uint64_t offset;
  uint32_t flags; /* CRIU's, of its entry */
};

/* Which pages a file holds, in the order of the file. */
struct layout {
  struct run *runs;
  size_t count;
};

/* A file that is copied: where from, where to, and what it may share with. */
struct job {
  int source_fd;
  int target_fd; /* the source itself, where it is to share its own blocks */
  uint64_t size;
  struct layout layout;
  int reference_fd; /* on the target's filesystem; -1 for none */
  int reading_fd;   /* the same bytes as reference_fd, where they are read fastest */
  struct layout reference;
  bool in_place;
  bool begins_as_reference; /* the target has the bytes of the reference already */
};

/* What was done with the bytes. */
struct totals {
  uint64_t shared;
  uint64_t written;
  uint64_t holes;
};

/* Ends the program with errno as its exit code, which the daemon reads. */
_Noreturn void fail(const char *step, const char *name);

/* pagemap.c: reads the pagemap `name` of a directory; false when it is none or cannot be relied on. */
bool read_pagemap(int dir_fd, const char *name, uint32_t *pages_id, struct layout *layout);

/* One run over a whole file of other content. */
struct layout whole_file(uint64_t size);

/* share.c: brings every byte of a file to the target. */
void carry(const struct job *job, const char *name, struct totals *totals);

/* clone.c */
bool clone_range(const struct job *job, uint64_t from, uint64_t length, uint64_t to);
bool clone_file(int reference_fd, int target_fd);
bool make_hole(const struct job *job, uint64_t at, uint64_t length);
/*
 * Data that is written, but not on the disk: the next checkpoint's snapshot must not wait for a gigabyte of it, nor
 * whoever waits for this program for all of it.
 */
extern uint64_t unwritten_bytes_max;
/* Writes, and keeps what is not on the disk yet below that bound. */
void write_range(const struct job *job, const void *bytes, uint64_t length, uint64_t at, const char *name);

/* Reads at most `length` bytes; fewer only at the end of the file or after an error. */
uint64_t read_range(int fd, void *bytes, uint64_t length, uint64_t at);

#endif
