/**
 * The startup file of a session's POSIX shell (ash, dash), at `/run/waypoint/shrc`, named by ENV.
 *
 * Init has hidden /dev/tty so that the shell takes its own descriptor of the terminal for job
 * control: CRIU cannot give back the other one. By the time this file is read the shell has done
 * so, and init brings /dev/tty back. Programs that it starts do not get the variable.
 *
 * @see docs/init-protocol.md
 */
export const POSIX_STARTUP = `# Written by Waypoint; changes are lost.
unset ENV
[ -p "/run/waypoint/t/\${WAYPOINT_TERMINAL-}/control" ] &&
  echo ready >"/run/waypoint/t/$WAYPOINT_TERMINAL/control"
`;
