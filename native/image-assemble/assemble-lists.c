/* Reads the list of clean and of taken pages, and the mappings of a process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assemble.h"

#define LINE_BYTES 128
#define MAPPINGS_FIELD 14
#define INTEGER 0
#define BYTES 2

enum { VMA_START = 1, VMA_END = 2, VMA_FLAGS = 6, VMA_STATUS = 7, VMA_FIELDS = 12 };
/* CRIU's: mappings that the kernel makes. */
#define STATUS_OF_KERNEL (1u << 2 | 1u << 3 | 1u << 12)

struct clean {
  int pid;
  struct stretch range;
};

static struct clean *clean;
static size_t clean_count;

void *grow(void *all, size_t count, size_t size) {
  if ((count & (count + 1)) != 0) return all;
  void *grown = realloc(all, (count * 2 + 2) * size);
  if (grown == NULL) fail("allocate", "a list");
  return grown;
}

static int by_place(const void *left, const void *right) {
  const struct clean *a = left, *b = right;
  if (a->pid != b->pid) return a->pid < b->pid ? -1 : 1;
  return a->range.start == b->range.start ? 0 : a->range.start < b->range.start ? -1 : 1;
}

void read_clean(const char *path) {
  FILE *file = fopen(path, "re");
  char line[LINE_BYTES];
  bool is_whole = false;
  if (file == NULL) fail("open", path);
  while (!is_whole && fgets(line, sizeof line, file) != NULL) {
    struct clean next;
    is_whole = strcmp(line, "end\n") == 0;
    if (is_whole) break;
    uint64_t place = 0;
    int found = sscanf(line, "%d %lx %lx %lx", &next.pid, &next.range.start, &next.range.end, &place);
    if (found < 3 || next.range.start >= next.range.end || (next.range.start | next.range.end | place) % PAGE != 0)
      refuse("a range that is none", line);
    if (found == 4) {
      note_taken(next.pid, next.range, place);
      continue;
    }
    clean = grow(clean, clean_count, sizeof *clean);
    clean[clean_count++] = next;
  }
  fclose(file);
  if (!is_whole) refuse("the list is not whole", path);
  qsort(clean, clean_count, sizeof *clean, by_place);
}

bool has_clean(int pid) {
  for (size_t i = 0; i < clean_count; i++) {
    if (clean[i].pid == pid) return true;
  }
  return false;
}

struct stretches clean_of(int pid) {
  struct stretches found = {0};
  for (size_t i = 0; i < clean_count; i++) {
    if (clean[i].pid != pid) continue;
    struct stretch next = clean[i].range, *last = found.count == 0 ? NULL : &found.all[found.count - 1];
    /* CRIU asks twice for some. */
    if (last != NULL && next.start <= last->end) {
      if (next.end > last->end) last->end = next.end;
      continue;
    }
    found.all = grow(found.all, found.count, sizeof *found.all);
    found.all[found.count++] = next;
  }
  return found;
}

struct bytes {
  const uint8_t *at, *end;
};

static uint64_t read_varint(struct bytes *bytes, const char *name) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && bytes->at < bytes->end; shift += 7) {
    uint8_t byte = *bytes->at++;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  refuse("not a message", name);
}

static struct bytes read_part(struct bytes *bytes, uint64_t length, const char *name) {
  if ((uint64_t)(bytes->end - bytes->at) < length) refuse("too short", name);
  struct bytes part = {bytes->at, bytes->at + length};
  bytes->at += length;
  return part;
}

static void add_mapping(struct mappings *mappings, struct bytes part, const char *name) {
  uint64_t value[VMA_FIELDS] = {0};
  while (part.at < part.end) {
    uint64_t tag = read_varint(&part, name);
    if ((tag & 7) != INTEGER) refuse("an unknown mapping", name);
    uint64_t field = read_varint(&part, name);
    if (tag >> 3 < VMA_FIELDS) value[tag >> 3] = field;
  }
  uint64_t flags = value[VMA_FLAGS];
  /* Of droppable memory CRIU copies nothing. */
  if ((flags & MAP_TYPE) == 0x08) return;
  bool is_private = (flags & MAP_ANONYMOUS) && (flags & MAP_TYPE) == MAP_PRIVATE;
  bool is_lazy = is_private && !(flags & (MAP_LOCKED | MAP_HUGETLB)) && !(value[VMA_STATUS] & STATUS_OF_KERNEL);
  mappings->all = grow(mappings->all, mappings->count, sizeof *mappings->all);
  mappings->all[mappings->count++] = (struct mapping){value[VMA_START], value[VMA_END], is_lazy};
}

struct mappings read_mappings(int dir_fd, int pid) {
  char name[32];
  snprintf(name, sizeof name, "mm-%d.img", pid);
  int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
  struct stat stat;
  if (fd < 0 || fstat(fd, &stat) < 0) fail("open", name);
  uint8_t *content = malloc((size_t)stat.st_size + 1);
  if (content == NULL) fail("allocate", name);
  if (read_range(fd, content, (uint64_t)stat.st_size, 0) != (uint64_t)stat.st_size) refuse("too short", name);
  close(fd);
  struct bytes bytes = {content, content + stat.st_size};
  struct mappings mappings = {0};
  /* Two magic words, and the length of the one message. */
  read_part(&bytes, 2 * sizeof(uint32_t), name);
  uint32_t length;
  memcpy(&length, read_part(&bytes, sizeof length, name).at, sizeof length);
  struct bytes message = read_part(&bytes, length, name);
  while (message.at < message.end) {
    uint64_t tag = read_varint(&message, name);
    uint64_t value = read_varint(&message, name);
    if ((tag & 7) == INTEGER) continue;
    if ((tag & 7) != BYTES) refuse("an unknown field", name);
    struct bytes part = read_part(&message, value, name);
    if (tag >> 3 == MAPPINGS_FIELD) add_mapping(&mappings, part, name);
  }
  free(content);
  return mappings;
}
