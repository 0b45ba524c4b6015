/* What restored processes and CRIU tell the pages server, and the order of its work. */
#define _GNU_SOURCE
#include "pages.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What CRIU sends in place of a process id when all processes are about to run. */
#define RESTORE_FINISHED 0x52535446
/* How long to wait while a process changes its mappings and has not told it yet. */
#define CHANGING_WAIT_MS 1

struct server {
  struct images *images;
  struct shared *shared;
  struct task *tasks;
  size_t count;
  int is_finished; /* CRIU's part is done */
};

int fail(struct shared *shared, const char *what) {
  if (shared->reason[0] == 0) {
    const char *why = errno == EBADMSG ? "the images are damaged" : strerror(errno);
    snprintf(shared->reason, sizeof shared->reason, "%s: %s", what, why);
  }
  return -1;
}

static struct task *new_task(struct server *server, int uffd, struct content *content) {
  struct task *tasks = realloc(server->tasks, (server->count + 1) * sizeof *tasks);
  if (tasks == NULL) return NULL;
  server->tasks = tasks;
  struct task *task = tasks + server->count++;
  *task = (struct task){.uffd = uffd, .content = content};
  return task;
}

static void remove_task(struct server *server, size_t index) {
  struct task *task = server->tasks + index;
  /* Its last descriptor: the kernel serves the process from now on. */
  close(task->uffd);
  free(task->missing.items);
  free(task->deferred);
  *task = server->tasks[--server->count];
}

/* Receives one number or descriptor; notes who has sent it. Returns 0 at the end. */
static int receive(int connection, void *data, size_t length, int *descriptor, pid_t *sender) {
  char control[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
  struct iovec part = {data, length};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control};
  message.msg_controllen = sizeof control;
  ssize_t received = recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  if (received <= 0) return (int)received;
  for (struct cmsghdr *each = CMSG_FIRSTHDR(&message); each; each = CMSG_NXTHDR(&message, each)) {
    if (each->cmsg_level != SOL_SOCKET) continue;
    if (each->cmsg_type == SCM_RIGHTS) memcpy(descriptor, CMSG_DATA(each), sizeof *descriptor);
    if (each->cmsg_type == SCM_CREDENTIALS) {
      struct ucred credentials;
      memcpy(&credentials, CMSG_DATA(each), sizeof credentials);
      *sender = credentials.pid;
    }
  }
  errno = EPROTO;
  return (size_t)received == length ? 1 : -1;
}

static int take_process(struct server *server, int pid, pid_t sender) {
  struct shared *shared = server->shared;
  if (pid == 1) {
    shared->first_pidfd = (int)syscall(SYS_pidfd_open, sender, 0);
    if (shared->first_pidfd < 0) return fail(shared, "open the session's first process");
  }
  char filler;
  int uffd = -1;
  pid_t again;
  if (receive(shared->connection, &filler, 1, &uffd, &again) != 1 || uffd < 0) {
    return fail(shared, "receive a process");
  }
  struct image *image = find_image(server->images, pid);
  struct task *task = new_task(server, uffd, image == NULL ? NULL : image->content);
  if (task == NULL) return fail(shared, "note a process");
  if (image != NULL && copy_ranges(&task->missing, &image->ranges) < 0) {
    return fail(shared, "note a process's memory");
  }
  return 0;
}

static int read_connection(struct server *server) {
  struct shared *shared = server->shared;
  int pid = 0, descriptor = -1;
  pid_t sender = 0;
  int received = receive(shared->connection, &pid, sizeof pid, &descriptor, &sender);
  if (received < 0) return fail(shared, "listen to CRIU");
  if (received == 0 && !server->is_finished) {
    shared->is_abandoned = 1;
    return -1;
  }
  if (received == 0 || pid == RESTORE_FINISHED) {
    server->is_finished = 1;
    int connection = shared->connection;
    shared->connection = -1;
    close(connection);
    return 0;
  }
  /* A zombie has a negative number, and no memory. */
  return pid < 0 ? 0 : take_process(server, pid, sender);
}

static int defer(struct server *server, size_t index, uint64_t address) {
  struct task *task = server->tasks + index;
  if (task->deferred_count == task->deferred_capacity) {
    size_t capacity = task->deferred_capacity * 2 + 8;
    uint64_t *deferred = realloc(task->deferred, capacity * sizeof *deferred);
    if (deferred == NULL) return fail(server->shared, "note a fault");
    task->deferred = deferred;
    task->deferred_capacity = capacity;
  }
  task->deferred[task->deferred_count++] = address;
  return 0;
}

static int on_fault(struct server *server, size_t index, uint64_t address) {
  int result = answer_fault(server->tasks + index, address);
  if (result < 0) return fail(server->shared, "answer a fault");
  return result == 1 ? defer(server, index, address) : 0;
}

static int on_fork(struct server *server, size_t index, int uffd) {
  struct task *child = new_task(server, uffd, server->tasks[index].content);
  if (child == NULL || copy_ranges(&child->missing, &server->tasks[index].missing) < 0) {
    return fail(server->shared, "note a child");
  }
  return 0;
}

static int on_message(struct server *server, size_t index, const struct uffd_msg *message) {
  struct ranges *missing = &server->tasks[index].missing;
  int result = 0;
  switch (message->event) {
    case UFFD_EVENT_PAGEFAULT:
      return on_fault(server, index, message->arg.pagefault.address & ~(PAGE_BYTES - 1));
    case UFFD_EVENT_FORK:
      return on_fork(server, index, (int)message->arg.fork.ufd);
    case UFFD_EVENT_REMAP:
      result = move_addresses(missing, message->arg.remap.from, message->arg.remap.to,
                              message->arg.remap.len);
      break;
    case UFFD_EVENT_REMOVE:
    case UFFD_EVENT_UNMAP:
      result = drop_addresses(missing, message->arg.remove.start, message->arg.remove.end);
      break;
    default:
      errno = EPROTO;
      result = -1;
  }
  return result < 0 ? fail(server->shared, "note a change of mappings") : 0;
}

/* Reads all that a process has told, then tries again what could not be answered before. */
static int read_task(struct server *server, size_t index) {
  for (;;) {
    struct uffd_msg message;
    ssize_t length = read(server->tasks[index].uffd, &message, sizeof message);
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (length != sizeof message) return fail(server->shared, "listen to a process");
    if (on_message(server, index, &message) < 0) return -1;
  }
  struct task *task = server->tasks + index;
  size_t count = task->deferred_count;
  task->deferred_count = 0;
  for (size_t i = 0; i < count; i++) {
    /* Deferring again writes behind what has been read. */
    if (on_fault(server, index, server->tasks[index].deferred[i]) < 0) return -1;
  }
  return 0;
}

static int is_filled(struct server *server, size_t index) {
  struct task *task = server->tasks + index;
  if (task->is_gone) return 1;
  return server->is_finished && task->deferred_count == 0 && last_range(&task->missing) == NULL;
}

/* Waits until somebody tells something; not at all where there are pages left to bring. */
static int await_news(struct server *server, int is_changing) {
  size_t count = server->count;
  struct pollfd *waiting = calloc(count + 1, sizeof *waiting);
  if (waiting == NULL) return fail(server->shared, "wait");
  waiting[0] = (struct pollfd){.fd = server->shared->connection, .events = POLLIN};
  for (size_t i = 0; i < count; i++) {
    waiting[i + 1] = (struct pollfd){.fd = server->tasks[i].uffd, .events = POLLIN};
  }
  int timeout_ms = is_changing ? CHANGING_WAIT_MS : server->is_finished ? 0 : -1;
  int result = poll(waiting, count + 1, timeout_ms) < 0 && errno != EINTR ? -1 : 0;
  if (result < 0) fail(server->shared, "wait");
  for (size_t i = 0; result == 0 && i < count; i++) {
    if (waiting[i + 1].revents != 0 || server->tasks[i].deferred_count > 0) {
      result = read_task(server, i);
    }
  }
  if (result == 0 && waiting[0].revents != 0) result = read_connection(server);
  free(waiting);
  return result;
}

int serve(int listener, struct images *images, struct shared *shared) {
  struct server server = {.images = images, .shared = shared};
  shared->connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (shared->connection < 0) return fail(shared, "wait for CRIU");
  const int on = 1;
  setsockopt(shared->connection, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  int is_changing = 0;
  while (!server.is_finished || server.count > 0) {
    if (await_news(&server, is_changing) < 0) return -1;
    is_changing = 0;
    for (size_t i = server.count; i-- > 0;) {
      if (is_filled(&server, i)) remove_task(&server, i);
      else if (server.tasks[i].deferred_count > 0) is_changing = 1;
    }
    if (!server.is_finished || server.count == 0) continue;
    int result = fill_some(server.tasks);
    if (result < 0) return fail(shared, "bring pages");
    if (result == 1) is_changing = 1;
  }
  return 0;
}
