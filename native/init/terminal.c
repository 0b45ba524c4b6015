/* Terminals: a PTY whose master init owns, the program on it, and a ring of its output. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "shell.h"

#define GROUP_TTY 5

struct terminal *terminals;

struct terminal *terminal_find(uint32_t id) {
  for (struct terminal *terminal = terminals; terminal != NULL; terminal = terminal->next) {
    if (terminal->id == id && !terminal->is_closed) return terminal;
  }
  return NULL;
}

static int slave_path(const struct terminal *terminal, char *into, size_t size) {
  unsigned number;
  if (ioctl(terminal->master, TIOCGPTN, &number) < 0) return -1;
  snprintf(into, size, "/dev/pts/%u", number);
  return 0;
}

static int start_program(struct terminal *terminal) {
  char path[32];
  if (slave_path(terminal, path, sizeof path) < 0) return -1;
  if (chown(path, terminal->program->uid, GROUP_TTY) < 0) return -1;
  shell_hide_tty(terminal->program);
  pid_t pid = program_start(terminal->program, path, NULL);
  if (pid < 0) {
    shell_show_tty();
    return -1;
  }
  terminal->pid = pid;
  terminal->is_alive = true;
  terminal->is_hung_up = false;
  terminal->has_no_keys = false;
  terminal->keys_kind = 0;
  terminal->is_sync_pending = false;
  terminal->control_length = 0;
  return 0;
}

/* Opens the master through devpts itself: /dev/ptmx may be missing in a base. */
static int open_master(uint16_t cols, uint16_t rows) {
  int master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  int unlock = 0;
  struct winsize size = {.ws_row = rows, .ws_col = cols};
  if (master < 0) return -1;
  if (ioctl(master, TIOCSPTLCK, &unlock) == 0 && ioctl(master, TIOCSWINSZ, &size) == 0) return master;
  int error = errno;
  close(master);
  errno = error;
  return -1;
}

static void terminal_free(struct terminal *terminal) {
  shell_forget_terminal(terminal);
  if (terminal->master >= 0) close(terminal->master);
  ring_close(&terminal->output);
  ring_close(&terminal->typed);
  ring_close(&terminal->input);
  program_free(terminal->program);
  munmap(terminal, sizeof *terminal);
}

/* The shell learns from its environment where to report (see the bash integration). */
static void name_terminal(struct terminal *terminal) {
  snprintf(terminal->variable, sizeof terminal->variable, "WAYPOINT_TERMINAL=%u", terminal->id);
  terminal->program->environment[terminal->program->environment_count] = terminal->variable;
}

struct terminal *terminal_open(struct program *program, uint16_t cols, uint16_t rows) {
  struct terminal *terminal = map_bytes(sizeof *terminal);
  if (terminal == NULL) return NULL;
  memcpy(terminal->mark, TERMINAL_MARK, sizeof terminal->mark);
  terminal->id = next_object_id();
  terminal->cols = cols;
  terminal->rows = rows;
  terminal->control_fd = terminal->answer_fd = -1;
  terminal->poll_slot = terminal->control_slot = -1;
  terminal->program = program;
  terminal->master = open_master(cols, rows);
  name_terminal(terminal);
  if (terminal->master >= 0 && ring_open(&terminal->output, TERMINAL_RING_BYTES) &&
      ring_open(&terminal->input, INPUT_RING_BYTES) && shell_prepare_terminal(terminal) == 0 &&
      start_program(terminal) == 0) {
    terminal->next = terminals;
    terminals = terminal;
    return terminal;
  }
  int error = errno;
  terminal->program = NULL; /* stays the caller's */
  terminal_free(terminal);
  errno = error;
  return NULL;
}

int terminal_respawn(struct terminal *terminal) {
  if (terminal->is_alive) {
    errno = EBUSY;
    return -1;
  }
  return start_program(terminal);
}

void terminal_read(struct terminal *terminal, short events) {
  /* One bounded read per round keeps a flood on one terminal from starving the others. */
  static uint8_t chunk[16 * 1024];
  ssize_t got = read(terminal->master, chunk, sizeof chunk);
  if (got > 0) {
    terminal_note_size(terminal);
    shell_before_output(terminal);
    ring_append(&terminal->output, chunk, (uint32_t)got);
  }
  bool is_empty = got < 0 && (errno == EIO || errno == EAGAIN);
  if (is_empty && (events & POLLHUP)) {
    terminal->is_hung_up = true;
    terminal->hung_up_at_ms = now_ms();
  }
}

void terminal_note_size(struct terminal *terminal) {
  struct winsize size;
  if (ioctl(terminal->master, TIOCGWINSZ, &size) < 0) return;
  terminal->cols = size.ws_col;
  terminal->rows = size.ws_row;
}

void terminal_flush_input(struct terminal *terminal) {
  uint8_t chunk[4096];
  while (ring_used(&terminal->input) > 0) {
    uint32_t count = ring_copy(&terminal->input, terminal->input.start, chunk, sizeof chunk);
    ssize_t put = write(terminal->master, chunk, count);
    if (put <= 0) return;
    ring_forget_until(&terminal->input, terminal->input.start + (uint64_t)put);
  }
}

void terminal_drain(struct terminal *terminal) {
  static uint8_t chunk[4096];
  ssize_t got;
  /* Bounded: a background process may go on writing for ever. */
  for (int i = 0; i < 64 && (got = read(terminal->master, chunk, sizeof chunk)) > 0; i++) {
    ring_append(&terminal->output, chunk, (uint32_t)got);
  }
}

void terminal_program_ended(struct terminal *terminal, int wait_status) {
  terminal_drain(terminal);
  terminal->is_alive = false;
  terminal->exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
  terminal->exit_signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
  ring_forget_until(&terminal->input, terminal->input.end);
  shell_ended(terminal, wait_status);
}

pid_t terminal_foreground(const struct terminal *terminal) {
  pid_t group = 0;
  if (ioctl(terminal->master, TIOCGPGRP, &group) < 0) return 0;
  return group;
}

int terminal_signal(struct terminal *terminal, int signal_number) {
  pid_t group = terminal->is_alive ? terminal_foreground(terminal) : 0;
  if (group <= 1) {
    errno = ESRCH;
    return -1;
  }
  return kill(-group, signal_number);
}

void terminal_close(struct terminal *terminal) {
  if (terminal->is_alive) {
    terminal_signal(terminal, SIGHUP);
    kill(terminal->pid, SIGHUP);
    kill(terminal->pid, SIGCONT);
  }
  terminal->is_closed = true;
}

void terminals_sweep(void) {
  for (struct terminal **link = &terminals; *link != NULL;) {
    struct terminal *terminal = *link;
    if (!terminal->is_closed) {
      link = &terminal->next;
      continue;
    }
    *link = terminal->next;
    terminal_free(terminal);
  }
}
