/**
 * operations owns what each operation of the contract does, in terms of the engine: resolve what
 * the user named, take the session's lease, call, describe the outcome.
 * It does not know through which surface it was called.
 */
export { type EngineOperations, HANDLERS } from "./handlers.ts";
export type { OperationHandler } from "./operation-handler.ts";
