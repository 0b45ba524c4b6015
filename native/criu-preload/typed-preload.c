/*
 * Preloaded into CRIU: what waits in a terminal, typed and not read yet or printed and not shown, stays what it is.
 *
 * CRIU reads it when all programs stand, and writes it once more, for those that go on and in a restore. By itself it
 * reads whole lines, so that the beginning of another one stays behind and comes before them then, or is lost; what
 * is typed once more is echoed once more, and the end of a file (^D) is lost. So it is read here, in its order, and
 * CRIU gets the keys that make it again. These are typed one by one, which the kernel does at once (TIOCSTI), and
 * not echoed. What was printed is written as it is, without a second \r for each line.
 *
 * Where something of that cannot be done, all goes on as without this.
 */
#define _GNU_SOURCE
#include "typed-preload.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* With so much room CRIU reads what waits in a terminal. */
#define CRIU_ROOM 16384
/* The kernel keeps one place free of as many as there are; further keys wait before it. */
#define QUEUE_PLACES 4095
/* A terminal's queue, and what waits before it: nobody types more ahead. */
#define KEYS_MAX (256 * 1024)
#define TERMINALS_MAX 128
#define READS_MAX 16384

#define KEY_END_OF_FILE 0x04
/* What comes behind it is no command to the terminal. */
#define KEY_LITERAL 0x16

/* What was read from a terminal: where CRIU has it, and all of it. */
struct taken {
  const void *place;
  uint8_t *keys;
  size_t length;
};

static struct taken taken[TERMINALS_MAX];
static size_t taken_count;
static int terminals[TERMINALS_MAX];
static size_t terminal_count;

void note_terminal(int fd) {
  if (fd >= 0) terminals[terminal_count++ % TERMINALS_MAX] = fd;
}

static ssize_t system_read(int fd, void *bytes, size_t count) { return syscall(SYS_read, fd, bytes, count); }

static ssize_t system_write(int fd, const void *bytes, size_t count) {
  return syscall(SYS_write, fd, bytes, count);
}

static int is_master(int fd) {
  unsigned number;
  return syscall(SYS_ioctl, fd, TIOCGPTN, &number) == 0;
}

static int get_settings(int fd, struct termios2 *settings) {
  return (int)syscall(SYS_ioctl, fd, TCGETS2, settings);
}

static int set_settings(int fd, const struct termios2 *settings) {
  return (int)syscall(SYS_ioctl, fd, TCSETS2, settings);
}

/* How a terminal ends its lines, besides with a line feed. */
static int ends_line(const struct termios2 *settings, uint8_t byte) {
  cc_t end = settings->c_cc[VEOL], other = settings->c_cc[VEOL2];
  return (end != 0 && byte == end) || (other != 0 && byte == other);
}

static void put(struct taken *all, uint8_t key) {
  if (all->length < KEYS_MAX) all->keys[all->length++] = key;
}

static void put_text(struct taken *all, const struct termios2 *settings, const uint8_t *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (text[i] < 0x20 || text[i] == 0x7f || ends_line(settings, text[i])) put(all, KEY_LITERAL);
    put(all, text[i]);
  }
}

/* Each read brings one line; one that has no end was ended by ^D. */
static void take_lines(int fd, const struct termios2 *settings, struct taken *all) {
  uint8_t line[QUEUE_PLACES + 1];
  for (int reads = 0; reads < READS_MAX && all->length < KEYS_MAX / 2; reads++) {
    ssize_t got = system_read(fd, line, sizeof line);
    if (got < 0) return;
    uint8_t last = got > 0 ? line[got - 1] : 0;
    int is_ended = got > 0 && (last == '\n' || ends_line(settings, last));
    put_text(all, settings, line, (size_t)(is_ended ? got - 1 : got));
    put(all, is_ended ? last : KEY_END_OF_FILE);
  }
}

/* Takes the beginning of a line, which can be read only while the terminal has no lines. */
static void take_rest(int fd, struct termios2 settings, struct taken *all) {
  uint8_t text[QUEUE_PLACES + 1];
  struct termios2 lines = settings;
  settings.c_lflag &= ~(tcflag_t)ICANON;
  settings.c_cc[VMIN] = 1;
  settings.c_cc[VTIME] = 0;
  if (set_settings(fd, &settings) < 0) return;
  ssize_t got;
  while (all->length < KEYS_MAX / 2 && (got = system_read(fd, text, sizeof text)) > 0)
    put_text(all, &lines, text, (size_t)got);
}

static void take_bytes(int fd, struct taken *all) {
  ssize_t got;
  while (all->length < KEYS_MAX && (got = system_read(fd, all->keys + all->length, KEYS_MAX - all->length)) > 0)
    all->length += (size_t)got;
}

/* Reads all that waits to be read by programs; what comes meanwhile is not echoed before its turn. */
static int take(int fd, struct taken *all) {
  struct termios2 settings, quiet;
  if (get_settings(fd, &settings) < 0) return -1;
  quiet = settings;
  quiet.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
  if (set_settings(fd, &quiet) < 0) return -1;
  if (settings.c_lflag & ICANON) {
    take_lines(fd, &settings, all);
    take_rest(fd, quiet, all);
  } else {
    take_bytes(fd, all);
  }
  set_settings(fd, &settings);
  return 0;
}

static ssize_t hand_over(struct taken *all, uint8_t *room) {
  size_t length = all->length < CRIU_ROOM ? all->length : CRIU_ROOM - 1;
  for (size_t i = 0; i < length; i++) room[i] = all->keys[i];
  if (length > 0) return (ssize_t)length;
  errno = EAGAIN;
  return -1;
}

/* Returns what was read into that place, if anything. */
static struct taken *find_taken(const void *place) {
  for (size_t i = 0; i < taken_count; i++) {
    if (taken[i].place == place) return &taken[i];
  }
  return NULL;
}

/* A place is used again, where nothing came of the first reading. */
static struct taken *note_taken(const void *place) {
  struct taken *all = find_taken(place);
  if (all == NULL) all = taken_count < TERMINALS_MAX ? &taken[taken_count++] : NULL;
  if (all == NULL) return NULL;
  free(all->keys);
  *all = (struct taken){.place = place};
  return all;
}

static void forget(struct taken *all) {
  free(all->keys);
  *all = (struct taken){0};
}

ssize_t read(int fd, void *bytes, size_t count) {
  struct termios2 settings;
  int is_of_terminal = count == CRIU_ROOM && get_settings(fd, &settings) == 0;
  struct taken *all = is_of_terminal ? note_taken(bytes) : NULL;
  /* What was printed CRIU reads itself. */
  if (all == NULL || is_master(fd)) return system_read(fd, bytes, count);
  all->keys = malloc(KEYS_MAX);
  if (all->keys == NULL || take(fd, all) < 0) {
    forget(all);
    return system_read(fd, bytes, count);
  }
  return hand_over(all, bytes);
}

/* While keys are typed again: they are not echoed, end nothing, and are what they are. */
static struct termios2 while_typing(struct termios2 settings) {
  settings.c_iflag &= ~(tcflag_t)(INLCR | IGNCR | ICRNL | IUCLC | ISTRIP | PARMRK | IXANY);
  settings.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ISIG);
  if (!(settings.c_lflag & ICANON)) return settings;
  settings.c_lflag |= IEXTEN;
  settings.c_cc[VEOF] = KEY_END_OF_FILE;
  settings.c_cc[VLNEXT] = KEY_LITERAL;
  settings.c_cc[VERASE] = settings.c_cc[VWERASE] = settings.c_cc[VKILL] = settings.c_cc[VREPRINT] = 0;
  return settings;
}

/* Types as much as the queue has places for; returns how many keys that were, or -1. */
static ssize_t type_into(int slave, const uint8_t *keys, size_t length) {
  struct termios2 settings, quiet;
  if (get_settings(slave, &settings) < 0) return -1;
  quiet = while_typing(settings);
  if (set_settings(slave, &quiet) < 0) return -1;
  int has_lines = (settings.c_lflag & ICANON) != 0;
  size_t done = 0;
  for (size_t places = 0; done < length && places < QUEUE_PLACES; places++) {
    /* What is literal has no place of its own for that. */
    if (has_lines && keys[done] == KEY_LITERAL && done + 1 < length) {
      if (syscall(SYS_ioctl, slave, TIOCSTI, keys + done) < 0) break;
      done++;
    }
    if (syscall(SYS_ioctl, slave, TIOCSTI, keys + done) < 0) break;
    done++;
  }
  set_settings(slave, &settings);
  return (ssize_t)done;
}

static ssize_t type(int master, const uint8_t *keys, size_t length) {
  int slave = (int)syscall(SYS_ioctl, master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  ssize_t done = slave < 0 ? -1 : type_into(slave, keys, length);
  if (slave >= 0) close(slave);
  /* The kernel has no place for more: it waits before the queue, as it has before. */
  size_t typed = done < 0 ? 0 : (size_t)done;
  if (typed == length) return (ssize_t)length;
  ssize_t written = system_write(master, keys + typed, length - typed);
  return written < 0 ? written : (ssize_t)typed + written;
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
  if (all->keys == NULL) return print(fd, bytes, count);
  ssize_t typed = type(fd, all->keys, all->length);
  int is_whole = typed == (ssize_t)all->length;
  forget(all);
  return is_whole ? (ssize_t)count : typed;
}

ssize_t write(int fd, const void *bytes, size_t count) {
  struct taken *all = taken_count == 0 ? NULL : find_taken(bytes);
  struct termios2 settings;
  if (all != NULL && get_settings(fd, &settings) == 0) return give_back(fd, bytes, count, all);
  if (!is_noted(fd) || get_settings(fd, &settings) < 0) return system_write(fd, bytes, count);
  return is_master(fd) ? type(fd, bytes, count) : print(fd, bytes, count);
}
