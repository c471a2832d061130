#include "models/chain.hpp"

#include "models/joined_weights.hpp"
#include "models/layer_name.hpp"
#include "models/scalar_type.hpp"
#include "models/sliced_weights.hpp"
#include "models/targets_beside_inputs.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/index_ranges.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/rethrow.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace hydra {
namespace {

using parameter_table = std::map<std::string, parameter_spec>;

/// What a user's layer throws, with its name and what was asked of it.
template <class Call, class Asked>
auto asked_of_layer(const chain& model, std::size_t i, const Call& call, const Asked& asked) -> decltype(call()) {
  try {
    return call();
  } catch (...) {
    rethrow_from(fmt::format("{}, {}", layer_name(model, i), asked()));
  }
}

/// Without what the chain adds.
std::vector<parameter_spec> own_parameters(const chain& model, std::size_t i) {
  return asked_of_layer(model, i, [&] { return model.at(i).body->parameters(); }, [] { return "parameters()"; });
}

parameter_table parameters_by_name(const chain& model) {
  parameter_table table;
  for (parameter_spec& p : model.parameters()) {
    const std::string name = p.name;
    if (!table.emplace(name, std::move(p)).second) refuse(fmt::format("two parameters are named \"{}\"", name));
  }
  return table;
}

void check_shape(const parameter_spec& p) {
  if (std::ranges::all_of(p.shape, [](std::int64_t n) { return n > 0; })) return;
  const bool overflown = std::ranges::any_of(p.shape, [](std::int64_t n) { return n < 0; });
  refuse(fmt::format("parameter \"{}\" has shape [{}]; {}", p.name, fmt::join(p.shape, ", "),
                     overflown ? "what it is computed of is too large: use smaller options"
                               : "every dimension must be positive"));
}

void check_tie(const parameter_spec& p, const parameter_table& all) {
  if (p.averaging < 0 || p.averaging > 1)
    refuse(fmt::format("\"{}\" is averaged with {}; use a share between 0 and 1", p.name, p.averaging));
  if (p.tied_to.empty()) return;
  if (p.averaging > 0) refuse(fmt::format("\"{}\" is tied and a running average; it can be only one of them", p.name));
  const auto owner = all.find(p.tied_to);
  if (owner == all.end()) refuse(fmt::format("\"{}\" is tied to \"{}\", which does not exist", p.name, p.tied_to));
  if (!owner->second.tied_to.empty())
    refuse(fmt::format("\"{}\" is tied to \"{}\", which is tied itself; name the owner \"{}\"", p.name, p.tied_to,
                       owner->second.tied_to));
  if (owner->second.shape != p.shape)
    refuse(fmt::format("\"{}\" [{}] is tied to \"{}\" [{}]; the shapes must be equal", p.name, fmt::join(p.shape, ", "),
                       p.tied_to, fmt::join(owner->second.shape, ", ")));
}

void check_averages(const chain& model, const parameter_table& all) {
  const auto average = std::ranges::find_if(all, [](const auto& entry) { return entry.second.averaging > 0; });
  if (model.numbers() == precision::fp32 || average == all.end()) return;
  refuse(fmt::format("chain \"{}\" has running averages (\"{}\"), whose changes {} cannot represent: give the devices "
                     "precision = \"fp32\", or choose a family without batch norm",
                     model.family(), average->first, to_string(model.numbers())));
}

/// Users write neither the layer's options nor the signature that these make.
std::vector<chain_part> pieces_of(const chain& model, std::size_t i, const division& into) try {
  return model.at(i).body->in_pieces(into);
} catch (const fault_error& e) {
  if (e.what_happened().code != fault_code::bad_input) throw;
  refuse(fmt::format("parallel.pieces: layer {} of chain \"{}\": {}", i, model.family(), e.what()));
}

/// What the layer behind these pieces gets.
tensor_spec joined(const chain_place& last, std::span<const tensor_spec> inputs, std::span<const tensor_spec> outputs) {
  const std::size_t pieces = last.piece.of;
  if (last.adds_to_input()) return inputs[inputs.size() - pieces - 1];
  tensor_spec all = outputs[outputs.size() - pieces];
  for (std::size_t i = 1; last.join == term_join::columns && i < pieces; ++i)
    all.shape.back() += outputs[outputs.size() - i].shape.back();
  return all;
}

}  // namespace

chain::chain(std::string family, tensor_spec sample_input, std::shared_ptr<const loss> objective)
    : family_(std::move(family)), sample_input_(std::move(sample_input)) {
  minimise(std::move(objective));
}

chain& chain::add(std::string prefix, std::shared_ptr<const layer> body) {
  if (!body) refuse(fmt::format("layer {} (\"{}\") of chain \"{}\" is null", layers_.size(), prefix, family_));
  layers_.push_back({std::move(prefix), std::move(body), static_cast<std::uint32_t>(layers_.size())});
  has_fixed_ = has_fixed_ || std::ranges::any_of(own_parameters(*this, layers_.size() - 1), &parameter_spec::frozen);
  return *this;
}

chain& chain::replace(std::size_t i, std::shared_ptr<const layer> body) {
  layers_.at(i).body = std::move(body);
  return *this;
}

chain& chain::minimise(std::shared_ptr<const loss> objective) {
  if (!objective) refuse(fmt::format("chain \"{}\" has no loss: the one given is null", family_));
  objective_ = std::move(objective);
  return *this;
}

chain& chain::begin_with(std::shared_ptr<const weight_source> weights) {
  weights_ = std::move(weights);
  return *this;
}

chain& chain::freeze(freezing parameters) {
  frozen_ = std::move(parameters);
  unfrozen_ = false;
  return *this;
}

chain& chain::unfreeze() {
  unfrozen_ = true;
  return *this;
}

chain& chain::untie(const std::string& parameter) {
  untied_.insert(parameter);
  return *this;
}

chain& chain::store_base(base_format format) {
  base_ = format;
  return *this;
}

chain& chain::chunk_loss(std::int64_t rows) {
  loss_chunk_ = rows;
  return *this;
}

chain& chain::divide(std::uint32_t pieces, bool side_by_side) {
  if (pieces < 2) refuse(fmt::format("layers cannot be divided into {} pieces: 2 or more are needed", pieces));
  const auto whole = std::make_shared<const chain>(*this);
  const auto with_targets = with_row_of_targets(sample_input_);
  const bool classes = with_targets && layers_.back().body->divides_classes();
  const auto loss_of_pieces = classes ? objective_->of_pieces() : nullptr;
  if (classes && !loss_of_pieces)
    note(fmt::format("the loss {} is computed from all logits of a token: embedding and head stay whole, and blocks "
                     "are divided into {} pieces",
                     objective_->name(), pieces));
  layers_.clear();
  for (std::size_t i = 0; i < whole->size(); ++i) {
    const chain_layer& l = whole->at(i);
    const division into{
        .pieces = pieces, .side_by_side = side_by_side, .prefix = l.prefix, .targets = loss_of_pieces != nullptr};
    const auto parts = pieces_of(*whole, i, into);
    if (parts.empty()) layers_.push_back(l);
    for (const chain_part& part : parts) layers_.push_back({l.prefix, part.body, l.number, part.place});
    if (into.targets && parts.empty())
      refuse(fmt::format("{} cannot be divided into pieces, between an embedding and a head that can",
                         layer_name(*whole, i)));
  }
  if (size() == whole->size())
    refuse(fmt::format("no layer of chain \"{}\" can be divided into pieces: leave out \"pieces\"", family_));
  if (loss_of_pieces) sample_input_ = *with_targets;
  if (loss_of_pieces) minimise(loss_of_pieces);
  if (weights_) weights_ = sliced_weights(weights_);
  into_ = {.pieces = pieces, .side_by_side = side_by_side};
  whole_ = whole;
  return *this;
}

chain chain::in_turn() const {
  chain same = *this;
  return side_by_side() ? same.join().divide(pieces()) : same;
}

std::int64_t chain::tokens_of_targets() const {
  if (!whole_ || whole_->sample_input() == sample_input_) return 0;
  return parameters(0).front().slice.value().whole.front();
}

chain& chain::join() {
  if (!whole_) return *this;
  if (weights_) weights_ = joined_weights(parameters(), weights_);
  layers_ = whole_->layers_;
  sample_input_ = whole_->sample_input_;
  objective_ = whole_->objective_;
  into_ = {};
  whole_ = nullptr;
  return *this;
}

chain& chain::note(std::string what) {
  notes_.push_back(std::move(what));
  return *this;
}

chain& chain::publish_as(hub_form form) {
  hub_ = std::move(form);
  return *this;
}

chain& chain::compute_in(precision numbers, precision gradients) {
  numbers_ = numbers;
  gradients_ = gradients;
  return *this;
}

std::vector<parameter_spec> chain::parameters(std::size_t i) const {
  std::vector<parameter_spec> result = own_parameters(*this, i);
  for (parameter_spec& p : result) {
    p.name.insert(0, at(i).prefix);
    if (untied_.contains(p.name)) p.tied_to.clear();
    if (p.frozen || !is_in_base(p)) continue;
    p.frozen = !unfrozen_;
    p.stored = format_of(p, i);
  }
  return result;
}

std::vector<parameter_spec> chain::parameters() const {
  std::vector<parameter_spec> all;
  for (std::size_t i = 0; i < size(); ++i) std::ranges::move(parameters(i), std::back_inserter(all));
  return all;
}

/// By the names that its checkpoints have.
bool chain::is_in_base(const parameter_spec& p) const {
  if (frozen_.empty()) return false;
  const std::string& owner = p.tied_to.empty() ? p.name : p.tied_to;
  return frozen_.matches(stored_name(owner));
}

/// The last layer's weights keep their precision in nf4, as in transformers.
base_format chain::format_of(const parameter_spec& p, std::size_t layer) const {
  const bool head = at(layer).number == layers_.back().number;
  const bool narrower =
      base_ == base_format::nf4 ? p.linear != linear_weight::none && !head : numbers_ != precision::bf16;
  return narrower ? base_ : base_format::as_computed;
}

std::string chain::stored_name(const std::string& name) const {
  const std::string whole = whole_name(name);
  return hub_.stored_name ? hub_.stored_name(whole) : whole;
}

std::string chain::signature(std::size_t i) const {
  std::string text = asked_of_layer(*this, i, [&] { return at(i).body->signature(); }, [] { return "signature()"; });
  if (!has_frozen()) return text;
  const std::vector<parameter_spec> all = parameters(i);
  std::vector<std::size_t> frozen;
  for (std::size_t p = 0; p < all.size(); ++p)
    if (all[p].frozen) frozen.push_back(p);
  if (frozen.empty()) return text;
  text += frozen.size() == all.size() ? " frozen" : " frozen=" + index_ranges(frozen);
  const bool stored = std::ranges::any_of(all, [](auto& p) { return p.stored != base_format::as_computed; });
  return stored ? text + " " + to_string(base_) : text;
}

std::int64_t chain::parameter_count() const {
  std::int64_t count = 0;
  for (const parameter_spec& p : parameters()) count += p.tied_to.empty() && p.averaging == 0 ? p.elements() : 0;
  return count;
}

std::int64_t chain::frozen_count() const {
  std::int64_t count = 0;
  for (const parameter_spec& p : parameters()) count += p.tied_to.empty() && p.frozen ? p.elements() : 0;
  return count;
}

std::vector<chain_place> chain::places() const {
  std::vector<chain_place> all;
  for (const chain_layer& l : layers_)
    if (side_by_side()) all.push_back(l.place);
  return all;
}

bool chain::depends_on_gradients() const {
  return std::ranges::any_of(layers_, [](const chain_layer& l) { return l.body->depends_on_gradients(); });
}

std::vector<trained_parameter> chain::trained_parameters() const {
  std::vector<trained_parameter> trained;
  for (std::size_t i = 0; i < size(); ++i)
    for (const parameter_spec& p : parameters(i))
      if (p.tied_to.empty() && p.averaging == 0 && !p.frozen)
        trained.push_back({stored_name(p.name), p.shape, is_hidden(i)});
  return trained;
}

chain::layer_specs chain::specs(std::int64_t samples) const {
  layer_specs all;
  tensor_spec input = batched(sample_input_, samples);
  for (std::size_t i = 0; i < size(); ++i) {
    const piece_place& piece = layers_[i].place.piece;
    all.inputs.push_back(input);
    all.outputs.push_back(asked_of_layer(*this, i, [&] { return layers_[i].body->output(input); },
                                         [&] { return fmt::format("output({})", to_string(input)); }));
    if (piece.last()) input = piece.whole() ? all.outputs.back() : joined(layers_[i].place, all.inputs, all.outputs);
  }
  return all;
}

std::vector<tensor_spec> chain::in_own_format(std::vector<tensor_spec> specs) const {
  for (tensor_spec& s : specs)
    if (s.type == element::f32) s.type = element_of(numbers_);
  return specs;
}

/// Those of the first layer, or of its pieces, are the data's.
std::vector<tensor_spec> chain::inputs(std::int64_t samples) const {
  auto all = in_own_format(specs(samples).inputs);
  for (std::size_t i = 0; i < size() && layers_[i].place.piece.number == i; ++i)
    all[i] = batched(sample_input_, samples);
  return all;
}

std::vector<tensor_spec> chain::outputs(std::int64_t samples) const { return in_own_format(specs(samples).outputs); }

at::Tensor chain::forward(std::size_t i, std::span<const at::Tensor> parameters, const at::Tensor& input,
                          const layer_context& context) const {
  const at::ScalarType wanted = scalar_type(element_of(numbers_));
  const auto is_number = [](const at::Tensor& t) {
    return t.is_floating_point() && t.scalar_type() != scalar_type(element::bits);
  };
  const bool rounded = numbers_ != precision::fp32 && is_number(input) && input.scalar_type() != wanted;
  layer_context own = context;
  own.layer = at(i).number;
  const at::Tensor output = asked_of_layer(
      *this, i, [&] { return at(i).body->forward(parameters, rounded ? input.to(wanted) : input, own).contiguous(); },
      [&] { return fmt::format("forward() of {}", to_string(input)); });
  if (numbers_ != precision::fp32 && is_number(output) && output.scalar_type() != wanted) refuse_output(i, output);
  return output;
}

void chain::refuse_output(std::size_t i, const at::Tensor& output) const {
  refuse(fmt::format("layer {} (\"{}\") of chain \"{}\" returns {} for an input of {}: convert its own tensors to the "
                     "type of its parameters, or give the devices precision = \"fp32\"",
                     i, layers_[i].prefix, family_, c10::toString(output.scalar_type()), to_string(numbers_)));
}

/// All of them at once: a new head has several modules (pooler, classifier).
void chain::check_origins() const {
  if (!weights_) return;
  std::vector<std::string> missing;
  for (const parameter_spec& p : parameters())
    if (p.frozen && p.tied_to.empty() && weights_->origin(p.name).empty())
      missing.push_back(fmt::format("\"{}\"", stored_name(p.name)));
  if (missing.empty()) return;
  const bool one = missing.size() == 1;
  refuse(fmt::format(
      "{} {} frozen, but the checkpoint does not have {}, so that {} would stay random: train {} (\"!\" in "
      "\"freeze\", or \"also_train\" of the adapter)",
      fmt::join(missing, ", "), one ? "is" : "are", one ? "it" : "them", one ? "it" : "they", one ? "it" : "them"));
}

void chain::check_frozen() const {
  if (frozen_.empty() && base_ != base_format::as_computed)
    refuse(
        fmt::format("\"base\" is \"{}\", but chain \"{}\" has no frozen parameters, which are all that is stored so: "
                    "give it \"adapter\" or \"freeze\", or leave it out",
                    to_string(base_), family_));
  if (!has_frozen()) return;
  std::vector<std::string> names;
  bool trains = false, narrows = false;
  for (const parameter_spec& p : parameters()) {
    if (p.averaging > 0)
      refuse(fmt::format(
          "chain \"{}\" has running averages (\"{}\"), which move with each forward visit, and frozen parameters: {}",
          family_, p.name,
          has_fixed_ ? "call eval() on the batch norms before the module is exported, or train all parameters"
                     : "leave out \"freeze\" or \"adapter\", or choose a family without batch norm"));
    trains = trains || !p.frozen;
    narrows = narrows || p.stored == base_format::nf4;
    if (p.tied_to.empty()) names.push_back(stored_name(p.name));
  }
  check_origins();
  if (!frozen_.empty() && !unfrozen_) frozen_.check(names);
  if (base_ == base_format::nf4 && pieces() > 1)
    refuse(
        fmt::format("\"base\" is \"nf4\", whose blocks of 64 values are those of whole weights, and layers are in {} "
                    "pieces: choose \"bf16\", or leave out \"pieces\"",
                    pieces()));
  if (base_ == base_format::nf4 && !narrows)
    refuse(
        fmt::format("\"base\" is \"nf4\", but chain \"{}\" has no frozen weight of a linear map below its last layer, "
                    "which are all that is stored in 4 bits: leave it out, or choose \"bf16\"",
                    family_));
  if (!trains) refuse(fmt::format("\"freeze\" leaves no parameter of chain \"{}\" to train: add \"!NAME\" at its end "
                                  "for those that it shall not freeze", family_));
}

void chain::check_loss_chunk() const {
  if (loss_chunk_ < 0) refuse(fmt::format("\"loss_chunk\" is {}; give a number of rows, or 0 for all", loss_chunk_));
  if (loss_chunk_ == 0 || layers_.back().body->is_row_wise()) return;
  if (pieces() > 1)
    refuse(
        fmt::format("\"loss_chunk\" is {}, and layers are in {} pieces, of which it is not computed: leave out one "
                    "of the two",
                    loss_chunk_, pieces()));
  refuse(
      fmt::format("\"loss_chunk\" is for heads that compute each row of their output alone, such as those of language "
                  "models without dropout; the last layer of chain \"{}\" ({}, \"{}\") does not: leave it out",
                  family_, signature(size() - 1), layers_.back().prefix));
}

void chain::validate() const {
  if (layers_.empty()) refuse(fmt::format("chain \"{}\" has no layer", family_));
  const parameter_table all = parameters_by_name(*this);
  for (const auto& [name, p] : all) {
    check_shape(p);
    check_tie(p, all);
  }
  check_averages(*this, all);
  check_frozen();
  check_loss_chunk();
  if (gradients_ == precision::bf16 && numbers_ == precision::fp32)
    refuse(fmt::format("chain \"{}\" has gradients in bf16 of parameters in fp32; only those of parameters in bf16 are "
                       "rounded", family_));
  outputs(1);
}

}  // namespace hydra
