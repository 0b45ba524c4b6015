/* waypoint-init: `launch` makes a session, `init` is its first process. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "sandbox.h"

static int usage(void) {
  fputs("usage: waypoint-init launch --root DIR --netns PATH|- --hostname NAME [--init PATH] [--cgroup FILE]...\n", stderr);
  return 2;
}

static int launch(int argc, char **argv) {
  struct launch_options options = {.init = "/run/waypoint/init"};
  for (int i = 2; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--root") == 0) options.root = argv[i + 1];
    else if (strcmp(argv[i], "--netns") == 0) options.netns = argv[i + 1];
    else if (strcmp(argv[i], "--hostname") == 0) options.hostname = argv[i + 1];
    else if (strcmp(argv[i], "--cgroup") == 0 && options.cgroup_count < CGROUPS_MAX)
      options.cgroups[options.cgroup_count++] = argv[i + 1];
    else if (strcmp(argv[i], "--init") == 0) options.init = argv[i + 1];
    else return usage();
  }
  if (argc % 2 != 0 || options.root == NULL || options.netns == NULL || options.hostname == NULL) return usage();
  return launch_main(&options);
}

int main(int argc, char **argv) {
  if (argc >= 2 && strcmp(argv[1], "launch") == 0) return launch(argc, argv);
  if (argc == 2 && strcmp(argv[1], "init") == 0) return init_main(READY_FD);
  return usage();
}
