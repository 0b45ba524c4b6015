/*
 * Preloaded into CRIU for a dump: how the file of a mapping was opened, as it is now.
 *
 * CRIU reads it from the rights of the link in /proc/PID/map_files, and opens the file so for a restore. The
 * kernel keeps such a link as long as there is a mapping of the same two addresses, and its rights stay those
 * of the first that anybody has looked at: of the checkpoint before, that is. Where a program has since mapped
 * something else exactly there, a shared mapping came back without its right to write (the restore failed
 * with EACCES), and a private one of a running program with it (ETXTBSY).
 *
 * A private mapping takes no more than reading. For shared ones a second /proc is asked, which is mounted
 * nowhere and has no such links yet; that takes three to four times as long as a link that is there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of linux/fs.h since Linux 6.11, where headers may be older. */
struct mapping_query {
  __u64 size, flags, address, start, end, rights, page_bytes, offset, inode;
  __u32 device_major, device_minor, name_bytes, build_id_bytes;
  __u64 name, build_id;
};
#define QUERY_MAPPING _IOWR('f', 17, struct mapping_query)
#define MAPPING_IS_SHARED 8u

/* Of linux/mount.h. */
#define CREATE_CONTEXT 6
#define CLOSE_ON_EXEC 1

/* The process whose mappings CRIU reads: its directory as CRIU has it, and what is asked in its place. */
static struct {
  pid_t criu;
  dev_t device;
  ino_t inode;
  int maps, links;
} current = {.maps = -1, .links = -1};

static int open_at(int directory, const char *path, int flags) {
  return (int)syscall(SYS_openat, directory, path, flags | O_RDONLY | O_CLOEXEC, 0);
}

static void close_if_open(int fd) {
  if (fd >= 0) syscall(SYS_close, fd);
}

/* Returns the root of a /proc that nobody has looked into, or -1. */
static int make_proc(void) {
  int context = (int)syscall(SYS_fsopen, "proc", CLOSE_ON_EXEC);
  int result = context < 0 ? -1 : (int)syscall(SYS_fsconfig, context, CREATE_CONTEXT, NULL, NULL, 0);
  if (result == 0) result = (int)syscall(SYS_fsmount, context, CLOSE_ON_EXEC, 0);
  close_if_open(context);
  return result;
}

/* Returns the same directory in a new /proc, or -1. */
static int open_anew(int directory) {
  char link[64], path[64] = "", inside[64];
  int pid = 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
  if (readlink(link, path, sizeof path - 1) < 0 || sscanf(path, "/proc/%d/map_files", &pid) != 1) return -1;
  int proc = make_proc();
  snprintf(inside, sizeof inside, "%d/map_files", pid);
  int result = proc < 0 ? -1 : open_at(proc, inside, O_DIRECTORY);
  close_if_open(proc);
  return result;
}

/* Makes a directory of links the one that is asked; false where it cannot be told which it is. */
static bool turn_to(int directory) {
  struct stat status;
  if (fstat(directory, &status) != 0) return false;
  /* The numbers of descriptors mean nothing in a child of CRIU that has closed them. */
  bool is_known = current.criu == getpid() && current.device == status.st_dev && current.inode == status.st_ino;
  if (is_known) return true;
  if (current.criu == getpid()) {
    close_if_open(current.maps);
    close_if_open(current.links);
  }
  current.criu = getpid();
  current.device = status.st_dev;
  current.inode = status.st_ino;
  current.maps = open_at(directory, "../maps", 0);
  current.links = -1;
  return true;
}

static bool is_private(unsigned long start) {
  struct mapping_query query = {.size = sizeof query, .address = start};
  int result = current.maps < 0 ? -1 : (int)syscall(SYS_ioctl, current.maps, QUERY_MAPPING, &query);
  return result == 0 && query.start == start && !(query.rights & MAPPING_IS_SHARED);
}

static int stat_link(int directory, const char *name, struct stat *status) {
  return (int)syscall(SYS_newfstatat, directory, name, status, AT_SYMLINK_NOFOLLOW);
}

/* Corrects the rights of the link to a file that is mapped. What cannot be known better stays as it is. */
static void correct(int directory, const char *name, unsigned long start, struct stat *status) {
  if (!turn_to(directory)) return;
  if (is_private(start)) {
    status->st_mode = (status->st_mode & ~0700u) | 0400;
    return;
  }
  if (current.links < 0) current.links = open_anew(directory);
  struct stat now;
  if (current.links >= 0 && stat_link(current.links, name, &now) == 0) *status = now;
}

int fstatat64(int directory, const char *restrict name, struct stat64 *restrict status, int flags) {
  unsigned long start, end;
  int length = 0, result = (int)syscall(SYS_newfstatat, directory, name, status, flags);
  bool is_link = flags == AT_SYMLINK_NOFOLLOW && result == 0 && S_ISLNK(status->st_mode);
  if (is_link && sscanf(name, "%lx-%lx%n", &start, &end, &length) == 2 && name[length] == 0)
    correct(directory, name, start, (struct stat *)status);
  return result;
}
