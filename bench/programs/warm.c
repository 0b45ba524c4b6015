/*
 * Touches memory and gives it back. warm MEBIBYTES prints the milliseconds of the touching, those of
 * touching as much once more, and those of touching a thousand small pages, by a fault each.
 *
 * The host of a virtual machine may take free memory away, and give it again at the first touch, at
 * twenty times the price of memory that is there. And a fault may
 * take long there: whatever starts programs, copies itself or has writes followed is slow then.
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

#define PAGE 4096
#define FAULTS 1000

static double touch(size_t bytes, int advice, size_t step) {
  double started_at = now_ms();
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return -1;
  madvise(memory, bytes, advice);
  for (size_t at = 0; at < bytes; at += step) memset(memory + at, 1, step == PAGE ? 1 : step);
  double took = now_ms() - started_at;
  munmap(memory, bytes);
  return took;
}

int main(int count, char **words) {
  size_t bytes = (count > 1 ? strtoul(words[1], NULL, 10) : 0) << 20;
  double first = touch(bytes, MADV_HUGEPAGE, bytes), again = touch(bytes, MADV_HUGEPAGE, bytes);
  printf("%.1f %.1f %.2f\n", first, again, touch(FAULTS * PAGE, MADV_NOHUGEPAGE, PAGE));
  return first < 0;
}
