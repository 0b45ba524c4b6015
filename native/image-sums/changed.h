/*
 * What of images was put together from others, and has other bytes than these: a file of text with lines
 * "NAME START END", hexadecimal bytes of the image, and "end" as the last one. Images that are not named have
 * nothing in common with others.
 */
#ifndef CHANGED_H
#define CHANGED_H

#include "sums.h"

/* One image that begins as another one did, in chunks of SUM_CHUNK_BYTES. */
struct changed_image {
  char name[32];
  uint64_t chunks; /* of the image before */
  uint8_t *is_changed;
};

struct changed_images {
  struct changed_image *images;
  size_t count;
};

/* Reads the list, of images whose sums are known; -1 with `errno` set where there is none to rely on. */
int read_changed(const char *path, const struct sums *before, struct changed_images *changed);

/* Returns what is on the list of an image; NULL where it is not on it. */
const struct changed_image *find_changed(const struct changed_images *changed, const char *name);

/*
 * Returns the sum's digits of a chunk that has the bytes that it had, NULL for one that is to be read.
 * `file` has the sums of the image before.
 */
const char *known_digits(const struct changed_image *image, const struct file_sums *file, uint64_t size,
                         uint64_t chunk);

#endif
