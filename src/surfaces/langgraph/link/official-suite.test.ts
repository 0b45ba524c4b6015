import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  MemorySaver,
} from "@langchain/langgraph-checkpoint";
import { FakeWorld } from "../../../../test/support/fake-linkable-session.ts";
import { runOfficialSuite } from "../../../../test/support/official-suite.ts";
import { MemoryRecords } from "../../../portable/records/index.ts";
import { WaypointSaver } from "../waypoint-saver.ts";
import { linkSession } from "./link-session.ts";

/** As MemorySaver, which the suite would leave a test out for: without a parent, what is new is kept alone. */
class StrictMemorySaver extends MemorySaver {
  override async put(
    config: Parameters<MemorySaver["put"]>[0],
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions?: ChannelVersions,
  ) {
    if (config.configurable?.["checkpoint_id"] !== undefined || newVersions === undefined) {
      return await super.put(config, checkpoint, metadata);
    }
    const isNew = ([name]: [string, unknown]) => name in newVersions;
    const values = Object.fromEntries(Object.entries(checkpoint.channel_values).filter(isNew));
    return await super.put(config, { ...checkpoint, channel_values: values }, metadata);
  }
}

await runOfficialSuite("a linked saver in memory", () =>
  linkSession(new StrictMemorySaver(), new FakeWorld().new()),
);
await runOfficialSuite("a linked WaypointSaver", () =>
  linkSession(new WaypointSaver(new MemoryRecords()), new FakeWorld().new()),
);
