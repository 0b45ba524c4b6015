/*
 * Brings a checkpoint's process images to the store, and shares there what equals another one's.
 *
 *     image-copy TARGET SOURCE [REFERENCE [READING]]
 *
 * Copies every file of SOURCE into TARGET, an empty directory. Pages that equal those of REFERENCE,
 * a directory of the same filesystem, share its blocks: the result is as complete as a copy and
 * needs nothing of REFERENCE. READING holds the same files as REFERENCE, where they are read faster.
 * With TARGET being SOURCE itself, its files give up the blocks that REFERENCE has too.
 *
 * Only equal bytes are shared; what cannot be compared is copied. Prints what became of the bytes.
 * A program of its own, so that the daemon does not wait, and below everything else that runs.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image-copy.h"

#define NICENESS 19
#define MAPS_MAX 65536

/* The pagemap of one pages image, and the one that it is compared with. */
struct map {
  char name[NAME_MAX + 1];
  uint32_t pages_id;
  struct layout layout;
  bool is_matched;
};

struct maps {
  struct map *all;
  size_t count;
};

static struct {
  int source, target, reference, reading;
  bool in_place;
  struct maps source_maps, reference_maps;
} dirs = {-1, -1, -1, -1, false, {0}, {0}};

_Noreturn void fail(const char *step, const char *name) {
  int code = errno;
  dprintf(STDERR_FILENO, "%s %s: %s\n", step, name, strerror(code));
  _exit(code > 0 && code < 126 ? code : 1);
}

static int by_name(const void *left, const void *right) {
  return strcmp(((const struct map *)left)->name, ((const struct map *)right)->name);
}

/* Calls `visit` for each file of a directory. */
static void each_file(int dir_fd, void (*visit)(const char *name, void *data), void *data) {
  int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (dir == NULL) fail("open", "a directory");
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    struct stat stat;
    if (fstatat(dir_fd, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(stat.st_mode)) {
      visit(entry->d_name, data);
    }
  }
  closedir(dir);
}

static void add_map(const char *name, void *data) {
  struct maps *maps = data;
  if (strncmp(name, "pagemap-", 8) != 0 || maps->count == MAPS_MAX) return;
  struct map *map = &maps->all[maps->count];
  int dir_fd = maps == &dirs.source_maps ? dirs.source : dirs.reference;
  if (!read_pagemap(dir_fd, name, &map->pages_id, &map->layout)) return;
  strcpy(map->name, name);
  maps->count++;
}

static void read_maps(int dir_fd, struct maps *maps) {
  maps->all = calloc(MAPS_MAX, sizeof *maps->all);
  if (maps->all == NULL) fail("allocate", "the pagemaps");
  each_file(dir_fd, add_map, maps);
  qsort(maps->all, maps->count, sizeof *maps->all, by_name);
}

static struct map *map_of_pages(const char *name) {
  unsigned id;
  int end = 0;
  if (sscanf(name, "pages-%u.img%n", &id, &end) != 1 || end == 0 || name[end] != 0) return NULL;
  for (size_t index = 0; index < dirs.source_maps.count; index++) {
    if (dirs.source_maps.all[index].pages_id == id) return &dirs.source_maps.all[index];
  }
  return NULL;
}

static bool is_shared_memory(const struct map *map) { return strncmp(map->name, "pagemap-shmem-", 14) == 0; }

/*
 * The same process has the same name in both. Shared memory is named by an inode, which a restore
 * changes: what has no namesake is paired in order, and a wrong pair costs nothing but the reading.
 */
static void match_maps(void) {
  struct maps *ours = &dirs.source_maps, *theirs = &dirs.reference_maps;
  for (size_t index = 0; index < ours->count; index++) {
    struct map *same = bsearch(&ours->all[index], theirs->all, theirs->count, sizeof *theirs->all, by_name);
    if (same != NULL) ours->all[index].is_matched = same->is_matched = true;
  }
}

static struct map *partner_of(const struct map *map) {
  struct maps *theirs = &dirs.reference_maps;
  if (map->is_matched) return bsearch(map, theirs->all, theirs->count, sizeof *theirs->all, by_name);
  if (!is_shared_memory(map)) return NULL;
  size_t before = 0;
  for (const struct map *each = dirs.source_maps.all; each < map; each++) {
    if (is_shared_memory(each) && !each->is_matched) before++;
  }
  for (size_t index = 0; index < theirs->count; index++) {
    struct map *other = &theirs->all[index];
    if (is_shared_memory(other) && !other->is_matched && before-- == 0) return other;
  }
  return NULL;
}

static uint64_t size_of(const struct layout *layout) {
  if (layout->count == 0) return 0;
  const struct run *last = &layout->runs[layout->count - 1];
  return last->offset + last->pages * PAGE;
}

static void open_reference(struct job *job, const char *name, const struct layout *layout) {
  struct stat stat;
  job->reference_fd = openat(dirs.reference, name, O_RDONLY | O_CLOEXEC);
  if (job->reference_fd < 0 || fstat(job->reference_fd, &stat) < 0) return;
  job->reference = layout == NULL ? whole_file((uint64_t)stat.st_size) : *layout;
  job->reading_fd = dirs.reading < 0 ? -1 : openat(dirs.reading, name, O_RDONLY | O_CLOEXEC);
  if (job->reading_fd < 0) job->reading_fd = job->reference_fd;
}

/* Tells whether a file and its like in memory are two names of one file. */
static bool is_same_file(const struct stat *stat, const struct job *job) {
  struct stat other;
  return job->reading_fd >= 0 && job->reading_fd != job->reference_fd &&
         fstat(job->reading_fd, &other) == 0 && other.st_dev == stat->st_dev && other.st_ino == stat->st_ino;
}

static void copy_file(const char *name, void *data) {
  struct totals *totals = data;
  struct stat stat;
  struct job job = {.reference_fd = -1, .reading_fd = -1, .in_place = dirs.in_place};
  job.source_fd = openat(dirs.source, name, (dirs.in_place ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (job.source_fd < 0 || fstat(job.source_fd, &stat) < 0) fail("open", name);
  job.size = (uint64_t)stat.st_size;
  job.target_fd = dirs.in_place ? job.source_fd
                                : openat(dirs.target, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (job.target_fd < 0) fail("create", name);

  struct map *map = map_of_pages(name), *partner = map == NULL ? NULL : partner_of(map);
  bool is_mapped = map != NULL && size_of(&map->layout) == job.size;
  job.layout = is_mapped ? map->layout : whole_file(job.size);
  char partner_pages[32];
  if (partner != NULL) snprintf(partner_pages, sizeof partner_pages, "pages-%u.img", partner->pages_id);
  if (dirs.reference >= 0 && is_mapped && partner != NULL) open_reference(&job, partner_pages, &partner->layout);
  if (dirs.reference >= 0 && map == NULL) open_reference(&job, name, NULL);

  if (!dirs.in_place && is_same_file(&stat, &job) && clone_file(job.reference_fd, job.target_fd)) {
    totals->shared += job.size;
  } else {
    /* Holes at its end are not written. */
    if (!dirs.in_place && ftruncate(job.target_fd, stat.st_size) < 0) fail("size", name);
    carry(&job, name, totals);
  }
  if (job.reading_fd >= 0 && job.reading_fd != job.reference_fd) close(job.reading_fd);
  if (job.reference_fd >= 0) close(job.reference_fd);
  if (!dirs.in_place && close(job.target_fd) < 0) fail("close", name);
  close(job.source_fd);
}

static int open_dir(const char *path) { return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

int main(int argc, char **argv) {
  errno = EINVAL;
  if (argc < 3 || argc > 5) fail("read", "the arguments");
  /* What a daemon that died has begun, the next one begins again. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpriority(PRIO_PROCESS, 0, NICENESS);
  dirs.in_place = strcmp(argv[1], argv[2]) == 0;
  dirs.target = open_dir(argv[1]);
  dirs.source = open_dir(argv[2]);
  if (dirs.target < 0 || dirs.source < 0) fail("open", argv[dirs.target < 0 ? 1 : 2]);
  /* A reference that has gone meanwhile saves nothing, and is no reason to fail. */
  if (argc > 3) dirs.reference = open_dir(argv[3]);
  if (argc > 4 && dirs.reference >= 0) dirs.reading = open_dir(argv[4]);
  read_maps(dirs.source, &dirs.source_maps);
  if (dirs.reference >= 0) read_maps(dirs.reference, &dirs.reference_maps);
  match_maps();

  struct totals totals = {0};
  each_file(dirs.source, copy_file, &totals);
  printf("{\"sharedBytes\":%llu,\"writtenBytes\":%llu,\"holeBytes\":%llu}\n", (unsigned long long)totals.shared,
         (unsigned long long)totals.written, (unsigned long long)totals.holes);
  return fflush(stdout) == 0 ? 0 : 1;
}
