import { setTimeout as delay } from "node:timers/promises";
import type { Session } from "../../src/index.ts";
import { eventually } from "./test-waypoint.ts";

/** Longer than it takes from a trigger to the look whether there is something to capture. */
const LOOKED_MS = 600;

type Info = Awaited<ReturnType<Session["log"]>>["checkpoints"][number];

/** Returns the automatic checkpoints of a session, oldest first. */
export async function automaticOf(session: Session): Promise<Info[]> {
  const { checkpoints } = await session.log({ auto: true });
  return checkpoints.filter((each) => each.session === session.id);
}

/** Waits until a session has so many automatic checkpoints and none is under way, and returns them. */
export async function untilAutomatic(session: Session, count: number): Promise<Info[]> {
  const found = await eventually(
    `automatic checkpoint ${count}`,
    () => automaticOf(session),
    (all) => all.length >= count,
  );
  await untilIdle(session);
  return found;
}

/** Waits until all that was triggered has been looked at. */
export async function untilIdle(session: Session): Promise<void> {
  await delay(LOOKED_MS);
  await eventually(
    "the end of what is under way",
    () => session.auto(),
    ({ isScheduled }) => !isScheduled,
  );
}
