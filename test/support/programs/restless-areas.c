/* What restless-memory does with one area, and what each page of it has to be then. */
#define _GNU_SOURCE
#include "restless.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void wrong(const char *what, const struct area *a, unsigned page) {
  die(what, page, a->at + page * PAGE);
}

void note(struct area *a, char what) {
  memmove(a->history, a->history + 1, HISTORY - 1);
  a->history[HISTORY - 1] = what;
  a->done++;
}

void note_page(struct area *a, unsigned page, char what) {
  a->before[page] = a->lately[page];
  a->lately[page] = what;
  a->done_at[page] = a->done;
}

/* Reads what the kernel says of pages: bit 63 present, 62 swapped, 57 protected, 56 the process's alone. */
static void read_marks(const char *at, unsigned pages, uint64_t *marks) {
  int fd = open("/proc/self/pagemap", O_RDONLY);
  memset(marks, 0, pages * sizeof *marks);
  if (pread(fd, marks, pages * sizeof *marks, (off_t)((uintptr_t)at / PAGE * sizeof *marks)) < 0) marks[0] = 1;
  close(fd);
}

static void wrong_page(struct area *a, unsigned page, uint64_t before) {
  const uint32_t *words = (const uint32_t *)(a->at + page * PAGE);
  uint64_t now[3];
  char what[400];
  read_marks(a->at + page * PAGE - PAGE, 3, now);
  for (int i = 0; i < HISTORY; i++) a->history[i] = a->history[i] ? a->history[i] : '.';
  snprintf(what, sizeof what,
           "wrong page: %x of %u pages, has %x and %x; done to it %c%c, %u ago, to its area at %p %s; the kernel said %llx of it, "
           "now %llx, and %llx and %llx of its neighbours",
           a->holds[page], a->pages, words[0], words[1023], a->before[page] ? a->before[page] : '.', a->lately[page] ? a->lately[page] : '.',
           a->done - a->done_at[page], (void *)a->at,
           a->history, (unsigned long long)before, (unsigned long long)now[1], (unsigned long long)now[0],
           (unsigned long long)now[2]);
  wrong(what, a, page);
}

void verify(struct area *a) {
  static __thread uint64_t marks[PAGES_MAX];
  if (a->kind == NONE || a->kind == FILE_COPY || a->protection == PROT_NONE) return;
  read_marks(a->at, a->pages, marks);
  for (unsigned page = 0; page < a->pages; page++) {
    const uint32_t *words = (const uint32_t *)(a->at + page * PAGE);
    uint32_t wanted = a->holds[page] & ~FREED;
    if (a->holds[page] == HOLE) continue;
    int is_right = words[0] == wanted && words[1023] == wanted;
    if (!is_right && (a->holds[page] & FREED)) is_right = words[0] == 0 && words[1023] == 0;
    if (!is_right) wrong_page(a, page, marks[page]);
  }
}

/*
 * How many pages follow one another from `*from` on, before `end`, with no hole: 0 for no more. One call for all
 * of them: each call interrupts every processor, which in a virtual machine took most of a run's time.
 */
static unsigned next_run(const struct area *a, unsigned *from, unsigned end) {
  while (*from < end && a->holds[*from] == HOLE) ++*from;
  unsigned pages = 0;
  while (*from + pages < end && a->holds[*from + pages] != HOLE) pages++;
  return pages;
}

void allow_writing(struct area *a) {
  if (a->protection == (PROT_READ | PROT_WRITE)) return;
  a->protection = PROT_READ | PROT_WRITE;
  for (unsigned i = 0, run; (run = next_run(a, &i, a->pages)) > 0; i += run)
    if (mprotect(a->at + i * PAGE, run * PAGE, a->protection) != 0) wrong("mprotect", a, i);
}

void write_page(struct worker *w, struct area *a, unsigned page) {
  if (a->holds[page] == HOLE) return;
  uint32_t *words = (uint32_t *)(a->at + page * PAGE);
  uint32_t value = ++w->last & 0x7fffffff;
  words[0] = words[1023] = value;
  words[next(w, 1000) + 10] = value;
  a->holds[page] = value;
  note_page(a, page, 'w');
}

void unmap(struct area *a) {
  for (unsigned i = 0, run; (run = next_run(a, &i, a->pages)) > 0; i += run) munmap(a->at + i * PAGE, run * PAGE);
  a->kind = NONE;
}

/* Mostly few: what takes the time of a run is to copy and to compare them. Large pages take more than 512. */
static unsigned some_pages(struct worker *w) {
  return next(w, 12) == 0 ? 512 + next(w, PAGES_MAX - 513) : 1 + next(w, 100);
}

/* One page of hugetlbfs, of the process alone or shared with its children; fails where the machine gives none. */
static char *map_large(int sharing) {
  return mmap(NULL, LARGE, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
}

void map(struct worker *w, struct area *a) {
  unsigned pages = some_pages(w);
  int kind = (int)next(w, 14), fd = -1, is_filled = 0;
  /* As few of both together as of another kind: of these all is copied each time. */
  if (kind == 13) kind += (int)next(w, 2);
  char *at;
  if (kind == 0) {
    at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  } else if (kind == 1) {
    fd = (int)syscall(SYS_memfd_create, "restless", 0u);
    if (ftruncate(fd, (off_t)(pages * PAGE)) != 0) die("ftruncate", fd, NULL);
    at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  } else if (kind == 2) {
    fd = open(program, O_RDONLY);
    pages = pages > 4 ? 4 : pages;
    at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  } else if (kind == 4) {
    /* A file of zeros is memory like any other; it is followed where it is written for the most part, and protected. */
    fd = open("zeros", O_RDWR | O_CREAT, 0600);
    pages = 64 + next(w, 256);
    if (ftruncate(fd, (off_t)(2 * PAGES_MAX * PAGE)) != 0) die("ftruncate", fd, NULL);
    /* Below all that is mapped, so that it looks like a program's. */
    mmap((void *)0x600000000000, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
    at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    is_filled = next(w, 4) > 0;
  } else if (kind == 13 || kind == 14) {
    pages = LARGE / PAGE;
    at = map_large(kind == 13 ? MAP_PRIVATE : MAP_SHARED);
  } else {
    at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (kind == 3) madvise(at, pages * PAGE, MADV_HUGEPAGE);
  }
  if (fd >= 0) close(fd);
  if (at == MAP_FAILED) return;
  a->kind = kind == 0 || kind == 1 || kind == 14 ? SHARED : kind == 2 ? FILE_COPY : kind == 13 ? LARGE_PAGE : ANONYMOUS;
  a->at = at;
  a->pages = pages;
  a->protection = PROT_READ | PROT_WRITE;
  a->is_patched = 0;
  memset(a->holds, 0, sizeof a->holds);
  memset(a->lately, 0, sizeof a->lately);
  memset(a->history, 0, sizeof a->history);
  note(a, kind == 3 ? 'H' : kind == 4 ? 'F' : kind >= 13 ? 'L' : 'M');
  for (unsigned i = 0; is_filled && i < pages; i++) write_page(w, a, i);
}

static int is_solid(const struct area *a) {
  if (a->is_patched) return 0;
  for (unsigned i = 0; i < a->pages; i++)
    if (a->holds[i] == HOLE) return 0;
  return 1;
}

void resize(struct worker *w, struct area *a) {
  unsigned pages = some_pages(w);
  if (a->kind != ANONYMOUS || !is_solid(a)) return;
  allow_writing(a);
  munlock(a->at, a->pages * PAGE);
  char *at = mremap(a->at, a->pages * PAGE, pages * PAGE, MREMAP_MAYMOVE);
  if (at == MAP_FAILED) return;
  for (unsigned i = a->pages; i < pages; i++) a->holds[i] = 0;
  a->at = at;
  a->pages = pages;
}

/*
 * What consists of several mappings may be moved in part, and the call fail: that is always so before Linux
 * 6.17, and where writes are followed. Nobody knows what is where then, so that it is left as it is.
 */
static void leave(struct area *a) { a->kind = NONE; }

/* Moves an area to a place of its own, where something else was before. */
void move(struct worker *w, struct area *a) {
  if (a->kind != ANONYMOUS || !is_solid(a)) return;
  allow_writing(a);
  munlock(a->at, a->pages * PAGE);
  char *place = mmap(NULL, a->pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return;
  if (next(w, 2)) memset(place, 7, a->pages * PAGE);
  int keeps_old = next(w, 3) == 0;
  char *old = a->at;
  char *at = mremap(old, a->pages * PAGE, a->pages * PAGE,
                    MREMAP_MAYMOVE | MREMAP_FIXED | (keeps_old ? MREMAP_DONTUNMAP : 0), place);
  if (at == MAP_FAILED) {
    leave(a);
    return;
  }
  a->at = at;
  if (keeps_old) {
    /* What stays there is empty, and is written to before it goes. */
    old[0] = 1;
    munmap(old, a->pages * PAGE);
  }
}

/* Moves its second half away, or back: then both become one mapping again. */
void move_half(struct worker *w, struct area *a) {
  unsigned first = a->pages / 2, rest = a->pages - first;
  if (a->kind != ANONYMOUS || !is_solid(a) || first == 0) return;
  allow_writing(a);
  munlock(a->at, a->pages * PAGE);
  char *home = a->at + first * PAGE;
  char *place = mmap(NULL, rest * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return;
  int away = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, back = MREMAP_MAYMOVE | MREMAP_FIXED;
  int is_away = mremap(home, rest * PAGE, rest * PAGE, away, place) != MAP_FAILED;
  if (is_away) usleep(1000 + next(w, 200000));
  if (!is_away || mremap(place, rest * PAGE, rest * PAGE, back, home) == MAP_FAILED) leave(a);
}

void protect(struct worker *w, struct area *a) {
  static const int kinds[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC};
  if (a->kind != ANONYMOUS) return;
  int protection = kinds[next(w, 4)];
  for (unsigned i = 0, run; (run = next_run(a, &i, a->pages)) > 0; i += run) mprotect(a->at + i * PAGE, run * PAGE, protection);
  a->protection = protection;
}

/* The kernel writes for the process, past what the process may do itself. */
void write_past_protection(struct worker *w, struct area *a) {
  unsigned page = next(w, a->pages);
  if (a->kind != ANONYMOUS || a->holds[page] == HOLE || (a->holds[page] & FREED)) return;
  int fd = open("/proc/self/mem", O_RDWR);
  uint32_t value = ++w->last & 0x7fffffff;
  off_t at = (off_t)(uintptr_t)a->at + (off_t)(page * PAGE);
  int is_written = pwrite(fd, &value, 4, at) == 4 && pwrite(fd, &value, 4, at + 1023 * 4) == 4;
  close(fd);
  if (is_written) a->holds[page] = value, note_page(a, page, 'p');
}

static int give_back_pages(char *at, size_t length, unsigned how) {
  static const int advices[] = {MADV_DONTNEED, MADV_DONTNEED, MADV_DONTNEED, MADV_FREE};
  if (how == 4) return munmap(at, length) == 0;
  /* Something new in the same place, at once. */
  if (how == 5) return mmap(at, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at;
  return madvise(at, length, advices[how]) == 0;
}

static void give_back_run(struct area *a, unsigned first, unsigned pages, unsigned how) {
  int is_done = give_back_pages(a->at + first * PAGE, pages * PAGE, how);
  /* A call that fails has done its work up to the mapping that refuses: page by page, it is known for each. */
  for (unsigned i = first; !is_done && pages > 1 && i < first + pages; i++) give_back_run(a, i, 1, how);
  if (!is_done && pages > 1) return;
  for (unsigned i = first; i < first + pages; i++) {
    note_page(a, i, "dddfum"[how]);
    if (!is_done) continue;
    if (how == 3) a->holds[i] |= a->holds[i] ? FREED : 0;
    else a->holds[i] = how == 4 ? HOLE : 0;
  }
  if (is_done && how == 5) a->is_patched = 1;
}

void give_back(struct worker *w, struct area *a) {
  unsigned from = next(w, a->pages), count = 1 + next(w, a->pages - from), how = next(w, 6);
  if (a->kind == LARGE_PAGE) give_back_run(a, 0, a->pages, 0);
  if (a->kind != ANONYMOUS) return;
  allow_writing(a);
  munlock(a->at, a->pages * PAGE);
  for (unsigned i = from, run; (run = next_run(a, &i, from + count)) > 0; i += run) give_back_run(a, i, run, how);
}

void advise(struct worker *w, struct area *a) {
  static const int kinds[] = {MADV_HUGEPAGE, MADV_NOHUGEPAGE, 25 /* MADV_COLLAPSE */, MADV_WILLNEED,
                              MADV_COLD, MADV_PAGEOUT, MADV_MERGEABLE, MADV_UNMERGEABLE,
                              22 /* MADV_POPULATE_READ */};
  uint32_t kind = next(w, sizeof kinds / sizeof *kinds);
  madvise(a->at, a->pages * PAGE, kinds[kind]);
  note(a, (char)('1' + kind));
}

void lock(struct worker *w, struct area *a) {
  if (a->kind == NONE || a->pages > 64 || !is_solid(a)) return;
  if (next(w, 2)) mlock(a->at, a->pages * PAGE);
  else munlock(a->at, a->pages * PAGE);
}
