/*
 * Preloaded into CRIU for a restore: gives all processes of a terminal's session their terminal back.
 *
 * A process inherits its controlling terminal when it is forked, or sets it as the leader of its
 * session; there is no third way. CRIU forks all processes first and opens terminals later, so the
 * leader alone has one then, and a shell that runs in it has no job control any more.
 *
 * WAYPOINT_TERMINAL is "LEADER INDEX": the leader of the one session that is treated, and the index of
 * its terminal, whose other side the first process of the tree holds. When the leader has made its
 * session, it opens that terminal, before it forks. When the first process comes to open the other
 * side, it gets that of the leader. When the leader sets its terminal, it closes its own descriptors.
 * Where the leader cannot open it, all goes on as without this.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_PID 1
/* Numbers that no shell has, below those of CRIU's own descriptors. */
#define MASTER_FD 1019
#define SLAVE_FD 1020
#define OTHER_TERMINALS_MAX 32

/* The process that has the two descriptors: the leader, and each one that it has just forked. */
static pid_t holder_pid;

static int is_wanted(int *leader, int *index) {
  const char *text = getenv("WAYPOINT_TERMINAL");
  return text != NULL && sscanf(text, "%d %d", leader, index) == 2;
}

/* Moves a descriptor to a number that is free, or closes it. */
static int move(int fd, int wanted) {
  if (fd < 0) return -1;
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, wanted);
  close(fd);
  if (moved == wanted) return 0;
  if (moved >= 0) close(moved);
  return -1;
}

/* Opens the other side with that index: numbers are given out from the lowest on. */
static int open_master(int index) {
  int others[OTHER_TERMINALS_MAX], count = 0, found = -1;
  while (found < 0 && count < OTHER_TERMINALS_MAX) {
    int number = -1, fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) break;
    if (ioctl(fd, TIOCGPTN, &number) < 0 || number != index) others[count++] = fd;
    else found = fd;
    if (number > index) break;
  }
  while (count > 0) close(others[--count]);
  return found;
}

static void open_terminal(int index) {
  char path[32];
  const int unlocked = 0;
  if (move(open_master(index), MASTER_FD) < 0) return;
  snprintf(path, sizeof path, "/dev/pts/%d", index);
  int is_open = ioctl(MASTER_FD, TIOCSPTLCK, &unlocked) == 0 &&
                move((int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC), SLAVE_FD) == 0;
  if (is_open) holder_pid = getpid();
  else close(MASTER_FD);
}

static void close_terminal(void) {
  close(MASTER_FD);
  close(SLAVE_FD);
  holder_pid = 0;
}

/* Only the leader keeps them; a child opens files long before it has any of its own. */
static void close_inherited(void) {
  if (holder_pid != 0 && holder_pid != getpid()) close_terminal();
}

pid_t setsid(void) {
  int leader, index;
  pid_t session = (pid_t)syscall(SYS_setsid);
  if (session > 0 && is_wanted(&leader, &index) && session == leader) open_terminal(index);
  return session;
}

/* The leader's, or -1. */
static int take_master(int flags) {
  int leader, index, number = -1;
  if (getpid() != FIRST_PID || !is_wanted(&leader, &index)) return -1;
  int pidfd = (int)syscall(SYS_pidfd_open, leader, 0);
  int fd = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, MASTER_FD, 0);
  if (pidfd >= 0) close(pidfd);
  if (fd < 0) return -1;
  if (ioctl(fd, TIOCGPTN, &number) == 0 && number == index && fcntl(fd, F_SETFL, flags) == 0 &&
      fcntl(fd, F_SETFD, flags & O_CLOEXEC ? FD_CLOEXEC : 0) == 0)
    return fd;
  close(fd);
  return -1;
}

int openat64(int directory, const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, unsigned) : 0;
  va_end(list);
  close_inherited();
  const char *name = strrchr(path, '/');
  if (strcmp(name == NULL ? path : name + 1, "ptmx") == 0) {
    int fd = take_master(flags);
    if (fd >= 0) return fd;
  }
  return (int)syscall(SYS_openat, directory, path, flags, mode);
}

int ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void *argument = va_arg(list, void *);
  va_end(list);
  int result = (int)syscall(SYS_ioctl, fd, request, argument);
  if (request == TIOCSCTTY && holder_pid == getpid()) close_terminal();
  return result;
}
