/* The calls that share, punch and write blocks of the target. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "image-copy.h"

/* The kernel compares at most so much in one call. */
#define DEDUPE_BYTES_MAX (16ULL << 20)
uint64_t unwritten_bytes_max = 8ull << 20;

/* Errors of the disk itself are final; any other means that these blocks cannot be shared. */
static bool declined(const char *step) {
  if (errno == ENOSPC || errno == EDQUOT || errno == EIO || errno == EROFS) fail(step, "");
  return false;
}

/* Lets the kernel compare once more: the target is in use. */
static bool dedupe_range(const struct job *job, uint64_t from, uint64_t length, uint64_t to) {
  while (length > 0) {
    uint64_t part = length < DEDUPE_BYTES_MAX ? length : DEDUPE_BYTES_MAX;
    union {
      struct file_dedupe_range range;
      uint8_t room[sizeof(struct file_dedupe_range) + sizeof(struct file_dedupe_range_info)];
    } request;
    memset(&request, 0, sizeof request);
    request.range.src_offset = from;
    request.range.src_length = part;
    request.range.dest_count = 1;
    request.range.info[0].dest_fd = job->target_fd;
    request.range.info[0].dest_offset = to;
    if (ioctl(job->reference_fd, FIDEDUPERANGE, &request.range) < 0) return declined("share blocks");
    if (request.range.info[0].status != FILE_DEDUPE_RANGE_SAME) return false;
    uint64_t done = request.range.info[0].bytes_deduped;
    if (done == 0) return false;
    from += done;
    to += done;
    length -= done < length ? done : length;
  }
  return true;
}

bool clone_range(const struct job *job, uint64_t from, uint64_t length, uint64_t to) {
  if (job->in_place) return dedupe_range(job, from, length, to);
  struct file_clone_range range = {job->reference_fd, from, length, to};
  return ioctl(job->target_fd, FICLONERANGE, &range) == 0 || declined("share blocks");
}

bool clone_file(int reference_fd, int target_fd) {
  return ioctl(target_fd, FICLONE, reference_fd) == 0 || declined("share a file");
}

bool make_hole(const struct job *job, uint64_t at, uint64_t length) {
  /* A new file has nothing there yet. */
  if (!job->in_place) return true;
  int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  return fallocate(job->target_fd, mode, (off_t)at, (off_t)length) == 0 || declined("make a hole");
}

void write_range(const struct job *job, const void *bytes, uint64_t length, uint64_t at, const char *name) {
  for (uint64_t done = 0; done < length;) {
    ssize_t part = pwrite(job->target_fd, (const char *)bytes + done, length - done, (off_t)(at + done));
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) fail("write", name);
    done += (uint64_t)part;
  }
  static uint64_t unwritten;
  unwritten += length;
  if (unwritten < unwritten_bytes_max) return;
  unwritten = 0;
  /* Waits for what was sent to the disk the last time, and sends the rest. */
  sync_file_range(job->target_fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE);
}

uint64_t read_range(int fd, void *bytes, uint64_t length, uint64_t at) {
  uint64_t done = 0;
  while (done < length) {
    ssize_t part = pread(fd, (char *)bytes + done, length - done, (off_t)(at + done));
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) break;
    done += (uint64_t)part;
  }
  return done;
}
