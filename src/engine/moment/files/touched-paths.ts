import type { RawPath } from "../../../base/index.ts";

/** Paths by name: what was touched, and everything on the way there. */
export interface TouchedPaths {
  children: Map<RawPath, TouchedPaths>;
}

/** Nothing was touched below. */
export const UNTOUCHED: TouchedPaths = { children: new Map() };

/** Returns the paths below `prefix` ("upper"), by name. */
export function touchedBelow(paths: Iterable<RawPath>, prefix: string): TouchedPaths {
  const root: TouchedPaths = { children: new Map() };
  const start = `${prefix}/`;
  for (const path of paths) {
    if (!path.startsWith(start)) continue;
    let node = root;
    for (const name of path.slice(start.length).split("/")) {
      const next = node.children.get(name) ?? { children: new Map() };
      node.children.set(name, next);
      node = next;
    }
  }
  return root;
}

/** Returns what was touched below a name. */
export function touchedIn(touched: TouchedPaths, name: RawPath): TouchedPaths {
  return touched.children.get(name) ?? UNTOUCHED;
}

/** Returns what was touched below a path of the session. */
export function touchedAt(touched: TouchedPaths, rawPath: RawPath): TouchedPaths {
  return rawPath
    .split("/")
    .filter((name) => name !== "")
    .reduce(touchedIn, touched);
}
