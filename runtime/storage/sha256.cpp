#include "runtime/storage/sha256.hpp"

#include "runtime/base/fault.hpp"

#include <openssl/evp.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace hydra {

struct sha256::state {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~state() { EVP_MD_CTX_free(context); }
};

namespace {

void check(int status) {
  if (status != 1) throw fault_error{fault_code::internal, "OpenSSL refuses to compute SHA-256"};
}

}  // namespace

sha256::sha256() : state_(std::make_unique<state>()) {
  check(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr));
}

sha256::~sha256() = default;

void sha256::add(std::span<const std::byte> bytes) {
  check(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()));
}

std::string sha256::finish() {
  std::array<unsigned char, 32> hash{};
  check(EVP_DigestFinal_ex(state_->context, hash.data(), nullptr));
  return fmt::format("{:02x}", fmt::join(hash, ""));
}

}  // namespace hydra
