#include <sys/types.h>

#define REMOTE_CALL_ARGUMENTS 6

/*
 * Lets a task make system calls. Requires: this process traces it, and it stands at the end of a call.
 * What is pending for it stays pending, and it stands as before afterwards.
 */
struct remote_call;

/* Begins; returns NULL and sets errno if the task cannot be made to call. */
struct remote_call *remote_begin(pid_t pid);

/* Returns what the call returns inside the kernel: -errno if it failed. */
long remote_call(struct remote_call *remote, long number, const long arguments[REMOTE_CALL_ARGUMENTS]);

/* Ends; returns -1 if the task could not be put back to where it stood. */
int remote_end(struct remote_call *remote);
