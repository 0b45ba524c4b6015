/* What the parts of restless-memory share; restless-memory.c says what the program does. */
#ifndef RESTLESS_H
#define RESTLESS_H

#include <stdint.h>

#define PAGE 4096ul
#define AREAS 8
#define PAGES_MAX 1100
#define HOLE 0xffffffffu
#define FREED 0x80000000u
#define LARGE (2ul << 20)
#define HISTORY 24

enum kind { NONE, ANONYMOUS, SHARED, FILE_COPY, LARGE_PAGE };

/* What is mapped, and what each of its pages holds: 0 for zeros, or for a file's own bytes. */
struct area {
  enum kind kind;
  char *at;
  unsigned pages;
  int protection;
  /* Part of it was mapped later: where writes are followed, the kernel does not move such in one call. */
  int is_patched;
  uint32_t holds[PAGES_MAX];
  /* What was done last to each page, and to the area, a letter each: for the one that is wrong. */
  char lately[PAGES_MAX], before[PAGES_MAX];
  uint32_t done_at[PAGES_MAX], done;
  char history[HISTORY + 1];
};

struct worker {
  uint64_t random;
  uint32_t last;
  int number;
  struct area areas[AREAS];
};

/* Its own file, of which parts are mapped. */
extern const char *program;

/* Returns a random number below a bound. */
uint32_t next(struct worker *w, uint32_t below);

/* Notes what is wrong, in the file "wrong", and aborts. */
void die(const char *what, long first, const void *second);

/* Notes what is done to an area, the newest last; and to one of its pages. */
void note(struct area *a, char what);
void note_page(struct area *a, unsigned page, char what);

/* What is done with one area. */
void verify(struct area *a);
void allow_writing(struct area *a);
void write_page(struct worker *w, struct area *a, unsigned page);
void unmap(struct area *a);
void map(struct worker *w, struct area *a);
void resize(struct worker *w, struct area *a);
void move(struct worker *w, struct area *a);
void move_half(struct worker *w, struct area *a);
void protect(struct worker *w, struct area *a);
void write_past_protection(struct worker *w, struct area *a);
void give_back(struct worker *w, struct area *a);
void advise(struct worker *w, struct area *a);
void lock(struct worker *w, struct area *a);

#endif
