import { setTimeout as delay } from "node:timers/promises";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { KeyRange } from "../remote/key-range.ts";
import type { ServerCalls } from "../remote/server-calls.ts";

export type DynamoSdk = typeof import("@aws-sdk/client-dynamodb");
/** What is used of a client, with the types of its commands left to the commands. */
export type DynamoSender = Pick<InstanceType<DynamoSdk["DynamoDBClient"]>, "send">;
export type Item = Record<string, AttributeValue>;

/** The key of an item. */
export interface ItemKey {
  pk: string;
  sk: string;
}

/** What has to be true of the item that is there. */
export interface Condition {
  text: string;
  values?: Item;
}

const GET_KEYS_MAX = 100;
const REMOVE_KEYS_MAX = 25;
const PAUSE_MS_FIRST = 20;
const PAUSE_MS_MAX = 2000;
/** So often in a row the server may do nothing of what it was asked for. */
const IDLE_TRIES_MAX = 10;

/** A table of DynamoDB: each call is safe to repeat, reads see what was written before. */
export class DynamoTable {
  readonly name: string;
  readonly #sdk: DynamoSdk;
  readonly #client: DynamoSender;
  readonly #calls: ServerCalls;

  constructor(name: string, sdk: DynamoSdk, client: DynamoSender, calls: ServerCalls) {
    this.name = name;
    this.#sdk = sdk;
    this.#client = client;
    this.#calls = calls;
  }

  async get(key: ItemKey): Promise<Item | undefined> {
    const input = { TableName: this.name, Key: keyItem(key), ConsistentRead: true };
    return (await this.#calls.call(() => this.#client.send(new this.#sdk.GetItemCommand(input))))
      .Item;
  }

  /**
   * Returns false where the condition does not hold.
   *
   * @param before  done before each try
   */
  async put(
    key: ItemKey,
    item: Item,
    condition?: Condition,
    before?: () => Promise<void>,
  ): Promise<boolean> {
    const command = new this.#sdk.PutItemCommand({
      ...{ TableName: this.name, Item: { ...keyItem(key), ...item } },
      ...conditionInput(condition),
    });
    return (await this.#change(() => this.#client.send(command), before)) !== null;
  }

  /** As {@link put}. */
  async remove(key: ItemKey, condition: Condition, before?: () => Promise<void>): Promise<boolean> {
    const command = new this.#sdk.DeleteItemCommand({
      ...{ TableName: this.name, Key: keyItem(key) },
      ...conditionInput(condition),
    });
    return (await this.#change(() => this.#client.send(command), before)) !== null;
  }

  /** Returns the item as it is then, null where the condition does not hold. */
  async update(
    key: ItemKey,
    text: string,
    { text: condition, values = {} }: Condition,
  ): Promise<Item | null> {
    const command = new this.#sdk.UpdateItemCommand({
      ...{ TableName: this.name, Key: keyItem(key), ReturnValues: "ALL_NEW" },
      ...{ UpdateExpression: text, ConditionExpression: condition },
      ...valuesInput(values),
    });
    const output = await this.#change(() => this.#client.send(command));
    return output === null ? null : (output.Attributes ?? {});
  }

  async getMany(pk: string, sks: readonly string[]): Promise<Item[]> {
    const found: Item[] = [];
    const all = [...new Set(sks)].map((sk) => keyItem({ pk, sk }));
    await this.#inBatches(all, GET_KEYS_MAX, async (Keys) => {
      const input = { RequestItems: { [this.name]: { Keys, ConsistentRead: true } } };
      const command = new this.#sdk.BatchGetItemCommand(input);
      const output = await this.#calls.call(() => this.#client.send(command));
      found.push(...(output.Responses?.[this.name] ?? []));
      return output.UnprocessedKeys?.[this.name]?.Keys ?? [];
    });
    return found;
  }

  async removeMany(pk: string, sks: readonly string[]): Promise<void> {
    const all = sks.map((sk) => keyItem({ pk, sk }));
    await this.#inBatches(all, REMOVE_KEYS_MAX, async (keys) => {
      const requests = keys.map((Key) => ({ DeleteRequest: { Key } }));
      const input = { RequestItems: { [this.name]: requests } };
      const command = new this.#sdk.BatchWriteItemCommand(input);
      const output = await this.#calls.call(() => this.#client.send(command));
      const left = output.UnprocessedItems?.[this.name] ?? [];
      return left.flatMap(({ DeleteRequest }): Item[] => {
        return DeleteRequest?.Key === undefined ? [] : [DeleteRequest.Key];
      });
    });
  }

  /** Returns items in the order of their sort keys. */
  async query(
    pk: string,
    { from, isFromInside, below }: KeyRange,
    options: { isReverse?: boolean; isKeysOnly?: boolean; limit: number },
  ): Promise<Item[]> {
    const found: Item[] = [];
    let start: Item | undefined;
    while (found.length < options.limit) {
      const command = new this.#sdk.QueryCommand({
        TableName: this.name,
        ConsistentRead: true,
        KeyConditionExpression: "pk = :pk AND sk BETWEEN :from AND :below",
        ExpressionAttributeValues: {
          ":pk": { S: pk },
          ":from": { S: from },
          ":below": { S: below },
        },
        ScanIndexForward: options.isReverse !== true,
        // The ends may be among them.
        Limit: options.limit - found.length + 2,
        ...(options.isKeysOnly === true ? { ProjectionExpression: "sk" } : {}),
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
      });
      const output = await this.#calls.call(() => this.#client.send(command));
      const inside = (output.Items ?? []).filter(({ sk }) => {
        return sk?.S !== below && (isFromInside || sk?.S !== from);
      });
      found.push(...inside);
      start = output.LastEvaluatedKey;
      if (start === undefined) break;
    }
    return found.slice(0, options.limit);
  }

  async #change<Output>(
    send: () => Promise<Output>,
    before?: () => Promise<void>,
  ): Promise<Output | null> {
    return await this.#calls.call(async () => {
      await before?.();
      try {
        return await send();
      } catch (error) {
        const isRefused =
          error instanceof Error && error.name === "ConditionalCheckFailedException";
        if (isRefused) return null;
        throw error;
      }
    });
  }

  /** Works through all keys, of which the server may leave some each time. */
  async #inBatches(
    keys: readonly Item[],
    batchMax: number,
    work: (batch: Item[]) => Promise<Item[]>,
  ): Promise<void> {
    const waiting = [...keys];
    let idleTries = 0;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchMax);
      const left = await work(batch);
      waiting.unshift(...left);
      if (left.length < batch.length) {
        idleTries = 0;
        continue;
      }
      idleTries += 1;
      if (idleTries > IDLE_TRIES_MAX) await this.#calls.call(() => Promise.reject(new Throttled()));
      await delay(Math.min(PAUSE_MS_MAX, PAUSE_MS_FIRST * 2 ** idleTries) * Math.random());
    }
  }
}

/** The server has done nothing of what it was asked for, again and again. */
class Throttled extends Error {
  override readonly name = "ThrottlingException";
  override readonly message = "the table has no capacity left";
}

function keyItem({ pk, sk }: ItemKey): Item {
  return { pk: { S: pk }, sk: { S: sk } };
}

function conditionInput(condition: Condition | undefined) {
  if (condition === undefined) return {};
  return { ConditionExpression: condition.text, ...valuesInput(condition.values ?? {}) };
}

function valuesInput(values: Item) {
  return Object.keys(values).length === 0 ? {} : { ExpressionAttributeValues: values };
}
