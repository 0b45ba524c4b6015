import { expect, test } from "vitest";
import type { Changes, ListeningPort, StoryProcess } from "../../../shared/protocol/index.ts";
import { serviceName, summarizeProcesses } from "./summarize-processes.ts";

function process(pid: number, parentPid = 2): StoryProcess {
  const rest = { programId: String(pid), command: "x", cwd: "/", user: "root", memoryBytes: 0 };
  return { pid, parentPid, ...rest };
}

function port(pid: number, command: string): ListeningPort {
  return { protocol: "tcp", address: "0.0.0.0", port: 80, pid, command };
}

function summary(
  processes: Partial<NonNullable<Changes["processes"]>>,
  ports: Partial<NonNullable<Changes["ports"]>>,
): string {
  const { named, counted } = summarizeProcesses({
    processes: { started: [], ended: [], still: [], ...processes },
    ports: { opened: [], closed: [], ...ports },
  } as Changes);
  return [...named, ...counted].join(", ");
}

test("servers are called what people call them", () => {
  const commands = {
    "redis-server *:6379": "redis",
    "/usr/sbin/nginx -g daemon off;": "nginx",
    "nginx: master process nginx": "nginx",
    "python3 -m http.server 8000": "http.server",
    "/usr/bin/python3.11 -u /srv/app.py --port 1": "app.py",
    "python3 -c import x": "python3",
    "node server.js": "server.js",
    "sshd: /usr/sbin/sshd -D": "sshd",
    "": "a service",
  };

  for (const [command, name] of Object.entries(commands)) expect(serviceName(command)).toBe(name);
});

test("services that came, went, or began again are named, their workers are not counted", () => {
  const [old, redis, worker] = [process(5), process(7), process(8, 7)];

  expect(summary({ started: [redis, worker] }, { opened: [port(7, "redis-server")] })).toBe(
    "redis up on 80",
  );
  expect(summary({ ended: [redis, worker] }, { closed: [port(7, "redis-server")] })).toBe(
    "redis down",
  );
  expect(
    summary(
      { started: [redis], ended: [old] },
      { opened: [port(7, "redis-server")], closed: [port(5, "redis-server")] },
    ),
  ).toBe("redis restarted");
});

test("a service that listens elsewhere than before is told with both ports", () => {
  const [old, now] = [process(5), process(7)];
  const at = (pid: number, number: number) => ({ ...port(pid, "node server.js"), port: number });

  expect(
    summary({ started: [now], ended: [old] }, { opened: [at(7, 3001)], closed: [at(5, 3000)] }),
  ).toBe("server.js 3000→3001");
  expect(summary({ still: [old] }, { opened: [at(5, 3001)], closed: [at(5, 3000)] })).toBe(
    "server.js 3000→3001",
  );
});

test("a process that goes on and takes or leaves ports is neither up nor down", () => {
  const still = { still: [process(7)] };
  const owned = [port(7, "node app.js")];

  expect(summary(still, { opened: owned })).toBe("app.js answers on 80");
  expect(summary(still, { closed: owned })).toBe("app.js listens no more");
  expect(summary(still, { opened: owned, closed: owned })).toBe("app.js answers on 80");
});

test("ports are named where there are few, and sockets without a number not at all", () => {
  const many = [80, 81, 82].map((number) => ({ ...port(7, "redis-server"), port: number }));
  const socket = { ...port(7, "app.js"), protocol: "unix", address: "/run/x", port: null } as const;
  const started = { started: [process(7)] };

  expect(summary(started, { opened: many })).toBe("redis up");
  expect(summary(started, { opened: many.slice(0, 2) })).toBe("redis up on 80 and 81");
  expect(summary({ still: [process(7)] }, { opened: [socket] })).toBe("app.js listens");
});

test("other processes are counted, and where nothing changed nothing is said", () => {
  expect(summary({ started: [process(7), process(8)], ended: [process(9)] }, {})).toBe(
    "+2 −1 processes",
  );
  expect(summary({ ended: [process(9)] }, {})).toBe("−1 process");
  expect(summary({ still: [process(9)] }, {})).toBe("");
});
