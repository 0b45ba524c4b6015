/*
 * Copies protected memory of processes that run on, as images that a dump can then refer to: what is not
 * written until then is what the copy has, and what is written is no more protected and not taken from it.
 * Pages that go meanwhile are left out.
 *
 * They are read from /proc/PID/mem. process_vm_readv() would be faster, and change them: of a page that is shared
 * with a child it gives the process a copy of its own that does not count as written (docs/notes/memory).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../memory-tracker/page-scan.h"
#include "assemble.h"

#define REGIONS_MAX 1024
#define READ_BYTES (256ull * 1024)
#define PAGEMAP_PRESENT 4u
#if defined(__aarch64__)
#define ADDRESS_END 0xfffffffff000ull
#else
#define ADDRESS_END 0x7ffffffff000ull
#endif

struct copying {
  int pid, memory_fd, pages_fd;
  uint64_t at;
  struct pieces pieces;
};

static int number_inside(int pid) {
  char path[64], line[256];
  int inside = 0;
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  FILE *status = fopen(path, "re");
  while (status != NULL && inside == 0 && fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, "NSpid:", 6) == 0) inside = atoi(strrchr(line, '\t'));
  }
  if (status != NULL) fclose(status);
  return inside;
}

/* Keeps what was read of a range, and says where it lies. */
static void keep(struct copying *copying, const void *bytes, uint64_t address, uint64_t length) {
  for (uint64_t done = 0; done < length;) {
    ssize_t part = write(copying->pages_fd, (const char *)bytes + done, length - done);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) fail("write", "pages");
    done += (uint64_t)part;
  }
  struct pieces *pieces = &copying->pieces;
  struct piece *last = pieces->count == 0 ? NULL : &pieces->all[pieces->count - 1];
  if (last != NULL && last->address + last->pages * PAGE == address) {
    last->pages += length / PAGE;
  } else {
    pieces->all = grow(pieces->all, pieces->count, sizeof *pieces->all);
    pieces->all[pieces->count++] = (struct piece){address, length / PAGE, true, copying->at, PAGEMAP_PRESENT};
  }
  copying->at += length;
}

static void copy_region(struct copying *copying, uint64_t start, uint64_t end) {
  static uint8_t bytes[READ_BYTES];
  while (start < end) {
    uint64_t wanted = end - start < READ_BYTES ? end - start : READ_BYTES;
    ssize_t part = pread(copying->memory_fd, bytes, wanted, (off_t)start);
    /* The process has ended, or runs another program. */
    if (part == 0) return;
    uint64_t whole = part < 0 ? 0 : (uint64_t)part / PAGE * PAGE;
    if (whole > 0) keep(copying, bytes, start, whole);
    /* What cannot be read is gone, or nobody may: it is copied in the pause. */
    start += whole == 0 ? PAGE : whole;
  }
}

/* Opens a file of a process below /proc; -1 where it has gone. */
static int open_of(int pid, const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  return open(path, O_RDONLY | O_CLOEXEC);
}

static void copy_protected(struct copying *copying) {
  static struct page_region regions[REGIONS_MAX];
  int pagemap = open_of(copying->pid, "pagemap");
  copying->memory_fd = open_of(copying->pid, "mem");
  bool is_open = pagemap >= 0 && copying->memory_fd >= 0;
  for (uint64_t from = 0; is_open && from < ADDRESS_END;) {
    struct page_scan scan = {.size = sizeof scan,
                             .start = from,
                             .end = ADDRESS_END,
                             .vec = (uint64_t)(uintptr_t)regions,
                             .vec_len = REGIONS_MAX,
                             .category_mask = PAGE_PRESENT | PAGE_TRACKABLE | PAGE_WRITTEN | PAGE_ZERO,
                             .category_inverted = PAGE_WRITTEN | PAGE_ZERO,
                             .return_mask = PAGE_PRESENT};
    int count = ioctl(pagemap, PAGE_SCAN, &scan);
    if (count < 0 || scan.walk_end <= from) break;
    for (int i = 0; i < count; i++) copy_region(copying, regions[i].start, regions[i].end);
    from = walked_until(&scan, count);
  }
  if (pagemap >= 0) close(pagemap);
  if (copying->memory_fd >= 0) close(copying->memory_fd);
}

uint64_t copy_ahead(int dir_fd, char *const *pids, int count) {
  uint64_t bytes = 0;
  for (int i = 0; i < count; i++) {
    struct copying copying = {.pid = atoi(pids[i])};
    int inside = copying.pid > 0 ? number_inside(copying.pid) : 0;
    char pages[32], pagemap[32];
    if (inside == 0) continue;
    snprintf(pages, sizeof pages, "pages-%d.img", i + 1);
    snprintf(pagemap, sizeof pagemap, "pagemap-%d.img", inside);
    copying.pages_fd = openat(dir_fd, pages, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (copying.pages_fd < 0) fail("create", pages);
    copy_protected(&copying);
    if (close(copying.pages_fd) < 0) fail("close", pages);
    write_pagemap(dir_fd, pagemap, (uint32_t)i + 1, &copying.pieces);
    free(copying.pieces.all);
    bytes += copying.at;
  }
  return bytes;
}
