#pragma once
// cluster.json of a run folder: where its coordinator is.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace hydra::apps {

inline constexpr const char* cluster_file_name = "cluster.json";

struct cluster_file {
  std::uint64_t run = 0;  ///< random, the same when the run is resumed
  std::string address;    ///< "node1:7878"; of the last start
};

/// Throws fault_error{io}.
void record_cluster(const std::filesystem::path& run, const cluster_file& content);

/// None if there is no such file: the run was not that of a cluster, or has not begun. Throws fault_error{bad_input}
/// for one that is damaged or must not be read, {io}.
std::optional<cluster_file> read_cluster(const std::filesystem::path& run);

}  // namespace hydra::apps
