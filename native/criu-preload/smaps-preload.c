/*
 * Preloaded into CRIU for a dump: reads /proc/PID/smaps of the tasks beside CRIU, before it asks for them, with
 * $WAYPOINT_SMAPS_AHEAD.
 *
 * CRIU needs the flags of mappings, which only smaps tells, and the kernel looks at each page for it: a sixth
 * of the pause of a browser, and 11 to 28 ms for each GiB of small pages. Where the session's memory tracker has a
 * program that tells the flags, nobody looks at a page (mapping-flags.h). Where tasks are many, or large without such a
 * program, a thread goes through them in CRIU's order while CRIU is at others; else that is not worth its start, since
 * a processor that rests takes up to a millisecond to begin. What it does keeps to these rules:
 *
 * - All tasks stand when CRIU opens the first smaps, and a task has no code of CRIU's before its own is read to
 *   the end. A task that shares its memory with another could have the code of that one: CRIU reads it itself.
 * - CRIU never waits for a task that was not begun: it reads that itself.
 * - What cannot be read to its end ends in a line that CRIU refuses, and never in silence.
 */
#define _GNU_SOURCE
#include "smaps-preload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../memory-tracker/mapping-flags.h"
#include "memory-preload.h"

/* The others CRIU reads itself. */
#define TASKS_MAX 256
/* From so many tasks on a thread is worth its start; and for fewer, with so much memory that is looked at. */
#define TASKS_MANY 6
#define LOOKED_AT_BYTES_MIN (64ull << 20)
/* Some 10,000 mappings; the thread waits when CRIU is so far behind. */
#define SOCKET_BYTES (8 << 20)
#define REFUSED_LINE "\n0-0 \n"

enum state { WAITING, BEGUN, TAKEN };

static struct task {
  int pid;
  _Atomic int state;
  int ours, given; /* what the thread writes to, and what CRIU gets */
} tasks[TASKS_MAX];
static size_t task_count;
static pid_t reader_pid;
static bool has_thread;
static atomic_bool is_apart;
static int program = -1;
static unsigned long long known_flags;

static void add_task(int pid);

static void add_children(const char *path) {
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  char text[TASKS_MAX * 12];
  ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  if (fd >= 0) syscall(SYS_close, fd);
  text[length > 0 ? length : 0] = 0;
  for (char *at = text, *end; task_count < TASKS_MAX; at = end) {
    long pid = strtol(at, &end, 10);
    if (end == at) return;
    add_task((int)pid);
  }
}

/* As CRIU does: a task, then all below it. */
static void add_task(int pid) {
  char path[300];
  tasks[task_count++] = (struct task){.pid = pid, .state = WAITING};
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *threads = opendir(path);
  if (threads == NULL) return;
  for (struct dirent *thread; task_count < TASKS_MAX && (thread = readdir(threads)) != NULL;) {
    if (thread->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%d/task/%s/children", pid, thread->d_name);
    add_children(path);
  }
  closedir(threads);
}

static bool shares_memory(size_t at) {
  for (size_t other = 0; other < task_count; other++) {
    if (other == at) continue;
    long order = syscall(SYS_kcmp, tasks[at].pid, tasks[other].pid, KCMP_VM, 0, 0);
    if (order == 0 || (order < 0 && errno != ESRCH)) return true;
  }
  return false;
}

static bool pass(int socket, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t part = syscall(SYS_sendto, socket, bytes, length, MSG_NOSIGNAL, NULL, 0);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return false;
    bytes += part;
    length -= (size_t)part;
  }
  return true;
}

static void pass_all(int smaps, int socket) {
  static char bytes[64 * 1024];
  ssize_t part;
  while ((part = syscall(SYS_read, smaps, bytes, sizeof bytes)) != 0) {
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) pass(socket, REFUSED_LINE, strlen(REFUSED_LINE));
    if (part < 0 || !pass(socket, bytes, (size_t)part)) break;
  }
}

/* Memory for a dump alone: what is loaded into CRIU for a restore, too, stays small. */
static void *make_room(size_t bytes) {
  void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return room == MAP_FAILED ? NULL : room;
}

/* For tests: what is told has to be what smaps says. */
static bool is_as_smaps_says(int pid, const char *text, long length) {
  static char *smaps;
  if (getenv("WAYPOINT_SECOND_COPY") == NULL) return true;
  if (smaps == NULL) smaps = make_room(MAPPINGS_TEXT_BYTES);
  return smaps != NULL && read_smaps(pid, smaps, MAPPINGS_TEXT_BYTES) == length &&
         memcmp(smaps, text, (size_t)length) == 0;
}

/* Returns the length of what the program in the kernel tells, in place of smaps; -1 where it does not. */
static long tell(int pid, const char **text) {
  static struct mappings_room *room;
  if (program >= 0 && room == NULL) room = make_room(sizeof *room);
  long length = program < 0 || room == NULL ? -1 : tell_mappings(program, known_flags, pid, room);
  if (length < 0) return -1;
  bool is_right = is_as_smaps_says(pid, room->text, length);
  *text = is_right ? room->text : REFUSED_LINE;
  return is_right ? length : (long)strlen(REFUSED_LINE);
}

/* Passes it on; false where nothing is told, and nothing was passed. */
static bool pass_told(int pid, int socket) {
  const char *text;
  long length = tell(pid, &text);
  if (length >= 0 && !pass(socket, text, (size_t)length)) pass(socket, REFUSED_LINE, strlen(REFUSED_LINE));
  return length >= 0;
}

/* Returns it as a file, or -1 where CRIU has to read smaps. */
static int write_told(int pid) {
  const char *text;
  long length = tell(pid, &text);
  int file = length < 0 ? -1 : memfd_create("smaps", MFD_CLOEXEC);
  if (file < 0 || pwrite(file, text, (size_t)length, 0) == length) return file;
  syscall(SYS_close, file);
  return -1;
}

static void read_task(struct task *task) {
  int ends[2], bytes = SOCKET_BYTES, expected = WAITING;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/smaps", task->pid);
  int smaps = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (smaps < 0) return;
  if (syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
    if (syscall(SYS_setsockopt, ends[0], SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) < 0) { /* It waits more. */ }
    task->ours = ends[0];
    task->given = ends[1];
    if (!atomic_compare_exchange_strong(&task->state, &expected, BEGUN)) syscall(SYS_close, task->given);
    else if (!pass_told(task->pid, task->ours)) pass_all(smaps, task->ours);
    /* A child of CRIU may have it, too, so that closing it would not be the end. */
    syscall(SYS_shutdown, task->ours, SHUT_WR);
    syscall(SYS_close, task->ours);
  }
  syscall(SYS_close, smaps);
}

static void *read_tasks(void *nothing) {
  /* With a root and a directory in common, CRIU could enter no other mount namespace. */
  bool is_alone = syscall(SYS_unshare, CLONE_FS) == 0;
  atomic_store(&is_apart, true);
  for (size_t i = 1; is_alone && i < task_count; i++) {
    if (!shares_memory(i)) read_task(&tasks[i]);
  }
  return nothing;
}

/* Returns how much memory of a task has pages, of files and shared ones too. */
static unsigned long long resident_bytes(int pid) {
  char path[64], text[128] = "";
  unsigned long long pages = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", pid);
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (fd >= 0 && read(fd, text, sizeof text - 1) > 0) sscanf(text, "%*u %llu", &pages);
  if (fd >= 0) syscall(SYS_close, fd);
  return pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}

static bool is_thread_worth_it(void) {
  unsigned long long bytes = 0;
  if (task_count >= TASKS_MANY) return true;
  for (size_t i = 1; i < task_count && program < 0; i++) bytes += resident_bytes(tasks[i].pid);
  return bytes >= LOOKED_AT_BYTES_MIN;
}

/* Begins with the task that is asked for first, the root of all others, which CRIU reads itself. */
static void begin(int root) {
  reader_pid = getpid();
  add_task(root);
  if (task_count < 2) return;
  program = get_mappings_program(&known_flags);
  has_thread = is_thread_worth_it();
  if (!has_thread) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t reader;
  bool is_begun = pthread_create(&reader, NULL, read_tasks, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!is_begun) {
    task_count = 0;
    return;
  }
  pthread_detach(reader);
  while (!atomic_load(&is_apart)) sched_yield();
}

int open_smaps(int directory) {
  char link[64], path[64] = "";
  int pid = 0, length = 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
  if (getenv("WAYPOINT_SMAPS_AHEAD") == NULL || readlink(link, path, sizeof path - 1) < 0) return -1;
  if (sscanf(path, "/proc/%d%n", &pid, &length) != 1 || path[length] != 0 || pid == getpid()) return -1;
  if (reader_pid == 0) begin(pid);
  /* What a child of CRIU has of this is a copy without a thread. */
  if (reader_pid != getpid()) return -1;
  for (size_t i = 1; i < task_count; i++) {
    int expected = WAITING;
    if (tasks[i].pid != pid) continue;
    if (!has_thread) return write_told(pid);
    if (atomic_compare_exchange_strong(&tasks[i].state, &expected, TAKEN) || expected == TAKEN) return -1;
    atomic_store(&tasks[i].state, TAKEN);
    return tasks[i].given;
  }
  return -1;
}
