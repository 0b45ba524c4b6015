/*
 * A program whose processes and threads change their memory in every way that there is, at random, and
 * know what each page of it has to be: restless-memory SEED THREADS. It aborts when a page is wrong.
 */
#define _GNU_SOURCE
#include "restless.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN_MAX 2
#define THREADS_MAX 8
#define CHILD_STEPS 400

const char *program;
static atomic_int children;
static struct worker *workers;
static char *mailbox;

uint32_t next(struct worker *w, uint32_t below) {
  w->random ^= w->random << 13;
  w->random ^= w->random >> 7;
  w->random ^= w->random << 17;
  return (uint32_t)((w->random >> 20) % below);
}

void die(const char *what, long first, const void *second) {
  char text[600];
  int length = snprintf(text, sizeof text, "%d: %s: %ld, %p\n", getpid(), what, first, second);
  int fd = open("wrong", O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (write(fd, text, (size_t)length) < 0) abort();
  abort();
}

static void fault(int number, siginfo_t *info, void *context) {
  (void)context;
  signal(number, SIG_DFL);
  die("a fault", number, info->si_addr);
}

static int use_stack(struct worker *w, int depth) {
  volatile char room[3000];
  room[next(w, sizeof room)] = (char)depth;
  return depth == 0 ? room[7] : use_stack(w, depth - 1) + room[9];
}

static void run(struct worker *w, int steps, int may_fork);

static void fork_one(struct worker *w) {
  if (atomic_load(&children) >= CHILDREN_MAX) return;
  atomic_fetch_add(&children, 1);
  int executes = next(w, 4) == 0;
  uint32_t seed = next(w, 1000000) + 1;
  pid_t child = fork();
  if (child == 0) {
    atomic_store(&children, CHILDREN_MAX);
    w->random ^= seed * 0x9e3779b97f4a7c15ull;
    if (executes) {
      char text[16];
      snprintf(text, sizeof text, "%u", seed);
      execl(program, program, text, "0", NULL);
      _exit(9);
    }
    /* What it has in common with its parent only that one writes to, and knows what it is. */
    for (int i = 0; i < AREAS; i++)
      if (w->areas[i].kind == SHARED) unmap(&w->areas[i]);
    run(w, CHILD_STEPS, 0);
    _exit(0);
  }
  if (child < 0) atomic_fetch_sub(&children, 1);
}

static void collect(void) {
  int status;
  while (waitpid(-1, &status, WNOHANG) > 0) {
    atomic_fetch_sub(&children, 1);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) die("a child ended", status, NULL);
  }
}

static void step(struct worker *w, int may_fork) {
  struct area *a = &w->areas[next(w, AREAS)];
  uint32_t what = next(w, 100);
  if (a->kind == NONE) {
    map(w, a);
    return;
  }
  if (what < 45) {
    if (a->kind == ANONYMOUS) allow_writing(a);
    for (unsigned i = 1 + next(w, 12); i > 0; i--) write_page(w, a, next(w, a->pages));
    note(a, 'W');
  } else if (what < 62) {
    verify(a);
    note(a, '=');
  } else if (what < 64) {
    unmap(a);
  } else if (what < 68) {
    resize(w, a), note(a, 'r');
  } else if (what < 70) {
    move(w, a), note(a, 'v');
  } else if (what < 72) {
    move_half(w, a), note(a, 'h');
  } else if (what < 77) {
    protect(w, a), note(a, 't');
  } else if (what < 80) {
    write_past_protection(w, a);
  } else if (what < 89) {
    give_back(w, a), note(a, 'g');
  } else if (what < 93) {
    advise(w, a);
  } else if (what < 95) {
    lock(w, a), note(a, 'l');
  } else if (what < 97) {
    use_stack(w, (int)next(w, 60));
  } else if (what < 98) {
    mailbox[next(w, 16) * PAGE] = (char)what;
    free(malloc(next(w, 200000)));
  } else if (may_fork) {
    fork_one(w);
  }
}

static void run(struct worker *w, int steps, int may_fork) {
  for (int i = 0; steps == 0 || i < steps; i++) {
    step(w, may_fork);
    if (w->number == 0) collect();
    usleep(2000 + next(w, 18000));
  }
}

static void *work(void *data) {
  run(data, 0, 0);
  return NULL;
}

int main(int count, char **words) {
  uint64_t seed = count > 1 ? strtoull(words[1], NULL, 10) : 1;
  int threads = count > 2 ? atoi(words[2]) : 2;
  if (threads > THREADS_MAX) return 2;
  program = words[0];
  struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  mailbox = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  workers = calloc((size_t)threads + 1, sizeof *workers);
  for (int i = 0; i <= threads; i++) {
    workers[i].random = (seed + 1) * 0x9e3779b97f4a7c15ull + (uint64_t)i * 0x2545f4914f6cdd1dull;
    workers[i].number = i;
    pthread_t thread;
    if (i > 0 && pthread_create(&thread, NULL, work, &workers[i]) != 0) return 3;
  }
  /* With no threads: a child that has become this program ends after a while. */
  run(&workers[0], threads == 0 ? CHILD_STEPS : 0, threads > 0);
  return 0;
}
