/*
 * Becomes a program inside a network namespace and control groups:
 *
 *     criu-enter [--net FILE] [--group CGROUP_PROCS]... -- PROGRAM [ARGUMENT]...
 *
 * The process stays the same, so that whoever started it knows CRIU by its process id, and what CRIU
 * restores is born in the groups. Static and small: it stands on the way of every dump and restore for which no
 * CRIU is loaded yet.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "enter.h"

int main(int count, char **words) {
  int at = enter_places(count, words);
  if (at < 0) return -at;
  execvp(words[at], &words[at]);
  dprintf(STDERR_FILENO, "start %s: %s\n", words[at], strerror(errno));
  return EXIT_CODE_NO_PROGRAM;
}
