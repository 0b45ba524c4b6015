/*
 * Preloaded into CRIU for a restore: gives all processes of a terminal's session their terminal back.
 *
 * A process inherits its controlling terminal when it is forked, or sets it as the leader of its
 * session; there is no third way. CRIU forks all processes first and opens terminals later, so the
 * leader alone has one then, and a shell that runs in it has no job control any more.
 *
 * WAYPOINT_TERMINALS is a list of "LEADER:INDEX:HOLDER", by index: the leaders that are treated, the
 * indices of their terminals, and the processes that hold the other sides. When a leader has made its
 * session, it opens its terminal, before it forks. When a holder comes to open other sides, it gets
 * those of its leaders. When a leader sets its terminal, it closes its own descriptors. Where it could
 * not open it, all goes on as without this.
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

#include "memory-preload.h"
#include "smaps-preload.h"
#include "socket-preload.h"
#include "typed-preload.h"

#define TERMINALS_MAX 64
/* Numbers that no shell has, below those of CRIU's own descriptors. */
#define MASTER_FD 1019
#define SLAVE_FD 1020
#define OTHER_TERMINALS_MAX 32
/* Another leader may have the number for a moment, while it looks for its own. */
#define OPEN_TRIES_MAX 100
#define OPEN_GAP_US 500

struct terminal {
  int leader, index, holder;
  /* The descriptor of the other side that this process was given last, and whether it has kept it. */
  int given_fd, is_taken;
};

static struct terminal terminals[TERMINALS_MAX];
static int terminal_count = -1;
/* The process that has the two descriptors: a leader, and each one that it has just forked. */
static pid_t opener_pid;

static void read_terminals(void) {
  const char *text = getenv("WAYPOINT_TERMINALS");
  if (terminal_count >= 0) return;
  terminal_count = 0;
  while (text != NULL && *text != 0 && terminal_count < TERMINALS_MAX) {
    struct terminal *next = &terminals[terminal_count];
    if (sscanf(text, "%d:%d:%d", &next->leader, &next->index, &next->holder) != 3) return;
    next->given_fd = -1;
    next->is_taken = 0;
    terminal_count++;
    text = strchr(text, ',');
    if (text != NULL) text++;
  }
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

static int index_of(int master) {
  int index;
  return ioctl(master, TIOCGPTN, &index) < 0 ? -1 : index;
}

/* Opens the other side with that index, if it is free: numbers are given out from the lowest on. */
static int try_open_master(int index) {
  int others[OTHER_TERMINALS_MAX], count = 0, found = -1;
  while (found < 0 && count < OTHER_TERMINALS_MAX) {
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) break;
    int opened = index_of(fd);
    if (opened == index) found = fd;
    else others[count++] = fd;
    if (opened > index) break;
  }
  while (count > 0) close(others[--count]);
  return found;
}

static int open_master(int index) {
  int fd = try_open_master(index);
  for (int tries = 1; fd < 0 && tries < OPEN_TRIES_MAX; tries++) {
    usleep(OPEN_GAP_US);
    fd = try_open_master(index);
  }
  return fd;
}

static void open_terminal(int index) {
  char path[32];
  const int unlocked = 0;
  if (move(open_master(index), MASTER_FD) < 0) return;
  snprintf(path, sizeof path, "/dev/pts/%d", index);
  int is_open = ioctl(MASTER_FD, TIOCSPTLCK, &unlocked) == 0 &&
                move((int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC), SLAVE_FD) == 0;
  if (is_open) opener_pid = getpid();
  else close(MASTER_FD);
}

static void close_terminal(void) {
  close(MASTER_FD);
  close(SLAVE_FD);
  opener_pid = 0;
}

/* Only the leader keeps them; a child opens files long before it has any of its own. */
static void close_inherited(void) {
  if (opener_pid != 0 && opener_pid != getpid()) close_terminal();
}

pid_t setsid(void) {
  pid_t session = (pid_t)syscall(SYS_setsid);
  read_terminals();
  close_inherited();
  for (int i = 0; i < terminal_count; i++) {
    if (terminals[i].leader == session) open_terminal(terminals[i].index);
  }
  return session;
}

/* Returns a leader's other side with those flags, or -1. */
static int fetch_master(const struct terminal *terminal, int flags) {
  int pidfd = (int)syscall(SYS_pidfd_open, terminal->leader, 0);
  int fd = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, MASTER_FD, 0);
  if (pidfd >= 0) close(pidfd);
  if (fd < 0) return -1;
  if (index_of(fd) == terminal->index && fcntl(fd, F_SETFL, flags) == 0 &&
      fcntl(fd, F_SETFD, flags & O_CLOEXEC ? FD_CLOEXEC : 0) == 0)
    return fd;
  close(fd);
  return -1;
}

/*
 * Gives this process the next of its other sides, or -1. CRIU opens one after the other until it comes
 * to the one that it looks for, unlocks that and closes the rest, which are given again later.
 */
static int take_master(int flags) {
  read_terminals();
  for (int i = 0; i < terminal_count; i++) {
    struct terminal *next = &terminals[i];
    if (next->holder != getpid() || next->is_taken) continue;
    if (next->given_fd >= 0 && index_of(next->given_fd) == next->index) continue;
    next->given_fd = fetch_master(next, flags);
    if (next->given_fd >= 0) return next->given_fd;
  }
  return -1;
}

int openat64(int directory, const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, unsigned) : 0;
  va_end(list);
  close_inherited();
  if (strcmp(path, "smaps") == 0) {
    int fd = open_smaps(directory);
    if (fd >= 0) return fd;
  }
  const char *name = strrchr(path, '/');
  int is_master = strcmp(name == NULL ? path : name + 1, "ptmx") == 0;
  int fd = is_master ? take_master(flags) : -1;
  if (fd < 0) fd = (int)syscall(SYS_openat, directory, path, flags, mode);
  if (!is_master && strstr(path, "pts/") != NULL) note_terminal(fd);
  return fd;
}

static void note_taken(int master) {
  for (int i = 0; i < terminal_count; i++) {
    struct terminal *terminal = &terminals[i];
    if (terminal->given_fd == master && index_of(master) == terminal->index) terminal->is_taken = 1;
  }
}

int ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void *argument = va_arg(list, void *);
  va_end(list);
  if (request == PAGE_SCAN) return scan_pages(fd, argument);
  if (request == UFFD_API_REQUEST) return open_uffd(fd, argument);
  int result = (int)syscall(SYS_ioctl, fd, request, argument);
  if (request == SIOCUNIXFILE && result >= 0) note_socket_file(fd, result);
  if (request == TIOCSPTLCK) note_taken(fd);
  if (request == TIOCSCTTY && opener_pid == getpid()) close_terminal();
  return result;
}
