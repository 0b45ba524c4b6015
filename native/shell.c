/*
 * Commands in the live shell of a terminal.
 *
 * Init sends a key sequence (bash with the integration) or types a line (any other POSIX shell)
 * when the shell waits at its prompt. The shell then sources the wrapper as if a person had typed
 * it, and reports on the terminal's control FIFO: "start ID", "exit ID CODE", "prompt CODE" when it
 * is back at its prompt whatever happened, "busy" when a person's unfinished command is in the way.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "init.h"

#define TICK_MS 20
#define PERSON_PAUSE_MS 20    /* a key just typed may start a program that would get our keys */
#define ANSWER_WAIT_MS 1500   /* per attempt */
#define BUSY_RETRY_MS 1000
#define SYNC_AFTER_IDLE_MS 200
#define ATTEMPTS_MAX 4
#define HUNG_UP_RETRY_MS 200

static const char KEY[] = "\033[7770~";
static const char KEY_AFTER_ABORT[] = "\a\033[7770~"; /* Ctrl-G ends a history search first */

/* Programs may remove any file of the session: makes ours again, and says whether it had to. */
static bool restore_files(struct terminal *terminal) {
  char path[96];
  shell_path(path, sizeof path, terminal, "control");
  if (access(path, F_OK) == 0 || errno != ENOENT) return false;
  int old_fd = terminal->control_fd, old_answer_fd = terminal->answer_fd;
  if (shell_prepare_terminal(terminal) == 0) {
    close(old_fd);
    close(old_answer_fd);
    return true;
  }
  terminal->control_fd = old_fd;
  terminal->answer_fd = old_answer_fd;
  return false;
}

void shell_forget_terminal(struct terminal *terminal) {
  for (struct command *command = commands; command != NULL; command = command->next) {
    if (command->terminal != terminal) continue;
    command_end(command, 128 + 1, 1, END_SHELL);
    command->terminal = NULL;
  }
  if (terminal->control_fd >= 0) close(terminal->control_fd);
  if (terminal->answer_fd >= 0) close(terminal->answer_fd);
  if (terminal->program != NULL) shell_remove_directory(terminal);
}

static int refuse(struct command *command, int error) {
  command_end(command, 126, 0, END_REFUSED);
  command->is_discarded = true;
  errno = error;
  return -1;
}

int shell_append(struct command *command, uint32_t flags, const uint8_t *script, uint32_t count) {
  if (!command->is_shell || command->is_script_complete || command->state != COMMAND_QUEUED) {
    errno = EINVAL;
    return -1;
  }
  if (command->script_bytes + count > SCRIPT_BYTES_MAX) return refuse(command, E2BIG);
  if (shell_write_script(command, script, count) < 0) return refuse(command, errno);
  command->script_bytes += count;
  command->is_script_complete = !(flags & SHELL_MORE);
  return 0;
}

struct command *shell_command(struct terminal *terminal, uint32_t flags, const uint8_t *script, uint32_t count) {
  if (!terminal->is_alive) {
    errno = ESRCH;
    return NULL;
  }
  struct command *command = command_new(true);
  if (command == NULL) return NULL;
  restore_files(terminal);
  command->terminal = terminal;
  command->flags = flags;
  command->state = COMMAND_QUEUED;
  if (shell_make_streams(command) < 0) {
    refuse(command, errno);
    return NULL;
  }
  return shell_append(command, flags, script, count) < 0 ? NULL : command;
}

void shell_forget_command(struct command *command) {
  struct terminal *terminal = command->terminal;
  if (terminal != NULL && terminal->current == command) terminal->current = NULL;
}

/* A shell ended: its running command ends with it, what waits in the queue has not begun. */
void shell_ended(struct terminal *terminal, int wait_status) {
  shell_read_control(terminal); /* an exit reported just before still counts */
  struct command *current = terminal->current;
  if (current != NULL && current->state == COMMAND_RUNNING) {
    int signal_number = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    int code = signal_number != 0 ? 128 + signal_number : WEXITSTATUS(wait_status);
    command_end(current, code, (uint32_t)signal_number, END_SHELL);
  }
  typed_end(terminal, WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status));
  for (struct command *command = commands; command != NULL; command = command->next) {
    if (command->terminal == terminal && command->state != COMMAND_ENDED) {
      command_end(command, 126, 0, END_SHELL_LOST);
    }
  }
  terminal->current = NULL;
}

static void take_report(struct terminal *terminal, const char *line) {
  struct command *current = terminal->current;
  unsigned id = 0;
  int code = 0;
  if (typed_take_report(terminal, line)) return;
  if (strcmp(line, "ready") == 0) shell_show_tty();
  if (strcmp(line, "keys") == 0) shell_knows_keys(terminal);
  if (current == NULL) return;
  bool is_typed = current->state == COMMAND_TYPED;
  if (sscanf(line, "start %u", &id) == 1 && id == current->id && is_typed) {
    /* The shell waits for us to open the streams: all on the terminal is older than their bytes. */
    terminal_drain(terminal);
    shell_open_streams(current);
    current->state = COMMAND_RUNNING;
    terminal->is_sync_pending = false;
    terminal->idle_since_ms = 0;
    current->started_at_ms = now_ms();
  } else if (sscanf(line, "exit %u %d", &id, &code) == 2 && id == current->id) {
    command_end(current, code, 0, END_EXITED);
  } else if (sscanf(line, "prompt %d", &code) == 1 && current->state == COMMAND_RUNNING) {
    command_end(current, code, code > 128 && code < 193 ? (uint32_t)(code - 128) : 0, END_ABORTED);
  } else if (strcmp(line, "busy") == 0 && is_typed) {
    current->state = COMMAND_QUEUED;
    terminal->current = NULL;
    terminal->retry_at_ms = now_ms() + BUSY_RETRY_MS;
  }
}

void shell_read_control(struct terminal *terminal) {
  char chunk[256];
  ssize_t got;
  while ((got = read(terminal->control_fd, chunk, sizeof chunk)) > 0) {
    for (ssize_t i = 0; i < got; i++) {
      if (chunk[i] != '\n') {
        /* A line that is too long is not ours: keep its beginning, it will match nothing. */
        if (terminal->control_length < sizeof terminal->control_line - 1) {
          terminal->control_line[terminal->control_length++] = chunk[i];
        }
        continue;
      }
      terminal->control_line[terminal->control_length] = 0;
      terminal->control_length = 0;
      take_report(terminal, terminal->control_line);
    }
  }
}

/*
 * What was read may hold the next prompt. Its command then has reported its end, or the shell is
 * in the foreground again without having finished it, and what it printed is in its streams.
 */
void shell_before_output(struct terminal *terminal) {
  struct command *current = terminal->current;
  if (current == NULL || current->state != COMMAND_RUNNING) return;
  shell_read_control(terminal);
  if (terminal->current == NULL) return;
  if (shell_at_prompt(terminal, false)) command_read_all(current);
}

bool shell_at_prompt(const struct terminal *terminal, bool has_line_editor) {
  struct termios settings;
  if (!terminal->is_alive || terminal_foreground(terminal) != terminal->pid) return false;
  if (!has_line_editor) return true;
  return tcgetattr(terminal->master, &settings) == 0 && !(settings.c_lflag & ICANON);
}

static struct command *next_queued(const struct terminal *terminal) {
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

static void start_next(struct terminal *terminal, uint64_t now) {
  struct command *command = next_queued(terminal);
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

/* The shell did not answer yet: try again, in the end by typing a line, then give up. */
static void urge(struct terminal *terminal, uint64_t now) {
  struct command *command = terminal->current;
  if (now < terminal->typed_at_ms + ANSWER_WAIT_MS) return;
  if (!shell_at_prompt(terminal, has_line_editor(terminal, command))) return;
  if (terminal->attempts >= ATTEMPTS_MAX) command_end(command, 126, 0, END_REFUSED);
  else type_command(terminal, command, now);
}

/*
 * A POSIX shell does not say that it is back at its prompt after an interrupt. When it has been in
 * the foreground itself for a while, a line that says so is typed; it waits if the shell is busy.
 */
static void ask_for_prompt(struct terminal *terminal, uint64_t now) {
  bool is_idle = shell_at_prompt(terminal, has_line_editor(terminal, terminal->current));
  if (!is_idle || terminal->idle_since_ms == 0) terminal->idle_since_ms = is_idle ? now : 0;
  if (terminal->is_sync_pending || !is_idle || now < terminal->idle_since_ms + SYNC_AFTER_IDLE_MS) return;
  terminal->is_sync_pending = true;
  type_line(terminal, terminal->kind == KIND_FISH ? "sync.fish" : "sync");
}

static int sooner(int left, int right) {
  return left < 0 || (right >= 0 && right < left) ? right : left;
}

/* A program may close its terminal and open it again. Returns how long to wait for that. */
static int retry_hung_up(struct terminal *terminal, uint64_t now) {
  if (!terminal->is_hung_up) return -1;
  if (now >= terminal->hung_up_at_ms + HUNG_UP_RETRY_MS) terminal->is_hung_up = false;
  return HUNG_UP_RETRY_MS;
}

/* Does what is due on one terminal; returns how long the loop may sleep. */
static int tick_terminal(struct terminal *terminal, uint64_t now) {
  int wait_ms = retry_hung_up(terminal, now);
  if (terminal->current == NULL) start_next(terminal, now);
  struct command *current = terminal->current;
  if (current == NULL) return next_queued(terminal) == NULL ? wait_ms : sooner(wait_ms, TICK_MS);
  if (current->state == COMMAND_TYPED) {
    urge(terminal, now);
    return sooner(wait_ms, 5 * TICK_MS);
  }
  wait_ms = sooner(wait_ms, shell_send_due_signal(current, now));
  /* Then its report may be lost too, and only a typed line tells when the prompt is back. */
  if (restore_files(terminal)) terminal->has_no_keys = true;
  if (!shell_needs_line(terminal, current) || terminal->is_sync_pending) return wait_ms;
  ask_for_prompt(terminal, now);
  return sooner(wait_ms, 5 * TICK_MS);
}

int shell_tick(void) {
  uint64_t now = now_ms();
  int wait_ms = shell_show_tty_in_time(now);
  for (struct terminal *terminal = terminals; terminal != NULL; terminal = terminal->next) {
    if (!terminal->is_closed && terminal->is_alive) wait_ms = sooner(wait_ms, tick_terminal(terminal, now));
  }
  return wait_ms;
}
