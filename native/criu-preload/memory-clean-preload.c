/* The list of clean pages, $WAYPOINT_CLEAN_PAGES, and of those that were taken: what CRIU is not shown, and does not copy. */
#define _GNU_SOURCE
#include "memory-preload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not a FILE: CRIU forks meanwhile, and a child that ends would write out what is buffered once more. */
static struct {
  int fd;
  bool is_open, is_broken;
  size_t length;
  char text[64 * 1024];
} clean_list;

static void write_out(void) {
  for (size_t done = 0; done < clean_list.length && !clean_list.is_broken;) {
    ssize_t part = write(clean_list.fd, clean_list.text + done, clean_list.length - done);
    if (part > 0) done += (size_t)part;
    else if (part == 0 || errno != EINTR) clean_list.is_broken = true;
  }
  clean_list.length = 0;
}

static void add_line(const char *line) {
  size_t length = strlen(line);
  if (clean_list.length + length > sizeof clean_list.text) write_out();
  memcpy(clean_list.text + clean_list.length, line, length);
  clean_list.length += length;
}

static bool open_clean_list(void) {
  if (!clean_list.is_open) {
    const char *path = getenv("WAYPOINT_CLEAN_PAGES");
    clean_list.fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    clean_list.is_open = clean_list.fd >= 0;
  }
  return clean_list.is_open && !clean_list.is_broken;
}

void note_unfilled(void) {
  static bool is_noted;
  if (is_noted || getenv("WAYPOINT_UNFILLED") == NULL) return;
  is_noted = true;
  /* A list that is not whole has no last line: then nobody takes the dump for one. */
  if (open_clean_list() && read_unfilled(add_line) < 0) clean_list.is_broken = true;
}

int note_clean(int inside, const struct page_region *region) {
  char line[64];
  if (!open_clean_list()) return false;
  snprintf(line, sizeof line, "%d %llx %llx\n", inside, (unsigned long long)region->start,
           (unsigned long long)region->end);
  add_line(line);
  return true;
}

int list_taken(int inside, const struct page_region *region, uint64_t place) {
  char line[96];
  if (!open_clean_list()) return false;
  snprintf(line, sizeof line, "%d %llx %llx %llx\n", inside, (unsigned long long)region->start,
           (unsigned long long)region->end, (unsigned long long)place);
  add_line(line);
  return true;
}

void close_clean_list(void) {
  bool is_whole = close_taken();
  if (!clean_list.is_open) return;
  if (is_whole) add_line("end\n");
  write_out();
  syscall(SYS_close, clean_list.fd);
  clean_list.is_open = false;
}
