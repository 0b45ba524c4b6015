/**
 * sandbox owns what a session lives in: its root filesystem as an overlay, its first process in
 * namespaces of its own, and the view of its process tree from the host.
 * It knows neither checkpoints nor the network. docs/notes/overlayfs and namespaces have the facts.
 */
export { type BaseShell, checkBase, isDirectoryInside } from "./check-base.ts";
export { findUser, type SessionUser, userNames } from "./find-user.ts";
export { launchInit } from "./launch-init.ts";
export { prepareUpper, type UpperOptions } from "./prepare-upper.ts";
export {
  findInitsByUpper,
  killTree,
  listTree,
  startTicks,
  type TreeProcess,
  treeMemoryBytes,
} from "./process-tree.ts";
export { isRootMounted, mergedDir, mountRoot, unmountRoot } from "./root-filesystem.ts";
