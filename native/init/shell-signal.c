/*
 * Signals for commands in a live shell, as if a person had pressed a key, but at a moment at which
 * they arrive.
 *
 * Between two programs a shell loses an interrupt: the process group in the foreground is the one of
 * a program that has ended, or of one that is still the shell itself and forgets the signal when it
 * becomes the program. A signal that comes with the start of a command, or at such a moment, is
 * delivered a little later.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shell.h"

#define EARLY_MS 30
#define LOOK_AGAIN_MS 1
/* Then it is no such moment: a pipeline outlives its leader, and a shell can be a program, too. */
#define LOOKS_MAX 25

enum life { LIVES, ENDED, ENDED_BY_SIGNAL };

/* One that is ending, or that nobody has waited for, has no memory any more. */
static enum life life_of(pid_t pid) {
  char path[32], text[512];
  unsigned long memory_bytes = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  if (length <= 0) return ENDED;
  text[length] = 0;
  const char *state = strrchr(text, ')'), *wait_status = strrchr(text, ' ');
  if (state == NULL || wait_status == NULL) return LIVES;
  /* After the name: the state, then 19 fields that are none of ours. */
  sscanf(state, ") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu", &memory_bytes);
  if (memory_bytes > 0) return LIVES;
  return WIFSIGNALED(atoi(wait_status)) ? ENDED_BY_SIGNAL : ENDED;
}

static bool have_same_program(pid_t left, pid_t right) {
  char path[32];
  struct stat programs[2];
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "/proc/%d/exe", (int)(i == 0 ? left : right));
    if (stat(path, &programs[i]) < 0) return false;
  }
  return programs[0].st_dev == programs[1].st_dev && programs[0].st_ino == programs[1].st_ino;
}

/* Whether the signal has arrived, as far as can be seen. */
static bool deliver(const struct terminal *terminal, int signal_number) {
  pid_t group = terminal_foreground(terminal);
  /* Other signals would end the shell, and with it all that it knows. */
  if (group == terminal->pid) return kill(-group, SIGINT) == 0;
  if (group <= 1 || have_same_program(group, terminal->pid) || life_of(group) != LIVES) return false;
  if (kill(-group, signal_number) < 0) return false;
  /* One that is gone already had ended before: a signal takes longer. */
  return life_of(group) != ENDED;
}

static void deliver_now(struct terminal *terminal, int signal_number) {
  bool is_shell = terminal_foreground(terminal) == terminal->pid;
  terminal_signal(terminal, is_shell ? SIGINT : signal_number);
}

int shell_signal(struct command *command, int signal_number) {
  command->interrupted_at_ms = now_ms();
  command->due_signal = signal_number;
  command->signal_looks = 0;
  shell_send_due_signal(command, now_ms());
  return 0;
}

int shell_send_due_signal(struct command *command, uint64_t now) {
  if (command->due_signal == 0 || command->state != COMMAND_RUNNING) return -1;
  if (now < command->started_at_ms + EARLY_MS) return EARLY_MS;
  bool is_done = deliver(command->terminal, command->due_signal);
  if (!is_done && command->signal_looks++ < LOOKS_MAX) return LOOK_AGAIN_MS;
  if (!is_done) deliver_now(command->terminal, command->due_signal);
  command->due_signal = 0;
  return -1;
}
