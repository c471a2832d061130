#include "models/data/file_looks.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/trimmed.hpp"
#include "runtime/base/utf8.hpp"
#include "runtime/storage/mapped_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace hydra {
namespace {

/// Without blank lines before it, and not more of it than a record usually has.
std::string_view first_line(std::string_view text) {
  constexpr std::size_t most = std::size_t{1} << 20;
  text = trimmed_start(without_byte_order_mark(text));
  return text.substr(0, std::min(text.find('\n'), most));
}

/// 0 unless each of the first records has as many; what the parser refuses has none.
std::size_t fields_by(csv_file_text text, char separator, std::size_t records) try {
  text.separator = separator;
  std::size_t fields = 0, seen = 0;
  for_each_record(text, [&](const csv_record& r) {
    fields = seen == 0 || r.fields.size() == fields ? r.fields.size() : 0;
    return ++seen < records;
  });
  return fields;
} catch (const fault_error&) {
  return 0;
}

}  // namespace

void refuse_utf16(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    refuse(file,
           fmt::format("is UTF-16, as its byte order mark says, UTF-8 is expected; convert it: iconv -f UTF-16 -t "
                       "UTF-8 {} > {}",
                       file.string(), file.stem().string() + "-utf8" + file.extension().string()));
}

void refuse_parquet(const std::filesystem::path& file, std::string_view text) {
  if (!text.starts_with("PAR1")) return;
  refuse(file, fmt::format("is a Parquet file, JSON lines are expected; convert it: python3 "
                           "apps/python/parquet_to_jsonl.py {} --output {}",
                           file.string(), file.stem().string() + ".jsonl"));
}

std::string_view json_look(std::string_view text) {
  const std::string_view line = first_line(text);
  if (line.starts_with('{')) return nlohmann::json::accept(line) ? "JSON lines" : "";
  text = without_byte_order_mark(text);
  for (const char c : {'[', '{', '"'}) {
    text = trimmed_start(text);
    if (!text.starts_with(c)) return "";
    text.remove_prefix(1);
  }
  return "a JSON array of records";
}

bool is_named_table(const std::filesystem::path& file) {
  return file.extension() == ".csv" || file.extension() == ".tsv";
}

std::optional<char> likely_separator(const csv_file_text& text, std::size_t records) {
  std::optional<char> best;
  std::size_t most = 1;
  for (const char c : {text.separator, ',', ';', '\t', '|'})
    if (const std::size_t fields = fields_by(text, c, records); fields > most) best = c, most = fields;
  return best;
}

std::string separator_key(char separator) {
  return fmt::format("separator = \"{}\"", separator == '\t' ? std::string{"tab"} : std::string{separator});
}

void refuse_table(const std::filesystem::path& file, std::string_view text) {
  if (first_line(text).starts_with('{') || text.find("\n{") != std::string_view::npos) return;
  const auto separator = likely_separator({file, std::as_bytes(std::span{text})}, 2);
  if (!separator && !is_named_table(file)) return;
  refuse(file, fmt::format("looks like a table of values with separators (CSV), JSON lines are expected; for a table "
                           "write kind = \"csv\"{} in [data.NAME], with text = \"COLUMN\" for a column of texts",
                           separator && *separator != ',' ? " and " + separator_key(*separator) : ""));
}

std::vector<std::string> notes_on_text(const std::filesystem::path& file) {
  const mapped_file mapped{file};
  const std::string_view text{reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()};
  const auto note = [&](std::string_view looks, std::string_view kind) {
    return std::vector{fmt::format("{}: looks like {}, and kind = \"text\" learns all of its characters; kind = {} in "
                                   "[data.NAME] reads its records",
                                   file.string(), looks, kind)};
  };
  if (const auto look = json_look(text); !look.empty()) return note(look, "\"jsonl\" (of conversations \"chat\")");
  if (is_named_table(file)) return note("a table of values with separators", "\"csv\", with text = \"COLUMN\",");
  return {};
}

}  // namespace hydra
