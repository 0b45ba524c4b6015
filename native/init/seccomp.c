/*
 * The system calls a session may not use.
 *
 * First, what CRIU cannot dump (io_uring, userfaultfd, …) is said not to exist, so that programs
 * fall back. Second, what would let a session out of its namespaces is refused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "sandbox.h"

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
#define X32_BIT 0x40000000u
#define PROTOCOL_MPTCP 262

/* Numbers of the same calls differ between the two kinds of program on x86_64. */
struct call_numbers {
  const uint16_t *absent;
  unsigned absent_count;
  uint16_t clone, unshare, socket;
};

static const uint16_t NATIVE_ABSENT[] = {
    SYS_io_uring_setup,   SYS_userfaultfd, SYS_perf_event_open, SYS_memfd_secret, SYS_landlock_create_ruleset,
    SYS_landlock_add_rule, SYS_landlock_restrict_self, SYS_clone3, SYS_bpf, SYS_keyctl, SYS_add_key, SYS_request_key};
static const struct call_numbers NATIVE = {NATIVE_ABSENT, sizeof NATIVE_ABSENT / 2, SYS_clone, SYS_unshare, SYS_socket};

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
static const uint16_t I386_ABSENT[] = {425, 374, 336, 447, 444, 445, 446, 435, 357, 288, 286, 287};
static const struct call_numbers I386 = {I386_ABSENT, sizeof I386_ABSENT / 2, 120, 310, 359};
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "unknown architecture"
#endif

#define FIELD(name) ((uint32_t)offsetof(struct seccomp_data, name))
#define FILTER_MAX 160

static struct sock_filter filter[FILTER_MAX];
static unsigned filter_length;

static void emit(uint16_t code, uint8_t if_true, uint8_t if_false, uint32_t value) {
  filter[filter_length++] = (struct sock_filter){code, if_true, if_false, value};
}

static void load(uint32_t offset) {
  emit(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
}

static void answer(uint32_t error) {
  emit(BPF_RET | BPF_K, 0, 0, error == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | error);
}

/* With the call's number loaded: `call` with any of `flags` in its first argument is refused. */
static void refuse_flags(uint32_t call, uint32_t flags) {
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, call);
  load(FIELD(args[0]));
  emit(BPF_JMP | BPF_JSET | BPF_K, 0, 1, flags);
  answer(EPERM);
  answer(0);
}

/* Socket families that CRIU cannot dump or that reach out of the session, and MPTCP for TCP. */
static void refuse_sockets(uint32_t call) {
  static const uint8_t families[] = {AF_ALG, AF_VSOCK, AF_XDP};
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 13, call);
  load(FIELD(args[0]));
  for (unsigned i = 0; i < sizeof families; i++) {
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, families[i]);
    answer(EAFNOSUPPORT);
  }
  emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AF_INET);
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, AF_INET6);
  load(FIELD(args[2]));
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, PROTOCOL_MPTCP);
  answer(EPROTONOSUPPORT);
  answer(0);
}

static void emit_rules(const struct call_numbers *calls) {
  const uint32_t namespaces = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  load(FIELD(nr));
  for (unsigned i = 0; i < calls->absent_count; i++) {
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, calls->absent[i]);
    answer(ENOSYS);
  }
  /* In clone the low byte is the exit signal, where the bit of a time namespace lies. */
  refuse_flags(calls->clone, namespaces);
  refuse_flags(calls->unshare, namespaces | CLONE_NEWTIME);
  refuse_sockets(calls->socket);
  answer(0);
}

static void emit_architecture(uint32_t architecture, const struct call_numbers *calls) {
  load(FIELD(arch));
  unsigned jump = filter_length;
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, architecture);
  if (architecture == AUDIT_ARCH_X86_64) { /* x32 shares it and would slip past by its own numbers */
    load(FIELD(nr));
    emit(BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32_BIT);
    answer(ENOSYS);
  }
  emit_rules(calls);
  filter[jump].jf = (uint8_t)(filter_length - jump - 1);
}

const char *install_seccomp_filter(void) {
  filter_length = 0;
  emit_architecture(NATIVE_ARCH, &NATIVE);
#if defined(__x86_64__)
  emit_architecture(AUDIT_ARCH_I386, &I386);
#endif
  answer(ENOSYS);
  struct sock_fprog program = {(unsigned short)filter_length, filter};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? "install the seccomp filter" : NULL;
}
