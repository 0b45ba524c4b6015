/*
 * Rules of nft, through its library, which nft itself is a shell around: what it costs to start nft is
 * three times what the work costs. It is loaded when it is first needed, because a machine on which this
 * is built need not have its headers; where nft runs, its library is.
 */
#define _GNU_SOURCE
#include "link-maker.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>

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

static bool not_loaded(void) {
  snprintf(reason, sizeof reason, "nft: " LIBRARY " cannot be loaded");
  return false;
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

bool run_nft(const char *place, const char *text) {
  if (!enter(place)) return false;
  bool is_done = has_library() ? run_in_library(text) : not_loaded();
  leave(place);
  return is_done;
}
