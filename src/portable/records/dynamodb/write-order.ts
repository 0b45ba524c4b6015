import type { Change } from "../thread-records.ts";

/**
 * Returns the changes of a write in steps, each of which may be done side by side: content first; then
 * the others in their order, neighbours whose keys are alike up to the first slash together; the last
 * one by itself, since it is what the others are for.
 */
export function stepsOf(changes: readonly Change[]): Change[][] {
  const isContent = ({ value, mode }: Change) => value !== null && mode === "content";
  const ordered = new Set(changes.filter((each) => !isContent(each)).map(({ key }) => key));
  const isFirst = (each: Change) => isContent(each) && !ordered.has(each.key);
  const content = new Map(changes.filter(isFirst).map((each) => [each.key, each]));
  const others = changes.filter((each) => !isFirst(each));
  const last = others.pop();

  const steps: Change[][] = [];
  let [step, keys, kind]: [Change[], Set<string>, string] = [[], new Set(), ""];
  for (const change of others) {
    const nextKind = kindOf(change);
    if (step.length === 0 || nextKind !== kind || keys.has(change.key)) {
      [step, keys, kind] = [[], new Set(), nextKind];
      steps.push(step);
    }
    step.push(change);
    keys.add(change.key);
  }
  const all = [[...content.values()], ...steps, last === undefined ? [] : [last]];
  return all.filter(({ length }) => length > 0);
}

function kindOf({ key, value }: Change): string {
  return `${value === null ? "-" : "+"}${key.slice(0, key.indexOf("/") + 1)}`;
}
