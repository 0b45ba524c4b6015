/*
 * Has a program in the kernel (tracker-mappings.c) go through the mappings of a process, and puts together with
 * /proc/PID/maps what smaps would say.
 */
#define _GNU_SOURCE
#include "mapping-flags.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The gate of old programs, which every process has and no list of mappings. */
#define GATE_START (1ull << 63)
#define GATE_FLAGS 4ull
#define FLAGS_BEGIN "VmFlags: "
#define PART_BYTES (64 * 1024)

/* bpf_iter_link_info of linux/bpf.h of 6.1 and newer, where headers may be older. */
union one_task {
  struct {
    uint32_t tid, pid, pid_fd;
  };
  char room[16];
};

/* As fs/proc/task_mmu.c has them; a kernel that has others is noticed when they are tried. */
static const char NAMES[64][3] = {"rd", "wr", "ex", "sh", "mr", "mw", "me", "ms", "gd", "um", "pf",
                                  "",   "uw", "lo", "io", "sr", "rr", "dc", "de", "lf", "ac", "nr",
                                  "ht", "sf", "ar", "wf", "dd", "sd", "mm", "hg", "nh", "mg",
                                  [40] = "dp", [42] = "sl"};
#define NAME_COUNT (sizeof NAMES / sizeof NAMES[0])

/* Reads a file to its end, or as far as there is room; returns how much, or -1. */
static long read_all(int fd, char *bytes, size_t bytes_max) {
  size_t length = 0;
  for (;;) {
    size_t wanted = bytes_max - length < PART_BYTES ? bytes_max - length : PART_BYTES;
    ssize_t part = wanted == 0 ? 0 : syscall(SYS_read, fd, bytes + length, wanted);
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) return -1;
    if (part == 0) return (long)length;
    length += (size_t)part;
  }
}

static int open_of(int pid, const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

static uint64_t named_flags(void) {
  uint64_t named = 0;
  for (size_t bit = 0; bit < NAME_COUNT; bit++) named |= (uint64_t)(NAMES[bit][0] != 0) << bit;
  return named;
}

/*
 * Reads what the program tells, and returns how many mappings that is, or -1.
 *
 * Where it told more than the kernel's own buffer holds, the kernel does not know at the end that it has been there: it
 * begins again at an earlier mapping. They ascend, so that this is seen.
 */
static long read_told(int fd, struct mapping *all) {
  const size_t bytes_max = MAPPINGS_MAX * sizeof *all;
  size_t length = 0;
  for (;;) {
    ssize_t part = length == bytes_max ? -1 : syscall(SYS_read, fd, (char *)all + length, bytes_max - length);
    if (part < 0 && errno == EINTR && length < bytes_max) continue;
    if (part < 0 || part % (ssize_t)sizeof *all != 0) return -1;
    const struct mapping *first = &all[length / sizeof *all];
    if (part == 0 || (length > 0 && first->start <= first[-1].start)) return (long)(length / sizeof *all);
    length += (size_t)part;
  }
}

/* Has the program run for one process; returns how many mappings it told, or -1. */
static long list_mappings(int program, int pid, struct mapping *all) {
  union one_task of_task = {.tid = (uint32_t)pid};
  union bpf_attr link = {.link_create = {.prog_fd = (uint32_t)program,
                                         .attach_type = BPF_TRACE_ITER,
                                         .iter_info = (uintptr_t)&of_task,
                                         .iter_info_len = sizeof of_task}};
  int linked = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof link);
  if (linked < 0) return -1;
  union bpf_attr iterate = {.iter_create = {.link_fd = (uint32_t)linked}};
  int fd = (int)syscall(SYS_bpf, BPF_ITER_CREATE, &iterate, sizeof iterate);
  long count = fd < 0 ? -1 : read_told(fd, all);
  if (fd >= 0) syscall(SYS_close, fd);
  syscall(SYS_close, linked);
  return count > 0 ? count : -1;
}

static size_t name_flags(uint64_t flags, char *text) {
  size_t length = (size_t)sprintf(text, FLAGS_BEGIN);
  for (size_t bit = 0; bit < NAME_COUNT; bit++) {
    if ((flags >> bit & 1) == 0 || NAMES[bit][0] == 0) continue;
    text[length++] = NAMES[bit][0];
    text[length++] = NAMES[bit][1];
    text[length++] = ' ';
  }
  text[length++] = '\n';
  return length;
}

/* Finds the flags of the mapping that a line of maps tells; false where it is not the next one. */
static bool find_flags(const char *line, const struct mappings_room *room, long count, long *next, uint64_t *flags) {
  char *end;
  uint64_t start = strtoull(line, &end, 16);
  if (start >= GATE_START) {
    *flags = GATE_FLAGS;
    return *next == count;
  }
  if (*next == count || *end != '-') return false;
  const struct mapping *mapping = &room->all[(*next)++];
  *flags = mapping->flags;
  return mapping->start == start && mapping->end == strtoull(end + 1, NULL, 16);
}

long tell_mappings(int program, uint64_t known, int pid, struct mappings_room *room) {
  long count = list_mappings(program, pid, room->all), next = 0;
  uint64_t flags = 0;
  room->seen = 0;
  for (long i = 0; i < count; i++) room->seen |= room->all[i].flags;
  if (count < 0 || (room->seen & ~(known & named_flags())) != 0) return -1;
  int maps = open_of(pid, "maps");
  /* The lines are read to the end of the room, and move to its beginning with those of the flags between them. */
  size_t half = sizeof room->text / 2, written = 0;
  long length = maps < 0 ? -1 : read_all(maps, room->text + half, half - 1);
  if (maps >= 0) syscall(SYS_close, maps);
  if (length <= 0 || length == (long)half - 1) return -1;
  char *line = room->text + half, *const end = line + length;
  *end = 0;
  while (line < end) {
    char *after = memchr(line, '\n', (size_t)(end - line));
    if (after == NULL || !find_flags(line, room, count, &next, &flags)) return -1;
    size_t bytes = (size_t)(++after - line);
    if (written + bytes + sizeof NAMES + sizeof FLAGS_BEGIN + NAME_COUNT > (size_t)(line - room->text)) return -1;
    memmove(room->text + written, line, bytes);
    written += bytes;
    written += name_flags(flags, room->text + written);
    line = after;
  }
  return next == count ? (long)written : -1;
}

/* A mapping's line begins with its addresses, and one that tells something of it with a name. */
static bool is_told(const char *line) {
  return (*line >= '0' && *line <= '9') || (*line >= 'a' && *line <= 'f') ||
         strncmp(line, FLAGS_BEGIN, sizeof FLAGS_BEGIN - 1) == 0;
}

long read_smaps(int pid, char *text, size_t bytes) {
  int smaps = open_of(pid, "smaps");
  long length = smaps < 0 ? -1 : read_all(smaps, text, bytes - 1), written = 0;
  if (smaps >= 0) syscall(SYS_close, smaps);
  if (length <= 0 || length == (long)bytes - 1) return -1;
  text[length] = 0;
  for (char *line = text, *after; line < text + length; line = after) {
    after = strchr(line, '\n');
    if (after == NULL) return -1;
    after++;
    if (!is_told(line)) continue;
    memmove(text + written, line, (size_t)(after - line));
    written += after - line;
  }
  return written;
}
