/*
 * Brings the pages of one image to the target. A page that equals the reference's page of the same
 * address, byte for byte, shares its block; a page of zeros is left out; others are written.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image-copy.h"

#define CHUNK_PAGES 256ULL
/*
 * Each range that is shared is a record in the filesystem. In a large image with scattered changes
 * short ones cost more time than they save space.
 */
#define LARGE_PAGES (64ULL << 8)
#define SHARED_PAGES_MIN_LARGE 4

enum kind { WRITE, SHARE, HOLE };

/* Ranges that follow one another are shared by one call. */
struct pending {
  uint64_t from, to, length;
};

/* What a file shares nowhere, while it is shared in place. */
static struct {
  struct range {
    uint64_t at, length;
  } *all;
  size_t count, room;
  uint64_t bytes;
} unshared;

static uint8_t source_bytes[CHUNK_PAGES * PAGE];
static uint8_t reference_bytes[CHUNK_PAGES * PAGE];

static void note_unshared(uint64_t at, uint64_t length) {
  unshared.bytes += length;
  struct range *last = unshared.count == 0 ? NULL : &unshared.all[unshared.count - 1];
  if (last != NULL && last->at + last->length == at) {
    last->length += length;
    return;
  }
  if (unshared.count == unshared.room) {
    size_t room = unshared.room == 0 ? 256 : 2 * unshared.room;
    void *grown = realloc(unshared.all, room * sizeof *unshared.all);
    if (grown == NULL) fail("allocate", "the ranges");
    unshared.all = grown;
    unshared.room = room;
  }
  unshared.all[unshared.count++] = (struct range){at, length};
}

static bool is_zero(const uint8_t *page) {
  return page[0] == 0 && memcmp(page, page + 1, PAGE - 1) == 0;
}

/* Finds the run that holds an address, or the next one; `count` when there is none. */
static size_t find_run(const struct layout *layout, uint64_t address) {
  size_t low = 0, high = layout->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    const struct run *run = &layout->runs[middle];
    if (run->address + run->pages * PAGE <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* Sets what becomes of each page of a chunk, and where its like is in the reference. */
static void classify(const struct job *job, uint64_t address, uint64_t pages, enum kind *kinds, uint64_t *from) {
  for (uint64_t page = 0; page < pages; page++) kinds[page] = WRITE;
  size_t index = job->reference_fd < 0 ? job->reference.count : find_run(&job->reference, address);
  for (; index < job->reference.count; index++) {
    const struct run *run = &job->reference.runs[index];
    uint64_t begin = run->address > address ? run->address : address;
    uint64_t end = run->address + run->pages * PAGE;
    if (end > address + pages * PAGE) end = address + pages * PAGE;
    if (begin >= end) break;
    uint64_t offset = run->offset + (begin - run->address);
    uint64_t have = read_range(job->reading_fd, reference_bytes, end - begin, offset) / PAGE;
    for (uint64_t nth = 0; nth < have; nth++) {
      uint64_t page = (begin - address) / PAGE + nth;
      if (memcmp(source_bytes + page * PAGE, reference_bytes + nth * PAGE, PAGE) != 0) continue;
      kinds[page] = SHARE;
      from[page] = offset + nth * PAGE;
    }
  }
  for (uint64_t page = 0; page < pages; page++) {
    if (kinds[page] == WRITE && is_zero(source_bytes + page * PAGE)) kinds[page] = HOLE;
  }
}

static uint64_t length_of(const enum kind *kinds, const uint64_t *from, uint64_t page, uint64_t pages) {
  uint64_t end = page + 1;
  while (end < pages && kinds[end] == kinds[page] &&
         (kinds[page] != SHARE || from[end] == from[end - 1] + PAGE)) {
    end++;
  }
  return end - page;
}

/* Ranges can be shared only once all before them has its place; their bytes may be gone by then. */
static void share_pending(const struct job *job, struct pending *pending, const char *name, struct totals *totals) {
  static uint8_t bytes[CHUNK_PAGES * PAGE];
  uint64_t length = pending->length;
  pending->length = 0;
  if (length == 0) return;
  if (clone_range(job, pending->from, length, pending->to)) {
    totals->shared += length;
    return;
  }
  totals->written += length;
  if (job->in_place) {
    note_unshared(pending->to, length);
    return;
  }
  for (uint64_t done = 0; done < length;) {
    uint64_t part = length - done < sizeof bytes ? length - done : sizeof bytes;
    uint64_t at = pending->to + done;
    errno = EIO;
    if (read_range(job->source_fd, bytes, part, at) != part) fail("read", name);
    write_range(job, bytes, part, at, name);
    done += part;
  }
}

static void carry_chunk(const struct job *job, uint64_t address, uint64_t pages, uint64_t offset,
                        struct pending *pending, const char *name, struct totals *totals) {
  enum kind kinds[CHUNK_PAGES];
  uint64_t from[CHUNK_PAGES];
  classify(job, address, pages, kinds, from);
  uint64_t shortest = job->size / PAGE > LARGE_PAGES ? SHARED_PAGES_MIN_LARGE : 1;
  for (uint64_t page = 0; page < pages;) {
    uint64_t count = length_of(kinds, from, page, pages);
    uint64_t at = offset + page * PAGE, length = count * PAGE;
    enum kind kind = kinds[page];
    bool continues = pending->length > 0 && pending->to + pending->length == at &&
                     pending->from + pending->length == from[page];
    bool touches_next = page + count == pages;
    if (kind == SHARE && count < shortest && !continues && !touches_next) kind = WRITE;
    if (kind == SHARE && continues) {
      pending->length += length;
    } else {
      share_pending(job, pending, name, totals);
      if (kind == SHARE) *pending = (struct pending){from[page], at, length};
    }
    if (kind == HOLE && make_hole(job, at, length)) totals->holes += length;
    else if (kind != SHARE) {
      if (job->in_place) note_unshared(at, length);
      else write_range(job, source_bytes + page * PAGE, length, at, name);
      totals->written += length;
    }
    page += count;
  }
}

/*
 * btrfs frees the space of an extent (up to 128 MiB) when nothing of it is used any more. One page
 * that stays where it is would keep all around it, which is shared now. The same bytes, written once
 * more, go elsewhere; where most of a file is its own, that would cost more than it saves.
 */
static void leave_extents(const struct job *job, const char *name) {
  if (unshared.bytes > job->size / 2) return;
  for (size_t index = 0; index < unshared.count; index++) {
    const struct range *range = &unshared.all[index];
    for (uint64_t done = 0; done < range->length;) {
      uint64_t left = range->length - done, at = range->at + done;
      uint64_t part = left < sizeof source_bytes ? left : sizeof source_bytes;
      errno = EIO;
      if (read_range(job->source_fd, source_bytes, part, at) != part) fail("read", name);
      write_range(job, source_bytes, part, at, name);
      done += part;
    }
  }
}

void carry(const struct job *job, const char *name, struct totals *totals) {
  struct pending pending = {0};
  unshared.count = unshared.bytes = 0;
  uint64_t reached = 0;
  for (size_t index = 0; index < job->layout.count; index++) {
    const struct run *run = &job->layout.runs[index];
    for (uint64_t page = 0; page < run->pages; page += CHUNK_PAGES) {
      uint64_t pages = run->pages - page < CHUNK_PAGES ? run->pages - page : CHUNK_PAGES;
      uint64_t at = run->offset + page * PAGE;
      errno = EIO;
      if (read_range(job->source_fd, source_bytes, pages * PAGE, at) != pages * PAGE) fail("read", name);
      carry_chunk(job, run->address + page * PAGE, pages, at, &pending, name, totals);
      reached = at + pages * PAGE;
    }
  }
  share_pending(job, &pending, name, totals);
  uint64_t rest = job->size - reached;
  if (job->in_place) {
    if (rest > 0) note_unshared(reached, rest);
    leave_extents(job, name);
    return;
  }
  if (rest == 0) return;
  /* The end of a file that has no whole number of pages. */
  errno = EIO;
  if (rest >= PAGE || read_range(job->source_fd, source_bytes, rest, reached) != rest) fail("read", name);
  write_range(job, source_bytes, rest, reached, name);
  totals->written += rest;
}
