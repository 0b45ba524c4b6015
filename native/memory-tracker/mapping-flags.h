/* The flags of a process's mappings, as /proc/PID/smaps tells them, without the look at each page that it takes. */
#ifndef MAPPING_FLAGS_H
#define MAPPING_FLAGS_H

#include <stddef.h>
#include <stdint.h>

/* As many as the kernel lets a process have (vm.max_map_count), and their lines. */
#define MAPPINGS_MAX (1u << 16)
#define MAPPINGS_TEXT_BYTES (8u << 20)

/* What the program in the kernel tells of each mapping. */
struct mapping {
  uint64_t start, end, flags;
};

/* What is needed to put the text together; the caller's, since it is large. */
struct mappings_room {
  struct mapping all[MAPPINGS_MAX];
  uint64_t seen; /* all flags that any of them has */
  char text[MAPPINGS_TEXT_BYTES];
};

/*
 * Writes what smaps says of the mappings of a process and their flags, and nothing of their pages, into the room:
 * two lines for each. Returns its length; -1 where a mapping has a flag that is not among the known ones, where the
 * process has changed meanwhile, or the kernel does not tell.
 *
 * Requires: `program` is what load_mappings_program returned, here or in another process.
 */
long tell_mappings(int program, uint64_t known, int pid, struct mappings_room *room);

/* Writes the same, as smaps itself says it, looking at each page. Returns its length, or -1. */
long read_smaps(int pid, char *text, size_t bytes);

#endif
