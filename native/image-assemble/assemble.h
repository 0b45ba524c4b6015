/* What the parts of image-assemble share; assemble-main.c says what the program does. */
#ifndef ASSEMBLE_H
#define ASSEMBLE_H

#include "../image-copy/image-copy.h"

/* A range of addresses. */
struct stretch {
  uint64_t start, end;
};

/*
 * Pages that CRIU's preload has copied lie in a file of their own, whatever their process. An offset from here on is one
 * in that file.
 */
#define TAKEN_FROM (1ull << 62)

/* Ranges of one process, in ascending order. */
struct stretches {
  struct stretch *all;
  size_t count;
};

/* A mapping, and whether its pages can be brought lazily. */
struct mapping {
  uint64_t start, end;
  bool is_lazy;
};

struct mappings {
  struct mapping *all;
  size_t count;
};

/* Consecutive pages of the image that is made, and where they come from. */
struct piece {
  uint64_t address, pages;
  bool is_written;
  uint64_t from; /* offset in the file of what was written, which may be a taken one, or in that of the reference */
  uint32_t flags;
};

struct pieces {
  struct piece *all;
  size_t count;
  uint64_t clean_bytes, written_bytes;
};

/* Ends the program: what was asked for cannot be put together from what is there. */
_Noreturn void refuse(const char *why, const char *name);

/* Returns room for one more element at the end. */
void *grow(void *all, size_t count, size_t size);

/* assemble-lists.c: reads the clean ranges of all processes; ends the program where the list is not whole. */
void read_clean(const char *path);
/* Tells whether a process has some. */
bool has_clean(int pid);
/* Returns those of one process, in order and without overlaps. */
struct stretches clean_of(int pid);
/* Reads the mappings whose pages CRIU copies from mm-PID.img. */
struct mappings read_mappings(int dir_fd, int pid);

/* assemble-taken.c: remembers a range of a process, and where its bytes are among the taken pages. */
void note_taken(int pid, struct stretch range, uint64_t place);
/* Tells whether pages of a process were taken. */
bool has_taken(int pid);
/* Ends the program where some were not added to anything. */
void require_all_taken(void);
/* Adds those of a process to what CRIU has written of it; returns how many bytes these are. */
uint64_t add_taken(int pid, struct layout *written, const struct mappings *mappings);

/* assemble-merge.c: puts together which pages there are. */
struct pieces merge(const struct layout *written, const struct layout *reference,
                    const struct stretches *clean, const struct mappings *mappings, const char *name);
/* Writes the pagemap of pieces. */
void write_pagemap(int dir_fd, const char *name, uint32_t pages_id, const struct pieces *pieces);

/* assemble-pages.c: the list of what is not as in the reference (../image-sums/changed.h). */
void begin_changed(const char *path);
void end_changed(const char *path);
void copy_bytes(const struct job *job, int from_fd, uint64_t from, uint64_t length, uint64_t to, const char *name);
/*
 * Puts the pages of a process together in the job's target; returns how many bytes are the reference's own.
 * `taken_fd` has the taken pages.
 */
uint64_t write_pages(const struct job *job, int taken_fd, const struct pieces *pieces, const char *name);

/* assemble-ahead.c: copies protected memory of processes into images; returns how much. */
uint64_t copy_ahead(int dir_fd, char *const *pids, int count);

/* assemble-compare.c: compares images with a second copy; returns the number of pages that differ. */
unsigned long compare_images(int dir_fd, const char *copies);

#endif
