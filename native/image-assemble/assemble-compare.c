/*
 * Compares images, page by page, with the second copy that CRIU's preload made in the same pause: every
 * page of either has to be in the other, with the same bytes; one of zeros may be missing in either. The areas in which the kernel
 * itself writes meanwhile are left out.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assemble.h"

#define TOLD_MAX 20

static unsigned long differences, compared;

static void tell(int pid, uint64_t address, const char *how) {
  if (differences++ < TOLD_MAX) fprintf(stderr, "process %d, page %llx %s\n", pid, (unsigned long long)address, how);
}

static bool is_zero(const uint8_t *page) { return page[0] == 0 && memcmp(page, page + 1, PAGE - 1) == 0; }

/* Tells of pages that only the image has, up to an address, and returns the place of that address. */
static void pass(int pid, int pages_fd, const struct layout *layout, size_t *run, uint64_t *page,
                 uint64_t address) {
  uint8_t bytes[PAGE];
  while (*run < layout->count) {
    const struct run *each = &layout->runs[*run];
    if (*page == each->pages) {
      (*run)++;
      *page = 0;
      continue;
    }
    uint64_t at = each->address + *page * PAGE;
    if (at >= address) return;
    if (read_range(pages_fd, bytes, PAGE, each->offset + *page * PAGE) != PAGE) tell(pid, at, "cannot be read");
    else if (!is_zero(bytes)) tell(pid, at, "is in the image alone");
    (*page)++;
  }
}

#define AREA_BYTES 32
#define AREAS_MAX 65536

static uint64_t areas[AREAS_MAX];
static size_t area_count;

static void read_areas(int copies) {
  int fd = openat(copies, "areas", O_RDONLY | O_CLOEXEC);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
  while (file != NULL && area_count < AREAS_MAX && fscanf(file, "%lx", &areas[area_count]) == 1) area_count++;
  if (file != NULL) fclose(file);
}

/* Makes the same in both what the kernel wrote. */
static void leave_out(uint64_t address, uint8_t *ours, uint8_t *theirs) {
  for (size_t i = 0; i < area_count; i++) {
    if (areas[i] < address || areas[i] + AREA_BYTES > address + PAGE) continue;
    memset(ours + (areas[i] - address), 0, AREA_BYTES);
    memset(theirs + (areas[i] - address), 0, AREA_BYTES);
  }
}

static void compare_one(int dir_fd, int pid, FILE *copy) {
  char name[32];
  uint32_t id;
  struct layout layout;
  snprintf(name, sizeof name, "pagemap-%d.img", pid);
  if (!read_pagemap(dir_fd, name, &id, &layout)) {
    tell(pid, 0, "has no image");
    return;
  }
  snprintf(name, sizeof name, "pages-%u.img", id);
  int pages_fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
  if (pages_fd < 0) fail("open", name);
  size_t run = 0;
  uint64_t page = 0, head[2];
  static uint8_t theirs[PAGE], ours[PAGE];
  while (fread(head, sizeof head, 1, copy) == 1) {
    if (fread(theirs, PAGE, 1, copy) != 1) fail("read", "a copy");
    compared++;
    pass(pid, pages_fd, &layout, &run, &page, head[0]);
    const struct run *each = run < layout.count ? &layout.runs[run] : NULL;
    if (each == NULL || each->address + page * PAGE != head[0]) {
      if (!is_zero(theirs)) tell(pid, head[0], "is missing in the image");
      continue;
    }
    if (read_range(pages_fd, ours, PAGE, each->offset + page * PAGE) != PAGE) tell(pid, head[0], "cannot be read");
    else if (memcmp(ours, theirs, PAGE) != 0) {
      leave_out(head[0], ours, theirs);
      if (memcmp(ours, theirs, PAGE) != 0) tell(pid, head[0], "differs");
    }
    page++;
  }
  pass(pid, pages_fd, &layout, &run, &page, UINT64_MAX);
  free(layout.runs);
  close(pages_fd);
}

unsigned long compare_images(int dir_fd, const char *copies) {
  DIR *dir = opendir(copies);
  if (dir == NULL) fail("open", copies);
  read_areas(dirfd(dir));
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    int pid, length = 0;
    if (sscanf(entry->d_name, "%d.copy%n", &pid, &length) != 1 || length == 0) continue;
    int fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC);
    FILE *copy = fd < 0 ? NULL : fdopen(fd, "r");
    if (copy == NULL) fail("open", entry->d_name);
    compare_one(dir_fd, pid, copy);
    fclose(copy);
  }
  closedir(dir);
  /* Nothing compared would prove nothing. */
  if (compared == 0) tell(0, 0, "was compared: there are no copies");
  printf("%lu pages compared, %lu differ\n", compared, differences);
  return differences;
}
