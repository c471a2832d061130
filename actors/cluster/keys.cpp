#include "actors/cluster/keys.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <system_error>

namespace hydra {

namespace {

namespace fs = std::filesystem;

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using private_key = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using certificate = std::unique_ptr<X509, freed_by<X509_free>>;
using file_handle = std::unique_ptr<std::FILE, freed_by<std::fclose>>;

constexpr long ten_years = 10L * 365 * 24 * 3600;
constexpr long two_days = 2L * 24 * 3600;

void require(bool done) {
  if (!done) {
    const auto code = ERR_get_error();
    ERR_clear_error();
    throw fault_error(fault_code::internal, std::string("OpenSSL: ") + ERR_reason_error_string(code));
  }
}

private_key new_key() {
  private_key key(EVP_EC_gen("P-256"));
  require(key != nullptr);
  return key;
}

void set_extension(X509& of, X509& issuer, int what, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, &issuer, &of, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, what, value));
  require(extension != nullptr && X509_add_ext(&of, extension.get(), -1) == 1);
}

/// Two days old: clocks of machines differ, also by time zones.
certificate unsigned_certificate(EVP_PKEY& key, const char* name) {
  certificate c(X509_new());
  std::uint64_t serial = 0;
  require(c != nullptr && RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1);
  auto* subject = X509_get_subject_name(c.get());
  require(X509_set_version(c.get(), X509_VERSION_3) == 1 &&
          ASN1_INTEGER_set_uint64(X509_get_serialNumber(c.get()), serial >> 1) == 1 &&
          X509_gmtime_adj(X509_getm_notBefore(c.get()), -two_days) != nullptr &&
          X509_gmtime_adj(X509_getm_notAfter(c.get()), ten_years) != nullptr && X509_set_pubkey(c.get(), &key) == 1 &&
          X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(name), -1, -1,
                                     0) == 1);
  return c;
}

certificate new_authority(EVP_PKEY& key) {
  auto c = unsigned_certificate(key, "Hydra cluster authority");
  require(X509_set_issuer_name(c.get(), X509_get_subject_name(c.get())) == 1);
  set_extension(*c, *c, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  set_extension(*c, *c, NID_key_usage, "critical,keyCertSign");
  set_extension(*c, *c, NID_subject_key_identifier, "hash");
  require(X509_sign(c.get(), &key, EVP_sha256()) > 0);
  return c;
}

certificate new_certificate(EVP_PKEY& key, X509& authority, EVP_PKEY& authority_key) {
  auto c = unsigned_certificate(key, "Hydra cluster");
  require(X509_set_issuer_name(c.get(), X509_get_subject_name(&authority)) == 1);
  set_extension(*c, authority, NID_basic_constraints, "critical,CA:FALSE");
  set_extension(*c, authority, NID_key_usage, "critical,digitalSignature");
  set_extension(*c, authority, NID_ext_key_usage, "serverAuth,clientAuth");
  require(X509_sign(c.get(), &authority_key, EVP_sha256()) > 0);
  return c;
}

/// Of the owner alone from its first byte on; must not exist.
void write_private(const fs::path& file, const std::function<bool(std::FILE*)>& content) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const file_handle out(descriptor < 0 ? nullptr : ::fdopen(descriptor, "w"));
  if (!out || !content(out.get()) || std::fflush(out.get()) != 0) {
    throw fault_error(fault_code::io, file.string() + " cannot be written: " + std::generic_category().message(errno));
  }
}

void make_private_folder(const fs::path& folder) {
  std::error_code why;
  if (!folder.parent_path().empty()) {
    fs::create_directories(folder.parent_path(), why);
  }
  if (::mkdir(folder.c_str(), S_IRWXU) == 0) {
    return;
  }
  if (errno == EEXIST) {
    refuse(folder, "exists, and is not overwritten; name another folder");
  }
  throw fault_error(fault_code::io, folder.string() + " cannot be made: " + std::generic_category().message(errno));
}

/// For one reading of OpenSSL's, which takes `text` along.
struct pem_source {
  explicit pem_source(const fs::path& file)
      : text(pem_of(file)), bytes(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))) {}

  static std::string pem_of(const fs::path& file) try {
    return read_text(file, text_kind::key);
  } catch (const fault_error& e) {
    throw fault_error(e.what_happened().code,
                      e.what_happened().text + "; `hydra cluster keys DIR` makes a folder of keys");
  }

  std::string text;
  std::unique_ptr<BIO, freed_by<BIO_free_all>> bytes;
};

/// As ssh demands it: whoever may replace the files could let anybody in. What is root's, as secrets that Kubernetes
/// mounts are, is root's to protect.
void check_owner(const fs::path& path, const struct stat& s) {
  if (s.st_uid != ::geteuid() && s.st_uid != 0) {
    refuse(path, "is another user's, who could let anybody in; use a copy of your own");
  }
  const bool replaced_by_owners = S_ISDIR(s.st_mode) && (s.st_mode & S_ISVTX) != 0;
  if ((s.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !replaced_by_owners) {
    refuse(path, fmt::format("others may change it (mode {:04o}), and could let anybody in: chmod go-w {}",
                             s.st_mode & 07777, path.filename().string()));
  }
}

void check_private(const cluster_keys& keys) {
  for (const auto& file : {keys.key, keys.authority, keys.certificate}) {
    const auto folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    struct stat above {}, s {};
    if (::stat(folder.c_str(), &above) != 0 || ::stat(file.c_str(), &s) != 0) {
      return;  // whoever opens it says why
    }
    if (file == keys.key && s.st_uid == ::geteuid() && (s.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
      refuse(file, fmt::format("others may read or change it (mode {:04o}), and whoever has it belongs to the cluster: "
                               "chmod 600 key.pem (a mounted secret: defaultMode 0400), or make new keys if somebody "
                               "may have read it",
                               s.st_mode & 07777));
    }
    check_owner(file, s);
    check_owner(folder, above);
  }
}

certificate read_certificate(const fs::path& file) {
  certificate c(PEM_read_bio_X509(pem_source(file).bytes.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (!c) {
    refuse(file, "is not a certificate (PEM)");
  }
  if (X509_cmp_current_time(X509_get0_notBefore(c.get())) > 0) {
    refuse(file, "is not valid yet; is the clock of this machine right?");
  }
  if (X509_cmp_current_time(X509_get0_notAfter(c.get())) < 0) {
    refuse(file, "is not valid any more; `hydra cluster keys DIR` makes new keys");
  }
  return c;
}

}  // namespace

void make_cluster_keys(const std::filesystem::path& folder) {
  make_private_folder(folder);
  const auto authority_key = new_key();
  const auto authority = new_authority(*authority_key);
  const auto key = new_key();
  const auto own = new_certificate(*key, *authority, *authority_key);
  const auto files = cluster_keys::in(folder);
  write_private(files.authority, [&](std::FILE* out) { return PEM_write_X509(out, authority.get()) == 1; });
  write_private(files.certificate, [&](std::FILE* out) { return PEM_write_X509(out, own.get()) == 1; });
  write_private(files.key, [&](std::FILE* out) {
    return PEM_write_PKCS8PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
  });
}

void check_cluster_keys(const cluster_keys& keys) {
  check_private(keys);
  const auto authority = read_certificate(keys.authority);
  const auto own = read_certificate(keys.certificate);
  const private_key key(PEM_read_bio_PrivateKey(pem_source(keys.key).bytes.get(), nullptr, nullptr, nullptr));
  const private_key authority_key(X509_get_pubkey(authority.get()));
  const bool is_signed = authority_key && X509_verify(own.get(), authority_key.get()) == 1;
  const bool belongs = key && X509_check_private_key(own.get(), key.get()) == 1;
  ERR_clear_error();
  if (!key) {
    refuse(keys.key, "is not a private key (PEM)");
  }
  if (!belongs) {
    refuse(keys.key, "is not the key of " + keys.certificate.string());
  }
  if (!is_signed) {
    refuse(keys.certificate, "was not signed by " + keys.authority.string());
  }
}

fs::path keys_of_run(const fs::path& run) { return run / "keys"; }

cluster_keys take_keys_of_run(const fs::path& run) {
  const auto folder = keys_of_run(run);
  const auto keys = cluster_keys::in(folder);
  check_private(keys);
  try {
    check_cluster_keys(keys);
  } catch (const fault_error& e) {  // they are not there, or not whole, or not valid any more
    if (e.what_happened().code != fault_code::bad_input) {
      throw;
    }
    std::error_code why;
    fs::remove_all(folder, why);
    if (why) {
      throw fault_error(fault_code::io, folder.string() + " cannot be removed, to make new keys: " + why.message());
    }
    make_cluster_keys(folder);
  }
  return keys;
}

}  // namespace hydra
