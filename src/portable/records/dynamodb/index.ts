/** dynamodb keeps records of threads in a table of DynamoDB. */
export type { DynamoClient, DynamoOptions } from "./connect-dynamo.ts";
export { DynamoRecords } from "./dynamo-records.ts";
