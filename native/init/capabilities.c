/* Privileges of a session: those of a container, whichever user its programs run as. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox.h"

static const int KEPT[] = {CAP_CHOWN,   CAP_DAC_OVERRIDE, CAP_FSETID,  CAP_FOWNER,           CAP_NET_RAW,
                           CAP_SETGID,  CAP_SETUID,       CAP_SETFCAP, CAP_SETPCAP,          CAP_NET_BIND_SERVICE,
                           CAP_SYS_CHROOT, CAP_KILL,      CAP_AUDIT_WRITE};

/* After the seccomp filter: without no_new_privs a filter needs CAP_SYS_ADMIN. */
const char *drop_capabilities(void) {
  uint64_t kept = 0;
  for (unsigned i = 0; i < sizeof KEPT / sizeof *KEPT; i++) kept |= 1ull << KEPT[i];
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++) {
    if (!(kept >> capability & 1) && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0) return "drop a capability";
  }
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2] = {{(uint32_t)kept, (uint32_t)kept, 0},
                                           {(uint32_t)(kept >> 32), (uint32_t)(kept >> 32), 0}};
  return syscall(SYS_capset, &header, data) < 0 ? "set capabilities" : NULL;
}
