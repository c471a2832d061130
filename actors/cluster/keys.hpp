#pragma once
// Who belongs to a cluster: whoever has its keys. They are made once, in a folder that every machine gets a copy of.

#include <filesystem>

namespace hydra {

/// The files of such a folder, PEM.
struct cluster_keys {
  std::filesystem::path authority;  ///< which has signed the certificate
  std::filesystem::path certificate;
  std::filesystem::path key;

  static cluster_keys in(const std::filesystem::path& folder) {
    return {folder / "authority.pem", folder / "certificate.pem", folder / "key.pem"};
  }
};

/// Makes the folder, readable by its owner alone, with a new authority and one certificate that is valid for ten years,
/// for all machines alike. The key of the authority is not kept: no other certificate can be made later, and a cluster
/// that must exclude a machine needs new keys. Throws fault_error{bad_input} if something is there already, {io}.
void make_cluster_keys(const std::filesystem::path& folder);

/// Throws fault_error{bad_input} naming the file that cannot be read, is not what it should be, belongs to another
/// authority or key, or is not valid now; also if the folder or the key is another user's, or others may read the key.
void check_cluster_keys(const cluster_keys& keys);

/// The folder of a run, in its own, with the keys that are made for it alone.
std::filesystem::path keys_of_run(const std::filesystem::path& run);

/// Makes them, unless there are valid ones: a run that is resumed lets in the nodes that try again. Throws
/// fault_error{io}.
cluster_keys take_keys_of_run(const std::filesystem::path& run);

}  // namespace hydra
