/* A byte ring addressed by absolute offsets, in a mapping of its own. */
#include <string.h>
#include <sys/mman.h>

#include "init.h"

bool ring_open(struct ring *ring, uint32_t size_bytes) {
  *ring = (struct ring){.data = map_bytes(size_bytes), .size_bytes = size_bytes};
  return ring->data != NULL;
}

void ring_close(struct ring *ring) {
  if (ring->data != NULL) munmap(ring->data, ring->size_bytes);
  ring->data = NULL;
}

uint32_t ring_used(const struct ring *ring) {
  return (uint32_t)(ring->end - ring->start);
}

uint32_t ring_room(const struct ring *ring) {
  return ring->data == NULL ? 0 : ring->size_bytes - ring_used(ring);
}

bool ring_make_room(struct ring *ring, uint32_t count) {
  if (ring_room(ring) >= count) return true;
  struct ring larger;
  uint8_t chunk[4096];
  if (!ring_open(&larger, ring_used(ring) + count)) return false;
  larger.start = larger.end = ring->start;
  while (larger.end < ring->end) {
    uint32_t copied = ring_copy(ring, larger.end, chunk, sizeof chunk);
    ring_append(&larger, chunk, copied);
  }
  ring_close(ring);
  *ring = larger;
  return true;
}

void ring_append(struct ring *ring, const uint8_t *bytes, uint32_t count) {
  if (count > ring->size_bytes) {
    uint32_t skipped = count - ring->size_bytes;
    ring->end += skipped;
    bytes += skipped;
    count -= skipped;
  }
  uint32_t at = (uint32_t)(ring->end % ring->size_bytes);
  uint32_t first = ring->size_bytes - at < count ? ring->size_bytes - at : count;
  memcpy(ring->data + at, bytes, first);
  memcpy(ring->data, bytes + first, count - first);
  ring->end += count;
  if (ring->end - ring->start > ring->size_bytes) ring->start = ring->end - ring->size_bytes;
}

void ring_append_as_tty(struct ring *ring, const uint8_t *bytes, uint32_t count) {
  while (count > 0) {
    const uint8_t *newline = memchr(bytes, '\n', count);
    uint32_t line = newline == NULL ? count : (uint32_t)(newline - bytes);
    ring_append(ring, bytes, line);
    if (newline == NULL) return;
    ring_append(ring, (const uint8_t *)"\r\n", 2);
    bytes += line + 1;
    count -= line + 1;
  }
}

uint32_t ring_copy(const struct ring *ring, uint64_t offset, uint8_t *into, uint32_t count) {
  uint64_t available = ring->end - offset;
  if (available < count) count = (uint32_t)available;
  uint32_t at = (uint32_t)(offset % ring->size_bytes);
  uint32_t first = ring->size_bytes - at < count ? ring->size_bytes - at : count;
  memcpy(into, ring->data + at, first);
  memcpy(into + first, ring->data, count - first);
  return count;
}

void ring_forget_until(struct ring *ring, uint64_t offset) {
  if (offset > ring->start) ring->start = offset < ring->end ? offset : ring->end;
}
