import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { projectFiles, ROOT, readText } from "./repository.ts";

/** Names of this machine that must not get into the project, found out when the test runs. */
function machineNames(): string[] {
  const names = [ROOT, ...registryHosts(), ...packageHosts()];
  const nodeDir = path.dirname(process.execPath);
  if (!nodeDir.startsWith("/usr/")) names.push(nodeDir);
  return [...new Set(names)].filter((name) => name.length > 4);
}

function registryHosts(): string[] {
  try {
    const options = { encoding: "utf8", timeout: 15_000, cwd: ROOT } as const;
    return hostsIn(execFileSync("npm", ["config", "get", "registry"], options));
  } catch {
    return [];
  }
}

function packageHosts(): string[] {
  const files = ["/etc/apt/sources.list"];
  const folder = "/etc/apt/sources.list.d";
  if (existsSync(folder)) files.push(...readdirSync(folder).map((name) => path.join(folder, name)));
  return files.filter((file) => existsSync(file)).flatMap((file) => hostsIn(readSource(file)));
}

function readSource(file: string): string {
  return readFileSync(file, "utf8").replace(/^\s*#.*$/gm, "");
}

function hostsIn(text: string): string[] {
  return [...text.matchAll(/\bhttps?:\/\/(?:[^/\s@]*@)?([^/\s\]]+)/g)]
    .map((match) => match[1] ?? "")
    .filter((host) => host !== "localhost" && !/^127\.[\d.]+$/.test(host));
}

describe("names of this machine", () => {
  test("no file holds the checkout's path or a package host", () => {
    const names = machineNames();
    const found = projectFiles().flatMap((file) => {
      const text = readText(file) ?? "";
      return names.filter((name) => text.includes(name)).map((name) => `${file}: ${name}`);
    });

    expect(found).toEqual([]);
  });

  test("lock files name no address to download from", () => {
    const lockFiles = projectFiles().filter((file) => path.basename(file) === "package-lock.json");
    const withAddress = lockFiles.filter((file) => /"resolved"\s*:/.test(readText(file) ?? ""));

    expect(lockFiles).toContain("package-lock.json");
    expect(withAddress).toEqual([]);
  });
});
