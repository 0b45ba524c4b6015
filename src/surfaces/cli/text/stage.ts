import type { Checkpoint } from "../../../shared/protocol/index.ts";

/** Says how long a checkpoint stays, also where no disk is below it. */
export function renderStage(
  { stage }: Pick<Checkpoint, "stage">,
  { isInMemory }: { isInMemory: boolean },
): string {
  if (stage !== "durable" || !isInMemory) return stage;
  return "durable until the machine stops: the state directory is in memory";
}
