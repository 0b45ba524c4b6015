import { COMMAND, type SendCommand } from "../../formats/btrfs-stream/index.ts";

/** A stretch of a file's bytes. */
export interface ByteRange {
  offset: number;
  size: number;
}

/** A file or directory that the commands touch. */
export interface TouchedNode {
  /** Where it was before; `null` for one that is new. */
  origin: string | null;
  /** Where it is afterwards; several with hard links, none when it is gone. */
  paths: string[];
  /** Its inode number, known for new ones only. */
  inode: number | null;
  /** Stretches that were written, also with what was there before. */
  written: ByteRange[];
  /** Its mode, owner, size or attributes were set. */
  isAltered: boolean;
  /** Extended attributes of the user's or the system's were set. */
  hasNewAttributes: boolean;
}

interface Node extends TouchedNode {
  /** What is known to be in it, `null` for what is no more; others are as they were. */
  children: Map<string, Node | null>;
}

/** Extended attributes that only the overlay itself reads. */
const OVERLAY_XATTR = /^(trusted|user)\.overlay\./;
/** Many small writes are one; how many stretches of a file are told apart. */
const RANGES_MAX = 1024;

/**
 * Carries out a send stream on names alone, and so finds where everything has come from and gone:
 * chains of renames, and the orphan names that the kernel uses in between, end where they end.
 *
 * The tree before is not read. What no command has named yet is what it was.
 */
export class ChangesReplay {
  readonly #root = newNode("");
  readonly #nodes: Node[] = [];
  readonly #byOrigin = new Map<string, Node>();

  /** Carries out one command. @throws Error  it does not fit to what came before. */
  apply(command: SendCommand): void {
    const { kind, path } = command;
    switch (kind) {
      case COMMAND.mkfile:
      case COMMAND.mkdir:
      case COMMAND.mknod:
      case COMMAND.mkfifo:
      case COMMAND.mksock:
      case COMMAND.symlink:
        this.#attach(path, this.#remember(newNode(null, command.inode)));
        break;
      case COMMAND.rename:
        this.#attach(command.pathTo, this.#detach(path));
        break;
      case COMMAND.link:
        this.#attach(path, this.#find(command.pathLink));
        break;
      case COMMAND.unlink:
      case COMMAND.rmdir:
        this.#detach(path);
        break;
      case COMMAND.setXattr:
      case COMMAND.removeXattr:
        this.#alterAttribute(path, command.xattrName);
        break;
      case COMMAND.write:
      case COMMAND.clone:
      case COMMAND.updateExtent:
        noteWritten(this.#find(path), command);
        break;
      case COMMAND.truncate:
      case COMMAND.chmod:
      case COMMAND.chown:
        this.#find(path).isAltered = true;
    }
  }

  /** Returns everything that was touched, with its paths. */
  finish(): TouchedNode[] {
    this.#findPaths(this.#root, "");
    return this.#nodes.filter(isTouched);
  }

  /**
   * Returns where something is now; nothing when it is gone. Asks for {@link finish} to have run.
   *
   * What no command has named has gone where the directory it lies in has gone.
   */
  pathsAfter(origin: string): string[] {
    for (let end = origin.length; end > 0; end = origin.lastIndexOf("/", end - 1)) {
      const node = this.#byOrigin.get(origin.slice(0, end));
      if (node !== undefined) return node.paths.map((path) => path + origin.slice(end));
    }
    return [origin];
  }

  #findPaths(directory: Node, prefix: string): void {
    for (const [name, child] of directory.children) {
      if (child === null) continue;
      const path = prefix === "" ? name : `${prefix}/${name}`;
      child.paths.push(path);
      // A directory has one name; a file has no children.
      if (child.children.size > 0) this.#findPaths(child, path);
    }
  }

  #alterAttribute(path: string, name: string): void {
    const node = this.#find(path);
    node.isAltered = true;
    if (!OVERLAY_XATTR.test(name)) node.hasNewAttributes = true;
  }

  #find(path: string): Node {
    if (path === "") return this.#root;
    return path.split("/").reduce((node, name) => this.#child(node, name), this.#root);
  }

  #child(directory: Node, name: string): Node {
    const known = directory.children.get(name);
    if (known === null || (known === undefined && directory.origin === null)) {
      throw new Error(`the send stream names ${JSON.stringify(name)}, which is not there`);
    }
    if (known !== undefined) return known;
    const origin = directory.origin === "" ? name : `${directory.origin}/${name}`;
    const child = this.#remember(newNode(origin));
    directory.children.set(name, child);
    return child;
  }

  #detach(path: string): Node {
    const { directory, name } = this.#split(path);
    const node = this.#child(directory, name);
    directory.children.set(name, null);
    return node;
  }

  #attach(path: string, node: Node): void {
    const { directory, name } = this.#split(path);
    directory.children.set(name, node);
  }

  #split(path: string): { directory: Node; name: string } {
    const slash = path.lastIndexOf("/");
    return {
      directory: this.#find(path.slice(0, Math.max(0, slash))),
      name: path.slice(slash + 1),
    };
  }

  #remember(node: Node): Node {
    this.#nodes.push(node);
    if (node.origin !== null) this.#byOrigin.set(node.origin, node);
    return node;
  }
}

function newNode(origin: string | null, inode: number | null = null): Node {
  return {
    ...{ origin, inode, paths: [], written: [], isAltered: false, hasNewAttributes: false },
    children: new Map(),
  };
}

function isTouched(node: Node): boolean {
  const { origin, paths, written, isAltered } = node;
  const isWhereItWas = paths.length === 1 && paths[0] === origin;
  return !isWhereItWas || isAltered || written.length > 0;
}

function noteWritten(node: Node, { offset, size }: SendCommand): void {
  const last = node.written.at(-1);
  if (last !== undefined && last.offset + last.size === offset) last.size += size;
  else if (node.written.length < RANGES_MAX) node.written.push({ offset, size });
  // The gaps between count as written too: they are compared for nothing, never left out.
  else node.written = [span([...node.written, { offset, size }])];
}

/** Returns the shortest stretch that has all of them in it. */
function span(ranges: readonly ByteRange[]): ByteRange {
  const start = Math.min(...ranges.map(({ offset }) => offset));
  const end = Math.max(...ranges.map(({ offset, size }) => offset + size));
  return { offset: start, size: end - start };
}
