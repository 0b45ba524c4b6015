/*
 * share-tree TARGET REFERENCE
 *
 * Lets two trees on one btrfs have the content once where it is the same: files at the same place with
 * the same size and the same time of their last change. The kernel compares them byte for byte before
 * it shares anything. What cannot be shared stays as it is. Prints how many bytes are shared.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Smaller files lie within btrfs's own records, and cannot be shared. */
#define BLOCK 4096
/* As much as btrfs compares with one call. */
#define RANGE_MAX (16ULL << 20)
/* Three descriptors for each level are open. */
#define DEPTH_MAX 200

static uint64_t shared_bytes;

/* A hole equals zeros that are written elsewhere, and would have their blocks. */
static bool has_holes(const struct stat *file) {
  return (uint64_t)file->st_blocks * 512 < (uint64_t)file->st_size;
}

static bool is_like(const struct stat *one, const struct stat *other) {
  return one->st_size == other->st_size && one->st_mtim.tv_sec == other->st_mtim.tv_sec &&
         one->st_mtim.tv_nsec == other->st_mtim.tv_nsec;
}

static void share_file(int target_fd, int reference_fd, uint64_t size) {
  struct {
    struct file_dedupe_range range;
    struct file_dedupe_range_info info;
  } request;
  for (uint64_t at = 0; at < size; at += RANGE_MAX) {
    memset(&request, 0, sizeof request);
    request.range.src_offset = at;
    request.range.src_length = size - at < RANGE_MAX ? size - at : RANGE_MAX;
    request.range.dest_count = 1;
    request.info.dest_fd = target_fd;
    request.info.dest_offset = at;
    if (ioctl(reference_fd, FIDEDUPERANGE, &request.range) < 0) return;
    if (request.info.status != FILE_DEDUPE_RANGE_SAME) return;
    shared_bytes += request.info.bytes_deduped;
  }
}

static void share_tree(int target_dir, int reference_dir, int depth);

static void share_entry(int target_dir, int reference_dir, const char *name, int depth) {
  struct stat target, reference;
  if (fstatat(target_dir, name, &target, AT_SYMLINK_NOFOLLOW) < 0) return;
  if (fstatat(reference_dir, name, &reference, AT_SYMLINK_NOFOLLOW) < 0) return;
  if ((target.st_mode & S_IFMT) != (reference.st_mode & S_IFMT)) return;
  bool is_directory = S_ISDIR(target.st_mode);
  if (!is_directory && !S_ISREG(target.st_mode)) return;
  bool is_worth = is_directory || (target.st_size >= BLOCK && !has_holes(&target));
  if (!is_worth || (!is_directory && !is_like(&target, &reference))) return;
  int kind = is_directory ? O_DIRECTORY : 0;
  int target_fd = openat(target_dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind);
  int reference_fd = openat(reference_dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind);
  if (target_fd >= 0 && reference_fd >= 0) {
    if (is_directory) share_tree(target_fd, reference_fd, depth + 1);
    else share_file(target_fd, reference_fd, (uint64_t)target.st_size);
  }
  if (target_fd >= 0) close(target_fd);
  if (reference_fd >= 0) close(reference_fd);
}

/* Goes through a directory that the caller closes. */
static void share_tree(int target_dir, int reference_dir, int depth) {
  if (depth > DEPTH_MAX) return;
  int listed_fd = openat(target_dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (listed_fd < 0) return;
  DIR *listed = fdopendir(listed_fd);
  if (listed == NULL) {
    close(listed_fd);
    return;
  }
  for (struct dirent *entry; (entry = readdir(listed)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    share_entry(target_dir, reference_dir, entry->d_name, depth);
  }
  closedir(listed);
}

static int open_tree(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) return fd;
  fprintf(stderr, "cannot open %s: %s\n", path, strerror(errno));
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: share-tree TARGET REFERENCE\n");
    return 2;
  }
  share_tree(open_tree(argv[1]), open_tree(argv[2]), 0);
  printf("%" PRIu64 "\n", shared_bytes);
  return 0;
}
