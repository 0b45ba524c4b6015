/*
 * What a dump may leave out: pages that are missing still, and lie in the images that are served, in those
 * of the same process and at the same address. All else is brought before.
 *
 * A process that has run another program, has lost its memory to a child that shares it, or has got the number
 * of one that ended, must not be given the pages of the one before. So each is tried: a page that is
 * brought has to appear in the process that is taken for its owner.
 */
#define _GNU_SOURCE
#include "pages.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#define IS_PRESENT (1ull << 63)
#define IS_SWAPPED (1ull << 62)
/* For mappings that change; in a tree that stands still none does. */
#define TRIES_MAX 1000
#define TRY_PAUSE_US 1000

static int is_displaced(const struct task *task) {
  if (task->is_gone || task->image == NULL) return 0;
  if (task->pid == 0) return missing_bytes(task) > 0;
  for (size_t i = 0; i < task->missing.count; i++) {
    const struct range *missing = task->missing.items + i;
    if (!is_in_place(task->image, missing->start, missing->end, missing->offset)) return 1;
  }
  return 0;
}

/* One step of it, so that faults of others are answered in between. Returns 1 while there is more. */
int bring_displaced(struct server *server) {
  for (size_t i = 0; i < server->count; i++) {
    struct task *task = server->tasks + i;
    if (!is_displaced(task)) continue;
    return fill_some(task) < 0 ? fail(server->shared, "bring pages") : 1;
  }
  return 0;
}

static int bring_all(struct server *server, size_t index) {
  for (int tries = 0; tries < TRIES_MAX;) {
    struct task *task = server->tasks + index;
    if (task->is_gone || last_range(&task->missing) == NULL) return 0;
    int result = fill_some(task);
    if (result < 0) return fail(server->shared, "bring pages");
    if (result == 0) continue;
    tries++;
    usleep(TRY_PAUSE_US);
    if (read_task(server, index) < 0) return -1;
  }
  return 1;
}

/* Tells whether a process has a page of its own at an address; -1 where nobody can. */
static int has_page(pid_t pid, uint64_t address) {
  char path[32];
  uint64_t mark = 0;
  snprintf(path, sizeof path, "/proc/%d/pagemap", pid);
  int pagemap = open(path, O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) return -1;
  off_t offset = (off_t)(address / PAGE_BYTES * sizeof mark);
  ssize_t length = pread(pagemap, &mark, sizeof mark, offset);
  close(pagemap);
  return length == (ssize_t)sizeof mark ? (mark & (IS_PRESENT | IS_SWAPPED)) != 0 : -1;
}

/* Tells whether the memory of a task is that of the process it came from. */
static int is_owner(struct task *task) {
  const struct range *range = last_range(&task->missing);
  if (range == NULL) return 1;
  uint64_t address = range->end - PAGE_BYTES;
  if (has_page(task->pid, address) != 0) return 0;
  return fill_page(task, &address) == 0 && !task->is_gone && has_page(task->pid, address) == 1;
}

int list_unfilled(struct server *server, FILE *file) {
  for (size_t i = 0; i < server->count; i++) {
    if (read_task(server, i) < 0) return -1;
  }
  for (size_t i = 0; i < server->count; i++) {
    struct task *task = server->tasks + i;
    if (task->image == NULL || task->is_gone) continue;
    if (is_displaced(task) || !is_owner(task)) {
      if (bring_all(server, i) != 0) return -1;
      continue;
    }
    if (task->is_followed) fprintf(file, "followed %d\n", task->image->pid);
    for (size_t k = 0; k < task->missing.count; k++) {
      const struct range *range = task->missing.items + k;
      if (range->start >= range->end) continue;
      fprintf(file, "%d %" PRIx64 " %" PRIx64 "\n", task->image->pid, range->start, range->end);
    }
  }
  fprintf(file, "end\n");
  return ferror(file) ? -1 : 0;
}
