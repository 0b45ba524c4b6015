/*
 * Preloaded into CRIU, between it and ptrace(). Three things are told to CRIU in other words.
 *
 * A thread that has ended needs no detaching. CRIU lets go of the restored threads one after the other.
 * A process that ends at once takes those with it that CRIU has not come to, and CRIU then takes the
 * restore for a failed one, ends the whole tree and waits for ever, since it does not collect those
 * threads itself. They are gone from it when CRIU ends.
 *
 * A call that waits without end, or to a time that is written down, was not interrupted by anybody but
 * CRIU. Stopping a task makes some calls return EINTR, which a program that has no signals never sees, and
 * may take for the end; a sleep is over too early. Where no signal is pending they are shown as calls that
 * the kernel makes again, as CRIU does for most others. When CRIU lets such a task go and a signal has come
 * meanwhile, the call is an interrupted one after all.
 *
 * CRIU knows tasks that SIGSTOP or SIGTSTP has stopped. One that the terminal has stopped (SIGTTIN,
 * SIGTTOU) is shown as one of SIGSTOP when CRIU asks whether it is stopped. When CRIU asks for the
 * signal, to write it down and to stop the restored task with it, it is told the one that it was.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "lock-preload.h"
#include "memory-preload.h"

/* Of linux/ptrace.h, which does not go with sys/ptrace.h: what it returns begins with an address. */
#define GET_RSEQ_CONFIGURATION 0x420f

typedef long ptrace_function(enum __ptrace_request request, ...);

static ptrace_function *find_ptrace(void) {
  static ptrace_function *next;
  if (next == NULL) next = (ptrace_function *)dlsym(RTLD_NEXT, "ptrace");
  return next;
}

#if defined(__x86_64__)
/* What a call returns inside the kernel when it was interrupted (linux/errno.h). */
#define ERESTARTNOHAND 514
#define ERESTART_RESTARTBLOCK 516
/* Length of the instruction that makes a call. */
#define CALL_BYTES 2

/* Whether a call returns EINTR at any stop, and has no time after which it returns. */
static int waits_without_end(const struct user_regs_struct *registers) {
  switch ((long)registers->orig_rax) {
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
      return (int)registers->r10 < 0;
    case SYS_epoll_pwait2:
    case SYS_semtimedop:
      return registers->r10 == 0;
    case SYS_rt_sigtimedwait:
      return registers->rdx == 0;
    case SYS_semop:
      return 1;
    default:
      return 0;
  }
}

/*
 * Whether a call that the kernel would go on with is the same when it is made again: it waits without
 * end or to a point in time, or it sleeps for what it has been told, and the kernel has written there
 * what is left of that.
 */
static int can_begin_again(const struct user_regs_struct *registers) {
  switch ((long)registers->orig_rax) {
    case SYS_poll:
      return (int)registers->rdx < 0;
    case SYS_futex:
      return (registers->rsi & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
    case SYS_nanosleep:
      return registers->rdi == registers->rsi;
    case SYS_clock_nanosleep:
      return registers->rdx == registers->r10;
    default:
      return 0;
  }
}

static int is_made_again(const struct user_regs_struct *registers) {
  long result = (long)registers->rax;
  if (result == -ERESTART_RESTARTBLOCK) return can_begin_again(registers);
  return result == -EINTR && waits_without_end(registers);
}

static int has_pending_signals(pid_t pid) {
  siginfo_t info;
  struct __ptrace_peeksiginfo_args own = {.off = 0, .flags = 0, .nr = 1};
  struct __ptrace_peeksiginfo_args shared = {.off = 0, .flags = PTRACE_PEEKSIGINFO_SHARED, .nr = 1};
  return find_ptrace()(PTRACE_PEEKSIGINFO, pid, &own, &info) != 0 ||
         find_ptrace()(PTRACE_PEEKSIGINFO, pid, &shared, &info) != 0;
}

/* A task whose call was shown as one that is made again. */
struct hidden {
  pid_t pid;
  unsigned long long call, after;
};

static struct hidden *hidden;
static size_t hidden_count;

static struct hidden *find_hidden(pid_t pid) {
  for (size_t i = 0; i < hidden_count; i++) {
    if (hidden[i].pid == pid) return &hidden[i];
  }
  return NULL;
}

static struct hidden *add_hidden(pid_t pid) {
  struct hidden *more = realloc(hidden, (hidden_count + 1) * sizeof *hidden);
  if (more == NULL) return NULL;
  hidden = more;
  hidden[hidden_count].pid = pid;
  return &hidden[hidden_count++];
}

static void hide_interruption(pid_t pid, const struct iovec *area) {
  struct user_regs_struct *registers = area->iov_base;
  /* A 32-bit task has fewer. */
  if (area->iov_len != sizeof *registers || !is_made_again(registers)) return;
  if (has_pending_signals(pid)) return;
  struct hidden *task = find_hidden(pid);
  if (task == NULL) task = add_hidden(pid);
  if (task == NULL) return;
  task->call = registers->orig_rax;
  task->after = registers->rip;
  registers->rax = (unsigned long long)-ERESTARTNOHAND;
}

static void tell_interruption(pid_t pid) {
  const struct hidden *task = find_hidden(pid);
  if (task == NULL || !has_pending_signals(pid)) return;
  struct user_regs_struct registers;
  struct iovec area = {.iov_base = &registers, .iov_len = sizeof registers};
  if (find_ptrace()(PTRACE_GETREGSET, pid, NT_PRSTATUS, &area) != 0) return;
  if (registers.rax != task->call || registers.rip != task->after - CALL_BYTES) return;
  registers.rax = (unsigned long long)-EINTR;
  registers.rip = task->after;
  find_ptrace()(PTRACE_SETREGSET, pid, NT_PRSTATUS, &area);
}
#else
static void hide_interruption(pid_t pid, const struct iovec *area) {
  (void)pid, (void)area;
}

static void tell_interruption(pid_t pid) {
  (void)pid;
}
#endif

/* The task that CRIU has found stopped last, and let go on to where it can be looked at. */
static pid_t passed_stop_pid;

static int is_stop_of_terminal(const siginfo_t *info) {
  int is_stop = info->si_code >> 8 == PTRACE_EVENT_STOP;
  return is_stop && (info->si_signo == SIGTTIN || info->si_signo == SIGTTOU);
}

long ptrace(enum __ptrace_request request, ...) {
  va_list list;
  va_start(list, request);
  pid_t pid = va_arg(list, pid_t);
  void *address = va_arg(list, void *);
  void *data = va_arg(list, void *);
  va_end(list);
  if (request == PTRACE_DETACH) {
    give_all_locks();
    tell_interruption(pid);
  }
  long result = find_ptrace()(request, pid, address, data);
  if (result < 0 && errno == ESRCH && request == PTRACE_DETACH) return 0;
  if (result == 0 && request == PTRACE_SEIZE) note_traced(pid);
  int gave_registers = result == 0 && request == PTRACE_GETREGSET && (size_t)address == NT_PRSTATUS;
  if (gave_registers) hide_interruption(pid, data);
  if (result > 0 && request == GET_RSEQ_CONFIGURATION) note_processor_area(*(unsigned long long *)data);
  /* CRIU passes a signal on that it has met on the way, and nothing at a stop. */
  if (request == PTRACE_SEIZE) passed_stop_pid = 0;
  if (request == PTRACE_CONT && data == NULL) passed_stop_pid = pid;
  int gave_stop = result == 0 && request == PTRACE_GETSIGINFO && pid != passed_stop_pid;
  if (gave_stop && is_stop_of_terminal(data)) ((siginfo_t *)data)->si_signo = SIGSTOP;
  return result;
}
