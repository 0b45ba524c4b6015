/*
 * Makes network namespaces, links and rules, as unshare, umount, ip and nft do, for one daemon:
 *
 *     link-maker
 *
 * One program stays beside the daemon instead of a dozen that start for each fork. It reads requests
 * from its input and answers each with a line, "ok" or "failed WHY", in their order. A request is any
 * number of steps and the line "end". A step is a line and so many bytes of text:
 *
 *     namespace must 0 PLACE    makes a network namespace and keeps it alive by the file PLACE
 *     release must 0 PLACE      lets go of one; the file stays, and one that is no namespace is left alone
 *     ip must LENGTH PLACE      lines of `ip -batch`, as far as link-commands.c knows them
 *     nft may LENGTH PLACE      commands of nft, in one transaction
 *
 * PLACE is the file of the namespace in which it happens; "-" stands for the machine's own. What "must"
 * come about ends its request where it fails; what "may" does not. The program ends with its input.
 */
#define _GNU_SOURCE
#include "link-maker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define TEXT_BYTES_MAX (4 * 1024 * 1024)
#define HEADER_BYTES_MAX (PATH_MAX + 64)
#define OWN_NETWORK "/proc/thread-self/ns/net"

char reason[REASON_BYTES_MAX];
static int own_network = -1;

bool failed(const char *what) {
  snprintf(reason, sizeof reason, "%s: %s", what, strerror(errno));
  return false;
}

bool enter(const char *place) {
  if (place == NULL) return true;
  int fd = open(place, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed(place);
  bool is_inside = setns(fd, CLONE_NEWNET) == 0 || failed(place);
  close(fd);
  return is_inside;
}

void leave(const char *place) {
  // Without a way back the next step would happen where it does not belong.
  if (place != NULL && setns(own_network, CLONE_NEWNET) < 0) abort();
}

static bool make_namespace(const char *place) {
  if (unshare(CLONE_NEWNET) < 0) return failed("unshare");
  bool is_made = mount(OWN_NETWORK, place, NULL, MS_BIND, NULL) == 0 || failed(place);
  leave(place);
  return is_made;
}

static bool release_namespace(const char *place) {
  if (umount2(place, MNT_DETACH) == 0 || errno == EINVAL || errno == ENOENT) return true;
  return failed(place);
}

static bool run_step(const char *kind, const char *place, char *text) {
  if (strcmp(kind, "ip") == 0) return run_ip(place, text);
  if (strcmp(kind, "nft") == 0) return run_nft(place, text);
  if (strcmp(kind, "namespace") == 0 && place != NULL) return make_namespace(place);
  if (strcmp(kind, "release") == 0 && place != NULL) return release_namespace(place);
  errno = EINVAL;
  return failed(kind);
}

static void answer(bool is_ok) {
  // What nft says has several lines.
  for (char *at = reason; *at != 0; at++) {
    if (*at == '\n') *at = '\t';
  }
  if (is_ok) puts("ok");
  else printf("failed %s\n", reason);
  if (fflush(stdout) != 0) exit(1);
}

int main(void) {
  own_network = open(OWN_NETWORK, O_RDONLY | O_CLOEXEC);
  if (own_network < 0) {
    perror("link-maker: " OWN_NETWORK);
    return 1;
  }
  char header[HEADER_BYTES_MAX];
  bool is_ok = true;
  while (fgets(header, sizeof header, stdin) != NULL) {
    if (strcmp(header, "end\n") == 0) {
      answer(is_ok);
      is_ok = true;
      continue;
    }
    char kind[16], need[8];
    size_t length;
    int read = 0;
    if (sscanf(header, "%15s %7s %zu %n", kind, need, &length, &read) != 3 ||
        read == 0 || length > TEXT_BYTES_MAX) return 1;
    char *place = header + read;
    place[strcspn(place, "\n")] = 0;
    char *text = malloc(length + 1);
    if (text == NULL || fread(text, 1, length, stdin) != length) return 1;
    text[length] = 0;
    if (is_ok) {
      bool is_done = run_step(kind, strcmp(place, "-") == 0 ? NULL : place, text);
      is_ok = is_done || strcmp(need, "may") == 0;
    }
    free(text);
  }
  return 0;
}
