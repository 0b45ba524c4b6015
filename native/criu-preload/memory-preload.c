/*
 * Preloaded into CRIU for a dump: pages that were not written since the last checkpoint are not copied.
 *
 * A tracker (native/memory-tracker) follows the writes of large processes. Of their pages CRIU is shown
 * those that were written; the others, which are the same in the images of the last checkpoint, are noted
 * in $WAYPOINT_CLEAN_PAGES, one range a line: the process by its number inside, and two addresses; the last
 * line is "end". What nobody follows is shown as it is: a mapping that is new, a process that is, and all
 * where there is no tracker at $WAYPOINT_TRACKER, or no $WAYPOINT_CLEAN_PAGES.
 *
 * Of a tree that was restored lazily and is not full, the pages server at $WAYPOINT_UNFILLED tells which pages
 * are still to come: they are noted in the same way, and CRIU never sees them.
 *
 * At the end of the dump, when nothing of it can change any more, what was copied is protected anew, for
 * the checkpoint $WAYPOINT_TRACKED_FOR. A process of which the tracker has no descriptor, and which has
 * $WAYPOINT_TRACKED_BYTES_MIN, makes one there, as CRIU lets it make other calls.
 *
 * With $WAYPOINT_PROTECT_ALONE CRIU gets to see no memory: the dump is there for that protection, and its
 * images are no use. What was protected is copied while the programs run on.
 */
#define _GNU_SOURCE
#include "memory-preload.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REGIONS_MAX 4096
/* More than a pid namespace of a session has, for all that is ordinary. */
#define PROCESSES_MAX 4096

static struct scanned scanned[PROCESSES_MAX];
static size_t scanned_count;
/* Of the process that was asked for last. */
static struct {
  int pid, inside;
  bool is_followed;
} current = {-1, 0, false};

static int call_scan(int fd, struct page_scan *scan) {
  return (int)syscall(SYS_ioctl, fd, PAGE_SCAN, scan);
}

/* Returns the process whose pagemap it is, or 0. */
static int owner_of(int pagemap) {
  char link[64], path[64] = "";
  int pid = 0, length = 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", pagemap);
  if (readlink(link, path, sizeof path - 1) < 0) return 0;
  if (sscanf(path, "/proc/%d/pagemap%n", &pid, &length) != 1 || length == 0) return 0;
  return path[length] == 0 && pid != getpid() ? pid : 0;
}

static void note_bytes(int pid, const struct page_region *regions, int count) {
  if (pid <= 0) return;
  if (scanned_count == 0 || scanned[scanned_count - 1].pid != pid) {
    if (scanned_count == PROCESSES_MAX) return;
    scanned[scanned_count++] = (struct scanned){.pid = pid};
  }
  for (int i = 0; i < count; i++) scanned[scanned_count - 1].bytes += regions[i].end - regions[i].start;
}

static bool is_clean(uint64_t categories) {
  return (categories & PAGE_TRACKABLE) && !(categories & (PAGE_WRITTEN | PAGE_GUARD));
}

/* A part of an answer, and from where to where the rest of the question goes. */
struct part {
  uint64_t start, end;
  struct page_region *regions;
  int count;
};

/* What CRIU gets to see: as many regions as it has room for. */
struct shown {
  struct page_region *regions;
  uint64_t count, room, mask;
};

static bool show(struct shown *shown, const struct page_region *region) {
  uint64_t categories = region->categories & shown->mask;
  struct page_region *last = shown->count == 0 ? NULL : &shown->regions[shown->count - 1];
  if (last != NULL && last->end == region->start && last->categories == categories) {
    last->end = region->end;
    return true;
  }
  if (shown->count == shown->room) return false;
  shown->regions[shown->count++] = (struct page_region){region->start, region->end, categories};
  return true;
}

/* Shows what was written, unless it is copied here. */
static bool show_or_take(struct shown *shown, const struct page_region *region) {
  return (current.is_followed && take_pages(current.pid, current.inside, region)) || show(shown, region);
}

/* Shows a region, but for the clean pages in it; returns where CRIU has to ask again, or the end. */
static uint64_t show_written(struct shown *shown, const struct page_region *region) {
  bool may_be_clean = current.is_followed && !touches_file(region->start, region->end, true);
  if (!may_be_clean || !is_clean(region->categories)) {
    note_written(current.pid, region);
    return show_or_take(shown, region) ? region->end : region->start;
  }
  struct page_region part = *region;
  for (; part.start < region->end; part.start = part.end) {
    int is_known;
    part.end = known_until(part.start, region->end, &is_known);
    if (is_known && note_clean(current.inside, &part)) continue;
    /* It is protected already, and will be in the reference the next time. */
    if (!show_or_take(shown, &part)) return part.start;
  }
  return region->end;
}

/* The same, but for places with a mark, where there is no page. */
static uint64_t show_unmarked(int pagemap, struct shown *shown, const struct page_region *region) {
  if (!(region->categories & PAGE_SWAPPED)) return show_written(shown, region);
  struct page_region part = *region;
  for (; part.start < region->end; part.start = part.end) {
    int is_marked;
    part.end = marked_until(pagemap, part.start, region->end, &is_marked);
    uint64_t until = is_marked ? part.end : show_written(shown, &part);
    if (until != part.end) return until;
  }
  return region->end;
}

/*
 * Asks in place of CRIU, from `from` on; returns how far the answer goes, or 0 where there is none.
 *
 * Whether a page is of a file the kernel only knows from what it keeps of the page itself: that is nine
 * tenths of the time. Where writes to what is anonymous are followed no page is, so `is_quick` leaves that out of
 * the question.
 */
static uint64_t ask_part(int pagemap, const struct page_scan *asked, struct part *part, bool is_quick) {
  struct page_scan scan = *asked;
  scan.start = part->start;
  scan.end = part->end;
  scan.vec = (uint64_t)(uintptr_t)part->regions;
  scan.vec_len = REGIONS_MAX;
  scan.max_pages = 0;
  scan.return_mask |= PAGE_TRACKABLE | PAGE_WRITTEN | PAGE_SWAPPED;
  if (is_quick) {
    scan.category_mask &= ~PAGE_OF_FILE;
    scan.category_inverted &= ~PAGE_OF_FILE;
    scan.return_mask &= ~PAGE_OF_FILE;
  }
  part->count = call_scan(pagemap, &scan);
  if (part->count < 0 || scan.walk_end <= part->start) return 0;
  part->start = walked_until(&scan, part->count);
  return part->start;
}

/* Shows a region about which CRIU's whole question is asked; returns as show_written does, or 0. */
static uint64_t show_asked(int pagemap, const struct page_scan *asked, struct shown *shown,
                               const struct page_region *region) {
  static struct page_region regions[REGIONS_MAX];
  struct part part = {region->start, region->end, regions, 0};
  while (part.start < part.end) {
    if (ask_part(pagemap, asked, &part, false) == 0) return 0;
    note_bytes(current.pid, part.regions, part.count);
    for (int i = 0; i < part.count; i++) {
      uint64_t shown_until = show_unmarked(pagemap, shown, &part.regions[i]);
      if (shown_until != part.regions[i].end) return shown_until;
    }
  }
  return region->end;
}

/* Not file pages only, of which CRIU wants none. */
static bool asks_for_no_files(const struct page_scan *asked) {
  return !(asked->category_anyof_mask & PAGE_OF_FILE) &&
         (!(asked->category_mask & PAGE_OF_FILE) || (asked->category_inverted & PAGE_OF_FILE));
}

/* The same question in parts, of which the clean pages are taken out. */
static int scan_written(int pagemap, struct page_scan *asked) {
  static struct page_region regions[REGIONS_MAX];
  struct shown shown = {(struct page_region *)(uintptr_t)asked->vec, 0, asked->vec_len, asked->return_mask};
  struct part part = {asked->start, asked->end, regions, 0};
  bool is_quick = current.is_followed && asks_for_no_files(asked);
  while (part.start < part.end) {
    if (ask_part(pagemap, asked, &part, is_quick) == 0) return -1;
    for (int i = 0; i < part.count; i++) {
      const struct page_region *region = &part.regions[i];
      bool is_told = (region->categories & PAGE_TRACKABLE) && !touches_file(region->start, region->end, false);
      bool is_whole = !is_quick || is_told;
      if (is_whole) note_bytes(current.pid, region, 1);
      uint64_t shown_until = is_quick && is_told ? show_written(&shown, region)
                             : is_whole          ? show_unmarked(pagemap, &shown, region)
                                                 : show_asked(pagemap, asked, &shown, region);
      if (shown_until == 0) return -1;
      if (shown_until == region->end) continue;
      asked->walk_end = shown_until;
      return (int)shown.count;
    }
  }
  asked->walk_end = asked->end;
  return (int)shown.count;
}

/*
 * CRIU's own question. Where there is a mark in an answer, it is asked in parts: CRIU would try to read the file's
 * page there, which the file may not have any more.
 */
static int scan_plain(int pid, int pagemap, struct page_scan *asked, bool is_plain) {
  struct page_scan scan = *asked;
  struct page_region *regions = (struct page_region *)(uintptr_t)asked->vec;
  bool is_marked = false;
  if (is_plain) scan.return_mask |= PAGE_SWAPPED;
  int count = call_scan(pagemap, &scan);
  for (int i = 0; i < count && is_plain; i++) {
    is_marked = is_marked || ((regions[i].categories & PAGE_SWAPPED) && holds_mark(pagemap, &regions[i]));
    regions[i].categories &= asked->return_mask;
  }
  if (is_marked) return scan_written(pagemap, asked);
  asked->walk_end = scan.walk_end;
  note_bytes(pid, regions, count);
  return count;
}

/* Notes that a process has memory, and how much is its own, without a look at each page. */
static int scan_nothing(int pid, struct page_scan *asked) {
  if (current.pid != pid) {
    struct page_region own = {.end = own_bytes(pid)};
    note_bytes(pid, &own, 1);
    current.pid = pid;
  }
  asked->walk_end = asked->end;
  return 0;
}

int scan_pages(int pagemap, struct page_scan *asked) {
  bool is_asked = getenv("WAYPOINT_TRACKER") != NULL || getenv("WAYPOINT_UNFILLED") != NULL;
  int pid = is_asked ? owner_of(pagemap) : 0;
  if (pid != 0 && getenv("WAYPOINT_PROTECT_ALONE") != NULL) return scan_nothing(pid, asked);
  if (pid != 0) begin_copying();
  if (pid != 0) note_unfilled();
  if (pid == 0) current.pid = -1, current.is_followed = false;
  if (pid != 0 && pid != current.pid) {
    current.pid = pid;
    current.inside = number_inside(pid);
    bool has_follower = current.inside != 0 && (is_followed_by_server(current.inside) || is_followed_by_tracker(pid));
    current.is_followed = has_follower && read_reference(current.inside) == 0;
  }
  bool is_plain = asked->flags == 0 && asked->max_pages == 0 && asked->vec_len > 0;
  if (pid != 0 && current.is_followed && is_plain) {
    int shown = scan_written(pagemap, asked);
    if (scanned_count > 0 && scanned[scanned_count - 1].pid == pid) scanned[scanned_count - 1].is_followed = 1;
    return shown;
  }
  return scan_plain(pid, pagemap, asked, is_plain);
}

static void protect_one(int tracker, const struct scanned *process) {
  char request[64];
  int pid = process->pid, is_quick = process->is_followed && is_clear(pid);
  snprintf(request, sizeof request, "%s %d", is_quick ? "register" : "protect", pid);
  const char *answer = ask_tracker(tracker, request, -1);
  if (is_quick && answer != NULL && strcmp(answer, "ok") == 0 && protect_written(pid) != 0) {
    snprintf(request, sizeof request, "forget %d", pid);
    ask_tracker(tracker, request, -1);
  }
  if (answer == NULL || strcmp(answer, "want") != 0) return;
  int uffd = make_uffd(pid);
  if (uffd < 0) return;
  snprintf(request, sizeof request, "take %d", pid);
  ask_tracker(tracker, request, uffd);
  syscall(SYS_close, uffd);
}

void protect_memory(void) {
  close_clean_list();
  for (size_t i = 0; i < scanned_count; i++) copy_again(scanned[i].pid);
  const char *id = getenv("WAYPOINT_TRACKED_FOR"), *least = getenv("WAYPOINT_TRACKED_BYTES_MIN");
  int tracker = id == NULL ? -1 : connect_tracker();
  if (tracker < 0) return;
  char request[128];
  snprintf(request, sizeof request, "begin %s", id);
  if (ask_tracker(tracker, request, -1) != NULL) {
    for (size_t i = 0; i < scanned_count; i++) {
      bool is_worth_it = scanned[i].bytes >= (least == NULL ? 0 : strtoull(least, NULL, 10));
      if (is_worth_it) protect_one(tracker, &scanned[i]);
    }
    ask_tracker(tracker, "end", -1);
  }
  syscall(SYS_close, tracker);
}
