#include "apps/commands/text_input.hpp"

#include "models/data/json_line.hpp"
#include "models/data/json_texts.hpp"
#include "models/data/record_shapes.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/utf8.hpp"
#include "runtime/storage/mapped_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string_view text_of(const fs::path& file, const mapped_file& mapped) {
  const auto bytes = mapped.bytes();
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const std::size_t valid = valid_utf8(bytes);
  if (valid == text.size()) return text;
  const auto line = 1 + std::ranges::count(text.substr(0, valid), '\n');
  refuse_line(file, static_cast<std::size_t>(line), fmt::format("is not UTF-8 from byte {} of the file on", valid));
}

void each_line(std::string_view text, const text_sink& sink) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    sink({line, number});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Records that have no such text, but are of a kind that has options of its own.
void hint_at_options(const json& record, const std::string& field, const line_site& site) {
  const std::string_view kind = kind_of_record(record);
  if (record.contains(field) || kind.empty()) return;
  const std::string option = kind == "chat" ? "--template checkpoint" : fmt::format("--kind {}", kind);
  site.refuse(fmt::format("there is no \"{}\", but {}: {} tokenizes such records; --train reads texts only",
                          shown(field), quoted_fields(record), option));
}

/// As the records of a workload are read.
void each_record(const fs::path& file, const std::string& field, const text_sink& sink) {
  const mapped_file mapped{file};
  const json_texts records{{reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()}};
  records.each(file, [&](const json_record_text& r) {
    const line_site site{file, r.number, records.is_array()};
    const json record = parse_object(r.text, site).object;
    hint_at_options(record, field, site);
    sink({text_field(record, field, site), r.number});
    return true;
  });
}

}  // namespace

bool holds_records(const fs::path& file) { return file.extension() == ".jsonl" || file.extension() == ".json"; }

void each_text(const fs::path& file, const std::string& field, const text_sink& sink) {
  if (holds_records(file)) return each_record(file, field, sink);
  const mapped_file mapped{file};
  sink({text_of(file, mapped), 1});
}

void each_line_or_record(const fs::path& file, const std::string& field, const text_sink& sink) {
  if (holds_records(file)) return each_record(file, field, sink);
  const mapped_file mapped{file};
  each_line(text_of(file, mapped), sink);
}

void each_json_line(const fs::path& file, const text_sink& sink) {
  const mapped_file mapped{file};
  each_line(text_of(file, mapped), [&](const input_text& line) {
    if (line.text.find_first_not_of(" \t") != std::string_view::npos) sink(line);
  });
}

json parse_line(const fs::path& file, const input_text& line) try {
  return parse_json(line.text);
} catch (const fault_error& e) {
  refuse_line(file, line.line, e.what_happened().text);
} catch (const json::exception&) {
  refuse_line(file, line.line, "is not JSON");
}

void refuse_line(const fs::path& file, std::size_t line, std::string_view why) {
  throw fault_error{fault_code::bad_input, fmt::format("{}: line {}: {}", file.string(), line, why)};
}

}  // namespace hydra::apps
