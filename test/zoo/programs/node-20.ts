import { NODE_20 } from "../base.ts";
import { nodeServer } from "../node-server.ts";

export const node20 = nodeServer("Node 20", NODE_20);
