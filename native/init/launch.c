/* The launcher: makes a session's namespaces, starts its first process and says which one it is. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox.h"

#define READY_WAIT_MS 10000

void report_readiness(int fd, const char *failure) {
  struct stat status;
  /* Started by hand there is no launcher, and descriptor 3 may be anything. */
  if (fstat(fd, &status) < 0 || !S_ISFIFO(status.st_mode)) return;
  char text[256];
  int length = snprintf(text, sizeof text, "%s%s%s\n", failure == NULL ? "ready" : failure,
                        failure == NULL ? "" : ": ", failure == NULL ? "" : strerror(errno));
  if (write(fd, text, (size_t)length) < 0) return;
  close(fd);
}

static const char *enter_netns(const char *netns) {
  if (strcmp(netns, "-") == 0) return NULL;
  int fd = open(netns, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "open the network namespace";
  int result = setns(fd, CLONE_NEWNET);
  close(fd);
  return result < 0 ? "enter the network namespace" : NULL;
}

/* The session is born where its launcher is, so nothing of it ever runs outside its limits. */
static const char *enter_cgroups(const struct launch_options *options) {
  for (unsigned i = 0; i < options->cgroup_count; i++) {
    int fd = open(options->cgroups[i], O_WRONLY | O_CLOEXEC);
    if (fd < 0) return "open a control group";
    ssize_t put = write(fd, "0", 1);
    close(fd);
    if (put != 1) return "enter a control group";
  }
  return NULL;
}

/* Nothing of the daemon may reach the session: stdio is the session's own /dev/null. */
static const char *replace_descriptors(int ready_fd) {
  int null_fd = open("/dev/null", O_RDWR);
  if (null_fd < 0) return "open /dev/null";
  int ready_copy = fcntl(ready_fd, F_DUPFD, 10);
  if (ready_copy < 0) return "keep the readiness pipe";
  for (int fd = 0; fd < 3; fd++) {
    if (dup2(null_fd, fd) < 0) return "replace stdio";
  }
  if (dup2(ready_copy, READY_FD) < 0) return "keep the readiness pipe";
  if (syscall(SYS_close_range, READY_FD + 1, ~0u, 0) < 0) return "close descriptors";
  return NULL;
}

static void reset_signals(void) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) sigaction(number, &action, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the new namespaces: every failure goes to the launcher as one line. */
static int become_session(const struct launch_options *options, int ready_fd) {
  char *const arguments[] = {(char *)"waypoint-init", (char *)"init", NULL};
  char *const environment[] = {NULL};
  setsid();
  reset_signals();
  const char *failure = mount_session(options->root, strcmp(options->netns, "-") != 0);
  if (failure == NULL) failure = enter_root(options->root);
  if (failure == NULL && sethostname(options->hostname, strlen(options->hostname)) < 0) failure = "set the host name";
  if (failure == NULL) {
    failure = replace_descriptors(ready_fd);
    if (failure == NULL) {
      ready_fd = READY_FD;
      execve(options->init, arguments, environment);
      failure = "start init";
    }
  }
  report_readiness(ready_fd, failure);
  return 1;
}

/* Returns whether the session said that it is ready; else prints why not. */
static int wait_until_ready(int fd) {
  char text[256] = "";
  struct pollfd polled = {.fd = fd, .events = POLLIN};
  int ready = poll(&polled, 1, READY_WAIT_MS);
  if (ready == 0) {
    fprintf(stderr, "wait for init: %s\n", strerror(ETIMEDOUT));
    return 0;
  }
  ssize_t got = read(fd, text, sizeof text - 1);
  if (got > 0 && strcmp(text, "ready\n") == 0) return 1;
  fputs(got > 0 ? text : "init ended before it was ready: No child processes\n", stderr);
  return 0;
}

int launch_main(const struct launch_options *options) {
  int ready[2];
  const char *failure = enter_netns(options->netns);
  if (failure == NULL) failure = enter_cgroups(options);
  if (failure == NULL && pipe(ready) < 0) failure = "make the readiness pipe";
  pid_t pid = -1;
  if (failure == NULL) {
    fflush(NULL);
    /* The raw call, because libc has no fork with namespaces. All other arguments are unused. */
    pid = (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | SIGCHLD, 0, 0, 0, 0);
    if (pid < 0) failure = "make namespaces";
  }
  if (failure != NULL) {
    fprintf(stderr, "%s: %s\n", failure, strerror(errno));
    return 1;
  }
  if (pid == 0) {
    close(ready[0]);
    _exit(become_session(options, ready[1]));
  }
  close(ready[1]);
  if (wait_until_ready(ready[0])) {
    printf("%d\n", pid);
    return 0;
  }
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  return 1;
}
