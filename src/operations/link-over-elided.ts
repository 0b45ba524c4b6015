import type { Checkpoint, OperationOutput } from "../shared/protocol/index.ts";

type Elided = OperationOutput<"log">["elided"];

/** Returns for each checkpoint whose parent is not shown the nearest ancestor that is. */
export function linkOverElided(
  shown: readonly Pick<Checkpoint, "id" | "parent">[],
  all: readonly Pick<Checkpoint, "id" | "parent">[],
): Elided {
  const parents = new Map(all.map(({ id, parent }) => [id, parent]));
  const isShown = new Set(shown.map(({ id }) => id));
  const links = new Map<string, Omit<Elided[number], "checkpoint">>();
  // Oldest first, so what lies above a hidden parent is known when its children come.
  for (const { id } of all) links.set(id, linkAbove(id, { parents, isShown, links }));
  return shown
    .map(({ id }) => ({ checkpoint: id, ...linkOf(id, links) }))
    .filter(({ count }) => count > 0);
}

function linkAbove(
  id: string,
  known: {
    parents: ReadonlyMap<string, string | null>;
    isShown: ReadonlySet<string>;
    links: ReadonlyMap<string, Omit<Elided[number], "checkpoint">>;
  },
): Omit<Elided[number], "checkpoint"> {
  const parent = known.parents.get(id) ?? null;
  if (parent === null || !known.parents.has(parent)) return { ancestor: null, count: 0 };
  if (known.isShown.has(parent)) return { ancestor: parent, count: 0 };
  const above = linkOf(parent, known.links);
  return { ancestor: above.ancestor, count: above.count + 1 };
}

function linkOf(id: string, links: ReadonlyMap<string, Omit<Elided[number], "checkpoint">>) {
  return links.get(id) ?? { ancestor: null, count: 0 };
}
