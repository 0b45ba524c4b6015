/*
 * Runs inside a session and notes every time at which it did not run: a line of milliseconds for
 * each gap between two ticks that is long enough to be more than the scheduler's doing. It ticks while
 * there is a file of the name of its notes and ".on": a dozen that tick all the time keep a processor busy.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS 250000L
#define GAP_MS 1.0
/* How often it looks whether it is to tick. */
#define LOOK_NS 5000000L

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  int file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (file < 0) return 1;
  char is_on[4096];
  if (snprintf(is_on, sizeof is_on, "%s.on", argv[1]) >= (int)sizeof is_on) return 1;
  const struct timespec tick = {0, TICK_NS}, look = {0, LOOK_NS};
  for (double last = now_ms();;) {
    if (access(is_on, F_OK) != 0) {
      nanosleep(&look, NULL);
      last = now_ms();
      continue;
    }
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
