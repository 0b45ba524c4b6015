#include <linux/sockios.h>

/* Opens the file of a bound unix socket; linux/un.h, which does not go with sys/un.h. */
#define SIOCUNIXFILE (SIOCPROTOPRIVATE + 0)

/* In a dump: CRIU has opened the file of a bound unix socket. */
void note_socket_file(int socket_fd, int file_fd);

/* In a restore: reads which sockets were moved ($WAYPOINT_SOCKETS_MOVED). Once, before CRIU's own beginning. */
void open_moved(void);
