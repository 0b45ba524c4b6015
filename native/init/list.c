/* LIST: the state of all objects as lines of key=value. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "protocol.h"
#include "shell.h"

#define LINE_BYTES_MAX 320u

static int terminal_line(const struct terminal *terminal, char *into, size_t size) {
  struct winsize window = {0};
  ioctl(terminal->master, TIOCGWINSZ, &window);
  bool is_at_prompt = terminal->current == NULL && shell_at_prompt(terminal, !terminal->has_no_keys);
  return snprintf(into, size,
                  "terminal id=%u pid=%d alive=%d cols=%u rows=%u start=%llu end=%llu foreground=%d atPrompt=%d "
                  "exit=%d signal=%d\n",
                  terminal->id, terminal->pid, terminal->is_alive, window.ws_col, window.ws_row,
                  (unsigned long long)terminal->output.start, (unsigned long long)terminal->output.end,
                  terminal->is_alive ? terminal_foreground(terminal) : 0, is_at_prompt, terminal->exit_code,
                  terminal->exit_signal);
}

static const char *state_name(const struct command *command) {
  switch (command->state) {
    case COMMAND_QUEUED:
    case COMMAND_TYPED: return "queued";
    case COMMAND_RUNNING: return "running";
    default: break;
  }
  bool is_held = command->streams[0].fd >= 0 || command->streams[1].fd >= 0;
  return is_held ? "draining" : "done";
}

static int command_line(const struct command *command, char *into, size_t size) {
  const struct ring *out = &command->streams[0].ring, *err = &command->streams[1].ring;
  return snprintf(into, size,
                  "command id=%u kind=%s terminal=%u state=%s pid=%d exit=%d signal=%u reason=%d discarded=%d "
                  "outStart=%llu outEnd=%llu errStart=%llu errEnd=%llu\n",
                  command->id, command->is_shell ? "shell" : "own",
                  command->terminal == NULL ? 0 : command->terminal->id, state_name(command), command->pid,
                  command->exit_code, command->exit_signal, command->reason, command->is_discarded,
                  (unsigned long long)out->start, (unsigned long long)out->end, (unsigned long long)err->start,
                  (unsigned long long)err->end);
}

/* The lists are short; finding the next id by scanning keeps them free of an order. */
static struct terminal *next_terminal(uint32_t after_id) {
  struct terminal *found = NULL;
  for (struct terminal *each = terminals; each != NULL; each = each->next) {
    if (!each->is_closed && each->id > after_id && (found == NULL || each->id < found->id)) found = each;
  }
  return found;
}

uint32_t list_objects(uint32_t what, uint32_t after_id, char *into, uint32_t size) {
  uint32_t length = 0;
  if (what == LIST_TERMINALS) {
    struct terminal *terminal = next_terminal(after_id);
    for (; terminal != NULL && length + LINE_BYTES_MAX < size; terminal = next_terminal(terminal->id)) {
      length += (uint32_t)terminal_line(terminal, into + length, LINE_BYTES_MAX);
    }
  }
  if (what == LIST_COMMANDS) {
    for (struct command *command = commands; command != NULL && length + LINE_BYTES_MAX < size;
         command = command->next) {
      if (command->id > after_id) length += (uint32_t)command_line(command, into + length, LINE_BYTES_MAX);
    }
  }
  return length;
}
