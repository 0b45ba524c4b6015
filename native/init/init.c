/* The first process of a session: set-up, reaping, and the poll loop. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shell.h"
#include "sandbox.h"

static int listener = -1;
static volatile sig_atomic_t has_dead_children;
static struct pollfd *polled;
static size_t polled_count, polled_capacity;

uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void *map_bytes(size_t count) {
  void *bytes = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return bytes == MAP_FAILED ? NULL : bytes;
}

static void on_child(int signal_number) {
  (void)signal_number;
  has_dead_children = 1;
}

/* The child signal is only let through while polling, so that none is missed in between. */
static void set_up_signals(sigset_t *while_polling) {
  struct sigaction action = {.sa_handler = SIG_IGN};
  for (int number = 1; number < NSIG; number++) sigaction(number, &action, NULL);
  action.sa_handler = on_child;
  sigaction(SIGCHLD, &action, NULL);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGCHLD);
  sigprocmask(SIG_SETMASK, &blocked, NULL);
  sigemptyset(while_polling);
}

static const char *open_listener(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SOCKET_PATH};
  const char *failure = NULL;
  if (mkdir("/run", 0755) < 0 && errno != EEXIST) return "mkdir /run";
  if (mkdir(RUN_DIR, 0755) < 0 && errno != EEXIST) return "mkdir " RUN_DIR;
  if (unlink(SOCKET_PATH) < 0 && errno != ENOENT) return "unlink " SOCKET_PATH;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return "socket";
  umask(0177);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) failure = "bind " SOCKET_PATH;
  umask(022);
  if (failure == NULL && listen(fd, CONNECTIONS_MAX) < 0) failure = "listen";
  if (failure != NULL) {
    close(fd);
    return failure;
  }
  if (listener >= 0) close(listener);
  listener = fd;
  return NULL;
}

/* Programs may remove any file of the session, but the daemon must find the way to init again. */
static void keep_listener(void) {
  struct stat status;
  if (lstat(SOCKET_PATH, &status) < 0 && errno == ENOENT) open_listener();
}

static void reap(void) {
  has_dead_children = 0;
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    for (struct terminal *each = terminals; each != NULL; each = each->next) {
      if (each->is_alive && each->pid == pid) terminal_program_ended(each, status);
    }
    for (struct command *each = commands; each != NULL; each = each->next) {
      if (each->is_shell || each->state != COMMAND_RUNNING || each->pid != pid) continue;
      bool has_exited = WIFEXITED(status);
      int signal_number = has_exited ? 0 : WTERMSIG(status);
      command_end(each, has_exited ? WEXITSTATUS(status) : 128 + signal_number, (uint32_t)signal_number, END_EXITED);
    }
  }
}

static int add_polled(int fd, short events) {
  if (fd < 0) return -1;
  if (polled_count == polled_capacity) {
    size_t capacity = polled_capacity * 2;
    void *larger = mremap(polled, polled_capacity * sizeof *polled, capacity * sizeof *polled, MREMAP_MAYMOVE);
    if (larger == MAP_FAILED) return -1;
    polled = larger;
    polled_capacity = capacity;
  }
  polled[polled_count] = (struct pollfd){.fd = fd, .events = events};
  return (int)polled_count++;
}

static short ready_events(int slot) {
  return slot < 0 ? 0 : polled[slot].revents;
}

static void choose_polled(void) {
  polled_count = 0;
  add_polled(listener, POLLIN);
  for (struct terminal *each = terminals; each != NULL; each = each->next) {
    short wants_output = ring_used(&each->input) > 0 ? POLLOUT : 0;
    each->poll_slot = each->is_hung_up ? -1 : add_polled(each->master, POLLIN | wants_output);
    each->control_slot = add_polled(each->control_fd, POLLIN);
  }
  for (struct command *each = commands; each != NULL; each = each->next) {
    for (int i = 0; i < 2; i++) {
      struct stream *stream = &each->streams[i];
      stream->poll_slot = stream_wants_reading(each, stream) ? add_polled(stream->fd, POLLIN) : -1;
    }
    each->input_slot = ring_used(&each->input) > 0 ? add_polled(each->input_fd, POLLOUT) : -1;
  }
  for (int i = 0; i < CONNECTIONS_MAX; i++) {
    struct connection *each = &connections[i];
    each->poll_slot = add_polled(each->fd, each->fd < 0 ? 0 : connection_events(each));
  }
}

/* Output of commands before that of terminals, so that it is shown before the next prompt. */
static void serve_objects(void) {
  for (struct command *each = commands; each != NULL; each = each->next) {
    for (int i = 0; i < 2; i++) {
      short events = ready_events(each->streams[i].poll_slot);
      if (events != 0 && each->streams[i].fd >= 0) command_read(each, &each->streams[i], events);
    }
    if (ready_events(each->input_slot) != 0) command_flush_input(each);
  }
  for (struct terminal *each = terminals; each != NULL; each = each->next) {
    if (ready_events(each->control_slot) != 0) shell_read_control(each);
    short events = ready_events(each->poll_slot);
    if (events & POLLOUT) terminal_flush_input(each);
    if (events & (POLLIN | POLLHUP)) terminal_read(each, events);
  }
}

static void serve_connections(void) {
  for (int i = 0; i < CONNECTIONS_MAX; i++) {
    struct connection *each = &connections[i];
    if (each->fd < 0) continue;
    short events = ready_events(each->poll_slot);
    if (events != 0) connection_receive(each, events);
    connection_serve(each);
  }
  if (ready_events(0) & POLLIN) connections_accept(listener);
}

static void run(const sigset_t *while_polling) {
  for (;;) {
    int wait_ms = shell_tick();
    keep_listener();
    choose_polled();
    struct timespec wait = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000L};
    int ready = ppoll(polled, polled_count, wait_ms < 0 ? NULL : &wait, while_polling);
    if (ready < 0) {
      for (size_t i = 0; i < polled_count; i++) polled[i].revents = 0;
    }
    if (has_dead_children) reap();
    serve_objects();
    serve_connections();
    commands_sweep();
    terminals_sweep();
  }
}

int init_main(int ready_fd) {
  const char *failure = install_seccomp_filter();
  if (failure == NULL) failure = drop_capabilities();
  sigset_t while_polling;
  set_up_signals(&while_polling);
  for (int i = 0; i < CONNECTIONS_MAX; i++) connections[i].fd = -1;
  polled_capacity = 64;
  polled = map_bytes(polled_capacity * sizeof *polled);
  if (failure == NULL && polled == NULL) failure = "mmap";
  if (failure == NULL) failure = open_listener();
  report_readiness(ready_fd, failure);
  if (failure != NULL) return 1;
  run(&while_polling);
  return 0;
}
