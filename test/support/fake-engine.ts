import type { Logger } from "../../src/base/index.ts";
import { SerialQueues, stateLayout } from "../../src/base/index.ts";
import {
  CommandJournal,
  type LiveInstance,
  LiveSessions,
  Turns,
  Typing,
} from "../../src/engine/live/index.ts";
import type { Engine } from "../../src/engine/ports/index.ts";
import * as kernel from "../../src/linux/kernel/index.ts";
import type { InitLink } from "../../src/linux/terminal/index.ts";
import { AgentStates } from "../../src/portable/agent-state/index.ts";
import { SqliteCatalog } from "../../src/portable/catalog/sqlite/index.ts";
import { MemoryObjects } from "../../src/portable/objects/index.ts";
import { answersOfFakes } from "./fake-answers.ts";
import { FakeSteps, type Methods } from "./fake-steps.ts";

/** What is recorded: the engine's parts, and the lines to the first processes that there are. */
type Parts = Engine & {
  /** To what runs at first. */
  link: InitLink;
  /** To what is called later. */
  newLink: InitLink;
};

/** A step that can be made to fail or to answer otherwise: `store.images.sum`. */
export type Step = Methods<Parts>;

/** An engine of fakes, and what became of it. */
export interface FakeEngine {
  engine: Engine;
  /** What was asked of its parts, in order. */
  steps: FakeSteps<Step>;
  /** What its log says. */
  logged: string[];
  /** An instance as this engine would hold it live; its link records as `link`. */
  live: (sessionId: string, instanceId: string) => LiveInstance;
}

/** What only looks: it leaves nothing behind. */
const LOOKS = [
  /^catalog\.(?!(\w+\.)?(transaction|quickTransaction|sync|insert|update|delete|put))/,
  /^store\.(checkpointPaths|instancePaths|mountPaths|requireKnown|files|list)/,
  /^store\.(images|snapshots)\.(is|locate|exists)/,
  /^contacts\.(look|of|since|briefs)/,
  /^store\.bases\.(directoryOf|defaultName|all|has|is|recordOf|kindOf|sweep)/,
  /^(sandbox|criu|network|limits|freezer)\.(find|tree|is|has|list|read|plan|check|merged|netns)/,
  /^(sandbox\.startTicks|criu\.(measure|pages)|limits\.hits|freezer\.(holds|groupDir))/,
];

/**
 * Builds an engine without a machine: its adapters are fakes that note each call, while its catalog
 * (in memory), its queues and its journal are real, so that what a step leaves behind can be read.
 *
 * A method that nobody has given an answer returns nothing.
 *
 * @param change  parts that are to be others, `freezer: null` for instance.
 */
export function fakeEngine(change: Partial<Record<keyof Engine, unknown>> = {}): FakeEngine {
  const steps = new FakeSteps<Step>(answersOfFakes, LOOKS);
  const logged: string[] = [];
  const logger: Logger = {
    info: () => {},
    warn: (event) => void logged.push(event),
    error: (event) => void logged.push(event),
  };
  const memory = SqliteCatalog.open(":memory:", () => {});
  const catalog = steps.part("catalog", memory);
  const own = {
    settings: {
      ...{ layout: stateLayout("/nowhere/waypoint"), criuVersion: "4.2.1", kernel: "6.18" },
      ...{
        arch: "x64",
        lazyBytesMin: Number.POSITIVE_INFINITY,
        trackMemory: null,
        autoDefault: "manual",
      },
      ...{ standby: { policy: "off", budgetBytes: 0, reserveBytes: 0 }, pidsDefault: null },
    },
    ...{ catalog, logger, live: new LiveSessions(), typing: new Typing() },
    agentStates: new AgentStates(
      () => new MemoryObjects(),
      (value) => value,
    ),
    redact: (text: string) => text,
    journal: new CommandJournal(memory.commands, logger),
    turns: new Turns(),
    ...{ leases: new SerialQueues(), background: new SerialQueues(), filling: new Map() },
    connectInit: steps.method("connectInit"),
    // Those of a real machine: they need files, no rights.
    fileCalls: kernel,
    availableMemoryBytes: () => Number.MAX_SAFE_INTEGER,
    newId: newIds(),
    ...change,
  };
  const engine = new Proxy(own, {
    get: (target, key) =>
      key in target || typeof key === "symbol"
        ? Reflect.get(target, key)
        : Reflect.set(target, key, steps.part(key)) && Reflect.get(target, key),
  }) as unknown as Engine;
  steps.answer("connectInit", async () => steps.part("newLink"));
  const live = (sessionId: string, instanceId: string) => ({
    ...{ sessionId, instanceId, pid: 70, startTicks: 7, terminalId: 1 },
    link: steps.part("link") as InitLink,
  });
  return { engine, steps, logged, live };
}

function newIds(): () => string {
  let count = 0;
  return () => `id${++count}`;
}
