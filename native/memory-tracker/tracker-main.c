/*
 * Follows which pages of a session's processes are written, from one checkpoint to the next.
 *
 *     memory-tracker serve SOCKET PID    until the process PID, the session's first one, has ended
 *     memory-tracker probe               exits with 0 where the kernel has all that it takes
 *     memory-tracker mappings PID        prints what smaps says of the flags of a process's mappings; exits with 1
 *                                        where the kernel does not tell it without looking at each page
 *
 * It has a userfaultfd of the memory of each process that is followed. The kernel delivers nothing: it
 * notes what is written. When this program ends, the kernel forgets the protection, and all memory counts
 * as written: the next checkpoint copies everything, as the first one did.
 *
 * What is clean is so since one checkpoint, the base. While a dump stands at its end, CRIU's preload has
 * everything protected again (begin, protect or take, end); from then on there is no base, until the
 * daemon says that the images are whole (commit). So what was written before a dump that failed is never
 * taken for clean. tracker-requests.c has the requests.
 */
#define _GNU_SOURCE
#include "tracker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "mapping-flags.h"

#define REQUEST_BYTES 128
#define BACKLOG 4

static bool reply(int client, const char *text, int given) {
  union {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
  } control = {.room = {0}};
  struct iovec part = {.iov_base = (char *)text, .iov_len = strlen(text) + 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (given >= 0) {
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof given);
    memcpy(CMSG_DATA(head), &given, sizeof given);
  }
  return sendmsg(client, &message, MSG_NOSIGNAL) >= 0;
}

/* Returns whether there may be more. */
static bool answer(int client) {
  char request[REQUEST_BYTES];
  union {
    struct cmsghdr align;
    char room[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec part = {.iov_base = request, .iov_len = sizeof request - 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  ssize_t length = recvmsg(client, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (length <= 0) return length < 0 && (errno == EAGAIN || errno == EINTR);
  int uffd = -1;
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
      head->cmsg_len == CMSG_LEN(sizeof uffd))
    memcpy(&uffd, CMSG_DATA(head), sizeof uffd);
  /* A line comes as it was sent: whoever sends parts is none of ours. */
  bool is_line = request[length - 1] == '\n';
  request[length - 1] = 0;
  if (!is_line && uffd >= 0) close(uffd);
  if (!is_line) return false;
  int given = -1;
  const char *text = obey(request, uffd, &given);
  /* A client that is gone needs no answer; the next one asks how it stands. */
  return reply(client, text, given);
}

static int fail(const char *step) {
  fprintf(stderr, "%s: %s\n", step, strerror(errno));
  return 1;
}

static int listen_at(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  umask(0077);
  unlink(path);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0) return -1;
  return listen(fd, BACKLOG) < 0 ? -1 : fd;
}

/* Serves one client after the other, and no new one before the last is gone. */
static void serve(int listener, int first_process) {
  int client = -1;
  for (;;) {
    struct pollfd waits[] = {{.fd = first_process, .events = POLLIN},
                             {.fd = client < 0 ? listener : client, .events = POLLIN}};
    if (poll(waits, 2, -1) < 0 && errno != EINTR) return;
    if (waits[0].revents != 0) return;
    if (waits[1].revents == 0) continue;
    if (client < 0) {
      client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    } else if (!answer(client)) {
      close(client);
      client = -1;
      do_what_is_due();
    }
  }
}

/* Prints what a dump would be told. */
static int print_mappings(int pid) {
  static struct mappings_room room;
  uint64_t known;
  int program = load_mappings_program(&known);
  long length = program < 0 ? -1 : tell_mappings(program, known, pid, &room);
  return length > 0 && fwrite(room.text, 1, (size_t)length, stdout) == (size_t)length ? 0 : 1;
}

int main(int count, char **words) {
  if (count == 2 && strcmp(words[1], "probe") == 0) {
    bool is_hidden = getenv("WAYPOINT_HIDE_TRACKING") != NULL;
    const char *missing = is_hidden ? "hidden by WAYPOINT_HIDE_TRACKING" : find_missing_feature();
    if (missing != NULL) printf("%s\n", missing);
    return missing == NULL ? 0 : 1;
  }
  if (count == 3 && strcmp(words[1], "mappings") == 0) return print_mappings(atoi(words[2]));
  errno = EINVAL;
  if (count != 4 || strcmp(words[1], "serve") != 0) return fail("read the arguments");
  struct rlimit files = {FOLLOWED_MAX + 64, FOLLOWED_MAX + 64};
  setrlimit(RLIMIT_NOFILE, &files);
  int first_process = (int)syscall(SYS_pidfd_open, atoi(words[3]), 0);
  if (first_process < 0) return fail("find the session's first process");
  int listener = listen_at(words[2]);
  if (listener < 0) return fail("listen");
  /* The parent learns that it can connect, and goes on by itself. */
  pid_t child = fork();
  if (child < 0) return fail("start");
  if (child > 0) return printf("%d\n", child) < 0;
  signal(SIGHUP, SIG_IGN);
  setsid();
  if (chdir("/") < 0) return 1;
  int nothing = open("/dev/null", O_RDWR);
  for (int fd = 0; nothing >= 0 && fd <= 2; fd++) dup2(nothing, fd);
  serve(listener, first_process);
  unlink(words[2]);
  return 0;
}
