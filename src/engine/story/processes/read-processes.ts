import type { Changes } from "../../../shared/protocol/index.ts";
import type { Moment, ReadingEngine } from "../../moment/index.ts";
import { AnswerBudget } from "../answer-budget.ts";
import { type ChangesReader, notBelowAPath } from "../section.ts";
import { startOf } from "../start-of.ts";
import {
  compareConnections,
  comparePorts,
  compareProcesses,
  freshPicture,
  type NamedPicture,
} from "./compare-pictures.ts";
import { readPicture } from "./process-picture.ts";
import { summarizeProcesses } from "./summarize-processes.ts";
import { readUserNames } from "./user-names.ts";

/** What an answer holds of all lists here; files have most of a frame. */
const ANSWER_BYTES_MAX = 1024 * 1024;

/** Processes, listening ports and connections to the outside, from the process images. */
export const PROCESSES_READER: ChangesReader = {
  sections: ["processes", "ports", "connections"],
  read: async (pair, { engine, scope }): Promise<Partial<Changes>> => {
    if (scope.under !== null) return notBelowAPath(PROCESSES_READER);
    const [before, after] = await Promise.all([read(pair.from, engine), read(pair.to, engine)]);
    if (after === null) throw new Error("nothing has run there yet");
    const earlier = before ?? freshPicture(after, await startOf(pair, engine));
    const processes = compareProcesses(earlier, after);
    const ports = comparePorts(earlier, after);
    const connections = compareConnections(earlier, after);
    const room = new AnswerBudget(ANSWER_BYTES_MAX);
    return {
      ports: {
        opened: room.keep(ports.opened, "ports opened"),
        closed: room.keep(ports.closed, "ports closed"),
      },
      processes: {
        started: room.keep(processes.started, "processes started"),
        ended: room.keep(processes.ended, "processes ended"),
        still: room.keep(processes.still, "processes still there"),
      },
      connections: {
        opened: room.keep(connections.opened, "connections opened"),
        closed: room.keep(connections.closed, "connections closed"),
      },
      unknown: room.leftOut,
    };
  },
  summarize: summarizeProcesses,
};

async function read(moment: Moment, engine: ReadingEngine): Promise<NamedPicture | null> {
  const [picture, userNames] = await Promise.all([
    readPicture(moment, engine),
    readUserNames(moment),
  ]);
  return picture === null ? null : { ...picture, userNames };
}
