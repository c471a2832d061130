#include "partition/checkpoint/checkpoint_folder.hpp"

#include "models/moment_layout.hpp"
#include "models/weights/safetensors.hpp"
#include "partition/checkpoint/checkpoint_names.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "runtime/storage/leftovers.hpp"
#include "runtime/storage/verify_folder.hpp"

#include <fmt/format.h>
#include <hydra/version.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

namespace hydra {

namespace {

namespace fs = std::filesystem;
namespace names = checkpoint_names;
using ordered = nlohmann::ordered_json;

/// Tensors of one file; the memory they point to must not change before they are written.
class tensor_list {
 public:
  template <class T>
  void add(std::string name, std::span<const T> values, std::vector<std::int64_t> shape) {
    tensors_.push_back({std::move(name), {names::type_of<T>, std::move(shape), std::as_bytes(values)}});
  }
  /// Flat.
  void add(std::string name, stored_type type, std::span<const std::byte> data) {
    tensors_.push_back({std::move(name), {type, {static_cast<std::int64_t>(data.size() / width_of(type))}, data}});
  }
  template <class T>
  void add(std::string name, const std::vector<T>& values) {
    add(std::move(name), std::span<const T>(values), {static_cast<std::int64_t>(values.size())});
  }

  /// Wider types come first in a file.
  void write(durable_folder& to, const std::string& file) {
    std::ranges::stable_sort(tensors_, std::ranges::greater{},
                             [](const named_tensor& t) { return width_of(t.tensor.type); });
    to.write(file, [&](byte_sink& sink) { write_safetensors(sink, tensors_); });
  }

 private:
  std::vector<named_tensor> tensors_;
};

std::span<const float> slice(const host_block_ptr& block, std::size_t offset, std::size_t n) {
  return std::as_const(*block).floats().subspan(offset, n);
}

/// Of each replica whose sum is in host memory; in bf16 as they were written back.
void add_gradients(tensor_list& tensors, const model_checkpoint& c, const shard_home& home, const placed_parameter& p) {
  for (std::size_t replica = 0; replica < home.gradients.size(); ++replica) {
    const auto& sum = home.gradients[replica];
    const auto name = names::gradient(replica, p.name);
    if (sum && c.what->model->gradients() == precision::bf16) {
      const std::span<const std::uint16_t> written_back = sum->halves();
      tensors.add(name, written_back.subspan(p.offset, p.elements), p.shape);
    } else if (sum) {
      tensors.add(name, slice(sum, p.offset, p.elements), p.shape);
    }
  }
}

/// Those in blocks as bytes, and in fp32 the largest value of each block; flat if they have not the parameter's shape.
void add_moment(tensor_list& tensors, const std::string& prefix, const placed_parameter& p, const moment_place& place,
                const host_block_ptr& of) {
  const std::span buffer(of->data(), of->size().value());
  const auto name = prefix + "." + p.name;
  if (!place.in_blocks) {
    const std::vector flat{static_cast<std::int64_t>(place.elements)};
    tensors.add<float>(name, floats_at(place, buffer), place.elements == p.elements ? p.shape : flat);
    return;
  }
  const auto blocks = blocks_at(place, buffer);
  tensors.add<std::uint8_t>(name, blocks.codes, p.shape);
  tensors.add<float>(names::largest_of(prefix) + "." + p.name, blocks.largest,
                     {static_cast<std::int64_t>(blocks.largest.size())});
}

/// Parameters under their names, moments and gradients behind what they are; tied copies of a parameter have only a
/// gradient of their own, running averages no moments. Frozen parameters are not written.
void write_shard(durable_folder& to, const model_checkpoint& c, std::size_t s) {
  const auto& home = c.memory.homes[s];
  const auto& parameters = c.what->shards[s].layout().parameters();
  const moment_layout layout(c.what->shards[s].layout(), c.what->update);
  tensor_list tensors;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& p = parameters[i];
    if (p.tied_to.empty() && !p.frozen) {
      tensors.add("parameter." + p.name, slice(home.parameters, p.offset, p.elements), p.shape);
      const auto prefixes = names::moments(c.what->update.kind, p.form());
      for (std::size_t b = 0; b < layout.buffers(); ++b) {
        if (const auto& place = layout.places(b)[i]; place.elements > 0) {
          add_moment(tensors, prefixes[b], p, place, home.moments[b]);
        }
      }
    }
  }
  for (const auto& p : c.what->shards[s].layout().parameters()) {
    if (!p.frozen) {
      add_gradients(tensors, c, home, p);
    }
  }
  tensors.write(to, names::shard_file(s));
}

void write_boundaries(durable_folder& to, const model_checkpoint& c) {
  tensor_list tensors;
  for (const bool sums : {true, false}) {  // wider types come first in a file
    for (const auto& [id, bytes] : c.memory.boundaries) {
      const bool sum = id.kind == block_kind::gradients;
      const bool rounded = !sum && c.what->shards[id.shard.value].layout().type() == element::bf16;
      if (sum == sums) {
        tensors.add(names::boundary(id), rounded ? stored_type::bf16 : stored_type::f32,
                    {std::as_const(*bytes).data(), bytes->size().value()});
      }
    }
  }
  tensors.write(to, names::boundaries);
}

void write_history(durable_folder& to, const model_checkpoint& c) {
  const auto& h = c.standing.history;
  std::vector<std::int64_t> steps;
  std::vector<double> losses;
  std::vector<double> accuracies;
  for (const auto& e : h.evaluations) {
    steps.push_back(e.steps);
    losses.push_back(e.loss);
    accuracies.push_back(e.accuracy.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  tensor_list tensors;
  tensors.add("evaluation.steps", steps);
  tensors.add("evaluation.loss", losses);
  tensors.add("evaluation.accuracy", accuracies);
  tensors.add("loss", h.losses);
  tensors.add("grad_norm", h.grad_norms);
  tensors.add("step_loss", c.standing.losses);
  for (std::size_t s = 0; s < c.memory.updates.norms.size(); ++s) {
    tensors.add(names::norms(s), c.memory.updates.norms[s]);
  }
  tensors.write(to, names::history);
}

/// One number a lane; the number itself if there is one lane.
ordered units_of(const step_position& next) {
  return next.units.size() <= 1 ? ordered(next.done(0)) : ordered(next.units);
}

std::string state_of(const model_checkpoint& c) {
  ordered j{{"format", "hydra checkpoint"},
            {"format_version", names::format_version},
            {"written_by", fmt::format("hydra {}", version)},
            {"model", c.what->name},
            {"identity", c.what->identity},
            {"seed", c.what->seed},
            {"steps", c.what->steps},
            {"step", c.standing.next.step},
            {"unit", units_of(c.standing.next)},
            {"stopped", c.standing.stopped},
            {"shards", ordered::array()}};
  if (const auto abreast = c.what->plan.shape().abreast; abreast > 1) {
    j["side_by_side"] = abreast;
  }
  const auto cuts = c.what->plan.cuts();
  for (std::size_t s = 0; s < cuts.size(); ++s) {
    j["shards"].push_back({{"first_layer", cuts[s]},
                           {"version", c.memory.versions[s].value},
                           {"update", names::phase(c.memory.updates.shards[s])}});
  }
  return json_text(j, 2) + "\n";
}

void write_state(durable_folder& to, const model_checkpoint& c) {
  const auto text = state_of(c);
  to.write(names::state, [&](byte_sink& sink) { sink.add(std::as_bytes(std::span(text))); });
}

/// "000012" of "000012-step-400".
std::uint64_t number_of(const fs::path& checkpoint) {
  try {
    return std::stoull(checkpoint.filename().string());
  } catch (const std::exception&) {
    return 0;
  }
}

bool is_checkpoint(const fs::path& p) {
  const auto name = p.filename().string();
  return name.find("-step-") != std::string::npos && p.extension().empty() && number_of(p) > 0;
}

constexpr std::string_view best_prefix = "best-step-";

/// 400 of "best-step-400"; none for other names.
std::optional<std::uint64_t> best_step(const fs::path& folder) {
  const auto name = folder.filename().string();
  if (!name.starts_with(best_prefix)) {
    return std::nullopt;
  }
  std::uint64_t step = 0;
  const auto* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + best_prefix.size(), end, step);
  return error == std::errc{} && stop == end ? std::optional(step) : std::nullopt;
}

/// 400 of "000012-step-400" and "best-step-400".
std::uint64_t step_in_name(const fs::path& folder) {
  const auto name = folder.filename().string();
  std::uint64_t step = 0;
  std::from_chars(name.data() + name.rfind('-') + 1, name.data() + name.size(), step);
  return step;
}

std::vector<fs::path> best_folders(const fs::path& of_model) {
  std::vector<fs::path> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(of_model, error)) {
    if (best_step(entry.path())) {
      all.push_back(entry.path());
    }
  }
  return all;
}

/// Behind those of `newest_first` that have done as many steps.
void insert_best(std::vector<fs::path>& newest_first, const fs::path& best) {
  const auto is_older = [&](const fs::path& p) { return step_in_name(p) < step_in_name(best); };
  newest_first.insert(std::ranges::find_if(newest_first, is_older), best);
}

bool is_whole(const fs::path& folder) try {
  verify_folder(folder);
  return true;
} catch (const fault_error&) {
  return false;
}

fs::path next_place(const fs::path& of_model, std::uint32_t step) {
  const auto known = list_checkpoints(of_model);
  return of_model / fmt::format("{:06}-step-{}", known.empty() ? 1 : number_of(known.front()) + 1, step);
}

}  // namespace

fs::path checkpoints_of(const fs::path& root, const std::string& model) {
  std::string name;
  for (const char c : model) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || (c == '.' && !name.empty());
    name += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return root / name;
}

std::string why_no_checkpoints(const std::string& model) {
  constexpr std::size_t most = 255;  // of a file's name, in bytes
  const std::size_t bytes = checkpoints_of({}, model).native().size();
  if (bytes <= most) return "";
  return fmt::format(
      "the folder of its checkpoints would have a name of {} bytes, and at most {} are possible; use a shorter "
      "name (each byte other than ASCII letters, digits, \"-\", \"_\" and \".\" counts three)",
      bytes, most);
}

std::vector<fs::path> list_checkpoints(const fs::path& of_model) {
  std::vector<fs::path> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(of_model, error)) {
    if (is_checkpoint(entry.path())) {
      all.push_back(entry.path());
    }
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw fault_error(fault_code::bad_input, fmt::format("{} cannot be read: {}", of_model.string(), error.message()));
  }
  std::ranges::sort(all, std::greater{}, number_of);
  return all;
}

std::vector<fs::path> list_states(const fs::path& of_model) {
  auto all = list_checkpoints(of_model);
  for (const auto& best : best_folders(of_model)) {
    insert_best(all, best);
  }
  return all;
}

/// If a kill between writing one and removing the other has left two, the later one is better.
std::optional<fs::path> best_checkpoint(const fs::path& of_model) {
  const auto all = best_folders(of_model);
  const auto best = std::ranges::max_element(all, {}, [](const fs::path& p) { return *best_step(p); });
  return best == all.end() ? std::nullopt : std::optional(*best);
}

checkpoint_folder::checkpoint_folder(file_system& files, fs::path root, std::uint32_t keep)
    : files_(files), root_(std::move(root)), keep_(std::max(keep, 1U)) {}

void checkpoint_folder::save(const model_checkpoint& c, const std::function<void(shard_index)>& saved) {
  const auto of_model = checkpoints_of(root_, c.what->name);
  make_folders(files_, of_model);
  if (swept_.insert(of_model).second) {
    remove_leftovers(files_, of_model);
  }
  if (!c.best) {
    write(c, next_place(of_model, c.standing.next.step), saved);
    drop_old_checkpoints(files_, of_model, keep_);
    return;
  }
  const auto place = of_model / fmt::format("{}{}", best_prefix, c.standing.next.step);
  if (is_whole(place)) {  // written by a run that was killed: the same model after the same step
    for (std::uint32_t s = 0; s < c.what->size(); ++s) {
      saved(shard_index{s});
    }
  } else {
    files_.remove_all(place);
    write(c, place, saved);
  }
  drop_other_bests(files_, of_model, place.filename().string());
}

void checkpoint_folder::write(const model_checkpoint& c, const fs::path& place,
                              const std::function<void(shard_index)>& saved) {
  durable_folder folder(files_, place);
  for (auto s = c.what->size(); s-- > 0;) {
    write_shard(folder, c, s);
    saved(shard_index{static_cast<std::uint32_t>(s)});
  }
  write_boundaries(folder, c);
  write_history(folder, c);
  write_state(folder, c);
  folder.commit();
}

bool forget_best(file_system& files, const fs::path& of_model) {
  const auto all = best_folders(of_model);
  for (const auto& folder : all) {
    files.remove_all(folder);
  }
  return !all.empty();
}

/// As drop_old_checkpoints(): a removal that fails is tried again after the next checkpoint.
void drop_other_bests(file_system& files, const fs::path& of_model, const std::string& best) {
  for (const auto& folder : best_folders(of_model)) {
    try {
      if (folder.filename() != best) {
        files.remove_all(folder);
      }
    } catch (const fault_error&) {
      continue;
    }
  }
}

void drop_old_checkpoints(file_system& files, const fs::path& of_model, std::uint32_t keep) {
  bool any_cuts = false;
  std::size_t seen = 0;
  for (const auto& folder : list_checkpoints(of_model)) {
    try {
      const bool first = !any_cuts && read_checkpoint(folder).any_cuts();
      any_cuts = any_cuts || first;
      if (seen++ >= keep && !first) {
        files.remove_all(folder);
      }
    } catch (const std::exception&) {
      // A damaged one stays: a person may want to look at it.
    }
  }
}

std::optional<std::uint32_t> newest_step(const fs::path& of_model) {
  for (const auto& folder : list_states(of_model)) {
    try {
      return read_checkpoint(folder).standing.next.step;
    } catch (const fault_error&) {
      // damaged, or removed meanwhile
    }
  }
  return std::nullopt;
}

namespace {

bool can_be_read(const fs::path& state) try {
  read_checkpoint(state);
  return true;
} catch (const fault_error&) {
  return false;  // damaged, or removed meanwhile
}

/// The newest checkpoint, and another one if that needs its own cuts.
std::vector<fs::path> checkpoints_to_continue(const fs::path& of_model) {
  std::vector<fs::path> all;
  for (const auto& folder : list_checkpoints(of_model)) {
    try {
      const bool any_cuts = read_checkpoint(folder).any_cuts();
      if (any_cuts || all.empty()) {
        all.push_back(folder);
      }
      if (any_cuts) {
        break;
      }
    } catch (const fault_error&) {
      // damaged, or removed meanwhile
    }
  }
  return all;
}

}  // namespace

/// The newest checkpoint is one of them even where the best state is newer: the next one is numbered after it.
std::vector<fs::path> states_to_continue(const fs::path& of_model) {
  auto all = checkpoints_to_continue(of_model);
  if (const auto best = best_checkpoint(of_model); best && can_be_read(*best)) {
    insert_best(all, *best);
  }
  return all;
}

}  // namespace hydra
