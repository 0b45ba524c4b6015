/*
 * Loads the program that tells the flags of a process's mappings, and tries it before anybody relies on it.
 *
 * The kernel calls it for each mapping of a process (an iterator, Linux 5.12; of one process, 6.1). It is small enough
 * to be written down in the kernel's own instructions; where the flags are in the kernel's structures, its own
 * description of them (BTF) says.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mapping-flags.h"
#include "tracker.h"

#ifndef BTF_KIND_ENUM64
#define BTF_KIND_ENUM64 19
#endif
/* Of an enumeration of 64 bits: name, lower and upper half (linux/btf.h of 6.0 and newer). */
#define ENUM64_BYTES 12
#ifndef MAP_DROPPABLE
#define MAP_DROPPABLE 0x08
#endif
#define SYS_MSEAL 462
#define TYPES_PATH "/sys/kernel/btf/vmlinux"
#define TYPES_BYTES_MAX (64u << 20)
#define NESTED_MAX 32
#define OFFSET_UNKNOWN (-1)
#define SAMPLE_BYTES (2ul << 20)
#define USER_MODE_ONLY 1

/* The kernel's description of its types. */
struct types {
  const char *bytes;
  size_t length;
  const struct btf_header *header;
};

/* What is looked for in it. */
struct places {
  uint32_t iterator;
  int start, end, flags; /* in vm_area_struct */
};

static const char *name_of(const struct types *types, uint32_t at) {
  return at < types->header->str_len ? types->bytes + types->header->hdr_len + types->header->str_off + at : "";
}

/* How many bytes a type takes in the description, with what belongs to it. */
static size_t size_of(const struct btf_type *type) {
  size_t each = 0, count = BTF_INFO_VLEN(type->info);
  switch (BTF_INFO_KIND(type->info)) {
    case BTF_KIND_INT: case BTF_KIND_VAR: case BTF_KIND_DECL_TAG: each = sizeof(uint32_t), count = 1; break;
    case BTF_KIND_ARRAY: each = sizeof(struct btf_array), count = 1; break;
    case BTF_KIND_STRUCT: case BTF_KIND_UNION: each = sizeof(struct btf_member); break;
    case BTF_KIND_ENUM: each = sizeof(struct btf_enum); break;
    case BTF_KIND_ENUM64: each = ENUM64_BYTES; break;
    case BTF_KIND_FUNC_PROTO: each = sizeof(struct btf_param); break;
    case BTF_KIND_DATASEC: each = sizeof(struct btf_var_secinfo); break;
  }
  return sizeof *type + each * count;
}

/* Goes through the types from the first, whose number is 1; NULL at the end. */
static const struct btf_type *next_type(const struct types *types, const struct btf_type *before) {
  const char *first = types->bytes + types->header->hdr_len + types->header->type_off;
  const char *at = before == NULL ? first : (const char *)before + size_of(before);
  const struct btf_type *type = (const struct btf_type *)at;
  bool is_in = at + sizeof *type <= first + types->header->type_len;
  return is_in && at + size_of(type) <= first + types->header->type_len ? type : NULL;
}

static const struct btf_type *type_of(const struct types *types, uint32_t number) {
  const struct btf_type *type = next_type(types, NULL);
  for (uint32_t at = 1; type != NULL && at < number; at++) type = next_type(types, type);
  return number == 0 ? NULL : type;
}

/* Notes where members are, also those of structures without a name in it. */
static void find_members(const struct types *types, const struct btf_type *type, int base, struct places *places,
                         int depth) {
  const struct btf_member *members = (const struct btf_member *)(type + 1);
  for (uint32_t i = 0; i < BTF_INFO_VLEN(type->info); i++) {
    bool has_bits = BTF_INFO_KFLAG(type->info);
    uint32_t bits = has_bits ? BTF_MEMBER_BIT_OFFSET(members[i].offset) : members[i].offset;
    int offset = base + (int)(bits / 8);
    const char *name = name_of(types, members[i].name_off);
    if (strcmp(name, "vm_start") == 0) places->start = offset;
    if (strcmp(name, "vm_end") == 0) places->end = offset;
    if (strcmp(name, "vm_flags") == 0) places->flags = offset;
    const struct btf_type *inner = *name == 0 && depth < NESTED_MAX ? type_of(types, members[i].type) : NULL;
    uint32_t kind = inner == NULL ? BTF_KIND_UNKN : BTF_INFO_KIND(inner->info);
    if (kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION) find_members(types, inner, offset, places, depth + 1);
  }
}

static bool find_places(const struct types *types, struct places *places) {
  const struct btf_type *type = NULL;
  *places = (struct places){0, OFFSET_UNKNOWN, OFFSET_UNKNOWN, OFFSET_UNKNOWN};
  for (uint32_t number = 1; (type = next_type(types, type)) != NULL; number++) {
    uint32_t kind = BTF_INFO_KIND(type->info);
    const char *name = name_of(types, type->name_off);
    if (kind == BTF_KIND_FUNC && strcmp(name, "bpf_iter_task_vma") == 0) places->iterator = number;
    if (kind == BTF_KIND_STRUCT && strcmp(name, "vm_area_struct") == 0) find_members(types, type, 0, places, 0);
  }
  return places->iterator != 0 && places->start >= 0 && places->end >= 0 && places->flags >= 0;
}

/* Reads the description into memory that is given back at once: a session's tracker stays small. */
static bool read_places(struct places *places) {
  struct stat status;
  int fd = open(TYPES_PATH, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  size_t bytes_max = fstat(fd, &status) == 0 && status.st_size < TYPES_BYTES_MAX ? (size_t)status.st_size : 0;
  char *bytes = bytes_max == 0 ? MAP_FAILED
                               : mmap(NULL, bytes_max, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  size_t length = 0;
  for (ssize_t part = 1; bytes != MAP_FAILED && part > 0 && length < bytes_max; length += part > 0 ? (size_t)part : 0)
    part = read(fd, bytes + length, bytes_max - length);
  close(fd);
  const struct btf_header *header = (const struct btf_header *)bytes;
  bool is_whole = bytes != MAP_FAILED && length == bytes_max && length > sizeof *header &&
                  header->magic == BTF_MAGIC &&
                  (uint64_t)header->hdr_len + header->type_off + header->type_len <= length &&
                  (uint64_t)header->hdr_len + header->str_off + header->str_len <= length &&
                  header->str_len > 0 && bytes[header->hdr_len + header->str_off + header->str_len - 1] == 0;
  struct types types = {bytes, length, header};
  bool is_found = is_whole && find_places(&types, places);
  if (bytes != MAP_FAILED) munmap(bytes, bytes_max);
  return is_found;
}

/* An instruction, and the short names of what is used. */
#define DO(operation, to, from, at, value) \
  ((struct bpf_insn){.code = (operation), .dst_reg = (to), .src_reg = (from), .off = (at), .imm = (value)})
#define LOAD(to, from, at) DO(BPF_LDX | BPF_DW | BPF_MEM, to, from, (int16_t)(at), 0)
#define STORE(to, at, from) DO(BPF_STX | BPF_DW | BPF_MEM, to, from, (int16_t)(at), 0)
#define SET(to, value) DO(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value)
/* In the argument, struct bpf_iter__task_vma: the file that is read, in its first member, and the mapping. */
#define AT_META 0
#define AT_MAPPING 16
#define ROOM ((int)sizeof(struct mapping))

static int load(const struct places *places) {
  struct bpf_insn program[] = {
      LOAD(7, 1, AT_MAPPING),
      DO(BPF_JMP | BPF_JEQ | BPF_K, 7, 0, 12, 0), /* the last call has none */
      LOAD(6, 1, AT_META),
      LOAD(1, 6, 0),
      LOAD(2, 7, places->start),
      STORE(10, -ROOM, 2),
      LOAD(2, 7, places->end),
      STORE(10, -ROOM + 8, 2),
      LOAD(2, 7, places->flags),
      STORE(10, -ROOM + 16, 2),
      DO(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
      DO(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -ROOM),
      SET(3, ROOM),
      DO(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_seq_write),
      SET(0, 0),
      DO(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
  };
  union bpf_attr attributes = {.prog_type = BPF_PROG_TYPE_TRACING,
                               .expected_attach_type = BPF_TRACE_ITER,
                               .attach_btf_id = places->iterator,
                               .insns = (uintptr_t)program,
                               .insn_cnt = sizeof program / sizeof program[0],
                               .license = (uintptr_t) "GPL",
                               .prog_name = "mappings"};
  return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attributes, sizeof attributes);
}

static char *make_sample(int protection, int flags) {
  char *sample = mmap(NULL, SAMPLE_BYTES, protection, flags | MAP_ANONYMOUS, -1, 0);
  return sample == MAP_FAILED ? NULL : sample;
}

/* Makes mappings of all kinds that programs have; one that the kernel refuses is no sample. */
static void make_samples(int uffd) {
  static const int advices[] = {MADV_SEQUENTIAL, MADV_RANDOM, MADV_DONTFORK, MADV_WIPEONFORK,
                                MADV_DONTDUMP, MADV_MERGEABLE, MADV_HUGEPAGE, MADV_NOHUGEPAGE};
  static const int kinds[] = {MAP_PRIVATE, MAP_SHARED, MAP_PRIVATE | MAP_NORESERVE, MAP_PRIVATE | MAP_GROWSDOWN,
                              MAP_PRIVATE | MAP_HUGETLB | MAP_NORESERVE, MAP_DROPPABLE};
  const int both = PROT_READ | PROT_WRITE;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) make_sample(both, kinds[i]);
  for (int protection = 0; protection <= (both | PROT_EXEC); protection++) make_sample(protection, MAP_PRIVATE);
  for (size_t i = 0; i < sizeof advices / sizeof advices[0]; i++) {
    char *sample = make_sample(both, MAP_PRIVATE);
    if (sample != NULL) madvise(sample, SAMPLE_BYTES, advices[i]);
  }
  char *locked = make_sample(both, MAP_PRIVATE), *later = make_sample(both, MAP_PRIVATE);
  if (locked != NULL) mlock(locked, PAGE_BYTES);
  if (later != NULL) syscall(SYS_mlock2, later, PAGE_BYTES, 1u /* MLOCK_ONFAULT */);
  char *sealed = make_sample(PROT_READ, MAP_PRIVATE);
  if (sealed != NULL) syscall(SYS_MSEAL, sealed, SAMPLE_BYTES, 0ul);
  for (uint64_t mode = UFFDIO_REGISTER_MODE_MISSING; mode <= (UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP);
       mode++) {
    char *sample = make_sample(both, MAP_PRIVATE);
    struct uffdio_register range = {.range = {(uintptr_t)sample, SAMPLE_BYTES}, .mode = mode};
    if (sample != NULL && ioctl(uffd, UFFDIO_REGISTER, &range) < 0) continue;
  }
}

/* In a child, which goes with its samples: tells by its exit whether both say the same; `seen` is shared. */
static void compare(int program, struct mappings_room *room, char *smaps) {
  int uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
  if (uffd >= 0 && prepare_uffd(uffd)) make_samples(uffd);
  long told = tell_mappings(program, ~0ull, getpid(), room);
  bool is_same = told > 0 && read_smaps(getpid(), smaps, MAPPINGS_TEXT_BYTES) == told &&
                 memcmp(smaps, room->text, (size_t)told) == 0;
  _exit(is_same ? 0 : 1);
}

int load_mappings_program(uint64_t *known) {
  struct places places;
  int program = read_places(&places) ? load(&places) : -1;
  if (program < 0) return -1;
  size_t bytes = sizeof(struct mappings_room) + MAPPINGS_TEXT_BYTES;
  struct mappings_room *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t child = room == MAP_FAILED ? -1 : fork();
  if (child == 0) compare(program, room, (char *)(room + 1));
  int status = -1;
  bool is_right = child > 0 && waitpid(child, &status, 0) == child && status == 0;
  *known = is_right ? room->seen : 0;
  if (room != MAP_FAILED) munmap(room, bytes);
  if (is_right) return program;
  close(program);
  return -1;
}
