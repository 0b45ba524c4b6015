/*
 * Which pages of a process the images of the last checkpoint have: $WAYPOINT_REFERENCE is their directory.
 *
 * While a dump stands at its end, before pages are protected, the kernel may make large pages of small
 * ones, and fill what is missing in them with zeros. Such a page is clean the next time, and no image
 * has it: so clean pages are those that the reference has, and all others are copied.
 */
#define _GNU_SOURCE
#include "memory-preload.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES 4096ull
#define HEAD_BYTES 8
#define FIELDS 6
#define PARENT 1u
#define PRESENT 4u

enum { ADDRESS = 1, PAGES_OLD = 2, FLAGS = 4, PAGES = 5 };

static struct page_region *known;
static size_t known_count, known_next;

static unsigned char *read_whole(const char *path, size_t *size) {
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  struct stat status;
  unsigned char *bytes = NULL;
  if (fd < 0) return NULL;
  if (fstat(fd, &status) == 0 && (bytes = malloc((size_t)status.st_size + 1)) != NULL) {
    *size = 0;
    for (ssize_t part; (part = read(fd, bytes + *size, (size_t)status.st_size - *size)) > 0;) *size += (size_t)part;
    if (*size != (size_t)status.st_size) {
      free(bytes);
      bytes = NULL;
    }
  }
  syscall(SYS_close, fd);
  return bytes;
}

static int read_varint(const unsigned char **at, const unsigned char *end, uint64_t *value) {
  *value = 0;
  for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
    unsigned char byte = *(*at)++;
    *value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return 0;
  }
  return -1;
}

/* Adds what an entry says; -1 where it is none that is known. */
static int add_entry(const unsigned char *at, const unsigned char *end) {
  uint64_t fields[FIELDS] = {0};
  while (at < end) {
    uint64_t tag, value;
    if (read_varint(&at, end, &tag) < 0 || (tag & 7) != 0 || read_varint(&at, end, &value) < 0) return -1;
    if (tag >> 3 < FIELDS) fields[tag >> 3] = value;
  }
  if ((fields[FLAGS] & (PRESENT | PARENT)) != PRESENT) return 0;
  uint64_t pages = fields[PAGES] != 0 ? fields[PAGES] : fields[PAGES_OLD];
  struct page_region next = {fields[ADDRESS], fields[ADDRESS] + pages * PAGE_BYTES, 0};
  struct page_region *last = known_count == 0 ? NULL : &known[known_count - 1];
  if (last != NULL && next.start < last->end) return -1;
  if (last != NULL && next.start == last->end) {
    last->end = next.end;
    return 0;
  }
  if ((known_count & (known_count + 1)) == 0) {
    struct page_region *grown = realloc(known, (known_count * 2 + 2) * sizeof *grown);
    if (grown == NULL) return -1;
    known = grown;
  }
  known[known_count++] = next;
  return 0;
}

int read_reference(int inside) {
  const char *directory = getenv("WAYPOINT_REFERENCE");
  char path[512];
  size_t size = 0;
  known_count = known_next = 0;
  if (directory == NULL) return -1;
  snprintf(path, sizeof path, "%s/pagemap-%d.img", directory, inside);
  unsigned char *bytes = read_whole(path, &size);
  int result = bytes == NULL ? -1 : 0;
  int is_head = 1;
  for (size_t at = HEAD_BYTES; result == 0 && at < size;) {
    uint32_t length = 0;
    if (size - at >= sizeof length) memcpy(&length, bytes + at, sizeof length);
    at += sizeof length;
    if (at > size || size - at < length) result = -1;
    else if (!is_head) result = add_entry(bytes + at, bytes + at + length);
    is_head = 0;
    at += length;
  }
  free(bytes);
  return result;
}

/* CRIU asks for one mapping after the other, and now and then for a part of the last one again. */
static void seek(uint64_t address) {
  if (known_next > 0 && known[known_next - 1].end > address) known_next = 0;
  while (known_next < known_count && known[known_next].end <= address) known_next++;
}

uint64_t known_until(uint64_t start, uint64_t end, int *is_known) {
  seek(start);
  const struct page_region *region = known_next < known_count ? &known[known_next] : NULL;
  *is_known = region != NULL && region->start <= start;
  uint64_t until = region == NULL ? end : *is_known ? region->end : region->start;
  return until < end ? until : end;
}
