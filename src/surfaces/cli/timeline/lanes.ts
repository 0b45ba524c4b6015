/** A node of the tree: a checkpoint and the one that it descends from. */
export interface LaneNode {
  id: string;
  parent: string | null;
  session: string;
}

/** How the tree looks beside one checkpoint. */
export interface LaneRow {
  /** One cell per lane, two columns each: the checkpoint, a passing branch, or nothing. */
  cells: ("node" | "pass" | "empty")[];
  /** Lane of the checkpoint. */
  lane: number;
  /** Lanes that begin below this checkpoint, for its further children. */
  opened: number[];
  /** A child goes on in the checkpoint's own lane. */
  isContinued: boolean;
  /** The tree was too wide to draw the branch that leads here. */
  isDetached: boolean;
}

/** Branches drawn side by side; what is wider says in words where it comes from. */
export const LANES_MAX = 12;

/**
 * Gives each checkpoint its place in a tree that is drawn oldest first.
 *
 * The first child of the same session goes on in its parent's lane, each further child begins one
 * of its own, which is kept free from the parent down to that child.
 */
export function assignLanes(nodes: readonly LaneNode[]): LaneRow[] {
  const children = groupChildren(nodes);
  const known = new Set(nodes.map(({ id }) => id));
  /** Per lane the id of the checkpoint that it leads to. */
  const lanes: (string | null)[] = [];
  return nodes.map((node) => {
    const reserved = lanes.indexOf(node.id);
    const lane = reserved === -1 ? freeLane(lanes, 0) : reserved;
    lanes[lane] = node.id;
    const cells = lanes.map((target, index) => {
      if (index === lane) return "node";
      return target === null ? "empty" : "pass";
    });
    const opened = openLanes(lanes, lane, children.get(node.id) ?? []);
    trimEnd(lanes);
    const isDetached = reserved === -1 && node.parent !== null && known.has(node.parent);
    const isContinued = children.has(node.id);
    return { cells, lane, opened, isContinued, isDetached };
  });
}

function openLanes(
  lanes: (string | null)[],
  lane: number,
  [first, ...others]: readonly LaneNode[],
): number[] {
  lanes[lane] = first?.id ?? null;
  const opened: number[] = [];
  for (const { id } of others) {
    const next = freeLane(lanes, lane + 1);
    if (next >= LANES_MAX) break;
    lanes[next] = id;
    opened.push(next);
  }
  return opened;
}

function groupChildren(nodes: readonly LaneNode[]): Map<string, LaneNode[]> {
  const children = new Map<string, LaneNode[]>();
  const sessions = new Map(nodes.map(({ id, session }) => [id, session]));
  for (const node of nodes) {
    if (node.parent === null) continue;
    const siblings = children.get(node.parent) ?? [];
    const isOwn = node.session === sessions.get(node.parent);
    const isFirstOwn = isOwn && siblings[0]?.session !== node.session;
    if (isFirstOwn) siblings.unshift(node);
    else siblings.push(node);
    children.set(node.parent, siblings);
  }
  return children;
}

function freeLane(lanes: (string | null)[], from: number): number {
  for (let lane = from; lane < lanes.length; lane += 1) if (lanes[lane] === null) return lane;
  const lane = Math.max(from, lanes.length);
  while (lanes.length <= lane) lanes.push(null);
  return lane;
}

function trimEnd(lanes: (string | null)[]): void {
  while (lanes.length > 0 && lanes.at(-1) === null) lanes.pop();
}
