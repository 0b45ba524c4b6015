/* Connections of the daemon: frames in, frames out, and the half-close that precedes a dump. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocol.h"

#define IN_BYTES (PAYLOAD_BYTES_MAX + FRAME_HEADER_BYTES)
#define OUT_BYTES (PAYLOAD_BYTES_MAX + 2 * FRAME_HEADER_BYTES)
/* Room that any answer but those of LIST and READ fits into. */
#define ANSWER_BYTES_MAX 512u

struct connection connections[CONNECTIONS_MAX];

void connections_accept(int listener) {
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  for (int i = 0; i < CONNECTIONS_MAX; i++) {
    struct connection *connection = &connections[i];
    if (connection->fd >= 0) continue;
    *connection = (struct connection){.fd = fd, .poll_slot = -1};
    connection->in = map_bytes(IN_BYTES);
    connection->out = map_bytes(OUT_BYTES);
    if (connection->in == NULL || connection->out == NULL) connection_close(connection);
    return;
  }
  /* None may wait unaccepted, for that would make a dump fail: the client tries again. */
  close(fd);
}

short connection_events(const struct connection *connection) {
  short events = connection->out_length > 0 ? POLLOUT : 0;
  if (connection->is_ended) return events;
  bool has_room = !connection->is_blocked && connection->in_length < IN_BYTES;
  return events | (has_room ? POLLIN : POLLRDHUP);
}

/* Unread input must be taken first, else the peer sees a reset instead of an orderly end. */
static void drop_input(struct connection *connection) {
  while (recv(connection->fd, connection->in, IN_BYTES, MSG_DONTWAIT) > 0) {
  }
}

void connection_close(struct connection *connection) {
  if (connection->fd < 0) return;
  if (connection->in != NULL) {
    drop_input(connection);
    munmap(connection->in, IN_BYTES);
  }
  if (connection->out != NULL) munmap(connection->out, OUT_BYTES);
  close(connection->fd);
  connection->fd = -1;
}

void connection_receive(struct connection *connection, short events) {
  if (events & POLLIN && connection->in_length < IN_BYTES) {
    ssize_t got = recv(connection->fd, connection->in + connection->in_length, IN_BYTES - connection->in_length, 0);
    if (got > 0) connection->in_length += (uint32_t)got;
    if (got == 0) connection->is_ended = true;
    if (got < 0 && errno != EAGAIN && errno != EINTR) connection->is_failed = true;
  }
  if (events & POLLERR) connection->is_failed = true;
  /* The end of a connection that is not read at present is only seen here. */
  if (!(events & POLLIN) && events & (POLLRDHUP | POLLHUP)) connection->is_ended = true;
}

static bool greet(struct connection *connection, uint16_t kind, const uint8_t *payload, uint32_t count) {
  if (kind != FRAME_HELLO || count != 4 || get_u32(payload) != PROTOCOL_VERSION) {
    send_error(connection, 0, EPROTONOSUPPORT);
    return false;
  }
  put_u32(frame_begin(connection, FRAME_HELLO, 0, 4), PROTOCOL_VERSION);
  connection->said_hello = true;
  return true;
}

/* Handles the first frame of the input; false when nothing more can be done with it now. */
static bool serve_frame(struct connection *connection) {
  if (connection->in_length < FRAME_HEADER_BYTES || connection->stream_id != 0) return false;
  uint32_t count = get_u32(connection->in);
  uint16_t kind = get_u16(connection->in + 4);
  uint32_t id = get_u32(connection->in + 8);
  const uint8_t *payload = connection->in + FRAME_HEADER_BYTES;
  if (count > PAYLOAD_BYTES_MAX) {
    connection->is_failed = true;
    return false;
  }
  if (connection->in_length < FRAME_HEADER_BYTES + count) return false;
  /* LIST may fill the whole buffer, and so it waits for an empty one. */
  if (kind == FRAME_LIST ? connection->out_length > 0 : frame_room(connection) < ANSWER_BYTES_MAX) return false;

  if (!connection->said_hello) {
    if (!greet(connection, kind, payload, count)) connection->is_ended = true;
  } else if (!request_handle(connection, kind, id, payload, count)) {
    connection->is_blocked = true;
    return false;
  }
  connection->is_blocked = false;
  connection->in_length -= FRAME_HEADER_BYTES + count;
  memmove(connection->in, payload + count, connection->in_length);
  return true;
}

static void flush_output(struct connection *connection) {
  while (connection->out_length > 0) {
    ssize_t put = send(connection->fd, connection->out + connection->out_start, connection->out_length,
                       MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put < 0) {
      if (errno != EAGAIN && errno != EINTR) connection->is_failed = true;
      return;
    }
    connection->out_start += (uint32_t)put;
    connection->out_length -= (uint32_t)put;
  }
  connection->out_start = 0;
}

/*
 * Does what can be done for the connection now. At its end, what was received is still handled up
 * to a request that would have to wait: that one and those behind it stay unanswered, and the
 * client sends them again on its next connection.
 */
void connection_serve(struct connection *connection) {
  bool is_moving = true;
  while (is_moving && !connection->is_failed) {
    is_moving = false;
    while (serve_frame(connection)) is_moving = true;
    if (connection->stream_id != 0 && connection->out_length == 0 && !connection->is_ended) stream_pump(connection);
    if (connection->out_length > 0) {
      flush_output(connection);
      /* A full socket ends it; an emptied buffer lets a waiting request or stream go on. Nothing
         fills the rings meanwhile, so a fast reader cannot keep us here. */
      is_moving = connection->out_length == 0 && !connection->is_ended;
    }
  }
  if (connection->is_failed || (connection->is_ended && connection->out_length == 0)) connection_close(connection);
}
