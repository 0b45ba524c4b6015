/*
 * Preloaded into CRIU for a restore: gives every process the locks again that it has lost by then.
 *
 * A process loses its POSIX locks on a file when it closes any descriptor of that file. CRIU sets the
 * locks of each process first, and closes the descriptors through which it has mapped files last, in code
 * that has no C library any more. So each lock that a process is given is noted, in memory that CRIU and
 * all processes share; and when all of them stand before their next step, still traced by CRIU, each sets
 * its own again. No process of the tree runs before that.
 *
 * A lock that somebody outside the tree holds is not waited for, since nobody says when it is let go: the
 * restore fails. Only files of bound directories can be locked from outside.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lock-preload.h"
#include "memory-preload.h"
#include "remote-call.h"

/* For all processes of a tree; what is not used takes no memory. */
#define LOCKS_MAX (1024 * 1024)
#define PAGE_BYTES 4096

struct noted_lock {
  /* As the process sees itself. */
  pid_t owner;
  int fd;
  struct flock lock;
};

struct notes {
  atomic_uint count;
  struct noted_lock locks[LOCKS_MAX];
};

static struct notes *notes;

/* A process with locks that CRIU traces: as CRIU sees it, and as it sees itself. */
struct owner {
  pid_t pid, inner;
};

static struct owner *owners;
static size_t owner_count;

void share_notes(void) {
  void *shared = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  notes = shared == MAP_FAILED ? NULL : shared;
}

/* Sets and notes a lock of the calling process. */
static int take_lock(int fd, const struct flock *lock) {
  unsigned index = notes == NULL ? LOCKS_MAX : atomic_fetch_add(&notes->count, 1);
  if (index >= LOCKS_MAX) {
    errno = ENOLCK;
    return -1;
  }
  notes->locks[index] = (struct noted_lock){.owner = getpid(), .fd = fd, .lock = *lock};
  return (int)syscall(SYS_fcntl, fd, F_SETLK, lock);
}

int fcntl64(int fd, int command, ...) {
  static int (*next)(int, int, ...);
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  if (command == F_SETLKW) return take_lock(fd, argument);
  if (next == NULL) next = (int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl64");
  return next(fd, command, argument);
}

int flock(int fd, int operation) {
  return (int)syscall(SYS_flock, fd, operation | LOCK_NB);
}

/* Returns the number that a process has in the innermost of its pid namespaces, or 0. */
static pid_t inner_pid(pid_t pid) {
  char path[64], line[256];
  pid_t inner = 0;
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  FILE *status = fopen(path, "re");
  while (status != NULL && inner == 0 && fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, "NSpid:", 6) == 0) inner = (pid_t)atol(strrchr(line, '\t'));
  }
  if (status != NULL) fclose(status);
  return inner;
}

static unsigned noted_count(void) {
  return notes == NULL ? 0 : atomic_load(&notes->count);
}

static int has_locks(pid_t inner) {
  for (unsigned i = 0; i < noted_count(); i++) {
    if (notes->locks[i].owner == inner) return 1;
  }
  return 0;
}

/* A process that goes on without its lock may damage what it writes: none of the tree goes on. */
static void give_up(pid_t inner) {
  const char *root = getenv("CRTOOLS_INIT_PID");
  dprintf(STDERR_FILENO, "Can not set posix lock of process %d again: %s\n", inner, strerror(errno));
  if (root != NULL) kill((pid_t)atol(root), SIGKILL);
  for (size_t i = 0; i < owner_count; i++) kill(owners[i].pid, SIGKILL);
  _exit(1);
}

void note_traced(pid_t pid) {
  if (noted_count() == 0) return;
  pid_t inner = inner_pid(pid);
  if (!has_locks(inner)) return;
  struct owner *more = realloc(owners, (owner_count + 1) * sizeof *owners);
  if (more == NULL) give_up(inner);
  owners = more;
  owners[owner_count++] = (struct owner){.pid = pid, .inner = inner};
}

/* Sets the locks of a process with a page of its memory, which is empty. */
static int set_locks(struct remote_call *remote, pid_t pid, pid_t inner, long page) {
  for (unsigned i = 0; i < noted_count(); i++) {
    struct noted_lock *noted = &notes->locks[i];
    if (noted->owner != inner) continue;
    struct iovec here = {.iov_base = &noted->lock, .iov_len = sizeof noted->lock};
    struct iovec there = {.iov_base = (void *)page, .iov_len = sizeof noted->lock};
    if (process_vm_writev(pid, &here, 1, &there, 1, 0) != (ssize_t)sizeof noted->lock) return -1;
    long result = remote_call(remote, SYS_fcntl, (const long[]){noted->fd, F_SETLK, page, 0, 0, 0});
    if (result < 0) {
      errno = (int)-result;
      return -1;
    }
  }
  return 0;
}

static int give_locks(pid_t pid, pid_t inner) {
  struct remote_call *remote = remote_begin(pid);
  if (remote == NULL) return -1;
  long page = remote_call(remote, SYS_mmap,
                          (const long[]){0, PAGE_BYTES, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0});
  int result = -1, reason = (int)-page;
  if (page >= 0 || page < -PAGE_BYTES) {
    result = set_locks(remote, pid, inner, page);
    reason = errno;
    remote_call(remote, SYS_munmap, (const long[]){page, PAGE_BYTES, 0, 0, 0, 0});
  }
  if (remote_end(remote) != 0) return -1;
  errno = reason;
  return result;
}

void give_all_locks(void) {
  for (size_t i = 0; i < owner_count; i++) {
    if (give_locks(owners[i].pid, owners[i].inner) != 0) give_up(owners[i].inner);
  }
  owner_count = 0;
}

int setenv(const char *name, const char *value, int replace) {
  static int (*next)(const char *, const char *, int);
  /* Said before the scripts of that stage start, one of which may freeze the tree. */
  if (strcmp(name, "CRTOOLS_SCRIPT_ACTION") == 0 && strcmp(value, "pre-resume") == 0) give_all_locks();
  if (strcmp(name, "CRTOOLS_SCRIPT_ACTION") == 0 && strcmp(value, "post-dump") == 0) protect_memory();
  if (next == NULL) next = (int (*)(const char *, const char *, int))dlsym(RTLD_NEXT, "setenv");
  return next(name, value, replace);
}
