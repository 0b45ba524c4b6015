#include "../memory-tracker/page-scan.h"

/* A category: a guard is no memory, and CRIU has to know of it. */
#define PAGE_GUARD (1u << 8)

/* UFFDIO_API of linux/userfaultfd.h, which CRIU calls with a new descriptor. */
struct uffd_api {
  uint64_t api, features, ioctls;
};
#define UFFD_API_REQUEST _IOWR(0xAA, 0x3F, struct uffd_api)

/* In a lazy restore, the kernel is to note which pages are written, too, where it can. */
int open_uffd(int uffd, struct uffd_api *api);

/* Answers CRIU, which asks for the pages that it has to copy. */
int scan_pages(int pagemap, struct page_scan *asked);

/*
 * Asks the pages server of a lazily restored tree, while that stands still, what it has not filled: each range
 * is told to `add` as a line. -1 where it has not told all.
 *
 * What it has filled it has protected: of a process that it follows the pages that still are count as clean.
 */
int read_unfilled(void (*add)(const char *line));

/* Tells whether the pages server follows what a process writes, by its number inside. Requires: it was read. */
int is_followed_by_server(int inside);

/* In a dump, at its end: all that CRIU has copied is protected from now on. Requires: CRIU traces it. */
void protect_memory(void);

/* Connects to the socket that a variable of the environment names; -1 where it names none, or nobody listens. */
int connect_named(const char *variable, int timeout_ms);

/* Returns a connection to the tracker, or -1. */
int connect_tracker(void);

/* Sends a request, with a descriptor if it is none that is negative, and returns the answer or NULL. */
const char *ask_tracker(int fd, const char *request, int passed);

/* Asks the tracker for what tells the flags of mappings (mapping-flags.h), and which it knows; -1 without one. */
int get_mappings_program(unsigned long long *known);

/* Returns a userfaultfd of a process, made in it, or -1. The process keeps none. Requires: CRIU traces it. */
int make_uffd(int pid);

/*
 * Tells whether clean pages of a process are those of the last checkpoint, and learns of which files it has some.
 */
int is_followed_by_tracker(int pid);

/* Asks the tracker which mappings of files it follows of a process; 0 where it does not answer. */
int learn_files(int tracker, int pid);

/*
 * Tells whether a range has something in common with these mappings, of which pages may be the file's; with
 * `is_writable`, with one of those that can be written to, in which nothing is clean.
 */
int touches_file(uint64_t start, uint64_t end, int is_writable);

/* Returns how far after `start` it stays the same whether there are marks in the place of pages. */
uint64_t marked_until(int pagemap, uint64_t start, uint64_t end, int *is_marked);

/* Tells whether there is one in a region. */
int holds_mark(int pagemap, const struct page_region *region);

/* Reads which pages of a process the last checkpoint has; -1 where it has none that are known. */
int read_reference(int inside);

/* Returns how far after `start` it stays the same whether the last checkpoint has the pages. */
uint64_t known_until(uint64_t start, uint64_t end, int *is_known);

/*
 * Notes what the pages server has not filled, once, before the first page is copied: what comes after that,
 * CRIU copies too, and that goes before.
 */
void note_unfilled(void);

/* Notes a range of a process that CRIU does not copy; 0 where it cannot be noted, and is to be copied. */
int note_clean(int inside, const struct page_region *region);

/* Notes a range that was taken, and where its bytes are; 0 as above. */
int list_taken(int inside, const struct page_region *region, uint64_t place);

/* Copies what was written, in place of CRIU; 0 where CRIU has to. Requires: the process stands still. */
int take_pages(int pid, int inside, const struct page_region *region);

/* Writes the rest of what was taken; 0 where it is not whole. */
int close_taken(void);

/* The last line says that the list is whole: where it cannot be written, nobody takes the dump for one. */
void close_clean_list(void);

/* Notes what CRIU gets to see of a process whose writes are followed. */
void note_written(int pid, const struct page_region *region);

/* Tells whether all that has to be protected again of a process was noted. */
int is_clear(int pid);

/* Protects what was noted of a process; -1 where that failed. */
int protect_written(int pid);

/* What was noted of a process whose memory was asked for. */
struct scanned {
  int pid, is_followed;
  unsigned long long bytes;
};

/* Before the first question for pages: from here on, what the second copies lack may have been taken. */
void begin_copying(void);

/* Copies all memory of a process once more, for tests: $WAYPOINT_SECOND_COPY is a directory. */
void copy_again(int pid);

/* A thread has an area at that address, in which the kernel writes on which processor it is. */
void note_processor_area(unsigned long long address);

/* Returns how much memory a process has that is not of files, as the kernel counts it. */
unsigned long long own_bytes(int pid);

/* Returns the number that a process has in the innermost of its pid namespaces, or 0. */
int number_inside(int pid);
