#pragma once
// A small model as hydra_export writes it, and data for it.

#include "models/data/data_options.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>

namespace hydra::test {

/// Four layers: an embedding that is also the keys and values of the third and the head of the last (three places of
/// one parameter), a linear map with dropout between whose output and the first one's a residual is carried, and which
/// samples count, carried as bools to the end. 8 classes for each of 4 ids.
class exported_folder {
 public:
  exported_folder();

  const std::filesystem::path& path() const noexcept { return folder_.path(); }
  /// 24 samples to train on, 8 to validate.
  tensor_files data() const;

 private:
  temporary_folder folder_;
};

}  // namespace hydra::test
