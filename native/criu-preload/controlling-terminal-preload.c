/*
 * Preloaded into CRIU for a dump: shows a descriptor of /dev/tty as one of the terminal behind it.
 *
 * To the kernel it makes no difference by which name a terminal was opened. CRIU takes /dev/tty for a
 * device of its own, which it brings back only in the process that owns the other side, and only one in
 * a tree. So of the descriptors that come to CRIU from the tree, one of /dev/tty is replaced by one of
 * /dev/pts/N; the process itself is not touched. One whose terminal was hung up becomes one of another
 * terminal that was hung up. One that gives no terminal (O_PATH) stays as it is.
 *
 * WAYPOINT_TREE_ROOT is the tree's root directory, below which its terminals lie; none is replaced
 * without it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

typedef ssize_t recvmsg_function(int socket, struct msghdr *message, int flags);

#define CONTROLLING_TERMINAL makedev(5, 0)
/* Numbers of the devices /dev/pts/N; each has 2^20 minors, of which the first has all that devpts gives. */
#define PTS_MAJOR 136

static int is_device(int fd, dev_t device) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == device;
}

/* Opens a terminal of the tree, or returns -1. CRIU reads from it, whatever it was opened for. */
static int open_terminal(const char *root, unsigned index) {
  char path[64];
  snprintf(path, sizeof path, "%s/dev/pts/%u", root, index);
  int fd = open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 || is_device(fd, makedev(PTS_MAJOR, index))) return fd;
  close(fd);
  return -1;
}

/* Opens a terminal and closes its other side; the kernel hangs it up then. */
static int open_hung_up_terminal(const char *root) {
  char path[64];
  unsigned index;
  const int unlocked = 0;
  snprintf(path, sizeof path, "%s/dev/pts/ptmx", root);
  int master = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0) return -1;
  int is_open = ioctl(master, TIOCGPTN, &index) == 0 && ioctl(master, TIOCSPTLCK, &unlocked) == 0;
  int fd = is_open ? open_terminal(root, index) : -1;
  close(master);
  return fd;
}

/* Opens the terminal behind a descriptor of /dev/tty. */
static int open_behind(const char *root, int fd) {
  unsigned device;
  if (ioctl(fd, TIOCGDEV, &device) < 0) return errno == EIO ? open_hung_up_terminal(root) : -1;
  return major(device) == PTS_MAJOR ? open_terminal(root, minor(device)) : -1;
}

static void show_terminal(const char *root, int fd) {
  if (!is_device(fd, CONTROLLING_TERMINAL)) return;
  int real = open_behind(root, fd);
  if (real < 0) return;
  dup3(real, fd, O_CLOEXEC);
  close(real);
}

ssize_t recvmsg(int socket, struct msghdr *message, int flags) {
  static recvmsg_function *next;
  if (next == NULL) next = (recvmsg_function *)dlsym(RTLD_NEXT, "recvmsg");
  ssize_t result = next(socket, message, flags);
  const char *root = getenv("WAYPOINT_TREE_ROOT");
  if (result < 0 || root == NULL) return result;
  int error = errno;
  for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const int *fds = (const int *)CMSG_DATA(part);
    size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof *fds;
    for (size_t i = 0; i < count; i++) show_terminal(root, fds[i]);
  }
  errno = error;
  return result;
}
