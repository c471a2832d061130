#include "actors/admission/prepared_model.hpp"

#include "actors/admission/identity.hpp"
#include "actors/admission/meeting_layer.hpp"
#include "actors/admission/memory_check.hpp"
#include "models/targets_beside_inputs.hpp"
#include "models/optimizer/parameter_shares.hpp"
#include "models/parameter_layout.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/memory/host_memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace hydra {

namespace {

[[noreturn]] void refuse(const model_description& m, const std::string& why) {
  throw fault_error(fault_code::bad_input, fmt::format("model '{}': {}", m.name, why));
}

/// What `made` throws gets the model and the key, or what was asked of the user's code, in front.
template <class Made>
auto within(const model_description& m, const std::string& key, Made&& made) -> decltype(made()) {
  try {
    return std::forward<Made>(made)();
  } catch (...) {
    const auto why = to_fault(std::current_exception());
    throw fault_error(why.code, fmt::format("model '{}': {}: {}", m.name, key, why.text));
  }
}

/// In a handler: throws it again with the model in front, unless it is there.
[[noreturn]] void rethrow_of(const model_description& m) {
  auto why = to_fault(std::current_exception());
  if (const auto name = fmt::format("model '{}'", m.name); !why.text.starts_with(name)) {
    why.text.insert(0, name + ": ");
  }
  throw fault_error(why);
}

batch_order order_of(const model_description& m, const data_source& source, std::uint64_t seed) {
  const auto samples = source.samples(split::train);
  if (samples < m.batch_size && !m.evaluate_only) {
    refuse(m, "batch_size: " + too_few_samples(source, m.batch_size));
  }
  return {.samples = samples, .batch_size = m.batch_size, .seed = m.seed.value_or(seed), .shuffle = m.data.shuffle};
}

std::uint32_t steps_of(const model_description& m, const batch_order& order) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t batches = order.batches_per_epoch();
  if (m.epochs > 0 && batches > most / m.epochs) {
    refuse(m,
           fmt::format("epochs: {} epochs of {} batches are more steps than can be counted ({}); use fewer, or steps",
                       m.epochs, batches, most));
  }
  return m.steps > 0 ? m.steps : m.epochs * static_cast<std::uint32_t>(batches);
}

/// Far longer than any run, and far below the overflow of times.
constexpr duration longest_wait = std::chrono::hours(24 * 366);

void check_time(const model_description& m, const char* key, duration time) {
  if (time < duration{} || time > longest_wait) {
    refuse(m, fmt::format("{}: {} is out of range; use a time between 0 s and a year", key, to_string(time)));
  }
}

void validate_terms(const model_description& m) {
  if (!std::isfinite(m.priority) || m.priority <= 0) {
    refuse(m, fmt::format("priority: must be above 0, got {}", m.priority));
  }
  check_time(m, "arrival", m.arrival);
  check_time(m, "deadline", m.deadline.value_or(duration{}));
  if (m.deadline && *m.deadline <= m.arrival) {
    refuse(m, fmt::format("deadline: {} is not after its arrival at {}; both count from the start of the run",
                          to_string(*m.deadline), to_string(m.arrival)));
  }
}

}  // namespace

void add_notes(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  for (const auto& note : more) {
    if (std::ranges::find(notes, note) == notes.end()) {
      notes.push_back(note);
    }
  }
}

std::uint32_t steps_on(const model_description& m, const data_source& source) {
  return steps_of(m, order_of(m, source, 0));
}

std::uint32_t evaluation_micro_batches(const model_description& m, const data_source& source, bool masks) {
  const auto samples = source.samples(split::validation);
  const std::size_t each = m.batch_size / m.micro_batches;
  const std::size_t filled = masks && masks_targets(source) ? each - 1 : 0;
  const auto fitting = (samples + filled) / each;
  if (fitting > std::numeric_limits<std::uint32_t>::max()) {
    refuse(m, fmt::format(
                  "{} has {} validation samples, {} micro-batches of {}; at most {} are counted: use fewer samples or "
                  "larger micro-batches",
                  source.describe(), samples, fitting, each, std::numeric_limits<std::uint32_t>::max()));
  }
  const auto there = static_cast<std::uint32_t>(fitting);
  if (m.validate && samples == 0) {
    refuse(m, fmt::format("validate: {} has no validation data; give it some (validation, validation_share)",
                          source.describe()));
  }
  if (!m.validate || m.validate->batches == 0) {
    if (m.validate && there == 0) {
      refuse(m, fmt::format(
                    "validate: {} has {} validation samples, fewer than one micro-batch of {}, and targets that are "
                    "numbers cannot be left out; use more micro_batches",
                    source.describe(), samples, each));
    }
    return there;
  }
  const auto wanted = std::uint64_t{m.validate->batches} * m.micro_batches;
  if (wanted > there) {
    refuse(m, fmt::format("validate.batches: {} has {} validation samples, fewer than {} batches of {}",
                          source.describe(), samples, m.validate->batches, m.batch_size));
  }
  return static_cast<std::uint32_t>(wanted);
}

plan_request request_for(const model_description& m, const prepared_model& p, const cut_rule& cuts,
                         stepping_space space) {
  const bool whole = m.share.whole();
  const auto replicas = whole ? m.parallel.replicas : m.share.replicas;
  return {.name = m.name,
          .model = p.model.get(),
          .profile = p.profile_for.at(static_cast<std::size_t>(space)).get(),
          .micro_batches = whole ? m.micro_batches : m.micro_batches / m.parallel.replicas * replicas,
          .replicas = replicas,
          .waves = m.parallel.waves,
          .replicas_elsewhere = whole ? 0 : m.parallel.replicas - replicas,
          .rule = m.optimizer,
          .evaluation = p.evaluation,
          .cuts = cuts,
          .update = p.update,
          .base = p.base,
          .stepping = p.stepping};
}

namespace {

/// The value of the key for each device.
precision common(std::span<const device_info> machines, const char* key, precision device_info::*numbers) {
  const auto first = machines.empty() ? precision::fp32 : machines.front().*numbers;
  if (std::ranges::all_of(machines, [&](const device_info& d) { return d.*numbers == first; })) {
    return first;
  }
  std::vector<std::string> all;
  for (const auto& d : machines) {
    all.push_back(fmt::format("{} in {}", d.name, to_string(d.*numbers)));
  }
  throw fault_error(fault_code::bad_input,
                    fmt::format("device: {}: {}; it decides results, so give all devices of a run the same", key,
                                fmt::join(all, ", ")));
}

}  // namespace

number_formats common_formats(std::span<const device_info> machines) {
  const number_formats all{.numbers = common(machines, "precision", &device_info::numbers),
                           .gradients = common(machines, "gradients", &device_info::gradients)};
  if (all.gradients == precision::bf16 && all.numbers == precision::fp32) {
    throw fault_error(
        fault_code::bad_input,
        fmt::format("device: gradients: \"bf16\" is for devices with precision = \"bf16\", and {} computes in "
                    "fp32; give all devices that precision, or leave gradients out",
                    machines.front().name));
  }
  return all;
}

void validate(const model_description& m) {
  if (m.name.empty()) {
    refuse(m, "name: must not be empty");
  }
  if (const auto why = why_no_checkpoints(m.name); !why.empty()) {
    refuse(m, "name: " + why);
  }
  if (!m.chain.build) {
    refuse(m, "chain: is missing");
  }
  if (m.batch_size == 0) {
    refuse(m, "batch_size: must be at least 1");
  }
  if (m.micro_batches == 0 || m.batch_size % m.micro_batches != 0) {
    refuse(m, fmt::format("micro_batches: {} does not divide batch_size {}", m.micro_batches, m.batch_size));
  }
  const auto [r, w] = m.parallel.or_one();
  if (m.micro_batches % r != 0) {
    refuse(m, fmt::format("parallel.replicas: {} does not divide micro_batches {}", r, m.micro_batches));
  }
  if (const auto each = m.micro_batches / r; each % w != 0) {
    refuse(m, fmt::format("parallel.waves: {} does not divide the {} micro-batches of a replica", w, each));
  }
  if (!m.replicas_until.empty() && (m.parallel.waves != 1 || m.nodes > 1)) {
    refuse(m, "parallel.replicas_until: replicas meet in one place, all at once: leave out \"waves\" and \"nodes\"");
  }
  if (m.evaluate_only ? m.epochs + m.steps > 0 : (m.epochs == 0) == (m.steps == 0)) {
    refuse(m, m.evaluate_only ? "evaluate_only: a model that is only evaluated has neither epochs nor steps"
                              : "give exactly one of epochs and steps, at least 1");
  }
  if (m.evaluate_only && !m.begins.empty()) {
    refuse(m, "begins: a model that is only evaluated does not start from a checkpoint; its chain does: "
              "begin_with(checkpoint_weights(FOLDER))");
  }
  validate_terms(m);
  within(m, "optimizer", [&] { validate(m.optimizer); });
  within(m, "schedule", [&] { validate(m.optimizer.schedule); });
}

void check_keep_best(const model_description& m, std::uint32_t kept_checkpoints) {
  if (kept_checkpoints == 0 && m.validate && m.validate->keep_best) {
    refuse(m, "validate.keep_best: true asks for a saved state, but checkpoint.keep = 0 saves nothing; keep 1 or more, "
              "or no best state");
  }
}

namespace {

/// As a double, which cannot overflow: the sizes come from a user's file.
double parameter_bytes(const chain& model, std::size_t layer) {
  double sum = 0;
  for (const auto& p : model.parameters(layer)) {
    const auto elements = std::accumulate(p.shape.begin(), p.shape.end(), 1.0, std::multiplies<>{});
    sum += elements * static_cast<double>(width_of(element_of(model.numbers())));
  }
  return sum;
}

/// A layer that the host cannot hold cannot be measured either: the allocator's message would not name the layer.
void check_layers(const model_description& m, const chain& model) {
  constexpr byte_count most{std::uint64_t{1} << 62};
  const auto known = available_host_memory();
  const auto host = known == byte_count{} ? most : known;
  for (std::size_t i = 0; i < model.size(); ++i) {
    const double bytes = parameter_bytes(model, i);
    if (bytes > static_cast<double>(host.value())) {
      const bool counted = bytes < static_cast<double>(most.value());
      throw fault_error(
          fault_code::does_not_fit,
          fmt::format(
              "model '{}': layer {} (\"{}\") has parameters of {}, but the host has {} of memory free; "
              "make the layer smaller",
              m.name, i, model.at(i).prefix,
              counted ? to_string(byte_count{static_cast<std::uint64_t>(bytes)}) : "more bytes than can be counted",
              to_string(host)));
    }
  }
}

/// The loss of a chunk needs the targets of its rows.
void check_loss_chunk(const model_description& m, const chain& model, const tensor_spec& sample_target) {
  if (model.loss_chunk() == 0) {
    return;
  }
  const auto rows = model.outputs(1).back().elements() / model.outputs(1).back().shape.back();
  if (sample_target.type != element::i64 || sample_target.elements() != rows) {
    refuse(m, fmt::format(
                  "loss_chunk: is for data with a class for each of the {} rows of a sample's output, but its targets "
                  "are {}; leave it out",
                  rows, to_string(sample_target)));
  }
}

/// A step without a target has no gradient, and an evaluation without one no loss: data that have none at all train
/// nothing. Reads samples up to the first that has one.
void check_targets(const model_description& m, const data_source& source) {
  const auto part = m.evaluate_only ? split::validation : split::train;
  const auto* const name = m.evaluate_only ? "validation" : "training";
  const auto samples = source.samples(part);
  std::vector<std::byte> input(source.sample_input().bytes().value()), target(source.sample_target().bytes().value());
  for (std::size_t i = 0; i < samples; ++i) {
    const auto asked = [&] { return source.read(part, i, input, target); };
    if (within(m, fmt::format("{}: read() of {} sample {}", source.describe(), name, i), asked) > 0) {
      return;
    }
  }
  if (samples > 0) {
    refuse(m, fmt::format(
                  "{}: none of its {} {} samples has a target that counts (read() has returned 0 for each), so there "
                  "is nothing to compute a loss of; correct what masks them, or the count",
                  source.describe(), samples, name));
  }
}

bool has_whole_sums(const model_description& m) { return m.parallel.replicas == 1 && m.parallel.waves == 1; }

/// What of the model's files and of its data is not used.
std::vector<std::string> notes_of(const model_description& m, const prepared_model& p) {
  auto notes = p.model->notes();
  std::ranges::copy(p.data.source->notes(), std::back_inserter(notes));
  const auto rest = p.data.order.samples % m.batch_size;
  if (rest > 0 && m.epochs > 0 && !m.evaluate_only) {
    notes.push_back(fmt::format("{}: {} training samples in batches of {}: {} of them {} in no batch{}",
                                p.data.source->describe(), p.data.order.samples, m.batch_size, rest,
                                rest == 1 ? "is" : "are", m.data.shuffle ? ", others in each epoch" : ""));
  }
  return notes;
}

}  // namespace

std::string too_few_samples(const data_source& source, std::uint32_t batch) {
  const auto samples = source.samples(split::train);
  const auto text = fmt::format("{} has {}, fewer than one batch of {}", source.describe(),
                                counted(samples, "training sample"), batch);
  const auto census = source.census(split::train);
  const bool packed = census && census->records > samples;
  return text +
         (packed ? fmt::format(": its {} records are packed, several in a sample as long as the context; set a smaller "
                               "batch_size, packing = false, or a shorter context",
                               census->records)
                 : "");
}

prepared_model model_preparer::opened(const model_description& m) try {
  notice_.opens(m);
  return open(m);
} catch (...) {
  rethrow_of(m);
}

void model_preparer::measure(prepared_model& p, const model_description& m) try {
  notice_.measures(m);
  find_costs(p, m);
  notice_.reads(m, *p.data.source);
  p.identity = identity_of(m, p, setup_.seed);
} catch (const measuring_error& e) {
  if (e.what_happened().code == fault_code::out_of_memory) {
    throw;  // who measures knows where
  }
  rethrow_of(m);
} catch (...) {
  rethrow_of(m);
}

namespace {

/// Rules that need whole matrices.
void check_pieces(const model_description& m, const chain& model) {
  if (model.pieces() > 1 && needs_whole_parameters(m.optimizer.kind)) {
    refuse(m, fmt::format("optimizer: {} steps whole matrices, and layers in {} pieces have parts of them: use another "
                          "one, such as adamw or sgd, or leave out \"pieces\"",
                          to_string(m.optimizer.kind), model.pieces()));
  }
}

}  // namespace

prepared_model model_preparer::open(const model_description& m) {
  prepared_model p;
  p.data.source = open_data(m.data, m.chain.wants());
  p.model = within(m, "chain", [&] {
    auto built = m.chain.build(*p.data.source);
    return std::make_shared<const chain>(built.compute_in(setup_.numbers.numbers, setup_.numbers.gradients));
  });
  p.model->validate();
  if (const auto tokens = p.model->tokens_of_targets(); tokens > 0) {
    p.data.source = within(m, "parallel.pieces", [&] { return targets_beside_inputs(p.data.source, tokens); });
  }
  check_pieces(m, *p.model);
  if (!m.replicas_until.empty()) {
    within(m, "parallel.replicas_until", [&] { return meeting_layer(*p.model, m.replicas_until); });
  }
  within(m, "optimizer", [&] { check_groups(m.optimizer, p.model->trained_parameters()); });
  check_loss_chunk(m, *p.model, p.data.source->sample_target());
  check_layers(m, *p.model);
  if (p.model->sample_input() != p.data.source->sample_input()) {
    refuse(m, fmt::format("chain: wants samples {}, but {} has {}", to_string(p.model->sample_input()),
                          p.data.source->describe(), to_string(p.data.source->sample_input())));
  }
  p.data.order = order_of(m, *p.data.source, setup_.seed);
  check_targets(m, *p.data.source);
  p.notes = notes_of(m, p);
  p.steps = steps_of(m, p.data.order);
  if (!m.evaluate_only) within(m, "schedule", [&] { check_steps(m.optimizer.schedule, p.steps); });
  p.evaluation = evaluation_micro_batches(m, *p.data.source, p.model->objective().masks());
  if (m.evaluate_only && p.evaluation == 0) {
    refuse(m, fmt::format("evaluate_only: {} has no validation data to evaluate it on; give it some (validation, "
                          "validation_share)",
                          p.data.source->describe()));
  }
  p.cuts = cuts_of(m, p.model->size());
  p.base = setup_.share ? base_contents(*p.model, m.seed.value_or(setup_.seed)) : std::vector<std::string>{};
  p.stepping = setup_.stepping;
  p.stepping.place = optimizer_place::host;
  if (setup_.stepping.place == optimizer_place::device && !has_whole_sums(m)) {
    refuse(m, fmt::format(
                  "parallel: a step in several replicas or waves (here replicas = {}, waves = {}) is updated on the "
                  "host, where its gradient sums come together: set optimizer_on to \"host\" or \"auto\", or leave "
                  "parallel out",
                  m.parallel.replicas, m.parallel.waves));
  }
  if (setup_.host > byte_count{}) {
    check_least_memory(m, *p.model, setup_.host, setup_.devices);
  }
  return p;
}

void model_preparer::find_costs(prepared_model& p, const model_description& m) {
  find_profile(p, m);
  p.update = update_of(m.optimizer);
  if (!m.evaluate_only && has_whole_sums(m)) {
    find_stepping(p, m);
  }
}

namespace {

/// Of a layer with so many parameters a pass takes seconds on a few cores, frozen or not.
constexpr std::size_t large_layer = 50'000'000;

bool is_large(const chain& model, std::size_t layer) {
  std::size_t all = 0;
  const parameter_layout layout{model, layer, layer + 1};
  for (const auto& p : layout.parameters()) all += p.elements;
  return all > large_layer;
}

/// A line for each layer that is checked or measured, once that has taken a while.
layer_progress progress_of(const std::string& name, const std::shared_ptr<const chain>& model,
                           const std::shared_ptr<spdlog::logger>& log) {
  if (!log) {
    return nullptr;
  }
  return [=, begin = steady_clock::now()](std::string_view work, std::size_t layer, std::size_t kind,
                                          std::size_t kinds) {
    const auto elapsed = steady_clock::now() - begin;
    if (elapsed > std::chrono::seconds(3) || is_large(*model, layer)) {
      log->info("model '{}': {} layer {} of {} (\"{}\"), {} of {} different ones; {} so far", name, work, layer,
                model->size(), model->at(layer).prefix, kind, kinds, to_string(duration(elapsed)));
    }
  };
}

template <class Term>
std::shared_ptr<const chain_profile> with(Term chain_profile::*term, const Term& value,
                                          const std::shared_ptr<const chain_profile>& profile,
                                          profile_variants<Term>& known) {
  auto& variant = known[{profile, value}];
  if (!variant) {
    auto copy = *profile;
    copy.*term = value;
    variant = std::make_shared<const chain_profile>(std::move(copy));
  }
  return variant;
}

}  // namespace

void model_preparer::find_profile(prepared_model& p, const model_description& m) {
  const auto samples = std::int64_t{m.batch_size / m.micro_batches};
  const auto target = p.data.source->sample_target();
  p.profile_key = setup_.setting + "; " + fingerprint(*p.model, target, samples);
  auto& known = setup_.known[p.profile_key];
  if (!known || !suits(*known, *p.model, target, samples)) {
    const auto start = steady_clock::now();
    known = std::make_shared<const chain_profile>(measures_().measure(
        p.model, {.sample_target = target, .samples = samples, .micro_batches = m.micro_batches,
                  .progress = progress_of(m.name, p.model, setup_.log)}));
    pilot_time_ += steady_clock::now() - start;
  }
  p.measured = known;
  const bool meet = !m.replicas_until.empty();  // also one replica: the number of them may be chosen after this
  p.profile = meet ? with(&chain_profile::meets, meeting_layer(*p.model, m.replicas_until), known, meeting_profiles_)
                   : known;
  p.profile_for.fill(p.profile);
}

/// Measured once for all rules with the same arithmetic.
template <class Rate, class Measure>
Rate model_preparer::rate_of(const update_options& rule, rate_list<Rate>& known, Measure measured) {
  const auto same = [&](const auto& entry) { return same_arithmetic(entry.first, rule); };
  const auto found = std::ranges::find_if(known, same);
  if (found != known.end()) {
    return found->second;
  }
  const auto start = steady_clock::now();
  known.emplace_back(rule, measured());
  pilot_time_ += steady_clock::now() - start;
  return known.back().second;
}

update_rates model_preparer::update_of(const update_options& rule) {
  return rate_of(rule, updates_, [&] { return measure_update(rule, setup_.numbers.numbers); });
}

/// Does nothing if no shard may be stepped on a device, or if other models fill the gaps.
void model_preparer::find_stepping(prepared_model& p, const model_description& m) {
  const bool by_rates = setup_.stepping.place == optimizer_place::automatic;
  auto pieces = stepping_of(*p.model, setup_.stepping.place, m.optimizer);
  const bool none = std::ranges::all_of(pieces.host_only, [](bool home) { return home; });
  auto terms = setup_.stepping;
  if (none || (by_rates && setup_.stepping.gaps_are_filled) || !find_rates(terms, m.optimizer)) {
    return;
  }
  p.stepping = terms;
  const auto stepping = [&] { return with(&chain_profile::stepping, pieces, p.profile, stepping_profiles_); };
  const auto as_asked = stepping();
  pieces.pieces = by_rates && pieces.possible(0, 1) ? device_stepping::scope::first : pieces.pieces;
  p.profile_for = {by_rates ? p.profile : as_asked, as_asked, stepping()};
}

/// False if there are no rates to decide by: a device cannot update, or no link could be measured.
bool model_preparer::find_rates(stepping_terms& terms, const update_options& rule) {
  const bool by_rates = terms.place == optimizer_place::automatic;
  try {
    terms.device = rate_of(rule, setup_.device_updates,
                           [&] { return measures_().update_rate(rule, setup_.numbers.numbers); });
  } catch (const fault_error&) {
    if (!by_rates) {
      throw;
    }
    return false;
  }
  if (by_rates && !slowest_link_) {
    auto rates = measures_().link_rates();
    std::erase_if(rates, [](byte_rate r) { return !r.limited(); });
    slowest_link_ = rates.empty() ? byte_rate{} : std::ranges::min(rates);
  }
  terms.link = by_rates ? *slowest_link_ : terms.link;
  return !by_rates || terms.link.limited();
}

cut_rule model_preparer::cuts_of(const model_description& m, std::size_t layers) {
  const auto as_rule = [&](const auto& choice) -> cut_rule {
    if constexpr (std::is_same_v<std::decay_t<decltype(choice)>, saved_cuts>) {
      return cuts_for(plan_in(choice.file), m.name, layers);
    } else {
      return choice;
    }
  };
  return std::visit(as_rule, m.cuts);
}

const saved_plan& model_preparer::plan_in(const std::filesystem::path& file) {
  auto known = plans_.find(file);
  if (known == plans_.end()) {
    known = plans_.emplace(file, load_plan(file)).first;
    setup_.known.insert(known->second.profiles.begin(), known->second.profiles.end());
  }
  return known->second;
}

}  // namespace hydra
