/*
 * CRIU's action script of a restore that is parked: in pre-resume, when every task is restored and
 * still held by CRIU, moves the tree below $CRTOOLS_INIT_PID into the frozen control group of
 * $WAYPOINT_PARK_FILE (its cgroup.procs). When CRIU lets go, the tasks stop in the freezer without
 * having run an instruction, and no signal tells anybody. CRIU only logs a failure here, so whoever
 * started it has to look whether all of the tree is in the group.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES_MAX 64

static int fail(const char *step) {
  dprintf(STDERR_FILENO, "%s: %s\n", step, strerror(errno));
  return 1;
}

static int park_tree(int group, long pid);

/** Parks the children of one thread. */
static int park_children(int group, long pid, const char *thread) {
  char path[PATH_BYTES_MAX + NAME_MAX];
  snprintf(path, sizeof path, "/proc/%ld/task/%s/children", pid, thread);
  FILE *children = fopen(path, "re");
  if (children == NULL) return fail("read the children");
  int result = 0;
  long child;
  while (result == 0 && fscanf(children, "%ld", &child) == 1) result = park_tree(group, child);
  fclose(children);
  return result;
}

/** Parks a process and all below it. They stand still, so the tree cannot change meanwhile. */
static int park_tree(int group, long pid) {
  char text[PATH_BYTES_MAX];
  int length = snprintf(text, sizeof text, "%ld", pid);
  // A zombie is in no group any more.
  if (write(group, text, (size_t)length) < 0 && errno != ESRCH) return fail("enter the group");
  snprintf(text, sizeof text, "/proc/%ld/task", pid);
  DIR *threads = opendir(text);
  if (threads == NULL) return fail("read the threads");
  int result = 0;
  for (struct dirent *entry; result == 0 && (entry = readdir(threads)) != NULL;) {
    if (entry->d_name[0] != '.') result = park_children(group, pid, entry->d_name);
  }
  closedir(threads);
  return result;
}

int main(void) {
  const char *action = getenv("CRTOOLS_SCRIPT_ACTION");
  if (action == NULL || strcmp(action, "pre-resume") != 0) return 0;
  const char *init = getenv("CRTOOLS_INIT_PID");
  const char *path = getenv("WAYPOINT_PARK_FILE");
  errno = EINVAL;
  if (init == NULL || path == NULL) return fail("read the environment");
  int group = open(path, O_WRONLY | O_CLOEXEC);
  if (group < 0) return fail("open the group");
  return park_tree(group, atol(init));
}
