/* What the pages server of a lazily restored tree has not filled, told by itself while the tree stands still. */
#define _GNU_SOURCE
#include "memory-preload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* It may have to fill what cannot be told first: children of a large process, at worst. */
#define ANSWER_TIMEOUT_MS 30000
#define PART_BYTES 4096
#define LINE_BYTES 64
/* UFFD_FEATURE_WP_ASYNC, of Linux 6.7 and newer. */
#define UFFD_WRITES (1ull << 15)
/* Those above are copied. */
#define FOLLOWED_MAX 1024

static int followed[FOLLOWED_MAX];
static int followed_count;

int is_followed_by_server(int inside) {
  for (int i = 0; i < followed_count; i++) {
    if (followed[i] == inside) return 1;
  }
  return 0;
}

/* Hands on whole lines; returns 1 after the last one, -1 for what is none. */
static int take_lines(char *line, size_t *length, const char *part, size_t size, void (*add)(const char *line)) {
  int inside;
  for (size_t i = 0; i < size; i++) {
    if (*length == LINE_BYTES - 1) return -1;
    line[(*length)++] = part[i];
    if (part[i] != '\n') continue;
    line[*length] = 0;
    *length = 0;
    if (strcmp(line, "end\n") == 0) return 1;
    if (sscanf(line, "followed %d", &inside) != 1) add(line);
    else if (followed_count < FOLLOWED_MAX) followed[followed_count++] = inside;
  }
  return 0;
}

int read_unfilled(void (*add)(const char *line)) {
  static const char request[] = "unfilled\n";
  char part[PART_BYTES], line[LINE_BYTES];
  size_t length = 0;
  int fd = connect_named("WAYPOINT_UNFILLED", ANSWER_TIMEOUT_MS), result = fd < 0 ? -1 : 0;
  if (fd >= 0 && syscall(SYS_sendto, fd, request, sizeof request - 1, MSG_NOSIGNAL, NULL, 0) < 0) result = -1;
  while (result == 0) {
    ssize_t size = syscall(SYS_recvfrom, fd, part, sizeof part, 0, NULL, NULL);
    result = size <= 0 ? -1 : take_lines(line, &length, part, (size_t)size, add);
  }
  if (fd >= 0) syscall(SYS_close, fd);
  return result == 1 ? 0 : -1;
}

int open_uffd(int uffd, struct uffd_api *api) {
  struct uffd_api wanted = *api;
  wanted.features |= UFFD_WRITES;
  /* The kernel refuses what it does not know. */
  if (getenv("WAYPOINT_HIDE_TRACKING") == NULL && syscall(SYS_ioctl, uffd, UFFD_API_REQUEST, &wanted) == 0) {
    *api = wanted;
    return 0;
  }
  return (int)syscall(SYS_ioctl, uffd, UFFD_API_REQUEST, api);
}
