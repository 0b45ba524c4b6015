/* Namespaces, mounts and privileges of a session. Every step returns NULL or the name of what failed, with errno. */
#ifndef WAYPOINT_SANDBOX_H
#define WAYPOINT_SANDBOX_H

#define READY_FD 3

#define CGROUPS_MAX 4

struct launch_options {
  const char *root;     /* mount point of the session's filesystem */
  const char *netns;    /* path of a network namespace, or "-" for the launcher's */
  const char *hostname;
  const char *init;     /* path of this program inside the session */
  const char *cgroups[CGROUPS_MAX]; /* cgroup.procs files that take the session in */
  unsigned cgroup_count;
};

int launch_main(const struct launch_options *options);
int init_main(int ready_fd);

/* Tells the launcher that the session is up, or why not; closes the descriptor. */
void report_readiness(int fd, const char *failure);

const char *mount_session(const char *root, int has_own_netns);
const char *enter_root(const char *root);

const char *install_seccomp_filter(void);
const char *drop_capabilities(void);

#endif
