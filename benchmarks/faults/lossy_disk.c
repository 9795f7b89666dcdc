/* A disk that may lose what was not synced, for programs on Linux: preload this library (LD_PRELOAD).

   Whenever a program has synced a file in the folder LOSSY_FOLDER, the file is copied to LOSSY_FOLDER/.synced. Once the
   program is killed, these copies are what a disk is sure to hold. The copy is made before the call returns, so the
   program never believes that more is synced than was copied. When the folder itself is synced, copies of files that
   were removed are removed too. Writes through mmap are not covered: SQLite uses it for -shm files only, which it makes
   again after a crash.

   A sync takes LOSSY_MILLISECONDS, as on a slow disk: more crashes then find something that is not synced.
   LOSSY_OPERATIONS is the number of writes, truncations, removals and syncs that the program may begin: in the last one
   it is killed, before it or, in a write, half way through. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char COPIES[] = ".synced";

static void fail(const char *what) {
    /* Never go on with a copy that is not what it should be. */
    perror(what);
    abort();
}

/* Return whether a file is in the folder itself, and its name there; the name of the folder is empty. */
static int is_ours(int file, const char *folder, char *name) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    size_t prefix = strlen(folder);
    if (strncmp(path, folder, prefix) != 0) return 0;
    if (path[prefix] == 0) {
        name[0] = 0;
        return 1;
    }
    if (path[prefix] != '/' || strchr(path + prefix + 1, '/')) return 0;
    /* A file that was removed while it is open has no name any more. */
    size_t end = strlen(path);
    if (end > 10 && strcmp(path + end - 10, " (deleted)") == 0) return 0;
    strcpy(name, path + prefix + 1);
    return 1;
}

/* The file is read by the descriptor at hand: to open and close it once more would end the locks of the process. */
static void copy(int source, const char *folder, const char *name) {
    char temporary[PATH_MAX], to[PATH_MAX];
    static __thread char buffer[1 << 16];
    if (snprintf(to, sizeof to, "%s/%s/%s", folder, COPIES, name) >= PATH_MAX ||
        snprintf(temporary, sizeof temporary, "%s/%s/.%s", folder, COPIES, name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        fail("lossy disk");
    }
    int target = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (target < 0) fail("lossy disk: open");
    ssize_t count;
    for (off_t place = 0; (count = pread(source, buffer, sizeof buffer, place)) > 0; place += count)
        if (write(target, buffer, (size_t)count) != count) fail("lossy disk: write");
    if (count < 0) fail("lossy disk: read");
    close(target);
    if (rename(temporary, to)) fail("lossy disk: rename");
}

static void forget_removed(const char *folder) {
    char path[PATH_MAX], copy_path[PATH_MAX];
    struct stat about;
    snprintf(path, sizeof path, "%s/%s", folder, COPIES);
    DIR *copies = opendir(path);
    if (!copies) fail("lossy disk: opendir");
    for (struct dirent *entry; (entry = readdir(copies));) {
        if (entry->d_name[0] == '.') continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= PATH_MAX ||
            snprintf(copy_path, sizeof copy_path, "%s/%s/%s", folder, COPIES, entry->d_name) >= PATH_MAX)
            continue;
        if (stat(path, &about) && errno == ENOENT && remove(copy_path)) fail("lossy disk: remove");
    }
    closedir(copies);
}

/* Count an operation; return whether it is the last. */
static int is_last(int file) {
    static int count;
    char name[PATH_MAX];
    const char *folder = getenv("LOSSY_FOLDER"), *most = getenv("LOSSY_OPERATIONS");
    return folder && most && (file < 0 || is_ours(file, folder, name)) && ++count == atoi(most);
}

static void power_cut(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static int synced(int result, int file) {
    char name[PATH_MAX];
    const char *folder = getenv("LOSSY_FOLDER"), *milliseconds = getenv("LOSSY_MILLISECONDS");
    if (result == 0 && folder && is_ours(file, folder, name)) {
        if (milliseconds) usleep(1000 * (useconds_t)atoi(milliseconds));
        if (name[0])
            copy(file, folder, name);
        else
            forget_removed(folder);
    }
    return result;
}

#define REAL(type, name, ...)                                              \
    static type (*real)(__VA_ARGS__);                                      \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

int fsync(int file) {
    REAL(int, "fsync", int);
    if (is_last(file)) power_cut();
    return synced(real(file), file);
}

int fdatasync(int file) {
    REAL(int, "fdatasync", int);
    if (is_last(file)) power_cut();
    return synced(real(file), file);
}

ssize_t pwrite64(int file, const void *data, size_t count, off64_t place) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    if (is_last(file)) {
        real(file, data, count / 2, place);
        power_cut();
    }
    return real(file, data, count, place);
}

ssize_t pwrite(int file, const void *data, size_t count, off_t place) { return pwrite64(file, data, count, place); }

int ftruncate64(int file, off64_t size) {
    REAL(int, "ftruncate64", int, off64_t);
    if (is_last(file)) power_cut();
    return real(file, size);
}

int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    const char *folder = getenv("LOSSY_FOLDER");
    if (folder && strncmp(path, folder, strlen(folder)) == 0 && is_last(-1)) power_cut();
    return real(path);
}
