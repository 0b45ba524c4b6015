/*
 * Preloaded into CRIU for a restore: messages in flight that bring descriptors.
 *
 * CRIU sends such a message anew in the process that has the socket at its other end, once what it brings
 * is open there. Where that process makes both sockets itself, CRIU 4.2 looks once only: if the descriptor
 * is still on its way from another process then, all messages in both sockets are left out and nothing is
 * said (post_open_interconnected_master in criu/sk-unix.c returns 0 where 1 is meant).
 *
 * WAYPOINT_RIGHTS is "WAIT_MS,PID:COUNT,PID:COUNT": the processes that send such messages anew, and how
 * many. Before its first pair of sockets such a process waits, so that the descriptors come before CRIU
 * looks. One that has sent too few when it closes its transport socket, the last step, ends, and the
 * restore fails with it; the daemon tries again and waits longer.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Pairs of one process; of those beyond nothing is expected. */
#define SOCKETS_MAX 4096
/* What CRIU names its transport sockets, behind the zero of an abstract name. */
#define TRANSPORT_NAME "/crtools-fd-%d-"

#define LOG_ERROR 1

/* Of CRIU, for its log. */
extern void print_on_level(unsigned level, const char *format, ...) __attribute__((weak));

/* Of one process: children inherit what was noted for the one that forked them. */
static struct {
  pid_t pid;
  unsigned wait_ms;
  int expected, sent, socket_count, transport_closes;
  ino_t sockets[SOCKETS_MAX];
} own;

static void read_own(const char *list) {
  int pid, count, length = 0;
  own.pid = getpid();
  own.expected = own.sent = own.socket_count = own.transport_closes = 0;
  if (sscanf(list, "%u%n", &own.wait_ms, &length) != 1) return;
  for (list += length; sscanf(list, ",%d:%d%n", &pid, &count, &length) == 2; list += length) {
    if (pid == own.pid) own.expected = count;
  }
}

/* Returns how many messages with descriptors this process is to send yet. */
static int missing(void) {
  const char *list = getenv("WAYPOINT_RIGHTS");
  if (list == NULL) return 0;
  if (own.pid != getpid()) read_own(list);
  return own.expected - own.sent;
}

static void note_socket(int fd) {
  struct stat status;
  if (own.socket_count < SOCKETS_MAX && fstat(fd, &status) == 0)
    own.sockets[own.socket_count++] = status.st_ino;
}

static int is_noted(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) return 0;
  for (int i = 0; i < own.socket_count; i++) {
    if (own.sockets[i] == status.st_ino) return 1;
  }
  return 0;
}

int socketpair(int domain, int type, int protocol, int fds[2]) {
  int is_awaited = missing() > 0;
  if (is_awaited && own.socket_count == 0) usleep(own.wait_ms * 1000);
  int result = (int)syscall(SYS_socketpair, domain, type, protocol, fds);
  if (is_awaited && result == 0) {
    note_socket(fds[0]);
    note_socket(fds[1]);
  }
  return result;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  ssize_t result = syscall(SYS_sendmsg, fd, message, flags);
  if (result >= 0 && message->msg_controllen > 0 && missing() > 0 && is_noted(fd)) own.sent++;
  return result;
}

/* Whether this process made the socket to be passed descriptors by others; it inherits those of others. */
static int is_own_transport(int fd) {
  struct sockaddr_un address = {0};
  socklen_t length = sizeof address;
  int pid;
  if (getsockname(fd, (struct sockaddr *)&address, &length) != 0 || address.sun_family != AF_UNIX) return 0;
  return sscanf(address.sun_path + 1, TRANSPORT_NAME, &pid) == 1 && pid == own.pid;
}

/* CRIU gives the transport socket another number when it has made it, and closes it when all files are open. */
int close(int fd) {
  int lost = missing();
  if (lost > 0 && is_own_transport(fd) && own.transport_closes++ > 0) {
    /* The process's standard error is that of the program by now. */
    if (print_on_level != NULL) print_on_level(LOG_ERROR, "Error: %d messages that bring descriptors were lost\n", lost);
    _exit(1);
  }
  return (int)syscall(SYS_close, fd);
}
