#ifndef TYPED_PRELOAD_H
#define TYPED_PRELOAD_H

/* Notes that a descriptor is the side of a terminal that programs have: what CRIU writes to it was printed. */
void note_terminal(int fd);

#endif
