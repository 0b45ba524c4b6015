#include "../memory-tracker/page-scan.h"

/* Answers CRIU, which asks for the pages that it has to copy. */
int scan_pages(int pagemap, struct page_scan *asked);

/* In a dump, at its end: all that CRIU has copied is protected from now on. Requires: CRIU traces it. */
void protect_memory(void);

/* Reads which pages of a process the last checkpoint has; -1 where it has none that are known. */
int read_reference(int inside);

/* Returns how far after `start` it stays the same whether the last checkpoint has the pages. */
uint64_t known_until(uint64_t start, uint64_t end, int *is_known);

/* What was noted of a process whose memory was asked for. */
struct scanned {
  int pid;
  unsigned long long bytes;
};

/* Copies all memory of a process once more, for tests: $WAYPOINT_SECOND_COPY is a directory. */
void copy_again(int pid);

/* A thread has an area at that address, in which the kernel writes on which processor it is. */
void note_processor_area(unsigned long long address);

/* Returns the number that a process has in the innermost of its pid namespaces, or 0. */
int number_inside(int pid);
