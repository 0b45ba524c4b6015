import { addBase, listBases, removeBase, setDefaultBase } from "../engine/bases/index.ts";
import type { HandlersOf } from "./operation-handler.ts";

/** The handlers of root filesystems that the store keeps. */
export const BASE_HANDLERS: HandlersOf<"base.add" | "base.ls" | "base.rm" | "base.default"> = {
  "base.add": (input, engine, client) => addBase(input, client.cancelled, engine),
  "base.ls": async (_input, engine) => listBases(engine),
  "base.rm": ({ base }, engine) => removeBase(base, engine),
  "base.default": async ({ base }, engine) => setDefaultBase(base, engine),
};
