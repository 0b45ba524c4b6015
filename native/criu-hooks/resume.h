#ifndef WAYPOINT_RESUME_H
#define WAYPOINT_RESUME_H

/*
 * Tells the daemon that all tasks of a restore are back and none has run yet, by connecting to the socket
 * $WAYPOINT_RESUME_SOCKET, and waits for its answer: 0 where one byte lets the tasks run, 1 where the end of the
 * connection (the daemon died, or gave up) ends them.
 */
int await_leave(void);

#endif
