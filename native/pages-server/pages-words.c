/*
 * The words and variables that a program was started with, which others read all the time (ps, pgrep): it is not the
 * program that touches them then, and the kernel does not wait for pages in a process that somebody else looks at,
 * but says that there is nothing.
 */
#define _GNU_SOURCE
#include "pages.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* Fields of /proc/PID/stat, counted as proc(5) does. */
#define FIELD_STATE 3
#define FIELD_ARG_START 48
/* A program may say that they lie anywhere; nobody reads more of them. */
#define WORDS_BYTES_MAX (1024 * 1024ul)
#define STAT_BYTES 2048

static void note(struct span *span, uint64_t start, uint64_t end) {
  if (end <= start) return;
  if (end - start > WORDS_BYTES_MAX) end = start + WORDS_BYTES_MAX;
  *span = (struct span){start & ~(PAGE_BYTES - 1), end};
}

/* What the kernel does not tell stays empty: the process has ended, as a rule. */
static void find_words(struct task *task) {
  char path[32], text[STAT_BYTES];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)task->pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  if (length < 0) return;
  text[length] = 0;
  /* The name before may have spaces and parentheses. */
  const char *at = strrchr(text, ')');
  for (int field = FIELD_STATE - 1; at != NULL && field < FIELD_ARG_START; field++) at = strchr(at + 1, ' ');
  uint64_t arguments, arguments_end, variables, variables_end;
  const char *form = " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64;
  if (at == NULL || sscanf(at, form, &arguments, &arguments_end, &variables, &variables_end) != 4) return;
  note(&task->words[0], arguments, arguments_end);
  note(&task->words[1], variables, variables_end);
}

int bring_words(struct task *task) {
  /* A child has its parent's, which were there before it. */
  if (task->pid == 0 || task->image == NULL) return 0;
  if (!task->knows_words) find_words(task);
  task->knows_words = 1;
  for (size_t i = 0; i < sizeof task->words / sizeof *task->words; i++) {
    for (struct span *words = &task->words[i]; words->start < words->end && !task->is_gone; words->start += PAGE_BYTES) {
      if (find_range(&task->missing, words->start) == NULL) continue;
      int result = answer_fault(task, words->start);
      if (result != 0) return result;
    }
  }
  return 0;
}
