/* Counts the system calls that change files, and kills the process or fails the call at a chosen one.
 *
 * Preloaded into the test process. `crash_arm(n, how)` starts counting: the n-th call kills the process
 * (how = 0) or fails with that errno (how > 0). `crash_count()` returns the number of calls so far.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static long armed = -1, how = 0;
static long count = 0;

void crash_arm(long at, long mode) { count = 0; how = mode; armed = at; }
long crash_count(void) { return count; }

static int hit(void) {
    if (armed < 0) return 0;
    long now = __sync_add_and_fetch(&count, 1);
    if (now != armed) return 0;
    if (how == 0) { kill(getpid(), SIGKILL); for (;;) pause(); }
    errno = (int)how;
    return 1;
}

#define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)
#define WRAP(type, name, params, args) \
    type name params { REAL(name); if (hit()) return (type)-1; return real args; }

WRAP(ssize_t, write, (int fd, const void *data, size_t n), (fd, data, n))
WRAP(ssize_t, pwrite, (int fd, const void *data, size_t n, off_t at), (fd, data, n, at))
WRAP(ssize_t, writev, (int fd, const struct iovec *parts, int n), (fd, parts, n))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, fdatasync, (int fd), (fd))
WRAP(int, ftruncate, (int fd, off_t n), (fd, n))
WRAP(int, rename, (const char *a, const char *b), (a, b))
WRAP(int, renameat, (int x, const char *a, int y, const char *b), (x, a, y, b))
WRAP(int, renameat2, (int x, const char *a, int y, const char *b, unsigned f), (x, a, y, b, f))
WRAP(int, unlink, (const char *a), (a))
WRAP(int, unlinkat, (int x, const char *a, int f), (x, a, f))
WRAP(int, mkdir, (const char *a, mode_t m), (a, m))
WRAP(int, rmdir, (const char *a), (a))
WRAP(int, chmod, (const char *a, mode_t m), (a, m))
WRAP(int, link, (const char *a, const char *b), (a, b))

/* Opening counts only where it may create or change a file. */
#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); va_list more; va_start(more, flags); mode_t mode = va_arg(more, int); va_end(more); \
        if ((flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) && hit()) return -1; \
        return real(path, flags, mode); }
#define OPENAT(name) \
    int name(int at, const char *path, int flags, ...) { \
        REAL(name); va_list more; va_start(more, flags); mode_t mode = va_arg(more, int); va_end(more); \
        if ((flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) && hit()) return -1; \
        return real(at, path, flags, mode); }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
