/*
 * Which pages that were brought a process has written since: the kernel notes it, where the descriptor was
 * made for that (criu-preload asks for it), and delivers nothing. A page that is brought to where it was
 * captured is protected; a dump leaves it out as long as it is.
 *
 * Memory that is moved keeps its protection, at an address where the images have something else: so it is
 * taken away. Where anything of that fails, the process is followed no longer, and its pages are copied.
 */
#define _GNU_SOURCE
#include "pages.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_BYTES 512
/* For the moment between a change of mappings and its end. */
#define TRIES_MAX 1000
#define TRY_PAUSE_US 1000

static int has_missing(const struct task *task, uint64_t start, uint64_t end) {
  for (size_t i = 0; i < task->missing.count; i++) {
    const struct range *range = task->missing.items + i;
    if (range->start < end && range->end > start && range->start < range->end) return 1;
  }
  return 0;
}

/* Whole mappings, since the kernel would split one of which a part is followed. */
void follow_writes(struct task *task) {
  char path[32], line[LINE_BYTES];
  snprintf(path, sizeof path, "/proc/%d/maps", task->pid);
  FILE *maps = fopen(path, "re");
  int is_line_start = 1;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long start, end;
    int is_begun = is_line_start;
    is_line_start = strchr(line, '\n') != NULL;
    if (!is_begun || sscanf(line, "%lx-%lx", &start, &end) != 2 || !has_missing(task, start, end)) continue;
    struct uffdio_register range = {.range = {start, end - start},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP};
    if (ioctl(task->uffd, UFFDIO_REGISTER, &range) == 0) task->is_followed = 1;
  }
  if (maps != NULL) fclose(maps);
}

int is_in_place(const struct image *image, uint64_t start, uint64_t end, uint64_t offset) {
  if (start >= end) return 1;
  const struct range *found = find_range(&image->ranges, start);
  return found != NULL && end <= found->end && found->offset + (start - found->start) == offset;
}

void note_moved(struct task *task, uint64_t start, uint64_t length) {
  for (int tries = 0; task->is_followed && tries < TRIES_MAX; tries++) {
    struct uffdio_writeprotect range = {.range = {start, length}};
    if (ioctl(task->uffd, UFFDIO_WRITEPROTECT, &range) == 0) return;
    /* What was moved to a mapping that is not followed has no protection. */
    if (errno == ENOENT) return;
    if (errno != EAGAIN && errno != EINTR) break;
    usleep(TRY_PAUSE_US);
  }
  task->is_followed = 0;
}
