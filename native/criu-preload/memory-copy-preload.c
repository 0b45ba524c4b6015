/*
 * Preloaded into CRIU for a dump, in tests: copies all memory of a process a second time, while it stands.
 *
 * $WAYPOINT_SECOND_COPY/PID.copy has, for each row of pages that the process has of its own, the address
 * and the length in 64 bits each, and the bytes. The old file /proc/PID/pagemap tells which pages these
 * are, so that what is compared shares nothing with how the images came about.
 *
 * The kernel alone writes while the processes stand: to a thread's area for restartable sequences, each
 * time it comes back to itself on another processor, as CRIU lets it do. The file "areas" has their
 * addresses; nobody reads what they held before a restore.
 *
 * Memory that a program has marked as free (MADV_FREE) the kernel may take meanwhile. The file "taken" has how many
 * pages it has taken, on the whole machine: of so many the images may have what the copies have not.
 */
#define _GNU_SOURCE
#include "memory-preload.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE_BYTES 4096ull
#define IS_PRESENT (1ull << 63)
#define IS_SWAPPED (1ull << 62)
#define IS_OF_FILE (1ull << 61)
#define WINDOW_PAGES 512

/* Returns the last number of a line of a file in /proc, or 0. */
static unsigned long long number_of(const char *path, const char *name, char before) {
  char line[256];
  unsigned long long value = 0;
  bool is_found = false;
  FILE *lines = fopen(path, "re");
  while (lines != NULL && !is_found && fgets(line, sizeof line, lines) != NULL) {
    is_found = strncmp(line, name, strlen(name)) == 0;
    if (is_found) value = strtoull(strrchr(line, before), NULL, 10);
  }
  if (lines != NULL) fclose(lines);
  return value;
}

static unsigned long long status_of(int pid, const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  return number_of(path, name, '\t');
}

/* How many pages the kernel had taken of those marked as free, when the first page was asked for. */
static unsigned long long taken_before;
static bool is_begun;

static unsigned long long count_taken(void) { return number_of("/proc/vmstat", "pglazyfreed ", ' '); }

void begin_copying(void) {
  if (is_begun || getenv("WAYPOINT_SECOND_COPY") == NULL) return;
  is_begun = true;
  taken_before = count_taken();
}

static void note_taken(const char *directory) {
  char path[512];
  unsigned long long count = count_taken() - taken_before;
  snprintf(path, sizeof path, "%s/taken", directory);
  FILE *taken = count == 0 ? NULL : fopen(path, "we");
  if (taken == NULL) return;
  fprintf(taken, "%llu\n", count);
  fclose(taken);
}

int number_inside(int pid) { return (int)status_of(pid, "NSpid:"); }

unsigned long long own_bytes(int pid) {
  return (status_of(pid, "RssAnon:") + status_of(pid, "VmSwap:")) * 1024;
}

void note_processor_area(unsigned long long address) {
  const char *directory = getenv("WAYPOINT_SECOND_COPY");
  if (directory == NULL) return;
  char path[512];
  snprintf(path, sizeof path, "%s/areas", directory);
  FILE *areas = fopen(path, "ae");
  if (areas == NULL) return;
  fprintf(areas, "%llx\n", address);
  fclose(areas);
}

static void fail_loudly(int pid, unsigned long long address) {
  dprintf(STDERR_FILENO, "no second copy of process %d at %llx\n", pid, address);
  _exit(1);
}

/* How many pages from a place on are the process's own, or for all that is taken, the window's. */
static uint64_t own_run(const uint64_t *marks, uint64_t from, uint64_t count, bool takes_all) {
  uint64_t at = from;
  for (; at < count; at++) {
    bool is_own = (marks[at] & (IS_PRESENT | IS_SWAPPED)) && !(marks[at] & IS_OF_FILE);
    if ((!is_own || is_mark(marks[at])) && !takes_all) break;
  }
  return at - from;
}

/* Copies the pages of a window that are the process's own: a row of them with one call, a page alone where that fails. */
static void copy_window(FILE *copy, int pid, int memory, int pagemap, uint64_t start, uint64_t end,
                        bool takes_all) {
  static char bytes[WINDOW_PAGES * PAGE_BYTES];
  uint64_t marks[WINDOW_PAGES], count = (end - start) / PAGE_BYTES;
  size_t length = count * sizeof *marks;
  if (pread(pagemap, marks, length, (off_t)(start / PAGE_BYTES * sizeof *marks)) != (ssize_t)length)
    fail_loudly(pid, start);
  for (uint64_t i = 0, run; i < count; i += run) {
    run = own_run(marks, i, count, takes_all);
    if (run == 0) {
      run = 1;
      continue;
    }
    uint64_t head[2] = {start + i * PAGE_BYTES, run * PAGE_BYTES};
    if (pread(memory, bytes, head[1], (off_t)head[0]) != (ssize_t)head[1]) {
      run = 1;
      head[1] = PAGE_BYTES;
      /* A guard page looks as if it were swapped out. */
      if (pread(memory, bytes, PAGE_BYTES, (off_t)head[0]) != PAGE_BYTES) {
        if (marks[i] & IS_PRESENT) fail_loudly(pid, head[0]);
        continue;
      }
    }
    fwrite(head, sizeof head, 1, copy);
    fwrite(bytes, head[1], 1, copy);
  }
}

void copy_again(int pid) {
  const char *directory = getenv("WAYPOINT_SECOND_COPY");
  if (directory == NULL) return;
  char path[512], line[1024], rights[8];
  snprintf(path, sizeof path, "%s/%d.copy", directory, number_inside(pid));
  FILE *copy = fopen(path, "we");
  snprintf(path, sizeof path, "/proc/%d/mem", pid);
  int memory = open(path, O_RDONLY | O_CLOEXEC);
  snprintf(path, sizeof path, "/proc/%d/pagemap", pid);
  int pagemap = open(path, O_RDONLY | O_CLOEXEC);
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  FILE *maps = fopen(path, "re");
  if (copy == NULL || memory < 0 || pagemap < 0 || maps == NULL) fail_loudly(pid, 0);
  while (fgets(line, sizeof line, maps) != NULL) {
    uint64_t start, end;
    bool is_kernels = strstr(line, "[vvar") != NULL || strstr(line, "[vsyscall]") != NULL;
    /* Shared with the kernel alone: CRIU takes it for the process's own. */
    bool is_ring = strstr(line, "/[aio]") != NULL;
    if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) != 3 || is_kernels) continue;
    if (rights[3] != 'p' && !is_ring) continue;
    /* CRIU takes all of that, to find it again elsewhere. */
    bool takes_all = is_ring || strstr(line, "[vdso]") != NULL;
    for (; start < end; start += WINDOW_PAGES * PAGE_BYTES) {
      uint64_t until = start + WINDOW_PAGES * PAGE_BYTES;
      copy_window(copy, pid, memory, pagemap, start, until < end ? until : end, takes_all);
    }
  }
  if (fclose(copy) != 0) fail_loudly(pid, 0);
  fclose(maps);
  close(memory);
  close(pagemap);
  note_taken(directory);
}
