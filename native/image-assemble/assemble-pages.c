/* Puts the pages of one process together: those that were copied, and the clean ones of the reference. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assemble.h"

#define BUFFER_BYTES (1ull << 20)
/* What was written between clean pages is shared with them, and written over then. */
#define BRIDGED_PAGES_MAX 64

/* NULL where nobody asks for it. */
static FILE *changed;
static uint8_t buffer[BUFFER_BYTES];

void copy_bytes(const struct job *job, int from_fd, uint64_t from, uint64_t length, uint64_t to,
                       const char *name) {
  while (length > 0) {
    uint64_t part = length < BUFFER_BYTES ? length : BUFFER_BYTES;
    errno = EIO;
    if (read_range(from_fd, buffer, part, from) != part) fail("read", name);
    write_range(job, buffer, part, to, name);
    from += part;
    to += part;
    length -= part;
  }
}

static void note_changed(const char *name, uint64_t start, uint64_t end) {
  if (changed != NULL) fprintf(changed, "%s %lx %lx\n", name, (unsigned long)start, (unsigned long)end);
}

void begin_changed(const char *path) {
  changed = fopen(path, "wxe");
  if (changed == NULL) fail("create", path);
}

/* A list with a gap must have no end: what is missing in it would be taken for unchanged. */
void end_changed(const char *path) {
  bool is_whole = fflush(changed) == 0 && !ferror(changed) && fputs("end\n", changed) >= 0;
  if (fclose(changed) != 0 || !is_whole) fail("write", path);
}

/*
 * Brings clean pages from the reference; returns how much of it is shared. Sharing costs some 20 us for each extent,
 * of which there may be thousands.
 */
static uint64_t bring(const struct job *job, uint64_t from, uint64_t length, uint64_t to, const char *name) {
  if (length == 0) return 0;
  bool is_there = job->begins_as_reference && from == to;
  if (!is_there) note_changed(name, to, to + length);
  if (is_there || clone_range(job, from, length, to)) return length;
  copy_bytes(job, job->reference_fd, from, length, to, name);
  return 0;
}

/* What a file lacks would be zeros. */
static void require_whole(const struct pieces *pieces, uint64_t size, const char *name) {
  for (size_t i = 0; i < pieces->count; i++) {
    const struct piece *piece = &pieces->all[i];
    bool is_there = piece->is_written || piece->from + piece->pages * PAGE <= size;
    if (!is_there) refuse("the reference is too short", name);
  }
}

uint64_t write_pages(const struct job *job, int taken_fd, const struct pieces *pieces, const char *name) {
  struct stat stat;
  if (fstat(job->reference_fd, &stat) < 0) fail("look at", name);
  require_whole(pieces, (uint64_t)stat.st_size, name);
  /* Only of what begins as the reference's it is known what is different. */
  if (!job->begins_as_reference) note_changed(name, 0, UINT64_MAX);
  uint64_t at = 0, from = 0, length = 0, to = 0, shared_bytes = 0;
  for (size_t i = 0; i < pieces->count; i++) {
    const struct piece *piece = &pieces->all[i];
    if (!piece->is_written) {
      bool continues = length > 0 && piece->from >= from + length && piece->from - from == at - to &&
                       piece->from - (from + length) <= BRIDGED_PAGES_MAX * PAGE;
      if (continues) {
        length = piece->from + piece->pages * PAGE - from;
      } else {
        shared_bytes += bring(job, from, length, to, name);
        from = piece->from;
        length = piece->pages * PAGE;
        to = at;
      }
    }
    at += piece->pages * PAGE;
  }
  shared_bytes += bring(job, from, length, to, name);
  at = 0;
  for (size_t i = 0; i < pieces->count; i++) {
    const struct piece *piece = &pieces->all[i];
    uint64_t bytes = piece->pages * PAGE;
    if (piece->is_written) {
      note_changed(name, at, at + bytes);
      bool is_taken = piece->from >= TAKEN_FROM;
      copy_bytes(job, is_taken ? taken_fd : job->source_fd, piece->from % TAKEN_FROM, bytes, at, name);
    }
    at += bytes;
  }
  if (job->begins_as_reference && ftruncate(job->target_fd, (off_t)at) < 0) fail("cut off", name);
  return shared_bytes;
}
