import { aged } from "./aged.ts";
import { agentState } from "./agent-state.ts";
import { automatic } from "./automatic.ts";
import { busy } from "./busy.ts";
import { commands } from "./command-line.ts";
import { deepLineage } from "./deep-lineage.ts";
import { followed } from "./followed.ts";
import { forks } from "./forks.ts";
import { langgraph } from "./langgraph.ts";
import { lazy } from "./lazy.ts";
import { log } from "./log.ts";
import { changedFiles, manyFiles } from "./many-files.ts";
import { memory } from "./memory.ts";
import { nodeServer } from "./node-server.ts";
import { pace } from "./pace.ts";
import { postgresql } from "./postgresql.ts";
import { redis } from "./redis.ts";
import { shell } from "./shell.ts";
import { space } from "./space.ts";
import { standby } from "./standby.ts";
import { story } from "./story.ts";
import { throwaway } from "./throwaway.ts";
import { tracked } from "./tracked.ts";
import { verify } from "./verify.ts";
import type { Workload } from "./workload.ts";

/** All workloads, in the order in which they run. */
export const WORKLOADS: readonly Workload[] = [
  ...[shell, standby, commands, nodeServer, redis, postgresql, memory, tracked, followed, lazy],
  ...[
    manyFiles,
    changedFiles,
    deepLineage,
    forks,
    verify,
    throwaway,
    story,
    log,
    agentState,
    langgraph,
    pace,
    automatic,
    aged,
    busy,
  ],
  space,
];
