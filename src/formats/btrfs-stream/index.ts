/**
 * btrfs-stream owns the stream that `btrfs send` writes: its commands and their attributes.
 */

export { COMMAND, type SendCommand, SendStreamReader } from "./send-stream.ts";
