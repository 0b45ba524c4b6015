import { WaypointError } from "../../shared/errors/index.ts";
import { changesOfRecord, type RecordTools } from "./checkpoint-record.ts";
import type { GraphPlace } from "./graph-config.ts";
import { checkpointKey, nameKey } from "./record-keys.ts";
import type { NameRecord } from "./thread-survey.ts";

const NAME_CHARS_MAX = 200;

/**
 * Gives a checkpoint a name; one that another checkpoint of the thread had is taken from it.
 *
 * @throws CHECKPOINT_NOT_FOUND  there is none.
 * @throws NAME_INVALID  the name is empty or too long.
 */
export async function nameCheckpoint(
  tools: RecordTools,
  { thread, namespace, id }: GraphPlace,
  name: string,
): Promise<void> {
  if (name === "" || name.length > NAME_CHARS_MAX) {
    throw new WaypointError("NAME_INVALID", `A name has 1 to ${NAME_CHARS_MAX} characters.`);
  }
  const record: NameRecord = { name, namespace, id: id ?? "" };
  const changes = changesOfRecord(tools, { thread, key: nameKey(name) }, record);
  const requires = checkpointKey(namespace, id ?? "");
  const { isDone } = await tools.records.write(thread, changes, { requires });
  if (isDone) return;
  throw new WaypointError("CHECKPOINT_NOT_FOUND", `Thread ${thread} has no such checkpoint.`, {
    hint: "Pass the config that a put or the graph's history returns.",
  });
}
