/*
 * Preloaded into CRIU: a thread that has ended needs no detaching.
 *
 * CRIU lets go of the restored threads one after the other. A process that ends at once takes those
 * with it that CRIU has not come to, and CRIU then takes the restore for a failed one, ends the whole
 * tree and waits for ever, since it does not collect those threads itself. They are gone from it when
 * CRIU ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/types.h>

typedef long ptrace_function(enum __ptrace_request request, ...);

long ptrace(enum __ptrace_request request, ...) {
  static ptrace_function *next;
  if (next == NULL) next = (ptrace_function *)dlsym(RTLD_NEXT, "ptrace");
  va_list list;
  va_start(list, request);
  pid_t pid = va_arg(list, pid_t);
  void *address = va_arg(list, void *);
  void *data = va_arg(list, void *);
  va_end(list);
  long result = next(request, pid, address, data);
  return result < 0 && errno == ESRCH && request == PTRACE_DETACH ? 0 : result;
}
