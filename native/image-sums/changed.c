#define _GNU_SOURCE
#include "changed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 128

static struct changed_image *find_image(const struct changed_images *changed, const char *name) {
  for (size_t index = 0; index < changed->count; index++) {
    if (strcmp(changed->images[index].name, name) == 0) return &changed->images[index];
  }
  return NULL;
}

/* Of an image that had no sums all is to be read. */
static struct changed_image *add_image(struct changed_images *changed, const char *name, const struct sums *before) {
  const struct file_sums *file = find_sums(before, name);
  uint64_t chunks = file == NULL ? 0 : chunks_of(file->size);
  struct changed_image *images = realloc(changed->images, (changed->count + 1) * sizeof *images);
  if (images == NULL) return NULL;
  changed->images = images;
  struct changed_image *image = &images[changed->count];
  *image = (struct changed_image){.chunks = chunks, .is_changed = calloc(chunks + 1, 1)};
  strcpy(image->name, name);
  if (image->is_changed == NULL) return NULL;
  changed->count++;
  return image;
}

static void mark(struct changed_image *image, uint64_t start, uint64_t end) {
  for (uint64_t chunk = start / SUM_CHUNK_BYTES; chunk < image->chunks && chunk * SUM_CHUNK_BYTES < end; chunk++)
    image->is_changed[chunk] = 1;
}

int read_changed(const char *path, const struct sums *before, struct changed_images *changed) {
  *changed = (struct changed_images){0};
  FILE *file = fopen(path, "re");
  if (file == NULL) return -1;
  char line[LINE_BYTES], name[sizeof changed->images->name];
  int result = -1;
  errno = EBADMSG;
  while (fgets(line, sizeof line, file) != NULL) {
    uint64_t start, end;
    if (strcmp(line, "end\n") == 0) {
      result = 0;
      break;
    }
    if (sscanf(line, "%31s %lx %lx", name, &start, &end) != 3) break;
    struct changed_image *image = find_image(changed, name);
    if (image == NULL) image = add_image(changed, name, before);
    if (image == NULL) break;
    mark(image, start, end);
  }
  fclose(file);
  return result;
}

const struct changed_image *find_changed(const struct changed_images *changed, const char *name) {
  return find_image(changed, name);
}

const char *known_digits(const struct changed_image *image, const struct file_sums *file, uint64_t size,
                         uint64_t chunk) {
  if (image == NULL || chunk >= image->chunks || image->is_changed[chunk]) return NULL;
  /* The last one of an image that has become longer or shorter has other bytes. */
  uint64_t start = chunk * SUM_CHUNK_BYTES, end = start + SUM_CHUNK_BYTES;
  if (size != file->size && (end > size || end > file->size)) return NULL;
  return digits_of(file, chunk);
}
