#include "models/data/jsonl_records.hpp"

#include "models/data/file_looks.hpp"
#include "models/data/json_line.hpp"
#include "models/data/read_conversation.hpp"
#include "models/data/record_check.hpp"
#include "models/data/record_shapes.hpp"
#include "models/data/tokenized_text.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

namespace hydra {
namespace {

using nlohmann::json;

/// A number is an integer if it is whole: a column with gaps is written as 0.0, 1.0.
std::optional<std::int64_t> whole_number(const json& value) {
  constexpr double end = 0x1p63;
  if (value.is_number_float()) {
    const auto x = value.get<double>();
    return x >= -end && x < end && std::trunc(x) == x ? std::optional{static_cast<std::int64_t>(x)} : std::nullopt;
  }
  const bool above = value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>());
  return value.is_number_integer() && !above ? std::optional{value.get<std::int64_t>()} : std::nullopt;
}

/// true and false are texts, as in a CSV file.
class_label label_field(const json& object, const std::string& name, const line_site& site) {
  const json& value = field(object, name, site);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return json_text(value);
  if (const auto number = whole_number(value)) return *number;
  site.refuse(
      fmt::format("\"{}\" is {}, but a class is a text, a whole number below 2^63, true or false; write it so, or "
                  "leave the record out",
                  shown(name), shown_json(value)));
}

/// A record of another shape where a text was expected.
void hint_at_kind(const json& object, const std::vector<std::string>& texts, const line_site& site) {
  if (texts.empty() || std::ranges::any_of(texts, [&](const std::string& t) { return object.contains(t); })) return;
  const std::string_view kind = kind_of_record(object);
  if (kind == "chat")
    site.refuse(fmt::format("there is no \"{}\", but \"{}\": these are conversations, which kind = \"chat\" reads",
                            shown(texts[0]), object.contains("messages") ? "messages" : "conversations"));
  if (!kind.empty())
    site.refuse(fmt::format("there is no \"{}\", but {}: write kind = \"{}\" in [data.NAME]", shown(texts[0]),
                            kind == "alpaca" ? "\"instruction\" and \"output\"" : "\"prompt\" and \"completion\"",
                            kind));
}

bool is_message_list(const json& object, const std::string& name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_array() && !found->empty() && found->front().is_object() &&
         found->front().contains("role");
}

/// Prompts and answers that are lists of messages, as TRL reads them, too.
void hint_at_messages(const json& object, const field_template& prompt, const field_template& answer,
                      const line_site& site) {
  for (const std::string& name : prompt.fields())
    if (is_message_list(object, name))
      site.refuse(
          fmt::format("\"{0}\" is a list of messages, a text is expected; make one conversation of both, which "
                      "kind = \"chat\" reads with loss_on = \"last\": jq -c '{{messages: (.{0} + .{1})}}'",
                      shown(name), shown(answer.fields().at(0))));
}

field_template template_of(const std::string& text) { return text.empty() ? field_template{} : field_template{text}; }

void tested(const text_record& r, const record_test& test, const line_site& site) try {
  test(r);
} catch (const fault_error& e) {
  site.refuse(e.what_happened().text);
}

}  // namespace

jsonl_records::jsonl_records(const std::filesystem::path& file, record_fields fields)
    : path_(file),
      fields_(std::move(fields)),
      prompt_(template_of(fields_.prompt)),
      short_prompt_(template_of(fields_.short_prompt)),
      text_(fields_.chat ? field_template{} : template_of(fields_.text)),
      file_(file),
      digest_(digest_of(file_.packed())) {
  const std::string_view all{reinterpret_cast<const char*>(file_.bytes().data()), file_.bytes().size()};
  refuse_utf16(path_, file_.bytes());
  refuse_parquet(path_, all);
  texts_ = json_texts{all};
  if (!texts_.is_array()) refuse_table(path_, all);
  record_check check{path_, fields_.bad_rows, texts_.is_array()};
  census seen;
  texts_.each(path_, [&](const json_record_text& r) {
    attempt(r, check, seen);
    return true;
  });
  check.finish();
  if (begins_.empty()) refuse(fmt::format("{} has no record", path_.string()));
  left_out_ = check.left_out();
  notes_ = check.notes();
  std::ranges::move(notes_on(seen), std::back_inserter(notes_));
}

std::vector<std::string> jsonl_records::notes_on(const census& seen) const {
  const bool learns_class = fields_.chat || !fields_.label.empty();
  std::vector<std::string> notes = seen.unread.notes(path_, "fields", learns_class ? "" : "label");
  if (seen.alpaca && seen.unread.contains("input"))
    notes.front() +=
        "; kind = \"alpaca\" reads instruction, input and output, as does a text with several fields: "
        "prompt = \"{instruction}\\n{input?}\\n\"";
  if (seen.not_finite > 0)
    notes.push_back(fmt::format("{}: NaN and Infinity, which are not JSON, are read as null in {}", path_.string(),
                                counted(seen.not_finite, "record")));
  return notes;
}

/// Where an element is no JSON, a bracket or a quote may be missing, and the next one may begin elsewhere: it is never
/// left out.
void jsonl_records::attempt(const json_record_text& r, record_check& check, census& seen) {
  const line_site site = site_of(r.number);
  if (!texts_.is_array()) return check.attempt([&] { add(parse_object(r.text, site), r, seen); });
  const parsed_object object = parse_object(r.text, site);
  check.attempt([&] { add(object, r, seen); });
}

void jsonl_records::add(const parsed_object& parsed, const json_record_text& at, census& seen) {
  const line_site site = site_of(at.number);
  const text_record r = read(parsed.object, site);
  if (fields_.test) tested(r, fields_.test, site);
  if (!fields_.label.empty()) labels_.try_emplace(r.label, label_site{path_, at.number, site.of_array});
  begins_.push_back(at.begin);
  count(parsed, seen);
}

line_site jsonl_records::site_of(std::size_t number) const { return {path_, number, texts_.is_array()}; }

void jsonl_records::count(const parsed_object& line, census& seen) const {
  seen.not_finite += line.not_finite ? 1 : 0;
  if (fields_.chat) return add_unread(line.object, seen.unread);
  seen.alpaca = seen.alpaca || kind_of_record(line.object) == "alpaca";
  std::vector<std::string> read{fields_.label};
  for (const field_template* of : {&prompt_, &short_prompt_, &text_})
    std::ranges::move(of->fields(), std::back_inserter(read));
  seen.unread.add(line.object, read);
}

text_record jsonl_records::read(const json& object, const line_site& site) const {
  text_record r;
  if (fields_.chat) {
    r.turns = read_conversation(object, site);
    return r;
  }
  if (prompt_.empty()) hint_at_kind(object, text_.fields(), site);
  hint_at_messages(object, prompt_, text_, site);
  const bool shorter = !short_prompt_.empty() && !prompt_.filled_by(object);
  r.prompt = (shorter ? short_prompt_ : prompt_).of(object, site);
  r.text = text_.of(object, site);
  if (r.text.empty()) site.refuse(fmt::format("\"{}\" is empty", shown(fields_.text)));
  if (!fields_.label.empty()) r.label = label_field(object, fields_.label, site);
  return r;
}

std::string jsonl_records::identity() const {
  std::string read = "chat by weights";
  if (!fields_.chat) read = fmt::format("fields {:?} {:?} {:?}", fields_.prompt, fields_.text, fields_.label);
  if (!fields_.short_prompt.empty()) read += fmt::format(" or prompt {:?}", fields_.short_prompt);
  return fmt::format("jsonl {} {}{}", digest_, read, left_out_ > 0 ? fmt::format(", {} left out", left_out_) : "");
}

std::string jsonl_records::where(std::size_t index) const {
  return site_of(texts_.number_of(path_, begins_.at(index))).text();
}

/// The number is counted for messages only: the record was valid when the file was opened.
text_record jsonl_records::record(std::size_t index) const {
  const std::uint64_t begin = begins_.at(index);
  const auto read_as = [&](std::size_t number) {
    const line_site site = site_of(number);
    return read(parse_object(texts_.at(path_, begin), site).object, site);
  };
  try {
    return read_as(0);
  } catch (const fault_error&) {
    return read_as(texts_.number_of(path_, begin));
  }
}

}  // namespace hydra
