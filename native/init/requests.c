/* The requests of the protocol, one function each. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "protocol.h"
#include "shell.h"

#define INTERRUPT_CHARACTER 3

/* Answers with success, or with errno when `result` says so. */
static bool answer(struct connection *connection, uint32_t id, int result) {
  if (result < 0) send_error(connection, id, errno);
  else send_reply(connection, id);
  return true;
}

static bool refuse(struct connection *connection, uint32_t id, int error) {
  errno = error;
  return answer(connection, id, -1);
}

static bool handle_list(struct connection *connection, const uint8_t *payload, uint32_t count) {
  if (count != 8) return refuse(connection, 0, EINVAL);
  uint8_t *header = connection->out + connection->out_start + connection->out_length;
  uint32_t room = frame_room(connection);
  char *text = (char *)frame_begin(connection, FRAME_REPLY, 0, 0);
  uint32_t length = list_objects(get_u32(payload), get_u32(payload + 4), text, room);
  put_u32(header, length);
  connection->out_length += length;
  return true;
}

static bool handle_open_terminal(struct connection *connection, const uint8_t *payload, uint32_t count) {
  struct program *program = count < 4 ? NULL : program_parse(payload + 4, count - 4);
  if (program == NULL) return refuse(connection, 0, EINVAL);
  struct terminal *terminal = terminal_open(program, get_u16(payload), get_u16(payload + 2));
  if (terminal != NULL) return answer(connection, terminal->id, 0);
  int error = errno;
  program_free(program);
  return refuse(connection, 0, error);
}

static bool handle_spawn(struct connection *connection, const uint8_t *payload, uint32_t count) {
  struct program *program = program_parse(payload, count);
  if (program == NULL) return refuse(connection, 0, EINVAL);
  struct command *command = command_spawn(program);
  int error = errno;
  program_free(program);
  return command != NULL ? answer(connection, command->id, 0) : refuse(connection, 0, error);
}

static bool handle_shell_command(struct connection *connection, uint32_t id, const uint8_t *payload, uint32_t count) {
  struct terminal *terminal = terminal_find(id);
  if (terminal == NULL) return refuse(connection, id, ENOENT);
  if (count < 4) return refuse(connection, id, EINVAL);
  struct command *command = shell_command(terminal, get_u32(payload), payload + 4, count - 4);
  return command != NULL ? answer(connection, command->id, 0) : answer(connection, id, -1);
}

static bool handle_shell_append(struct connection *connection, uint32_t id, const uint8_t *payload, uint32_t count) {
  struct command *command = command_find(id);
  if (command == NULL) return refuse(connection, id, ENOENT);
  if (count < 4) return refuse(connection, id, EINVAL);
  return answer(connection, id, shell_append(command, get_u32(payload), payload + 4, count - 4));
}

static bool handle_read(struct connection *connection, uint32_t id, const uint8_t *payload, uint32_t count) {
  if (terminal_find(id) == NULL && command_find(id) == NULL) return refuse(connection, id, ENOENT);
  if (count != 16) return refuse(connection, id, EINVAL);
  connection->stream_id = id;
  connection->offsets[0] = get_u64(payload);
  connection->offsets[1] = get_u64(payload + 8);
  return answer(connection, id, 0);
}

/* A write is taken whole or not at all, so that it is never sent twice after a dump. */
static bool handle_write(struct connection *connection, uint32_t id, const uint8_t *payload, uint32_t count) {
  struct terminal *terminal = terminal_find(id);
  struct command *command = terminal == NULL ? command_find(id) : NULL;
  if (terminal == NULL && command == NULL) return refuse(connection, id, ENOENT);
  if (count > INPUT_RING_BYTES) return refuse(connection, id, E2BIG);
  if (terminal != NULL) {
    if (!terminal->is_alive) return refuse(connection, id, ESRCH);
    if (ring_room(&terminal->input) < count) return false;
    ring_append(&terminal->input, payload, count);
    terminal->input_at_ms = now_ms();
    /* The kernel forgets typed lines at an interrupt, ours among them. */
    if (memchr(payload, INTERRUPT_CHARACTER, count) != NULL) {
      terminal->is_sync_pending = false;
      if (terminal->current != NULL) terminal->current->interrupted_at_ms = now_ms();
    }
    terminal_flush_input(terminal);
    return answer(connection, id, 0);
  }
  if (command->input_fd < 0 || command->is_input_closing) return refuse(connection, id, EPIPE);
  if (ring_room(&command->input) < count) return false;
  ring_append(&command->input, payload, count);
  command_flush_input(command);
  return answer(connection, id, 0);
}

static bool handle_close_input(struct connection *connection, uint32_t id) {
  struct command *command = command_find(id);
  if (command == NULL) return refuse(connection, id, ENOENT);
  command->is_input_closing = true;
  command_flush_input(command);
  return answer(connection, id, 0);
}

static bool handle_resize(struct connection *connection, uint32_t id, const uint8_t *payload, uint32_t count) {
  struct terminal *terminal = terminal_find(id);
  if (terminal == NULL) return refuse(connection, id, ENOENT);
  if (count != 4) return refuse(connection, id, EINVAL);
  struct winsize size = {.ws_col = get_u16(payload), .ws_row = get_u16(payload + 2)};
  int result = ioctl(terminal->master, TIOCSWINSZ, &size);
  int error = errno;
  terminal_note_size(terminal);
  errno = error;
  return answer(connection, id, result);
}

static bool handle_signal(struct connection *connection, uint32_t id, const uint8_t *payload, uint32_t count) {
  if (count != 4) return refuse(connection, id, EINVAL);
  int signal_number = (int)get_u32(payload);
  struct terminal *terminal = terminal_find(id);
  if (terminal != NULL) return answer(connection, id, terminal_signal(terminal, signal_number));
  struct command *command = command_find(id);
  if (command == NULL) return refuse(connection, id, ENOENT);
  return answer(connection, id, command_signal(command, signal_number));
}

static bool handle_discard(struct connection *connection, uint32_t id) {
  struct command *command = command_find(id);
  if (command == NULL) return refuse(connection, id, ENOENT);
  command_discard(command);
  return answer(connection, id, 0);
}

static bool handle_respawn(struct connection *connection, uint32_t id) {
  struct terminal *terminal = terminal_find(id);
  if (terminal == NULL) return refuse(connection, id, ENOENT);
  return answer(connection, id, terminal_respawn(terminal));
}

static bool handle_close(struct connection *connection, uint32_t id) {
  struct terminal *terminal = terminal_find(id);
  if (terminal == NULL) return refuse(connection, id, ENOENT);
  terminal_close(terminal);
  return answer(connection, id, 0);
}

bool request_handle(struct connection *connection, uint16_t kind, uint32_t id, const uint8_t *payload, uint32_t count) {
  switch (kind) {
    case FRAME_LIST: return handle_list(connection, payload, count);
    case FRAME_OPEN_TERMINAL: return handle_open_terminal(connection, payload, count);
    case FRAME_RESPAWN: return handle_respawn(connection, id);
    case FRAME_SPAWN: return handle_spawn(connection, payload, count);
    case FRAME_SHELL_COMMAND: return handle_shell_command(connection, id, payload, count);
    case FRAME_SHELL_APPEND: return handle_shell_append(connection, id, payload, count);
    case FRAME_READ: return handle_read(connection, id, payload, count);
    case FRAME_WRITE: return handle_write(connection, id, payload, count);
    case FRAME_CLOSE_INPUT: return handle_close_input(connection, id);
    case FRAME_RESIZE: return handle_resize(connection, id, payload, count);
    case FRAME_SIGNAL: return handle_signal(connection, id, payload, count);
    case FRAME_DISCARD: return handle_discard(connection, id);
    case FRAME_CLOSE: return handle_close(connection, id);
    default: return refuse(connection, id, ENOSYS);
  }
}
