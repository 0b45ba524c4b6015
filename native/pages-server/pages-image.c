/*
 * CRIU's images of memory.
 *
 * pagemap-PID.img has two magic numbers, a head that names the file of pages, and an entry for each
 * row of neighbouring pages. The pages of all entries that are present lie in pages-ID.img, one
 * after the other. Every message is preceded by its length in 32 bits.
 */
#define _GNU_SOURCE
#include "pages.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMON_MAGIC 0x54564319u
#define PAGEMAP_MAGIC 0x56084025u
#define ENTRY_IN_PARENT 1u
#define ENTRY_LAZY 2u
#define ENTRY_PRESENT 4u

struct bytes {
  const unsigned char *at, *end;
};

static int invalid(void) {
  errno = EBADMSG;
  return -1;
}

static int read_word(struct bytes *bytes, uint32_t *word) {
  if (bytes->end - bytes->at < 4) return invalid();
  memcpy(word, bytes->at, 4);
  bytes->at += 4;
  return 0;
}

static int read_varint(struct bytes *bytes, uint64_t *value) {
  *value = 0;
  for (unsigned shift = 0; shift < 64 && bytes->at < bytes->end; shift += 7) {
    unsigned char byte = *bytes->at++;
    *value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return 0;
  }
  return invalid();
}

/* Reads a message of integers; fields above the last are passed over. */
static int read_message(struct bytes *bytes, uint64_t *fields, unsigned count) {
  uint32_t length;
  if (read_word(bytes, &length) < 0) return -1;
  if ((size_t)(bytes->end - bytes->at) < length) return invalid();
  struct bytes message = {bytes->at, bytes->at + length};
  bytes->at += length;
  memset(fields, 0, count * sizeof *fields);
  while (message.at < message.end) {
    uint64_t tag, value;
    if (read_varint(&message, &tag) < 0) return -1;
    if ((tag & 7) != 0) return invalid();
    if (read_varint(&message, &value) < 0) return -1;
    if (tag >> 3 < count) fields[tag >> 3] = value;
  }
  return 0;
}

static int map_file(int directory_fd, const char *name, struct bytes *bytes) {
  int fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  struct stat status;
  int result = fstat(fd, &status);
  *bytes = (struct bytes){0};
  if (result == 0 && status.st_size > 0) {
    void *start = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (start == MAP_FAILED) result = -1;
    else *bytes = (struct bytes){start, (unsigned char *)start + status.st_size};
  }
  close(fd);
  return result;
}

static int read_entries(struct bytes *bytes, struct image *image) {
  uint64_t offset = 0;
  while (bytes->at < bytes->end) {
    enum { ADDRESS = 1, COUNT_OLD = 2, FLAGS = 4, COUNT = 5, FIELDS };
    uint64_t fields[FIELDS];
    if (read_message(bytes, fields, FIELDS) < 0) return -1;
    uint64_t length = (fields[COUNT] != 0 ? fields[COUNT] : fields[COUNT_OLD]) * PAGE_BYTES;
    if (fields[FLAGS] & ENTRY_IN_PARENT) return invalid();
    if (!(fields[FLAGS] & ENTRY_PRESENT)) continue;
    struct range range = {fields[ADDRESS], fields[ADDRESS] + length, offset};
    offset += length;
    if (offset > image->content->size) return invalid();
    /* What is not lazy CRIU reads, and compares with nothing. */
    int is_lazy = (fields[FLAGS] & ENTRY_LAZY) != 0;
    if (is_lazy && add_range(&image->ranges, range) < 0) return -1;
    if (!is_lazy && require_right(image->content, range.offset, length) < 0) return -1;
  }
  return 0;
}

static int read_image(int images_fd, const char *name, const struct sums *sums, struct image *image) {
  struct bytes map;
  if (map_file(images_fd, name, &map) < 0) return -1;
  const void *start = map.at;
  size_t length = (size_t)(map.end - map.at);
  uint32_t common, kind;
  uint64_t head[2];
  char pages_name[64];
  int result = read_word(&map, &common);
  if (result == 0) result = read_word(&map, &kind);
  if (result == 0 && (common != COMMON_MAGIC || kind != PAGEMAP_MAGIC)) result = invalid();
  if (result == 0) result = read_message(&map, head, 2);
  if (result == 0) {
    snprintf(pages_name, sizeof pages_name, "pages-%u.img", (unsigned)head[1]);
    image->content = open_content(images_fd, pages_name, sums);
    result = image->content == NULL ? -1 : read_entries(&map, image);
  }
  if (length > 0) munmap((void *)start, length);
  return result;
}

/* Returns the process of "pagemap-PID.img", 0 for any other name. */
static int pid_of(const char *name) {
  static const char before[] = "pagemap-";
  if (strncmp(name, before, sizeof before - 1) != 0) return 0;
  const char *digits = name + sizeof before - 1;
  if (!isdigit((unsigned char)*digits)) return 0;
  char *end;
  long pid = strtol(digits, &end, 10);
  return strcmp(end, ".img") == 0 ? (int)pid : 0;
}

int read_images(int images_fd, const struct sums *sums, struct images *images) {
  int copy = openat(images_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *directory = copy < 0 ? NULL : fdopendir(copy);
  if (directory == NULL) return -1;
  int result = 0;
  for (struct dirent *entry; result == 0 && (entry = readdir(directory)) != NULL;) {
    int pid = pid_of(entry->d_name);
    if (pid == 0) continue;
    struct image *items = realloc(images->items, (images->count + 1) * sizeof *items);
    if (items == NULL) {
      result = -1;
      break;
    }
    images->items = items;
    items[images->count] = (struct image){.pid = pid};
    result = read_image(images_fd, entry->d_name, sums, &items[images->count++]);
  }
  closedir(directory);
  return result == 0 ? require_others_right(images_fd, sums, images) : result;
}

struct image *find_image(struct images *images, int pid) {
  for (size_t i = 0; i < images->count; i++) {
    if (images->items[i].pid == pid) return images->items + i;
  }
  return NULL;
}
