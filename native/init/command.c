/* Commands: output streams with back-pressure, input, and the exact end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shell.h"

/* Ended commands whose output is still held open by background processes; beyond it they lose it. */
#define BACKGROUND_STREAMS_MAX 256
/* A program may make its pipe larger; more than this is not taken at its end at once. */
#define OWED_BYTES_MAX (1024u * 1024)

struct command *commands;
static uint32_t last_id;

uint32_t next_object_id(void) {
  return ++last_id;
}

struct command *command_find(uint32_t id) {
  for (struct command *command = commands; command != NULL; command = command->next) {
    if (command->id == id) return command;
  }
  return NULL;
}

/* Appends to the list, so that commands of one terminal keep their order. */
struct command *command_new(bool is_shell) {
  struct command *command = map_bytes(sizeof *command);
  if (command == NULL) return NULL;
  command->id = next_object_id();
  command->is_shell = is_shell;
  command->input_fd = command->input_slot = -1;
  for (int i = 0; i < 2; i++) {
    command->streams[i].fd = command->streams[i].keep_fd = command->streams[i].poll_slot = -1;
  }
  struct command **link = &commands;
  while (*link != NULL) link = &(*link)->next;
  *link = command;
  return command;
}

static void close_if_open(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

void stream_close(struct stream *stream) {
  close_if_open(&stream->fd);
  close_if_open(&stream->keep_fd);
  stream->owed_bytes = 0;
}

static int open_pipes(struct command *command, int child[3]) {
  int pair[2];
  for (int i = 0; i < 3; i++) {
    if (pipe2(pair, O_CLOEXEC) < 0) return -1;
    int own = pair[i == 0 ? 1 : 0];
    child[i] = pair[i == 0 ? 0 : 1];
    fcntl(own, F_SETFL, O_NONBLOCK);
    if (i == 0) command->input_fd = own;
    else command->streams[i - 1].fd = own;
  }
  return 0;
}

struct command *command_spawn(const struct program *program) {
  struct command *command = command_new(false);
  if (command == NULL) return NULL;
  int child[3] = {-1, -1, -1};
  pid_t pid = -1;
  if (ring_open(&command->input, INPUT_RING_BYTES) && ring_open(&command->streams[0].ring, STREAM_RING_BYTES) &&
      ring_open(&command->streams[1].ring, STREAM_RING_BYTES) && open_pipes(command, child) == 0) {
    pid = program_start(program, NULL, child);
  }
  int error = errno;
  for (int i = 0; i < 3; i++) close_if_open(&child[i]);
  command->pid = pid;
  command->state = pid > 0 ? COMMAND_RUNNING : COMMAND_ENDED;
  if (pid > 0) return command;
  for (int i = 0; i < 2; i++) stream_close(&command->streams[i]);
  command->is_discarded = true; /* swept at the end of this round */
  errno = error;
  return NULL;
}

bool stream_wants_reading(const struct command *command, const struct stream *stream) {
  if (stream->fd < 0) return false;
  bool is_thrown_away = command->is_discarded || (command->state == COMMAND_ENDED && stream->owed_bytes == 0);
  return is_thrown_away || ring_room(&stream->ring) > 0;
}

static void show_output(struct command *command, const uint8_t *bytes, uint32_t count) {
  if (command->terminal == NULL || !(command->flags & SHELL_SHOW)) return;
  ring_append_as_tty(&command->terminal->output, bytes, count);
}

/* Reads once; what does not belong to the command any more is only shown, not kept. */
void command_read(struct command *command, struct stream *stream, short events) {
  static uint8_t chunk[64 * 1024];
  bool is_after_end = command->state == COMMAND_ENDED && stream->owed_bytes == 0;
  bool is_kept = !command->is_discarded && !is_after_end;
  uint32_t want = sizeof chunk;
  if (is_kept && ring_room(&stream->ring) < want) want = ring_room(&stream->ring);
  if (stream->owed_bytes > 0 && stream->owed_bytes < want) want = stream->owed_bytes;
  ssize_t got = want > 0 ? read(stream->fd, chunk, want) : 0;
  if (got > 0) {
    if (is_kept) ring_append(&stream->ring, chunk, (uint32_t)got);
    show_output(command, chunk, (uint32_t)got);
    if (stream->owed_bytes > 0) stream->owed_bytes -= (uint32_t)got;
    return;
  }
  bool is_over = want > 0 && (got == 0 || (errno != EAGAIN && errno != EINTR));
  if (is_over && stream->keep_fd < 0) stream_close(stream);
  (void)events;
}

void command_read_all(struct command *command) {
  for (int i = 0; i < 2; i++) {
    struct stream *stream = &command->streams[i];
    int present = 0;
    if (!stream_wants_reading(command, stream)) continue;
    if (ioctl(stream->fd, FIONREAD, &present) == 0 && present > 0) command_read(command, stream, POLLIN);
  }
}

/* What a command in a shell has printed is shown before the next prompt, whoever reads it when. */
static void take_owed(struct command *command, struct stream *stream) {
  if (stream->owed_bytes == 0 || stream->owed_bytes > OWED_BYTES_MAX) return;
  if (!command->is_discarded && !ring_make_room(&stream->ring, stream->owed_bytes)) return;
  for (uint32_t before = 0; stream->owed_bytes > 0 && stream->owed_bytes != before;) {
    before = stream->owed_bytes;
    command_read(command, stream, POLLIN);
  }
}

void command_flush_input(struct command *command) {
  uint8_t chunk[4096];
  while (command->input_fd >= 0 && ring_used(&command->input) > 0) {
    uint32_t count = ring_copy(&command->input, command->input.start, chunk, sizeof chunk);
    ssize_t put = write(command->input_fd, chunk, count);
    if (put < 0 && errno == EAGAIN) return;
    if (put < 0) { /* the program closed its input */
      ring_forget_until(&command->input, command->input.end);
      close_if_open(&command->input_fd);
      return;
    }
    ring_forget_until(&command->input, command->input.start + (uint64_t)put);
  }
  if (command->is_input_closing) close_if_open(&command->input_fd);
}

void command_end(struct command *command, int exit_code, uint32_t exit_signal, enum end_reason reason) {
  if (command->state == COMMAND_ENDED) return;
  /* A shell that comes to it later finds nothing to run. */
  if (command->is_shell && command->state != COMMAND_RUNNING) shell_remove_files(command);
  command->state = COMMAND_ENDED;
  command->exit_code = exit_code;
  command->exit_signal = exit_signal;
  command->reason = reason;
  close_if_open(&command->input_fd);
  for (int i = 0; i < 2; i++) {
    struct stream *stream = &command->streams[i];
    int present = 0;
    /* All that its processes wrote is in the pipe now; later bytes are of background processes. */
    if (stream->fd >= 0 && ioctl(stream->fd, FIONREAD, &present) == 0) stream->owed_bytes = (uint32_t)present;
    close_if_open(&stream->keep_fd);
    if (command->is_shell) take_owed(command, stream);
  }
  if (command->is_shell) shell_forget_command(command);
}

bool command_is_complete(const struct command *command) {
  return command->state == COMMAND_ENDED && command->streams[0].owed_bytes == 0 &&
         command->streams[1].owed_bytes == 0;
}

int command_signal(struct command *command, int signal_number) {
  if (command->state == COMMAND_ENDED) {
    errno = ESRCH;
    return -1;
  }
  if (!command->is_shell) return kill(-command->pid, signal_number);
  if (command->state == COMMAND_QUEUED) {
    command_end(command, 128 + signal_number, (uint32_t)signal_number, END_CANCELLED);
    return 0;
  }
  return shell_signal(command, signal_number);
}

void command_discard(struct command *command) {
  command->is_discarded = true;
  for (int i = 0; i < 2; i++) {
    struct ring *ring = &command->streams[i].ring;
    ring_forget_until(ring, ring->end);
  }
  if (command->state == COMMAND_QUEUED) command_end(command, 0, 0, END_CANCELLED);
}

static void command_free(struct command *command) {
  for (int i = 0; i < 2; i++) {
    stream_close(&command->streams[i]);
    ring_close(&command->streams[i].ring);
  }
  ring_close(&command->input);
  close_if_open(&command->input_fd);
  if (command->is_shell) shell_remove_files(command);
  munmap(command, sizeof *command);
}

/* Frees discarded commands that have ended and whose output nobody holds open any more. */
void commands_sweep(void) {
  int background = 0;
  for (struct command **link = &commands; *link != NULL;) {
    struct command *command = *link;
    bool is_free = command->is_discarded && command->state == COMMAND_ENDED;
    bool is_held = command->streams[0].fd >= 0 || command->streams[1].fd >= 0;
    if (is_free && is_held) background++;
    if (!is_free || (is_held && background <= BACKGROUND_STREAMS_MAX)) {
      link = &command->next;
      continue;
    }
    *link = command->next;
    command_free(command);
  }
}
