/* What the files of the live shell, shell*.c and typed.c, offer each other and the rest of init. */
#ifndef WAYPOINT_SHELL_H
#define WAYPOINT_SHELL_H

#include "init.h"

/* ---- shell.c: commands in the live shell of a terminal ---- */

#define SHELL_TTY 1u   /* run on the terminal itself: nothing is redirected */
#define SHELL_SHOW 2u  /* show prompt, command and output to those who watch the terminal */
#define SHELL_POSIX 4u /* the shell has no key binding: type a line */
#define SHELL_MORE 8u  /* more of the script follows */

int shell_prepare_terminal(struct terminal *terminal);
void shell_forget_terminal(struct terminal *terminal);
struct command *shell_command(struct terminal *terminal, uint32_t flags, const uint8_t *script,
                              uint32_t count);
int shell_append(struct command *command, uint32_t flags, const uint8_t *script, uint32_t count);
void shell_read_control(struct terminal *terminal);
/* Shows what the running command printed before what was just read from the terminal. */
void shell_before_output(struct terminal *terminal);
void shell_ended(struct terminal *terminal, int wait_status);
void shell_forget_command(struct command *command);
/* Types what can be typed now; returns how long the loop may sleep, -1 for ever. */
int shell_tick(void);

/* ---- shell-typing.c: has the shell take a command ---- */

/* Types the next command of the queue, if there is one and the shell is at its prompt. */
void shell_type_next(struct terminal *terminal, uint64_t now);
/* Types the current command again if the shell does not answer, and gives up in the end. */
void shell_urge(struct terminal *terminal, uint64_t now);
/* Has a shell say that it is back at its prompt: one without a key binding, or that was interrupted. */
void shell_ask_for_prompt(struct terminal *terminal, uint64_t now);
/* The command that comes next; `NULL` when there is none or its script is not complete. */
struct command *shell_next_queued(const struct terminal *terminal);
bool shell_at_prompt(const struct terminal *terminal, bool has_line_editor);

/* ---- shell-kind.c: what the shell is, and what it needs ---- */

#define SHELL_STARTUP "/run/waypoint/shrc" /* what a POSIX shell of ours sources at its start */
enum shell_kind { KIND_UNKNOWN, KIND_BASH, KIND_POSIX, KIND_ZSH, KIND_FISH };
enum shell_kind shell_kind_of(const struct terminal *terminal);
/* The shell that runs now has said that it knows our key sequence. */
void shell_knows_keys(struct terminal *terminal);
/* Whether a command is started by typing a line, for want of the key sequence. */
bool shell_needs_line(const struct terminal *terminal, const struct command *command);
void shell_hide_tty(const struct program *program);
void shell_show_tty(void);
/* Returns how long the loop may sleep, -1 when nothing is hidden. */
int shell_show_tty_in_time(uint64_t now);

/* ---- shell-signal.c ---- */

/* Signals what a running command has in the terminal's foreground. */
int shell_signal(struct command *command, int signal_number);
/* Delivers a signal that waits, at its moment; returns how long to wait for that, -1 for ever. */
int shell_send_due_signal(struct command *command, uint64_t now);

/* ---- typed.c: what a person types into the shell ---- */

/* Takes a report of a typed command; false when the line is none. */
bool typed_take_report(struct terminal *terminal, const char *line);
/* Notes the end of the typed command that runs, if one does; -1 where nobody knows how it ended. */
void typed_end(struct terminal *terminal, int exit_code);

/* ---- shell-files.c: the files through which init and the shell speak ---- */

void shell_path(char *into, size_t size, const struct terminal *terminal, const char *name);
void shell_file_path(char *into, size_t size, const struct command *command, const char *suffix);
int shell_create_directory(const struct terminal *terminal);
void shell_remove_directory(const struct terminal *terminal);
int shell_open_fifo(const char *path, const struct terminal *terminal);
int shell_write_script(const struct command *command, const uint8_t *script, uint32_t count);
int shell_write_helpers(const struct terminal *terminal);
int shell_write_wrapper(const struct command *command);
int shell_make_streams(struct command *command);
/* Opens what the command prints into; from then on the shell runs it. */
void shell_open_streams(struct command *command);
void shell_remove_files(const struct command *command);

#endif
