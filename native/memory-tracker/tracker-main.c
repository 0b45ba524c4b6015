/*
 * Follows which pages of a session's processes are written, from one checkpoint to the next.
 *
 *     memory-tracker serve SOCKET PID    until the process PID, the session's first one, has ended
 *     memory-tracker probe               exits with 0 where the kernel has all that it takes
 *
 * It has a userfaultfd of the memory of each process that is followed. The kernel delivers nothing: it
 * notes what is written. When this program ends, the kernel forgets the protection, and all memory counts
 * as written: the next checkpoint copies everything, as the first one did.
 *
 * What is clean is so since one checkpoint, the base. While a dump stands at its end, CRIU's preload has
 * everything protected again (begin, protect or take, end); from then on there is no base, until the
 * daemon says that the images are whole (commit). So what was written before a dump that failed is never
 * taken for clean. Requests are lines of text, one at a time; each has an answer, which ends with a zero:
 *
 *     base             the checkpoint, or "-"
 *     clean            "PID START-TIME" lines of the processes whose clean pages are those of the base
 *     files PID        "START END w" lines, in hexadecimal: mappings of files of a process that are followed,
 *                      and "w" for one that can be written to, "-" for another
 *     begin ID         from now on nothing is clean since the base
 *     protect PID      "ok"; "want": a descriptor is needed
 *     register PID     the same, where whoever asks protects what was written himself
 *     forget PID       follows it no longer
 *     take PID         with a descriptor that was made in the process: "ok" or "no"
 *     end              forgets the processes that were not protected
 *     commit ID        "ok" where all between begin and end was for this checkpoint
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

/* What lets go of the memory of more processes than anybody has that are large. */
#define FOLLOWED_MAX 1024
#define ID_BYTES 64
#define REQUEST_BYTES 128
#define LINE_BYTES 40
#define BACKLOG 4

struct followed {
  pid_t pid;
  uint64_t start_time;
  int uffd;
  bool is_protected; /* since the last begin */
  struct files files;
};

static struct followed followed[FOLLOWED_MAX];
static size_t followed_count;
static char base[ID_BYTES] = "-", begun[ID_BYTES] = "-";
static bool is_ended;

static void forget(struct followed *process) {
  close(process->uffd);
  *process = followed[--followed_count];
}

static struct followed *find(pid_t pid) {
  for (size_t i = 0; i < followed_count; i++) {
    if (followed[i].pid == pid) return &followed[i];
  }
  return NULL;
}

static bool is_same(const struct followed *process) {
  return start_time(process->pid) == process->start_time;
}

static const char *begin(const char *id) {
  strcpy(base, "-");
  is_ended = false;
  snprintf(begun, sizeof begun, "%s", id);
  for (size_t i = 0; i < followed_count; i++) followed[i].is_protected = false;
  return "ok";
}

static const char *protect_again(pid_t pid, bool (*act)(pid_t pid, int uffd, struct files *files)) {
  struct followed *process = find(pid);
  if (process != NULL && is_same(process) && act(pid, process->uffd, &process->files)) {
    process->is_protected = true;
    return "ok";
  }
  if (process != NULL) forget(process);
  return followed_count < FOLLOWED_MAX ? "want" : "no";
}

static const char *leave(pid_t pid) {
  struct followed *process = find(pid);
  if (process != NULL) forget(process);
  return "ok";
}

/* Owns the descriptor. */
static const char *take(pid_t pid, int uffd) {
  struct followed process = {.pid = pid, .start_time = start_time(pid), .uffd = uffd, .is_protected = true};
  if (uffd < 0) return "no";
  if (followed_count < FOLLOWED_MAX && find(pid) == NULL && process.start_time != 0 && prepare_uffd(uffd) &&
      protect(pid, uffd, &process.files)) {
    followed[followed_count++] = process;
    return "ok";
  }
  close(uffd);
  return "no";
}

static const char *end(void) {
  for (size_t i = followed_count; i > 0; i--) {
    if (!followed[i - 1].is_protected) forget(&followed[i - 1]);
  }
  is_ended = strcmp(begun, "-") != 0;
  return "ok";
}

static const char *commit(const char *id) {
  if (!is_ended || strcmp(begun, id) != 0) return "no";
  strcpy(base, begun);
  strcpy(begun, "-");
  is_ended = false;
  return "ok";
}

static const char *list_clean(void) {
  static char text[FOLLOWED_MAX * LINE_BYTES + 1];
  size_t length = 0;
  text[0] = 0;
  if (strcmp(base, "-") == 0) return text;
  for (size_t i = 0; i < followed_count; i++) {
    if (!is_same(&followed[i])) continue;
    length += (size_t)snprintf(text + length, LINE_BYTES, "%d %llu\n", followed[i].pid,
                               (unsigned long long)followed[i].start_time);
  }
  return text;
}

static const char *list_files(pid_t pid) {
  static char text[FILES_MAX * LINE_BYTES + 1];
  struct followed *process = find(pid);
  size_t length = 0;
  text[0] = 0;
  if (process != NULL) note_now(pid, &process->files);
  for (size_t i = 0; process != NULL && i < process->files.count; i++) {
    length += (size_t)snprintf(text + length, LINE_BYTES, "%llx %llx %c\n",
                               (unsigned long long)process->files.all[i].start,
                               (unsigned long long)process->files.all[i].end,
                               process->files.all[i].is_writable ? 'w' : '-');
  }
  return text;
}

static const char *obey(const char *request, int uffd) {
  char id[ID_BYTES] = "";
  int pid = 0, is_take = sscanf(request, "take %d", &pid) == 1;
  if (is_take) return take(pid, uffd);
  if (uffd >= 0) close(uffd);
  if (strcmp(request, "base") == 0) return base;
  if (strcmp(request, "clean") == 0) return list_clean();
  if (strcmp(request, "end") == 0) return end();
  if (sscanf(request, "files %d", &pid) == 1) return list_files(pid);
  if (sscanf(request, "begin %63s", id) == 1) return begin(id);
  if (sscanf(request, "protect %d", &pid) == 1) return protect_again(pid, protect);
  if (sscanf(request, "register %d", &pid) == 1) return protect_again(pid, register_new);
  if (sscanf(request, "forget %d", &pid) == 1) return leave(pid);
  if (sscanf(request, "commit %63s", id) == 1) return commit(id);
  return "no";
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
  const char *text = obey(request, uffd);
  /* A client that is gone needs no answer; the next one asks how it stands. */
  return send(client, text, strlen(text) + 1, MSG_NOSIGNAL) >= 0;
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
    }
  }
}

int main(int count, char **words) {
  if (count == 2 && strcmp(words[1], "probe") == 0) {
    bool is_hidden = getenv("WAYPOINT_HIDE_TRACKING") != NULL;
    const char *missing = is_hidden ? "hidden by WAYPOINT_HIDE_TRACKING" : find_missing_feature();
    if (missing != NULL) printf("%s\n", missing);
    return missing == NULL ? 0 : 1;
  }
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
