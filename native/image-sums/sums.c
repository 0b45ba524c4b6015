#define _GNU_SOURCE
#include "sums.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD "waypoint sums 1 65536\n"
#define DIGITS_PER_CHUNK 17
/* Sums of 16 TiB of memory. */
#define SUMS_BYTES_MAX (4ull << 30)
#define LANES 4
#define POLYNOMIAL 0x82f63b78u

typedef void (*add_words)(uint32_t *lanes, const uint8_t *bytes, size_t steps);

static uint32_t tables[8][256];

static void make_tables(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; bit++) rest = (rest >> 1) ^ (rest & 1 ? POLYNOMIAL : 0);
    tables[0][byte] = rest;
  }
  for (int nth = 1; nth < 8; nth++) {
    for (int byte = 0; byte < 256; byte++) {
      uint32_t before = tables[nth - 1][byte];
      tables[nth][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
}

/* What the processor's instruction does with a word. */
static uint32_t add_word(uint32_t crc, uint64_t word) {
  word ^= crc;
  uint32_t result = 0;
  for (int nth = 0; nth < 8; nth++) result ^= tables[7 - nth][(word >> (8 * nth)) & 0xff];
  return result;
}

static void add_by_tables(uint32_t *lanes, const uint8_t *bytes, size_t steps) {
  for (size_t step = 0; step < steps; step++) {
    for (int lane = 0; lane < LANES; lane++, bytes += 8) {
      uint64_t word;
      memcpy(&word, bytes, sizeof word);
      lanes[lane] = add_word(lanes[lane], word);
    }
  }
}

#if defined(__x86_64__)
/* An instruction takes three cycles, and one begins in each: the lanes do not wait for each other. */
__attribute__((target("sse4.2"))) static void add_by_instruction(uint32_t *lanes, const uint8_t *bytes,
                                                                 size_t steps) {
  uint64_t crc[LANES] = {lanes[0], lanes[1], lanes[2], lanes[3]};
  for (size_t step = 0; step < steps; step++, bytes += 8 * LANES) {
    uint64_t words[LANES];
    memcpy(words, bytes, sizeof words);
    crc[0] = __builtin_ia32_crc32di(crc[0], words[0]);
    crc[1] = __builtin_ia32_crc32di(crc[1], words[1]);
    crc[2] = __builtin_ia32_crc32di(crc[2], words[2]);
    crc[3] = __builtin_ia32_crc32di(crc[3], words[3]);
  }
  for (int lane = 0; lane < LANES; lane++) lanes[lane] = (uint32_t)crc[lane];
}

static add_words fastest(void) {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.2") ? add_by_instruction : add_by_tables;
}
#else
static add_words fastest(void) { return add_by_tables; }
#endif

uint64_t sum_chunk(const void *bytes, size_t length) {
  static add_words add;
  if (add == NULL) {
    make_tables();
    add = fastest();
  }
  uint32_t lanes[LANES] = {~0u, ~0u, ~0u, ~0u};
  size_t steps = length / (8 * LANES), done = steps * 8 * LANES;
  add(lanes, bytes, steps);
  if (done < length) {
    /* Zeros in place of what is missing: the size of the file is compared, too. */
    uint8_t rest[8 * LANES] = {0};
    memcpy(rest, (const uint8_t *)bytes + done, length - done);
    add(lanes, rest, 1);
  }
  uint64_t high = add_word(lanes[0], (uint64_t)lanes[2] << 32);
  uint64_t low = add_word(lanes[1], (uint64_t)lanes[3] << 32);
  return high << 32 | low;
}

static int invalid(void) {
  errno = EBADMSG;
  return -1;
}

uint64_t chunks_of(uint64_t size) { return (size + SUM_CHUNK_BYTES - 1) / SUM_CHUNK_BYTES; }

/* Reads a line, whose end was made a 0: "NAME SIZE SUM SUM…". */
static int parse_line(char *line, const char *end, struct file_sums *file) {
  char *space = strchr(line, ' ');
  if (space == NULL || space == line) return invalid();
  *space = 0;
  char *digits;
  file->name = line;
  errno = 0;
  file->size = strtoull(space + 1, &digits, 10);
  file->digits = digits;
  if (digits == space + 1 || errno != 0) return invalid();
  uint64_t room = (uint64_t)(end - digits);
  return room == chunks_of(file->size) * DIGITS_PER_CHUNK ? 0 : invalid();
}

static int parse(char *text, size_t size, struct sums *sums) {
  const size_t head = sizeof HEAD - 1;
  if (size < head || memcmp(text, HEAD, head) != 0 || text[size - 1] != '\n') return invalid();
  size_t capacity = 0;
  for (char *line = text + head; line < text + size;) {
    char *end = memchr(line, '\n', (size_t)(text + size - line));
    if (end == NULL) return invalid();
    *end = 0;
    if (sums->count == capacity) {
      capacity = capacity * 2 + 64;
      struct file_sums *files = realloc(sums->files, capacity * sizeof *files);
      if (files == NULL) return -1;
      sums->files = files;
    }
    if (parse_line(line, end, &sums->files[sums->count++]) < 0) return -1;
    line = end + 1;
  }
  return 0;
}

int read_sums(const char *path, struct sums *sums) {
  *sums = (struct sums){0};
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return -1;
  struct stat status;
  char *text = NULL;
  int result = fstat(fd, &status);
  if (result == 0 && (uint64_t)status.st_size > SUMS_BYTES_MAX) result = invalid();
  if (result == 0 && (text = malloc((size_t)status.st_size + 1)) == NULL) result = -1;
  size_t done = 0;
  while (result == 0 && done < (size_t)status.st_size) {
    ssize_t part = read(fd, text + done, (size_t)status.st_size - done);
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) result = -1;
    if (part == 0) result = invalid();
    if (part > 0) done += (size_t)part;
  }
  close(fd);
  /* The names lie in the text, which stays. */
  return result == 0 ? parse(text, done, sums) : -1;
}

const struct file_sums *find_sums(const struct sums *sums, const char *name) {
  for (size_t index = 0; index < sums->count; index++) {
    if (strcmp(sums->files[index].name, name) == 0) return &sums->files[index];
  }
  return NULL;
}

const char *digits_of(const struct file_sums *file, uint64_t chunk) {
  return file->digits + chunk * DIGITS_PER_CHUNK;
}

int is_chunk_right(const struct file_sums *file, uint64_t number, const void *bytes, size_t length) {
  char sum[DIGITS_PER_CHUNK + 1];
  snprintf(sum, sizeof sum, " %016" PRIx64, sum_chunk(bytes, length));
  return memcmp(sum, digits_of(file, number), DIGITS_PER_CHUNK) == 0;
}

int write_sums_head(FILE *file) { return fputs(HEAD, file) < 0 ? -1 : 0; }

static int read_chunk(int fd, uint8_t *bytes, size_t wanted, off_t at) {
  for (size_t have = 0; have < wanted;) {
    ssize_t part = pread(fd, bytes + have, wanted - have, at + (off_t)have);
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) return -1;
    if (part == 0) return invalid();
    have += (size_t)part;
  }
  return 0;
}

int write_file_sums(FILE *file, int fd, const char *name, known_sum known) {
  static uint8_t bytes[SUM_CHUNK_BYTES];
  struct stat status;
  if (fstat(fd, &status) < 0) return -1;
  if (strpbrk(name, " \n") != NULL) return invalid();
  if (fprintf(file, "%s %" PRIu64, name, (uint64_t)status.st_size) < 0) return -1;
  for (off_t at = 0; at < status.st_size; at += SUM_CHUNK_BYTES) {
    size_t wanted = status.st_size - at < (off_t)sizeof bytes ? (size_t)(status.st_size - at) : sizeof bytes;
    const char *digits = known(name, (uint64_t)status.st_size, (uint64_t)at / SUM_CHUNK_BYTES);
    if (digits != NULL) {
      if (fwrite(digits, DIGITS_PER_CHUNK, 1, file) != 1) return -1;
      continue;
    }
    if (read_chunk(fd, bytes, wanted, at) < 0) return -1;
    if (fprintf(file, " %016" PRIx64, sum_chunk(bytes, wanted)) < 0) return -1;
  }
  return fputc('\n', file) < 0 ? -1 : 0;
}
