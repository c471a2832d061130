#include "models/digest.hpp"

#include "runtime/fault.hpp"

#include <openssl/evp.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>

namespace hydra {

static_assert(std::endian::native == std::endian::little, "the digest is defined over little-endian values");

struct digest::state {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~state() { EVP_MD_CTX_free(context); }
};

namespace {

void check(int status) {
  if (status != 1) throw fault_error{fault_code::internal, "OpenSSL refuses to compute SHA-256"};
}

}  // namespace

digest::digest() : state_(std::make_unique<state>()) {
  check(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr));
}

digest::~digest() = default;

void digest::add(std::span<const float> values) {
  check(EVP_DigestUpdate(state_->context, values.data(), values.size_bytes()));
}

std::string digest::finish() {
  std::array<unsigned char, 32> hash{};
  check(EVP_DigestFinal_ex(state_->context, hash.data(), nullptr));
  return fmt::format("sha256:{:02x}", fmt::join(hash, ""));
}

}  // namespace hydra
