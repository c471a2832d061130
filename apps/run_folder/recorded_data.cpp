#include "apps/run_folder/recorded_data.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/base/utf8.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <span>
#include <utility>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// A source of which only the shapes and types of samples are known.
class data_kind_only final : public data_source {
 public:
  struct facts {
    tensor_spec input, target;
    std::vector<sample_part> parts;
    std::int64_t classes = 0;
    std::vector<std::string> class_names;
    std::optional<pixel_scale> scaling;
    std::string description;
  };
  explicit data_kind_only(facts of) : of_(std::move(of)) {}
  std::size_t samples(split) const override { return 0; }
  tensor_spec sample_input() const override { return of_.input; }
  tensor_spec sample_target() const override { return of_.target; }
  std::vector<sample_part> sample_parts() const override { return of_.parts; }
  std::int64_t classes() const override { return of_.classes; }
  std::int64_t observed_vocabulary() const override { return 0; }  // the run has looked at the samples
  std::vector<std::string> class_names() const override { return of_.class_names; }
  std::optional<pixel_scale> pixel_scaling() const override { return of_.scaling; }
  std::string describe() const override { return of_.description; }
  std::size_t read(split, std::size_t, std::span<std::byte>, std::span<std::byte>) const override {
    throw fault_error{fault_code::internal,
                      of_.description + " is only a description of data: it has no samples to read"};
  }

 private:
  facts of_;
};

ordered_json json_of(const tensor_spec& s) { return {{"shape", s.shape}, {"type", to_string(s.type)}}; }

ordered_json json_of(const sample_part& p) {
  return {{"name", p.name}, {"type", p.type}, {"width", p.width}, {"shape", p.shape}};
}

ordered_json json_of(const data_source& s) {
  ordered_json j{{"description", s.describe()},
         {"input", json_of(s.sample_input())},
         {"target", json_of(s.sample_target())},
         {"classes", s.classes()},
         {"class_names", s.class_names()}};
  for (const sample_part& p : s.sample_parts()) j["parts"].push_back(json_of(p));
  if (const auto scale = s.pixel_scaling()) j["pixels"] = {{"mean", scale->mean}, {"deviation", scale->deviation}};
  return j;
}

tensor_spec spec_from(const ordered_json& j) {
  const auto type = element_named(j.at("type").get<std::string>());
  if (!type) throw fault_error{fault_code::bad_input, "it has an unknown type"};
  return {j.at("shape").get<std::vector<std::int64_t>>(), *type};
}

std::vector<sample_part> parts_from(const ordered_json& source) {
  std::vector<sample_part> parts;
  for (const ordered_json& p : source.value("parts", ordered_json::array()))
    parts.push_back({p.at("name").get<std::string>(), p.at("type").get<std::string>(),
                     p.at("width").get<std::uint64_t>(), p.at("shape").get<std::vector<std::int64_t>>()});
  return parts;
}

std::optional<pixel_scale> scale_from(const ordered_json& source) {
  const auto found = source.find("pixels");
  if (found == source.end()) return std::nullopt;
  return pixel_scale{found->at("mean").get<std::vector<double>>(), found->at("deviation").get<std::vector<double>>()};
}

std::shared_ptr<const data_source> source_from(const ordered_json& j) {
  return std::make_shared<data_kind_only>(data_kind_only::facts{
      spec_from(j.at("input")), spec_from(j.at("target")), parts_from(j), j.at("classes").get<std::int64_t>(),
      j.at("class_names").get<std::vector<std::string>>(), scale_from(j), j.at("description").get<std::string>()});
}

recorded_data parse(const ordered_json& j) {
  recorded_data all{.began_in = j.at("working_directory").get<std::string>(), .sources = {}};
  for (const auto& [model, source] : j.at("models").items()) all.sources[model] = source_from(source);
  for (const ordered_json& f : j.value("files", ordered_json::array()))
    all.files.push_back({f.at("data").get<std::string>(), f.at("path").get<std::string>(),
                         f.at("bytes").get<std::uint64_t>(), f.at("modified").get<std::string>()});
  return all;
}

[[noreturn]] void refuse_content(const fs::path& file, const std::string& why) {
  throw fault_error{fault_code::bad_input, fmt::format("{}: not what a run writes: {}", file.string(), why)};
}

}  // namespace

void check_working_directory() {
  const std::string path = fs::current_path().string();
  if (valid_utf8(std::as_bytes(std::span{path})) == path.size()) return;
  throw fault_error{
      fault_code::bad_input,
      fmt::format("the working directory is not UTF-8: \"{}\"; a run records where its relative paths start, "
                  "so start it in another",
                  path)};
}

void record_data(const fs::path& run, const std::map<std::string, std::shared_ptr<const data_source>>& sources,
                 const std::vector<input_file>& files) {
  ordered_json j{{"working_directory", fs::current_path().string()},
                 {"models", ordered_json::object()},
                 {"files", ordered_json::array()}};
  for (const input_file& f : files)
    j["files"].push_back({{"data", f.data}, {"path", f.path.string()}, {"bytes", f.bytes}, {"modified", f.modified}});
  for (const auto& [model, source] : sources) j["models"][model] = json_of(*source);
  write_atomically(run / data_file, json_text(j, 2) + "\n");
}

std::optional<recorded_data> read_recorded_data(const fs::path& run) {
  const fs::path file = run / data_file;
  if (kind_of(file) == fs::file_type::not_found) return std::nullopt;
  const std::string text = read_text(file, text_kind::record);
  try {
    return parse(parse_json(text));
  } catch (const ordered_json::exception& e) {
    refuse_content(file, json_complaint(e));
  } catch (const fault_error& e) {
    refuse_content(file, e.what_happened().text);
  }
}

}  // namespace hydra::apps
