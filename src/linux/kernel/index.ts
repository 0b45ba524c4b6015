/**
 * kernel owns the system calls that Node lacks: mounts, ioctls, locks, devices.
 * It loads a native library, so the command line and the SDK must not import it.
 * docs/notes/ has the facts about the calls.
 */

export {
  linkOpenFile,
  makeFifo,
  type NameIn,
  nextData,
  openBelow,
  openInside,
  openRootOf,
  removeXattrOf,
  renameSafely,
  setXattrOf,
} from "./file-calls.ts";
export {
  bindToLoopback,
  closeInheritedOnExec,
  explainDiskError,
  ioctl,
  ioctlAside,
  keepOnExec,
  MS_BIND,
  MS_MOVE,
  MS_NODEV,
  MS_NOEXEC,
  MS_NOSUID,
  MS_RDONLY,
  MS_REMOUNT,
  makeCharacterDevice,
  mount,
  nameHostIn,
  openInherited,
  openTcpSocketIn,
  peerCredentials,
  type SystemCallError,
  setXattr,
  syncFilesystem,
  trimHeap,
  tryLockFile,
  unmount,
  unmountAside,
} from "./libc.ts";
export { LoadedProgram } from "./loaded-program.ts";
export { endWithParent, limitFurtherMemory } from "./own-process.ts";
export { type FilterInstruction, openPacketSocket, receivePacket } from "./packet-socket.ts";
export {
  addressOf,
  fileHandle,
  listXattrs,
  makePipe,
  mountedAt,
  openWithMounts,
  openWithoutMounts,
  readXattr,
} from "./raw-files.ts";
export { startChildByVfork } from "./start-child.ts";
