#include "actors/admission/beginning.hpp"

#include "partition/checkpoint/checkpoint_tensors.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/checksum_list.hpp"
#include "runtime/storage/sha256.hpp"
#include "runtime/storage/verify_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

namespace hydra {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const resumed_model& now, const std::string& why) {
  throw fault_error(fault_code::bad_input,
                    fmt::format("model '{}' cannot begin from {}: {}", now.name, now.begins.string(), why));
}

saved_model read(const resumed_model& now) try {
  verify_folder(now.begins);
  return read_checkpoint(now.begins);
} catch (const fault_error& e) {
  refuse(now, e.what_happened().text);
}

/// "adamw"; "sgd with momentum" has a state that sgd has not.
std::string state_form(const std::string& optimizer) {
  const auto kind = optimizer.substr(0, optimizer.find(' '));
  const bool momentum = kind == "sgd" && optimizer.find(" momentum 0 ") == std::string::npos;
  return kind + (momentum ? " with momentum" : "");
}

void check_line(const resumed_model& now, const saved_model& from, std::string_view key, const char* what) {
  if (from.identity_line(key) != identity_line(now.identity, key)) {
    refuse(now, fmt::format("{} must be those of the model that was saved", what));
  }
}

void check_form(const resumed_model& now, const saved_model& from) {
  check_line(now, from, "parameters", "names and shapes of its parameters");
  const checkpoint_tensors saved(now.begins, from.cuts.size());
  const auto is_saved = [&](const std::string& name) { return saved.has("parameter." + name); };
  if (!std::ranges::all_of(now.trained, is_saved) || std::ranges::any_of(now.frozen, is_saved)) {
    refuse(now, "the same parameters must be frozen, and an adapter must be the same, as in the model that was saved");
  }
  if (!now.frozen.empty()) {
    check_line(now, from, "weights", "the weights of its frozen parameters");
    check_line(now, from, "base", "the formats of its frozen parameters");
    check_line(now, from, "seed", "the values of its frozen parameters, and for that its seed,");
  }
  const auto before = state_form(from.identity_line("optimizer")),
             after = state_form(identity_line(now.identity, "optimizer"));
  if (before != after) {
    refuse(now, fmt::format("its optimizer is {}, and the state that was saved is of {}", after, before));
  }
}

/// One norm for each loss, if the model clips.
void fit_norms(model_history& h, bool clips) {
  const auto reported = clips ? h.losses.size() : 0;
  h.grad_norms.insert(h.grad_norms.begin(), reported - std::min(reported, h.grad_norms.size()), 0);
  h.grad_norms.resize(reported);
}

}  // namespace

std::string checkpoint_digest(const fs::path& checkpoint) {
  const auto file = checkpoint / checksum_file;
  if (kind_of(file, "begins") != fs::file_type::regular) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("begins: {} is not a checkpoint: it has no {}; give a folder such as "
                                  "runs/NAME/checkpoints/MODEL/000012-step-400",
                                  checkpoint.string(), checksum_file));
  }
  const auto sums = read_text(file, text_kind::checksums);
  sha256 hash;
  hash.add(std::as_bytes(std::span(sums)));
  return hash.finish();
}

saved_model beginning(const resumed_model& now) {
  auto m = read(now);
  if (!m.any_cuts()) {
    refuse(now,
           "it was saved inside a step; only a checkpoint from between two steps can be continued by another model");
  }
  check_form(now, m);
  const auto done = m.versions.front().value;
  if (done >= now.steps) {
    refuse(now, fmt::format("it has {} steps already, and of {} none would be left; give more steps", done, now.steps));
  }
  m.standing.history.evaluations.clear();  // they judge another model: for its best state and for early-stop
  fit_norms(m.standing.history, now.clips);
  m.name = now.name;
  m.identity = now.identity;
  m.steps = now.steps;
  m.standing.stopped = false;
  m.starts_step = true;
  return m;
}

}  // namespace hydra
