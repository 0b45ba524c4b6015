import type { FailurePattern } from "./explain-failure.ts";
import { refused, refusedNow } from "./refused-rows.ts";

/** Sockets, and what is on its way in them, that CRIU refuses; rows of the table of failed dumps. */
export const SOCKET_PATTERNS: readonly FailurePattern[] = [
  refusedNow({
    reason: "credentials_in_flight",
    pattern: /skqueue: (?:Control messages in queue|Unexpected 2nd SCM_RIGHTS)/,
    resource: "unread message with credentials",
    what: "has a unix socket with a message that it has not read yet and that says who sent it (SO_PASSCRED)",
    hint: "Try again once the program has read the message.",
  }),
  refusedNow({
    reason: "terminal_in_flight",
    pattern: /tty: No CTL for TTY dump/,
    resource: "terminal in flight",
    what: "has a unix socket with a message that it has not read yet and in which a terminal is passed on (SCM_RIGHTS)",
    hint: "Try again once the program has read the message.",
  }),
  refusedNow({
    reason: "large_datagram",
    pattern: /skqueue: sys_recvmsg failed: truncated/,
    resource: "unread message",
    what: "has a unix socket with a message that it has not read yet and that is too large",
    hint: "Try again once the program has read the message.",
  }),
  refused({
    reason: "netlink_groups",
    pattern: /netlink socket \S+ (?:has more than 32 groups|is bound to groups but not to portid)/,
    resource: "netlink socket",
    what: "has a netlink socket that listens to groups in a way CRIU does not know",
  }),
  refused({
    reason: "packet_membership",
    pattern: /Multiple MC membership not supported|Unknown mc membership type/,
    resource: "packet socket",
    what: "has a packet socket with several memberships",
  }),
  refused({
    reason: "packet_mapping",
    pattern: /(?:No open packet socket|Can't find packet socket|Mmap-ed socket)/,
    resource: "packet socket",
    what: "has mapped the memory of a packet socket that it has closed",
  }),
  refused({
    reason: "socket_outside",
    pattern: /Sockets \(family (?<family>\d+) proto (?<number>\d+)\) are not collected/,
    resource: "socket of family $family",
    what: "has a socket of another network or of an unknown kind (family $family, protocol $number)",
  }),
  refused({
    reason: "unix_peer",
    pattern: /Unix socket \d+ (?:without peer|with unreachable peer) \d+/,
    resource: "unix socket",
    what: "has a unix socket whose other end is connected elsewhere and has no name",
  }),
  refused({
    reason: "unix_bound",
    pattern:
      /Bound socket w\/o inode|Unable to resolve unix socket name|Unable too cut \S+ from|Can't resolve name for socket|The path \S+ is too long/,
    resource: "bound unix socket",
    what: "has a unix socket bound to a path that cannot be found again",
  }),
  refused({
    reason: "socket_device",
    pattern: /couldn't find ifname for \d+, can't bind/,
    resource: "link-local IPv6 socket",
    what: "has a socket at a link-local address of IPv6 that is bound to no device (SO_BINDTODEVICE)",
  }),
  refused({
    reason: "unix_socket",
    pattern:
      /Unsupported type \(\d+\) on socket|Unknown state \d+ for unix socket|name-less external socket|External socket is used/,
    resource: "unix socket",
    what: "has a unix socket with an end outside of the session, or of a kind CRIU does not know",
  }),
  refusedNow({
    reason: "tcp_state",
    pattern:
      /Failed to lock TCP connection|libsoccr_save\(\) failed|Unknown inet socket \S+ state|Connected TCP socket, consider/,
    resource: "TCP connection",
    what: "has a TCP connection that changed while it was looked at",
  }),
];
