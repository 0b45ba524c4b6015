/*
 * Keeps memory that the machine has at hand, for whoever needs much of it at once.
 *
 *     warm-memory BYTES-MAX
 *
 * The host of a virtual machine may take back what is free there, and give it again at the first
 * touch, at twenty times the price. What a program holds it does not take. Commands come on standard
 * input, one a line:
 *
 *     keep BYTES     touch so much, in the background and when nobody else wants a processor
 *     leave BYTES    let go of all else, at once: it is the kernel's to give to whoever comes next
 *     held           print how many bytes are held by now
 *
 * What is touched is marked as free to take (MADV_FREE). So a machine or a control group that runs
 * short of memory takes it in place of pushing anything else out, and before it ends any program;
 * what is gone is not touched again until the next `keep`. Ends with its input and with its parent.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A large page: what is between two looks at what is wanted. */
#define PIECE_BYTES ((size_t)2 << 20)
#define PAGE_BYTES ((size_t)4096)
#define STACK_BYTES ((size_t)64 << 10)
#define LINE_BYTES_MAX 64

static char *memory;
static size_t bytes_max;
/* Where the pieces end that shall be there. A changed count tells the toucher to begin again. */
static atomic_size_t wanted;
static atomic_uint orders;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ordered = PTHREAD_COND_INITIALIZER;

_Noreturn static void fail(const char *step) {
  int code = errno;
  dprintf(STDERR_FILENO, "warm-memory: %s: %s\n", step, strerror(code));
  _exit(code > 0 && code < 126 ? code : 1);
}

/* The kernel's own part of it: none of these pages is read again. */
static void touch(char *piece) {
  for (size_t at = 0; at < PIECE_BYTES; at += PAGE_BYTES) ((volatile char *)piece)[at] = 1;
  madvise(piece, PIECE_BYTES, MADV_FREE);
}

/*
 * Memory that is let go of stays with the processor on which that is done, up to a bound that grows
 * with what was taken there, and a large page there serves nobody who wants a smaller one. So the
 * first processor lets go, and touching is for all others; a machine with one has no choice.
 */
static void stay(bool is_first) {
  cpu_set_t all, ours;
  if (sched_getaffinity(0, sizeof all, &all) < 0 || CPU_COUNT(&all) < 2) return;
  int first = 0;
  while (!CPU_ISSET(first, &all)) first++;
  CPU_ZERO(&ours);
  CPU_SET(first, &ours);
  if (!is_first) CPU_XOR(&ours, &ours, &all);
  sched_setaffinity(0, sizeof ours, &ours);
}

static unsigned next_order(unsigned last) {
  pthread_mutex_lock(&lock);
  while (atomic_load(&orders) == last) pthread_cond_wait(&ordered, &lock);
  pthread_mutex_unlock(&lock);
  return atomic_load(&orders);
}

/* Touches what is wanted and was not touched for this order; never holds what it might be waited for with. */
static void *touch_ordered(void *nothing) {
  struct sched_param none = {0};
  sched_setscheduler(0, SCHED_IDLE, &none);
  stay(false);
  for (unsigned order = 0;;) {
    order = next_order(order);
    for (size_t at = 0; at < atomic_load(&wanted); at += PIECE_BYTES) {
      touch(memory + at);
      /* It was let go of meanwhile, and this piece came after that. */
      if (atomic_load(&wanted) <= at) madvise(memory + at, PIECE_BYTES, MADV_DONTNEED);
      if (atomic_load(&orders) != order) break;
    }
  }
  return nothing;
}

static void leave(size_t bytes) {
  if (bytes < atomic_load(&wanted)) atomic_store(&wanted, bytes);
  if (bytes < bytes_max) madvise(memory + bytes, bytes_max - bytes, MADV_DONTNEED);
}

static void keep(size_t bytes) {
  leave(bytes);
  pthread_mutex_lock(&lock);
  atomic_store(&wanted, bytes);
  atomic_fetch_add(&orders, 1);
  pthread_cond_signal(&ordered);
  pthread_mutex_unlock(&lock);
}

static size_t held(void) {
  static unsigned char pages[(64 << 20) / PAGE_BYTES];
  size_t count = 0, end = atomic_load(&wanted);
  for (size_t at = 0; at < end; at += sizeof pages * PAGE_BYTES) {
    size_t length = end - at < sizeof pages * PAGE_BYTES ? end - at : sizeof pages * PAGE_BYTES;
    if (mincore(memory + at, length, pages) < 0) fail("look at memory");
    for (size_t page = 0; page < length / PAGE_BYTES; page++) count += pages[page] & 1;
  }
  return count * PAGE_BYTES;
}

static size_t whole_pieces(const char *text) {
  size_t bytes = strtoull(text, NULL, 10);
  if (bytes > bytes_max) bytes = bytes_max;
  return bytes / PIECE_BYTES * PIECE_BYTES;
}

static void obey(const char *line) {
  if (strncmp(line, "keep ", 5) == 0) keep(whole_pieces(line + 5));
  if (strncmp(line, "leave ", 6) == 0) leave(whole_pieces(line + 6));
  if (strcmp(line, "held\n") == 0 && dprintf(STDOUT_FILENO, "%zu\n", held()) < 0) fail("answer");
}

/* Should the kernel have to end a program all the same, this one costs nobody anything. */
static void be_first_to_go(void) {
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, "1000", 4) < 0) { /* Not allowed: then as any other. */ }
  close(fd);
}

int main(int count, char **words) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  be_first_to_go();
  bytes_max = (count > 1 ? strtoull(words[1], NULL, 10) : 0) / PIECE_BYTES * PIECE_BYTES;
  char *mapped = mmap(NULL, bytes_max + PIECE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) fail("map memory");
  memory = (char *)(((uintptr_t)mapped + PIECE_BYTES - 1) / PIECE_BYTES * PIECE_BYTES);
  madvise(memory, bytes_max, MADV_HUGEPAGE);
  pthread_attr_t attributes;
  pthread_t toucher;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  if ((errno = pthread_create(&toucher, &attributes, touch_ordered, NULL)) != 0) fail("start a thread");
  stay(true);
  char line[LINE_BYTES_MAX];
  while (fgets(line, sizeof line, stdin) != NULL) obey(line);
  return 0;
}
