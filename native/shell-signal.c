/*
 * Signals for commands in a live shell.
 *
 * A shell that is just starting a program loses an interrupt: either the shell gets it and believes
 * that the program did, or the program's process gets it before it is the program. So a signal that
 * comes with the start of a command is delivered a little later, once.
 */
#include "init.h"

#define EARLY_MS 30

int shell_signal(struct command *command, int signal_number) {
  bool is_early = command->state == COMMAND_TYPED || now_ms() < command->started_at_ms + EARLY_MS;
  if (!is_early) return terminal_signal(command->terminal, signal_number);
  command->early_signal = signal_number;
  return 0;
}

int shell_send_early_signal(struct command *command, uint64_t now) {
  if (command->early_signal == 0 || command->state != COMMAND_RUNNING) return -1;
  if (now < command->started_at_ms + EARLY_MS) return EARLY_MS;
  terminal_signal(command->terminal, command->early_signal);
  command->early_signal = 0;
  return -1;
}
