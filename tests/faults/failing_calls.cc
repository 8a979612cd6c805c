// A library for LD_PRELOAD that lets calls of the C library fail: of a kind of calls the n-th one, or all
// from there on. inject.py says which.
//
// ASSAY_FAULT=KIND:NUMBER:HOW:ERRNO
//   KIND    memory, map, open, read, write, rename, process, library or thread
//   NUMBER  of the first call that fails, from 1 on; calls before main do not count
//   HOW     once, ever, or short (read and write move at most one byte, once)
//   ERRNO   the error's number
// ASSAY_FAULT_START=open  calls count from the first one on that opens a file: those before, of reading the
//   arguments, are the same for each command
// ASSAY_FAULT_START=call  calls count from assay_faults_begin to assay_faults_end only, or, by
//   assay_faults_begin_in_window, those of threads that are between assay_window_enter and assay_window_leave
// ASSAY_FORBID_WRITE_AND_EXECUTE=1  the process ends with exit code 99 where it asks for such a page.
// ASSAY_FAULT_COUNTS=FILE  when main returns or the process exits, lines "KIND CALLS" are written there.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

enum Kind { kMemory, kMap, kOpen, kRead, kWrite, kRename, kProcess, kLibrary, kThread, kKinds };
constexpr const char* kNames[kKinds] = {"memory", "map",     "open",    "read",  "write",
                                        "rename", "process", "library", "thread"};
enum class How { kOnce, kEver, kShort };

struct Fault {
  int kind = -1;
  int64_t number = 0;
  How how = How::kOnce;
  int error = 0;
};

std::atomic<int64_t> calls[kKinds];
std::atomic<bool> counts{false}, in_window_only{false}, starts_with_open{false};
thread_local int windows __attribute__((tls_model("initial-exec"))) = 0;
Fault fault;

void ReadFault() {
  const char* const text = std::getenv("ASSAY_FAULT");
  if (text == nullptr) return;
  char kind[16], how[16];
  long long number;
  if (std::sscanf(text, "%15[^:]:%lld:%15[^:]:%d", kind, &number, how, &fault.error) != 4) std::abort();
  for (int k = 0; k < kKinds; ++k)
    if (std::strcmp(kind, kNames[k]) == 0) fault.kind = k;
  fault.number = number;
  fault.how = how[0] == 'e' ? How::kEver : how[0] == 's' ? How::kShort : How::kOnce;
}

void WriteCounts() {
  counts = false;
  const char* const path = std::getenv("ASSAY_FAULT_COUNTS");
  if (path == nullptr) return;
  char text[kKinds * 32];
  int length = 0;
  for (int k = 0; k < kKinds; ++k)
    length += std::snprintf(text + length, sizeof(text) - static_cast<size_t>(length), "%s %lld\n", kNames[k],
                            static_cast<long long>(calls[k].load()));
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || syscall(SYS_write, fd, text, length) != length) std::abort();
  syscall(SYS_close, fd);
}

// Counts the call; whether it fails in the way that is asked for.
bool Meets(Kind kind, How how) {
  if (!counts.load(std::memory_order_relaxed)) return false;
  if (in_window_only.load(std::memory_order_relaxed) && windows == 0) return false;
  const int64_t number = ++calls[kind];
  if (fault.kind != kind || (fault.how == How::kShort) != (how == How::kShort)) return false;
  return fault.how == How::kEver ? number >= fault.number : number == fault.number;
}
bool Fails(Kind kind) {
  if (!Meets(kind, How::kOnce)) return false;
  errno = fault.error;
  return true;
}
// Of read and write: what is left of `size`, or -1.
ssize_t Left(Kind kind, size_t size) {
  if (fault.how == How::kShort) return Meets(kind, How::kShort) && size > 1 ? 1 : static_cast<ssize_t>(size);
  return Fails(kind) ? -1 : static_cast<ssize_t>(size);
}

void CheckProtection(int protection) {
  constexpr int kBoth = PROT_WRITE | PROT_EXEC;
  if ((protection & kBoth) == kBoth && std::getenv("ASSAY_FORBID_WRITE_AND_EXECUTE") != nullptr) _exit(99);
}

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define NEXT(name) (Next<decltype(name)>(#name))

using MainFn = int (*)(int, char**, char**);
MainFn main_of_program;

int CountedMain(int argc, char** argv, char** environment) {
  ReadFault();
  std::atexit(WriteCounts);
  const char* const start = std::getenv("ASSAY_FAULT_START");
  counts = start == nullptr;
  starts_with_open = start != nullptr && std::strcmp(start, "open") == 0;
  const int code = main_of_program(argc, argv, environment);
  counts = starts_with_open = false;
  return code;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void assay_faults_begin() { counts = true; }
__attribute__((visibility("default"))) void assay_faults_begin_in_window() {
  in_window_only = true;
  counts = true;
}
__attribute__((visibility("default"))) void assay_faults_end() {
  WriteCounts();
  counts = false;
}
__attribute__((visibility("default"))) void assay_window_enter() { ++windows; }
__attribute__((visibility("default"))) void assay_window_leave() { --windows; }

int __libc_start_main(MainFn main, int argc, char** argv, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                      void* stack_end) {
  main_of_program = main;
  using StartFn = int(MainFn, int, char**, void (*)(), void (*)(), void (*)(), void*);
  return Next<StartFn>("__libc_start_main")(CountedMain, argc, argv, init, fini, rtld_fini, stack_end);
}

void* malloc(size_t size) { return Fails(kMemory) ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return Fails(kMemory) ? nullptr : __libc_calloc(count, size); }
void* realloc(void* block, size_t size) { return Fails(kMemory) ? nullptr : __libc_realloc(block, size); }
void* memalign(size_t alignment, size_t size) {
  return Fails(kMemory) ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** block, size_t alignment, size_t size) {
  void* const made = memalign(alignment, size);
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}

void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  CheckProtection(protection);
  if (Fails(kMap)) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, protection, flags, fd, offset));
}
void* mmap64(void* at, size_t size, int protection, int flags, int fd, off64_t offset) noexcept {
  return mmap(at, size, protection, flags, fd, offset);
}
int mprotect(void* at, size_t size, int protection) noexcept {
  CheckProtection(protection);
  return Fails(kMap) ? -1 : static_cast<int>(syscall(SYS_mprotect, at, size, protection));
}
int memfd_create(const char* name, unsigned flags) noexcept {
  return Fails(kOpen) ? -1 : static_cast<int>(syscall(SYS_memfd_create, name, flags));
}

#define OPEN(name)                                                                       \
  int name(const char* path, int flags, ...) {                                           \
    va_list more;                                                                        \
    va_start(more, flags);                                                               \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0; \
    va_end(more);                                                                        \
    if (starts_with_open.exchange(false)) counts = true;                                 \
    if (Fails(kOpen)) return -1;                                                         \
    return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));           \
  }
OPEN(open)
OPEN(open64)
FILE* fopen(const char* path, const char* mode) { return Fails(kOpen) ? nullptr : NEXT(fopen)(path, mode); }
FILE* fopen64(const char* path, const char* mode) {
  return Fails(kOpen) ? nullptr : NEXT(fopen64)(path, mode);
}

ssize_t read(int fd, void* to, size_t size) {
  const ssize_t left = Left(kRead, size);
  return left < 0 ? -1 : syscall(SYS_read, fd, to, left);
}
ssize_t pread(int fd, void* to, size_t size, off_t offset) {
  const ssize_t left = Left(kRead, size);
  return left < 0 ? -1 : syscall(SYS_pread64, fd, to, left, offset);
}
ssize_t pread64(int fd, void* to, size_t size, off64_t offset) { return pread(fd, to, size, offset); }
ssize_t write(int fd, const void* from, size_t size) {
  const ssize_t left = Left(kWrite, size);
  return left < 0 ? -1 : syscall(SYS_write, fd, from, left);
}
ssize_t pwrite(int fd, const void* from, size_t size, off_t offset) {
  const ssize_t left = Left(kWrite, size);
  return left < 0 ? -1 : syscall(SYS_pwrite64, fd, from, left, offset);
}
ssize_t pwrite64(int fd, const void* from, size_t size, off64_t offset) {
  return pwrite(fd, from, size, offset);
}
ssize_t writev(int fd, const iovec* parts, int count) {
  return Fails(kWrite) ? -1 : syscall(SYS_writev, fd, parts, count);
}
int ftruncate(int fd, off_t size) noexcept {
  return Fails(kWrite) ? -1 : static_cast<int>(syscall(SYS_ftruncate, fd, size));
}
int fsync(int fd) { return Fails(kWrite) ? -1 : static_cast<int>(syscall(SYS_fsync, fd)); }

int rename(const char* from, const char* to) noexcept {
  return Fails(kRename) ? -1 : static_cast<int>(syscall(SYS_rename, from, to));
}
int renameat2(int from_fd, const char* from, int to_fd, const char* to, unsigned flags) noexcept {
  return Fails(kRename) ? -1 : static_cast<int>(syscall(SYS_renameat2, from_fd, from, to_fd, to, flags));
}

pid_t fork() noexcept { return Fails(kProcess) ? -1 : NEXT(fork)(); }
int pipe(int* ends) noexcept { return Fails(kProcess) ? -1 : static_cast<int>(syscall(SYS_pipe2, ends, 0)); }
int pipe2(int* ends, int flags) noexcept {
  return Fails(kProcess) ? -1 : static_cast<int>(syscall(SYS_pipe2, ends, flags));
}

void* dlopen(const char* path, int mode) noexcept {
  // dlerror has a text then.
  return NEXT(dlopen)(Fails(kLibrary) ? "/nonexistent/library.so" : path, mode);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  return Fails(kThread) ? fault.error : NEXT(pthread_create)(thread, attributes, start, argument);
}

}  // extern "C"
