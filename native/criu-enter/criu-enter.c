/*
 * Becomes a program inside a network namespace and control groups:
 *
 *     criu-enter [--net FILE] [--group CGROUP_PROCS]... -- PROGRAM [ARGUMENT]...
 *
 * The process stays the same, so that whoever started it knows CRIU by its process id, and what CRIU
 * restores is born in the groups. Static and small: it stands on the way of every dump and restore.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXIT_CODE_FAILED 1
#define EXIT_CODE_NO_PROGRAM 127

static int fail(const char *step, const char *what, int exit_code) {
  dprintf(STDERR_FILENO, "%s %s: %s\n", step, what, strerror(errno));
  return exit_code;
}

static int enter_network(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  int result = setns(fd, CLONE_NEWNET);
  close(fd);
  return result;
}

static int enter_group(const char *path) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  int result = write(fd, "0", 1) == 1 ? 0 : -1;
  int error = errno;
  close(fd);
  errno = error;
  return result;
}

int main(int count, char **words) {
  int at = 1;
  for (; at + 1 < count && strcmp(words[at], "--") != 0; at += 2) {
    const char *path = words[at + 1];
    if (strcmp(words[at], "--net") == 0) {
      if (enter_network(path) < 0) return fail("enter the network", path, EXIT_CODE_FAILED);
    } else if (strcmp(words[at], "--group") == 0) {
      if (enter_group(path) < 0) return fail("enter the group", path, EXIT_CODE_FAILED);
    } else {
      break;
    }
  }
  errno = EINVAL;
  if (at + 1 >= count || strcmp(words[at], "--") != 0) return fail("read", "the arguments", EXIT_CODE_FAILED);
  execvp(words[at + 1], &words[at + 1]);
  return fail("start", words[at + 1], EXIT_CODE_NO_PROGRAM);
}
