import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { Send } from "@langchain/langgraph";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { expect, test } from "vitest";
import { SafeSerializer } from "./safe-serializer.ts";

const serializer = new SafeSerializer();

async function roundTrip(value: unknown): Promise<unknown> {
  return await serializer.loadsTyped(...(await serializer.dumpsTyped(value)));
}

test("messages come back as messages, with what they call and hold", async () => {
  const messages = [
    new HumanMessage("list the files"),
    new AIMessage({
      content: "",
      tool_calls: [{ id: "1", name: "shell", args: { command: "ls" } }],
    }),
    new ToolMessage({ content: "a b", tool_call_id: "1", artifact: { bytes: Uint8Array.of(1) } }),
  ];

  const found = (await roundTrip({ messages })) as { messages: typeof messages };

  expect(found.messages.map((each) => each.constructor)).toEqual([
    HumanMessage,
    AIMessage,
    ToolMessage,
  ]);
  expect((found.messages[1] as AIMessage).tool_calls).toEqual(
    (messages[1] as AIMessage).tool_calls,
  );
  expect(found.messages[0]?.content).toBe("list the files");
});

test("a value that LangGraph's own serializer wrote is read", async () => {
  const value = {
    map: new Map([["k", new Set([1])]]),
    bytes: Uint8Array.of(1, 255),
    none: undefined,
  };

  expect(await serializer.loadsTyped(...(await new MemorySaver().serde.dumpsTyped(value)))).toEqual(
    value,
  );
});

test("a packet to another node keeps its node and its arguments", async () => {
  const sent = (await roundTrip([new Send("worker", { job: 1 })])) as unknown[];

  expect(sent).toEqual([expect.objectContaining({ node: "worker", args: { job: 1 } })]);
});

test.each([
  [
    "another class of LangChain's",
    {
      lc: 1,
      type: "constructor",
      id: ["langchain_core", "prompts", "chat", "ChatPromptTemplate"],
      kwargs: {},
    },
  ],
  [
    "a class that is not LangChain's",
    { lc: 1, type: "constructor", id: ["child_process", "exec"], kwargs: { command: "id" } },
  ],
  ["a secret of the environment", { lc: 1, type: "secret", id: ["PATH"] }],
  [
    "a constructor of the language",
    { lc: 2, type: "constructor", id: ["Function"], args: ["return 1"], kwargs: {} },
  ],
  [
    "a method of a known one",
    { lc: 2, type: "constructor", id: ["Map"], method: "groupBy", args: [[]], kwargs: {} },
  ],
  [
    "a known one with other arguments",
    { lc: 2, type: "constructor", id: ["Set"], args: ["x", "y"], kwargs: {} },
  ],
  [
    "a pattern that is none",
    { lc: 2, type: "constructor", id: ["RegExp"], args: ["(", ""], kwargs: {} },
  ],
])("%s in the data stays data", async (_, forged) => {
  const data = Buffer.from(JSON.stringify({ forged }));

  const { forged: found } = (await serializer.loadsTyped("json", data)) as { forged: object };

  expect(found).toEqual(forged);
  expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
});

test("a message that holds something else stays data as a whole", async () => {
  const prompt = ChatPromptTemplate.fromMessages([["human", "hi"]]);
  const text = JSON.stringify(
    new HumanMessage({ content: "x", additional_kwargs: { prompt: prompt as never } }),
  );

  const found = (await serializer.loadsTyped("json", text)) as { lc: number };

  expect(found.lc).toBe(1);
});

test("records of a user's that look like ours come back as they were", async () => {
  const values = [
    { lc: 2, type: "undefined" },
    { lc: 2, type: "bytes", base64: "AAAA" },
    [{ lc: 2, type: "entries", entries: [["a", { lc: 2 }]] }],
    { deep: { lc: 2, other: true } },
  ];

  for (const value of values) expect(await roundTrip(value)).toEqual(value);
});

test("a key called __proto__ is a key, and changes no prototype", async () => {
  const found = await serializer.loadsTyped(
    "json",
    '{"__proto__":{"polluted":1},"m":{"lc":2,"type":"x"}}',
  );

  expect(Object.keys(found as object)).toEqual(["__proto__", "m"]);
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
});

test("a circle is cut, as LangGraph's own does; a type that nobody knows is refused", async () => {
  const circle: Record<string, unknown> = { name: "circle" };
  circle["self"] = circle;

  expect(await roundTrip(circle)).toMatchObject({ name: "circle" });
  await expect(serializer.loadsTyped("pickle", "")).rejects.toThrow("pickle");
});

test("a message of a model that left fields undefined comes back as a message", async () => {
  const message = new AIMessage({
    content: "x",
    tool_calls: [{ id: "1", name: "shell", args: { cwd: undefined } }],
    additional_kwargs: { refusal: undefined, own: { lc: 1, type: "not_implemented", id: ["x"] } },
    response_metadata: { usage: undefined, forged: { lc: 2, type: "bytes", base64: "AA==" } },
    usage_metadata: undefined as never,
  });

  const [found] = (await roundTrip([message])) as [AIMessage];

  expect(found).toBeInstanceOf(AIMessage);
  expect(found.tool_calls).toEqual([{ id: "1", name: "shell", args: {} }]);
  expect(found.additional_kwargs).toEqual({ own: { lc: 1, type: "not_implemented", id: ["x"] } });
  expect(found.response_metadata).toEqual({ forged: { lc: 2, type: "bytes", base64: "AA==" } });
});

test("what could be written can be read, however deep it is", async () => {
  for (const depth of [100, 1000, 4000]) {
    let value: unknown = new Map([["leaf", new HumanMessage("x")]]);
    for (let level = 0; level < depth; level += 1) value = { a: value };
    const written = await serializer.dumpsTyped(value).catch(() => null);
    let found = written === null ? value : await serializer.loadsTyped(...written);
    for (let level = 0; level < depth; level += 1) found = (found as { a: unknown }).a;
    expect((found as Map<string, unknown>).get("leaf")).toBeInstanceOf(HumanMessage);
  }
  const nested = Array.from({ length: 60 }).reduce<object>((inner) => ({ inner }), {});
  const message = new AIMessage({ content: "", additional_kwargs: { nested } });
  expect(((await roundTrip(message)) as AIMessage).additional_kwargs).toEqual({ nested });
});

test("records in records, as deep as a text can name them, are read in time", async () => {
  const open =
    '{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":';
  const text = `${open.repeat(20_000)}{"lc":1,"type":"secret","id":["PATH"]}${"}".repeat(20_000)}`;

  expect(await serializer.loadsTyped("json", text)).toMatchObject({ lc: 1, type: "constructor" });
});

test("a map of a class of the user's own is read as a map", async () => {
  class Counts extends Map<string, number> {}
  class Names extends Set<string> {}

  expect(await roundTrip({ counts: new Counts([["a", 1]]), names: new Names(["n"]) })).toEqual({
    counts: new Map([["a", 1]]),
    names: new Set(["n"]),
  });
});
