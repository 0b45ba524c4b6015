/* The wire format between init and the daemon: docs/init-protocol.md is its description. */
#ifndef WAYPOINT_PROTOCOL_H
#define WAYPOINT_PROTOCOL_H

#include <stdint.h>
#include "init.h"

#define PROTOCOL_VERSION 1u
#define FRAME_HEADER_BYTES 12u

enum frame_kind {
  FRAME_HELLO = 1,
  FRAME_LIST = 2,
  FRAME_OPEN_TERMINAL = 3,
  FRAME_RESPAWN = 4,
  FRAME_SPAWN = 5,
  FRAME_SHELL_COMMAND = 6,
  FRAME_SHELL_APPEND = 7,
  FRAME_READ = 8,
  FRAME_WRITE = 9,
  FRAME_CLOSE_INPUT = 10,
  FRAME_RESIZE = 11,
  FRAME_SIGNAL = 12,
  FRAME_DISCARD = 13,
  FRAME_CLOSE = 14,

  FRAME_REPLY = 64,
  FRAME_ERROR = 65,
  FRAME_OUTPUT = 66,
  FRAME_STDOUT = 67,
  FRAME_STDERR = 68,
  FRAME_EXIT = 69,
};

#define LIST_TERMINALS 1u
#define LIST_COMMANDS 2u

uint16_t get_u16(const uint8_t *bytes);
uint32_t get_u32(const uint8_t *bytes);
uint64_t get_u64(const uint8_t *bytes);
void put_u32(uint8_t *bytes, uint32_t value);
void put_u64(uint8_t *bytes, uint64_t value);

/* Free bytes of the connection's output buffer, for payload. */
uint32_t frame_room(const struct connection *connection);
/* Appends a header and returns where its payload of `count` bytes has to be written. */
uint8_t *frame_begin(struct connection *connection, uint16_t kind, uint32_t id, uint32_t count);
void send_reply(struct connection *connection, uint32_t id);
/* Answers with an errno and its text. */
void send_error(struct connection *connection, uint32_t id, int error);

#endif
