/* The files of pages, and whether their bytes are those that were captured. */
#define _GNU_SOURCE
#include "pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int invalid(void) {
  errno = EBADMSG;
  return -1;
}

static int map_content(int images_fd, const char *name, struct content *content) {
  int fd = openat(images_fd, name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  struct stat status;
  int result = fstat(fd, &status);
  content->size = result == 0 ? (uint64_t)status.st_size : 0;
  if (content->size > 0) {
    void *start = mmap(NULL, content->size, PROT_READ, MAP_SHARED, fd, 0);
    if (start == MAP_FAILED) result = -1;
    content->bytes = start;
  }
  close(fd);
  return result;
}

struct content *open_content(int images_fd, const char *name, const struct sums *sums) {
  struct content *content = calloc(1, sizeof *content);
  if (content == NULL || map_content(images_fd, name, content) < 0) return NULL;
  if (sums == NULL) return content;
  content->sums = find_sums(sums, name);
  content->right = calloc(content->size / SUM_CHUNK_BYTES + 1, 1);
  if (content->right == NULL) return NULL;
  if (content->sums != NULL && content->sums->size == content->size) return content;
  errno = EBADMSG;
  return NULL;
}

int require_right(struct content *content, uint64_t offset, uint64_t length) {
  if (content->sums == NULL || length == 0) return 0;
  uint64_t last = (offset + length - 1) / SUM_CHUNK_BYTES;
  for (uint64_t number = offset / SUM_CHUNK_BYTES; number <= last; number++) {
    if (content->right[number]) continue;
    uint64_t at = number * SUM_CHUNK_BYTES, left = content->size - at;
    size_t size = left < SUM_CHUNK_BYTES ? left : SUM_CHUNK_BYTES;
    if (!is_chunk_right(content->sums, number, content->bytes + at, size)) return invalid();
    content->right[number] = 1;
  }
  return 0;
}

static int is_served(const struct images *images, const struct file_sums *file) {
  for (size_t i = 0; i < images->count; i++) {
    if (images->items[i].content->sums == file) return 1;
  }
  return 0;
}

int require_others_right(int images_fd, const struct sums *sums, const struct images *images) {
  for (size_t i = 0; sums != NULL && i < sums->count; i++) {
    const struct file_sums *file = &sums->files[i];
    if (strncmp(file->name, "pages-", 6) != 0 || is_served(images, file)) continue;
    struct content *content = open_content(images_fd, file->name, sums);
    if (content == NULL || require_right(content, 0, content->size) < 0) return -1;
    if (content->size > 0) munmap((void *)content->bytes, content->size);
    free(content->right);
    free(content);
  }
  return 0;
}
