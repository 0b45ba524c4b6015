/*
 * What a person types into a terminal's shell.
 *
 * The shell reports each line before it runs it and each end before it shows the next prompt, and
 * waits for a moment until we have answered: by then all that was printed so far is in the ring of
 * the terminal, so what comes between the two is the command's output. Nothing of it is shown.
 *
 * It is noted as lines of text in a ring of its own, which the daemon reads from the images of a
 * dump: so it is as old as what it tells of, and outlives the daemon, a restore and a fork. Whatever
 * runs as the terminal's user can report anything; it costs no more than the ring.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shell.h"

#define TYPED_RING_BYTES (128u * 1024)

static void note(struct terminal *terminal, const char *line, int length) {
  if (length <= 0) return;
  if (terminal->typed.data == NULL && !ring_open(&terminal->typed, TYPED_RING_BYTES)) return;
  ring_append(&terminal->typed, (const uint8_t *)line, (uint32_t)length);
}

static uint64_t wall_clock_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void begin(struct terminal *terminal, const char *text) {
  static char line[CONTROL_LINE_BYTES + 128];
  /* Where a shell has no key binding it is a line of ours that was typed. */
  if (strstr(text, TERMINALS_DIR "/") != NULL) return;
  typed_end(terminal, -1);
  terminal_drain(terminal);
  terminal->is_typed_running = true;
  terminal->typed_number++;
  int length = snprintf(line, sizeof line, "begin %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
                        terminal->typed_number, wall_clock_ms(), now_ms(), terminal->output.end, text);
  note(terminal, line, length < (int)sizeof line ? length : (int)sizeof line - 1);
}

void typed_end(struct terminal *terminal, int exit_code) {
  char line[128];
  if (!terminal->is_typed_running) return;
  terminal_drain(terminal);
  terminal->is_typed_running = false;
  int length = snprintf(line, sizeof line, "end %" PRIu64 " %" PRIu64 " %" PRIu64 " %d\n", terminal->typed_number,
                        now_ms(), terminal->output.end, exit_code);
  note(terminal, line, length);
}

/* The shell tells its answer from one that nobody has waited for. */
static void answer(struct terminal *terminal, const char *token) {
  char line[40];
  int length = snprintf(line, sizeof line, "%s\n", token);
  /* When the FIFO is full of answers nobody reads them; a shell waits for a second at most. */
  ssize_t written = write(terminal->answer_fd, line, (size_t)length);
  (void)written;
}

/* Answers that nobody has waited for. */
static void forget_answers(struct terminal *terminal) {
  char old[256];
  while (read(terminal->answer_fd, old, sizeof old) > 0) {
  }
}

bool typed_take_report(struct terminal *terminal, const char *line) {
  char kind[8], token[24];
  int code = 0, length = 0;
  if (sscanf(line, "%7s %23s%n", kind, token, &length) != 2 || line[length] != ' ') return false;
  const char *rest = line + length + 1;
  if (strcmp(kind, "typed") == 0) begin(terminal, rest);
  else if (strcmp(kind, "done") == 0 && sscanf(rest, "%d", &code) == 1) typed_end(terminal, code);
  else return false;
  forget_answers(terminal);
  answer(terminal, token);
  return true;
}
