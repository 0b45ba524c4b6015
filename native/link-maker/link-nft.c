/*
 * Rules of nft, through its library, which nft itself is a shell around: what it costs to start nft is
 * three times what the work costs. The library is looked for when it is first needed, because a
 * machine on which this is built need not have its headers. Without it the program nft is started.
 */
#define _GNU_SOURCE
#include "link-maker.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIBRARY "libnftables.so.1"
#define SAID_BYTES_MAX (REASON_BYTES_MAX - 64)

struct nft_ctx;

static struct {
  bool is_looked_for, is_there;
  struct nft_ctx *(*make)(uint32_t flags);
  void (*free)(struct nft_ctx *);
  int (*buffer_output)(struct nft_ctx *);
  int (*buffer_error)(struct nft_ctx *);
  const char *(*error)(struct nft_ctx *);
  int (*run)(struct nft_ctx *, const char *);
} library;

static bool has_library(void) {
  if (library.is_looked_for) return library.is_there;
  library.is_looked_for = true;
  void *loaded = dlopen(LIBRARY, RTLD_NOW);
  if (loaded == NULL) return false;
  library.make = (struct nft_ctx *(*)(uint32_t))dlsym(loaded, "nft_ctx_new");
  library.free = (void (*)(struct nft_ctx *))dlsym(loaded, "nft_ctx_free");
  library.buffer_output = (int (*)(struct nft_ctx *))dlsym(loaded, "nft_ctx_buffer_output");
  library.buffer_error = (int (*)(struct nft_ctx *))dlsym(loaded, "nft_ctx_buffer_error");
  library.error = (const char *(*)(struct nft_ctx *))dlsym(loaded, "nft_ctx_get_error_buffer");
  library.run = (int (*)(struct nft_ctx *, const char *))dlsym(loaded, "nft_run_cmd_from_buffer");
  library.is_there = library.make != NULL && library.free != NULL && library.buffer_output != NULL &&
                     library.buffer_error != NULL && library.error != NULL && library.run != NULL;
  return library.is_there;
}

/* A context has a socket of the namespace in which it was made, and remembers links by their names. */
static bool run_in_library(const char *text) {
  struct nft_ctx *context = library.make(0);
  errno = ENOMEM;
  if (context == NULL) return failed("nft");
  bool is_done = library.buffer_output(context) == 0 && library.buffer_error(context) == 0 &&
                 library.run(context, text) == 0;
  if (!is_done) {
    const char *said = library.error(context);
    snprintf(reason, sizeof reason, "nft: %.*s", SAID_BYTES_MAX, said == NULL ? "" : said);
  }
  library.free(context);
  return is_done;
}

static bool write_all(int fd, const char *text) {
  for (size_t left = strlen(text); left > 0;) {
    ssize_t length = write(fd, text, left);
    if (length < 0) return false;
    text += length;
    left -= (size_t)length;
  }
  return true;
}

/* It reads all of the text before it says anything, so that neither waits for the other. */
static bool run_program(const char *text) {
  int input[2], output[2];
  if (pipe2(input, 0) < 0 || pipe2(output, 0) < 0) return failed("pipe");
  pid_t child = vfork();
  if (child == 0) {
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    dup2(output[1], STDERR_FILENO);
    for (int i = 0; i < 2; i++) close(input[i]), close(output[i]);
    execlp("nft", "nft", "-f", "-", (char *)NULL);
    _exit(127);
  }
  close(input[0]);
  close(output[1]);
  if (child < 0) failed("fork");
  else write_all(input[1], text); // One that ends without reading it says why.
  close(input[1]);
  char said[SAID_BYTES_MAX] = "";
  size_t has = 0;
  for (ssize_t length = 1; child > 0 && length > 0;) {
    char rest[SAID_BYTES_MAX];
    length = read(output[0], rest, sizeof rest);
    size_t fits = length > 0 ? (size_t)length : 0;
    if (fits > sizeof said - 1 - has) fits = sizeof said - 1 - has;
    memcpy(said + has, rest, fits);
    has += fits;
  }
  close(output[0]);
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  snprintf(reason, sizeof reason, "nft: %s", has > 0 ? said : "the program cannot be started");
  return false;
}

bool run_nft(const char *place, const char *text) {
  if (!enter(place)) return false;
  bool is_done = has_library() ? run_in_library(text) : run_program(text);
  leave(place);
  return is_done;
}
