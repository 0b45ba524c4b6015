/* Programs as clients describe them, and starting them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol.h"

#define SPEC_HEADER_BYTES 20u
#define GROUPS_MAX 1024u
#define STRINGS_MAX 16384u

/* Points `count` entries of `list` at the NUL-terminated strings from `*at` on. */
static bool take_strings(char **list, uint32_t count, char **at, const char *end) {
  for (uint32_t i = 0; i < count; i++) {
    char *nul = memchr(*at, 0, (size_t)(end - *at));
    if (nul == NULL) return false;
    list[i] = *at;
    *at = nul + 1;
  }
  return true;
}

struct program *program_parse(const uint8_t *bytes, uint32_t count) {
  errno = EINVAL;
  if (count < SPEC_HEADER_BYTES) return NULL;
  uint32_t groups = get_u32(bytes + 8), arguments = get_u32(bytes + 12), variables = get_u32(bytes + 16);
  if (groups > GROUPS_MAX || arguments == 0 || arguments > STRINGS_MAX || variables > STRINGS_MAX) return NULL;
  if (count < SPEC_HEADER_BYTES + 4 * groups) return NULL;

  size_t pointers = (size_t)arguments + 1 + variables + 2;
  size_t strings_bytes = count - SPEC_HEADER_BYTES - 4 * groups;
  size_t mapped = sizeof(struct program) + pointers * sizeof(char *) + groups * sizeof(gid_t) + strings_bytes;
  struct program *program = map_bytes(mapped);
  if (program == NULL) return NULL;
  program->mapped_bytes = mapped;
  program->uid = get_u32(bytes);
  program->gid = get_u32(bytes + 4);
  program->group_count = groups;
  program->argument_count = arguments;
  program->environment_count = variables;
  program->arguments = (char **)(program + 1);
  program->environment = program->arguments + arguments + 1;
  program->groups = (gid_t *)(program->arguments + pointers);
  for (uint32_t i = 0; i < groups; i++) program->groups[i] = get_u32(bytes + SPEC_HEADER_BYTES + 4 * i);

  char *strings = (char *)(program->groups + groups);
  char *end = strings + strings_bytes;
  memcpy(strings, bytes + SPEC_HEADER_BYTES + 4 * groups, strings_bytes);
  if (take_strings(&program->cwd, 1, &strings, end) &&
      take_strings(program->arguments, arguments, &strings, end) &&
      take_strings(program->environment, variables, &strings, end) && strings == end) {
    return program;
  }
  program_free(program);
  errno = EINVAL;
  return NULL;
}

void program_free(struct program *program) {
  if (program != NULL) munmap(program, program->mapped_bytes);
}

/* Init ignores and blocks signals that programs must find in their default state. */
static void reset_signals(void) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) sigaction(number, &action, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool open_stdio(const char *tty_path, const int stdio[3]) {
  int fds[3];
  if (tty_path != NULL) {
    int tty = open(tty_path, O_RDWR);
    if (tty < 0 || ioctl(tty, TIOCSCTTY, 0) < 0) return false;
    fds[0] = fds[1] = fds[2] = tty;
  } else {
    memcpy(fds, stdio, sizeof fds);
  }
  for (int i = 0; i < 3; i++) {
    if (dup2(fds[i], i) < 0) return false;
  }
  if (fds[0] > 2 && tty_path != NULL) close(fds[0]);
  return true;
}

/* The child's part: never returns to the loop. */
static void become(const struct program *program, const char *tty_path, const int stdio[3], int failure_fd) {
  setsid();
  reset_signals();
  if (open_stdio(tty_path, stdio) && setgroups(program->group_count, program->groups) == 0 &&
      setresgid(program->gid, program->gid, program->gid) == 0 &&
      setresuid(program->uid, program->uid, program->uid) == 0 && chdir(program->cwd) == 0) {
    environ = program->environment;
    execvp(program->arguments[0], program->arguments);
  }
  int error = errno;
  while (write(failure_fd, &error, sizeof error) < 0 && errno == EINTR) {
  }
  _exit(127);
}

pid_t program_start(const struct program *program, const char *tty_path, const int stdio[3]) {
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) < 0) return -1;
  /* The failure pipe must survive dup2 onto 0..2; init keeps those open, so it never lies there. */
  pid_t pid = fork();
  if (pid == 0) become(program, tty_path, stdio, failure[1]);
  int fork_error = errno;
  close(failure[1]);
  int error = 0;
  ssize_t got = 0;
  if (pid > 0) {
    while ((got = read(failure[0], &error, sizeof error)) < 0 && errno == EINTR) {
    }
  }
  close(failure[0]);
  if (pid < 0) errno = fork_error;
  if (pid > 0 && got == sizeof error) {
    waitpid(pid, NULL, 0);
    errno = error;
    return -1;
  }
  return pid;
}
