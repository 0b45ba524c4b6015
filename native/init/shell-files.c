/* The files below /run/waypoint/t/ID through which init and a terminal's shell speak. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shell.h"

#define PATH_BYTES 96
/* Taught to a shell that replaced the first one (`exec zsh`), by its first command. */
#define ZSH_KEYS "/run/waypoint/keys.zsh"
#define FISH_KEYS "/run/waypoint/keys.fish"

void shell_path(char *into, size_t size, const struct terminal *terminal, const char *name) {
  snprintf(into, size, TERMINALS_DIR "/%u/%s", terminal->id, name);
}

void shell_file_path(char *into, size_t size, const struct command *command, const char *suffix) {
  snprintf(into, size, TERMINALS_DIR "/%u/%u.%s", command->terminal->id, command->id, suffix);
}

int shell_create_directory(const struct terminal *terminal) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, TERMINALS_DIR "/%u", terminal->id);
  if (mkdir(TERMINALS_DIR, 0755) < 0 && errno != EEXIST) return -1;
  if (mkdir(path, 0700) < 0 && errno != EEXIST) return -1;
  return chown(path, terminal->program->uid, terminal->program->gid);
}

void shell_remove_directory(const struct terminal *terminal) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, TERMINALS_DIR "/%u", terminal->id);
  DIR *directory = opendir(path);
  if (directory == NULL) return;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) unlinkat(dirfd(directory), entry->d_name, 0);
  closedir(directory);
  rmdir(path);
}

/* Makes a FIFO that the terminal's user may write, and opens it for reading. */
int shell_open_fifo(const char *path, const struct terminal *terminal) {
  if ((unlink(path) < 0 && errno != ENOENT) || mkfifo(path, 0600) < 0) return -1;
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return -1;
  struct stat status;
  if (fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) &&
      fchown(fd, terminal->program->uid, terminal->program->gid) == 0) {
    return fd;
  }
  close(fd);
  return -1;
}

static int write_all(int fd, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t put = write(fd, bytes, count);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return -1;
    bytes += put;
    count -= (size_t)put;
  }
  return 0;
}

/*
 * Writes a new file, or appends to one of ours. The directory belongs to the terminal's user, so
 * what is there is never followed and never reused.
 */
static int write_file(const char *path, bool is_new, const struct terminal *terminal, const char *bytes,
                      size_t count) {
  if (is_new && unlink(path) < 0 && errno != ENOENT) return -1;
  int flags = is_new ? O_CREAT | O_EXCL : O_APPEND;
  int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0600);
  if (fd < 0) return -1;
  int result = fchown(fd, terminal->program->uid, terminal->program->gid);
  if (result == 0) result = write_all(fd, bytes, count);
  int error = errno;
  close(fd);
  errno = error;
  return result;
}

int shell_write_script(const struct command *command, const uint8_t *script, uint32_t count) {
  char path[PATH_BYTES];
  shell_file_path(path, sizeof path, command, "sh");
  return write_file(path, command->script_bytes == 0, command->terminal, (const char *)script, count);
}

/*
 * POSIX sh, sourced at the top level of the shell so that `cd` and `declare` reach it. It takes
 * away the line that started it, reports, runs the script and leaves the script's exit status.
 * The id guards against running twice when the key sequence had to be sent again. Opening the
 * FIFOs waits until init has taken what the terminal shows before the output (see "start").
 */
static const char WRAPPER[] =
    "# %1$u %2$u\n"
    "[ \"${__waypoint_id-}\" = %1$u ] && return\n"
    "__waypoint_id=%1$u\n"
    "[ -e %3$s/%1$u.sh ] || return 126\n"
    "[ -z \"${ZSH_VERSION-}\" ] || [ -n \"${__waypoint_keys-}\" ] || [ ! -r " ZSH_KEYS " ] || \\. " ZSH_KEYS "\n"
    "[ -z \"${__waypoint_history+x}\" ] || { HISTCONTROL=$__waypoint_history; unset __waypoint_history; }\n"
    "printf '\\033[%%dA\\r\\033[J' \"${__waypoint_rows:-1}\" >/dev/tty\n"
    "printf 'start %1$u\\n' >%3$s/control\n"
    "case $- in *e*) ;; *) \\. %3$s/status ;; esac\n"
    "{ \\. %3$s/%1$u.sh; }%4$s\n"
    "__waypoint_status=$?\n"
    "printf 'exit %1$u %%d\\n' $__waypoint_status >%3$s/control\n"
    "case $- in *e*) ;; *) return $__waypoint_status ;; esac\n";

/* Sets `$?` to what it was before the wrapper, without a process. */
static const char STATUS[] = "return ${__waypoint_status:-0}\n";

/* Reports that the shell is back at its prompt, for shells without a key binding. */
static const char SYNC[] = "__waypoint_status=$?\nprintf '\\033[A\\r\\033[J' >/dev/tty\n"
                           "printf 'prompt %%d\\n' $__waypoint_status >%s/control\n";

/* The same for fish, which has another syntax and cannot change a status but by a function. */
static const char FISH_WRAPPER[] =
    "# %1$u %2$u\n"
    "set -q __waypoint_status; or set -g __waypoint_status 0\n"
    "function __waypoint_return; return $argv[1]; end\n"
    "if test \"$__waypoint_id\" != %1$u\n"
    "  set -g __waypoint_id %1$u\n"
    "  set -q __waypoint_keys; or not test -r " FISH_KEYS "; or source " FISH_KEYS "\n"
    "  printf '\\033[A\\r\\033[J' >/dev/tty\n"
    "  printf 'start %1$u\\n' >%3$s/control\n"
    "  __waypoint_return $__waypoint_status\n"
    "  begin; source %3$s/%1$u.sh; end%4$s\n"
    "  set -g __waypoint_status $status\n"
    "  printf 'exit %1$u %%d\\n' $__waypoint_status >%3$s/control\n"
    "  __waypoint_return $__waypoint_status\n"
    "end\n";

static const char FISH_SYNC[] = "set -g __waypoint_status $status\nprintf '\\033[A\\r\\033[J' >/dev/tty\n"
                                "printf 'prompt %%d\\n' $__waypoint_status >%s/control\n";

int shell_write_helpers(const struct terminal *terminal) {
  char path[PATH_BYTES], directory[64], text[sizeof FISH_SYNC + PATH_BYTES];
  snprintf(directory, sizeof directory, TERMINALS_DIR "/%u", terminal->id);
  shell_path(path, sizeof path, terminal, "status");
  if (write_file(path, true, terminal, STATUS, sizeof STATUS - 1) < 0) return -1;
  shell_path(path, sizeof path, terminal, "sync");
  int length = snprintf(text, sizeof text, SYNC, directory);
  if (write_file(path, true, terminal, text, (size_t)length) < 0) return -1;
  shell_path(path, sizeof path, terminal, "sync.fish");
  length = snprintf(text, sizeof text, FISH_SYNC, directory);
  return write_file(path, true, terminal, text, (size_t)length);
}

int shell_write_wrapper(const struct command *command) {
  const struct terminal *terminal = command->terminal;
  char directory[64], redirection[3 * PATH_BYTES], text[sizeof WRAPPER + 6 * PATH_BYTES], path[PATH_BYTES];
  snprintf(directory, sizeof directory, TERMINALS_DIR "/%u", terminal->id);
  redirection[0] = 0;
  if (!(command->flags & SHELL_TTY)) {
    snprintf(redirection, sizeof redirection, " </dev/null >%s/%u.out 2>%s/%u.err", directory, command->id,
             directory, command->id);
  }
  const char *wrapper = terminal->kind == KIND_FISH ? FISH_WRAPPER : WRAPPER;
  int length = snprintf(text, sizeof text, wrapper, command->id, command->flags & SHELL_SHOW ? 1u : 0u, directory,
                        redirection);
  if (length < 0 || (size_t)length >= sizeof text) return -1;
  shell_path(path, sizeof path, terminal, "next");
  return write_file(path, true, terminal, text, (size_t)length);
}

static const char *const stream_suffixes[2] = {"out", "err"};

int shell_make_streams(struct command *command) {
  for (int i = 0; i < 2; i++) {
    char path[PATH_BYTES];
    if (!ring_open(&command->streams[i].ring, STREAM_RING_BYTES)) return -1;
    if (command->flags & SHELL_TTY) continue;
    shell_file_path(path, sizeof path, command, stream_suffixes[i]);
    int fd = shell_open_fifo(path, command->terminal);
    if (fd < 0) return -1;
    close(fd);
  }
  return 0;
}

/* As long as nobody has a FIFO open for reading, the shell waits in opening it for writing. */
void shell_open_streams(struct command *command) {
  for (int i = 0; i < 2; i++) {
    char path[PATH_BYTES];
    struct stream *stream = &command->streams[i];
    struct stat status;
    if (command->flags & SHELL_TTY) continue;
    shell_file_path(path, sizeof path, command, stream_suffixes[i]);
    stream->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    /* A program may have removed it, or put something else in its place. */
    if (stream->fd >= 0 && (fstat(stream->fd, &status) < 0 || !S_ISFIFO(status.st_mode))) {
      close(stream->fd);
      stream->fd = -1;
    }
    if (stream->fd >= 0) stream->keep_fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  }
}

void shell_remove_files(const struct command *command) {
  static const char *const suffixes[3] = {"out", "err", "sh"};
  for (int i = 0; command->terminal != NULL && i < 3; i++) {
    char path[PATH_BYTES];
    shell_file_path(path, sizeof path, command, suffixes[i]);
    unlink(path);
  }
}

/*
 * Makes a FIFO and opens it for reading and writing: our own write end keeps one that is read from
 * having an end after each message, our own read end lets one that is written to be opened.
 */
static int make_fifo(const struct terminal *terminal, const char *name) {
  char path[PATH_BYTES];
  shell_path(path, sizeof path, terminal, name);
  int reading = shell_open_fifo(path, terminal);
  if (reading < 0) return -1;
  int both = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  close(reading);
  return both;
}

int shell_prepare_terminal(struct terminal *terminal) {
  if (shell_create_directory(terminal) < 0 || shell_write_helpers(terminal) < 0) return -1;
  int answer_fd = make_fifo(terminal, "go");
  int control_fd = answer_fd < 0 ? -1 : make_fifo(terminal, "control");
  if (control_fd < 0) {
    int error = errno;
    if (answer_fd >= 0) close(answer_fd);
    errno = error;
    return -1;
  }
  terminal->answer_fd = answer_fd;
  terminal->control_fd = control_fd;
  return 0;
}
