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

/* Flags: protect what matches. */
#define SCAN_PROTECT 1u

/* Categories. TRACKABLE: somebody follows the writes there. WRITTEN: present, and not protected. */
#define PAGE_TRACKABLE (1u << 0)
#define PAGE_WRITTEN (1u << 1)
#define PAGE_OF_FILE (1u << 2)
#define PAGE_PRESENT (1u << 3)
#define PAGE_SWAPPED (1u << 4)
#define PAGE_ZERO (1u << 5)

#endif
