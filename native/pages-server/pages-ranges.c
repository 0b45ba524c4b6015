/* The addresses of a process that are still to be filled. */
#include "pages.h"

#include <stdlib.h>
#include <string.h>

static int reserve(struct ranges *ranges, size_t count) {
  if (count <= ranges->capacity) return 0;
  size_t capacity = ranges->capacity * 2 > count ? ranges->capacity * 2 : count;
  struct range *items = realloc(ranges->items, capacity * sizeof *items);
  if (items == NULL) return -1;
  ranges->items = items;
  ranges->capacity = capacity;
  return 0;
}

/* Returns the index of the first range that begins above an address. */
static size_t index_above(const struct ranges *ranges, uint64_t address) {
  size_t low = 0, high = ranges->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (ranges->items[middle].start > address) high = middle;
    else low = middle + 1;
  }
  return low;
}

int add_range(struct ranges *ranges, struct range range) {
  if (reserve(ranges, ranges->count + 1) < 0) return -1;
  size_t at = index_above(ranges, range.start);
  struct range *place = ranges->items + at;
  memmove(place + 1, place, (ranges->count - at) * sizeof *place);
  *place = range;
  ranges->count++;
  return 0;
}

int copy_ranges(struct ranges *to, const struct ranges *from) {
  if (reserve(to, from->count) < 0) return -1;
  if (from->count > 0) memcpy(to->items, from->items, from->count * sizeof *to->items);
  to->count = from->count;
  return 0;
}

int drop_addresses(struct ranges *ranges, uint64_t start, uint64_t end) {
  size_t at = index_above(ranges, start);
  if (at > 0) at--;
  for (; at < ranges->count && ranges->items[at].start < end; at++) {
    struct range *range = ranges->items + at;
    if (range->end <= start) continue;
    struct range tail = {end, range->end, range->offset + (end - range->start)};
    int has_tail = range->end > end;
    if (range->start < start) {
      range->end = start;
      if (has_tail) return add_range(ranges, tail);
    } else if (has_tail) {
      *range = tail;
    } else {
      /* Kept in its place, empty: a memmove for each of many would take too long. */
      range->end = range->start;
    }
  }
  return 0;
}

int move_addresses(struct ranges *ranges, uint64_t from, uint64_t to, uint64_t length) {
  struct ranges moved = {0};
  size_t at = index_above(ranges, from);
  if (at > 0) at--;
  for (; at < ranges->count && ranges->items[at].start < from + length; at++) {
    struct range part = ranges->items[at];
    if (part.start < from) {
      part.offset += from - part.start;
      part.start = from;
    }
    if (part.end > from + length) part.end = from + length;
    if (part.start >= part.end) continue;
    part.start = part.start - from + to;
    part.end = part.end - from + to;
    if (add_range(&moved, part) < 0) return -1;
  }
  int result = drop_addresses(ranges, from, from + length);
  if (result == 0) result = drop_addresses(ranges, to, to + length);
  for (size_t i = 0; result == 0 && i < moved.count; i++) {
    result = add_range(ranges, moved.items[i]);
  }
  free(moved.items);
  return result;
}

const struct range *find_range(const struct ranges *ranges, uint64_t address) {
  size_t above = index_above(ranges, address);
  if (above == 0) return NULL;
  const struct range *range = ranges->items + above - 1;
  return address < range->end ? range : NULL;
}

struct range *last_range(struct ranges *ranges) {
  while (ranges->count > 0) {
    struct range *range = ranges->items + ranges->count - 1;
    if (range->start < range->end) return range;
    ranges->count--;
  }
  return NULL;
}
