/*
 * CRIU's action script of a restore: in post-restore, when all tasks are back and none has run yet,
 * tells the daemon so by connecting to the socket $WAYPOINT_RESUME_SOCKET, and waits for its answer:
 * one byte lets the tasks run, the end of the connection (the daemon died, or gave up) ends them.
 * A static program, because CRIU starts it for every action.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(void) {
  const char *action = getenv("CRTOOLS_SCRIPT_ACTION");
  if (action == NULL || strcmp(action, "post-restore") != 0) return 0;
  const char *path = getenv("WAYPOINT_RESUME_SOCKET");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (path == NULL || strlen(path) >= sizeof address.sun_path) return 1;
  strcpy(address.sun_path, path);

  int daemon_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (daemon_fd < 0) return 1;
  if (connect(daemon_fd, (const struct sockaddr *)&address, sizeof address) < 0) return 1;
  char answer;
  ssize_t length;
  do {
    length = read(daemon_fd, &answer, 1);
  } while (length < 0 && errno == EINTR);
  return length == 1 ? 0 : 1;
}
