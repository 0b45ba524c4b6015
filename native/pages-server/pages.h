/*
 * The pages server: fills the memory of restored processes while they run already (a lazy restore).
 *
 * pages-main.c      starting it, and the keeper that watches over the server
 * pages-image.c     CRIU's images of memory: which address lies where in which file
 * pages-content.c   the files of pages, and whether their bytes are those that were captured
 * pages-ranges.c    the addresses that are still to be filled
 * pages-fill.c      putting pages into a process
 * pages-serve.c     what processes and CRIU tell, and the order of work
 * pages-words.c     what others read of a process without its doing
 * pages-control.c   what the daemon, and CRIU's preload in a dump, ask for
 * pages-follow.c    which pages were written since they were brought
 * pages-unfilled.c  what a dump may leave out, since the images have it
 *
 * docs/notes/criu tells how CRIU hands over, docs/notes/userfaultfd what the kernel promises.
 */
#ifndef PAGES_H
#define PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

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

/* Addresses of a process. */
struct span {
  uint64_t start, end;
};

/* A process that gets its memory from here. */
struct task {
  int uffd;
  pid_t pid;           /* as the server sees it; 0 for a child, of which nobody tells */
  struct image *image; /* NULL for a process without memory in the images */
  struct ranges missing;
  int is_followed; /* the kernel notes which of its pages are written */
  int is_small; /* so little is missing that it is brought at once */
  /* Where the words and the variables are that it was started with: what has not come yet. */
  struct span words[2];
  int knows_words;
  /* Faults that could not be answered while the process changes its mappings. */
  uint64_t *deferred;
  size_t deferred_count, deferred_capacity;
  int is_gone;
};

struct server {
  struct images *images;
  struct shared *shared;
  struct task *tasks;
  size_t count;
  int is_finished;     /* CRIU's part is done */
  int is_touched_only; /* nothing is to be brought that nobody touches, until somebody keeps it */
  int is_compared;     /* all files of pages have the sums that they should have */
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
/* Brings the last page that is missing; `*address` tells which. */
int fill_page(struct task *task, uint64_t *address);

/* Brings the words and variables that it was started with. 1 when the process changes its mappings, as above. */
int bring_words(struct task *task);

/* What is brought in one step while nobody waits; a fault then waits for the rest of the step. */
#define STEP_BYTES (512 * 1024ul)

/* Returns the bytes that are still to come, of one process or of all. */
uint64_t missing_bytes(const struct task *task);
uint64_t left_bytes(const struct server *server);

int serve(int listener, int control, struct server *server);
/* Reads all that a process has told. */
int read_task(struct server *server, size_t index);

/* Those who ask for something: their descriptors, for poll. */
#define CLIENTS_MAX 8
void accept_client(int listener);
size_t list_clients(int *descriptors);
/* Reads what a client asks for; answers what can be answered at once. */
int read_client(struct server *server, int descriptor);
/* Tells whether somebody waits for something that takes steps. */
int has_work(void);
/* One step of that. Returns 1 when a process changes its mappings, -1 when the server has to give up. */
int work_some(struct server *server);

/* Has the writes to the memory of a process followed whose pages are missing; where the kernel cannot, they are not. */
void follow_writes(struct task *task);
/* Notes that memory was moved: what is there now the images have elsewhere. */
void note_moved(struct task *task, uint64_t start, uint64_t length);
/* Tells whether pages lie in the images by the address that they are to have. */
int is_in_place(const struct image *image, uint64_t start, uint64_t end, uint64_t offset);

/* Brings all that a dump could not leave out: memory that was moved, and that of children. 1 where it does not come. */
int bring_displaced(struct server *server);
/*
 * Writes, for a tree that stands still, what is missing and lies in the images by the same address, and whose
 * other pages are those of the images, too, where they are protected.
 */
int list_unfilled(struct server *server, FILE *file);

/* Notes why the server has to give up, and returns -1. */
int fail(struct shared *shared, const char *what);

#endif
