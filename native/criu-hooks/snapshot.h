/*
 * A read-only btrfs snapshot of $WAYPOINT_SNAPSHOT_SOURCE at the path $WAYPOINT_SNAPSHOT_TARGET, made while a
 * session stands still.
 *
 * A process of its own makes it, and the session need not wait for its end: what the snapshot holds is settled
 * early, and most of the time goes into writing it to the disk. docs/notes/btrfs has why.
 */
#ifndef WAYPOINT_SNAPSHOT_H
#define WAYPOINT_SNAPSHOT_H

#include <linux/btrfs.h>
#include <sys/types.h>

struct snapshot {
  struct btrfs_ioctl_vol_args_v2 arguments;
  int parent_fd;
  ino_t parent;
};

/*
 * Reads the environment and opens what it names. Returns NULL, or the step that failed, with errno; "" where
 * the environment names neither: a dump that only has memory protected keeps no files.
 */
const char *open_snapshot(struct snapshot *snapshot);

void close_snapshot(struct snapshot *snapshot);

/* Makes it, and returns when it is on the disk: 0, or -1 with errno. */
int make_snapshot(const struct snapshot *snapshot);

/*
 * Returns 0 when what the snapshot holds is settled, else the status with which `child`, which makes it, has
 * ended without; -1 with errno where it cannot be waited for.
 */
int await_settled(const struct snapshot *snapshot, pid_t child);

#endif
