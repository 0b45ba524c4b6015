/* What the parts of link-maker share; link-maker.c says what the program does. */
#ifndef LINK_MAKER_H
#define LINK_MAKER_H

#include <stdbool.h>
#include <stddef.h>

#define REASON_BYTES_MAX 1024

/* Why the last step failed, in one line. */
extern char reason[REASON_BYTES_MAX];

/* Notes why a step failed: "WHAT: MESSAGE OF errno". Returns false. */
bool failed(const char *what);

/*
 * Opens a socket that changes the links, addresses and routes of the network namespace at `place`,
 * or of the program's own without one. Returns -1 on failure.
 */
int open_rtnetlink(const char *place);

/* Does what lines say, of those that `ip -batch` reads; stops at the first that fails. */
bool run_ip(const char *place, char *lines);

/* Does what a text for nft says, in one transaction. */
bool run_nft(const char *place, const char *text);

/* Takes the thread into the namespace at `place`, and back; without a place both do nothing. */
bool enter(const char *place);
void leave(const char *place);

#endif
