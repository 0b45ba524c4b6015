/*
 * Preloaded into CRIU: has one that is loaded already become any number of runs.
 *
 * To load CRIU, with its libraries and what these do first, takes longer than many a thing that it does then. So one
 * is loaded and stops before its `main`, where $WAYPOINT_LOADED names a socket. For each message it makes a copy of
 * itself, which gets the words, variables and descriptors of the message and goes on with `main`. The copy is a
 * child of whoever started the first one, who knows it by its process id and waits for it as for any other.
 *
 * The copy itself answers, with its process id or a negative error. So whoever asked knows, even when the one that
 * waits was killed in the middle of it: there is an answer, or the end of the socket and no copy.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../criu-enter/enter.h"
#include "lock-preload.h"
#include "socket-preload.h"

#define MESSAGE_BYTES_MAX (128 * 1024)
#define TEXTS_MAX 1024
#define STANDARD_DESCRIPTORS 3

/* Followed by the words, as those of criu-enter without its own name, and the variables; each ends with a NUL. */
struct message {
  /* Of the process that started this one. */
  int32_t descriptors[STANDARD_DESCRIPTORS];
  uint32_t word_count, variable_count;
  char texts[MESSAGE_BYTES_MAX];
};

typedef int main_t(int count, char **words, char **variables);

static main_t *real_main;
/* Where the kernel shows the words of this process to others. */
static char *shown;
static size_t shown_bytes;

static void answer(int socket_fd, int32_t what) { (void)!send(socket_fd, &what, sizeof what, MSG_NOSIGNAL); }

/* Finds out where the words of this process are shown: fields 48 and 49 of stat. */
static void find_shown(void) {
  char line[2048];
  FILE *file = fopen("/proc/self/stat", "re");
  if (file == NULL) return;
  size_t length = fread(line, 1, sizeof line - 1, file);
  fclose(file);
  line[length] = 0;
  char *at = strrchr(line, ')');
  for (int field = 2; at != NULL && field < 48; field++) at = strchr(at + 1, ' ');
  unsigned long start, end;
  if (at == NULL || sscanf(at, "%lu %lu", &start, &end) != 2 || end <= start) return;
  shown = (char *)start;
  shown_bytes = end - start;
}

/* Has others see the words of a run: whoever looks for the runs of a directory finds them by these. */
static void show(char **words) {
  size_t at = 0;
  memset(shown, 0, shown_bytes);
  for (; *words != NULL; words++) {
    size_t bytes = strlen(*words) + 1;
    if (bytes > shown_bytes - at) return;
    memcpy(shown + at, *words, bytes);
    at += bytes;
  }
}

/* As fork(2), but that the child is one of this process's parent. */
static pid_t make_copy(void) {
  void *own_id = NULL;
  // Where the C library keeps the process id of this thread, and the kernel is to write that of the copy.
  if (prctl(PR_GET_TID_ADDRESS, &own_id) != 0) return -1;
  long flags = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
#if defined(__x86_64__)
  return (pid_t)syscall(SYS_clone, flags, NULL, NULL, own_id, NULL);
#else
  return (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, own_id);
#endif
}

static int take_descriptors(int parent_fd, const int32_t *descriptors) {
  for (int at = 0; at < STANDARD_DESCRIPTORS; at++) {
    int fd = (int)syscall(SYS_pidfd_getfd, parent_fd, descriptors[at], 0);
    if (fd < 0 || dup2(fd, at) < 0) return -1;
    close(fd);
  }
  return 0;
}

/* Points `list` at `count` texts and ends it with NULL; returns the end of the last one, or NULL. */
static char *list_texts(char *at, char *end, char **list, uint32_t count) {
  for (uint32_t index = 0; index < count; index++) {
    list[index] = at;
    at = memchr(at, 0, (size_t)(end - at));
    if (at == NULL) return NULL;
    at++;
  }
  list[count] = NULL;
  return at;
}

/* Goes on as the run of a message; does not come back. */
static void become(int socket_fd, int parent_fd, char *name, struct message *message, size_t bytes) {
  static char *words[TEXTS_MAX + 2], *variables[TEXTS_MAX + 1];
  char *end = (char *)message + bytes;
  int is_whole = bytes >= offsetof(struct message, texts) && message->word_count <= TEXTS_MAX &&
                 message->variable_count <= TEXTS_MAX;
  words[0] = name;
  char *rest = is_whole ? list_texts(message->texts, end, &words[1], message->word_count) : NULL;
  errno = EINVAL;
  if (rest == NULL || list_texts(rest, end, variables, message->variable_count) == NULL ||
      take_descriptors(parent_fd, message->descriptors) < 0) {
    answer(socket_fd, -errno);
    _exit(EXIT_CODE_FAILED);
  }
  // It is in a group of its own while it waits, and its runs are in that of who asks.
  setpgid(0, getpgid(getppid()));
  show(words);
  answer(socket_fd, getpid());
  close(socket_fd);
  close(parent_fd);
  environ = variables;
  int first = enter_places((int)message->word_count + 1, words);
  if (first < 0) exit(-first);
  words[--first] = name;
  share_notes();
  open_moved();
  exit(real_main((int)message->word_count + 1 - first, &words[first], environ));
}

static void serve(int socket_fd, const char *own_name) {
  static struct message message;
  // What is shown to others is written over.
  char *name = strdup(own_name);
  int parent_fd = (int)syscall(SYS_pidfd_open, getppid(), 0);
  find_shown();
  if (name == NULL || parent_fd < 0 || shown == NULL) _exit(EXIT_CODE_FAILED);
  answer(socket_fd, 0);
  for (;;) {
    ssize_t bytes = recv(socket_fd, &message, sizeof message, 0);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) _exit(0);
    pid_t copy = make_copy();
    if (copy == 0) become(socket_fd, parent_fd, name, &message, (size_t)bytes);
    if (copy < 0) answer(socket_fd, -errno);
  }
}

static int wait_or_go_on(int count, char **words, char **variables) {
  const char *socket_fd = getenv("WAYPOINT_LOADED");
  if (socket_fd != NULL) serve(atoi(socket_fd), words[0]);
  share_notes();
  open_moved();
  return real_main(count, words, variables);
}

int __libc_start_main(main_t *program, int count, char **words, void (*begin)(void), void (*end)(void),
                      void (*unload)(void), void *stack_end) {
  int (*next)(main_t *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
  next = (__typeof__(next))dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = program;
  return next(wait_or_go_on, count, words, begin, end, unload, stack_end);
}
