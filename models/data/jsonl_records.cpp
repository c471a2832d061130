#include "models/data/jsonl_records.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/utf8.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace hydra {
namespace {

using nlohmann::json;

/// A line of a file, for messages.
struct line_site {
  const std::filesystem::path& file;
  std::size_t number;

  [[noreturn]] void refuse(const std::string& what) const {
    throw fault_error{fault_code::bad_input, fmt::format("{}:{}: {}", file.string(), number, what)};
  }
};

json parse_object(std::string_view line, const line_site& site) {
  if (const std::string why = utf8_complaint(line, " of the line"); !why.empty()) site.refuse(why);
  json parsed;
  try {
    parsed = parse_json(line);
  } catch (const fault_error& e) {
    site.refuse(e.what_happened().text);
  } catch (const json::parse_error& e) {
    site.refuse(fmt::format("no JSON (byte {} of the line): {}", e.byte, json_complaint(e)));
  } catch (const json::exception& e) {
    site.refuse(fmt::format("no JSON: {}", json_complaint(e)));
  }
  if (!parsed.is_object()) site.refuse(fmt::format("an object is expected, this is of type {}", parsed.type_name()));
  return parsed;
}

const json& field(const json& object, const std::string& name, const line_site& site) {
  const auto found = object.find(name);
  if (found != object.end()) return *found;
  std::vector<std::string> known;
  for (const auto& [key, value] : object.items()) known.push_back(key);
  const std::string near = near_name(name, known);
  site.refuse(
      fmt::format("there is no \"{}\"{}", name, near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near)));
}

std::string text_field(const json& object, const std::string& name, const line_site& site) {
  const json& value = field(object, name, site);
  if (!value.is_string()) site.refuse(fmt::format("\"{}\" is no text but of type {}", name, value.type_name()));
  return value.get<std::string>();
}

class_label label_field(const json& object, const std::string& name, const line_site& site) {
  const json& value = field(object, name, site);
  if (value.is_string()) return value.get<std::string>();
  const bool above = value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>());
  if (value.is_number_integer() && !above) return value.get<std::int64_t>();
  site.refuse(fmt::format("\"{}\" is neither a text nor an integer below 2^63 but {}", name, json_text(value)));
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace

jsonl_records::jsonl_records(const std::filesystem::path& file, record_fields fields)
    : path_(file), fields_(std::move(fields)), file_(file) {
  std::size_t number = 1;
  for (std::uint64_t begin = 0; begin < file_.bytes().size(); ++number) {
    const std::string_view line = line_at(begin);
    if (!is_blank(line)) add(begin, number);
    begin += line.size() + 1;
  }
  if (begins_.empty()) throw fault_error{fault_code::bad_input, fmt::format("{} has no record", path_.string())};
}

void jsonl_records::add(std::uint64_t begin, std::size_t number) {
  const text_record r = parse(line_at(begin), number);
  if (!fields_.label.empty()) labels_.try_emplace(r.label, number);
  begins_.push_back(begin);
}

std::string_view jsonl_records::line_at(std::uint64_t begin) const {
  const std::string_view all{reinterpret_cast<const char*>(file_.bytes().data()), file_.bytes().size()};
  return all.substr(begin, std::min(all.find('\n', begin), all.size()) - begin);
}

text_record jsonl_records::parse(std::string_view line, std::size_t number) const {
  const line_site site{path_, number};
  const json object = parse_object(line, site);
  text_record r;
  if (!fields_.prompt.empty()) r.prompt = text_field(object, fields_.prompt, site);
  r.text = text_field(object, fields_.text, site);
  if (r.text.empty()) site.refuse(fmt::format("\"{}\" is empty", fields_.text));
  if (!fields_.label.empty()) r.label = label_field(object, fields_.label, site);
  return r;
}

/// The line number is counted for messages only: the record was valid when the file was opened.
text_record jsonl_records::record(std::size_t index) const {
  const std::uint64_t begin = begins_.at(index);
  try {
    return parse(line_at(begin), 0);
  } catch (const fault_error&) {
    const auto before = file_.bytes().first(begin);
    return parse(line_at(begin), 1 + static_cast<std::size_t>(std::ranges::count(before, std::byte{'\n'})));
  }
}

}  // namespace hydra
