/* Putting pages into a process. */
#define _GNU_SOURCE
#include "pages.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* What is brought along with a page that a process waits for; neighbours are often next. */
#define FAULT_WINDOW_BYTES (64 * 1024ul)
#define OUT_OF_MEMORY_PAUSE_US 1000

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

static void wake(struct task *task, uint64_t address) {
  struct uffdio_range range = {.start = address, .len = PAGE_BYTES};
  ioctl(task->uffd, UFFDIO_WAKE, &range);
}

/* Sorts a refusal: 0 the page needs nothing any more, 1 try again, -1 give up. */
static int judge(struct task *task, uint64_t address) {
  switch (errno) {
    case EEXIST:
      wake(task, address);
      return 0;
    case ENOENT: /* Unmapped meanwhile. */
      wake(task, address);
      return 0;
    case ESRCH:
    case ENOSPC:
      task->is_gone = 1;
      return 0;
    case ENOMEM: /* At a limit of the session: the kernel is about to end one of its processes. */
      usleep(OUT_OF_MEMORY_PAUSE_US);
      return 1;
    case EAGAIN:
    case EINTR:
      return 1;
    default:
      return -1;
  }
}

/* Fills [start, end), which lies in one range of what is missing. */
static int fill(struct task *task, uint64_t start, uint64_t end, uint64_t offset) {
  const char *source = task->image->content->bytes + offset;
  /* The kernel copies with faults off first, and takes a long way round where that fails. */
  madvise((void *)source, end - start, MADV_POPULATE_READ);
  /* No process ever reads a page that is not what was captured. */
  if (require_right(task->image->content, offset, end - start) < 0) return -1;
  uint64_t at = start, step_end = end;
  int result = 0, is_protected = task->is_followed && is_in_place(task->image, start, end, offset);
  while (at < end && !task->is_gone) {
    struct uffdio_copy copy = {
        .dst = at, .src = (uint64_t)(uintptr_t)source + (at - start), .len = step_end - at,
        .mode = is_protected ? UFFDIO_COPY_MODE_WP : 0};
    int is_whole = ioctl(task->uffd, UFFDIO_COPY, &copy) == 0;
    if (is_whole || copy.copy > 0) {
      at += is_whole ? copy.len : (uint64_t)copy.copy;
      step_end = end;
      continue;
    }
    if (errno == EINVAL && is_protected) {
      /* Not followed there: a mapping that is new, for one. */
      is_protected = 0;
      continue;
    }
    if (errno == ENOENT && step_end - at > PAGE_BYTES) {
      /* It may cross into another mapping: each is filled by itself. */
      step_end = at + ((step_end - at) / PAGE_BYTES / 2) * PAGE_BYTES;
      continue;
    }
    result = judge(task, at);
    if (result != 0) break;
    at += PAGE_BYTES;
    step_end = end;
  }
  /* It is the images' memory, of which one copy is enough. */
  madvise((void *)source, end - start, MADV_DONTNEED);
  if (drop_addresses(&task->missing, start, at) < 0) return -1;
  return result;
}

static int fill_zero(struct task *task, uint64_t address) {
  struct uffdio_zeropage zero = {.range = {.start = address, .len = PAGE_BYTES}};
  if (ioctl(task->uffd, UFFDIO_ZEROPAGE, &zero) == 0) return 0;
  return judge(task, address);
}

int answer_fault(struct task *task, uint64_t address) {
  const struct range *range = find_range(&task->missing, address);
  if (range == NULL) return fill_zero(task, address);
  uint64_t start = address & ~(FAULT_WINDOW_BYTES - 1), end = start + FAULT_WINDOW_BYTES;
  if (start < range->start) start = range->start;
  if (end > range->end) end = range->end;
  return fill(task, start, end, range->offset + (start - range->start));
}

int fill_page(struct task *task, uint64_t *address) {
  const struct range *range = last_range(&task->missing);
  if (range == NULL) return 0;
  *address = range->end - PAGE_BYTES;
  return fill(task, *address, range->end, range->offset + (*address - range->start));
}

int fill_some(struct task *task) {
  const struct range *range = last_range(&task->missing);
  if (range == NULL) return 0;
  /* From the end: taking away there moves nothing. */
  uint64_t start = range->end - range->start > STEP_BYTES ? range->end - STEP_BYTES : range->start;
  return fill(task, start, range->end, range->offset + (start - range->start));
}
