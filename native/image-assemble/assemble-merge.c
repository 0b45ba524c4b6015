/* Which pages an image has: those that were written, and between them the clean ones. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assemble.h"

#define IMAGE_MAGIC 0x54564319u
#define PAGEMAP_MAGIC 0x56084025u
#define FLAG_LAZY 2u
#define FLAG_PRESENT 4u
#define MESSAGE_BYTES_MAX 64

static void add_piece(struct pieces *pieces, struct piece piece) {
  uint64_t bytes = piece.pages * PAGE;
  if (piece.is_written) pieces->written_bytes += bytes;
  else pieces->clean_bytes += bytes;
  struct piece *last = pieces->count == 0 ? NULL : &pieces->all[pieces->count - 1];
  if (last != NULL && last->address + last->pages * PAGE == piece.address && last->flags == piece.flags &&
      last->is_written == piece.is_written && last->from + last->pages * PAGE == piece.from) {
    last->pages += piece.pages;
    return;
  }
  pieces->all = grow(pieces->all, pieces->count, sizeof *pieces->all);
  pieces->all[pieces->count++] = piece;
}

/* Everything is walked once, in ascending order: what was passed is not looked at again. */
struct walk {
  const struct layout *reference;
  const struct mappings *mappings;
  size_t run, mapping;
};

static _Noreturn void refuse_page(uint64_t address, const char *name) {
  char why[80];
  snprintf(why, sizeof why, "clean page %llx is not in the reference", (unsigned long long)address);
  refuse(why, name);
}

/* Adds clean pages, each of which the reference has to have. */
static void add_clean(struct pieces *pieces, struct walk *walk, uint64_t start, uint64_t end, const char *name) {
  while (start < end) {
    const struct mappings *mappings = walk->mappings;
    while (walk->mapping < mappings->count && mappings->all[walk->mapping].end <= start) walk->mapping++;
    if (walk->mapping == mappings->count) return;
    const struct mapping *mapping = &mappings->all[walk->mapping];
    /* What CRIU does not copy, it does not copy when it is clean. */
    if (start < mapping->start) {
      start = mapping->start;
      continue;
    }
    const struct layout *reference = walk->reference;
    while (walk->run < reference->count &&
           reference->runs[walk->run].address + reference->runs[walk->run].pages * PAGE <= start)
      walk->run++;
    if (walk->run == reference->count || reference->runs[walk->run].address > start)
      refuse_page(start, name);
    const struct run *run = &reference->runs[walk->run];
    uint64_t until = run->address + run->pages * PAGE;
    if (until > end) until = end;
    if (until > mapping->end) until = mapping->end;
    add_piece(pieces, (struct piece){start, (until - start) / PAGE, false, run->offset + (start - run->address),
                                     FLAG_PRESENT | (mapping->is_lazy ? FLAG_LAZY : 0)});
    start = until;
  }
}

struct pieces merge(const struct layout *written, const struct layout *reference,
                    const struct stretches *clean, const struct mappings *mappings, const char *name) {
  struct pieces pieces = {0};
  struct walk walk = {.reference = reference, .mappings = mappings};
  size_t next = 0;
  uint64_t reached = 0;
  for (size_t i = 0; i <= clean->count; i++) {
    uint64_t start = i < clean->count ? clean->all[i].start : UINT64_MAX;
    uint64_t end = i < clean->count ? clean->all[i].end : UINT64_MAX;
    if (start < reached) start = reached;
    /* What was written goes before what is clean, also where both say that they have a page. */
    for (; next < written->count && written->runs[next].address < end; next++) {
      const struct run *run = &written->runs[next];
      if (start < run->address) add_clean(&pieces, &walk, start, run->address < end ? run->address : end, name);
      add_piece(&pieces, (struct piece){run->address, run->pages, true, run->offset, run->flags});
      reached = run->address + run->pages * PAGE;
      if (start < reached) start = reached;
    }
    if (start < end) add_clean(&pieces, &walk, start, end, name);
  }
  return pieces;
}

static size_t put_varint(uint8_t *at, uint64_t value) {
  size_t length = 0;
  for (; value > 0x7f; value >>= 7) at[length++] = (uint8_t)(value | 0x80);
  at[length++] = (uint8_t)value;
  return length;
}

static size_t put_field(uint8_t *at, unsigned number, uint64_t value) {
  size_t length = put_varint(at, number << 3);
  return length + put_varint(at + length, value);
}

static void put_message(FILE *file, const uint8_t *bytes, uint32_t length) {
  fwrite(&length, sizeof length, 1, file);
  fwrite(bytes, length, 1, file);
}

void write_pagemap(int dir_fd, const char *name, uint32_t pages_id, const struct pieces *pieces) {
  int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  if (file == NULL) fail("create", name);
  const uint32_t words[] = {IMAGE_MAGIC, PAGEMAP_MAGIC};
  uint8_t message[MESSAGE_BYTES_MAX];
  fwrite(words, sizeof words, 1, file);
  put_message(file, message, (uint32_t)put_field(message, 1, pages_id));
  for (size_t i = 0; i < pieces->count;) {
    const struct piece *first = &pieces->all[i];
    uint64_t pages = 0;
    /* An entry says nothing of where its pages come from. */
    for (; i < pieces->count && pieces->all[i].flags == first->flags &&
           pieces->all[i].address == first->address + pages * PAGE;
         i++)
      pages += pieces->all[i].pages;
    size_t length = put_field(message, 1, first->address);
    length += put_field(message + length, 2, 0);
    length += put_field(message + length, 4, first->flags);
    length += put_field(message + length, 5, pages);
    put_message(file, message, (uint32_t)length);
  }
  if (ferror(file) | fclose(file)) fail("write", name);
}
