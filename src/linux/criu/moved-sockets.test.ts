import { expect, test } from "vitest";
import { type FoundSocket, parseFound, pathsOf } from "./moved-sockets.ts";

const SOCKET: FoundSocket = {
  inode: 7,
  fileInode: 300,
  nameCount: 1,
  bound: "/run/new",
  path: "/run/server",
};
const none = () => {
  throw new Error("nobody needs to look");
};

test("a line of the preload is read, and what is none is left out", () => {
  const lines = "7 300 2 2f72756e2f6e6577 -\n8 301 1 6e6577 2f61ff0a\n9 1\nx\n";
  expect(parseFound(lines)).toEqual([
    { ...SOCKET, nameCount: 2, path: null },
    { inode: 8, fileInode: 301, nameCount: 1, bound: "new", path: "/a\xff\n" },
  ]);
});

test("a renamed socket has its path, for which nobody looks in the store", () => {
  expect(pathsOf(SOCKET, none)).toEqual(["/run/server"]);
});

test("a linked socket has all of its names, first one that can be bound", () => {
  const linked = { ...SOCKET, path: null, nameCount: 2 };
  const long = `/run/${"x".repeat(103)}`;
  expect(pathsOf(linked, () => [long, "/run/a"])).toEqual(["/run/a", long]);
  expect(pathsOf(linked, () => [long])).toEqual([]);
  expect(pathsOf({ ...SOCKET, nameCount: 2 }, () => ["/run/a", "/run/server"])).toEqual([
    "/run/server",
    "/run/a",
  ]);
});

test("names of the same number in another filesystem are none of its", () => {
  expect(pathsOf({ ...SOCKET, nameCount: 2 }, () => ["/home/other"])).toEqual(["/run/server"]);
});
