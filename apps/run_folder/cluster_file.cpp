#include "apps/run_folder/cluster_file.hpp"

#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <exception>
#include <string>
#include <system_error>

namespace hydra::apps {

void record_cluster(const std::filesystem::path& run, const cluster_file& content) {
  const nlohmann::ordered_json j{{"run", fmt::format("{:016x}", content.run)}, {"address", content.address}};
  write_atomically(run / cluster_file_name, json_text(j, 2) + '\n');
}

std::optional<cluster_file> read_cluster(const std::filesystem::path& run) {
  const std::filesystem::path file = run / cluster_file_name;
  std::error_code error;
  if (!std::filesystem::exists(file, error) && !error) return std::nullopt;
  const std::string text = read_text(file, text_kind::settings);
  try {
    const auto j = parse_json(text);
    return cluster_file{std::stoull(j.at("run").get<std::string>(), nullptr, 16), j.at("address").get<std::string>()};
  } catch (const std::exception&) {
    hydra::refuse(file, "is damaged: delete it; hydra train --resume --listen makes it again");
  }
}

}  // namespace hydra::apps
