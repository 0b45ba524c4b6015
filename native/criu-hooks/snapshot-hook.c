/*
 * CRIU's action script: in post-dump, while the tasks are frozen, makes a read-only btrfs snapshot
 * of $WAYPOINT_SNAPSHOT_SOURCE at the path $WAYPOINT_SNAPSHOT_TARGET. A static program, because CRIU
 * starts it for every action and a shell would cost a millisecond of pause each time.
 *
 * A child makes the snapshot, and the tasks need not wait for its end: what the snapshot holds is
 * settled early, and most of the time goes into writing it to the disk. docs/notes/btrfs has why.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fail(const char *step) {
  const char *reason = strerror(errno);
  const char *const parts[] = {step, ": ", reason, "\n"};
  for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0) break;
  }
  return 1;
}

/*
 * Whether the tree of the filesystem, which is ahead of the disk, has an entry of that name. The
 * kernel adds it after it has copied the root of the subvolume, in the part of the commit during
 * which nobody else can change the trees. An ordinary look-up would wait for the directory's lock,
 * which the child holds until the end.
 */
static bool has_entry(int directory_fd, ino_t directory, const char *name) {
  struct btrfs_ioctl_search_args search = {.key = {
      .min_objectid = directory, .max_objectid = directory,
      .min_type = BTRFS_DIR_ITEM_KEY, .max_type = BTRFS_DIR_ITEM_KEY,
      .max_offset = UINT64_MAX, .max_transid = UINT64_MAX, .nr_items = UINT32_MAX,
  }};
  if (ioctl(directory_fd, BTRFS_IOC_TREE_SEARCH, &search) < 0) return false;
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

/* Returns when what the snapshot holds is settled, or with the status of a child that has ended. */
static int await_settled(pid_t child, int directory_fd, ino_t directory, const char *name) {
  // A whole snapshot takes 1 to 3 ms where the disk is fast; nothing tells the moment.
  const struct timespec pause = {0, 30000};
  for (;;) {
    int status;
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    if (ended < 0 && errno != EINTR) return fail("wait for the snapshot");
    if (has_entry(directory_fd, directory, name)) return 0;
    nanosleep(&pause, NULL);
  }
}

int main(void) {
  const char *action = getenv("CRTOOLS_SCRIPT_ACTION");
  if (action == NULL || strcmp(action, "post-dump") != 0) return 0;
  const char *source = getenv("WAYPOINT_SNAPSHOT_SOURCE");
  const char *target = getenv("WAYPOINT_SNAPSHOT_TARGET");
  /* A dump that only has memory protected keeps no files. */
  if (source == NULL && target == NULL) return 0;
  const char *slash = target == NULL ? NULL : strrchr(target, '/');
  errno = EINVAL;
  if (source == NULL || slash == NULL || slash == target || slash[1] == 0) return fail("read the environment");

  struct btrfs_ioctl_vol_args_v2 arguments = {.flags = BTRFS_SUBVOL_RDONLY};
  char parent[PATH_MAX];
  errno = ENAMETOOLONG;
  if ((size_t)(slash - target) >= sizeof parent || strlen(slash + 1) >= sizeof arguments.name) {
    return fail("read WAYPOINT_SNAPSHOT_TARGET");
  }
  memcpy(parent, target, (size_t)(slash - target));
  parent[slash - target] = 0;
  memcpy(arguments.name, slash + 1, strlen(slash + 1));

  int parent_fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (parent_fd < 0) return fail("open the parent of WAYPOINT_SNAPSHOT_TARGET");
  struct stat directory;
  if (fstat(parent_fd, &directory) < 0) return fail("read the parent of WAYPOINT_SNAPSHOT_TARGET");
  errno = EEXIST;
  if (has_entry(parent_fd, directory.st_ino, slash + 1)) return fail("make the snapshot");
  arguments.fd = open(source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (arguments.fd < 0) return fail("open WAYPOINT_SNAPSHOT_SOURCE");

  pid_t child = fork();
  if (child < 0) return fail("start the snapshot");
  if (child == 0) {
    if (ioctl(parent_fd, BTRFS_IOC_SNAP_CREATE_V2, &arguments) < 0) return fail("make the snapshot");
    return 0;
  }
  return await_settled(child, parent_fd, directory.st_ino, slash + 1);
}
