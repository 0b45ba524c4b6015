/*
 * What CRIU copies of processes whose writes are followed: these ranges are protected again at the end of
 * the dump, and no others have to be looked at. In a large process that is a hundredth of the time.
 */
#define _GNU_SOURCE
#include "memory-preload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REGIONS_MAX 1024
#define PAGE_BYTES 4096ull
/* One more call takes as long as looking at so much. */
#define BRIDGED_BYTES (32 * PAGE_BYTES)

static struct range {
  int pid;
  uint64_t start, end;
} *ranges;
static size_t count, room;
/* Where a list is not whole, or pages look protected that nobody protects, all is looked at. */
static int unclear[1024];
static size_t unclear_count;

static void note_unclear(int pid) {
  if (unclear_count < sizeof unclear / sizeof *unclear) unclear[unclear_count++] = pid;
}

int is_clear(int pid) {
  if (unclear_count == sizeof unclear / sizeof *unclear) return 0;
  for (size_t i = 0; i < unclear_count; i++) {
    if (unclear[i] == pid) return 0;
  }
  return 1;
}

void note_written(int pid, const struct page_region *region) {
  struct range *last = count == 0 ? NULL : &ranges[count - 1];
  if (!(region->categories & (PAGE_TRACKABLE | PAGE_WRITTEN))) note_unclear(pid);
  /* CRIU asks for some pages twice, in ascending order otherwise. */
  if (last != NULL && last->pid == pid && region->start >= last->start && region->start <= last->end + BRIDGED_BYTES) {
    if (region->end > last->end) last->end = region->end;
    return;
  }
  if (count == room) {
    size_t more = room == 0 ? 1024 : room * 2;
    struct range *grown = realloc(ranges, more * sizeof *ranges);
    if (grown == NULL) {
      note_unclear(pid);
      return;
    }
    ranges = grown;
    room = more;
  }
  ranges[count++] = (struct range){pid, region->start, region->end};
}

static int protect_range(int pagemap, uint64_t start, uint64_t end) {
  static struct page_region regions[REGIONS_MAX];
  while (start < end) {
    /*
     * With no list the kernel protects everything, and leaves marks where nothing is. It makes one of its own of the
     * same size for each call: of a single page that would be most of the time.
     */
    uint64_t pages = (end - start + PAGE_BYTES - 1) / PAGE_BYTES;
    struct page_scan scan = {.size = sizeof scan,
                             .flags = SCAN_PROTECT,
                             .start = start,
                             .end = end,
                             .vec = (uint64_t)(uintptr_t)regions,
                             .vec_len = pages < REGIONS_MAX ? pages : REGIONS_MAX,
                             .category_mask = PAGE_PRESENT | PAGE_WRITTEN | PAGE_ZERO,
                             .category_inverted = PAGE_ZERO,
                             .return_mask = PAGE_PRESENT};
    int found = (int)syscall(SYS_ioctl, pagemap, PAGE_SCAN, &scan);
    if (found < 0 || scan.walk_end <= start) return -1;
    start = walked_until(&scan, found);
  }
  return 0;
}

int protect_written(int pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/pagemap", pid);
  int pagemap = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  int result = pagemap < 0 ? -1 : 0;
  for (size_t i = 0; result == 0 && i < count; i++) {
    if (ranges[i].pid == pid) result = protect_range(pagemap, ranges[i].start, ranges[i].end);
  }
  if (pagemap >= 0) syscall(SYS_close, pagemap);
  return result;
}
