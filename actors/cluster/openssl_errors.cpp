#include "actors/cluster/openssl_errors.hpp"

#include <dlfcn.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

namespace {

/// OpenSSL's own function, which the one of the same name below hides.
template <class Function>
Function* hidden(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Found before those of libssl, because they belong to the program.
extern "C" {

int SSL_read(SSL* s, void* bytes, int n) {
  static auto* const read = hidden<int(SSL*, void*, int)>("SSL_read");
  ERR_clear_error();
  return read(s, bytes, n);
}

int SSL_write(SSL* s, const void* bytes, int n) {
  static auto* const write = hidden<int(SSL*, const void*, int)>("SSL_write");
  ERR_clear_error();
  return write(s, bytes, n);
}

int SSL_accept(SSL* s) {
  static auto* const accept = hidden<int(SSL*)>("SSL_accept");
  ERR_clear_error();
  return accept(s);
}

int SSL_connect(SSL* s) {
  static auto* const connect = hidden<int(SSL*)>("SSL_connect");
  ERR_clear_error();
  return connect(s);
}

}  // extern "C"

namespace hydra {

bool openssl_errors_are_cleared() {
  const auto used = [](const char* name, void* ours) { return dlsym(RTLD_DEFAULT, name) == ours; };
  return used("SSL_read", reinterpret_cast<void*>(&SSL_read)) && hidden<int(SSL*)>("SSL_accept") != &SSL_accept;
}

}  // namespace hydra
