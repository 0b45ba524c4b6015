/**
 * daemon owns the long-running process: its mount namespace, its lock, its socket.
 * It translates requests into operations and decides nothing. docs/PROTOCOL.md tells the frames.
 */
export { Daemon } from "./daemon.ts";
