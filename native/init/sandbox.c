/* The mounts of a session and the change into its root. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox.h"

/* Kernel interfaces that say or do too much; as container runtimes mask them. */
static const char *const MASKED_FILES[] = {"proc/kcore",       "proc/keys",          "proc/timer_list",
                                           "proc/sched_debug", "proc/latency_stats", "proc/sysrq-trigger"};
static const char *const READONLY_DIRECTORIES[] = {"proc/sys", "proc/bus", "proc/fs", "proc/irq"};
static const char *const MASKED_DIRECTORIES[] = {"proc/acpi", "proc/scsi", "proc/asound", "sys/firmware"};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static char path[PATH_MAX], source[PATH_MAX];

static const char *below(const char *root, const char *name, char into[PATH_MAX]) {
  snprintf(into, PATH_MAX, "%s/%s", root, name);
  return into;
}

/* Each mount costs time in every dump, so only what exists is masked. */
static const char *bind_over(const char *from, const char *root, const char *name) {
  if (access(below(root, name, path), F_OK) < 0) return NULL;
  return mount(from, path, NULL, MS_BIND, NULL) < 0 ? "mask a kernel file" : NULL;
}

static const char *bind_readonly(const char *root, const char *name) {
  if (access(below(root, name, path), F_OK) < 0) return NULL;
  unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (mount(path, path, NULL, MS_BIND, NULL) < 0 || mount(NULL, path, NULL, flags, NULL) < 0) {
    return "mount a kernel directory read-only";
  }
  return NULL;
}

static const char *mask_kernel(const char *root) {
  below(root, "dev/null", source);
  /* Over itself, so that programs cannot remove it: what is bound from a file that is gone cannot
     be restored. */
  const char *failure = bind_over(source, root, "dev/null");
  for (unsigned i = 0; failure == NULL && i < COUNT(MASKED_FILES); i++) {
    failure = bind_over(source, root, MASKED_FILES[i]);
  }
  for (unsigned i = 0; failure == NULL && i < COUNT(READONLY_DIRECTORIES); i++) {
    failure = bind_readonly(root, READONLY_DIRECTORIES[i]);
  }
  /* An empty directory of the kernel: CRIU archives a tmpfs with tar, and programs could remove one
     of the session's own. */
  below(root, "proc/tty/ldisc", source);
  for (unsigned i = 0; failure == NULL && i < COUNT(MASKED_DIRECTORIES); i++) {
    failure = bind_over(source, root, MASKED_DIRECTORIES[i]);
  }
  return failure;
}

const char *mount_session(const char *root, int has_own_netns) {
  const unsigned long strict = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) return "make mounts private";
  if (mount("proc", below(root, "proc", path), "proc", strict, NULL) < 0) return "mount proc";
  /* Without a network namespace of its own a session may not mount sysfs: it then has none. */
  if (mount("sysfs", below(root, "sys", path), "sysfs", strict | MS_RDONLY, NULL) < 0 && has_own_netns) {
    return "mount sysfs";
  }
  if (mount("devpts", below(root, "dev/pts", path), "devpts", MS_NOSUID | MS_NOEXEC,
            "newinstance,ptmxmode=0666,mode=620,gid=5") < 0) {
    return "mount devpts";
  }
  return mask_kernel(root);
}

const char *enter_root(const char *root) {
  /* pivot_root onto itself stacks the old root below the new one: no directory is needed for it. */
  if (chdir(root) < 0) return "enter the root";
  if (syscall(SYS_pivot_root, ".", ".") < 0) return "pivot_root";
  if (umount2(".", MNT_DETACH) < 0) return "detach the old root";
  if (chdir("/") < 0) return "enter the root";
  umask(022);
  return NULL;
}
