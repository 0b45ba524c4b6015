/** Schema changes in order; each runs once, in a transaction. Never edit one that has shipped. */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE sessions (
     id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, state TEXT NOT NULL, base TEXT NOT NULL,
     net TEXT NOT NULL, user TEXT NOT NULL, cwd TEXT NOT NULL, createdAt TEXT NOT NULL,
     head TEXT, forkedFrom TEXT, instance TEXT, instanceCount INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE TABLE instances (
     id TEXT PRIMARY KEY, session TEXT NOT NULL, pid INTEGER, startTicks INTEGER, address TEXT
   ) STRICT;
   CREATE TABLE checkpoints (
     id TEXT PRIMARY KEY, session TEXT NOT NULL, sessionName TEXT NOT NULL, parent TEXT, name TEXT,
     intent TEXT, trigger TEXT NOT NULL, content TEXT NOT NULL, createdAt TEXT NOT NULL,
     pauseMs REAL NOT NULL, totalMs REAL NOT NULL, memoryBytes INTEGER NOT NULL,
     stage TEXT NOT NULL, base TEXT NOT NULL, net TEXT NOT NULL, user TEXT NOT NULL,
     cwd TEXT NOT NULL, terminal INTEGER, kernel TEXT NOT NULL, criu TEXT NOT NULL,
     arch TEXT NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX checkpoints_name ON checkpoints (name) WHERE name IS NOT NULL;
   CREATE INDEX checkpoints_session ON checkpoints (session, createdAt);
   CREATE TABLE operations (
     id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, kind TEXT NOT NULL,
     checkpoint TEXT, undo TEXT, at TEXT NOT NULL, readyMs REAL, stateBefore TEXT
   ) STRICT;
   CREATE INDEX operations_session ON operations (session, id);`,
  `CREATE TABLE forwards (
     hostPort INTEGER PRIMARY KEY, session TEXT NOT NULL, port INTEGER NOT NULL,
     UNIQUE (session, port)
   ) STRICT;`,
  // Lists, as JSON.
  `ALTER TABLE sessions ADD COLUMN binds TEXT NOT NULL DEFAULT '[]';
   ALTER TABLE sessions ADD COLUMN hostMounts TEXT NOT NULL DEFAULT '[]';
   ALTER TABLE checkpoints ADD COLUMN binds TEXT NOT NULL DEFAULT '[]';
   ALTER TABLE checkpoints ADD COLUMN hostMounts TEXT NOT NULL DEFAULT '[]';`,
  `ALTER TABLE sessions ADD COLUMN shell TEXT;
   ALTER TABLE sessions ADD COLUMN memoryLimitBytes INTEGER;
   ALTER TABLE sessions ADD COLUMN cpuLimit REAL;
   ALTER TABLE sessions ADD COLUMN pidsLimit INTEGER;
   ALTER TABLE checkpoints ADD COLUMN shell TEXT;
   ALTER TABLE checkpoints ADD COLUMN memoryLimitBytes INTEGER;
   ALTER TABLE checkpoints ADD COLUMN cpuLimit REAL;
   ALTER TABLE checkpoints ADD COLUMN pidsLimit INTEGER;`,
  "ALTER TABLE checkpoints ADD COLUMN unchangedSince TEXT;",
  `ALTER TABLE instances ADD COLUMN fillingFrom TEXT;`,
  `CREATE TABLE sessionForwards (
     toSession TEXT NOT NULL, toPort INTEGER NOT NULL, session TEXT NOT NULL, port INTEGER NOT NULL,
     PRIMARY KEY (toSession, toPort), UNIQUE (session, port, toSession)
   ) STRICT;`,
  // What an instance had come up against when it ended.
  `ALTER TABLE instances ADD COLUMN memoryHits INTEGER;
   ALTER TABLE instances ADD COLUMN pidsHits INTEGER;
   ALTER TABLE instances ADD COLUMN cpuHeldBackMs INTEGER;`,
  `ALTER TABLE sessions ADD COLUMN standby TEXT;
   ALTER TABLE checkpoints ADD COLUMN heldBy TEXT;
   ALTER TABLE checkpoints ADD COLUMN heldWhy TEXT;`,
  `CREATE TABLE stories (checkpoint TEXT PRIMARY KEY, summary TEXT NOT NULL) STRICT;`,
  `ALTER TABLE stories ADD COLUMN intent TEXT;
   ALTER TABLE stories ADD COLUMN intentSource TEXT;
   CREATE TABLE commands (
     id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, instance TEXT NOT NULL,
     command TEXT NOT NULL, by TEXT NOT NULL, startedAt TEXT NOT NULL, durationMs REAL,
     exitCode INTEGER, output TEXT NOT NULL, outputBytes INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX commands_instance ON commands (instance, id);
   CREATE TABLE captures (
     checkpoint TEXT PRIMARY KEY, instance TEXT NOT NULL, lastCommand INTEGER NOT NULL,
     running TEXT NOT NULL
   ) STRICT;
   CREATE INDEX captures_instance ON captures (instance);`,
  `CREATE TABLE verifications (
     id INTEGER PRIMARY KEY AUTOINCREMENT, checkpoint TEXT NOT NULL, command TEXT NOT NULL,
     exitCode INTEGER NOT NULL, durationMs REAL NOT NULL, at TEXT NOT NULL,
     timedOut INTEGER NOT NULL, output TEXT NOT NULL, outputBytes INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX verifications_checkpoint ON verifications (checkpoint, id);`,
  // What the timeline finds a checkpoint by. Rows of an older index are written anew.
  `ALTER TABLE stories ADD COLUMN indexVersion INTEGER NOT NULL DEFAULT 0;
   CREATE TABLE storyTouched (
     kind TEXT NOT NULL, name TEXT NOT NULL, checkpoint TEXT NOT NULL,
     PRIMARY KEY (kind, name, checkpoint)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX storyTouched_checkpoint ON storyTouched (checkpoint);
   CREATE TABLE storyTexts (checkpoint TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;`,
  "ALTER TABLE checkpoints ADD COLUMN agentSaid TEXT;",
  // What else an operation did, as JSON, and the files that it changed under a running session.
  `ALTER TABLE operations ADD COLUMN detail TEXT;
   CREATE TABLE operationPaths (
     operation INTEGER NOT NULL, path TEXT NOT NULL, PRIMARY KEY (operation, path)
   ) STRICT, WITHOUT ROWID;`,
  // Automatic checkpoints.
  `ALTER TABLE sessions ADD COLUMN auto TEXT;
   ALTER TABLE sessions ADD COLUMN autoPausedAt TEXT;
   ALTER TABLE sessions ADD COLUMN autoFailure TEXT;
   ALTER TABLE sessions ADD COLUMN autoFailedAt TEXT;
   ALTER TABLE checkpoints ADD COLUMN autoCause TEXT;`,
  // Stories that took too much to build.
  `CREATE TABLE storiesOverBudget (
     checkpoint TEXT PRIMARY KEY, count INTEGER NOT NULL, reason TEXT NOT NULL
   ) STRICT;`,
  "ALTER TABLE checkpoints ADD COLUMN imagesSums TEXT;",
  // A session's share of the store.
  `ALTER TABLE sessions ADD COLUMN diskLimitBytes INTEGER;
   ALTER TABLE checkpoints ADD COLUMN diskLimitBytes INTEGER;`,
  // Which command marks a checkpoint follows from who asked for it.
  "ALTER TABLE verifications ADD COLUMN by TEXT NOT NULL DEFAULT 'verify';",
  // How the command ended that a checkpoint comes after. Rows of an older index are written anew.
  `ALTER TABLE stories ADD COLUMN intentExitCode INTEGER;
   ALTER TABLE stories ADD COLUMN failedAfter TEXT;
   ALTER TABLE stories ADD COLUMN failedAfterExitCode INTEGER;`,
  // The command that a session is verified with: as words in JSON, and as it is told.
  `ALTER TABLE sessions ADD COLUMN verifyWords TEXT;
   ALTER TABLE sessions ADD COLUMN verifyCommand TEXT;`,
  // "off" where automatic checkpoints are not verified by themselves.
  "ALTER TABLE sessions ADD COLUMN verifyAutomatic TEXT;",
  // Labels that several checkpoints may share, as a list in JSON.
  "ALTER TABLE checkpoints ADD COLUMN tags TEXT;",
  // What the agent has beside its machine, and the task that it was at.
  `ALTER TABLE sessions ADD COLUMN agentState TEXT;
   ALTER TABLE checkpoints ADD COLUMN agentState TEXT;
   ALTER TABLE checkpoints ADD COLUMN task TEXT;`,
  // What a person has to approve in it.
  "ALTER TABLE sessions ADD COLUMN approval TEXT;",
  // What it may reach.
  `ALTER TABLE sessions ADD COLUMN netAllow TEXT;
   ALTER TABLE checkpoints ADD COLUMN netAllow TEXT;`,
  // What was copied in the pause, where writes are followed.
  "ALTER TABLE checkpoints ADD COLUMN pauseBytes INTEGER;",
  // That its processes are being ended on purpose.
  "ALTER TABLE instances ADD COLUMN endedFor TEXT;",
];
