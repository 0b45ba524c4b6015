/*
 * What a terminal's shell is, and what it needs.
 *
 * The shell may have been replaced (`exec fish`) since the session was started, so its kind is read
 * from its program each time a command begins.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shell.h"

#define TTY "/dev/tty"
#define TTY_HIDDEN "/dev/.waypoint-tty"
#define HIDDEN_MS 1000

enum shell_kind shell_kind_of(const struct terminal *terminal) {
  char link[32], program[256];
  snprintf(link, sizeof link, "/proc/%d/exe", (int)terminal->pid);
  ssize_t length = readlink(link, program, sizeof program - 1);
  if (length <= 0) return KIND_UNKNOWN;
  program[length] = 0;
  /* A package that was upgraded meanwhile leaves "… (deleted)". */
  char *end = strchr(program, ' ');
  if (end != NULL) *end = 0;
  const char *name = strrchr(program, '/');
  name = name == NULL ? program : name + 1;
  if (strncmp(name, "bash", 4) == 0) return KIND_BASH;
  if (strncmp(name, "fish", 4) == 0) return KIND_FISH;
  if (strncmp(name, "zsh", 3) == 0) return KIND_ZSH;
  return KIND_POSIX;
}

void shell_knows_keys(struct terminal *terminal) {
  terminal->keys_kind = shell_kind_of(terminal);
  terminal->has_no_keys = false;
}

bool shell_needs_line(const struct terminal *terminal, const struct command *command) {
  if (terminal->has_no_keys) return true;
  if (terminal->kind == KIND_BASH) return command->flags & SHELL_POSIX;
  return terminal->kind == KIND_UNKNOWN || terminal->kind != terminal->keys_kind;
}

static uint64_t hidden_until_ms;

/*
 * ash and dash keep a descriptor of /dev/tty for their job control, and CRIU gives that back only
 * to the process that has the terminal's master. Where /dev/tty cannot be opened they take their
 * own stderr instead. So it is away until such a shell says, from its startup file, that it runs.
 */
void shell_hide_tty(const struct program *program) {
  for (char *const *variable = program->environment; *variable != NULL; variable++) {
    if (strcmp(*variable, "ENV=" SHELL_STARTUP) != 0) continue;
    if (rename(TTY, TTY_HIDDEN) == 0) hidden_until_ms = now_ms() + HIDDEN_MS;
    return;
  }
}

void shell_show_tty(void) {
  if (hidden_until_ms == 0) return;
  hidden_until_ms = 0;
  rename(TTY_HIDDEN, TTY);
}

int shell_show_tty_in_time(uint64_t now) {
  if (hidden_until_ms == 0) return -1;
  if (now < hidden_until_ms) return (int)(hidden_until_ms - now);
  shell_show_tty();
  return -1;
}
