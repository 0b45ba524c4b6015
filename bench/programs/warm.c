/*
 * Touches memory and gives it back. warm MEBIBYTES prints the milliseconds of the touching, then
 * those of touching as much once more.
 *
 * The host of a virtual machine may take free memory away, and give it again at the first touch, at
 * twenty times the price of memory that is there.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static double touch(size_t bytes) {
  double started_at = now_ms();
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return -1;
  madvise(memory, bytes, MADV_HUGEPAGE);
  memset(memory, 1, bytes);
  double took = now_ms() - started_at;
  munmap(memory, bytes);
  return took;
}

int main(int count, char **words) {
  size_t bytes = (count > 1 ? strtoul(words[1], NULL, 10) : 0) << 20;
  double first = touch(bytes);
  printf("%.1f %.1f\n", first, touch(bytes));
  return first < 0;
}
