/*
 * Preloaded into CRIU: what waits in a terminal, typed and not read yet or printed and not shown, stays what it is.
 *
 * CRIU reads it when all programs stand, and writes it once more, for those that go on and in a restore. By itself it
 * reads whole lines, so that the beginning of another one stays behind and comes before them then, or is lost; what
 * is typed once more is echoed once more, and the end of a file (^D) is lost. So it is read here, in its order, and
 * CRIU gets the keys that make it again, behind a mark. These are typed one by one, which the kernel does at once
 * (TIOCSTI), and not echoed. What was printed is written as it is, without a second \r for each line.
 *
 * Where something of that cannot be done, CRIU does what it does without this.
 */
#define _GNU_SOURCE
#include "typed-preload.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "typed-keys.h"

#define TERMINALS_MAX 128

static struct taken taken[TERMINALS_MAX];
static size_t taken_count;
static int terminals[TERMINALS_MAX];
static size_t terminal_count;

void note_terminal(int fd) {
  if (fd >= 0) terminals[terminal_count++ % TERMINALS_MAX] = fd;
}

static ssize_t system_write(int fd, const void *bytes, size_t count) {
  return syscall(SYS_write, fd, bytes, count);
}

static int is_master(int fd) {
  unsigned number;
  return syscall(SYS_ioctl, fd, TIOCGPTN, &number) == 0;
}

/* Returns what was read into that place, if anything. */
static struct taken *find_taken(const void *place) {
  for (size_t i = 0; i < taken_count; i++) {
    if (taken[i].place == place) return &taken[i];
  }
  return NULL;
}

static void forget(struct taken *all) {
  free(all->keys);
  *all = (struct taken){0};
}

static void note_taken(const struct taken *all) {
  taken[taken_count++] = *all;
}

static ssize_t read_typed(int fd, const struct termios2 *settings, void *bytes) {
  struct taken all = {.place = bytes, };
  int is_taken = take_keys(fd, settings, &all) == 0;
  if (is_taken && all.length > MARK_LENGTH) {
    note_taken(&all);
    return (ssize_t)hand_over(&all, has_lines(settings), bytes);
  }
  int error = errno;
  free(all.keys);
  if (!is_taken) return system_read(fd, bytes, CRIU_ROOM);
  errno = error;
  return -1;
}

ssize_t read(int fd, void *bytes, size_t count) {
  struct termios2 settings;
  if (count != CRIU_ROOM || get_settings(fd, &settings) < 0) return system_read(fd, bytes, count);
  /* Whoever has the other side makes the lines, and is told of each change of these settings. */
  if (settings.c_lflag & EXTPROC) return system_read(fd, bytes, count);
  /* CRIU has given a place back where nothing came of it. */
  struct taken *before = find_taken(bytes);
  if (before != NULL) forget(before);
  if (taken_count == TERMINALS_MAX) return system_read(fd, bytes, count);
  if (!is_master(fd)) return read_typed(fd, &settings, bytes);
  ssize_t got = system_read(fd, bytes, count);
  if (got > 0) note_taken(&(struct taken){.place = bytes});
  return got;
}

/* While keys are typed again: they are not echoed, end and stop nothing, and are what they are. */
static struct termios2 while_typing(struct termios2 settings) {
  settings.c_iflag &= ~(tcflag_t)(INLCR | IGNCR | ICRNL | IUCLC | ISTRIP | PARMRK | IXANY);
  settings.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ISIG);
  settings.c_cc[VSTART] = settings.c_cc[VSTOP] = 0;
  if (!has_lines(&settings)) return settings;
  settings.c_lflag |= IEXTEN;
  settings.c_cc[VEOF] = KEY_END_OF_FILE;
  settings.c_cc[VLNEXT] = KEY_LITERAL;
  settings.c_cc[VERASE] = settings.c_cc[VWERASE] = settings.c_cc[VKILL] = settings.c_cc[VREPRINT] = 0;
  return settings;
}

static int type_key(int slave, const uint8_t *key) { return (int)syscall(SYS_ioctl, slave, TIOCSTI, key); }

/* Types as much as the queue has places for; returns how many keys that were. */
static size_t type_into(int slave, const struct termios2 *settings, const uint8_t *keys, size_t length) {
  struct termios2 quiet = while_typing(*settings);
  if (set_settings(slave, &quiet) < 0) return 0;
  size_t done = 0;
  for (size_t places = 0; done < length && places < QUEUE_PLACES; places++) {
    /* What is literal has no place of its own for that. */
    size_t count = has_lines(settings) && keys[done] == KEY_LITERAL && done + 1 < length ? 2 : 1;
    if (type_key(slave, keys + done) < 0 || (count == 2 && type_key(slave, keys + done + 1) < 0)) break;
    done += count;
  }
  set_settings(slave, settings);
  return done;
}

/* What the queue has no place for waits before it, as it did: without the quotes, since programs set what quotes. */
static void write_rest(int master, const struct termios2 *settings, const uint8_t *keys, size_t length) {
  uint8_t *text = malloc(length);
  size_t count = 0;
  int flags = (int)syscall(SYS_fcntl, master, F_GETFL, 0);
  if (text == NULL || flags < 0) return;
  for (size_t i = 0; i < length; i++) {
    int is_quote = has_lines(settings) && keys[i] == KEY_LITERAL && i + 1 < length;
    if (!is_quote && has_lines(settings) && keys[i] == KEY_END_OF_FILE) text[count++] = settings->c_cc[VEOF];
    else text[count++] = keys[i += (size_t)is_quote];
  }
  /* Nobody reads before all is restored. */
  syscall(SYS_fcntl, master, F_SETFL, flags | O_NONBLOCK);
  system_write(master, text, count);
  syscall(SYS_fcntl, master, F_SETFL, flags);
  free(text);
}

static void type(int side, const uint8_t *keys, size_t length) {
  struct termios2 settings;
  int is_other = is_master(side);
  int slave = is_other ? (int)syscall(SYS_ioctl, side, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC) : side;
  if (get_settings(side, &settings) < 0) return;
  size_t done = slave < 0 ? 0 : type_into(slave, &settings, keys, length);
  if (is_other && slave >= 0) close(slave);
  if (is_other && done < length) write_rest(side, &settings, keys + done, length - done);
}

static ssize_t print(int slave, const void *bytes, size_t count) {
  struct termios2 settings, plain;
  int is_plain = get_settings(slave, &settings) == 0;
  plain = settings;
  plain.c_oflag &= ~(tcflag_t)OPOST;
  if (is_plain) is_plain = set_settings(slave, &plain) == 0;
  ssize_t written = system_write(slave, bytes, count);
  int error = errno;
  if (is_plain) set_settings(slave, &settings);
  errno = error;
  return written;
}

static int is_noted(int fd) {
  for (size_t i = 0; i < terminal_count && i < TERMINALS_MAX; i++) {
    if (terminals[i] == fd) return 1;
  }
  return 0;
}

/* Gives those that go on what was taken from them. */
static ssize_t give_back(int fd, const void *bytes, size_t count, struct taken *all) {
  ssize_t written = (ssize_t)count;
  if (all->keys == NULL) written = print(fd, bytes, count);
  else type(fd, all->keys + MARK_LENGTH, all->length - MARK_LENGTH);
  forget(all);
  return written;
}

ssize_t write(int fd, const void *bytes, size_t count) {
  struct termios2 settings;
  struct taken *all = taken_count == 0 ? NULL : find_taken(bytes);
  int is_typed = count > MARK_LENGTH && memcmp(bytes, MARK, MARK_LENGTH) == 0;
  int is_of_terminal = (all != NULL || is_typed || is_noted(fd)) && get_settings(fd, &settings) == 0;
  if (!is_of_terminal) return system_write(fd, bytes, count);
  if (all != NULL) return give_back(fd, bytes, count, all);
  if (!is_typed) return print(fd, bytes, count);
  type(fd, (const uint8_t *)bytes + MARK_LENGTH, count - MARK_LENGTH);
  return (ssize_t)count;
}
