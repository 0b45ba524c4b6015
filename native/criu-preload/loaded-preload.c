/*
 * Preloaded into CRIU: has one that is loaded already become any number of runs.
 *
 * To load CRIU, with its libraries and what these do first, takes longer than many a thing that it does then. So one
 * is loaded and stops before its `main`, where $WAYPOINT_LOADED names a socket. For each message it makes a copy of
 * itself, which gets the words, variables and descriptors of the message and goes on with `main`. The copy is a
 * child of whoever started the first one, who knows it by its process id and waits for it as for any other.
 *
 * The copy itself answers, with its process id, before it does anything; one that nobody hears ends. So whoever
 * asked knows, even when the one that waits was killed in the middle of it: there is an answer, or nothing is done.
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
#define PREFIX_MAX 16

/* Followed by the words, as those of criu-enter without its own name, and the variables; each ends with a NUL. */
struct message {
  /* Of the process that started this one. */
  int32_t descriptors[STANDARD_DESCRIPTORS];
  uint32_t word_count, variable_count;
  char texts[MESSAGE_BYTES_MAX];
};

/* What the copy says, or the one that waits where there is no copy. */
struct answer {
  int32_t pid, error;
};

typedef int main_t(int count, char **words, char **variables);

static main_t *real_main;
/* What every run begins with: the program, and what it was started with but for the room. */
static char *prefix[PREFIX_MAX];
static int prefix_count;
/* Where the kernel shows the words of this process to others. */
static char *shown;
static size_t shown_bytes;

static int answer(int socket_fd, int32_t pid, int32_t error) {
  struct answer what = {.pid = pid, .error = error};
  return send(socket_fd, &what, sizeof what, MSG_NOSIGNAL) == sizeof what ? 0 : -1;
}

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

/* What is shown to others is written over, so that these are copies. The last word is the room. */
static int keep_prefix(int count, char **words) {
  if (count < 2 || count - 1 > PREFIX_MAX) return -1;
  for (prefix_count = 0; prefix_count < count - 1; prefix_count++) {
    prefix[prefix_count] = strdup(words[prefix_count]);
    if (prefix[prefix_count] == NULL) return -1;
  }
  return 0;
}

static size_t show_words(size_t at, char **words, size_t count) {
  for (size_t index = 0; index < count; index++) {
    size_t bytes = strlen(words[index]) + 1;
    if (bytes > shown_bytes - at) return at;
    memcpy(shown + at, words[index], bytes);
    at += bytes;
  }
  return at;
}

/* Has others see the words of a run: whoever looks for the runs of a directory finds them by these. */
static void show(char **words, size_t count) {
  memset(shown, 0, shown_bytes);
  show_words(show_words(0, prefix, (size_t)prefix_count), words, count);
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

/* Goes on as a run, with the words behind its places. */
static void run(char **words, int count) {
  static char *all[PREFIX_MAX + TEXTS_MAX + 1];
  int first = enter_places(count, words);
  if (first < 0) exit(-first);
  int total = 0;
  for (; total < prefix_count; total++) all[total] = prefix[total];
  for (int at = first; at < count; at++) all[total++] = words[at];
  share_notes();
  open_moved();
  exit(real_main(total, all, environ));
}

/* Becomes the run of a message; does not come back. */
static void become(int socket_fd, int parent_fd, struct message *message, size_t bytes) {
  static char *words[TEXTS_MAX + 2], *variables[TEXTS_MAX + 1];
  char *end = (char *)message + bytes;
  int is_whole = bytes >= offsetof(struct message, texts) && message->word_count <= TEXTS_MAX &&
                 message->variable_count <= TEXTS_MAX;
  words[0] = prefix[0];
  char *rest = is_whole ? list_texts(message->texts, end, &words[1], message->word_count) : NULL;
  errno = EINVAL;
  if (rest == NULL || list_texts(rest, end, variables, message->variable_count) == NULL) {
    (void)answer(socket_fd, getpid(), errno);
    _exit(EXIT_CODE_FAILED);
  }
  show(&words[1], message->word_count);
  int error = take_descriptors(parent_fd, message->descriptors) < 0 ? errno : 0;
  // Who asked has given up where nobody hears it, and has begun the run in another way.
  if (answer(socket_fd, getpid(), error) < 0 || error != 0) _exit(EXIT_CODE_FAILED);
  close(socket_fd);
  close(parent_fd);
  // Until now in the group of the one that waits, by which those that failed are known.
  setpgid(0, getpgid(getppid()));
  environ = variables;
  run(words, (int)message->word_count + 1);
}

static void serve(int socket_fd, int count, char **words) {
  static struct message message;
  int parent_fd = (int)syscall(SYS_pidfd_open, getppid(), 0);
  find_shown();
  if (parent_fd < 0 || shown == NULL || keep_prefix(count, words) < 0) _exit(EXIT_CODE_FAILED);
  if (answer(socket_fd, getpid(), 0) < 0) _exit(EXIT_CODE_FAILED);
  for (;;) {
    ssize_t bytes = recv(socket_fd, &message, sizeof message, 0);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) _exit(0);
    pid_t copy = make_copy();
    if (copy == 0) become(socket_fd, parent_fd, &message, (size_t)bytes);
    if (copy < 0) (void)answer(socket_fd, 0, errno);
  }
}

static int wait_or_go_on(int count, char **words, char **variables) {
  const char *socket_fd = getenv("WAYPOINT_LOADED");
  if (socket_fd != NULL) serve(atoi(socket_fd), count, words);
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
