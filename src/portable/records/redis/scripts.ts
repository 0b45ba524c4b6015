import { createHash } from "node:crypto";

/** A script of the server's, and the name that the server knows it by once it has run. */
export interface ServerScript {
  text: string;
  sha: string;
}

/** What {@link WRITE} answers first. */
export const ANSWERS = { refused: 0, done: 1, isNew: 2 } as const;

/**
 * One write: conditions, and all changes, while nothing else happens.
 *
 * Keys: the values, the order of their keys, the facts of the thread. Arguments: whether a thread may
 * be made; the id of the write, by which it is known when an answer was lost; the key that has to be
 * there, and the revision, or empty texts; then each change as kind, key and value.
 */
export const WRITE = script(`
  local revision = redis.call('HGET', KEYS[3], 'revision')
  local isAgain = revision and redis.call('HGET', KEYS[3], 'write') == ARGV[2]
  if not isAgain then
    if ARGV[4] ~= '' and (revision or '0') ~= ARGV[4] then return {${ANSWERS.refused}} end
    if ARGV[3] ~= '' and redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then
      return {${ANSWERS.refused}}
    end
  end
  if not revision and ARGV[1] == '0' then return {${ANSWERS.isNew}} end
  redis.call('HINCRBY', KEYS[3], 'revision', 1)
  redis.call('HSET', KEYS[3], 'write', ARGV[2])
  local answer = {${ANSWERS.done}}
  for at = 5, #ARGV, 3 do
    local kind, key, value = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    if kind == 'remove' then
      redis.call('HDEL', KEYS[1], key)
      redis.call('ZREM', KEYS[2], key)
    elseif kind == 'replace' or redis.call('HEXISTS', KEYS[1], key) == 0 then
      redis.call('HSET', KEYS[1], key, value)
      redis.call('ZADD', KEYS[2], 0, key)
    elseif kind == 'first' and redis.call('HGET', KEYS[1], key) ~= value then
      answer[#answer + 1] = key
    end
  end
  return answer`);

/**
 * Records in order. Keys: the values, the order of their keys. Arguments: the ends as ZRANGEBYLEX has
 * them, whether from the greatest down, how many, whether with values.
 */
export const SCAN = script(`
  local keys
  if ARGV[3] == '1' then
    keys = redis.call('ZREVRANGEBYLEX', KEYS[2], ARGV[2], ARGV[1], 'LIMIT', 0, ARGV[4])
  else
    keys = redis.call('ZRANGEBYLEX', KEYS[2], ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[4])
  end
  local answer = {}
  for at, key in ipairs(keys) do
    answer[2 * at - 1] = key
    answer[2 * at] = ARGV[5] == '1' and redis.call('HGET', KEYS[1], key) or ''
  end
  return answer`);

function script(text: string): ServerScript {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}
