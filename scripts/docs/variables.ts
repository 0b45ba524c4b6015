/** A variable of the environment that changes what Waypoint does, as the documents list it. */
interface Variable {
  name: string;
  readBy: "the command line" | "the command line, the SDK" | "the daemon, when it starts" | "setup";
  meaning: string;
}

export const VARIABLES: readonly Variable[] = [
  {
    name: "WAYPOINT_NODE",
    readBy: "the command line, the SDK",
    meaning: "The Node that runs command line and daemon, instead of `.tools/node/bin/node`",
  },
  {
    name: "WAYPOINT_LAZY_RESTORE",
    readBy: "the daemon, when it starts",
    meaning: "`off`, or the least memory in bytes that is restored lazily; 64 MiB unless set",
  },
  {
    name: "WAYPOINT_TRACK_MEMORY",
    readBy: "the daemon, when it starts",
    meaning:
      "`off`, or the least memory in bytes of a process whose writes are followed, so that a checkpoint copies no more than was written (docs/limits.md); 8 MiB unless set",
  },
  {
    name: "WAYPOINT_TRACK_AHEAD",
    readBy: "the daemon, when it starts",
    meaning:
      "`off`: memory of 128 MiB or more is not copied before the first pause of a session, while its programs run",
  },
  {
    name: "WAYPOINT_COMPARE_MEMORY",
    readBy: "the daemon, when it starts",
    meaning:
      "`on`, for tests of `WAYPOINT_TRACK_MEMORY`: all memory is copied a second time in each pause, and a checkpoint that differs from it fails",
  },
  {
    name: "WAYPOINT_STARTUP_FILES",
    readBy: "the daemon, when it starts",
    meaning:
      "`off`: the shells of sessions that begin do not read the start-up files of their user, such as ~/.bashrc. What those start runs at each prompt, too, and may take longer than a command; `waypoint new --env WAYPOINT_STARTUP_FILES=off` does it for one session",
  },
  {
    name: "WAYPOINT_HIDE_TRACKING",
    readBy: "the daemon, when it starts",
    meaning: "For tests: anything has this machine count as one that cannot follow writes",
  },
  {
    name: "WAYPOINT_APT_DIR",
    readBy: "setup",
    meaning: "Where apt's configured sources are read; /etc/apt unless set",
  },
  {
    name: "WAYPOINT_IMAGES_BYTES",
    readBy: "the daemon, when it starts",
    meaning:
      "Memory for process images, as `waypoint daemon --images-memory`; a quarter of the memory unless set",
  },
  {
    name: "WAYPOINT_STANDBY",
    readBy: "the daemon, when it starts",
    meaning:
      "What the daemon keeps on standby for sessions that say nothing else: `head` unless set, `off`, or a number of checkpoints",
  },
  {
    name: "WAYPOINT_SECRETS",
    readBy: "the command line",
    meaning:
      "One more pattern of what is hidden where commands and variables are shown (docs/story.md): a regular expression",
  },
  {
    name: "WAYPOINT_REDACT",
    readBy: "the daemon, when it starts",
    meaning:
      "One more pattern of what is taken out of what agents hand over before it is kept (docs/agents.md): a regular expression, or `off`",
  },
  {
    name: "WAYPOINT_PIDS",
    readBy: "the daemon, when it starts",
    meaning:
      "Processes and threads of sessions that say nothing else: a number, or `unlimited`; an eighth of what the machine allows unless set, 16,384 at most",
  },
  {
    name: "WAYPOINT_AUTO",
    readBy: "the daemon, when it starts",
    meaning:
      "When sessions that say nothing else are captured by themselves: `manual` unless set, or a policy as of `waypoint auto`",
  },
  {
    name: "WAYPOINT_STANDBY_BYTES",
    readBy: "the daemon, when it starts",
    meaning: "Memory that all standbys may use together; an eighth of the machine's unless set",
  },
  {
    name: "WAYPOINT_STANDBY_RESERVE_BYTES",
    readBy: "the daemon, when it starts",
    meaning:
      "Memory that has to stay available; below it standbys are given up. A tenth of the machine's unless set",
  },
  {
    name: "WAYPOINT_DIR",
    readBy: "the command line",
    meaning: "State directory; /var/lib/waypoint unless set and not empty",
  },
  {
    name: "WAYPOINT_PAGER",
    readBy: "the command line",
    meaning: "Program that shows long output, before `PAGER`; empty: none",
  },
];
