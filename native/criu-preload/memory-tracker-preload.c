/* Talking to the memory tracker of a session, and making the descriptors that it wants. */
#define _GNU_SOURCE
#include "memory-preload.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "remote-call.h"

#define ANSWER_BYTES_MAX (64 * 1024)
/* A tracker that does not answer costs a full copy the next time, and no more pause than this. */
#define ANSWER_TIMEOUT_MS 2000
/* Without the flags it is a pause as it was before. */
#define FLAGS_TIMEOUT_MS 50
/* Of linux/userfaultfd.h: no process needs a capability for such a one, and nothing is delivered anyway. */
#define USER_MODE_ONLY 1

int connect_named(const char *variable, int timeout_ms) {
  const char *path = getenv(variable);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (path == NULL || strlen(path) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, path);
  int fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct timeval timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000};
  if (fd < 0) return -1;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  if (syscall(SYS_connect, fd, &address, sizeof address) == 0) return fd;
  syscall(SYS_close, fd);
  return -1;
}

int connect_tracker(void) {
  return connect_named("WAYPOINT_TRACKER", ANSWER_TIMEOUT_MS);
}

const char *ask_tracker(int fd, const char *request, int passed) {
  static char answer[ANSWER_BYTES_MAX];
  union {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
  } control = {.room = {0}};
  struct iovec parts[] = {{(void *)request, strlen(request)}, {"\n", 1}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  if (passed >= 0) {
    control.head = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof passed)};
    memcpy(CMSG_DATA(&control.head), &passed, sizeof passed);
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
  }
  if (syscall(SYS_sendmsg, fd, &message, MSG_NOSIGNAL) < 0) return NULL;
  for (size_t length = 0; length < sizeof answer;) {
    ssize_t part = syscall(SYS_recvfrom, fd, answer + length, sizeof answer - length, 0, NULL, NULL);
    if (part <= 0) return NULL;
    length += (size_t)part;
    if (answer[length - 1] == 0) return answer;
  }
  return NULL;
}

/* The answer is a line and, where there is one, the descriptor that goes with it. */
static int receive_program(int tracker, unsigned long long *known) {
  char text[64] = "";
  union {
    struct cmsghdr align;
    char room[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec part = {.iov_base = text, .iov_len = sizeof text - 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  int program = -1;
  if (syscall(SYS_recvmsg, tracker, &message, MSG_CMSG_CLOEXEC) <= 0) return -1;
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  if (head != NULL && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof program))
    memcpy(&program, CMSG_DATA(head), sizeof program);
  if (program < 0 || sscanf(text, "ok %llx", known) == 1) return program;
  syscall(SYS_close, program);
  return -1;
}

int get_mappings_program(unsigned long long *known) {
  static const char request[] = "mappings\n";
  int tracker = connect_named("WAYPOINT_TRACKER", FLAGS_TIMEOUT_MS);
  if (tracker < 0) return -1;
  ssize_t sent = syscall(SYS_sendto, tracker, request, sizeof request - 1, MSG_NOSIGNAL, NULL, 0);
  int program = sent == sizeof request - 1 ? receive_program(tracker, known) : -1;
  syscall(SYS_close, tracker);
  return program;
}

int make_uffd(int pid) {
  struct remote_call *remote = remote_begin(pid);
  if (remote == NULL) return -1;
  const long flags[REMOTE_CALL_ARGUMENTS] = {O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY};
  long inside = remote_call(remote, SYS_userfaultfd, flags);
  int uffd = -1;
  if (inside >= 0) {
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    uffd = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, (int)inside, 0);
    if (process >= 0) syscall(SYS_close, process);
    remote_call(remote, SYS_close, (const long[REMOTE_CALL_ARGUMENTS]){inside});
  }
  remote_end(remote);
  return uffd;
}

int is_followed_by_tracker(int pid) {
  int fd = getenv("WAYPOINT_CLEAN_PAGES") == NULL ? -1 : connect_tracker();
  const char *line = fd < 0 ? NULL : ask_tracker(fd, "clean", -1);
  int found = 0;
  for (int each; line != NULL && !found && sscanf(line, "%d", &each) == 1;) {
    found = each == pid;
    line = strchr(line, '\n');
    if (line != NULL) line++;
  }
  found = found && learn_files(fd, pid);
  if (fd >= 0) syscall(SYS_close, fd);
  return found;
}
