/*
 * What the daemon, and CRIU's preload in a dump, ask the pages server for. A client sends one line, gets
 * its answer, and is let go:
 *
 *     left           "left BYTES all", or "left BYTES touched" where nothing is to come by itself
 *     fill BYTES     brings about as much that nobody has touched; the same answer
 *     keep           what nobody touches is to come, too, from now on; the same answer
 *     prepare        for a dump: compares all files of pages with their sums, and brings what a dump could
 *                    not leave out; the same answer
 *     prepare compared
 *                    the same, of images of which somebody knows already that they are what was captured
 *     unfilled       in a dump, while all stand still: lines of "PID START END"; "followed PID" for a process
 *                    whose protected pages are those of the images; and at last "end"
 *
 * Who does not get the last line has no answer.
 */
#define _GNU_SOURCE
#include "pages.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define REQUEST_BYTES 64
#define COMPARE_BYTES (1024 * 1024ul)
/* A client that does not take its answer is let go. */
#define SEND_TIMEOUT_S 5

struct client {
  int fd;
  uint64_t wanted; /* still to be brought */
  int is_preparing, knows_images;
};

static struct client clients[CLIENTS_MAX];
static size_t client_count;
/* Up to where the files of pages were compared. */
static struct {
  size_t image;
  uint64_t offset;
} compared;

void accept_client(int listener) {
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd < 0) return;
  struct timeval timeout = {.tv_sec = SEND_TIMEOUT_S};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  if (client_count == CLIENTS_MAX) close(fd);
  else clients[client_count++] = (struct client){.fd = fd};
}

size_t list_clients(int *descriptors) {
  for (size_t i = 0; i < client_count; i++) descriptors[i] = clients[i].fd;
  return client_count;
}

static void let_go(struct client *client) {
  close(client->fd);
  *client = clients[--client_count];
}

static void say(struct client *client, const char *text, size_t length) {
  while (length > 0) {
    ssize_t part = send(client->fd, text, length, MSG_NOSIGNAL);
    if (part <= 0) break;
    text += part;
    length -= (size_t)part;
  }
  let_go(client);
}

static void say_left(struct server *server, struct client *client) {
  char text[64];
  const char *what = server->is_touched_only ? "touched" : "all";
  int length = snprintf(text, sizeof text, "left %" PRIu64 " %s\n", left_bytes(server), what);
  say(client, text, (size_t)length);
}

static void keep_all(struct server *server, struct client *client) {
  server->is_touched_only = 0;
  say_left(server, client);
}

static void say_unfilled(struct server *server, struct client *client) {
  char *text = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  int result = file == NULL ? -1 : list_unfilled(server, file);
  if (file != NULL && fclose(file) != 0) result = -1;
  /* Without a last line it is no answer. */
  if (result == 0) say(client, text, length);
  else let_go(client);
  free(text);
}

int read_client(struct server *server, int descriptor) {
  struct client *client = clients;
  while (client < clients + client_count && client->fd != descriptor) client++;
  if (client == clients + client_count) return 0;
  char request[REQUEST_BYTES];
  ssize_t length = recv(descriptor, request, sizeof request - 1, MSG_DONTWAIT);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  uint64_t bytes;
  request[length < 0 ? 0 : length] = 0;
  /* Whoever waits has asked already: what comes now is its end. */
  int is_waiting = client->wanted > 0 || client->is_preparing;
  if (length <= 0 || request[length - 1] != '\n' || !server->is_finished || is_waiting) let_go(client);
  else if (strcmp(request, "left\n") == 0) say_left(server, client);
  else if (strcmp(request, "keep\n") == 0) keep_all(server, client);
  else if (strcmp(request, "prepare\n") == 0) client->is_preparing = 1;
  else if (strcmp(request, "prepare compared\n") == 0) client->is_preparing = client->knows_images = 1;
  else if (strcmp(request, "unfilled\n") == 0) say_unfilled(server, client);
  else if (sscanf(request, "fill %" SCNu64, &bytes) == 1) client->wanted = bytes;
  else let_go(client);
  return 0;
}

static struct client *find_waiting(void) {
  for (size_t i = 0; i < client_count; i++) {
    if (clients[i].wanted > 0 || clients[i].is_preparing) return &clients[i];
  }
  return NULL;
}

int has_work(void) { return find_waiting() != NULL; }

/* Compares a part of the files of pages; 1 when all are compared. */
static int compare_some(struct server *server) {
  if (compared.image == server->images->count) server->is_compared = 1;
  if (server->is_compared) return 1;
  struct content *content = server->images->items[compared.image].content;
  uint64_t left = content->size - compared.offset;
  uint64_t length = left < COMPARE_BYTES ? left : COMPARE_BYTES;
  if (require_right(content, compared.offset, length) < 0) return -1;
  compared.offset += length;
  if (compared.offset < content->size) return 0;
  compared.image++;
  compared.offset = 0;
  return 0;
}

static int prepare_some(struct server *server, struct client *client) {
  int result = client->knows_images ? 1 : compare_some(server);
  if (result < 0) return fail(server->shared, "compare pages");
  if (result == 0) return 0;
  result = bring_displaced(server);
  if (result == 0) say_left(server, client);
  return result < 0 ? -1 : 0;
}

int work_some(struct server *server) {
  struct client *client = find_waiting();
  if (client == NULL) return 0;
  if (client->is_preparing) return prepare_some(server, client);
  for (size_t i = 0; i < server->count; i++) {
    struct task *task = server->tasks + i;
    if (task->is_gone || last_range(&task->missing) == NULL) continue;
    int result = fill_some(task);
    if (result < 0) return fail(server->shared, "bring pages");
    client->wanted -= client->wanted < STEP_BYTES ? client->wanted : STEP_BYTES;
    if (client->wanted == 0) say_left(server, client);
    return result;
  }
  say_left(server, client);
  return 0;
}
