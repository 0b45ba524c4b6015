/*
 * waypoint-pages IMAGES_DIR WORK_DIR SUMS [touched]: starts a pages server for one restore, and prints
 * the process id of its keeper when CRIU can connect to lazy-pages.socket in the work directory. No page
 * is brought that does not have the sum that the file SUMS tells, where it is not "-". With "touched"
 * it says to whoever asks that nothing is to be brought that nobody touches, until it is told to keep all.
 *
 * There are two processes with one table of descriptors. If the server dies, the kernel would take
 * its descriptors away, and the session's processes would find zeros where their memory should be.
 * The keeper still has them, so the processes stand still, until the keeper has ended them. No
 * program of the session ever runs on memory that it never had.
 *
 * The file "pages.state" in the work directory says how it stands; whoever is connected to
 * "pages.sock" learns of the end when the connection breaks. At "pages-control.sock" it is told when to
 * bring what nobody has touched (pages-control.c); by itself it brings nothing.
 */
#define _GNU_SOURCE
#include "pages.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define CRIU_SOCKET "lazy-pages.socket"
#define STATUS_SOCKET "pages.sock"
#define CONTROL_SOCKET "pages-control.sock"
#define STATE_FILE "pages.state"
#define BACKLOG 16
/* How long CRIU may take to connect; the restore that it belongs to has failed long before. */
#define CONNECT_TIMEOUT_MS 120000
#define SESSION_END_TIMEOUT_MS 30000

static int fail_start(const char *step) {
  fprintf(stderr, "%s: %s\n", step, strerror(errno));
  return 1;
}

/* Readers see the state before or the one after, never a part. */
static int write_state(const char *state, const char *reason) {
  FILE *file = fopen(STATE_FILE ".new", "we");
  if (file == NULL) return -1;
  fprintf(file, "%s %s\n", state, reason);
  if (fclose(file) != 0) return -1;
  return rename(STATE_FILE ".new", STATE_FILE);
}

static int listen_at(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0) return -1;
  unlink(path);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) return -1;
  return listen(fd, BACKLOG) < 0 ? -1 : fd;
}

static int require_userfaultfd(void) {
  struct uffdio_api api = {.api = UFFD_API,
                           .features = UFFD_FEATURE_EVENT_FORK | UFFD_FEATURE_EVENT_REMAP |
                                       UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_EVENT_UNMAP};
  int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return -1;
  int result = ioctl(fd, UFFDIO_API, &api);
  close(fd);
  return result;
}

static int await_criu(int listener, struct shared *shared) {
  struct pollfd waiting = {.fd = listener, .events = POLLIN};
  int ready = poll(&waiting, 1, CONNECT_TIMEOUT_MS);
  if (ready == 0) errno = ETIMEDOUT;
  return ready == 1 ? 0 : fail(shared, "wait for CRIU");
}

static int run_server(int listener, int control, struct server *server) {
  struct shared *shared = server->shared;
  char processes[64];
  snprintf(processes, sizeof processes, "%d %d", getppid(), getpid());
  if (write_state("filling", processes) < 0) return 1;
  close(shared->started);
  if (await_criu(listener, shared) < 0 || serve(listener, control, server) < 0) return 1;
  /* Said by the server itself, so that it is said when the keeper has died. */
  return write_state("whole", "") < 0 ? 1 : 0;
}

/* Ends what runs on memory that will never be there. */
static void end_session(const struct shared *shared) {
  /* CRIU, if it is still at work, gives up and ends what it has made so far. */
  if (shared->connection >= 0) shutdown(shared->connection, SHUT_RDWR);
  if (shared->first_pidfd < 0) return;
  syscall(SYS_pidfd_send_signal, shared->first_pidfd, SIGKILL, NULL, 0);
  struct pollfd waiting = {.fd = shared->first_pidfd, .events = POLLIN};
  poll(&waiting, 1, SESSION_END_TIMEOUT_MS);
}

static int keep(pid_t server, const struct shared *shared) {
  int status;
  while (waitpid(server, &status, 0) < 0) {
    if (errno != EINTR) return 1;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
  const char *reason = shared->reason[0] != 0 ? shared->reason : "the pages server was ended";
  write_state(shared->is_abandoned ? "abandoned" : "lost", reason);
  end_session(shared);
  return 1;
}

static int run(int listener, int control, int started, struct server *served) {
  struct shared *shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  *shared = (struct shared){.connection = -1, .first_pidfd = -1, .started = started};
  served->shared = shared;
  pid_t server = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
  if (server < 0) return 1;
  if (server == 0) _exit(run_server(listener, control, served));
  return keep(server, shared);
}

int main(int count, char **words) {
  errno = EINVAL;
  int is_touched_only = count == 5 && strcmp(words[4], "touched") == 0;
  if (count != 4 && !is_touched_only) return fail_start("usage: waypoint-pages IMAGES_DIR WORK_DIR SUMS [touched]");
  struct images images = {0};
  struct server server = {.images = &images, .is_touched_only = is_touched_only};
  struct sums sums;
  int has_sums = strcmp(words[3], "-") != 0;
  /* A process that forks often has a descriptor for each child here, until that one is seen to have ended. */
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  int images_fd = open(words[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (images_fd < 0) return fail_start("open the images");
  if (has_sums && read_sums(words[3], &sums) < 0) return fail_start("read the sums");
  if (chdir(words[2]) < 0) return fail_start("enter the work directory");
  if (require_userfaultfd() < 0) return fail_start("use userfaultfd");
  if (read_images(images_fd, has_sums ? &sums : NULL, &images) < 0) return fail_start("read the images of memory");
  close(images_fd);
  int status_listener = listen_at(STATUS_SOCKET);
  int control = listen_at(CONTROL_SOCKET);
  int listener = listen_at(CRIU_SOCKET);
  if (status_listener < 0 || control < 0 || listener < 0) return fail_start("listen");
  int started[2];
  pid_t keeper = pipe2(started, O_CLOEXEC) < 0 ? -1 : fork();
  if (keeper < 0) return fail_start("start the server");
  if (keeper > 0) {
    /* Broken when the state is written, or when there will be none. */
    char nothing;
    close(started[1]);
    errno = ECHILD;
    if (read(started[0], &nothing, 1) != 0 || access(STATE_FILE, F_OK) < 0) {
      return fail_start("start the server");
    }
    printf("%d\n", keeper);
    return 0;
  }
  /* Lives on when whoever asked for it ends, and holds no descriptor of theirs. */
  setsid();
  int null_fd = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2; fd++) dup2(null_fd, fd);
  if (null_fd > 2) close(null_fd);
  close(started[0]);
  return run(listener, control, started[1], &server);
}
