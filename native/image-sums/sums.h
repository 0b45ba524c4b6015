/*
 * Sums of a checkpoint's images: what tells a flipped bit from what was captured.
 *
 * They are a file of text. The first line says what it is; each other line names
 * an image, its size in bytes, and a sum for every SUM_CHUNK_BYTES of it, each of 16 hexadecimal
 * digits. Chunks, so that a lazy restore can look at just what it brings.
 */
#ifndef SUMS_H
#define SUMS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SUM_CHUNK_BYTES 65536ul

/* The line of one image. */
struct file_sums {
  const char *name;
  uint64_t size;
  const char *digits; /* 17 characters for each chunk: a space and the sum */
};

struct sums {
  struct file_sums *files;
  size_t count;
};

/*
 * Returns the sum of a chunk: CRC32C of four lanes of words, folded into 64 bits. A change within 32
 * neighbouring bits always shows, any other one but once in 2^32.
 */
uint64_t sum_chunk(const void *bytes, size_t length);

/* Returns -1 with `errno` set when there are none to rely on. */
int read_sums(const char *path, struct sums *sums);
/* Returns the space and the digits of one chunk. */
const char *digits_of(const struct file_sums *file, uint64_t chunk);
uint64_t chunks_of(uint64_t size);
const struct file_sums *find_sums(const struct sums *sums, const char *name);

/* Tells whether a chunk of an image, by its number, has the sum that it should have. */
int is_chunk_right(const struct file_sums *file, uint64_t number, const void *bytes, size_t length);

/* Returns the digits of a chunk whose sum is known, NULL for another one. */
typedef const char *(*known_sum)(const char *name, uint64_t size, uint64_t chunk);

/* Writes what read_sums reads. Return -1 with `errno` set. */
int write_sums_head(FILE *file);
int write_file_sums(FILE *file, int fd, const char *name, known_sum known);

#endif
