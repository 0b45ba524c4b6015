/*
 * Private mappings of files whose writes are followed. They hold pages of the file, too, which CRIU does not copy;
 * and where a page was given back that was protected, a mark, which looks as if a page was swapped out.
 */
#define _GNU_SOURCE
#include "memory-preload.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGE_BYTES 4096ull
#define FILES_MAX 64
#define WINDOW_PAGES 512

/* Of the process that was asked for last. */
static struct {
  uint64_t start, end;
  int is_writable;
} files[FILES_MAX];
static size_t file_count;

int learn_files(int tracker, int pid) {
  char request[32];
  snprintf(request, sizeof request, "files %d", pid);
  const char *line = ask_tracker(tracker, request, -1);
  file_count = 0;
  if (line == NULL) return 0;
  unsigned long start, end;
  char rights;
  for (; *line != 0; line = strchr(line, '\n') + 1) {
    if (file_count == FILES_MAX || strchr(line, '\n') == NULL) return 0;
    if (sscanf(line, "%lx %lx %c", &start, &end, &rights) != 3) return 0;
    files[file_count].start = start;
    files[file_count].end = end;
    files[file_count++].is_writable = rights == 'w';
  }
  return 1;
}

int touches_file(uint64_t start, uint64_t end, int is_writable) {
  for (size_t i = 0; i < file_count; i++) {
    if (files[i].start < end && start < files[i].end && files[i].is_writable >= is_writable) return 1;
  }
  return 0;
}

uint64_t marked_until(int pagemap, uint64_t start, uint64_t end, int *is_marked) {
  uint64_t entries[WINDOW_PAGES], at = start;
  *is_marked = 0;
  while (at < end) {
    uint64_t wanted = (end - at) / PAGE_BYTES;
    size_t length = (wanted < WINDOW_PAGES ? wanted : WINDOW_PAGES) * sizeof *entries;
    ssize_t part = pread(pagemap, entries, length, (off_t)(at / PAGE_BYTES * sizeof *entries));
    /* What cannot be read counts as pages. */
    if (part < (ssize_t)sizeof *entries) return *is_marked ? at : end;
    for (size_t i = 0; i < (size_t)part / sizeof *entries; i++, at += PAGE_BYTES) {
      if (at == start) *is_marked = is_mark(entries[i]);
      else if (is_mark(entries[i]) != *is_marked) return at;
    }
  }
  return end;
}

int holds_mark(int pagemap, const struct page_region *region) {
  int is_marked;
  uint64_t until = marked_until(pagemap, region->start, region->end, &is_marked);
  return is_marked || until < region->end;
}
