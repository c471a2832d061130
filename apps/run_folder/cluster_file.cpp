#include "apps/run_folder/cluster_file.hpp"

#include "runtime/base/json_text.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <exception>
#include <ostream>

namespace hydra::apps {

void record_cluster(const std::filesystem::path& run, const cluster_file& content) {
  const nlohmann::ordered_json j{{"run", fmt::format("{:016x}", content.run)}, {"address", content.address}};
  write_atomically(run / cluster_file_name, [&](std::ostream& out) { out << json_text(j, 2) << '\n'; });
}

std::optional<cluster_file> read_cluster(const std::filesystem::path& run) try {
  const auto j = parse_json(read_text(run / cluster_file_name, text_kind::settings));
  return cluster_file{std::stoull(j.at("run").get<std::string>(), nullptr, 16), j.at("address").get<std::string>()};
} catch (const std::exception&) {
  return std::nullopt;
}

}  // namespace hydra::apps
