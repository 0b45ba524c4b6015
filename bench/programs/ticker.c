/*
 * Runs inside a session and notes every time at which it did not run: a line of milliseconds for
 * each gap between two ticks that is long enough to be more than the scheduler's doing.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS 250000L
#define GAP_MS 1.0

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  int file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (file < 0) return 1;
  const struct timespec tick = {0, TICK_NS};
  for (double last = now_ms();;) {
    nanosleep(&tick, NULL);
    double now = now_ms();
    if (now - last > GAP_MS) {
      char line[64];
      int length = snprintf(line, sizeof line, "%.3f\n", now - last);
      if (write(file, line, (size_t)length) != length) return 1;
    }
    last = now_ms();
  }
}
