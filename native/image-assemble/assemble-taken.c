/* Pages that CRIU's preload has copied itself: they are put among those that CRIU has written of the same process. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "assemble.h"

#define FLAG_LAZY 2u
#define FLAG_PRESENT 4u

struct taken {
  int pid;
  struct run run;
};

static struct taken *all;
static size_t count, added;

void note_taken(int pid, struct stretch range, uint64_t place) {
  struct run run = {range.start, (range.end - range.start) / PAGE, TAKEN_FROM + place, FLAG_PRESENT};
  all = grow(all, count, sizeof *all);
  all[count++] = (struct taken){pid, run};
}

bool has_taken(int pid) {
  for (size_t i = 0; i < count; i++) {
    if (all[i].pid == pid) return true;
  }
  return false;
}

static uint64_t end_of(const struct run *run) { return run->address + run->pages * PAGE; }

static int by_address(const void *left, const void *right) {
  const struct run *a = left, *b = right;
  return a->address == b->address ? 0 : a->address < b->address ? -1 : 1;
}

static void cut_head(struct run *run, uint64_t until) {
  uint64_t bytes = (until < end_of(run) ? until : end_of(run)) - run->address;
  *run = (struct run){run->address + bytes, run->pages - bytes / PAGE, run->offset + bytes, run->flags};
}

static void add_run(struct layout *layout, struct run run) {
  layout->runs = grow(layout->runs, layout->count, sizeof *layout->runs);
  layout->runs[layout->count++] = run;
}

/* Adds a range by the mappings in which it lies, each of which says how its pages can be brought. */
static void add_by_mapping(struct layout *layout, struct run run, const struct mappings *mappings) {
  for (size_t i = 0; i < mappings->count && run.pages > 0; i++) {
    const struct mapping *mapping = &mappings->all[i];
    if (mapping->end <= run.address) continue;
    /* Of what is no mapping of the image, or none of which CRIU copies pages, nothing is kept. */
    if (mapping->start > run.address) cut_head(&run, mapping->start);
    struct run part = run;
    if (end_of(&part) > mapping->end) part.pages = (mapping->end - part.address) / PAGE;
    if (part.pages == 0) return;
    cut_head(&run, mapping->end);
    part.flags = FLAG_PRESENT | (mapping->is_lazy ? FLAG_LAZY : 0);
    add_run(layout, part);
  }
}

uint64_t add_taken(int pid, struct layout *written, const struct mappings *mappings) {
  struct layout together = {0};
  uint64_t reached = 0, bytes = 0;
  if (!has_taken(pid)) return 0;
  for (size_t i = 0; i < written->count; i++) add_run(&together, written->runs[i]);
  for (size_t i = 0; i < count; i++) {
    if (all[i].pid != pid) continue;
    add_by_mapping(&together, all[i].run, mappings);
    added++;
  }
  qsort(together.runs, together.count, sizeof *together.runs, by_address);
  free(written->runs);
  *written = (struct layout){0};
  /* CRIU asks twice for some: both have the same bytes. */
  for (size_t i = 0; i < together.count; i++) {
    struct run run = together.runs[i];
    if (run.address < reached) cut_head(&run, reached);
    if (run.pages == 0) continue;
    reached = end_of(&run);
    if (run.offset >= TAKEN_FROM) bytes += run.pages * PAGE;
    add_run(written, run);
  }
  free(together.runs);
  return bytes;
}

void require_all_taken(void) {
  if (added != count) refuse("pages were taken of a process that has no image", "the list");
}
