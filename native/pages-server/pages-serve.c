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
/*
 * A process of which so little is missing gets it at once. Then the kernel has nobody to tell any more when
 * it forks or changes its mappings, as shells do all the time.
 */
#define SMALL_BYTES (2 * 1024 * 1024ul)

int fail(struct shared *shared, const char *what) {
  if (shared->reason[0] == 0) {
    const char *why = errno == EBADMSG ? "the images are damaged" : strerror(errno);
    snprintf(shared->reason, sizeof shared->reason, "%s: %s", what, why);
  }
  return -1;
}

uint64_t missing_bytes(const struct task *task) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < task->missing.count; i++) bytes += task->missing.items[i].end - task->missing.items[i].start;
  return bytes;
}

uint64_t left_bytes(const struct server *server) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < server->count; i++) bytes += missing_bytes(server->tasks + i);
  return bytes;
}

static struct task *new_task(struct server *server, int uffd, struct image *image) {
  struct task *tasks = realloc(server->tasks, (server->count + 1) * sizeof *tasks);
  if (tasks == NULL) return NULL;
  server->tasks = tasks;
  struct task *task = tasks + server->count++;
  *task = (struct task){.uffd = uffd, .image = image};
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
  struct task *task = new_task(server, uffd, image);
  if (task == NULL) return fail(shared, "note a process");
  task->pid = sender;
  if (image != NULL && copy_ranges(&task->missing, &image->ranges) < 0) {
    return fail(shared, "note a process's memory");
  }
  return 0;
}

/* All processes are there: what is not worth waiting for is brought at once. */
static void find_small(struct server *server) {
  for (size_t i = 0; i < server->count; i++) {
    struct task *task = server->tasks + i;
    task->is_small = missing_bytes(task) <= SMALL_BYTES;
    if (!task->is_small) follow_writes(task);
  }
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
    find_small(server);
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

/* Most children have ended, or run another program, when their parent makes the next one. */
static int look_after_children(struct server *server) {
  uint64_t address;
  for (size_t i = 0; i < server->count; i++) {
    struct task *task = server->tasks + i;
    if (task->pid == 0 && !task->is_gone && fill_page(task, &address) < 0) return fail(server->shared, "bring pages");
  }
  return 0;
}

static int on_fork(struct server *server, size_t index, int uffd) {
  if (look_after_children(server) < 0) return -1;
  struct task *child = new_task(server, uffd, server->tasks[index].image);
  if (child == NULL || copy_ranges(&child->missing, &server->tasks[index].missing) < 0) {
    return fail(server->shared, "note a child");
  }
  child->is_small = server->is_finished && missing_bytes(child) <= SMALL_BYTES;
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
      note_moved(server->tasks + index, message->arg.remap.to, message->arg.remap.len);
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
int read_task(struct server *server, size_t index) {
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

/* Waits until somebody tells something; not at all where there are pages to bring. */
static int await_news(struct server *server, int control, int timeout_ms) {
  size_t count = server->count;
  struct pollfd *waiting = calloc(count + CLIENTS_MAX + 3, sizeof *waiting);
  if (waiting == NULL) return fail(server->shared, "wait");
  for (size_t i = 0; i < count; i++) {
    waiting[i] = (struct pollfd){.fd = server->tasks[i].uffd, .events = POLLIN};
  }
  struct pollfd *others = waiting + count, *clients = others + 3;
  others[0] = (struct pollfd){.fd = server->shared->connection, .events = POLLIN};
  others[1] = (struct pollfd){.fd = control, .events = POLLIN};
  others[2] = (struct pollfd){.fd = server->is_finished ? server->shared->first_pidfd : -1, .events = POLLIN};
  int descriptors[CLIENTS_MAX];
  size_t client_count = list_clients(descriptors);
  for (size_t i = 0; i < client_count; i++) clients[i] = (struct pollfd){.fd = descriptors[i], .events = POLLIN};
  int result = poll(waiting, count + 3 + client_count, timeout_ms) < 0 && errno != EINTR ? -1 : 0;
  if (result < 0) fail(server->shared, "wait");
  for (size_t i = 0; result == 0 && i < count; i++) {
    if (waiting[i].revents != 0 || server->tasks[i].deferred_count > 0) result = read_task(server, i);
  }
  if (result == 0 && others[0].revents != 0) result = read_connection(server);
  for (size_t i = 0; result == 0 && i < client_count; i++) {
    if (clients[i].revents != 0) result = read_client(server, clients[i].fd);
  }
  if (result == 0 && others[1].revents != 0) accept_client(control);
  if (result == 0 && others[2].revents != 0) result = 1;
  free(waiting);
  return result;
}

/*
 * One step of what is to be brought without being touched: what others read of a process, all of small
 * processes, then what somebody asks for.
 */
static int bring_some(struct server *server, int *is_busy) {
  for (size_t i = 0; i < server->count; i++) {
    int result = server->tasks[i].is_gone ? 0 : bring_words(server->tasks + i);
    *is_busy = 1;
    if (result != 0) return result < 0 ? fail(server->shared, "bring pages") : result;
  }
  for (size_t i = 0; i < server->count; i++) {
    struct task *task = server->tasks + i;
    if (!task->is_small || task->is_gone || last_range(&task->missing) == NULL) continue;
    *is_busy = 1;
    int result = fill_some(task);
    return result < 0 ? fail(server->shared, "bring pages") : result;
  }
  *is_busy = has_work();
  return *is_busy ? work_some(server) : 0;
}

int serve(int listener, int control, struct server *server) {
  struct shared *shared = server->shared;
  shared->connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (shared->connection < 0) return fail(shared, "wait for CRIU");
  const int on = 1;
  setsockopt(shared->connection, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  int is_changing = 0, is_busy = 0;
  while (!server->is_finished || server->count > 0) {
    int news = await_news(server, control, is_changing ? CHANGING_WAIT_MS : is_busy ? 0 : -1);
    if (news < 0) return -1;
    /* The session has ended: nobody needs the rest. */
    if (news == 1) return 0;
    is_changing = 0;
    for (size_t i = server->count; i-- > 0;) {
      if (is_filled(server, i)) remove_task(server, i);
      else if (server->tasks[i].deferred_count > 0) is_changing = 1;
    }
    if (!server->is_finished || server->count == 0) continue;
    int result = bring_some(server, &is_busy);
    if (result < 0) return -1;
    if (result == 1) is_changing = 1;
  }
  return 0;
}
