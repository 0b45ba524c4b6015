/**
 * Returns where the socket of a session's first process is found.
 *
 * The path is short whatever the state directory, since a socket's has at most 107 bytes.
 */
export function findInitSocket(initHostPid: number): string {
  return `/proc/${initHostPid}/root/run/waypoint/init.sock`;
}
