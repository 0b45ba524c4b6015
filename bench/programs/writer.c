/*
 * writer MEBIBYTES DIRECTORY asked|works|all: holds that much memory, every page of which is different, and
 * makes DIRECTORY/full. Asked, it writes 10 MiB of it, here and there, each time the number in
 * DIRECTORY/wanted is another one, and puts that into DIRECTORY/done; else it rests. A program that works
 * writes a MiB of it all the time, or all of it, and has the pages that it has written so far, in 64
 * bits, in DIRECTORY/steps.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ull
#define WRITTEN_PAGES 2560
#define WORKED_PAGES 256
#define STEPS_PER_LOOK 4096

static uint64_t state = 88172645463325252u;

static uint64_t next(void) {
  state ^= state << 13; state ^= state >> 7; state ^= state << 17;
  return state;
}

static unsigned long read_number(const char *path) {
  char text[32] = "";
  int file = open(path, O_RDONLY);
  if (file < 0) return 0;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  return length > 0 ? strtoul(text, NULL, 10) : 0;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  size_t pages = strtoull(argv[1], NULL, 10) * (1024 * 1024 / PAGE);
  int writes_all = strcmp(argv[3], "all") == 0, rests = strcmp(argv[3], "asked") == 0;
  if (pages <= WORKED_PAGES || chdir(argv[2]) != 0) return 2;
  uint8_t *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int steps_file = open("steps", O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (memory == MAP_FAILED || steps_file < 0) return 1;
  for (size_t page = 0; page < pages; page++) {
    uint64_t *words = (uint64_t *)(memory + page * PAGE);
    for (size_t i = 0; i < PAGE / sizeof *words; i++) words[i] = next();
  }
  close(open("full", O_WRONLY | O_CREAT, 0644));
  size_t worked = writes_all ? pages : WORKED_PAGES;
  unsigned long done = 0;
  for (uint64_t steps = 0, page = 0;;) {
    const struct timespec rest = {0, 1000000};
    if (rests) nanosleep(&rest, NULL);
    for (int i = 0; !rests && i < STEPS_PER_LOOK; i++, page = (page + 1) % worked) {
      uint64_t *words = (uint64_t *)(memory + page * PAGE);
      for (int word = 0; word < 64; word++) words[word] += next();
    }
    steps += rests ? 0 : STEPS_PER_LOOK;
    if (pwrite(steps_file, &steps, sizeof steps, 0) != sizeof steps) return 1;
    unsigned long wanted = read_number("wanted");
    if (wanted == done) continue;
    for (int i = 0; i < WRITTEN_PAGES; i++) memory[next() % pages * PAGE + 8]++;
    done = wanted;
    FILE *file = fopen("done", "w");
    if (file == NULL || fprintf(file, "%lu", done) < 0 || fclose(file) != 0) return 1;
  }
}
