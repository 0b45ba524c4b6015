#define _GNU_SOURCE
#include "snapshot.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/btrfs_tree.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A whole snapshot takes 1 to 3 ms where the disk is fast; nothing tells the moment. */
#define LOOK_INTERVAL_NS 30000

/*
 * Whether the tree of the filesystem, which is ahead of the disk, has an entry of that name. The
 * kernel adds it after it has copied the root of the subvolume, in the part of the commit during
 * which nobody else can change the trees. An ordinary look-up would wait for the directory's lock,
 * which whoever makes the snapshot holds until the end.
 */
static bool has_entry(const struct snapshot *snapshot) {
  const char *name = snapshot->arguments.name;
  struct btrfs_ioctl_search_args search = {.key = {
      .min_objectid = snapshot->parent, .max_objectid = snapshot->parent,
      .min_type = BTRFS_DIR_ITEM_KEY, .max_type = BTRFS_DIR_ITEM_KEY,
      .max_offset = UINT64_MAX, .max_transid = UINT64_MAX, .nr_items = UINT32_MAX,
  }};
  if (ioctl(snapshot->parent_fd, BTRFS_IOC_TREE_SEARCH, &search) < 0) return false;
  const char *at = search.buf;
  for (uint32_t i = 0; i < search.key.nr_items; i++) {
    struct btrfs_ioctl_search_header header;
    struct btrfs_dir_item entry;
    memcpy(&header, at, sizeof header);
    at += sizeof header;
    memcpy(&entry, at, sizeof entry);
    // One item has all the names of one hash; the names of checkpoints are a few different ones.
    if (le16toh(entry.name_len) == strlen(name) &&
        memcmp(at + sizeof entry, name, strlen(name)) == 0) return true;
    at += header.len;
  }
  return false;
}

const char *open_snapshot(struct snapshot *snapshot) {
  *snapshot = (struct snapshot){.arguments = {.fd = -1, .flags = BTRFS_SUBVOL_RDONLY}, .parent_fd = -1};
  const char *source = getenv("WAYPOINT_SNAPSHOT_SOURCE");
  const char *target = getenv("WAYPOINT_SNAPSHOT_TARGET");
  if (source == NULL && target == NULL) return "";
  const char *slash = target == NULL ? NULL : strrchr(target, '/');
  errno = EINVAL;
  if (source == NULL || slash == NULL || slash == target || slash[1] == 0) return "read the environment";

  char parent[PATH_MAX];
  errno = ENAMETOOLONG;
  if ((size_t)(slash - target) >= sizeof parent || strlen(slash + 1) >= sizeof snapshot->arguments.name) {
    return "read WAYPOINT_SNAPSHOT_TARGET";
  }
  memcpy(parent, target, (size_t)(slash - target));
  parent[slash - target] = 0;
  strcpy(snapshot->arguments.name, slash + 1);

  snapshot->parent_fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (snapshot->parent_fd < 0) return "open the parent of WAYPOINT_SNAPSHOT_TARGET";
  struct stat directory;
  if (fstat(snapshot->parent_fd, &directory) < 0) return "read the parent of WAYPOINT_SNAPSHOT_TARGET";
  snapshot->parent = directory.st_ino;
  errno = EEXIST;
  if (has_entry(snapshot)) return "make the snapshot";
  snapshot->arguments.fd = open(source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return snapshot->arguments.fd < 0 ? "open WAYPOINT_SNAPSHOT_SOURCE" : NULL;
}

void close_snapshot(struct snapshot *snapshot) {
  if (snapshot->parent_fd >= 0) close(snapshot->parent_fd);
  if (snapshot->arguments.fd >= 0) close((int)snapshot->arguments.fd);
}

int make_snapshot(const struct snapshot *snapshot) {
  return ioctl(snapshot->parent_fd, BTRFS_IOC_SNAP_CREATE_V2, &snapshot->arguments);
}

int await_settled(const struct snapshot *snapshot, pid_t child) {
  const struct timespec interval = {0, LOOK_INTERVAL_NS};
  for (;;) {
    int status;
    pid_t ended = waitpid(child, &status, WNOHANG | __WALL);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    if (ended < 0 && errno != EINTR) return -1;
    if (has_entry(snapshot)) return 0;
    nanosleep(&interval, NULL);
  }
}
