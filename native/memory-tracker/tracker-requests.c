/*
 * The requests of the memory tracker, and what it knows.
 *
 * They are lines of text, one at a time; each has an answer, which ends with a zero:
 *
 *     base             the checkpoint, or "-"
 *     clean            "PID START-TIME" lines of the processes whose clean pages are those of the base
 *     files PID        "START END w" lines, in hexadecimal: mappings of files of a process that are followed,
 *                      and "w" for one that can be written to, "-" for another
 *     begin ID         from now on nothing is clean since the base
 *     protect PID      "ok"; "want": a descriptor is needed
 *     register PID     the same, where whoever asks protects what was written himself
 *     forget PID       follows it no longer
 *     take PID         with a descriptor that was made in the process: "ok" or "no"
 *     end              forgets the processes that were not protected
 *     mappings         "ok FLAGS" with a descriptor for mapping-flags.h, and the flags that it knows, in
 *                      hexadecimal; "no" without one
 *     commit ID        "ok" where all between begin and end was for this checkpoint
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tracker.h"

#define ID_BYTES 64
#define LINE_BYTES 40
/* How the daemon names a copy of memory that comes before a checkpoint. */
#define AHEAD_END "-ahead"

struct followed {
  pid_t pid;
  uint64_t start_time;
  int uffd;
  bool is_protected; /* since the last begin */
  struct files files;
};

static struct followed followed[FOLLOWED_MAX];
static size_t followed_count;
static char base[ID_BYTES] = "-", begun[ID_BYTES] = "-";
static bool is_ended;
/* Tells the flags of mappings. */
static int mappings_program = -1;
static uint64_t known_flags;
static bool is_program_due = true;

static void forget(struct followed *process) {
  close(process->uffd);
  *process = followed[--followed_count];
}

static struct followed *find(pid_t pid) {
  for (size_t i = 0; i < followed_count; i++) {
    if (followed[i].pid == pid) return &followed[i];
  }
  return NULL;
}

static bool is_same(const struct followed *process) {
  return start_time(process->pid) == process->start_time;
}

static const char *begin(const char *id) {
  strcpy(base, "-");
  is_ended = false;
  snprintf(begun, sizeof begun, "%s", id);
  for (size_t i = 0; i < followed_count; i++) followed[i].is_protected = false;
  return "ok";
}

static const char *protect_again(pid_t pid, bool (*act)(pid_t pid, int uffd, struct files *files)) {
  struct followed *process = find(pid);
  if (process != NULL && is_same(process) && act(pid, process->uffd, &process->files)) {
    process->is_protected = true;
    return "ok";
  }
  if (process != NULL) forget(process);
  return followed_count < FOLLOWED_MAX ? "want" : "no";
}

static const char *leave(pid_t pid) {
  struct followed *process = find(pid);
  if (process != NULL) forget(process);
  return "ok";
}

/* Owns the descriptor. */
static const char *take(pid_t pid, int uffd) {
  struct followed process = {.pid = pid, .start_time = start_time(pid), .uffd = uffd, .is_protected = true};
  if (uffd < 0) return "no";
  if (followed_count < FOLLOWED_MAX && find(pid) == NULL && process.start_time != 0 && prepare_uffd(uffd) &&
      protect(pid, uffd, &process.files)) {
    followed[followed_count++] = process;
    return "ok";
  }
  close(uffd);
  return "no";
}

static const char *end(void) {
  for (size_t i = followed_count; i > 0; i--) {
    if (!followed[i - 1].is_protected) forget(&followed[i - 1]);
  }
  is_ended = strcmp(begun, "-") != 0;
  return "ok";
}

static const char *commit(const char *id) {
  if (!is_ended || strcmp(begun, id) != 0) return "no";
  strcpy(base, begun);
  strcpy(begun, "-");
  is_ended = false;
  return "ok";
}

static const char *list_clean(void) {
  static char text[FOLLOWED_MAX * LINE_BYTES + 1];
  size_t length = 0;
  text[0] = 0;
  if (strcmp(base, "-") == 0) return text;
  for (size_t i = 0; i < followed_count; i++) {
    if (!is_same(&followed[i])) continue;
    length += (size_t)snprintf(text + length, LINE_BYTES, "%d %llu\n", followed[i].pid,
                               (unsigned long long)followed[i].start_time);
  }
  return text;
}

static const char *list_files(pid_t pid) {
  static char text[FILES_MAX * LINE_BYTES + 1];
  struct followed *process = find(pid);
  size_t length = 0;
  text[0] = 0;
  if (process != NULL) note_now(pid, &process->files);
  for (size_t i = 0; process != NULL && i < process->files.count; i++) {
    length += (size_t)snprintf(text + length, LINE_BYTES, "%llx %llx %c\n",
                               (unsigned long long)process->files.all[i].start,
                               (unsigned long long)process->files.all[i].end,
                               process->files.all[i].is_writable ? 'w' : '-');
  }
  return text;
}

static const char *give_program(int *given) {
  static char text[LINE_BYTES];
  if (mappings_program < 0) return "no";
  *given = mappings_program;
  snprintf(text, sizeof text, "ok %llx", (unsigned long long)known_flags);
  return text;
}

/*
 * It takes 10 to 100 ms, in which nobody is answered, and the first checkpoint has to be over for anything to be gained
 * by it. While that is a copy that is made ahead, its processes run, and each moment is more that they write.
 */
void do_what_is_due(void) {
  const char *ahead = strstr(base, AHEAD_END);
  if (!is_program_due || strcmp(base, "-") == 0 || (ahead != NULL && ahead[sizeof AHEAD_END - 1] == 0)) return;
  is_program_due = false;
  mappings_program = load_mappings_program(&known_flags);
}

const char *obey(const char *request, int uffd, int *given) {
  char id[ID_BYTES] = "";
  int pid = 0, is_take = sscanf(request, "take %d", &pid) == 1;
  if (is_take) return take(pid, uffd);
  if (uffd >= 0) close(uffd);
  if (strcmp(request, "base") == 0) return base;
  if (strcmp(request, "clean") == 0) return list_clean();
  if (strcmp(request, "end") == 0) return end();
  if (strcmp(request, "mappings") == 0) return give_program(given);
  if (sscanf(request, "files %d", &pid) == 1) return list_files(pid);
  if (sscanf(request, "begin %63s", id) == 1) return begin(id);
  if (sscanf(request, "protect %d", &pid) == 1) return protect_again(pid, protect);
  if (sscanf(request, "register %d", &pid) == 1) return protect_again(pid, register_new);
  if (sscanf(request, "forget %d", &pid) == 1) return leave(pid);
  if (sscanf(request, "commit %63s", id) == 1) return commit(id);
  return "no";
}
