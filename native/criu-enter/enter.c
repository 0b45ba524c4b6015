#define _GNU_SOURCE
#include "enter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fail(const char *step, const char *what) {
  dprintf(STDERR_FILENO, "%s %s: %s\n", step, what, strerror(errno));
  return -EXIT_CODE_FAILED;
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

int enter_places(int count, char **words) {
  int at = 1;
  for (; at + 1 < count && strcmp(words[at], "--") != 0; at += 2) {
    const char *path = words[at + 1];
    if (strcmp(words[at], "--net") == 0) {
      if (enter_network(path) < 0) return fail("enter the network", path);
    } else if (strcmp(words[at], "--group") == 0) {
      if (enter_group(path) < 0) return fail("enter the group", path);
    } else {
      break;
    }
  }
  errno = EINVAL;
  if (at + 1 >= count || strcmp(words[at], "--") != 0) return fail("read", "the arguments");
  return at + 1;
}
