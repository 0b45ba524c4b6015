/* Encoding of frames. */
#include "protocol.h"

#include <string.h>

#define OUT_BYTES (PAYLOAD_BYTES_MAX + 2 * FRAME_HEADER_BYTES)

uint16_t get_u16(const uint8_t *bytes) {
  return (uint16_t)(bytes[0] | bytes[1] << 8);
}

uint32_t get_u32(const uint8_t *bytes) {
  return (uint32_t)get_u16(bytes) | (uint32_t)get_u16(bytes + 2) << 16;
}

uint64_t get_u64(const uint8_t *bytes) {
  return (uint64_t)get_u32(bytes) | (uint64_t)get_u32(bytes + 4) << 32;
}

static void put_u16(uint8_t *bytes, uint16_t value) {
  bytes[0] = (uint8_t)value;
  bytes[1] = (uint8_t)(value >> 8);
}

void put_u32(uint8_t *bytes, uint32_t value) {
  put_u16(bytes, (uint16_t)value);
  put_u16(bytes + 2, (uint16_t)(value >> 16));
}

void put_u64(uint8_t *bytes, uint64_t value) {
  put_u32(bytes, (uint32_t)value);
  put_u32(bytes + 4, (uint32_t)(value >> 32));
}

uint32_t frame_room(const struct connection *connection) {
  uint32_t used = connection->out_start + connection->out_length + FRAME_HEADER_BYTES;
  return used >= OUT_BYTES ? 0 : OUT_BYTES - used;
}

uint8_t *frame_begin(struct connection *connection, uint16_t kind, uint32_t id, uint32_t count) {
  uint8_t *header = connection->out + connection->out_start + connection->out_length;
  put_u32(header, count);
  put_u16(header + 4, kind);
  put_u16(header + 6, 0);
  put_u32(header + 8, id);
  connection->out_length += FRAME_HEADER_BYTES + count;
  return header + FRAME_HEADER_BYTES;
}

void send_reply(struct connection *connection, uint32_t id) {
  frame_begin(connection, FRAME_REPLY, id, 0);
}

void send_error(struct connection *connection, uint32_t id, int error) {
  const char *text = strerror(error);
  uint32_t length = (uint32_t)strlen(text);
  uint8_t *payload = frame_begin(connection, FRAME_ERROR, id, 4 + length);
  put_u32(payload, (uint32_t)error);
  memcpy(payload + 4, text, length);
}
