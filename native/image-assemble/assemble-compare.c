/*
 * Compares images, page by page, with the second copy that CRIU's preload made in the same pause: every
 * page of either has to be in the other, with the same bytes; one of zeros may be missing in either. The areas in which the kernel
 * itself writes meanwhile are left out. Of as many pages as the kernel took meanwhile, since they were marked as free, the image may
 * have what the copy has not.
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
/* Of a copy and of an image, what is read at once. */
#define READ_PAGES 256ul

static unsigned long differences, compared;
/* So many pages the kernel may have taken between their copy for the image and the second one, or within that. */
static unsigned long may_lack, lacking;

static void tell(int pid, uint64_t address, const char *how) {
  if (differences++ < TOLD_MAX) fprintf(stderr, "process %d, page %llx %s\n", pid, (unsigned long long)address, how);
}

static void read_taken(int copies) {
  int fd = openat(copies, "taken", O_RDONLY | O_CLOEXEC);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
  if (file == NULL) return;
  if (fscanf(file, "%lu", &may_lack) != 1) may_lack = 0;
  fclose(file);
}

/* Tells whether the image may have a page alone, once for each that was taken. */
static bool was_taken(void) { return lacking < may_lack && ++lacking > 0; }

static bool is_zero(const uint8_t *page) { return page[0] == 0 && memcmp(page, page + 1, PAGE - 1) == 0; }

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

/* What has been read of an image, ahead of what is compared. */
struct reader {
  int fd;
  uint64_t offset;
  size_t length;
  uint8_t bytes[READ_PAGES * PAGE];
};

/* Returns a page of an image; NULL where it cannot be read. */
static uint8_t *read_page(struct reader *reader, uint64_t offset) {
  if (offset < reader->offset || offset + PAGE > reader->offset + reader->length) {
    ssize_t length = pread(reader->fd, reader->bytes, sizeof reader->bytes, (off_t)offset);
    reader->offset = offset;
    reader->length = length < 0 ? 0 : (size_t)length;
    if (reader->length < PAGE) return NULL;
  }
  return reader->bytes + (offset - reader->offset);
}

/* How far the images of a process have been compared. */
struct place {
  int pid;
  struct reader *pages;
  struct layout layout;
  size_t run;
  uint64_t page;
};

/* Tells of pages that only the image has, up to an address, and goes on to the place of that address. */
static void pass(struct place *place, uint64_t address) {
  while (place->run < place->layout.count) {
    const struct run *each = &place->layout.runs[place->run];
    if (place->page == each->pages) {
      place->run++;
      place->page = 0;
      continue;
    }
    uint64_t at = each->address + place->page * PAGE;
    if (at >= address) return;
    const uint8_t *bytes = read_page(place->pages, each->offset + place->page * PAGE);
    if (bytes == NULL) tell(place->pid, at, "cannot be read");
    else if (!is_zero(bytes) && !was_taken()) tell(place->pid, at, "is in the image alone");
    place->page++;
  }
}

static void compare_page(struct place *place, uint64_t address, uint8_t *theirs) {
  compared++;
  pass(place, address);
  const struct run *run = place->run < place->layout.count ? &place->layout.runs[place->run] : NULL;
  if (run == NULL || run->address + place->page * PAGE != address) {
    if (!is_zero(theirs)) tell(place->pid, address, "is missing in the image");
    return;
  }
  uint8_t *ours = read_page(place->pages, run->offset + place->page * PAGE);
  place->page++;
  if (ours == NULL) {
    tell(place->pid, address, "cannot be read");
  } else if (memcmp(ours, theirs, PAGE) != 0) {
    leave_out(address, ours, theirs);
    bool is_same = memcmp(ours, theirs, PAGE) == 0 || (is_zero(theirs) && was_taken());
    if (!is_same) tell(place->pid, address, "differs");
  }
}

static void compare_one(int dir_fd, int pid, FILE *copy) {
  static struct reader reader;
  struct place place = {.pid = pid, .pages = &reader};
  char name[32];
  uint32_t id;
  snprintf(name, sizeof name, "pagemap-%d.img", pid);
  if (!read_pagemap(dir_fd, name, &id, &place.layout)) {
    tell(pid, 0, "has no image");
    return;
  }
  snprintf(name, sizeof name, "pages-%u.img", id);
  reader.fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
  reader.length = 0;
  if (reader.fd < 0) fail("open", name);
  uint64_t head[2];
  static uint8_t theirs[PAGE];
  while (fread(head, sizeof head, 1, copy) == 1) {
    for (uint64_t at = head[0]; at < head[0] + head[1]; at += PAGE) {
      if (fread(theirs, PAGE, 1, copy) != 1) fail("read", "a copy");
      compare_page(&place, at, theirs);
    }
  }
  pass(&place, UINT64_MAX);
  free(place.layout.runs);
  close(reader.fd);
}

unsigned long compare_images(int dir_fd, const char *copies) {
  DIR *dir = opendir(copies);
  if (dir == NULL) fail("open", copies);
  read_areas(dirfd(dir));
  read_taken(dirfd(dir));
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    int pid, length = 0;
    if (sscanf(entry->d_name, "%d.copy%n", &pid, &length) != 1 || length == 0) continue;
    int fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC);
    FILE *copy = fd < 0 ? NULL : fdopen(fd, "r");
    if (copy == NULL) fail("open", entry->d_name);
    setvbuf(copy, NULL, _IOFBF, READ_PAGES * PAGE);
    compare_one(dir_fd, pid, copy);
    fclose(copy);
  }
  closedir(dir);
  /* Nothing compared would prove nothing. */
  if (compared == 0) tell(0, 0, "was compared: there are no copies");
  printf("%lu pages compared, %lu differ, %lu were taken\n", compared, differences, lacking);
  return differences;
}
