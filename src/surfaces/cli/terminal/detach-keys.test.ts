import { expect, test } from "vitest";
import { DetachKeys, describeDetachKeys, parseDetachKeys } from "./detach-keys.ts";

const CHORD = "ctrl-],d";

function type(chunks: readonly string[], chord = CHORD) {
  const keys = new DetachKeys(parseDetachKeys(chord));
  let forwarded = "";
  for (const chunk of chunks) {
    const { forward, isDetached } = keys.push(Buffer.from(chunk, "latin1"));
    forwarded += Buffer.from(forward).toString("latin1");
    if (isDetached) return { forwarded, isDetached };
  }
  return { forwarded, isDetached: false };
}

test("ordinary keys pass unchanged", () => {
  expect(type(["ls -l\r", "\u001b[A", "\u001b"])).toEqual({
    forwarded: "ls -l\r\u001b[A\u001b",
    isDetached: false,
  });
});

test("the chord detaches, in one chunk or in two, and is not forwarded", () => {
  expect(type(["a\u001dd"])).toEqual({ forwarded: "a", isDetached: true });
  expect(type(["\u001d", "d"])).toEqual({ forwarded: "", isDetached: true });
});

test("the first key twice sends it once", () => {
  expect(type(["\u001d\u001dx"])).toEqual({ forwarded: "\u001dx", isDetached: false });
  expect(type(["\u001d\u001d", "\u001dd"])).toEqual({ forwarded: "\u001d", isDetached: true });
});

test("the first key with another one sends both", () => {
  expect(type(["\u001d", "x"])).toEqual({ forwarded: "\u001dx", isDetached: false });
});

test("the chord is found in kitty's and xterm's reports, also between releases", () => {
  expect(type(["\u001b[93;5u", "d"])).toEqual({ forwarded: "", isDetached: true });
  expect(type(["\u001b[93;5:1u\u001b[93;5:3u\u001b[100u"])).toMatchObject({ isDetached: true });
  expect(type(["\u001b[27;5;93~", "d"])).toEqual({ forwarded: "", isDetached: true });
  expect(type(["\u001b[93;69u", "d"])).toMatchObject({ isDetached: true });
});

test("a user can choose another chord", () => {
  expect(type(["\u0001q"], "ctrl-a,q")).toMatchObject({ isDetached: true });
  expect(type(["\u0001"], "ctrl-a")).toMatchObject({ isDetached: true });
  expect(describeDetachKeys("ctrl-a,q")).toBe("Ctrl-a q");
});

test("keys that do not exist are refused", () => {
  expect(() => parseDetachKeys("ctrl-")).toThrow(
    expect.objectContaining({ code: "USAGE_INVALID" }),
  );
  expect(() => parseDetachKeys("")).toThrow(expect.objectContaining({ code: "USAGE_INVALID" }));
});

test("further chords behind the same key mean something while they are asked for", () => {
  const keys = new DetachKeys(parseDetachKeys(CHORD));
  const yes = { keys: parseDetachKeys("ctrl-],y") };
  const push = (text: string, further = [yes]) => {
    const { forward, isDetached, typed } = keys.push(Buffer.from(text, "latin1"), further);
    return { sent: Buffer.from(forward).toString("latin1"), isDetached, typed: typed.length };
  };

  expect(push("ay\u001dyb")).toEqual({ sent: "ayb", isDetached: false, typed: 1 });
  expect(push("\u001dy", [])).toEqual({ sent: "\u001dy", isDetached: false, typed: 0 });
  expect(push("\u001d")).toEqual({ sent: "", isDetached: false, typed: 0 });
  expect(keys.isBegun).toBe(true);
  expect(push("y\u001dd")).toEqual({ sent: "", isDetached: true, typed: 1 });
});
