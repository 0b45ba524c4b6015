/*
 * Takes what was typed into a terminal and not read yet, as the keys that make the same again.
 *
 * To programs that read lines whole ones are given alone, one with each read. One without an end was ended by ^D; what
 * is no line yet can be read only while the terminal has none.
 */
#define _GNU_SOURCE
#include "typed-keys.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A terminal has room for 12 KiB in all; each key may take two. */
#define KEYS_MAX (64 * 1024)
#define READS_MAX 16384

ssize_t system_read(int fd, void *bytes, size_t count) { return syscall(SYS_read, fd, bytes, count); }

int get_settings(int fd, struct termios2 *settings) {
  return (int)syscall(SYS_ioctl, fd, TCGETS2, settings);
}

int set_settings(int fd, const struct termios2 *settings) {
  return (int)syscall(SYS_ioctl, fd, TCSETS2, settings);
}

int has_lines(const struct termios2 *settings) { return (settings->c_lflag & ICANON) != 0; }

/* How a terminal ends its lines, besides with a line feed. */
static int ends_line(const struct termios2 *settings, uint8_t byte) {
  cc_t end = settings->c_cc[VEOL], other = settings->c_cc[VEOL2];
  return byte == '\n' || (end != 0 && byte == end) || (other != 0 && byte == other);
}

static int is_command(const struct termios2 *settings, uint8_t byte) {
  return byte == KEY_LITERAL || byte == KEY_END_OF_FILE || ends_line(settings, byte);
}

static void put(struct taken *all, uint8_t key) {
  if (all->length < KEYS_MAX) all->keys[all->length++] = key;
}

static void put_text(struct taken *all, const struct termios2 *settings, const uint8_t *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (is_command(settings, text[i])) put(all, KEY_LITERAL);
    put(all, text[i]);
  }
}

/* Each read brings one line; one that has no end was ended by ^D. Returns 0 when no whole line is left. */
static int take_lines(int fd, const struct termios2 *settings, struct taken *all) {
  uint8_t line[QUEUE_PLACES + 1];
  for (int reads = 0; reads < READS_MAX; reads++) {
    ssize_t got = system_read(fd, line, sizeof line);
    if (got < 0) return errno == EAGAIN ? 0 : -1;
    int is_ended = got > 0 && ends_line(settings, line[got - 1]);
    put_text(all, settings, line, (size_t)(is_ended ? got - 1 : got));
    put(all, is_ended ? line[got - 1] : KEY_END_OF_FILE);
  }
  return -1;
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
  while ((got = system_read(fd, text, sizeof text)) > 0) put_text(all, &lines, text, (size_t)got);
}

static int take_bytes(int fd, struct taken *all) {
  ssize_t got = 1;
  while (got > 0 && all->length < KEYS_MAX) {
    got = system_read(fd, all->keys + all->length, KEYS_MAX - all->length);
    if (got > 0) all->length += (size_t)got;
  }
  return got < 0 && errno != EAGAIN ? -1 : 0;
}

int take_keys(int fd, const struct termios2 *settings, struct taken *all) {
  struct termios2 quiet = *settings;
  quiet.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
  all->keys = malloc(KEYS_MAX);
  if (all->keys == NULL) return -1;
  for (size_t i = 0; i < MARK_LENGTH; i++) put(all, (uint8_t)MARK[i]);
  if (set_settings(fd, &quiet) < 0) return -1;
  int is_taken = has_lines(settings) ? take_lines(fd, settings, all) == 0 : take_bytes(fd, all) == 0;
  int error = errno;
  if (is_taken && has_lines(settings)) take_rest(fd, quiet, all);
  set_settings(fd, settings);
  errno = error;
  return is_taken || all->length > MARK_LENGTH ? 0 : -1;
}

/* An image has room for so much. Nothing is cut between two keys that belong together. */
size_t hand_over(const struct taken *all, int is_quoted, uint8_t *room) {
  size_t length = MARK_LENGTH;
  while (length < all->length) {
    size_t next = length + (is_quoted && all->keys[length] == KEY_LITERAL ? 2 : 1);
    if (next >= CRIU_ROOM) break;
    length = next;
  }
  memcpy(room, all->keys, length);
  return length;
}
