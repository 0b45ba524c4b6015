#ifndef TYPED_PRELOAD_H
#define TYPED_PRELOAD_H

/* Notes that a descriptor is one side of a terminal: what is written to it may be what CRIU has read from there. */
void note_terminal(int fd);

#endif
