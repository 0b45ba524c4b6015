/**
 * Set up for every file of unit tests. They share processes, and the programs for which nobody waits: a test
 * that ends while something is done leaves them standing.
 */
import { beforeAll } from "vitest";
import { backgroundPrograms } from "../../src/base/index.ts";

beforeAll(() => backgroundPrograms.goOn());
