/*
 * Copies small pieces of what was written, in place of CRIU: $WAYPOINT_TAKEN_PAGES takes the bytes, and the list of
 * clean pages has a line for each piece with the place of its bytes there. native/image-assemble puts all of it
 * together.
 *
 * CRIU makes an entry in four lists and one image of each piece, and brings its pages through a pipe into a new file,
 * one by one. What a program writes here and there is thousands of pieces, and that was a quarter of its pause.
 *
 * They are read from /proc/PID/mem and not with process_vm_readv(), which would change them (docs/notes/memory).
 * With larger pieces pauses were no shorter.
 */
#define _GNU_SOURCE
#include "memory-preload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PIECE_BYTES_MAX (64ull * 1024)
#define BUFFER_BYTES (256ull * 1024)
/* The file is kept for the next dump: memory that was just fetched from a machine's host is slow. */
#define TAKEN_BYTES_MAX (16ull << 20)

static struct {
  int fd;
  bool is_open, is_broken;
  uint64_t written;
  size_t length;
  char bytes[BUFFER_BYTES];
} taken;
static struct {
  int pid, fd;
} memory = {.pid = -1, .fd = -1};

static void write_out(void) {
  for (size_t done = 0; done < taken.length && !taken.is_broken;) {
    ssize_t part = write(taken.fd, taken.bytes + done, taken.length - done);
    if (part > 0) done += (size_t)part;
    else if (part == 0 || errno != EINTR) taken.is_broken = true;
  }
  /* All is copied once more, and what that needs must not lack the room. */
  if (taken.is_broken && ftruncate(taken.fd, 0) < 0) { /* Then it stays until the daemon shortens it. */ }
  taken.written += taken.length;
  taken.length = 0;
}

/* Others need that filesystem, too. */
static bool has_room(void) {
  struct statfs status;
  return fstatfs(taken.fd, &status) == 0 && (uint64_t)status.f_bavail * (uint64_t)status.f_bsize >= 2 * TAKEN_BYTES_MAX;
}

static bool open_taken(void) {
  const char *path = getenv("WAYPOINT_TAKEN_PAGES");
  if (path == NULL) return false;
  if (!taken.is_open) {
    taken.fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    taken.is_open = true;
    taken.is_broken = taken.fd < 0;
    if (!taken.is_broken && !has_room()) {
      syscall(SYS_close, taken.fd);
      taken.fd = -1;
      taken.is_broken = true;
    }
  }
  return !taken.is_broken;
}

static bool open_memory(int pid) {
  if (memory.pid == pid) return memory.fd >= 0;
  char path[64];
  if (memory.fd >= 0) syscall(SYS_close, memory.fd);
  snprintf(path, sizeof path, "/proc/%d/mem", pid);
  memory.fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  memory.pid = pid;
  return memory.fd >= 0;
}

int take_pages(int pid, int inside, const struct page_region *region) {
  uint64_t length = region->end - region->start, place = taken.written + taken.length;
  if ((region->categories & PAGE_GUARD) || length > PIECE_BYTES_MAX || place + length > TAKEN_BYTES_MAX || !open_taken() || !open_memory(pid)) return false;
  /* What CRIU asks for twice is taken twice. */
  if (taken.length + length > BUFFER_BYTES) write_out();
  if (pread(memory.fd, taken.bytes + taken.length, length, (off_t)region->start) != (ssize_t)length) return false;
  if (taken.is_broken || !list_taken(inside, region, place)) return false;
  taken.length += length;
  return true;
}

int close_taken(void) {
  /* Where it could not be opened, nothing was taken. */
  if (!taken.is_open || taken.fd < 0) return true;
  write_out();
  syscall(SYS_close, taken.fd);
  taken.is_open = false;
  taken.written = 0;
  return !taken.is_broken;
}
