/* READ: a connection that follows a terminal or a command to its end. */
#include "protocol.h"

#define STREAM_FRAME_BYTES_MAX (31u * 1024)

/* Sends what the ring has from the reader's offset on; a slow reader of a terminal jumps ahead. */
static bool pump_ring(struct connection *connection, uint16_t kind, const struct ring *ring, uint64_t *offset) {
  if (*offset < ring->start || *offset > ring->end) *offset = ring->start;
  uint64_t available = ring->end - *offset;
  uint32_t count = available < STREAM_FRAME_BYTES_MAX ? (uint32_t)available : STREAM_FRAME_BYTES_MAX;
  if (count == 0) return false;
  uint8_t *payload = frame_begin(connection, kind, connection->stream_id, 8 + count);
  put_u64(payload, *offset);
  *offset += ring_copy(ring, *offset, payload + 8, count);
  return true;
}

/* The last frame; the client ends the connection after it. */
static void send_exit(struct connection *connection, int code, uint32_t signal_number, enum end_reason reason) {
  uint8_t *payload = frame_begin(connection, FRAME_EXIT, connection->stream_id, 12);
  put_u32(payload, (uint32_t)code);
  put_u32(payload + 4, signal_number);
  put_u32(payload + 8, reason);
  connection->is_exit_sent = true;
}

static void pump_terminal(struct connection *connection, const struct terminal *terminal) {
  bool has_more = pump_ring(connection, FRAME_OUTPUT, &terminal->output, &connection->offsets[0]);
  if (has_more || terminal->is_alive) return;
  send_exit(connection, terminal->exit_code, (uint32_t)terminal->exit_signal, END_EXITED);
}

static void pump_command(struct connection *connection, struct command *command) {
  bool has_more = false;
  for (int i = 0; i < 2; i++) {
    struct stream *stream = &command->streams[i];
    if (stream->ring.data == NULL) continue;
    has_more |= pump_ring(connection, i == 0 ? FRAME_STDOUT : FRAME_STDERR, &stream->ring, &connection->offsets[i]);
    /* What was sent makes room, which lets the command write on. */
    ring_forget_until(&stream->ring, connection->offsets[i]);
  }
  if (has_more || !command_is_complete(command)) return;
  send_exit(connection, command->exit_code, command->exit_signal, command->reason);
}

void stream_pump(struct connection *connection) {
  if (connection->is_exit_sent) return;
  struct terminal *terminal = terminal_find(connection->stream_id);
  struct command *command = terminal == NULL ? command_find(connection->stream_id) : NULL;
  if (terminal != NULL) pump_terminal(connection, terminal);
  else if (command != NULL) pump_command(connection, command);
  else send_exit(connection, 0, 0, END_CANCELLED);
}
