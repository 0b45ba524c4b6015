/*
 * CRIU's action script: in post-dump, while the tasks are frozen, makes a read-only btrfs snapshot
 * of $WAYPOINT_SNAPSHOT_SOURCE at the path $WAYPOINT_SNAPSHOT_TARGET. A static program, because CRIU
 * starts it for every action and a shell would cost a millisecond of pause each time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int fail(const char *step) {
  const char *reason = strerror(errno);
  const char *const parts[] = {step, ": ", reason, "\n"};
  for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0) break;
  }
  return 1;
}

int main(void) {
  const char *action = getenv("CRTOOLS_SCRIPT_ACTION");
  if (action == NULL || strcmp(action, "post-dump") != 0) return 0;
  const char *source = getenv("WAYPOINT_SNAPSHOT_SOURCE");
  const char *target = getenv("WAYPOINT_SNAPSHOT_TARGET");
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
  arguments.fd = open(source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (arguments.fd < 0) return fail("open WAYPOINT_SNAPSHOT_SOURCE");
  if (ioctl(parent_fd, BTRFS_IOC_SNAP_CREATE_V2, &arguments) < 0) return fail("make the snapshot");
  return 0;
}
