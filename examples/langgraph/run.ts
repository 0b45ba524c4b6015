/**
 * A loop of a model and a shell that takes its machine along when it goes back in time:
 *
 *     npm run langgraph
 *
 * The model is scripted, so it needs no network and no key.
 */
import { MemorySaver } from "@langchain/langgraph";
import { Waypoint } from "../../src/index.ts";
import { tellStory } from "./graph.ts";

const waypoint = await Waypoint.open();
await using session = await waypoint.new({ net: "none" });
await tellStory(new MemorySaver(), session);
