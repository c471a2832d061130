#pragma once
// A workload for a checkpoint and a user's own files, as a text that a person goes on with.

#include "models/data/find_kind.hpp"
#include "models/families/catalog.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hydra::apps {

/// What is written; all of it was found, none of it was asked.
struct first_workload {
  std::filesystem::path folder{};  ///< of the checkpoint
  std::vector<std::filesystem::path> files{};
  found_kind data{};
  chain_description chain{};
  bool new_head = false;        ///< the classes are those of the data
  std::string chat_template{};  ///< TOML; empty: the key is left out
  std::string devices{};        ///< [[device]] tables, with comments
  std::int64_t context = 0;     ///< tokens of a sample; 0: they are images
  std::size_t batch_size = 1;
  std::size_t steps_of_epoch = 1;
  bool validates = false;   ///< there are samples to validate on
  bool leaves_out = false;  ///< there are records that cannot be read
};

/// Looks at folder and files. The data are not opened: batch size and steps are left at 1. Throws
/// fault_error{bad_input} with the file: as describe_from() and find_kind() do, and for data that the model does not
/// take.
first_workload find_first_workload(const std::filesystem::path& folder,
                                   const std::vector<std::filesystem::path>& files);

/// TOML. `file`: its name, for the commands in its first lines.
std::string to_text(const first_workload& w, const std::string& file);

}  // namespace hydra::apps
