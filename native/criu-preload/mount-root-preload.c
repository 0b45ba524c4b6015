/*
 * Preloaded into CRIU for a restore: builds the mount namespace in $WAYPOINT_MOUNT_ROOT.
 *
 * CRIU builds it in a new directory of /tmp, which all daemons and other users of CRIU share, and leaves it
 * there when it fails. The name that is given instead is not longer than CRIU's own, since CRIU reads it
 * from where its template was.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TEMPLATE "/tmp/.criu.mntns."

char *mkdtemp(char *template) {
  static char *(*next)(char *);
  if (next == NULL) next = (char *(*)(char *))dlsym(RTLD_NEXT, "mkdtemp");
  const char *wanted = getenv("WAYPOINT_MOUNT_ROOT");
  if (wanted == NULL || strncmp(template, TEMPLATE, strlen(TEMPLATE)) != 0) return next(template);
  if (strlen(wanted) > strlen(template)) {
    errno = ENAMETOOLONG;
    return NULL;
  }
  if (mkdir(wanted, 0700) < 0) return NULL;
  return strcpy(template, wanted);
}
