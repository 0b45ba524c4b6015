/**
 * Reader of btrfs's send stream, as BTRFS_IOC_SEND writes it: a header, then commands of a length,
 * a kind, a checksum and attributes. docs/notes/btrfs has the source.
 *
 * Names are bytes; here each byte is one character ("latin1"), so that they stay exact.
 */

const HEADER_BYTES = 17;
const MAGIC = "btrfs-stream\0";
const COMMAND_HEADER_BYTES = 10;
const ATTRIBUTE_HEADER_BYTES = 4;

const ATTRIBUTE = { inode: 3, xattrName: 13, path: 15, pathTo: 16, pathLink: 17 } as const;
const SIZES = { 4: "size", 18: "offset" } as const;

/** The kinds of commands that change a tree; others carry nothing that we read. */
export const COMMAND = {
  mkfile: 3,
  mkdir: 4,
  mknod: 5,
  mkfifo: 6,
  mksock: 7,
  symlink: 8,
  rename: 9,
  link: 10,
  unlink: 11,
  rmdir: 12,
  setXattr: 13,
  removeXattr: 14,
  write: 15,
  clone: 16,
  truncate: 17,
  chmod: 18,
  chown: 19,
  utimes: 20,
  updateExtent: 22,
} as const;

/** One command; fields that its kind does not have are empty. */
export interface SendCommand {
  kind: number;
  path: string;
  /** New path of a rename. */
  pathTo: string;
  /** What a hard link leads to. */
  pathLink: string;
  inode: number;
  xattrName: string;
  offset: number;
  size: number;
}

/** Cuts a send stream into commands, however its chunks fall. */
export class SendStreamReader {
  #rest: Buffer = Buffer.alloc(0);
  #hasHeader = false;

  /** Returns the commands that `chunk` completes. @throws Error  it is no send stream. */
  push(chunk: Buffer): SendCommand[] {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    if (!this.#hasHeader && bytes.length >= HEADER_BYTES) {
      if (bytes.toString("latin1", 0, MAGIC.length) !== MAGIC) throw new Error("no send stream");
      this.#hasHeader = true;
      bytes = bytes.subarray(HEADER_BYTES);
    }
    const commands: SendCommand[] = [];
    if (this.#hasHeader) {
      for (let end = endOf(bytes); end <= bytes.length; end = endOf(bytes)) {
        commands.push(readCommand(bytes.subarray(0, end)));
        bytes = bytes.subarray(end);
      }
    }
    this.#rest = bytes;
    return commands;
  }

  /** @throws Error  the stream ended within a command. */
  end(): void {
    if (!this.#hasHeader || this.#rest.length > 0) throw new Error("the send stream is cut off");
  }
}

function endOf(bytes: Buffer): number {
  if (bytes.length < COMMAND_HEADER_BYTES) return Number.POSITIVE_INFINITY;
  return COMMAND_HEADER_BYTES + bytes.readUInt32LE(0);
}

function readCommand(bytes: Buffer): SendCommand {
  const command: SendCommand = {
    ...{ kind: bytes.readUInt16LE(4), path: "", pathTo: "", pathLink: "" },
    ...{ inode: 0, xattrName: "", offset: 0, size: 0 },
  };
  for (let offset = COMMAND_HEADER_BYTES; offset < bytes.length; ) {
    const type = bytes.readUInt16LE(offset);
    const start = offset + ATTRIBUTE_HEADER_BYTES;
    const end = start + bytes.readUInt16LE(offset + 2);
    if (end > bytes.length) throw new Error("an attribute of the send stream is cut off");
    readAttribute(command, type, bytes.subarray(start, end));
    offset = end;
  }
  return command;
}

function readAttribute(command: SendCommand, type: number, value: Buffer): void {
  switch (type) {
    case ATTRIBUTE.path:
      command.path = value.toString("latin1");
      break;
    case ATTRIBUTE.pathTo:
      command.pathTo = value.toString("latin1");
      break;
    case ATTRIBUTE.pathLink:
      command.pathLink = value.toString("latin1");
      break;
    case ATTRIBUTE.xattrName:
      command.xattrName = value.toString("latin1");
      break;
    case ATTRIBUTE.inode:
      command.inode = Number(value.readBigUInt64LE());
      break;
    default:
      if (type in SIZES)
        command[SIZES[type as keyof typeof SIZES]] = Number(value.readBigUInt64LE());
  }
}
