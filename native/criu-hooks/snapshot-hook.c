/*
 * CRIU's action script of a dump: in post-dump, while the tasks are frozen, makes the snapshot of snapshot.h. A
 * static program, because a shell would cost a millisecond of pause. As a rule CRIU's preload does all of this
 * without it (hook-preload.c), and this program says why where that fails.
 */
#define _GNU_SOURCE
#include "snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
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
  struct snapshot snapshot;
  const char *failed = open_snapshot(&snapshot);
  if (failed != NULL) return failed[0] == 0 ? 0 : fail(failed);

  pid_t child = fork();
  if (child < 0) return fail("start the snapshot");
  if (child == 0) return make_snapshot(&snapshot) < 0 ? fail("make the snapshot") : 0;
  int result = await_settled(&snapshot, child);
  return result < 0 ? fail("wait for the snapshot") : result;
}
