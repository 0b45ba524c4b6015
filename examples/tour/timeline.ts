import type { CheckpointInfo, OperationRecord, Session, Waypoint } from "../../src/index.ts";
import { megabytes, milliseconds, table } from "./display.ts";

interface Row {
  at: string;
  cells: string[];
}

const NOTHING = "";

/** Prints what happened to `sessions`: checkpoints with their pauses, moves with their times. */
export async function showTimeline(waypoint: Waypoint, sessions: Session[]): Promise<void> {
  const { checkpoints, operations } = await waypoint.log();
  const names = new Map(sessions.map(({ id, name }) => [id, name]));
  const rows = [
    ...checkpoints.filter(({ session }) => names.has(session)).map(checkpointRow),
    ...operations
      .filter(({ session }) => names.has(session))
      .map((operation) => operationRow(operation, names.get(operation.session) ?? NOTHING)),
  ].toSorted((a, b) => a.at.localeCompare(b.at));
  table(
    ["time", "session", "what", "checkpoint", "paused", "ready after", "memory", "intent"],
    rows.map(({ cells }) => cells),
  );
}

function checkpointRow(checkpoint: CheckpointInfo): Row {
  return {
    at: checkpoint.createdAt,
    cells: [
      timeOf(checkpoint.createdAt),
      checkpoint.sessionName,
      "checkpoint",
      checkpoint.id,
      milliseconds(checkpoint.pauseMs),
      NOTHING,
      megabytes(checkpoint.memoryBytes),
      checkpoint.intent ?? `(${checkpoint.trigger})`,
    ],
  };
}

function operationRow(operation: OperationRecord, sessionName: string): Row {
  return {
    at: operation.at,
    cells: [
      timeOf(operation.at),
      sessionName,
      operation.kind,
      operation.checkpoint ?? NOTHING,
      NOTHING,
      operation.readyMs === null ? NOTHING : milliseconds(operation.readyMs),
      NOTHING,
      NOTHING,
    ],
  };
}

function timeOf(instant: string): string {
  return instant.slice(11, 23);
}
