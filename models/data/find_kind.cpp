#include "models/data/find_kind.hpp"

#include "models/data/file_looks.hpp"
#include "models/data/json_line.hpp"
#include "models/data/json_texts.hpp"
#include "models/data/record_shapes.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/storage/unpacked_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

namespace hydra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t most_tried = 20;

/// Prompts and answers of no published shape, as people call them.
constexpr std::array<std::pair<const char*, const char*>, 6> usual_pairs{{{"question", "answer"},
                                                                          {"instruction", "response"},
                                                                          {"query", "response"},
                                                                          {"prompt", "response"},
                                                                          {"problem", "solution"},
                                                                          {"input", "output"}}};
constexpr std::array usual_texts{"text", "sentence", "content", "review", "body"};
constexpr std::array usual_labels{"label", "class", "target"};

bool has_text(const json& record, const char* name) { return record.contains(name) && record.at(name).is_string(); }

[[noreturn]] void refuse_shape(const json& record, const line_site& site) {
  if (is_preference(record))
    site.refuse(fmt::format("the fields {} are preferences; {}", quoted_fields(record), way_for_preferences));
  site.refuse(
      fmt::format("which fields are learnt is not known of {}; write a workload with kind = \"jsonl\" and "
                  "text = \"FIELD\", or prompt = \"{{FIELD}}\\n\" and answer = \"FIELD\" (docs/running.md)",
                  quoted_fields(record)));
}

found_kind kind_of_object(const json& record, const line_site& site) {
  if (const std::string_view kind = kind_of_record(record); !kind.empty()) return {.kind = std::string{kind}};
  if (has_text(record, "text")) {
    const auto label = std::ranges::find_if(usual_labels, [&](const char* name) { return record.contains(name); });
    return {.kind = "jsonl", .label = label == usual_labels.end() ? "" : *label};
  }
  for (const auto& [prompt, answer] : usual_pairs)
    if (has_text(record, prompt) && has_text(record, answer))
      return {.kind = "jsonl",
              .prompt = fmt::format("{{{}}}\n{}", prompt, has_text(record, "context") ? "{context?}\n" : ""),
              .answer = answer};
  refuse_shape(record, site);
}

found_kind kind_of_records(const fs::path& file, std::string_view text) {
  std::optional<found_kind> first;
  std::size_t tried = 0;
  const json_texts records{text};
  records.each(file, [&](const json_record_text& r) {
    const line_site site{file, r.number, records.is_array()};
    const found_kind found = kind_of_object(parse_object(r.text, site).object, site);
    if (!first) first = found;
    if (found.kind != first->kind || found.answer != first->answer)
      site.refuse(
          fmt::format("looks like data of kind = \"{}\", the first record like \"{}\"", found.kind, first->kind));
    return ++tried < most_tried;
  });
  if (!first) refuse(file, "has no record");
  return *first;
}

std::string one_of_names(const std::vector<std::string>& names, std::span<const char* const> usual) {
  const auto found = std::ranges::find_if(usual, [&](const char* name) { return std::ranges::count(names, name) > 0; });
  return found == usual.end() ? "" : *found;
}

found_kind kind_of_table(const fs::path& file, std::span<const std::byte> bytes) {
  csv_file_text table{file, bytes};
  table.separator = likely_separator(table, 2).value_or(',');
  std::vector<std::string> names;
  for_each_record(table, [&](csv_record& r) {
    names = std::move(r.fields);
    return false;
  });
  found_kind found{.kind = "csv",
                   .text = names.size() == 1 ? names.front() : one_of_names(names, usual_texts),
                   .label = one_of_names(names, usual_labels),
                   .separator = table.separator};
  if (found.text.empty())
    refuse(file,
           fmt::format("which column has the texts is not known of \"{}\"; of a table one column of texts is learnt: "
                       "write a workload with kind = \"csv\" and text = \"COLUMN\" (docs/running.md); prompts with "
                       "answers are read from JSON lines, {{\"prompt\": \"...\", \"completion\": \"...\"}} on each",
                       shown(fmt::format("{}", fmt::join(names, "\", \"")))));
  return found;
}

found_kind kind_of_file(const fs::path& file) {
  if (fs::is_directory(file)) return {.kind = "images"};
  const unpacked_file opened{file};
  const std::string_view text{reinterpret_cast<const char*>(opened.bytes().data()), opened.bytes().size()};
  const fs::path name = file.extension() == ".gz" ? file.stem() : file;
  refuse_utf16(file, opened.bytes());
  refuse_parquet(file, text);
  if (!json_look(text).empty() || name.extension() == ".jsonl" || name.extension() == ".json")
    return kind_of_records(file, text);
  if (is_named_table(name)) return kind_of_table(file, opened.bytes());
  return {.kind = "text"};
}

bool reads_several(const found_kind& found) {
  return found.kind != "images" && found.kind != "csv" && found.kind != "text";
}

}  // namespace

found_kind find_kind(const std::vector<fs::path>& files) {
  const found_kind first = kind_of_file(files.at(0));
  if (files.size() > 1 && !reads_several(first))
    refuse(
        fmt::format("data of kind = \"{}\" are one file or folder, {} are given: join them", first.kind, files.size()));
  for (const fs::path& file : files | std::views::drop(1)) {
    const found_kind found = kind_of_file(file);
    if (found.kind != first.kind || found.answer != first.answer)
      refuse(file, fmt::format("looks like data of kind = \"{}\", {} like \"{}\"; one [data.NAME] has one kind",
                               found.kind, files.at(0).string(), first.kind));
  }
  return first;
}

}  // namespace hydra
