import type { Socket } from "node:net";

/** Per daemon; whoever calls more operations at once than these opens further connections. */
const KEPT_MAX = 4;
/** A descriptor of the caller's process is not held for ever. */
const KEPT_MS_MAX = 30_000;

interface Kept {
  socket: Socket;
  onClose: () => void;
  onData: () => void;
}

const keptBySocketPath = new Map<string, Kept[]>();

/** Returns a connection to the daemon that waits for its next operation, if there is one. */
export function takeKept(socketPath: string): Socket | undefined {
  const kept = keptBySocketPath.get(socketPath)?.pop();
  if (kept === undefined) return undefined;
  const { socket, onClose, onData } = kept;
  // By its name: a socket whose listeners of data are all removed at once flows on, and loses data.
  socket.off("close", onClose).off("data", onData).removeAllListeners("timeout");
  return socket.setTimeout(0).pause().ref();
}

/** Keeps a connection whose operation has ended; it does not keep the process alive. */
export function keepConnection(socketPath: string, socket: Socket): void {
  const kept = keptBySocketPath.get(socketPath) ?? [];
  if (kept.length >= KEPT_MAX || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const onClose = () => forget(socketPath, socket);
  const onData = () => void socket.destroy();
  keptBySocketPath.set(socketPath, [...kept, { socket, onClose, onData }]);
  socket.unref();
  // Read on, so that the end of the daemon is noticed; nothing else may come.
  socket.on("data", onData);
  socket.setTimeout(KEPT_MS_MAX, () => socket.destroy());
  socket.once("close", onClose);
  socket.resume();
}

function forget(socketPath: string, socket: Socket): void {
  const left = (keptBySocketPath.get(socketPath) ?? []).filter((kept) => kept.socket !== socket);
  if (left.length > 0) keptBySocketPath.set(socketPath, left);
  else keptBySocketPath.delete(socketPath);
}
