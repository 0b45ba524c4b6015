/*
 * CRIU's action script of a restore: in post-restore, asks the daemon for leave to go on (resume.h). As a rule CRIU's
 * preload does so without it (hook-preload.c). A static program, because CRIU starts it for every action otherwise.
 */
#include "resume.h"

#include <stdlib.h>
#include <string.h>

int main(void) {
  const char *action = getenv("CRTOOLS_SCRIPT_ACTION");
  return action != NULL && strcmp(action, "post-restore") == 0 ? await_leave() : 0;
}
