/*
 * Has the shell at its prompt take a command: by the key sequence, or by a line where it knows none.
 *
 * Nothing tells whether a shell has read what was typed, so it is typed again when no answer comes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "shell.h"

#define PERSON_PAUSE_MS 20    /* a key just typed may start a program that would get our keys */
#define ANSWER_WAIT_MS 1500   /* per attempt */
#define BUSY_ANSWER_WAIT_MS 15000 /* of a shell that is at work */
#define SYNC_AFTER_IDLE_MS 200
#define ATTEMPTS_MAX 4

static const char KEY[] = "\033[7770~";
static const char KEY_END[] = "\033[7772~";
static const char KEY_AFTER_ABORT[] = "\a\033[7770~"; /* Ctrl-G ends a history search first */

bool shell_at_prompt(const struct terminal *terminal, bool has_line_editor) {
  struct termios settings;
  if (!terminal->is_alive || terminal_foreground(terminal) != terminal->pid) return false;
  if (!has_line_editor) return true;
  return tcgetattr(terminal->master, &settings) == 0 && !(settings.c_lflag & ICANON);
}

struct command *shell_next_queued(const struct terminal *terminal) {
  for (struct command *command = commands; command != NULL; command = command->next) {
    if (command->terminal == terminal && command->state == COMMAND_QUEUED) {
      return command->is_script_complete ? command : NULL;
    }
  }
  return NULL;
}

/* These only read lines that they edit themselves; of other shells nobody can know. */
static bool has_line_editor(const struct terminal *terminal, const struct command *command) {
  return !shell_needs_line(terminal, command) || terminal->kind == KIND_ZSH || terminal->kind == KIND_FISH;
}

static void type_bytes(struct terminal *terminal, const char *bytes, size_t count) {
  ring_append(&terminal->input, (const uint8_t *)bytes, (uint32_t)count);
  terminal_flush_input(terminal);
}

/* Types ` \. FILE` on a line of its own; Ctrl-U takes away what stands there. */
static void type_line(struct terminal *terminal, const char *name) {
  char path[96], line[128];
  shell_path(path, sizeof path, terminal, name);
  const char *word = terminal->kind == KIND_FISH ? "source" : "\\.";
  int length = snprintf(line, sizeof line, "\025 %s %s\r", word, path);
  type_bytes(terminal, line, (size_t)length);
}

static void type_command(struct terminal *terminal, struct command *command, uint64_t now) {
  if (terminal->attempts == 2 && !shell_needs_line(terminal, command)) terminal->has_no_keys = true;
  if (shell_needs_line(terminal, command)) type_line(terminal, "next");
  else if (terminal->attempts > 0) type_bytes(terminal, KEY_AFTER_ABORT, sizeof KEY_AFTER_ABORT - 1);
  else type_bytes(terminal, KEY, sizeof KEY - 1);
  terminal->attempts++;
  terminal->typed_at_ms = now;
}

void shell_type_next(struct terminal *terminal, uint64_t now) {
  struct command *command = shell_next_queued(terminal);
  if (command == NULL || now < terminal->retry_at_ms || ring_used(&terminal->input) > 0) return;
  if (now < terminal->input_at_ms + PERSON_PAUSE_MS) return;
  shell_read_control(terminal); /* a shell that has just started may have said that it has keys */
  terminal->kind = shell_kind_of(terminal);
  if (!shell_at_prompt(terminal, has_line_editor(terminal, command))) return;
  if (shell_write_wrapper(command) < 0) {
    command_end(command, 126, 0, END_REFUSED);
    return;
  }
  terminal->current = command;
  terminal->attempts = 0;
  command->state = COMMAND_TYPED;
  type_command(terminal, command, now);
}

/* What the shell does: a letter as in /proc/PID/stat, S when that cannot be read. */
static char shell_state(const struct terminal *terminal) {
  char path[32], line[128];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)terminal->pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 'S';
  ssize_t length = read(fd, line, sizeof line - 1);
  close(fd);
  line[length > 0 ? length : 0] = 0;
  const char *name_end = strrchr(line, ')');
  return name_end == NULL || name_end[1] == 0 ? 'S' : name_end[2];
}

/*
 * The shell did not answer yet: try again, in the end by typing a line, then give up.
 *
 * A shell that is at work comes to it. What is typed meanwhile would be echoed into the output of
 * the command, and the wait may be over only because the whole machine stood still. One that is
 * stopped is waited for as long, but has all of it to read when it goes on: nothing more is typed.
 */
void shell_urge(struct terminal *terminal, uint64_t now) {
  struct command *command = terminal->current;
  if (now < terminal->typed_at_ms + ANSWER_WAIT_MS) return;
  if (!shell_at_prompt(terminal, has_line_editor(terminal, command))) return;
  char state = shell_state(terminal);
  bool is_stopped = state == 'T';
  if (!is_stopped && state != 'S' && now < terminal->typed_at_ms + BUSY_ANSWER_WAIT_MS) return;
  if (terminal->attempts >= ATTEMPTS_MAX) {
    command_end(command, 126, 0, END_REFUSED);
  } else if (is_stopped) {
    terminal->attempts++;
    terminal->typed_at_ms = now;
  } else {
    type_command(terminal, command, now);
  }
}

/* Has the end of a command's key sequence follow, which an interrupt took from the line editor. */
static void type_end(struct terminal *terminal, uint64_t now) {
  if (terminal->attempts >= ATTEMPTS_MAX || shell_state(terminal) != 'S') return;
  if (now < terminal->input_at_ms + SYNC_AFTER_IDLE_MS || ring_used(&terminal->input) > 0) return;
  type_bytes(terminal, KEY_END, sizeof KEY_END - 1);
  terminal->attempts++;
  terminal->idle_since_ms = now;
}

/*
 * A POSIX shell does not say that it is back at its prompt after an interrupt. When it has been in
 * the foreground itself for a while, a line that says so is typed; it waits if the shell is busy.
 *
 * A shell that knows the keys says so by their last one, unless the interrupt came when the line editor had begun
 * and not read that yet: it throws away what it was to read.
 */
void shell_ask_for_prompt(struct terminal *terminal, uint64_t now) {
  bool needs_line = shell_needs_line(terminal, terminal->current) || terminal->kind == KIND_FISH;
  bool is_idle = shell_at_prompt(terminal, has_line_editor(terminal, terminal->current));
  if (!is_idle || terminal->idle_since_ms == 0) terminal->idle_since_ms = is_idle ? now : 0;
  if (terminal->is_sync_pending || !is_idle || now < terminal->idle_since_ms + SYNC_AFTER_IDLE_MS) return;
  if (!needs_line) return type_end(terminal, now);
  terminal->is_sync_pending = true;
  type_line(terminal, terminal->kind == KIND_FISH ? "sync.fish" : "sync");
}
