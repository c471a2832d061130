#include "actors/admission/recorded_choice.hpp"

#include "runtime/base/json_text.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>

namespace hydra {

namespace {

using json = nlohmann::ordered_json;

std::filesystem::path file_in(const std::filesystem::path& run) { return run / "devices.json"; }

}  // namespace

void record_choice(const std::filesystem::path& run, const std::vector<std::string>& all,
                   const std::vector<std::size_t>& chosen) {
  write_atomically(file_in(run), json_text(json{{"devices", all}, {"used", chosen}}, 2) + "\n");
}

std::vector<std::size_t> recorded_choice(const std::filesystem::path& run, const std::vector<std::string>& all) try {
  if (kind_of(file_in(run)) != std::filesystem::file_type::regular) {
    return {};
  }
  const auto j = parse_ordered_json(read_text(file_in(run), text_kind::record));
  const auto used = j.at("used").get<std::vector<std::size_t>>();
  const bool same = j.at("devices").get<std::vector<std::string>>() == all;
  const bool there = std::ranges::all_of(used, [&](std::size_t i) { return i < all.size(); });
  return same && there ? used : std::vector<std::size_t>{};
} catch (const std::exception&) {
  return {};  // they are chosen again
}

}  // namespace hydra
