import type { ZooProgram } from "./zoo-program.ts";

/** A server that answers with its state, and adds to it what `?add=` says. */
export interface HttpServer extends Pick<ZooProgram, "name" | "version"> {
  prepare?: ZooProgram["start"];
  /** Line of bash that starts it. */
  command: string;
  port: number;
}

/** Makes a program of the zoo of one that answers over HTTP. */
export function serverProgram(server: HttpServer): ZooProgram {
  const ask = `curl -sS --max-time 20 http://127.0.0.1:${server.port}/`;
  return {
    name: server.name,
    version: server.version,
    start: async (stage) => {
      await server.prepare?.(stage);
      await stage.background(`exec ${server.command}`);
      await stage.until(ask, /state/);
    },
    see: (stage) => stage.run(ask),
    change: async (stage, mark) => void (await stage.run(`${ask}?add=${mark}`)),
  };
}
