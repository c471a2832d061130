#pragma once
// --base: where the checkpoints are now that models of a run began from.

#include "apps/workload/workload.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace hydra::apps {

/// Folders that are read in place of those that a run has recorded, each for the models that began from its weights:
/// their digest is in the checkpoints of these models.
class moved_bases {
 public:
  moved_bases() = default;
  /// Throws fault_error{bad_input} for what is not the folder of a checkpoint.
  explicit moved_bases(const std::vector<std::string>& folders);

  bool given() const noexcept { return !folders_.empty(); }
  /// Changes `chain.from` of these [[model]] tables of `run`. Throws fault_error{bad_input}: no model began from the
  /// weights of a given folder (with the digests), or a recorded folder is not there and none is given for it. Without
  /// a run there is nothing to change.
  void place(value_list& models, const std::filesystem::path& run) const;
  void place(value_table& workload, const std::filesystem::path& run) const;
  /// For reading the workload of `run`; outlived by this object.
  path_places places(const std::filesystem::path& began_in, const std::filesystem::path& run) const;

 private:
  struct folder {
    std::string path;    ///< absolute
    std::string digest;  ///< weight_source::identity()
  };

  std::vector<folder> folders_;
};

}  // namespace hydra::apps
