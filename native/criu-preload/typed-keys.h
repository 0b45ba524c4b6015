#ifndef TYPED_KEYS_H
#define TYPED_KEYS_H

#include <asm/termbits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Nobody else is to find what is declared here. */
#pragma GCC visibility push(hidden)

/* With so much room CRIU reads what waits in a terminal. */
#define CRIU_ROOM 16384
/* The kernel keeps one place free of as many as there are; further keys wait before it. */
#define QUEUE_PLACES 4095

#define KEY_END_OF_FILE 0x04
/* What comes behind it is no command to the terminal. */
#define KEY_LITERAL 0x16

/* Before all keys: CRIU gives what was typed to the side where it is printed, too, if that was opened twice. */
#define MARK "\x16\x16\x16\x04"
#define MARK_LENGTH 4

/* What was read from a terminal: where CRIU has it, and all of it; no keys where it was printed. */
struct taken {
  const void *place;
  uint8_t *keys;
  size_t length;
};

/* The calls themselves. */
ssize_t system_read(int fd, void *bytes, size_t count);
int get_settings(int fd, struct termios2 *settings);
int set_settings(int fd, const struct termios2 *settings);

/* Whether programs read lines from it: then ^V and ^D are among the keys. */
int has_lines(const struct termios2 *settings);

/*
 * Takes all that waits to be read by programs, as keys behind a mark: alone that where nothing waits. What comes
 * meanwhile is not echoed before its turn. Returns -1 where nothing could be read.
 */
int take_keys(int fd, const struct termios2 *settings, struct taken *all);

/* Gives CRIU as many keys as it has room for, and returns how many. */
size_t hand_over(const struct taken *all, int is_quoted, uint8_t *room);

#pragma GCC visibility pop

#endif
