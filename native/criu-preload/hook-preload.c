/*
 * Preloaded into CRIU: does what its action scripts do, without a program for each action.
 *
 * For each action, and each of its scripts, CRIU makes a copy of itself, which starts the script: three in the pause of
 * a dump, seven in a restore. A script has something to do in one of them, of which $WAYPOINT_HOOK_ACTIONS names all.
 * In the others the copy ends at once, and shares CRIU's memory until then. In "post-dump" the snapshot is made here, by
 * a process that shares it, too, and in "post-restore" the daemon is asked here; any other one is the script's.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../criu-hooks/resume.h"
#include "../criu-hooks/snapshot.h"

#define STACK_BYTES (64 * 1024)

typedef pid_t fork_t(void);

static struct snapshot snapshot;
static _Alignas(16) char stack[STACK_BYTES];

/* Tells whether a word is in a list of them with spaces between. */
static int has_word(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *at = list; (at = strstr(at, word)) != NULL; at += length) {
    if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return 1;
  }
  return 0;
}

/* A child that has ended with this status by the time anybody sees it; CRIU takes it for its script. */
static pid_t start_ended(int status) {
  pid_t child = vfork();
  if (child == 0) _exit(status);
  return child;
}

static void close_between(int first, int last) {
  if (first <= last) (void)syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0);
}

/*
 * In a process that has CRIU's memory and may outlive it: what CRIU has open, and others wait for the end of, does
 * not stay open.
 */
static int make(void *unused) {
  (void)unused;
  int source_fd = (int)snapshot.arguments.fd, parent_fd = snapshot.parent_fd;
  int lower = source_fd < parent_fd ? source_fd : parent_fd;
  int upper = source_fd < parent_fd ? parent_fd : source_fd;
  close_between(0, lower - 1);
  close_between(lower + 1, upper - 1);
  close_between(upper + 1, INT_MAX);
  _exit(make_snapshot(&snapshot) < 0);
}

/* Returns 0 when what the snapshot holds is settled, or there is none to make. */
static int take_snapshot(void) {
  const char *failed = open_snapshot(&snapshot);
  if (failed != NULL && failed[0] == 0) return 0;
  int result = -1;
  if (failed == NULL) {
    // No signal tells of its end, and no wait for any child finds it: CRIU does not know of it.
    pid_t child = clone(make, stack + sizeof stack, CLONE_VM, NULL);
    if (child > 0) result = await_settled(&snapshot, child);
  }
  close_snapshot(&snapshot);
  return result;
}

/* For each script of a restore: nobody would answer twice. */
static int ask_once(void) {
  static int result = -1;
  if (result < 0) result = await_leave();
  return result;
}

pid_t fork(void) {
  static fork_t *next;
  if (next == NULL) next = (fork_t *)dlsym(RTLD_NEXT, "fork");
  const char *action = getenv("CRTOOLS_SCRIPT_ACTION"), *actions = getenv("WAYPOINT_HOOK_ACTIONS");
  if (action == NULL || actions == NULL) return next();
  pid_t child;
  if (!has_word(actions, action)) child = start_ended(0);
  // The script begins anew where that fails, and says why.
  else if (strcmp(action, "post-dump") == 0) child = take_snapshot() == 0 ? start_ended(0) : -1;
  else if (strcmp(action, "post-restore") == 0) child = start_ended(ask_once());
  else child = -1;
  return child < 0 ? next() : child;
}
