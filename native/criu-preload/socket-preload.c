/*
 * Preloaded into CRIU: unix sockets whose files were renamed or linked after they were bound.
 *
 * CRIU knows the name that a socket was bound to, and binds it there again. In a dump, sockets that are not
 * to be found by that name alone are written to the file $WAYPOINT_SOCKETS_FOUND, a line each: the inodes of
 * the socket and of its file, how many names the file has, the name that was bound, and the path of that
 * file now, or "-" where that very name is gone; texts in hexadecimal.
 *
 * The daemon gives them their present paths in the images. For a restore, $WAYPOINT_SOCKETS_MOVED has lines
 * of such a path, the name that was bound, and further paths. A socket that CRIU binds to such a path is
 * bound to its old name in an empty directory that is the root for that moment, and its file is then moved
 * to where it belongs: so the socket still says its old name, and nothing that lies there is touched.
 */
#define _GNU_SOURCE
#include "socket-preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define DELETED " (deleted)"
#define OPEN_DIRECTORIES_MAX 16
#define TEMPORARY_SUFFIX ".waypoint-XXXXXX"

typedef struct sockaddr_un address_t;

/* The file that CRIU asks the path of next, and the name that its socket was bound to. */
static int last_file_fd = -1;
static char last_name[sizeof((address_t *)0)->sun_path + 1];

/* Whether the bound name, looked up from the root of the tree, leads to the file. */
static int is_in_place(const char *name, const struct stat *file) {
  const char *root_path = getenv("WAYPOINT_ROOT");
  struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
  struct stat found;
  int root = root_path == NULL || name[0] != '/' ? -1 : open(root_path, O_PATH | O_CLOEXEC);
  int fd = root < 0 ? -1 : (int)syscall(SYS_openat2, root, name, &how, sizeof how);
  int is = fd >= 0 && fstat(fd, &found) == 0 && found.st_ino == file->st_ino && found.st_dev == file->st_dev;
  if (fd >= 0) close(fd);
  if (root >= 0) close(root);
  return is;
}

static int ends_with(const char *text, const char *end) {
  size_t length = strlen(text), end_length = strlen(end);
  return length > end_length && strcmp(text + length - end_length, end) == 0;
}

/* Whether CRIU finds a relative name at the end of the path. */
static int is_relative_in_place(const char *name, const char *path) {
  const char *rest = strncmp(name, "./", 2) == 0 ? name + 2 : name;
  return name[0] != '/' && ends_with(path, rest) && path[strlen(path) - strlen(rest) - 1] == '/';
}

static size_t add_hex(char *line, size_t at, const char *text) {
  for (; *text != 0; text++) at += (size_t)sprintf(line + at, "%02x", (unsigned char)*text);
  return at;
}

static void write_found(ino_t socket, const struct stat *file, const char *name, const char *path) {
  char line[2 * PATH_MAX + 2 * sizeof last_name + 128];
  const char *target = getenv("WAYPOINT_SOCKETS_FOUND");
  int fd = target == NULL ? -1 : open(target, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  size_t at = (size_t)sprintf(line, "%lu %lu %lu ", (unsigned long)socket, (unsigned long)file->st_ino,
                              (unsigned long)file->st_nlink);
  at = add_hex(line, at, name);
  line[at++] = ' ';
  if (path == NULL) line[at++] = '-';
  else at = add_hex(line, at, path);
  line[at++] = '\n';
  if (write(fd, line, at) < 0) perror("Can't note a socket");
  close(fd);
}

static ssize_t real_readlink(const char *path, char *text, size_t size) {
  return syscall(SYS_readlinkat, AT_FDCWD, path, text, size);
}

void note_socket_file(int socket_fd, int file_fd) {
  address_t address = {0};
  socklen_t length = sizeof address;
  struct stat socket, file;
  char link[64], path[PATH_MAX];
  last_file_fd = -1;
  if (getsockname(socket_fd, (struct sockaddr *)&address, &length) != 0) return;
  if (fstat(socket_fd, &socket) != 0 || fstat(file_fd, &file) != 0 || file.st_nlink == 0) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file_fd);
  ssize_t path_length = real_readlink(link, path, sizeof path - 1);
  if (path_length < 0) return;
  path[path_length] = 0;
  memcpy(last_name, address.sun_path, sizeof address.sun_path);

  int is_gone = ends_with(path, DELETED);
  int is_found = is_relative_in_place(last_name, path) || is_in_place(last_name, &file);
  if (is_found && !is_gone && file.st_nlink == 1) return;
  write_found(socket.st_ino, &file, last_name, is_gone ? NULL : path);
  if (last_name[0] != '/' && !is_found) last_file_fd = file_fd;
}

/* CRIU gives up on a relative name that its path does not end with; the image gets the path itself later. */
ssize_t readlink(const char *path, char *text, size_t size) {
  int fd;
  if (last_file_fd < 0 || sscanf(path, "/proc/self/fd/%d", &fd) != 1 || fd != last_file_fd)
    return real_readlink(path, text, size);
  last_file_fd = -1;
  return snprintf(text, size, "/./%s", last_name);
}

struct moved {
  char *path, *bound;
  /* Separated by spaces, in hexadecimal. */
  char *others;
};

static struct moved *moved;
static size_t moved_count;

/* Makes a text of hexadecimal numbers, up to the next space, what it stands for; returns what follows it. */
static char *decode(char *text) {
  char *to = text;
  unsigned byte;
  for (; sscanf(text, "%2x", &byte) == 1 && text[0] != ' '; text += 2) *to++ = (char)byte;
  char *next = *text == ' ' ? text + 1 : text;
  *to = 0;
  return next;
}

static void read_moved(FILE *file) {
  char *line = NULL;
  size_t size = 0;
  while (getline(&line, &size, file) > 0) {
    struct moved *more = realloc(moved, (moved_count + 1) * sizeof *moved);
    if (more == NULL) break;
    moved = more;
    line[strcspn(line, "\n")] = 0;
    struct moved *next = &moved[moved_count++];
    next->path = line;
    next->bound = decode(next->path);
    next->others = decode(next->bound);
    line = NULL;
    size = 0;
  }
  free(line);
}

void open_moved(void) {
  const char *path = getenv("WAYPOINT_SOCKETS_MOVED");
  FILE *file = path == NULL ? NULL : fopen(path, "re");
  if (file == NULL) return;
  read_moved(file);
  fclose(file);
}

static int real_bind(int fd, const void *address, socklen_t length) {
  return (int)syscall(SYS_bind, fd, address, length);
}

/*
 * Makes the directories of a name, whose last part is left out, in the root, which is empty; `place` gets
 * where the directory lies from which the name leads there.
 */
static int make_directories(const char *name, char *place, size_t size) {
  char part[sizeof last_name + 1];
  size_t length = 0;
  /* As many levels as the name may go up. */
  for (const char *at = strstr(name, ".."); name[0] != '/' && at != NULL; at = strstr(at + 2, "..")) {
    if (length + 3 > size) return -1;
    length += (size_t)sprintf(place + length, "/d");
    if (mkdir(place, 0700) != 0) return -1;
  }
  place[length] = 0;
  if (chdir(length == 0 ? "/" : place) != 0) return -1;
  for (const char *slash = strchr(name + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
    if (mkdir(part, 0700) != 0 && errno != EEXIST) return -1;
  }
  return 0;
}

/* Binds in a directory, and goes back; `file` gets where the socket's file is then. */
static int bind_in(const char *directory, int fd, const char *name, char *file, size_t size) {
  char place[sizeof last_name * 2] = "";
  address_t address = {.sun_family = AF_UNIX};
  size_t length = strnlen(name, sizeof address.sun_path);
  /* With the zero at its end, where there is room for one. */
  size_t bound_length = length < sizeof address.sun_path ? length + 1 : length;
  int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  int result = -1;
  memcpy(address.sun_path, name, length);
  if (root >= 0 && here >= 0 && chroot(directory) == 0) {
    if (chdir("/") == 0 && make_directories(name, place, sizeof place) == 0)
      result = real_bind(fd, &address, (socklen_t)(offsetof(address_t, sun_path) + bound_length));
    int reason = errno;
    if (fchdir(root) != 0 || chroot(".") != 0 || fchdir(here) != 0) result = -1;
    else errno = reason;
  }
  int reason = errno;
  if (root >= 0) close(root);
  if (here >= 0) close(here);
  snprintf(file, size, "%s%s/%s", directory, place, name);
  errno = reason;
  return result;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk) {
  (void)status, (void)kind, (void)walk;
  return remove(path);
}

/* Gives a file further names; sockets that the snapshot had there go. */
static int link_others(const char *path, const char *others) {
  char *names = strdup(others);
  int result = names == NULL ? -1 : 0;
  for (char *next, *name = names; result == 0 && *name != 0; name = next) {
    struct stat status;
    next = decode(name);
    if (lstat(name, &status) == 0 && S_ISSOCK(status.st_mode)) unlink(name);
    result = link(path, name);
  }
  free(names);
  return result;
}

static int bind_moved(int fd, const struct moved *socket) {
  char directory[sizeof last_name + sizeof TEMPORARY_SUFFIX], file[PATH_MAX];
  snprintf(directory, sizeof directory, "%s" TEMPORARY_SUFFIX, socket->path);
  if (mkdtemp(directory) == NULL) return -1;
  int result = bind_in(directory, fd, socket->bound, file, sizeof file);
  if (result == 0) result = rename(file, socket->path);
  if (result == 0) result = link_others(socket->path, socket->others);
  int reason = errno;
  nftw(directory, remove_one, OPEN_DIRECTORIES_MAX, FTW_DEPTH | FTW_PHYS);
  errno = reason;
  return result;
}

int bind(int fd, const struct sockaddr *address, socklen_t length) {
  const address_t *unix_address = (const address_t *)address;
  if (address->sa_family == AF_UNIX && length > offsetof(address_t, sun_path)) {
    char name[sizeof last_name] = "";
    size_t name_length = length - offsetof(address_t, sun_path);
    memcpy(name, unix_address->sun_path, name_length < sizeof name ? name_length : sizeof name - 1);
    for (size_t i = 0; name[0] == '/' && i < moved_count; i++) {
      if (strcmp(moved[i].path, name) == 0) return bind_moved(fd, &moved[i]);
    }
  }
  return real_bind(fd, address, length);
}
