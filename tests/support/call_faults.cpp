// A library to preload into a program: some of its calls fail as a system fails that has no threads left, or whose disk
// is full or broken.
//   FAULT_CALL=thread | file    threads that begin; or what changes the file whose name is FAULT_FILE
//   FAULT_FIRST=N FAULT_COUNT=N  the calls that fail, counted from 1
//   FAULT_ERROR=NUMBER          how
//   FAULT_WHEN=PATH             only once there is such a file
//   FAULT_SEEN=PATH             gets a byte for each call that is counted
//   FAULT_FREE=BYTES            what every file system says it has free

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

std::string_view setting(const char* name) {
  const char* const text = std::getenv(name);
  return text ? text : "";
}

long number(const char* name) { return std::strtol(setting(name).data(), nullptr, 10); }

/// By the system's own calls: those below would count themselves.
void note_call() {
  const auto path = setting("FAULT_SEEN");
  if (path.empty()) return;
  const auto file = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path.data(), O_WRONLY | O_CREAT | O_APPEND, 0644));
  ::syscall(SYS_write, file, ".", 1);
  ::syscall(SYS_close, file);
}

/// The error with which this call fails, or 0.
int error_of(std::string_view call) {
  static std::atomic<long> calls = 0;
  if (call != setting("FAULT_CALL")) return 0;
  if (const auto when = setting("FAULT_WHEN"); !when.empty() && ::access(when.data(), F_OK) != 0) return 0;
  note_call();
  const long past = ++calls - number("FAULT_FIRST");
  return past >= 0 && past < number("FAULT_COUNT") ? static_cast<int>(number("FAULT_ERROR")) : 0;
}

bool is_fault_file(std::string_view path) {
  const auto name = setting("FAULT_FILE");
  return !name.empty() && path.substr(path.rfind('/') + 1) == name;
}

bool is_fault_file(int descriptor) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const auto length = ::readlink(link.c_str(), path.data(), path.size());
  return length > 0 && is_fault_file(std::string_view{path.data(), static_cast<std::size_t>(length)});
}

/// Whether a change of this file fails; errno is set then.
template <class File>
bool fails(File file) {
  const int saved = errno;
  const int error = is_fault_file(file) ? error_of("file") : 0;
  errno = error ? error : saved;
  return error != 0;
}

template <class Function>
Function* of_library(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

template <class... Argument>
int opened(const char* name, const char* path, int flags, Argument... mode) {
  if ((flags & O_ACCMODE) != O_RDONLY && fails(std::string_view{path})) return -1;
  return of_library<int(const char*, int, ...)>(name)(path, flags, mode...);
}

template <class Space>
int told(const char* name, const char* path, Space* into) {
  const int result = of_library<int(const char*, Space*)>(name)(path, into);
  if (const auto free = number("FAULT_FREE"); result == 0 && free > 0)
    into->f_bavail = static_cast<decltype(into->f_bavail)>(free) / into->f_frsize;
  return result;
}

}  // namespace

extern "C" {

int statvfs(const char* path, struct statvfs* into) noexcept { return told("statvfs", path, into); }
int statvfs64(const char* path, struct statvfs64* into) noexcept { return told("statvfs64", path, into); }

int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*life)(void*), void* of) noexcept {
  static const auto real = of_library<decltype(::pthread_create)>("pthread_create");
  if (const int error = error_of("thread")) return error;
  return real(id, attributes, life, of);
}

ssize_t write(int file, const void* bytes, std::size_t size) {
  static const auto real = of_library<decltype(::write)>("write");
  return fails(file) ? -1 : real(file, bytes, size);
}

int fsync(int file) {
  static const auto real = of_library<decltype(::fsync)>("fsync");
  return fails(file) ? -1 : real(file);
}

int fdatasync(int file) {
  static const auto real = of_library<decltype(::fdatasync)>("fdatasync");
  return fails(file) ? -1 : real(file);
}

int ftruncate(int file, off_t size) noexcept {
  static const auto real = of_library<decltype(::ftruncate)>("ftruncate");
  return fails(file) ? -1 : real(file, size);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return opened("open", path, flags, mode);
}

}  // extern "C"
