#include "apps/commands/search_log.hpp"

#include "actors/selection/search_record.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

constexpr const char* search_file = "search.jsonl";

/// Half a line, which a killed run has left, is removed: the next one begins a line.
std::vector<search_record> recorded(const fs::path& file) {
  std::error_code none;
  if (!fs::is_regular_file(file, none)) return {};
  const std::string text = read_text(file);
  fs::resize_file(file, text.rfind('\n') + 1);
  try {
    return parse_search_records(text);
  } catch (const fault_error& e) {
    throw fault_error{e.what_happened().code, fmt::format("{}: {}", file.string(), e.what_happened().text)};
  }
}

void append(const fs::path& file, const search_record& r) {
  std::ofstream out{file, std::ios::app};
  out << to_json_line(r) << std::flush;
  if (!out) throw fault_error{fault_code::io, fmt::format("{} cannot be written", file.string())};
}

}  // namespace

void add_search(session& into, const workload& w, bool resumes) {
  if (!w.search) return;
  const fs::path file = w.options.output / search_file;
  const auto earlier = resumes ? recorded(file) : std::vector<search_record>{};
  into.use_search(
      *w.search, [file](const search_record& r) { append(file, r); }, earlier);
}

}  // namespace hydra::apps
