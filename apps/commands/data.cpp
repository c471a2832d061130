#include "apps/commands/commands.hpp"

#include "actors/session/session.hpp"
#include "apps/commands/given_workload.hpp"
#include "apps/commands/part_name.hpp"
#include "apps/commands/shared_options.hpp"
#include "apps/commands/shown_sample.hpp"
#include "apps/commands/written_file.hpp"
#include "apps/workload/assemble.hpp"
#include "apps/workload/workload.hpp"
#include "models/data/data_catalog.hpp"
#include "models/data/png_writer.hpp"
#include "models/tokenizers/tokenizer.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct data_command_options {
  std::string file;
  std::optional<std::string> model, pictures;
  std::vector<std::string> set;
  std::int64_t show = 3;
  bool validation = false, json = false;
};

/// A source with the models that read it alike.
struct viewed_data {
  std::string name;                  ///< of [data.NAME]
  std::vector<std::string> models;
  std::shared_ptr<const data_source> source;
  sample_form form = sample_form::causal;
  std::shared_ptr<const tokenizer> words;  ///< null: none
};

std::shared_ptr<const tokenizer> words_of(const workload& w, const model_entry& m) {
  const auto choice = tokenizer_for(w.data.at(m.data).description, m.description.chain.wants());
  return choice ? open_tokenizer(*choice) : nullptr;
}

std::vector<viewed_data> viewed(const workload& w,
                                const std::map<std::string, std::shared_ptr<const data_source>>& sources,
                                const std::optional<std::string>& model) {
  std::vector<viewed_data> all;
  for (const model_entry& m : w.models) {
    const std::string& name = m.description.name;
    if (model && *model != name) continue;
    const auto& source = sources.at(name);
    const auto known = std::ranges::find(all, source, &viewed_data::source);
    if (known != all.end()) {
      known->models.push_back(name);
      continue;
    }
    all.push_back({m.data, {name}, source, m.description.chain.wants().form, words_of(w, m)});
  }
  if (all.empty()) refuse(fmt::format("--model: the workload has no model \"{}\"", model.value_or("")));
  return all;
}

bool has_pictures(const data_source& source) {
  const auto shape = source.sample_input().shape;
  return source.pixel_scaling() && shape.size() == 3 && (shape[0] == 1 || shape[0] == 3);
}

/// The pixels of a sample of an image, as they were before they were scaled.
image picture_of(const data_source& source, const shown_sample& s) {
  const auto shape = source.sample_input().shape;
  const auto scale = source.pixel_scaling();
  image made = image::blank({shape[1], shape[2]}, shape[0]);
  const auto channels = static_cast<std::size_t>(shape[0]), pixels = made.pixels.size() / channels;
  for (std::size_t i = 0; i < s.numbers.size(); ++i) {
    const std::size_t c = i / pixels;
    const double value = (s.numbers[i] * scale->deviation.at(c) + scale->mean.at(c)) * 255;
    made.pixels[i % pixels * channels + c] = static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
  }
  return made;
}

split part_of(const data_command_options& o) { return o.validation ? split::validation : split::train; }

std::size_t shown_count(const viewed_data& d, const data_command_options& o) {
  return std::min(static_cast<std::size_t>(o.show), d.source->samples(part_of(o)));
}

/// Where a sample's picture is written; nothing may be there. Two samples may have one: "a-b" of "c", and "a" of "b-c".
fs::path picture_file(const viewed_data& d, const data_command_options& o, std::size_t sample) {
  fs::path file = *o.pictures;
  file /= fmt::format("{}-{}-{}-{}.png", d.name, d.models.front(), part_name(part_of(o)), sample);
  check_written_file("--pictures", file);
  return file;
}

/// Before anything is shown.
void prepare_pictures(const std::vector<viewed_data>& all, const data_command_options& o) {
  fs::create_directories(*o.pictures);
  for (const viewed_data& d : all)
    for (std::size_t i = 0; has_pictures(*d.source) && i < shown_count(d, o); ++i) picture_file(d, o, i);
}

/// Writes the sample's picture, if one is wanted and it is one, and returns the file's name.
std::string write_picture(const viewed_data& d, const data_command_options& o, const shown_sample& s) {
  if (!o.pictures || !has_pictures(*d.source)) return "";
  const fs::path file = picture_file(d, o, s.index);
  write_png(file, picture_of(*d.source, s));
  return file.string();
}

std::vector<shown_sample> samples_of(const viewed_data& d, const data_command_options& o) {
  std::vector<shown_sample> all;
  for (std::size_t i = 0; i < shown_count(d, o); ++i)
    all.push_back(show_sample(*d.source, d.form, d.words.get(), part_of(o), i));
  return all;
}

void print_text(const viewed_data& d, const data_command_options& o) {
  const auto count = [&](split part) {
    const std::size_t n = d.source->samples(part);
    return fmt::format("{} {} sample{}", n, part == split::train ? "training" : "validation", n == 1 ? "" : "s");
  };
  fmt::print("{}, as {} see{} it: {}, {}\n", printable(d.source->describe()), fmt::join(d.models, ", "),
             d.models.size() == 1 ? "s" : "", count(split::train), count(split::validation));
  for (const std::string& note : d.source->notes()) fmt::print("note: {}\n", printable(note));
  const std::vector<shown_sample> samples = samples_of(d, o);
  fmt::print("{}", legend(samples));
  for (const shown_sample& s : samples) {
    fmt::print("{}", printable(to_text(s)));
    const std::string file = write_picture(d, o, s);
    if (!file.empty()) fmt::print("  {}\n", printable(file));
  }
}

ordered_json json_of_data(const viewed_data& d, const data_command_options& o) {
  ordered_json j{{"data", d.name},
                 {"models", d.models},
                 {"training_samples", d.source->samples(split::train)},
                 {"validation_samples", d.source->samples(split::validation)},
                 {"classes", d.source->class_names()},
                 {"notes", d.source->notes()},
                 {"samples", ordered_json::array()}};
  for (const shown_sample& s : samples_of(d, o)) {
    j["samples"].push_back(json_of(s));
    const std::string file = write_picture(d, o, s);
    if (!file.empty()) j["samples"].back()["picture"] = file;
  }
  return j;
}

int show(const data_command_options& o) {
  const workload w = read_given_workload(o.file, parse_overrides(o.set));
  session_options quiet = w.options;
  quiet.log = verbosity::quiet;
  session s{quiet};
  model_opener opener{w};
  const auto all = viewed(w, assemble(s, w, opener), o.model);
  if (o.pictures) prepare_pictures(all, o);
  auto list = ordered_json::array();
  for (const viewed_data& d : all) o.json ? list.push_back(json_of_data(d, o)) : print_text(d, o);
  if (o.json) fmt::print("{}\n", json_text(list, 2));
  return 0;
}

}  // namespace

command_action declare_data(command_line& line) {
  auto o = std::make_shared<data_command_options>();
  line.add_option("workload", o->file, "workload file (TOML)").required();
  line.add_option("--show", o->show, "the first samples of each data, this many")
      .within(0, std::numeric_limits<int>::max())
      .shows_default();
  line.add_option("--model", o->model, "only the data of this model");
  line.add_option("--pictures", o->pictures, "folder into which samples that are pictures are written as PNG");
  line.add_flag("--validation", o->validation, "samples of the validation part");
  line.add_flag("--json", o->json, "with all ids and numbers");
  add_set_option(line, o->set);
  return [o] { return show(*o); };
}

}  // namespace hydra::apps
