import type { RawPath } from "../../base/index.ts";

/** A commit's id, or the name of another reference. */
export type RefTarget = { commit: string } | { ref: RawPath };

const ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Reads the line of a reference's file; `null` where it is damaged, or would lead out of the repository.
 */
export function parseRef(line: string): RefTarget | null {
  if (ID.test(line)) return { commit: line };
  const [, ref] = /^ref: *(refs\/.+)$/.exec(line) ?? [];
  return ref === undefined || ref.split("/").includes("..") ? null : { ref };
}

/** Reads `packed-refs`: the commits of references, by name. */
export function parsePackedRefs(content: Buffer): Map<RawPath, string> {
  const lines = content.toString("latin1").matchAll(/^([0-9a-f]+) (refs\/.+)$/gm);
  return new Map([...lines].map(([, id = "", name = ""]) => [name.trimEnd(), id]));
}
