/*
 * Reads CRIU's pagemap images: which pages of a process lie in its pages image, one after another.
 * Two magic words, then entries of a 32-bit length and a protobuf message each. The first entry
 * names the pages image, each other one a range of addresses (docs/notes/criu).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image-copy.h"

#define IMAGE_MAGIC 0x54564319u
#define PAGEMAP_MAGIC 0x56084025u
#define FIELDS 8

enum { HEAD_PAGES_ID = 1 };
enum { ENTRY_ADDRESS = 1, ENTRY_PAGES = 2, ENTRY_IN_PARENT = 3, ENTRY_FLAGS = 4, ENTRY_PAGES_LONG = 5 };
enum { FLAG_PARENT = 1, FLAG_PRESENT = 4 };

/* A message of integers alone: the value of each field, and which fields there are. */
struct message {
  uint64_t value[FIELDS];
  bool has[FIELDS];
};

static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *value) {
  *value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (*at >= end) return false;
    uint8_t byte = *(*at)++;
    *value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/* A field that is no integer would be a format that we do not know. */
static bool read_message(const uint8_t *at, const uint8_t *end, struct message *message) {
  memset(message, 0, sizeof *message);
  while (at < end) {
    uint64_t tag, value;
    if (!read_varint(&at, end, &tag) || (tag & 7) != 0 || !read_varint(&at, end, &value)) return false;
    if (tag >> 3 >= FIELDS) continue;
    message->value[tag >> 3] = value;
    message->has[tag >> 3] = true;
  }
  return true;
}

/* Tells whether the pages of an entry lie in the pages image: not those of a parent, or absent ones. */
static bool is_present(const struct message *entry) {
  if (entry->has[ENTRY_FLAGS]) {
    return (entry->value[ENTRY_FLAGS] & (FLAG_PRESENT | FLAG_PARENT)) == FLAG_PRESENT;
  }
  return entry->value[ENTRY_IN_PARENT] == 0;
}

static bool add_run(struct layout *layout, uint64_t address, uint64_t pages, uint32_t flags) {
  struct run *last = layout->count == 0 ? NULL : &layout->runs[layout->count - 1];
  uint64_t offset = last == NULL ? 0 : last->offset + last->pages * PAGE;
  /* Addresses ascend in what CRIU writes, and are searched for by halves. */
  if (last != NULL && address < last->address + last->pages * PAGE) return false;
  if ((layout->count & (layout->count + 1)) == 0) {
    struct run *grown = realloc(layout->runs, (layout->count * 2 + 2) * sizeof *grown);
    if (grown == NULL) return false;
    layout->runs = grown;
  }
  layout->runs[layout->count++] = (struct run){address, pages, offset, flags};
  return true;
}

static bool parse(const uint8_t *bytes, size_t size, uint32_t *pages_id, struct layout *layout) {
  uint32_t words[2];
  if (size < sizeof words) return false;
  memcpy(words, bytes, sizeof words);
  if (words[0] != IMAGE_MAGIC || words[1] != PAGEMAP_MAGIC) return false;
  bool is_head = true;
  for (size_t at = sizeof words; at < size;) {
    uint32_t length;
    if (size - at < sizeof length) return false;
    memcpy(&length, bytes + at, sizeof length);
    at += sizeof length;
    struct message message;
    if (size - at < length || !read_message(bytes + at, bytes + at + length, &message)) return false;
    at += length;
    if (is_head) {
      *pages_id = (uint32_t)message.value[HEAD_PAGES_ID];
      is_head = false;
      continue;
    }
    uint64_t pages = message.value[message.has[ENTRY_PAGES_LONG] ? ENTRY_PAGES_LONG : ENTRY_PAGES];
    uint32_t flags = (uint32_t)message.value[ENTRY_FLAGS];
    if (is_present(&message) && !add_run(layout, message.value[ENTRY_ADDRESS], pages, flags)) return false;
  }
  return !is_head;
}

bool read_pagemap(int dir_fd, const char *name, uint32_t *pages_id, struct layout *layout) {
  *layout = (struct layout){0};
  int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat stat;
  uint8_t *bytes = NULL;
  bool ok = fstat(fd, &stat) == 0 && (bytes = malloc((size_t)stat.st_size + 1)) != NULL &&
            read_range(fd, bytes, (uint64_t)stat.st_size, 0) == (uint64_t)stat.st_size &&
            parse(bytes, (size_t)stat.st_size, pages_id, layout);
  free(bytes);
  close(fd);
  if (!ok) {
    free(layout->runs);
    *layout = (struct layout){0};
  }
  return ok;
}

struct layout whole_file(uint64_t size) {
  struct run *run = malloc(sizeof *run);
  if (run == NULL) return (struct layout){0};
  *run = (struct run){0, size / PAGE, 0, 0};
  return (struct layout){run, 1};
}
