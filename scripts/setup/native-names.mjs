/** What native/build.sh makes: PID 1, CRIU's actions, what handles images, mounts, trees, memory, links, a preload. */
export const NATIVE_NAMES = [
  "waypoint-init",
  "snapshot-hook",
  "resume-hook",
  "park-hook",
  "criu-enter",
  "image-copy",
  "image-sums",
  "waypoint-pages",
  "attach-mount",
  "share-tree",
  "warm-memory",
  "memory-tracker",
  "image-assemble",
  "link-maker",
  "criu-preload.so",
];
