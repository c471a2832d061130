#include "actors/resumption.hpp"

#include "actors/identity.hpp"
#include "partition/checkpoint_folder.hpp"
#include "runtime/fault.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <variant>

namespace hydra {

namespace {

bool inside_step(const std::optional<saved_model>& m) { return m && !m->any_cuts(); }

[[noreturn]] void refuse_cuts(const saved_model& m) {
  throw fault_error(fault_code::does_not_fit,
                    fmt::format("model '{}' cannot go on with these cuts or devices: its only checkpoint, {}, was saved "
                                "inside step {} of shards that begin with layers {}; resume it with these cuts on devices "
                                "that hold them",
                                m.name, m.folder.string(), m.standing.step + 1, fmt::join(m.cuts, ", ")));
}

void check_identity(const saved_model& m, const resumed_model& now) {
  const auto other = difference_of(m.identity, now.identity);
  if (!other.empty()) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("model '{}' cannot go on from {}: {}; resume it as it was, or train it in another folder",
                                  now.name, m.folder.string(), other));
  }
}

/// Those that an earlier attempt has set aside.
bool has_damaged_checkpoints(const std::filesystem::path& of_model) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(of_model, none)) {
    if (entry.path().extension() == ".damaged") {
      return true;
    }
  }
  return false;
}

}  // namespace

resumption::resumption(std::filesystem::path root, std::vector<resumed_model> models)
    : root_(std::move(root)), models_(std::move(models)), saved_(models_.size()) {
  for (std::size_t i = 0; i < models_.size(); ++i) {
    find(i, true);
    if (inside_step(saved_[i]) && !keeps_cuts(i)) {
      find(i, false);
    }
  }
}

const saved_model* resumption::of(std::size_t model) const {
  return model < saved_.size() && saved_[model] ? &*saved_[model] : nullptr;
}

bool resumption::keeps_cuts(std::size_t model) const {
  const auto* told = std::get_if<cut_points>(&models_[model].cuts);
  return inside_step(saved_[model]) && (!told || *told == saved_[model]->cuts);
}

cut_rule resumption::cuts_for(std::size_t model, const cut_rule& chosen) const {
  return model < saved_.size() && keeps_cuts(model) ? cut_rule{saved_[model]->cuts} : chosen;
}

bool resumption::give_up_cuts() {
  bool any = false;
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    if (inside_step(saved_[i])) {
      find(i, false);
      any = true;
    }
  }
  return any;
}

void resumption::find(std::size_t model, bool inside) {
  const auto& now = models_[model];
  const auto told = notes_.size();
  auto found = newest_checkpoint(checkpoints_of(root_, now.name), inside, notes_);
  if (!found && saved_[model]) {
    refuse_cuts(*saved_[model]);
  }
  if (!found && notes_.size() > told) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("model '{}' has no checkpoint that is whole: {}; train it afresh in another folder",
                                  now.name, notes_.back()));
  }
  if (!found && has_damaged_checkpoints(checkpoints_of(root_, now.name))) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("model '{}' has no checkpoint that is whole: {} holds damaged ones; train it afresh in another "
                                  "folder, or remove them",
                                  now.name, checkpoints_of(root_, now.name).string()));
  }
  if (!found) {
    notes_.push_back(now.name + " has no checkpoint: it starts from the beginning");
  } else {
    check_identity(*found, now);
  }
  saved_[model] = std::move(found);
}

}  // namespace hydra
