import { parseArgs } from "node:util";
import { WORKLOADS } from "./workloads/index.ts";
import type { Workload } from "./workloads/workload.ts";

export const USAGE = `Usage: npm run bench -- [options] [NAME...]

  --full             more rounds, and podman for every program
  NAME, --only NAMES  some of the workloads: ${WORKLOADS.map(({ name }) => name).join(", ")}
  --rounds N         this many rounds of each workload
  --rest SECONDS     measure each workload at the pace of use, too: with such a rest before each run, and
                     without touching memory for it (docs/performance.md)
  --aged MINUTES     use a daemon for so long first: measures it beside a fresh one; for \`busy\`, how long
  --mebibytes N      how large a program with much memory is [2048]
  --install-peers    bring podman, runc, Redis and Chromium into .tools/peers first (from Debian)
  --from FILE        measure nothing; take an earlier run of bench/results
  --write-docs       write the figures into docs/performance.md
  --help             print this
`;

/** Reads the options. @throws Error  they are wrong; the message says how. */
export function readOptions(words: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      full: { type: "boolean", default: false },
      only: { type: "string" },
      rounds: { type: "string" },
      rest: { type: "string" },
      aged: { type: "string" },
      mebibytes: { type: "string", default: "2048" },
      from: { type: "string" },
      "install-peers": { type: "boolean", default: false },
      "write-docs": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const isUsual = ({ name, rounds: { quick } }: Workload) =>
    values.full || quick > 0 || (name === "aged" && values.aged !== undefined);
  const usual = WORKLOADS.filter(isUsual);
  const asked = [...(values.only?.split(",") ?? []), ...positionals];

  const names = asked.length > 0 ? asked : usual.map(({ name }) => name);
  const workloads = names.map((name) => {
    const found = WORKLOADS.find((workload) => workload.name === name);
    if (found === undefined) throw new Error(`There is no workload ${name}.\n\n${USAGE}`);
    return found;
  });
  const rounds = values.rounds === undefined ? undefined : readNumber("--rounds", values.rounds);
  const restSeconds = values.rest === undefined ? undefined : readNumber("--rest", values.rest);
  const mebibytes = readNumber("--mebibytes", values.mebibytes);
  return {
    ...{
      isFull: values.full,
      workloads,
      rounds,
      restSeconds,
      mebibytes,
      agedMinutes: values.aged === undefined ? 0 : readNumber("--aged", values.aged),
      isHelp: values.help,
      from: values.from,
    },
    ...{ installPeers: values["install-peers"], writeDocs: values["write-docs"] },
  };
}

function readNumber(option: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new Error(`${option} takes a number.\n\n${USAGE}`);
}
