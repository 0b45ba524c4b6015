/* What the kernel says of a process's pages: linux/fs.h of 6.7 and newer, where headers may be older. */
#ifndef PAGE_SCAN_H
#define PAGE_SCAN_H

#include <stdint.h>
#include <sys/ioctl.h>

/* Neighbouring pages of which the same is true. */
struct page_region {
  uint64_t start, end, categories;
};

struct page_scan {
  uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
  uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define PAGE_SCAN _IOWR('f', 16, struct page_scan)

/*
 * Returns where a walk goes on after an answer of `count` regions. The kernel walks with a list of its own, of
 * 512 regions, and may say where that was full although it has gone on: what came then it would tell twice.
 */
static inline uint64_t walked_until(const struct page_scan *scan, int count) {
  const struct page_region *regions = (const struct page_region *)(uintptr_t)scan->vec;
  uint64_t last = count > 0 ? regions[count - 1].end : 0;
  return last > scan->walk_end ? last : scan->walk_end;
}

/* Flags: protect what matches. */
#define SCAN_PROTECT 1u

/* Categories. TRACKABLE: somebody follows the writes there. WRITTEN: present, and not protected. */
#define PAGE_TRACKABLE (1u << 0)
#define PAGE_WRITTEN (1u << 1)
#define PAGE_OF_FILE (1u << 2)
#define PAGE_PRESENT (1u << 3)
#define PAGE_SWAPPED (1u << 4)
#define PAGE_ZERO (1u << 5)

/*
 * Tells by what the old file, pagemap, says of a page whether there is a mark in its place and nothing else: in a
 * private mapping of a file the kernel leaves one where a page was given back that was protected. What is there for
 * the process is the file's page. 31 is the kernel's number for marks, in place of that of a swap device.
 */
static inline int is_mark(uint64_t entry) {
  const uint64_t is_present = 1ull << 63, is_swapped = 1ull << 62, is_protected = 1ull << 57;
  return (entry & (is_present | is_swapped | is_protected)) == (is_swapped | is_protected) && (entry & 31) == 31;
}

#endif
