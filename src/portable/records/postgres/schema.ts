/** The tables and functions that this version reads and writes. */
export const FORMAT = 1;

/** What a change is to {@link writeFunction}. */
export const KINDS = { remove: 0, replace: 1, first: 2, content: 3 } as const;

/** Taken while tables are made, by all Waypoints on the server. */
const LOCK = 0x57_61_79_70;

/**
 * Returns what makes all that is missing, as one transaction.
 *
 * Names and content are bytes: the encoding of the database does not matter to them. What is kept is
 * compressed already where that is of use, so the server does not try.
 *
 * @param schema  as an identifier in quotes
 */
export function schemaSql(schema: string): string {
  return `
    SELECT pg_advisory_xact_lock(${LOCK});
    DO $do$ BEGIN
      IF to_regnamespace('${schema.replaceAll("'", "''")}') IS NULL THEN
        CREATE SCHEMA ${schema};
      END IF;
    END $do$;
    CREATE TABLE IF NOT EXISTS ${schema}.format (version integer NOT NULL);
    INSERT INTO ${schema}.format
      SELECT ${FORMAT} WHERE NOT EXISTS (SELECT FROM ${schema}.format);
    CREATE TABLE IF NOT EXISTS ${schema}.threads (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name bytea NOT NULL UNIQUE,
      revision bigint NOT NULL,
      last_write uuid);
    CREATE TABLE IF NOT EXISTS ${schema}.records (
      thread bigint NOT NULL,
      key text COLLATE "C" NOT NULL,
      value bytea NOT NULL,
      PRIMARY KEY (thread, key));
    ALTER TABLE ${schema}.records ALTER COLUMN value SET STORAGE EXTERNAL;
    ${writeFunction(schema)}
    ${deleteFunction(schema)}`;
}

/**
 * One write, in one message and so one transaction: each statement of a function sees what others have
 * done before it got the lock of the thread.
 *
 * Whoever repeats a write after an answer was lost is known by its id: conditions held when it was
 * made. Changes of one key are in rounds of their own, one after the other.
 */
function writeFunction(schema: string): string {
  return `
    CREATE OR REPLACE FUNCTION ${schema}.write_1(
      p_thread bytea, p_id uuid, p_requires text, p_revision bigint,
      p_keys text[], p_kinds integer[], p_starts integer[], p_lengths integer[],
      p_rounds integer[], p_rounds_count integer, p_content bytea,
      OUT is_done boolean, OUT kept text[])
    LANGUAGE plpgsql AS $function$
    DECLARE
      v_thread bigint; v_revision bigint; v_last uuid; v_round integer; v_kept text[];
    BEGIN
      is_done := false;
      kept := '{}';
      IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
      END IF;
      LOOP
        SELECT id, revision, last_write INTO v_thread, v_revision, v_last
          FROM ${schema}.threads WHERE name = p_thread FOR UPDATE;
        EXIT WHEN FOUND;
        IF p_requires IS NOT NULL OR p_revision > 0 THEN RETURN; END IF;
        INSERT INTO ${schema}.threads (name, revision) VALUES (p_thread, 0)
          ON CONFLICT (name) DO NOTHING;
      END LOOP;
      IF v_last IS DISTINCT FROM p_id THEN
        IF p_revision <> v_revision THEN RETURN; END IF;
        IF p_requires IS NOT NULL AND NOT EXISTS (
          SELECT FROM ${schema}.records WHERE thread = v_thread AND key = p_requires
        ) THEN RETURN; END IF;
      END IF;
      is_done := true;
      UPDATE ${schema}.threads SET revision = revision + 1, last_write = p_id WHERE id = v_thread;
      FOR v_round IN 0 .. p_rounds_count - 1 LOOP
        DELETE FROM ${schema}.records USING unnest(p_keys, p_kinds, p_rounds) AS c(name, kind, round)
          WHERE round = v_round AND kind = ${KINDS.remove} AND thread = v_thread AND key = name;
        INSERT INTO ${schema}.records (thread, key, value)
          SELECT v_thread, name, substring(p_content FROM start FOR length)
          FROM unnest(p_keys, p_kinds, p_starts, p_lengths, p_rounds)
            AS c(name, kind, start, length, round)
          WHERE round = v_round AND kind = ${KINDS.replace}
          ON CONFLICT (thread, key) DO UPDATE SET value = excluded.value;
        INSERT INTO ${schema}.records (thread, key, value)
          SELECT v_thread, name, substring(p_content FROM start FOR length)
          FROM unnest(p_keys, p_kinds, p_starts, p_lengths, p_rounds)
            AS c(name, kind, start, length, round)
          WHERE round = v_round AND kind IN (${KINDS.first}, ${KINDS.content})
          ON CONFLICT (thread, key) DO NOTHING;
        SELECT coalesce(array_agg(key ORDER BY place), '{}') INTO v_kept
          FROM unnest(p_keys, p_kinds, p_starts, p_lengths, p_rounds) WITH ORDINALITY
            AS c(name, kind, start, length, round, place)
          JOIN ${schema}.records ON thread = v_thread AND key = name
          WHERE round = v_round AND kind = ${KINDS.first}
            AND value <> substring(p_content FROM start FOR length);
        kept := kept || v_kept;
      END LOOP;
    END $function$;`;
}

function deleteFunction(schema: string): string {
  return `
    CREATE OR REPLACE FUNCTION ${schema}.delete_1(p_thread bytea) RETURNS void
    LANGUAGE plpgsql AS $function$
    DECLARE v_thread bigint;
    BEGIN
      IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
      END IF;
      SELECT id INTO v_thread FROM ${schema}.threads WHERE name = p_thread FOR UPDATE;
      DELETE FROM ${schema}.records WHERE thread = v_thread;
      DELETE FROM ${schema}.threads WHERE id = v_thread;
    END $function$;`;
}
