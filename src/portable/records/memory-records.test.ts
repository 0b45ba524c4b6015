import { describeRecords } from "../../../test/support/records-conformance.ts";
import { MemoryRecords } from "./memory-records.ts";

describeRecords("memory", async () => ({ records: new MemoryRecords(), again: null }));
