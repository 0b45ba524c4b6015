/*
 * Holds `argv[1]` MiB of memory, every page of which is different, makes the file `argv[2]` when it
 * is full, and from then on reads a page now and then, as a program does that serves requests.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  size_t pages = strtoull(argv[1], NULL, 10) * (1024 * 1024 / PAGE);
  char *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  uint64_t state = 88172645463325252u;
  for (size_t page = 0; page < pages; page++) {
    uint64_t *words = (uint64_t *)(memory + page * PAGE);
    for (size_t i = 0; i < PAGE / sizeof *words; i++) {
      state ^= state << 13; state ^= state >> 7; state ^= state << 17;
      words[i] = state;
    }
  }
  close(open(argv[2], O_WRONLY | O_CREAT, 0644));
  const struct timespec pause = {0, 10000000};
  volatile char seen;
  for (size_t page = 0;; page = (page + 4099) % pages) {
    seen = memory[page * PAGE];
    (void)seen;
    nanosleep(&pause, NULL);
  }
}
