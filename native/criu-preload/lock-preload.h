#include <sys/types.h>

/* A process of the tree, or a thread, is traced by CRIU from now on. */
void note_traced(pid_t pid);

/*
 * Gives each process its locks, if it was not done yet. Requires: all stand before their next step, and
 * CRIU traces them. Where one cannot be given, the tree and CRIU end.
 */
void give_all_locks(void);

/* Has the processes that come of this one share their notes. Once, before CRIU's own beginning. */
void share_notes(void);
