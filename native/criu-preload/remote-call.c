/*
 * System calls that a traced task makes for its tracer: with the registers of a call, from an
 * instruction that makes calls somewhere in the task's own code. Nothing of its memory is changed.
 */
#define _GNU_SOURCE
#include "remote-call.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL_STOP (SIGTRAP | 0x80)
#define SEARCHED_BYTES (64 * 1024)
/* Of the kernel; libc's own is longer. */
#define SIGNAL_SET_BYTES 8
/* What cannot be blocked, one after the other, before a call comes to its end. */
#define STOPS_MAX 64

#if defined(__x86_64__)
typedef struct user_regs_struct registers_t;
static const unsigned char CALL_CODE[] = {0x0f, 0x05};
#define CODE_ALIGNMENT 1

static void set_call(registers_t *regs, uint64_t code, long number, const long a[REMOTE_CALL_ARGUMENTS]) {
  regs->rip = code;
  regs->rax = (unsigned long long)number;
  /* Otherwise the kernel may take the registers for those of a call to be made again. */
  regs->orig_rax = ~0ull;
  regs->rdi = (unsigned long long)a[0];
  regs->rsi = (unsigned long long)a[1];
  regs->rdx = (unsigned long long)a[2];
  regs->r10 = (unsigned long long)a[3];
  regs->r8 = (unsigned long long)a[4];
  regs->r9 = (unsigned long long)a[5];
}

static long call_result(const registers_t *regs) {
  return (long)regs->rax;
}
#elif defined(__aarch64__)
typedef struct user_regs_struct registers_t;
static const unsigned char CALL_CODE[] = {0x01, 0x00, 0x00, 0xd4};
#define CODE_ALIGNMENT 4

static void set_call(registers_t *regs, uint64_t code, long number, const long a[REMOTE_CALL_ARGUMENTS]) {
  regs->pc = code;
  regs->regs[8] = (unsigned long long)number;
  for (int i = 0; i < REMOTE_CALL_ARGUMENTS; i++) regs->regs[i] = (unsigned long long)a[i];
}

static long call_result(const registers_t *regs) {
  return (long)regs->regs[0];
}
#else
#error "unknown architecture"
#endif

struct remote_call {
  pid_t pid;
  uint64_t code;
  registers_t before;
  uint64_t mask;
  /* A signal that cannot be blocked came and is to come again. */
  int held_signal;
};

static int get_registers(pid_t pid, registers_t *regs) {
  struct iovec area = {.iov_base = regs, .iov_len = sizeof *regs};
  if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &area) != 0) return -1;
  errno = ENOTSUP; /* A 32-bit task has fewer. */
  return area.iov_len == sizeof *regs ? 0 : -1;
}

static int set_registers(pid_t pid, registers_t *regs) {
  struct iovec area = {.iov_base = regs, .iov_len = sizeof *regs};
  return (int)ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &area);
}

/* Returns the address of the instruction between two addresses, or 0. */
static uint64_t search(int memory, uint64_t start, uint64_t end) {
  static unsigned char bytes[SEARCHED_BYTES];
  for (uint64_t at = start; at < end; at += sizeof bytes - sizeof CALL_CODE) {
    size_t wanted = end - at < sizeof bytes ? (size_t)(end - at) : sizeof bytes;
    ssize_t length = pread(memory, bytes, wanted, (off_t)at);
    for (ssize_t i = 0; i + (ssize_t)sizeof CALL_CODE <= length; i += CODE_ALIGNMENT) {
      if (memcmp(bytes + i, CALL_CODE, sizeof CALL_CODE) == 0) return at + (uint64_t)i;
    }
    if (length < (ssize_t)wanted) return 0;
  }
  return 0;
}

/* Every program that has come as far as taking a lock has the instruction, or a library of its own. */
static uint64_t find_code(pid_t pid) {
  char path[64], line[512], rights[8];
  snprintf(path, sizeof path, "/proc/%d/mem", pid);
  int memory = open(path, O_RDONLY | O_CLOEXEC);
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  FILE *maps = fopen(path, "re");
  uint64_t found = 0, start, end;
  while (memory >= 0 && maps != NULL && found == 0 && fgets(line, sizeof line, maps) != NULL) {
    int fields = sscanf(line, "%lx-%lx %7s", &start, &end, rights);
    if (fields == 3 && rights[2] == 'x' && strstr(line, "[vsyscall]") == NULL)
      found = search(memory, start, end);
  }
  if (maps != NULL) fclose(maps);
  if (memory >= 0) close(memory);
  errno = ENOEXEC;
  return found;
}

struct remote_call *remote_begin(pid_t pid) {
  struct remote_call *remote = calloc(1, sizeof *remote);
  if (remote == NULL) return NULL;
  remote->pid = pid;
  /* SIGTRAP cannot be blocked where it is sent by force; its handler would be lost. */
  uint64_t all = ~(1ull << (SIGTRAP - 1));
  if (get_registers(pid, &remote->before) == 0 && (remote->code = find_code(pid)) != 0 &&
      ptrace(PTRACE_GETSIGMASK, pid, SIGNAL_SET_BYTES, &remote->mask) == 0 &&
      ptrace(PTRACE_SETSIGMASK, pid, SIGNAL_SET_BYTES, &all) == 0)
    return remote;
  free(remote);
  return NULL;
}

/* Runs it until it is at the beginning or at the end of the call. */
static int run_to_stop(struct remote_call *remote) {
  for (int stops = 0; stops < STOPS_MAX; stops++) {
    int status;
    if (ptrace(PTRACE_SYSCALL, remote->pid, NULL, NULL) != 0) return -1;
    if (waitpid(remote->pid, &status, __WALL) != remote->pid || !WIFSTOPPED(status)) break;
    if (WSTOPSIG(status) == CALL_STOP) return 0;
    if (status >> 16 == 0) remote->held_signal = WSTOPSIG(status);
  }
  errno = ESRCH;
  return -1;
}

long remote_call(struct remote_call *remote, long number, const long arguments[REMOTE_CALL_ARGUMENTS]) {
  registers_t regs = remote->before;
  set_call(&regs, remote->code, number, arguments);
  if (set_registers(remote->pid, &regs) != 0 || run_to_stop(remote) != 0 || run_to_stop(remote) != 0 ||
      get_registers(remote->pid, &regs) != 0)
    return -errno;
  return call_result(&regs);
}

int remote_end(struct remote_call *remote) {
  int failed = set_registers(remote->pid, &remote->before) != 0 ||
               ptrace(PTRACE_SETSIGMASK, remote->pid, SIGNAL_SET_BYTES, &remote->mask) != 0 ||
               (remote->held_signal != 0 && kill(remote->pid, remote->held_signal) != 0);
  free(remote);
  return failed ? -1 : 0;
}
