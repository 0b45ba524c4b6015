/*
 * Makes the sums of a checkpoint's images, and compares the images with them.
 *
 *     image-sums make DIR SUMS [CHANGED BEFORE]
 *                                            writes the file SUMS, which is not there yet
 *     image-sums check DIR SUMS all          compares every image
 *     image-sums check DIR SUMS rest|pages   compares all but the pages of memory, or these alone
 *
 * CHANGED lists what has other bytes than images of the same name whose sums are in BEFORE (changed.h); only that is
 * read. Where the two are not to be relied on, all is.
 *
 * Exits with 0; with 126 where an image is not what it was, and prints its name and how it differs; with
 * the number of an error where that could not be found out. A program of its own, so that the daemon does not wait.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "changed.h"
#include "sums.h"

#define EXIT_DAMAGED 126
#define READ_BYTES (4 * SUM_CHUNK_BYTES)

/* Returns errno as the exit code, which the daemon reads. */
static int fail(const char *step, const char *what) {
  int code = errno;
  fprintf(stderr, "%s %s: %s\n", step, what, strerror(code));
  return code > 0 && code < EXIT_DAMAGED ? code : 1;
}

static int damaged(const char *name, const char *how) {
  printf("%s %s\n", name, how);
  return EXIT_DAMAGED;
}

static int is_image(int dir_fd, const char *name) {
  struct stat status;
  return fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
}

static struct sums before;
static struct changed_images changed;

/* Asked for one chunk after the other of an image: it is looked up once. */
static const char *known(const char *name, uint64_t size, uint64_t chunk) {
  static const struct changed_image *image;
  static const struct file_sums *file;
  if (chunk == 0) {
    image = find_changed(&changed, name);
    file = find_sums(&before, name);
  }
  return known_digits(image, file, size, chunk);
}

static void read_known(const char *changed_path, const char *sums_path) {
  if (read_sums(sums_path, &before) < 0 || read_changed(changed_path, &before, &changed) < 0)
    changed = (struct changed_images){0};
}

static int add_images(int dir_fd, FILE *file) {
  int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (dir == NULL) return -1;
  int result = write_sums_head(file);
  for (struct dirent *entry; result == 0 && (entry = readdir(dir)) != NULL;) {
    if (!is_image(dir_fd, entry->d_name)) continue;
    int image = openat(dir_fd, entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    result = image < 0 ? -1 : write_file_sums(file, image, entry->d_name, known);
    if (image >= 0) close(image);
  }
  closedir(dir);
  return result;
}

static int make(int dir_fd, const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  if (file == NULL) return fail("create", path);
  int result = add_images(dir_fd, file) < 0 ? fail("sum", "the images") : 0;
  return fclose(file) == 0 ? result : fail("write", path);
}

static int check_image(int dir_fd, const struct file_sums *file) {
  static unsigned char bytes[READ_BYTES];
  int fd = openat(dir_fd, file->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return damaged(file->name, errno == ENOENT ? "is missing" : strerror(errno));
  struct stat status;
  int result = fstat(fd, &status) < 0 ? fail("look at", file->name) : 0;
  if (result == 0 && (uint64_t)status.st_size != file->size) result = damaged(file->name, "has another size");
  for (uint64_t at = 0; result == 0 && at < file->size;) {
    size_t wanted = file->size - at < READ_BYTES ? (size_t)(file->size - at) : READ_BYTES;
    ssize_t have = pread(fd, bytes, wanted, (off_t)at);
    if (have < 0 && errno == EINTR) continue;
    /* What the filesystem itself finds damaged cannot be read. */
    if (have < 0) result = damaged(file->name, strerror(errno));
    else if ((size_t)have < wanted) result = damaged(file->name, "ends too early");
    for (size_t done = 0; result == 0 && done < wanted; done += SUM_CHUNK_BYTES) {
      size_t length = wanted - done < SUM_CHUNK_BYTES ? wanted - done : SUM_CHUNK_BYTES;
      if (is_chunk_right(file, (at + done) / SUM_CHUNK_BYTES, bytes + done, length)) continue;
      result = damaged(file->name, "has another content");
    }
    at += wanted;
  }
  close(fd);
  return result;
}

static int is_pages(const char *name) { return strncmp(name, "pages-", 6) == 0; }

static int check(int dir_fd, const char *path, const char *part) {
  struct sums sums;
  if (read_sums(path, &sums) < 0) return fail("read", path);
  int is_all = strcmp(part, "all") == 0, wants_pages = strcmp(part, "pages") == 0;
  for (size_t index = 0; index < sums.count; index++) {
    const struct file_sums *file = &sums.files[index];
    if (!is_all && is_pages(file->name) != wants_pages) continue;
    int result = check_image(dir_fd, file);
    if (result != 0) return result;
  }
  return 0;
}

int main(int count, char **words) {
  errno = EINVAL;
  /* What a daemon that died has begun, the next one begins again. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int is_make = (count == 4 || count == 6) && strcmp(words[1], "make") == 0;
  if (!is_make && (count != 5 || strcmp(words[1], "check") != 0)) return fail("read", "the arguments");
  int dir_fd = open(words[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir_fd < 0) return fail("open", words[2]);
  if (is_make && count == 6) read_known(words[4], words[5]);
  int result = is_make ? make(dir_fd, words[3]) : check(dir_fd, words[3], words[4]);
  return fflush(stdout) == 0 ? result : 1;
}
