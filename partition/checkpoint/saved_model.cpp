#include "partition/checkpoint/saved_model.hpp"

#include "models/moment_layout.hpp"
#include "models/weights/safetensors_file.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/checkpoint_names.hpp"
#include "partition/checkpoint/checkpoint_tensors.hpp"
#include "partition/plan/plan_outline.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/verify_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

namespace hydra {

namespace {

namespace fs = std::filesystem;
namespace names = checkpoint_names;
using json = nlohmann::json;

[[noreturn]] void refuse_checkpoint(const fs::path& file, const std::string& why) {
  throw fault_error(fault_code::damaged, fmt::format("{}: {}", file.string(), why));
}

/// What is not a file, or has a size that no state has, is damage.
std::string state_text(const fs::path& file) try {
  return read_text(file, text_kind::settings);
} catch (const fault_error& e) {
  const auto& why = e.what_happened();
  throw fault_error(why.code == fault_code::bad_input ? fault_code::damaged : why.code, why.text);
}

json read_json(const fs::path& file) {
  const auto text = state_text(file);
  try {
    return parse_json(text);
  } catch (const json::exception&) {
    refuse_checkpoint(file, "is not JSON");
  } catch (const fault_error& e) {
    refuse_checkpoint(file, e.what_happened().text);
  }
}

void check_format(const json& j, const fs::path& file) {
  if (j.value("format", "") != "hydra checkpoint") {
    refuse_checkpoint(file, "is not a checkpoint of Hydra");
  }
  const int written = j.value("format_version", 0);
  if (written != names::format_version) {
    throw fault_error(fault_code::bad_input, fmt::format("{} has format version {}; this Hydra reads version {}",
                                                         file.string(), written, names::format_version));
  }
}

/// One file of a checkpoint, and its name for messages.
struct tensor_file {
  explicit tensor_file(const fs::path& p) : path(p), tensors(p) {}
  fs::path path;
  safetensors_file tensors;
};

template <class T>
std::vector<T> values_of(const tensor_file& file, const std::string& name) {
  const auto t = file.tensors.find(name);
  if (!t || t->type != names::type_of<T>) {
    refuse_checkpoint(file.path, "has no tensor '" + name + "' of the right type");
  }
  std::vector<T> values(t->data.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), t->data.data(), t->data.size());
  }
  return values;
}

void read_history(const fs::path& folder, std::size_t shards, saved_model& m) {
  const tensor_file file(folder / names::history);
  auto& h = m.standing.history;
  h.losses = values_of<float>(file, "loss");
  h.grad_norms = values_of<float>(file, "grad_norm");
  m.standing.losses = values_of<float>(file, "step_loss");
  const auto steps = values_of<std::int64_t>(file, "evaluation.steps");
  const auto losses = values_of<double>(file, "evaluation.loss");
  const auto accuracies = values_of<double>(file, "evaluation.accuracy");
  if (losses.size() != steps.size() || accuracies.size() != steps.size()) {
    refuse_checkpoint(file.path, "its evaluations do not have the same length");
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    h.evaluations.push_back({static_cast<std::uint32_t>(steps[i]), losses[i],
                             std::isnan(accuracies[i]) ? std::nullopt : std::optional(accuracies[i])});
  }
  for (std::size_t s = 0; s < shards && file.tensors.find(names::norms(s)); ++s) {
    m.updates.norms.push_back(values_of<float>(file, names::norms(s)));
  }
}

void read_shards(const json& shards, const fs::path& file, saved_model& m) {
  for (const auto& s : shards) {
    const auto phase = names::phase(s.at("update").get<std::string>());
    if (!phase) {
      refuse_checkpoint(file, fmt::format("an update is called \"{}\"", shown(s.at("update").get<std::string>())));
    }
    m.cuts.push_back(s.at("first_layer").get<std::size_t>());
    m.versions.emplace_back(s.at("version").get<std::uint32_t>());
    m.updates.shards.push_back(*phase);
  }
}

/// A list, or one number for one lane.
std::vector<std::uint32_t> units_from(const json& j) {
  return j.is_array() ? j.get<std::vector<std::uint32_t>>() : std::vector{j.get<std::uint32_t>()};
}

/// Checks the properties that the rest of the program relies on.
void check_standing(const saved_model& m, const fs::path& file) {
  const bool ascend = std::ranges::adjacent_find(m.cuts, std::ranges::greater_equal{}) == m.cuts.end();
  if (m.cuts.empty() || m.cuts.front() != 0 || !ascend) {
    refuse_checkpoint(file, "shards must start with layer 0 and be contiguous");
  }
  if (m.abreast == 0 || m.standing.next.units.size() < m.abreast) {
    refuse_checkpoint(file, fmt::format("has {} pieces side by side in {} lanes", m.abreast,
                                        m.standing.next.units.size()));
  }
  const auto units = 2 * m.cuts.size() - 1;  // at most; load_memory() knows the plan
  const auto& next = m.standing.next;
  if (next.step > m.steps || next.units.empty() || std::ranges::max(next.units) > units) {
    refuse_checkpoint(file, fmt::format("is at unit {} of step {}; there are {} steps of {} units",
                                        fmt::join(next.units, ", "), next.step, m.steps, units));
  }
  for (const auto v : m.versions) {
    if (v.value > m.steps) {
      refuse_checkpoint(file, fmt::format("a shard has version {} after {} steps", v.value, m.steps));
    }
  }
}

// -- memory -----------------------------------------------------------------------------------------------------------

std::span<float> slice_of(const host_block_ptr& block, std::size_t offset, std::size_t n) {
  return block->floats().subspan(offset, n);
}

void fill_gradients(const checkpoint_tensors& from, const sharded_model& m, const placed_parameter& p,
                    shard_home& home) {
  for (std::size_t replica = 0; replica < home.gradients.size(); ++replica) {
    const auto& sum = home.gradients[replica];
    const auto name = names::gradient(replica, p.name);
    if (sum && m.model->gradients() == precision::bf16) {
      from.copy(name, sum->halves().subspan(p.offset, p.elements));
    } else if (sum) {
      from.copy(name, slice_of(sum, p.offset, p.elements));
    }
  }
}

void fill_moment(const checkpoint_tensors& from, const std::string& prefix, const std::string& name,
                 const moment_place& place, const host_block_ptr& buffer) {
  const std::span bytes(buffer->data(), buffer->size().value());
  if (!place.in_blocks) {
    return from.copy(prefix + "." + name, floats_at(place, bytes));
  }
  const auto blocks = blocks_at(place, bytes);
  from.copy(prefix + "." + name, blocks.codes);
  from.copy(names::largest_of(prefix) + "." + name, blocks.largest);
}

void clear(const host_block_ptr& block) {
  if (block) {
    std::memset(block->data(), 0, block->size().value());
  }
}

/// Parameters and gradients are padded with zeros; moments start as zeros.
void fill_shard(const checkpoint_tensors& from, const sharded_model& m, std::size_t s, shard_home& home) {
  clear(home.parameters);
  std::ranges::for_each(home.gradients, clear);
  const moment_layout layout(m.shards[s].layout(), m.update);
  const auto& parameters = m.shards[s].layout().parameters();
  for (std::size_t at = 0; at < parameters.size(); ++at) {
    const auto& p = parameters[at];
    if (p.frozen) {
      continue;  // make_home has made the base
    }
    const auto& owner = p.tied_to.empty() ? p.name : p.tied_to;
    from.copy("parameter." + owner, slice_of(home.parameters, p.offset, p.elements));
    const auto prefixes = names::moments(m.update.kind, p.form());
    for (std::size_t i = 0; i < layout.buffers(); ++i) {
      if (const auto& place = layout.places(i)[at]; place.elements > 0) {
        fill_moment(from, prefixes[i], p.name, place, home.moments[i]);
      }
    }
    fill_gradients(from, m, p, home);
  }
}

[[noreturn]] void refuse_reading(const fs::path& what, std::error_code why) {
  throw fault_error(fault_code::bad_input, fmt::format("{} may not be read: {}", what.string(), why.message()));
}

/// A folder without read permission is not damaged. One that is no folder is, or a run has removed it meanwhile.
void check_readable(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (::access(entry.path().c_str(), R_OK) != 0 && errno != ENOENT) {
      refuse_reading(entry.path(), {errno, std::generic_category()});
    }
  }
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory) {
    refuse_reading(folder, error);
  }
}

/// Beside the folder; one of the same step may have been damaged before.
fs::path place_aside(const fs::path& folder) {
  std::error_code ignored;
  fs::path place = folder.string() + ".damaged";
  for (int n = 2; fs::exists(place, ignored); ++n) {
    place = fmt::format("{}.damaged-{}", folder.string(), n);
  }
  return place;
}

/// Renames a damaged checkpoint in its folder, so that it does not count among those that are kept. Returns its new
/// name.
std::string set_aside(const fs::path& folder) {
  const auto aside = place_aside(folder);
  std::error_code error;
  fs::rename(folder, aside, error);
  return (error ? folder : aside).filename().string();
}

/// A step of a partly frozen model has fewer units than check_standing() allows.
void check_position(const saved_model& from, const work_graph& step) {
  for (std::uint32_t lane = 0; lane < step.lanes(); ++lane) {
    if (const auto done = from.standing.next.done(lane); done > step.lane(lane).size()) {
      refuse_checkpoint(from.folder / names::state, fmt::format("is at unit {} of step {}; a step has {} units", done,
                                                                from.standing.next.step, step.lane(lane).size()));
    }
  }
}

/// The block of the step that is saved by that name; none if there is no such block.
std::optional<block_part> boundary_in(const work_graph& step, const std::string& name) {
  const auto id = names::boundary_id(name);
  return id ? step.find(*id, {}) : std::nullopt;
}

std::vector<std::pair<block_id, host_block_ptr>> load_boundaries(const saved_model& from, model_id model,
                                                                 const work_graph& step, host_arena& arena) {
  std::vector<std::pair<block_id, host_block_ptr>> all;
  const tensor_file file(from.folder / names::boundaries);
  for (const auto& name : file.tensors.names()) {
    const auto found = boundary_in(step, name);
    if (!found) {
      refuse_checkpoint(file.path, "has a tensor '" + name + "', which no unit of the model reads");
    }
    const auto bytes = file.tensors.find(name)->data;
    auto block = arena.allocate(step.block(found->block).bytes, name, host_use::transferred);
    if (bytes.size() != block->size().value()) {
      refuse_checkpoint(file.path, "tensor '" + name + "' has another size than the model's");
    }
    std::ranges::copy(bytes, block->data());
    const graph_turn turn{.model = model, .step = step_index{from.standing.next.step}};
    all.emplace_back(step.name(*found, turn), std::move(block));
  }
  return all;
}

}  // namespace

/// A shard that has been stepped cannot be stepped back: its gradients may be gone, and rounding has lost bits.
bool saved_model::whole_step() const noexcept {
  const auto same = [&](version_index v) { return v == versions.front(); };
  return std::ranges::all_of(versions, same) && std::ranges::count(updates.shards, update_phase::stepped) == 0;
}

/// Gradients that were written back are computed again.
bool saved_model::any_cuts() const noexcept {
  const auto steps_done = versions.empty() ? version_index{} : versions.front();
  return whole_step() && std::ranges::count(updates.shards, update_phase::complete) == 0 &&
         standing.history.losses.size() == steps_done.value;
}

std::string identity_line(const std::string& identity, std::string_view key) {
  std::istringstream lines(identity);
  const auto begin = fmt::format("{}: ", key);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(begin)) {
      return line.substr(begin.size());
    }
  }
  return {};
}

bool saved_model::fits(const model_plan& plan) const {
  const auto shape = plan.shape();
  return !starts_step && plan.cuts() == cuts && shape.abreast == abreast && shape.lanes() == lanes();
}

model_standing saved_model::begins(const model_plan& plan) const {
  auto begin = standing;
  if (!fits(plan)) {
    begin.next.step = versions.front().value;
    begin.next.units.assign(plan.shape().lanes(), 0);
    begin.losses.clear();
  }
  return begin;
}

saved_model read_checkpoint(const fs::path& folder) {
  const auto file = folder / names::state;
  const auto j = read_json(file);
  saved_model m{.folder = folder,
                .name = {},
                .identity = {},
                .cuts = {},
                .steps = 0,
                .abreast = 1,
                .standing = {},
                .versions = {},
                .updates = {}};
  try {
    check_format(j, file);
    j.at("model").get_to(m.name);
    j.at("identity").get_to(m.identity);
    j.at("seed").get_to(m.seed);
    j.at("steps").get_to(m.steps);
    j.at("step").get_to(m.standing.next.step);
    m.standing.next.units = units_from(j.at("unit"));
    j.at("stopped").get_to(m.standing.stopped);
    m.abreast = j.value("side_by_side", 1U);
    read_shards(j.at("shards"), file, m);
  } catch (const json::exception& e) {
    refuse_checkpoint(file, json_complaint(e));
  }
  check_standing(m, file);
  read_history(folder, m.cuts.size(), m);
  return m;
}

namespace {

/// The checkpoint has the gradient sum of that replica of a shard: the shard's update is not complete, and either under
/// way or waiting for other replicas.
bool has_gradients(const saved_model& from, const model_plan& plan, const work_graph& step, const block_id& sum) {
  const auto phase = from.updates.shards[sum.shard.value];
  const bool waits = phase == update_phase::waiting && plan.shape().sums_of(sum.shard.value) > 1;
  const auto found = waits ? step.find(sum, {}) : std::nullopt;
  return is_under_way(phase) || (found && step.is_done(step.writer(found->block).value(), from.standing.next));
}

block_id whole_sum(const model_plan& plan, std::uint32_t shard, std::uint32_t replica) {
  return {.model = {}, .replica = replica_id{replica}, .step = {}, .kind = block_kind::gradients,
          .shard = shard_index{shard}, .micro_batch = micro_batch_index{plan.waves - 1}};
}

}  // namespace

model_memory load_memory(const saved_model& from, model_id id, const sharded_model& m, host_arena& arena,
                         const base_lookup& bases) {
  const bool fits = from.fits(m.plan);
  const checkpoint_tensors tensors(from.folder, from.cuts.size());
  const auto& step = m.graphs->step;
  model_memory memory{.homes = {}, .versions = from.versions, .updates = from.updates};
  if (fits) {
    check_position(from, step);
    memory.boundaries = load_boundaries(from, id, step, arena);
  } else {
    memory.versions.assign(m.size(), from.versions.front());
    memory.updates = {};
  }
  for (std::uint32_t s = 0; s < m.size(); ++s) {
    memory.homes.push_back(make_home(arena, m, s, bases));
    auto& home = memory.homes.back();
    for (std::uint32_t replica = 0; replica < home.gradients.size(); ++replica) {
      if (fits && has_gradients(from, m.plan, step, whole_sum(m.plan, s, replica))) {
        home.gradients[replica] =
            arena.allocate(m.plan.shards[s].gradient_bytes(), "gradients of " + m.name, host_use::transferred);
      }
    }
    fill_shard(tensors, m, s, home);
    round_masters(home);
  }
  return memory;
}

namespace {

bool serves(const saved_model& m, checkpoint_use use) {
  return use == checkpoint_use::parameters ? m.whole_step() : use == checkpoint_use::same_cuts || m.any_cuts();
}

/// Why the checkpoint, which is not damaged, is passed over.
std::string why_not(const saved_model& m, checkpoint_use use) {
  const auto step = std::ranges::min(m.versions).value + 1;
  return use == checkpoint_use::parameters
             ? fmt::format("{} was saved inside step {}, with some shards updated and others not", m.folder.string(),
                           step)
             : fmt::format(
                   "{} was saved inside step {} with cuts that differ from the current ones: the checkpoint "
                   "before it is used",
                   m.folder.string(), step);
}

/// What a person is told of a state that could not be read. Throws on what is not damage: it is not for this version of
/// Hydra, or it cannot be read now.
std::string damage_of(const fault_error& e, const fs::path& folder, checkpoint_use use) {
  if (e.what_happened().code != fault_code::damaged) {
    throw;
  }
  const auto where = use == checkpoint_use::parameters ? "" : fmt::format(" (it is {} now)", set_aside(folder));
  return fmt::format("a damaged checkpoint is passed over{}: {}", where, e.what_happened().text);
}

}  // namespace

std::optional<saved_model> newest_checkpoint(const fs::path& of_model, checkpoint_use use,
                                             std::vector<std::string>& notes) {
  for (const auto& folder : list_states(of_model)) {
    check_readable(folder);
    try {
      verify_folder(folder);
      auto m = read_checkpoint(folder);
      if (serves(m, use)) {
        return m;
      }
      notes.push_back(why_not(m, use));
    } catch (const fault_error& e) {
      notes.push_back(damage_of(e, folder, use));
    }
  }
  return std::nullopt;
}

void set_damaged_aside(const fs::path& of_model, std::vector<std::string>& notes) {
  for (const auto& folder : list_states(of_model)) {
    check_readable(folder);
    try {
      verify_folder(folder);
      read_checkpoint(folder);
    } catch (const fault_error& e) {
      notes.push_back(damage_of(e, folder, checkpoint_use::same_cuts));
    }
  }
}

}  // namespace hydra
