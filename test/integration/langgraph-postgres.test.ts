import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WaypointSaver } from "../../src/surfaces/langgraph/index.ts";
import { forkBefore } from "../support/forked-graphs.ts";
import { PostgresServer } from "../support/postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.open();
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

const EDITED = {
  forks: [{ updated: ["in", "a", "EDIT"], ended: ["in", "a", "EDIT", "b"] }],
  origin: ["in", "a", "b"],
};

test("the edit of a fork is there, in the database that one address names", async () => {
  await using saver = await WaypointSaver.open(server.address());

  expect(await forkBefore(saver, ["EDIT"], { isDelta: false })).toEqual(EDITED);
});

test("on LangGraph's own saver for PostgreSQL the edit is gone, and no error says so", async () => {
  const saver = PostgresSaver.fromConnString(server.address());
  try {
    await saver.setup();

    const { forks } = await forkBefore(saver, ["EDIT"], { isDelta: false });
    expect(forks[0]?.updated).not.toContain("EDIT");
  } finally {
    await saver.end();
  }
});
