/* Private mappings of files of which a process has written most pages, as a loader does with tables of addresses. */
#define _GNU_SOURCE
#include "tracker.h"

#include <linux/magic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

#include "page-scan.h"

/* Pages are looked at in several places of a mapping, and the middle first: most mappings hold none. */
#define PLACES 8
#define PLACE_PAGES 8
#define REGIONS_MAX 8

bool is_among(const struct files *files, uint64_t start, uint64_t end) {
  for (size_t i = 0; i < files->count; i++) {
    if (files->all[i].start < end && start < files->all[i].end) return true;
  }
  return false;
}

/* Returns how many of the pages at an address are the process's own. */
static uint64_t count_own(int pagemap, uint64_t start) {
  struct page_region regions[REGIONS_MAX];
  struct page_scan scan = {.size = sizeof scan,
                           .start = start,
                           .end = start + PLACE_PAGES * PAGE_BYTES,
                           .vec = (uint64_t)(uintptr_t)regions,
                           .vec_len = REGIONS_MAX,
                           .category_mask = PAGE_PRESENT | PAGE_OF_FILE,
                           .category_inverted = PAGE_OF_FILE,
                           .return_mask = PAGE_PRESENT};
  int count = ioctl(pagemap, PAGE_SCAN, &scan);
  uint64_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += regions[i].end - regions[i].start;
  return bytes / PAGE_BYTES;
}

bool holds_mostly_own(int pagemap, uint64_t start, uint64_t end) {
  uint64_t stride = (end - start) / PAGE_BYTES / PLACES * PAGE_BYTES, own = 0;
  for (uint64_t place = 0; place < PLACES; place++) {
    own += count_own(pagemap, start + (place + PLACES / 2) % PLACES * stride);
    if (own == 0) return false;
  }
  return own * 2 > PLACES * PLACE_PAGES;
}

bool has_small_pages(pid_t pid, uint64_t start, uint64_t end) {
  char path[96];
  struct statfs filesystem;
  snprintf(path, sizeof path, "/proc/%d/map_files/%llx-%llx", pid, (unsigned long long)start, (unsigned long long)end);
  return statfs(path, &filesystem) == 0 && filesystem.f_type != HUGETLBFS_MAGIC;
}
