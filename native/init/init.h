/*
 * Shared types of waypoint-init, the first process of a session.
 *
 * Everything is single-threaded and driven by one poll loop. No buffer grows with the amount of
 * output: each object maps its rings once, and pages are only used when written. Only what the pipes
 * of a command hold at its end is taken at once, into a larger ring if need be.
 */
#ifndef WAYPOINT_INIT_H
#define WAYPOINT_INIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TERMINAL_RING_BYTES (256u * 1024)
#define STREAM_RING_BYTES (64u * 1024)
#define INPUT_RING_BYTES (64u * 1024)
#define CONTROL_LINE_BYTES (16u * 1024) /* a typed command is reported on one line */
#define PAYLOAD_BYTES_MAX (64u * 1024)
#define CONNECTIONS_MAX 128
#define SCRIPT_BYTES_MAX (1024u * 1024)

#define RUN_DIR "/run/waypoint"
#define SOCKET_PATH RUN_DIR "/init.sock"
#define TERMINALS_DIR RUN_DIR "/t"

/* ---- ring.c: a byte ring addressed by absolute offsets ---- */

struct ring {
  uint8_t *data;
  uint32_t size_bytes;
  uint64_t start; /* offset of the oldest byte kept */
  uint64_t end;   /* offset after the newest byte */
};

bool ring_open(struct ring *ring, uint32_t size_bytes);
void ring_close(struct ring *ring);
uint32_t ring_used(const struct ring *ring);
uint32_t ring_room(const struct ring *ring);
/* Appends, forgetting the oldest bytes when there is no room. */
void ring_append(struct ring *ring, const uint8_t *bytes, uint32_t count);
/* Maps a larger one in its place if need be; false when there is no memory for that. */
bool ring_make_room(struct ring *ring, uint32_t count);
/* Appends program output as a terminal would show it: LF becomes CR LF. */
void ring_append_as_tty(struct ring *ring, const uint8_t *bytes, uint32_t count);
/* Copies up to `count` bytes from `offset`, which must lie within the ring. */
uint32_t ring_copy(const struct ring *ring, uint64_t offset, uint8_t *into, uint32_t count);
void ring_forget_until(struct ring *ring, uint64_t offset);

/* ---- program.c: what to start, and starting it ---- */

struct program {
  uint32_t uid, gid;
  uint32_t group_count, argument_count, environment_count;
  gid_t *groups;
  char *cwd;
  char **arguments;   /* NULL-terminated */
  char **environment; /* NULL-terminated, with one free slot for init's own variable */
  size_t mapped_bytes;
};

/* Parses the wire form into one mapping of its own; NULL with errno when it is malformed. */
struct program *program_parse(const uint8_t *bytes, uint32_t count);
void program_free(struct program *program);
/*
 * Starts the program. `tty_path` makes that terminal its controlling one and its stdio; otherwise
 * `stdio[0..2]` become its stdio. Returns the pid, or -1 with errno of the step that failed.
 */
pid_t program_start(const struct program *program, const char *tty_path, const int stdio[3]);

/* ---- terminal.c ---- */

/*
 * Of the images of a dump the daemon reads what a terminal showed. It finds one by the mark at the
 * beginning of a page; what follows is in docs/init-protocol.md and in src/linux/terminal/read-init-memory.ts.
 */
#define TERMINAL_MARK "waypoint-term-2"

struct terminal {
  char mark[16];
  uint32_t id;
  uint16_t cols, rows; /* as last seen: a program may have changed them */
  struct ring output;
  struct ring typed; /* what was typed into the shell, as lines of text (typed.c) */
  struct terminal *next;
  int master;
  int poll_slot, control_slot;
  pid_t pid;
  bool is_alive;
  bool is_hung_up; /* nobody has the terminal open: polling it all the time would spin */
  uint64_t hung_up_at_ms;
  bool is_closed;  /* freed at the end of the loop's round */
  int exit_code, exit_signal;
  struct ring input; /* written by clients, not yet taken by the kernel */
  struct program *program;
  uint64_t input_at_ms;
  char variable[32]; /* WAYPOINT_TERMINAL=ID, in the program's environment */

  /* the live shell (shell.c) */
  int control_fd; /* FIFO on which the shell reports */
  int answer_fd;  /* FIFO from which it learns that a report was taken */
  uint32_t control_length;
  struct command *current;
  uint64_t typed_at_ms, retry_at_ms, idle_since_ms;
  int attempts;
  int kind;             /* enum shell_kind, when the last command began */
  int keys_kind;        /* the kind of the shell that said that it knows our key sequence */
  bool has_no_keys;     /* the shell does not answer to it all the same: type lines */
  bool is_sync_pending; /* POSIX shells: the line that reports the prompt is typed */
  uint64_t typed_number;
  bool is_typed_running;
  char control_line[CONTROL_LINE_BYTES];
};

_Static_assert(offsetof(struct terminal, id) == 16 && offsetof(struct terminal, output) == 24 &&
                   offsetof(struct terminal, typed) == 56 &&
                   offsetof(struct ring, size_bytes) == 8 && offsetof(struct ring, end) == 24,
               "the daemon reads this from images");

extern struct terminal *terminals;

struct terminal *terminal_find(uint32_t id);
struct terminal *terminal_open(struct program *program, uint16_t cols, uint16_t rows);
int terminal_respawn(struct terminal *terminal);
void terminal_read(struct terminal *terminal, short events);
/* Notes the size that the terminal has now. */
void terminal_note_size(struct terminal *terminal);
/* Takes all that was printed until now; the kernel hands over what is on its way first. */
void terminal_drain(struct terminal *terminal);
void terminal_flush_input(struct terminal *terminal);
void terminal_program_ended(struct terminal *terminal, int wait_status);
int terminal_signal(struct terminal *terminal, int signal_number);
pid_t terminal_foreground(const struct terminal *terminal);
void terminal_close(struct terminal *terminal);
void terminals_sweep(void);

/* ---- command.c ---- */

enum command_state { COMMAND_QUEUED, COMMAND_TYPED, COMMAND_RUNNING, COMMAND_ENDED };

/* Why a command ended; part of the protocol. */
enum end_reason {
  END_EXITED = 0,    /* it ended by itself or by a signal */
  END_ABORTED = 1,   /* the shell is back at its prompt without having finished it */
  END_SHELL = 2,     /* the shell itself ended */
  END_REFUSED = 3,   /* the shell did not take the command */
  END_CANCELLED = 4, /* ended while it was still queued */
  END_SHELL_LOST = 5, /* the shell ended before it took the command */
};

struct stream {
  int fd;
  int keep_fd; /* our own write end of a FIFO, so that it has no end of file before the command ends */
  int poll_slot;
  struct ring ring;
  uint32_t owed_bytes; /* bytes in the pipe at the command's end: they still belong to it */
};

struct command {
  struct command *next;
  uint32_t id;
  bool is_shell;
  enum command_state state;
  struct terminal *terminal; /* shell commands only */
  uint32_t flags;
  pid_t pid;
  int input_fd;
  int input_slot;
  bool is_input_closing;
  struct ring input;
  struct stream streams[2]; /* stdout, stderr */
  bool is_discarded;
  bool is_script_complete;
  uint32_t script_bytes;
  int exit_code;
  uint32_t exit_signal;
  enum end_reason reason;
  uint64_t interrupted_at_ms; /* by whoever asked for it or by a person: the shell may have forgotten to report its prompt; 0: not */
  int due_signal; /* waits for a moment at which it arrives; 0 without one */
  int signal_looks;
  uint64_t started_at_ms;
};

extern struct command *commands;

struct command *command_find(uint32_t id);
struct command *command_new(bool is_shell);
struct command *command_spawn(const struct program *program);
void command_read(struct command *command, struct stream *stream, short events);
/* Reads what an output holds now, without waiting. */
void command_read_all(struct command *command);
void command_flush_input(struct command *command);
void command_end(struct command *command, int exit_code, uint32_t exit_signal, enum end_reason reason);
int command_signal(struct command *command, int signal_number);
void command_discard(struct command *command);
/* Whether all output that belongs to the ended command is in its rings. */
bool command_is_complete(const struct command *command);
bool stream_wants_reading(const struct command *command, const struct stream *stream);
void stream_close(struct stream *stream);
void commands_sweep(void);
uint32_t next_object_id(void);

/* ---- connection.c and requests.c ---- */

struct connection {
  int fd; /* -1: free slot */
  int poll_slot;
  bool said_hello, is_ended, is_blocked, is_failed;
  uint8_t *in, *out;
  uint32_t in_length, out_start, out_length;

  /* set by READ: the connection is a stream from then on */
  uint32_t stream_id;
  bool is_exit_sent;
  uint64_t offsets[2];
};

extern struct connection connections[CONNECTIONS_MAX];

void connections_accept(int listener);
/* What the loop has to wait for on this connection. */
short connection_events(const struct connection *connection);
void connection_receive(struct connection *connection, short events);
void connection_serve(struct connection *connection);
void connection_close(struct connection *connection);

/* Handles one request; false when it cannot be taken now and must be tried again. */
bool request_handle(struct connection *connection, uint16_t kind, uint32_t id, const uint8_t *payload,
                    uint32_t count);
/* Fills the empty output buffer of a connection that reads an object. */
void stream_pump(struct connection *connection);
/* Writes the text lines of LIST; returns their length. */
uint32_t list_objects(uint32_t what, uint32_t after_id, char *into, uint32_t size);

/* ---- base ---- */

uint64_t now_ms(void);
void *map_bytes(size_t count);

#endif
