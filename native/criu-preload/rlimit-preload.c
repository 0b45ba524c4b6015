/*
 * Preloaded into CRIU, for machines on which root lacks CAP_SYS_RESOURCE.
 *
 * CRIU reads the limits of each task with syscall(SYS_prlimit64), which the kernel then refuses for
 * tasks of another user. Only that one request is answered from /proc/PID/limits instead; every
 * other call goes through unchanged.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIMIT_NAME_COLUMNS 26 /* width of the first column of /proc/PID/limits */
#define ERRNO_MAX 4095

struct limit {
  unsigned long soft, hard;
};

static const char *const LIMIT_NAMES[] = {
    [RLIMIT_CPU] = "Max cpu time",           [RLIMIT_FSIZE] = "Max file size",
    [RLIMIT_DATA] = "Max data size",         [RLIMIT_STACK] = "Max stack size",
    [RLIMIT_CORE] = "Max core file size",    [RLIMIT_RSS] = "Max resident set",
    [RLIMIT_NPROC] = "Max processes",        [RLIMIT_NOFILE] = "Max open files",
    [RLIMIT_MEMLOCK] = "Max locked memory",  [RLIMIT_AS] = "Max address space",
    [RLIMIT_LOCKS] = "Max file locks",       [RLIMIT_SIGPENDING] = "Max pending signals",
    [RLIMIT_MSGQUEUE] = "Max msgqueue size", [RLIMIT_NICE] = "Max nice priority",
    [RLIMIT_RTPRIO] = "Max realtime priority", [RLIMIT_RTTIME] = "Max realtime timeout"};

#define LIMIT_COUNT ((long)(sizeof LIMIT_NAMES / sizeof *LIMIT_NAMES))

#if defined(__x86_64__)
static long raw_call(long number, const long a[6]) {
  long result;
  register long a3 __asm__("r10") = a[3];
  register long a4 __asm__("r8") = a[4];
  register long a5 __asm__("r9") = a[5];
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(a3), "r"(a4), "r"(a5)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
static long raw_call(long number, const long a[6]) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a[0];
  register long x1 __asm__("x1") = a[1];
  register long x2 __asm__("x2") = a[2];
  register long x3 __asm__("x3") = a[3];
  register long x4 __asm__("x4") = a[4];
  register long x5 __asm__("x5") = a[5];
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
#else
#error "unknown architecture"
#endif

static unsigned long parse_limit(const char *text) {
  return strcmp(text, "unlimited") == 0 ? ~0ul : strtoul(text, NULL, 10);
}

static int read_limit(int pid, long resource, struct limit *limit) {
  char path[64], line[256], soft[32], hard[32];
  snprintf(path, sizeof path, "/proc/%d/limits", pid);
  FILE *file = fopen(path, "re");
  if (file == NULL) return -1;
  int result = -1;
  while (result < 0 && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, LIMIT_NAMES[resource], strlen(LIMIT_NAMES[resource])) != 0) continue;
    if (sscanf(line + LIMIT_NAME_COLUMNS, "%31s %31s", soft, hard) != 2) break;
    *limit = (struct limit){parse_limit(soft), parse_limit(hard)};
    result = 0;
  }
  fclose(file);
  return result;
}

long syscall(long number, ...) {
  long a[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
  va_end(list);

  long result = raw_call(number, a);
  int is_refused_read = result == -EPERM && number == SYS_prlimit64 && a[2] == 0 && a[3] != 0;
  if (is_refused_read && a[1] >= 0 && a[1] < LIMIT_COUNT &&
      read_limit((int)a[0], a[1], (struct limit *)a[3]) == 0) {
    return 0;
  }
  if (result >= 0 || result < -ERRNO_MAX) return result;
  errno = (int)-result;
  return -1;
}
