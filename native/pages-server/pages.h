/*
 * The pages server: fills the memory of restored processes while they run already (a lazy restore).
 *
 * pages-main.c      starting it, and the keeper that watches over the server
 * pages-image.c     CRIU's images of memory: which address lies where in which file
 * pages-content.c   the files of pages, and whether their bytes are those that were captured
 * pages-ranges.c    the addresses that are still to be filled
 * pages-fill.c      putting pages into a process
 * pages-serve.c     what processes and CRIU tell, and the order of work
 *
 * docs/notes/criu tells how CRIU hands over, docs/notes/userfaultfd what the kernel promises.
 */
#ifndef PAGES_H
#define PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "../image-sums/sums.h"

#define PAGE_BYTES 4096ul

/* Addresses [start, end) of a process, whose content begins at offset of the file of its pages. */
struct range {
  uint64_t start, end, offset;
};

/* Sorted by address, disjoint; a range may be empty. */
struct ranges {
  struct range *items;
  size_t count, capacity;
};

/* A file of pages, mapped. */
struct content {
  const char *bytes;
  uint64_t size;
  const struct file_sums *sums; /* NULL where there are none to compare with */
  unsigned char *right;         /* of each chunk, whether it was compared already */
};

/* Memory of one process as the images have it. */
struct image {
  int pid; /* inside the session */
  struct content *content;
  struct ranges ranges;
};

struct images {
  struct image *items;
  size_t count;
};

/* A process that is being filled. */
struct task {
  int uffd;
  struct content *content; /* NULL for a process without memory in the images */
  struct ranges missing;
  /* Faults that could not be answered while the process changes its mappings. */
  uint64_t *deferred;
  size_t deferred_count, deferred_capacity;
  int is_gone;
};

/* What the server and its keeper share, besides all their descriptors. */
struct shared {
  int connection; /* to CRIU, -1 before and after */
  int first_pidfd; /* of the session's first process, -1 before */
  int is_abandoned; /* CRIU has given up, and will say why */
  int started; /* closed by the server when it can be found */
  char reason[160];
};

/* Each returns -1 with `errno` set, or what `fail` was told, when it cannot go on. */
int read_images(int images_fd, const struct sums *sums, struct images *images);
struct image *find_image(struct images *images, int pid);

/* `sums` is NULL where the checkpoint has none. */
struct content *open_content(int images_fd, const char *name, const struct sums *sums);
/* Compares what has not been compared yet; -1 with EBADMSG when bytes are not what was captured. */
int require_right(struct content *content, uint64_t offset, uint64_t length);
/* Compares the files of pages that CRIU alone reads. */
int require_others_right(int images_fd, const struct sums *sums, const struct images *images);

int add_range(struct ranges *ranges, struct range range);
int copy_ranges(struct ranges *to, const struct ranges *from);
int drop_addresses(struct ranges *ranges, uint64_t start, uint64_t end);
int move_addresses(struct ranges *ranges, uint64_t from, uint64_t to, uint64_t length);
const struct range *find_range(const struct ranges *ranges, uint64_t address);
struct range *last_range(struct ranges *ranges);

/* Both return 1 when the process changes its mappings: its events have to be read first. */
int answer_fault(struct task *task, uint64_t address);
int fill_some(struct task *task);

int serve(int listener, struct images *images, struct shared *shared);

/* Notes why the server has to give up, and returns -1. */
int fail(struct shared *shared, const char *what);

#endif
