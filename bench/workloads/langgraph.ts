import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type BaseCheckpointSaver, MemorySaver } from "@langchain/langgraph-checkpoint";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { WaypointSaver } from "../../src/surfaces/langgraph/index.ts";
import { PostgresServer } from "../../test/support/postgres-server.ts";
import type { Contender } from "../measuring/contender.ts";
import { type Growth, measureGraph } from "../programs/measured-graph.ts";
import { unlessMissing, type Workload } from "./workload.ts";

/** With LangGraph's default, and with what survives a loss of power where a saver offers that. */
const SCENES: readonly Scene[] = [
  { name: "static", growth: "static", kilobytes: 100, durability: "async" },
  { name: "rewritten", growth: "rewritten", kilobytes: 100, durability: "async" },
  { name: "appended", growth: "appended", kilobytes: 100, durability: "async" },
  { name: "1 MB", growth: "static", kilobytes: 1000, durability: "async" },
  { name: "static, sync", growth: "static", kilobytes: 100, durability: "sync" },
  { name: "rewritten, sync", growth: "rewritten", kilobytes: 100, durability: "sync" },
  { name: "appended, sync", growth: "appended", kilobytes: 100, durability: "sync" },
];

interface Scene {
  name: string;
  growth: Growth;
  kilobytes: number;
  durability: "sync" | "async";
}

const BYTES_PER_MB = 1e6;

/** A saver in a directory of its own, and how it is closed. */
type Opened = { saver: BaseCheckpointSaver; close: () => Promise<void> };

/** What savers of LangGraph cost a graph of 50 steps: time, and room on the disk. */
export const langgraph: Workload = {
  name: "langgraph",
  title: "graphs of 50 steps by their savers: ms a checkpoint",
  rounds: { quick: 5, full: 20 },
  prepare: async (context) => [
    contender("WaypointSaver", async (directory) => {
      const saver = await WaypointSaver.open(`sqlite:${path.join(directory, "graph.sqlite")}`);
      return { saver, close: async () => await saver[Symbol.asyncDispose]() };
    }),
    contender("SqliteSaver", async (directory) => {
      const saver = SqliteSaver.fromConnString(path.join(directory, "graph.sqlite"));
      return { saver, close: async () => void saver.db.close() };
    }),
    contender("MemorySaver", async () => ({ saver: new MemorySaver(), close: async () => {} })),
    ...(await unlessMissing("PostgreSQL", context, async () => {
      const server = context.stack.use(await PostgresServer.open());
      return [
        contender("WaypointSaver, PostgreSQL", async () => {
          const saver = await WaypointSaver.open(server.address());
          return { saver, close: async () => await saver[Symbol.asyncDispose]() };
        }),
        contender("PostgresSaver", async () => {
          const saver = PostgresSaver.fromConnString(server.address());
          await saver.setup();
          return { saver, close: async () => await saver.end() };
        }),
      ];
    })),
  ],
};

function contender(name: string, open: (directory: string) => Promise<Opened>): Contender {
  return {
    name,
    run: async () => {
      const figures: Record<string, number> = {};
      const puts: number[] = [];
      for (const scene of SCENES) {
        const directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-bench-graph-"));
        try {
          const { saver, close } = await open(directory);
          const { msPerCheckpoint, putsMs } = await measureGraph(
            saver,
            scene.growth,
            scene.kilobytes,
            scene.durability,
          );
          puts.push(...putsMs);
          figures[scene.name] = msPerCheckpoint;
          await close();
          const megabytes = megabytesIn(directory);
          if (megabytes > 0) figures[`${scene.name}: MB on the disk`] = megabytes;
        } finally {
          rmSync(directory, { recursive: true });
        }
      }
      return { ...figures, "put, 99 of 100": percentile(puts, 0.99) };
    },
  };
}

function megabytesIn(directory: string): number {
  const sizes = readdirSync(directory).map((name) => statSync(path.join(directory, name)).size);
  return sizes.reduce((sum, size) => sum + size, 0) / BYTES_PER_MB;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
