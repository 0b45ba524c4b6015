/*
 * Puts the complete images of a checkpoint together from what was written since another one.
 *
 *     image-assemble TARGET WRITTEN CLEAN TAKEN REFERENCE [CHANGED]
 *     image-assemble ahead TARGET PID...
 *     image-assemble compare IMAGES COPIES
 *
 * WRITTEN has CRIU's images, in which the pages are missing that the list CLEAN names; these come
 * from REFERENCE, complete images of an earlier checkpoint, or from TAKEN, a file that has what CRIU's
 * preload has copied itself. TARGET, an empty directory or a snapshot of
 * REFERENCE, gets all files; pages of the reference stay where they are in a snapshot, which costs nothing, else
 * they share its blocks where the filesystem can, and are copied where it cannot. With TARGET being WRITTEN
 * itself, its files are replaced. CHANGED, a new file, gets what has other bytes than the reference's image of
 * the same name, "pages-1.img START END" (../image-sums/changed.h). The result needs nothing of the others.
 *
 * Exits with 125 where a page is clean that the reference does not have: nothing is to be made of it.
 * `ahead` copies the protected memory of processes into images, while they run: a reference for a dump.
 * `compare` compares images with the second copy that tests have CRIU's preload make, page by page.
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
#include <sys/stat.h>
#include <unistd.h>

#include "assemble.h"

#define EXIT_REFUSED 125
/* Somebody waits for a checkpoint: what little was written reaches the disk behind its answer. */
#define UNWRITTEN_BYTES_MAX (64ull << 20)

static struct {
  int target, written, reference;
  bool in_place;
} dirs = {-1, -1, -1, false};

static uint64_t clean_bytes, written_bytes, shared_bytes, taken_bytes;
/* -1 where nothing was taken. */
static int taken_fd = -1;

_Noreturn void fail(const char *step, const char *name) {
  int code = errno;
  dprintf(STDERR_FILENO, "%s %s: %s\n", step, name, strerror(code));
  _exit(code > 0 && code < EXIT_REFUSED ? code : 1);
}

_Noreturn void refuse(const char *why, const char *name) {
  dprintf(STDERR_FILENO, "%s: %s\n", name, why);
  _exit(EXIT_REFUSED);
}

static void remove_from_target(const char *name) {
  if (unlinkat(dirs.target, name, 0) < 0 && errno != ENOENT) fail("remove", name);
}

/* Copies a file that is complete as it is. */
static void copy_file(const char *name) {
  struct stat stat;
  struct job job = {.reference_fd = -1};
  job.source_fd = openat(dirs.written, name, O_RDONLY | O_CLOEXEC);
  if (job.source_fd < 0 || fstat(job.source_fd, &stat) < 0) fail("open", name);
  job.target_fd = openat(dirs.target, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (job.target_fd < 0) fail("create", name);
  copy_bytes(&job, job.source_fd, 0, (uint64_t)stat.st_size, 0, name);
  close(job.source_fd);
  if (close(job.target_fd) < 0) fail("close", name);
}

/* Opens the file that pages are put together in: where it may, it begins as the reference's. */
static void open_target(struct job *job, const char *made, bool may_begin_as_reference) {
  if (!dirs.in_place) {
    job->target_fd = may_begin_as_reference ? openat(dirs.target, made, O_WRONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    job->begins_as_reference = job->target_fd >= 0;
    if (job->begins_as_reference) return;
    remove_from_target(made);
  }
  job->target_fd = openat(dirs.target, made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (job->target_fd < 0) fail("create", made);
}

static int open_in(int dir_fd, const char *name) {
  int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("open", name);
  return fd;
}

static void replace(const char *name) {
  char unfinished[NAME_MAX + 8];
  snprintf(unfinished, sizeof unfinished, "%s.new", name);
  if (renameat(dirs.target, unfinished, dirs.target, name) < 0) fail("replace", name);
}

static bool is_to_assemble(int pid) { return pid != 0 && (has_taken(pid) || has_clean(pid)); }

/* Makes the pagemap and the pages of a process that has clean pages, or taken ones. */
static void assemble(int pid, const char *name) {
  struct stretches clean = clean_of(pid);
  uint32_t written_id, reference_id;
  struct layout written, reference;
  if (!read_pagemap(dirs.written, name, &written_id, &written)) refuse("cannot be read", name);
  if (!read_pagemap(dirs.reference, name, &reference_id, &reference))
    refuse("clean pages of a process that the reference has not", name);
  struct mappings mappings = read_mappings(dirs.written, pid);
  taken_bytes += add_taken(pid, &written, &mappings);
  struct pieces pieces = merge(&written, &reference, &clean, &mappings, name);
  char pages[32], reference_pages[32], made[40], made_map[40];
  snprintf(pages, sizeof pages, "pages-%u.img", written_id);
  snprintf(reference_pages, sizeof reference_pages, "pages-%u.img", reference_id);
  snprintf(made, sizeof made, "%s%s", pages, dirs.in_place ? ".new" : "");
  snprintf(made_map, sizeof made_map, "%s%s", name, dirs.in_place ? ".new" : "");
  struct job job = {.source_fd = open_in(dirs.written, pages)};
  job.reference_fd = open_in(dirs.reference, reference_pages);
  open_target(&job, made, written_id == reference_id);
  shared_bytes += write_pages(&job, taken_fd, &pieces, pages);
  write_pagemap(dirs.target, made_map, written_id, &pieces);
  close(job.reference_fd);
  close(job.source_fd);
  if (close(job.target_fd) < 0) fail("close", made);
  if (dirs.in_place) {
    replace(pages);
    replace(name);
  }
  clean_bytes += pieces.clean_bytes;
  written_bytes += pieces.written_bytes;
  free(pieces.all);
  free(clean.all);
  free(mappings.all);
  free(written.runs);
  free(reference.runs);
}

/* Returns the process of "pagemap-PID.img", or 0. */
static int pid_of(const char *name) {
  int pid = 0, length = 0;
  return sscanf(name, "pagemap-%d.img%n", &pid, &length) == 1 && length > 0 && name[length] == 0 ? pid : 0;
}

/* The files of pages that are put together: they are not copied as they are. */
static bool *is_assembled;
static uint32_t assembled_count;

static void note_assembled(const char *name) {
  uint32_t id;
  struct layout layout;
  if (!read_pagemap(dirs.written, name, &id, &layout)) refuse("cannot be read", name);
  free(layout.runs);
  if (id > (1u << 20)) refuse("an unlikely number of pages images", name);
  if (id >= assembled_count) {
    is_assembled = realloc(is_assembled, (id + 1) * sizeof *is_assembled);
    if (is_assembled == NULL) fail("allocate", "a list");
    memset(is_assembled + assembled_count, 0, (id + 1 - assembled_count) * sizeof *is_assembled);
    assembled_count = id + 1;
  }
  is_assembled[id] = true;
}

static bool is_pages_of_assembled(const char *name) {
  unsigned id;
  int length = 0;
  bool is_pages = sscanf(name, "pages-%u.img%n", &id, &length) == 1 && length > 0 && name[length] == 0;
  return is_pages && id < assembled_count && is_assembled[id];
}

/* All names first: a file that comes while a directory is read may be told or not. */
static char **list_names(int dir_fd, size_t *count) {
  int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (dir == NULL) fail("open", "a directory");
  char **names = NULL;
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    struct stat stat;
    if (fstatat(dir_fd, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(stat.st_mode)) continue;
    names = grow(names, *count, sizeof *names);
    names[(*count)++] = strdup(entry->d_name);
  }
  closedir(dir);
  return names;
}

/* Leaves in a snapshot of the reference nothing but what pages are put together in. */
static void clear_target(void) {
  size_t count = 0;
  char **names = list_names(dirs.target, &count);
  for (size_t i = 0; i < count; i++) {
    if (!is_pages_of_assembled(names[i])) remove_from_target(names[i]);
  }
}

static void assemble_all(void) {
  size_t count = 0;
  char **names = list_names(dirs.written, &count);
  for (size_t i = 0; i < count; i++) {
    if (is_to_assemble(pid_of(names[i]))) note_assembled(names[i]);
  }
  if (!dirs.in_place) clear_target();
  for (size_t i = 0; i < count; i++) {
    int pid = pid_of(names[i]);
    if (is_to_assemble(pid)) assemble(pid, names[i]);
    else if (!dirs.in_place && !is_pages_of_assembled(names[i])) copy_file(names[i]);
  }
}

static int open_dir(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) fail("open", path);
  return fd;
}

int main(int argc, char **argv) {
  errno = EINVAL;
  /* What a daemon that died has begun, nobody waits for. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc == 4 && strcmp(argv[1], "compare") == 0) return compare_images(open_dir(argv[2]), argv[3]) > 0;
  if (argc > 3 && strcmp(argv[1], "ahead") == 0) {
    uint64_t copied_bytes = copy_ahead(open_dir(argv[2]), argv + 3, argc - 3);
    return printf("{\"copiedBytes\":%llu}\n", (unsigned long long)copied_bytes) < 0;
  }
  if (argc < 6 || argc > 7) fail("read", "the arguments");
  dirs.in_place = strcmp(argv[1], argv[2]) == 0;
  dirs.target = open_dir(argv[1]);
  dirs.written = open_dir(argv[2]);
  dirs.reference = open_dir(argv[5]);
  if (argc > 6) begin_changed(argv[6]);
  read_clean(argv[3]);
  taken_fd = open(argv[4], O_RDONLY | O_CLOEXEC);
  unwritten_bytes_max = UNWRITTEN_BYTES_MAX;
  assemble_all();
  require_all_taken();
  if (argc > 6) end_changed(argv[6]);
  printf("{\"cleanBytes\":%llu,\"writtenBytes\":%llu,\"takenBytes\":%llu,\"sharedBytes\":%llu}\n",
         (unsigned long long)clean_bytes, (unsigned long long)written_bytes, (unsigned long long)taken_bytes,
         (unsigned long long)shared_bytes);
  return fflush(stdout) == 0 ? 0 : 1;
}
