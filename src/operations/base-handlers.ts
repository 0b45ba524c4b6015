import { addBase, listBases, removeBase, setDefaultBase } from "../engine/bases/index.ts";
import { tellBaseChanges } from "./base-changes.ts";
import type { HandlersOf } from "./operation-handler.ts";

type BaseOperation = "base.add" | "base.ls" | "base.rm" | "base.changes" | "base.default";

/** The handlers of root filesystems that the store keeps. */
export const BASE_HANDLERS: HandlersOf<BaseOperation> = {
  "base.add": (input, engine, client) => addBase(input, client, engine),
  "base.ls": async (_input, engine) => listBases(engine),
  "base.rm": ({ base }, engine) => removeBase(base, engine),
  "base.changes": (input, engine, client) => tellBaseChanges(input, engine, client.cancelled),
  "base.default": async ({ base }, engine) => setDefaultBase(base, engine),
};
