/*
 * Mounts the tree of descriptor 3, which is mounted nowhere yet, on the directory of descriptor 5, in
 * the mount namespace of descriptor 4. A program of its own, because only a process with a single
 * thread can enter a mount namespace, and the store is not to be seen in the other one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_move_mount
#define SYS_move_mount 429
#endif

enum { TREE_FD = 3, NAMESPACE_FD = 4, DIRECTORY_FD = 5 };
enum { MOVE_FROM_FD = 0x04, MOVE_TO_FD = 0x40 };

static int fail(const char *step) {
  fprintf(stderr, "%s: %s\n", step, strerror(errno));
  return 1;
}

int main(void) {
  if (setns(NAMESPACE_FD, CLONE_NEWNS) < 0) return fail("enter the mount namespace");
  int flags = MOVE_FROM_FD | MOVE_TO_FD;
  if (syscall(SYS_move_mount, TREE_FD, "", DIRECTORY_FD, "", flags) < 0) return fail("mount");
  return 0;
}
