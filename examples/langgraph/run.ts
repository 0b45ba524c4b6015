/**
 * A loop of a model and a shell that takes its machine along when it goes back in time:
 *
 *     node scripts/bootstrap.mjs langgraph
 *
 * The model is scripted, so it needs no network and no key.
 */
import { MemorySaver } from "@langchain/langgraph";
import { Waypoint } from "../../src/index.ts";
import { tellStory } from "./graph.ts";

const waypoint = await Waypoint.open();
const session = await tellStory(new MemorySaver(), waypoint);
await session.remove({ force: true });
