/*
 * Tries on memory of its own what following the writes of others relies on. A version number would not
 * do: that moved memory loses its protection, for one, came to kernels of several versions.
 */
#define _GNU_SOURCE
#include "tracker.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "page-scan.h"

#define PROBED_PAGES 8
/* UFFD_USER_MODE_ONLY, which no process needs a capability for. */
#define USER_MODE_ONLY 1

static int pagemap = -1;

/* Returns the categories of a page, or those of none. */
static uint64_t categories_of(const char *page) {
  struct page_region region = {0};
  uint64_t all = PAGE_TRACKABLE | PAGE_WRITTEN | PAGE_PRESENT | PAGE_SWAPPED;
  struct page_scan scan = {.size = sizeof scan,
                           .start = (uint64_t)(uintptr_t)page,
                           .end = (uint64_t)(uintptr_t)page + PAGE_BYTES,
                           .vec = (uint64_t)(uintptr_t)&region,
                           .vec_len = 1,
                           .category_anyof_mask = PAGE_PRESENT | PAGE_SWAPPED,
                           .return_mask = all};
  return ioctl(pagemap, PAGE_SCAN, &scan) == 1 ? region.categories : 0;
}

static bool is_clean(const char *page) {
  uint64_t categories = categories_of(page);
  return (categories & PAGE_PRESENT) && (categories & PAGE_TRACKABLE) && !(categories & PAGE_WRITTEN);
}

static bool is_written(const char *page) {
  uint64_t categories = categories_of(page);
  return (categories & PAGE_PRESENT) && ((categories & PAGE_WRITTEN) || !(categories & PAGE_TRACKABLE));
}

/* A child has all pages, none of which may count as clean. */
static bool is_child_unprotected(const char *page) {
  pid_t child = fork();
  if (child == 0) {
    pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    _exit(is_written(page) ? 0 : 1);
  }
  int status;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static const char *probe(char *memory, char *elsewhere) {
  struct files files = {0};
  int uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
  if (uffd < 0) return "userfaultfd";
  if (!prepare_uffd(uffd)) return "asynchronous write protection";
  memset(memory, 1, PROBED_PAGES * PAGE_BYTES);
  if (!protect(getpid(), uffd, &files)) return "protection by PAGEMAP_SCAN";
  if (!is_clean(memory) || !is_clean(memory + PAGE_BYTES)) return "protection that shows";
  memory[0] = 2;
  if (!is_written(memory) || !is_clean(memory + PAGE_BYTES)) return "writes that show";
  if (!is_child_unprotected(memory + PAGE_BYTES)) return "children that have no protection";
  madvise(memory + 2 * PAGE_BYTES, PAGE_BYTES, MADV_DONTNEED);
  if (is_clean(memory + 2 * PAGE_BYTES)) return "pages that are gone";
  ((volatile char *)memory)[2 * PAGE_BYTES] = 3;
  if (!is_written(memory + 2 * PAGE_BYTES)) return "pages that come new";
  char *moved = mremap(memory + 3 * PAGE_BYTES, PAGE_BYTES, PAGE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere);
  if (moved == MAP_FAILED || !is_written(moved)) return "moved memory that has no protection";
  /* Once more: what was moved must not have kept anything of the first time. */
  if (!protect(getpid(), uffd, &files)) return "protection by PAGEMAP_SCAN";
  ((volatile char *)moved)[0] = 4;
  if (!is_written(moved)) return "writes to moved memory that show";
  close(uffd);
  return is_written(memory + PAGE_BYTES) ? NULL : "protection that ends";
}

const char *find_missing_feature(void) {
  pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  char *memory = mmap(NULL, 2 * PROBED_PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pagemap < 0 || memory == MAP_FAILED) return "memory to try it with";
  return probe(memory, memory + PROBED_PAGES * PAGE_BYTES);
}

/* A page of a file is written, protected and given back: what is left has to look like a mark. */
static bool try_mark(char *page, int uffd, int own_pagemap) {
  struct uffdio_register range = {.range = {(uintptr_t)page, PAGE_BYTES}, .mode = UFFDIO_REGISTER_MODE_WP};
  struct page_region region;
  struct page_scan scan = {.size = sizeof scan,
                           .flags = SCAN_PROTECT,
                           .start = (uintptr_t)page,
                           .end = (uintptr_t)page + PAGE_BYTES,
                           .vec = (uintptr_t)&region,
                           .vec_len = 1,
                           .category_mask = PAGE_PRESENT | PAGE_WRITTEN,
                           .return_mask = PAGE_PRESENT};
  uint64_t entry = 0;
  page[0] = 1;
  return ioctl(uffd, UFFDIO_REGISTER, &range) == 0 && ioctl(own_pagemap, PAGE_SCAN, &scan) == 1 &&
         madvise(page, PAGE_BYTES, MADV_DONTNEED) == 0 &&
         pread(own_pagemap, &entry, sizeof entry, (off_t)((uintptr_t)page / PAGE_BYTES * sizeof entry)) ==
             sizeof entry &&
         is_mark(entry);
}

bool can_follow_files(void) {
  static enum { UNKNOWN, NO, YES } answer;
  if (answer != UNKNOWN) return answer == YES;
  answer = NO;
  int file = (int)syscall(SYS_memfd_create, "probe", 1u /* close on exec */);
  int uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
  int own_pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  char *page = file >= 0 && ftruncate(file, PAGE_BYTES) == 0
                   ? mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0)
                   : MAP_FAILED;
  bool has_all = uffd >= 0 && own_pagemap >= 0 && page != MAP_FAILED && prepare_uffd(uffd);
  if (has_all && try_mark(page, uffd, own_pagemap)) answer = YES;
  if (page != MAP_FAILED) munmap(page, PAGE_BYTES);
  if (own_pagemap >= 0) close(own_pagemap);
  if (uffd >= 0) close(uffd);
  if (file >= 0) close(file);
  return answer == YES;
}
