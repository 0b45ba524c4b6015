/**
 * sandbox owns what a session lives in: its root filesystem as an overlay, its first process in
 * namespaces of its own, and the view of its process tree from the host.
 * It knows neither checkpoints nor the network. docs/notes/overlayfs and namespaces have the facts.
 */
export { attachView, openMountNamespace, unmountIn } from "./attach-view.ts";
export { type BaseShell, checkBase, requireOutsideState, type ShellDialect } from "./check-base.ts";
export { checkBinds, requireNoState } from "./check-binds.ts";
export { type ChangedFile, findChangedFiles } from "./find-changed-files.ts";
export { findUser, type SessionUser, userNames } from "./find-user.ts";
export { findHidden, hiddenBelow, isShownInSession } from "./hidden-places.ts";
export { findHostMounts } from "./host-mounts.ts";
export { findInitSocket } from "./init-socket.ts";
export { launchInit } from "./launch-init.ts";
export { isListeningOn } from "./live-sockets.ts";
export {
  isBindPresent,
  isBindRemoved,
  mountBind,
  mountBindCopy,
  mountHostCopy,
} from "./mount-extras.ts";
export { mountView, unmountView, type ViewLayer } from "./mount-view.ts";
export { nameHost } from "./name-host.ts";
export { listOpenFiles, type OpenFiles } from "./open-files.ts";
export {
  isMadeWhereMissing,
  prepareMountUpper,
  prepareUpper,
  type UpperOptions,
} from "./prepare-upper.ts";
export {
  findInitsBelow,
  findInitsByUpper,
  haltTree,
  killTree,
  listProcesses,
  startTicks,
  type TreeProcess,
  treeMemoryBytes,
} from "./process-tree.ts";
export {
  type LiveStretch,
  type LiveTree,
  readLiveMemory,
  readLiveTasks,
  readProcessMemory,
  readProcessPicture,
} from "./read-process-picture.ts";
export { isDirectoryInside } from "./resolve-inside.ts";
export { isRootMounted, mergedDir, mountRoot, unmountRoot } from "./root-filesystem.ts";
export type { Hidden } from "./select-mounts.ts";
export { isBelow } from "./select-mounts.ts";
export {
  isSameActivity,
  isSameWait,
  type TreeActivity,
  treeActivity,
} from "./tree-activity.ts";
export { type TreeFingerprint, treeFingerprint } from "./tree-fingerprint.ts";
