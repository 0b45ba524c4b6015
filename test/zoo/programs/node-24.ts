import { NODE_24 } from "../base.ts";
import { nodeServer } from "../node-server.ts";

export const node24 = nodeServer("Node 24", NODE_24);
