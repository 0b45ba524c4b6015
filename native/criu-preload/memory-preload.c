/*
 * Preloaded into CRIU for a dump: pages that were not written since the last checkpoint are not copied.
 *
 * A tracker (native/memory-tracker) follows the writes of large processes. Of their pages CRIU is shown
 * those that were written; the others, which are the same in the images of the last checkpoint, are noted
 * in $WAYPOINT_CLEAN_PAGES, one range a line: the process by its number inside, and two addresses; the last
 * line is "end". What
 * nobody follows is shown as it is: a mapping that is new, a process that is, and all where there is no
 * tracker at $WAYPOINT_TRACKER, or no $WAYPOINT_CLEAN_PAGES.
 *
 * Of a tree that was restored lazily and is not full, the pages server at $WAYPOINT_UNFILLED tells which pages
 * are still to come: they are noted in the same way, and CRIU never sees them.
 *
 * At the end of the dump, when nothing of it can change any more, what was copied is protected anew, for
 * the checkpoint $WAYPOINT_TRACKED_FOR. A process of which the tracker has no descriptor, and which has
 * $WAYPOINT_TRACKED_BYTES_MIN, makes one there, as CRIU lets it make other calls.
 */
#define _GNU_SOURCE
#include "memory-preload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REGIONS_MAX 4096
/* More than a pid namespace of a session has, for all that is ordinary. */
#define PROCESSES_MAX 4096
/* A guard is no memory, and CRIU has to know of it. */
#define PAGE_GUARD (1u << 8)

static struct scanned scanned[PROCESSES_MAX];
static size_t scanned_count;
/* Not a FILE: CRIU forks meanwhile, and a child that ends would write out what is buffered once more. */
static struct {
  int fd;
  bool is_open, is_broken;
  size_t length;
  char text[64 * 1024];
} clean_list;
/* Of the process that was asked for last. */
static struct {
  int pid, inside;
  bool is_followed;
} current = {-1, 0, false};

static int call_scan(int fd, struct page_scan *scan) {
  return (int)syscall(SYS_ioctl, fd, PAGE_SCAN, scan);
}

/* Tells whether clean pages of a process are those of the last checkpoint. */
static bool is_followed(int pid) {
  int fd = getenv("WAYPOINT_CLEAN_PAGES") == NULL ? -1 : connect_tracker();
  const char *line = fd < 0 ? NULL : ask_tracker(fd, "clean", -1);
  bool found = false;
  for (int each; line != NULL && !found && sscanf(line, "%d", &each) == 1;) {
    found = each == pid;
    line = strchr(line, '\n');
    if (line != NULL) line++;
  }
  if (fd >= 0) syscall(SYS_close, fd);
  return found;
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
  if (scanned_count == 0 || scanned[scanned_count - 1].pid != pid) {
    if (scanned_count == PROCESSES_MAX) return;
    scanned[scanned_count++] = (struct scanned){.pid = pid};
  }
  for (int i = 0; i < count; i++) scanned[scanned_count - 1].bytes += regions[i].end - regions[i].start;
}

static bool is_clean(uint64_t categories) {
  return (categories & PAGE_TRACKABLE) && !(categories & (PAGE_WRITTEN | PAGE_GUARD));
}

static void write_out(void) {
  for (size_t done = 0; done < clean_list.length && !clean_list.is_broken;) {
    ssize_t part = write(clean_list.fd, clean_list.text + done, clean_list.length - done);
    if (part > 0) done += (size_t)part;
    else if (part == 0 || errno != EINTR) clean_list.is_broken = true;
  }
  clean_list.length = 0;
}

static void add_line(const char *line) {
  size_t length = strlen(line);
  if (clean_list.length + length > sizeof clean_list.text) write_out();
  memcpy(clean_list.text + clean_list.length, line, length);
  clean_list.length += length;
}

static bool open_clean_list(void) {
  if (!clean_list.is_open) {
    const char *path = getenv("WAYPOINT_CLEAN_PAGES");
    clean_list.fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    clean_list.is_open = clean_list.fd >= 0;
  }
  return clean_list.is_open && !clean_list.is_broken;
}

/* Once, before the first page is copied: what comes after that, CRIU copies too, and that goes before. */
static void note_unfilled(void) {
  static bool is_noted;
  if (is_noted || getenv("WAYPOINT_UNFILLED") == NULL) return;
  is_noted = true;
  /* A list that is not whole has no last line: then nobody takes the dump for one. */
  if (open_clean_list() && read_unfilled(add_line) < 0) clean_list.is_broken = true;
}

/* Notes a range that CRIU does not copy; what cannot be noted it copies. */
static bool note_clean(const struct page_region *region) {
  char line[64];
  if (!open_clean_list()) return false;
  snprintf(line, sizeof line, "%d %llx %llx\n", current.inside, (unsigned long long)region->start,
           (unsigned long long)region->end);
  add_line(line);
  return true;
}

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

/* Shows a region, but for the clean pages in it; returns where CRIU has to ask again, or the end. */
static uint64_t show_written(struct shown *shown, const struct page_region *region) {
  if (!is_clean(region->categories)) {
    note_written(current.pid, region);
    return show(shown, region) ? region->end : region->start;
  }
  struct page_region part = *region;
  for (; part.start < region->end; part.start = part.end) {
    int is_known;
    part.end = known_until(part.start, region->end, &is_known);
    if (is_known && note_clean(&part)) continue;
    /* It is protected already, and will be in the reference the next time. */
    if (!show(shown, &part)) return part.start;
  }
  return region->end;
}

/* The same question in parts, of which the clean pages are taken out. */
static int scan_written(int pagemap, struct page_scan *asked) {
  static struct page_region regions[REGIONS_MAX];
  struct shown shown = {(struct page_region *)(uintptr_t)asked->vec, 0, asked->vec_len, asked->return_mask};
  for (uint64_t from = asked->start; from < asked->end;) {
    struct page_scan scan = *asked;
    scan.start = from;
    scan.vec = (uint64_t)(uintptr_t)regions;
    scan.vec_len = REGIONS_MAX;
    scan.max_pages = 0;
    scan.return_mask |= PAGE_TRACKABLE | PAGE_WRITTEN;
    int count = call_scan(pagemap, &scan);
    if (count < 0) return count;
    note_bytes(current.pid, regions, count);
    for (int i = 0; i < count; i++) {
      uint64_t shown_until = show_written(&shown, &regions[i]);
      if (shown_until == regions[i].end) continue;
      asked->walk_end = shown_until;
      return (int)shown.count;
    }
    if (scan.walk_end <= from) break;
    from = scan.walk_end;
  }
  asked->walk_end = asked->end;
  return (int)shown.count;
}

int scan_pages(int pagemap, struct page_scan *asked) {
  bool is_asked = getenv("WAYPOINT_TRACKER") != NULL || getenv("WAYPOINT_UNFILLED") != NULL;
  int pid = is_asked ? owner_of(pagemap) : 0;
  if (pid != 0) note_unfilled();
  if (pid != 0 && pid != current.pid) {
    current.pid = pid;
    current.inside = number_inside(pid);
    bool has_follower = current.inside != 0 && (is_followed_by_server(current.inside) || is_followed(pid));
    current.is_followed = has_follower && read_reference(current.inside) == 0;
  }
  bool is_plain = asked->flags == 0 && asked->max_pages == 0 && asked->vec_len > 0;
  if (pid != 0 && current.is_followed && is_plain) {
    int shown = scan_written(pagemap, asked);
    if (scanned_count > 0 && scanned[scanned_count - 1].pid == pid) scanned[scanned_count - 1].is_followed = 1;
    return shown;
  }
  int count = call_scan(pagemap, asked);
  if (pid != 0 && count >= 0) note_bytes(pid, (struct page_region *)(uintptr_t)asked->vec, count);
  return count;
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

/* The last line says that the list is whole: where it cannot be written, nobody takes the dump for one. */
static void close_clean_list(void) {
  if (!clean_list.is_open) return;
  add_line("end\n");
  write_out();
  syscall(SYS_close, clean_list.fd);
  clean_list.is_open = false;
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
