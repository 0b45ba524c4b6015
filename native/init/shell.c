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
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shell.h"

#define TICK_MS 20
#define BUSY_RETRY_MS 1000
/* A program that has the foreground so long after an interrupt goes on. */
#define INTERRUPT_TAKEN_MS 2000
#define HUNG_UP_RETRY_MS 200

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
    terminal->attempts = 0;
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

static int sooner(int left, int right) {
  return left < 0 || (right >= 0 && right < left) ? right : left;
}

/* A program may close its terminal and open it again. Returns how long to wait for that. */
static int retry_hung_up(struct terminal *terminal, uint64_t now) {
  if (!terminal->is_hung_up) return -1;
  if (now >= terminal->hung_up_at_ms + HUNG_UP_RETRY_MS) terminal->is_hung_up = false;
  return HUNG_UP_RETRY_MS;
}

/* A program that is still there, or that was started since, has taken the interrupt and not the shell. */
static bool may_lack_report(struct command *command, uint64_t now) {
  if (command->interrupted_at_ms == 0) return false;
  bool is_taken = terminal_foreground(command->terminal) != command->terminal->pid;
  if (is_taken && now >= command->interrupted_at_ms + INTERRUPT_TAKEN_MS) command->interrupted_at_ms = 0;
  return command->interrupted_at_ms != 0;
}

/* Does what is due on one terminal; returns how long the loop may sleep. */
static int tick_terminal(struct terminal *terminal, uint64_t now) {
  int wait_ms = retry_hung_up(terminal, now);
  if (terminal->current == NULL) shell_type_next(terminal, now);
  struct command *current = terminal->current;
  if (current == NULL) return shell_next_queued(terminal) == NULL ? wait_ms : sooner(wait_ms, TICK_MS);
  if (current->state == COMMAND_TYPED) {
    shell_urge(terminal, now);
    return sooner(wait_ms, 5 * TICK_MS);
  }
  wait_ms = sooner(wait_ms, shell_send_due_signal(current, now));
  /* Then its report may be lost too, and only a typed line tells when the prompt is back. */
  if (restore_files(terminal)) terminal->has_no_keys = true;
  if (!shell_needs_line(terminal, current) && !may_lack_report(current, now)) return wait_ms;
  if (terminal->is_sync_pending) return wait_ms;
  shell_ask_for_prompt(terminal, now);
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
