import { WaypointError } from "../../src/index.ts";
import type { Stage } from "./stage.ts";

const BACKGROUND_LINES = 15;

/** What was refused in CRIU's words only, also where a later try came through. */
export const refusedWithoutSentence: string[] = [];

/**
 * Returns the failure of a course with what tells why: what CRIU said, and of each session that is
 * still there the screen, the processes and the end of what its background wrote.
 */
export async function explainFailure(
  failure: unknown,
  { step, stages }: { step: string; stages: readonly Stage[] },
): Promise<Error> {
  const described = await Promise.all(stages.map((stage) => describe(stage)));
  const message = failure instanceof Error ? failure.message : String(failure);
  const lines = [`${step}: ${message}`, ...criuLines(failure), ...described];
  const isUnexplained = failure instanceof WaypointError && failure.detail["reason"] === "unknown";
  if (isUnexplained) refusedWithoutSentence.push(lines.join("\n"));
  return new Error(lines.join("\n"), { cause: failure });
}

function criuLines(failure: unknown): string[] {
  if (!(failure instanceof WaypointError)) return [];
  const { criuErrors, logExcerpt, logPath } = failure.detail;
  const excerpt = [criuErrors, logExcerpt].flat().filter((line) => line !== undefined);
  return [
    `${failure.code} ${String(logPath ?? "")}`,
    ...excerpt.map((line) => `  ${String(line)}`),
  ];
}

async function describe(stage: Stage): Promise<string> {
  const list = `ps -eo pid,ppid,stat,args | tail -n +2; tail -n ${BACKGROUND_LINES} /root/background.log`;
  const processes = await stage.run(`${list} 2>&1; true`).catch(String);
  return [
    `--- ${stage.session.name}, its screen:`,
    stage.screen(),
    "--- its processes, and the end of /root/background.log:",
    processes,
  ].join("\n");
}
