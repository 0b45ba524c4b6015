import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** The two processes that fill the memory of one instance. */
export interface PagesServer {
  instance: string;
  keeper: number;
  /** `null` when it has ended. */
  server: number | null;
}

/** Finds the pages servers of a state directory that are at work, whoever started them. */
export function pagesServersOf(stateDir: string): PagesServer[] {
  const found = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const [program = "", images = "", workDir = ""] = read(name, "cmdline").split("\0");
      const isOurs = program.endsWith("/waypoint-pages") && images.startsWith(`${stateDir}/`);
      if (!isOurs) return [];
      const parent = Number(/^PPid:\s*(\d+)/m.exec(read(name, "status"))?.[1]);
      return [{ pid: Number(name), parent, instance: path.basename(workDir) }];
    });
  const isPid = (pid: number) => found.some((each) => each.pid === pid);
  return found
    .filter(({ parent }) => !isPid(parent))
    .map(({ pid, instance }) => ({
      instance,
      keeper: pid,
      server: found.find(({ parent }) => parent === pid)?.pid ?? null,
    }));
}

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return ""; // It has ended.
  }
}
