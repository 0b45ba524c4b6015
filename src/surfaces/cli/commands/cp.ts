import { WaypointError } from "../../../shared/errors/index.ts";
import type { OperationOutput } from "../../../shared/protocol/index.ts";
import { copyRequest } from "../../client/index.ts";
import { call, type Invocation, note, printResult } from "../context.ts";
import { parsePlace } from "../parse-place.ts";
import { withoutUndefined } from "../session-options.ts";
import { formatSize } from "../text/quantities.ts";

/** Copies files out of any moment, or into a live session. */
export async function run({
  context,
  rest,
  options,
}: Invocation<{ owner?: string }>): Promise<undefined> {
  const from = rest.slice(0, -1).map(parsePlace);
  const to = rest.at(-1);
  if (from.length === 0 || to === undefined) {
    throw new WaypointError("USAGE_INVALID", "What to copy and where to are both needed.", {
      hint: "For instance `waypoint cp web@~1:/etc/hosts ./hosts`.",
    });
  }
  const places = { from, to: parsePlace(to) };
  const result = await call(context, "cp", {
    ...withoutUndefined(options),
    ...copyRequest(places),
  });
  for (const { path, reason } of result.leftOut) note(context, `${path}: ${reason}`);
  const more = result.leftOutCount - result.leftOut.length;
  if (more > 0) note(context, `… and ${more} more, in all ${result.leftOutCount}.`);
  await printResult(context, result, render);
}

function render({ files, directories, others, bytes }: OperationOutput<"cp">): string[] {
  const parts = [
    `${files} ${files === 1 ? "file" : "files"} of ${formatSize(bytes)}`,
    ...(directories === 0
      ? []
      : [`${directories} ${directories === 1 ? "directory" : "directories"}`]),
    ...(others === 0 ? [] : [`${others} ${others === 1 ? "link" : "links"}`]),
  ];
  return [`Copied ${parts.join(", ")}.`];
}
