/* Protecting the memory of one process, asynchronously: the kernel delivers nothing, and notes writes. */
#define _GNU_SOURCE
#include "tracker.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "page-scan.h"

#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif
#define REGIONS_MAX 4096
/* A process with more of these is not followed. */
#define STALE_MAX 65536
/* Of one file below /proc: 65530 mappings, the kernel's own bound, have less. */
#define MAPS_LINE_BYTES 512
/* Less of a file is copied sooner than it is followed. */
#define FILE_BYTES_MIN (256ul * 1024)
/* What a process can have without asking for more. */
#if defined(__aarch64__)
#define ADDRESS_END 0xfffffffff000ull
#else
#define ADDRESS_END 0x7ffffffff000ull
#endif

bool prepare_uffd(int uffd) {
  struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_WP_ASYNC};
  return ioctl(uffd, UFFDIO_API, &api) == 0;
}

struct mapping {
  unsigned long start, end, inode;
  char rights[5], name[16];
};

static bool is_private(const struct mapping *mapping) { return mapping->rights[3] == 'p'; }

static bool is_anonymous(const struct mapping *mapping) {
  const char *name = mapping->name;
  if (!is_private(mapping) || mapping->inode != 0) return false;
  return name[0] == 0 || strcmp(name, "[heap]") == 0 || strcmp(name, "[stack]") == 0 ||
         strncmp(name, "[anon:", 6) == 0;
}

/* A table of addresses that the loader has written, and that nobody writes to from then on. */
static bool is_candidate(const struct mapping *mapping, unsigned long program) {
  return mapping->inode == program && mapping->name[0] == '/' && mapping->rights[1] != 'w' &&
         mapping->rights[2] != 'x' && mapping->end - mapping->start >= FILE_BYTES_MIN;
}

/* What a device writes to memory that it was given before, the kernel does not note. */
static bool has_requests_under_way(const char *line) { return strstr(line, "/[aio]") != NULL; }

/*
 * Tells whether a mapping of a file is to be followed; what is, stays so. `program` is the inode of the last mapping
 * before it that can be run.
 */
static bool is_worth_it(const struct mapping *mapping, unsigned long program, const struct files *before,
                        int pagemap) {
  if (!is_private(mapping) || mapping->inode == 0) return false;
  if (is_among(before, mapping->start, mapping->end)) return true;
  return is_candidate(mapping, program) && can_follow_files() &&
         holds_mostly_own(pagemap, mapping->start, mapping->end);
}

static bool register_one(int uffd, const struct mapping *mapping) {
  struct uffdio_register range = {.range = {mapping->start, mapping->end - mapping->start},
                                  .mode = UFFDIO_REGISTER_MODE_WP};
  return ioctl(uffd, UFFDIO_REGISTER, &range) == 0;
}

/* Notes a mapping of a file before it is registered: CRIU has to ask of it what is the file's. */
static bool note_file(struct files *files, const struct mapping *mapping) {
  if (files->count == FILES_MAX) return false;
  files->all[files->count].start = mapping->start;
  files->all[files->count++].end = mapping->end;
  return true;
}

/* Reads the next line about a mapping; false after the last one. */
static bool read_mapping(FILE *maps, char *line, struct mapping *mapping) {
  while (fgets(line, MAPS_LINE_BYTES, maps) != NULL) {
    /* A name may be longer, and its end look like a line. */
    for (int next = 0; strchr(line, '\n') == NULL && next != '\n' && next != EOF;) next = fgetc(maps);
    *mapping = (struct mapping){.name = ""};
    if (sscanf(line, "%lx-%lx %4s %*x %*x:%*x %lu %15s", &mapping->start, &mapping->end, mapping->rights,
               &mapping->inode, mapping->name) >= 4)
      return true;
  }
  return false;
}

static FILE *open_maps(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  return fopen(path, "re");
}

/*
 * Returns where the last range ends that is followed now, or 0. One that cannot be registered counts as
 * written; one that is already, stays so. `files` has those of before.
 */
static uint64_t register_all(pid_t pid, int uffd, int pagemap, struct files *files) {
  char line[MAPS_LINE_BYTES];
  FILE *maps = open_maps(pid);
  const struct files before = *files;
  struct mapping mapping;
  uint64_t last = 0;
  unsigned long program = 0;
  bool is_refused = false;
  files->count = 0;
  while (maps != NULL && !is_refused && read_mapping(maps, line, &mapping)) {
    is_refused = has_requests_under_way(line);
    if (mapping.end > ADDRESS_END) continue;
    if (mapping.rights[2] == 'x' && mapping.inode != 0) program = mapping.inode;
    bool is_of_file = is_worth_it(&mapping, program, &before, pagemap);
    /* Something else may be where one was before. */
    bool may_follow = is_of_file ? has_small_pages(pid, mapping.start, mapping.end) : is_anonymous(&mapping);
    if (is_of_file && !note_file(files, &mapping)) is_refused = is_among(&before, mapping.start, mapping.end);
    else if (may_follow && register_one(uffd, &mapping)) last = mapping.end;
  }
  if (maps != NULL) fclose(maps);
  return is_refused ? 0 : last;
}

void note_now(pid_t pid, struct files *files) {
  char line[MAPS_LINE_BYTES];
  struct mapping mapping;
  FILE *maps = files->count == 0 ? NULL : open_maps(pid);
  for (size_t i = 0; i < files->count; i++) files->all[i].is_writable = maps == NULL;
  while (maps != NULL && read_mapping(maps, line, &mapping)) {
    for (size_t i = 0; mapping.inode != 0 && i < files->count; i++) {
      if (files->all[i].start >= mapping.end || mapping.start >= files->all[i].end) continue;
      if (mapping.rights[1] == 'w') files->all[i].is_writable = true;
      /* It has grown. */
      if (mapping.start < files->all[i].start) files->all[i].start = mapping.start;
      if (mapping.end > files->all[i].end) files->all[i].end = mapping.end;
    }
  }
  if (maps != NULL) fclose(maps);
}

typedef void visitor(const struct page_region *region, void *data);

/* Asks for regions of a process one after the other; calls `visit` for each. */
static bool scan_all(int pagemap, struct page_scan scan, visitor *visit, void *data) {
  static struct page_region regions[REGIONS_MAX];
  uint64_t end = scan.end;
  scan.size = sizeof scan;
  /* With no list the kernel protects everything, and leaves marks where nothing is. */
  scan.vec = (uint64_t)(uintptr_t)regions;
  scan.vec_len = REGIONS_MAX;
  do {
    int count = ioctl(pagemap, PAGE_SCAN, &scan);
    if (count < 0 || scan.walk_end <= scan.start) return false;
    for (int i = 0; visit != NULL && i < count; i++) visit(&regions[i], data);
    scan.start = walked_until(&scan, count);
  } while (scan.start < end);
  return true;
}

struct stale {
  struct page_region *all;
  size_t count;
  bool is_full;
};

static void note_stale(const struct page_region *region, void *data) {
  struct stale *stale = data;
  if (stale->count == STALE_MAX) stale->is_full = true;
  else stale->all[stale->count++] = *region;
}

/*
 * Finds pages that look protected where nobody follows writes. Memory that is moved beside memory which is
 * followed can become one mapping with it, and the kernel then ends the following of both; their pages
 * keep the sign. They would look clean for ever, whatever is written to them.
 */
static bool find_stale(int pagemap, uint64_t end, struct stale *stale) {
  struct page_scan scan = {.end = end,
                           .category_mask = PAGE_TRACKABLE | PAGE_WRITTEN,
                           .category_inverted = PAGE_TRACKABLE | PAGE_WRITTEN,
                           .category_anyof_mask = PAGE_PRESENT | PAGE_SWAPPED,
                           .return_mask = PAGE_PRESENT};
  return scan_all(pagemap, scan, note_stale, stale) && !stale->is_full;
}

/* Takes the sign away again, in mappings that are followed by now. */
static bool clear_stale(int uffd, const struct stale *stale) {
  for (size_t i = 0; i < stale->count; i++) {
    const struct page_region *region = &stale->all[i];
    struct uffdio_writeprotect range = {.range = {region->start, region->end - region->start}};
    if (ioctl(uffd, UFFDIO_WRITEPROTECT, &range) < 0) return false;
  }
  return true;
}

static bool protect_pages(pid_t pid, int uffd, int pagemap, struct files *files) {
  static struct page_region regions[STALE_MAX];
  struct stale stale = {.all = regions};
  if (!find_stale(pagemap, ADDRESS_END, &stale)) return false;
  uint64_t end = register_all(pid, uffd, pagemap, files);
  /* None at all: the descriptor is that of memory which the process has left with exec(). */
  if (end == 0 || !clear_stale(uffd, &stale)) return false;
  /* What is swapped out and was not protected stays written: nobody could tell it from a mark. */
  struct page_scan scan = {.flags = SCAN_PROTECT,
                           .end = end,
                           .category_mask = PAGE_PRESENT | PAGE_WRITTEN | PAGE_ZERO,
                           .category_inverted = PAGE_ZERO,
                           .return_mask = PAGE_PRESENT};
  return scan_all(pagemap, scan, NULL, NULL);
}

static int open_pagemap(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/pagemap", pid);
  return open(path, O_RDONLY | O_CLOEXEC);
}

bool register_new(pid_t pid, int uffd, struct files *files) {
  int pagemap = open_pagemap(pid);
  bool is_registered = pagemap >= 0 && register_all(pid, uffd, pagemap, files) != 0;
  if (pagemap >= 0) close(pagemap);
  return is_registered;
}

bool protect(pid_t pid, int uffd, struct files *files) {
  int pagemap = open_pagemap(pid);
  bool is_protected = pagemap >= 0 && protect_pages(pid, uffd, pagemap, files);
  if (pagemap >= 0) close(pagemap);
  return is_protected;
}

uint64_t start_time(pid_t pid) {
  char path[64], line[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *stat = fopen(path, "re");
  unsigned long long time = 0;
  if (stat != NULL && fgets(line, sizeof line, stat) != NULL) {
    /* The name in brackets may have any character. */
    char *after = strrchr(line, ')');
    if (after == NULL ||
        sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &time) != 1)
      time = 0;
  }
  if (stat != NULL) fclose(stat);
  return time;
}
