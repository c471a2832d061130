#include "actors/admission/identity.hpp"

#include "actors/admission/beginning.hpp"
#include "actors/admission/chain_difference.hpp"
#include "models/parameter_layout.hpp"
#include "models/targets_beside_inputs.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "partition/profile/pilot.hpp"
#include "runtime/base/rethrow.hpp"
#include "runtime/storage/sha256.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

namespace {

/// Entries that older checkpoints do not have: none for what they could not have.
std::string newer_keys_of(const learning_schedule& s) {
  std::string text = s.warmup_ratio > 0 ? fmt::format(" warmup_ratio {}", s.warmup_ratio) : "";
  if (s.kind == schedule_kind::wsd) text += fmt::format(" decay_ratio {}", s.decay_ratio);
  if (s.kind == schedule_kind::cosine_restarts) text += fmt::format(" cycles {}", s.cycles);
  return text;
}

std::string text_of(const parameter_group& g) {
  const auto given = [](const auto& number) { return number ? fmt::format("{}", *number) : "as the others"; };
  return fmt::format("group: {} learning_rate {} weight_decay {}\n", fmt::join(g.parameters.all(), " "),
                     given(g.learning_rate), given(g.weight_decay));
}

std::string text_of(const update_options& o) {
  const auto& s = o.schedule;
  std::string text = fmt::format(
      "optimizer: {} learning_rate {} weight_decay {} betas {} {} eps {} momentum {} nesterov {} clip_norm {}\n"
      "schedule: {} warmup {} floor {}{}\n",
      to_string(o.kind), o.learning_rate, o.weight_decay, o.beta1, o.beta2, o.eps, o.momentum, o.nesterov, o.clip_norm,
      static_cast<int>(s.kind), s.warmup, s.floor, newer_keys_of(s));
  if (o.kind == update_kind::muon)
    text += fmt::format("muon: adjustment {} adamw_learning_rate {}\n", static_cast<int>(o.adjustment),
                        o.adamw_learning_rate.value_or(o.learning_rate));
  if (o.kind == update_kind::adafactor)
    text += fmt::format("adafactor: decay_rate {} clip_threshold {}\n", o.decay_rate, o.clip_threshold);
  if (o.decay == decay_scope::matrices) text += "decay: matrices\n";
  for (const auto& group : o.groups) text += text_of(group);
  return text;
}

/// Names, shapes and ties of all parameters, and how fast running averages move.
std::string parameters_of(const chain& model) {
  sha256 hash;
  const parameter_layout layout(model, 0, model.size());
  for (const auto& p : layout.parameters()) {
    auto text = fmt::format("{} {} {}", p.name, fmt::join(p.shape, " "), p.tied_to);
    text += p.averaging > 0 ? fmt::format("averaging {}\n", p.averaging) : "\n";
    hash.add(std::as_bytes(std::span(text)));
  }
  return hash.finish();
}

/// A line only for models that start from weights: checkpoints of other models have no such line.
std::string weights_of(const chain& model) {
  return model.weights() ? fmt::format("weights: {}\n", model.weights()->identity()) : "";
}

/// A line only for a base that is stored in fewer bytes than it is computed with.
std::string base_of(const chain& model) {
  return model.base() == base_format::as_computed ? "" : fmt::format("base: {}\n", to_string(model.base()));
}

/// What a user's source throws, with the sample.
void read_of(const data_source& source, split part, std::size_t sample, std::span<std::byte> input,
             std::span<std::byte> target) try {
  source.read(part, sample, input, target);
} catch (...) {
  rethrow_from(fmt::format("{}: read() of {} sample {}", source.describe(),
                           part == split::train ? "training" : "validation", sample));
}

/// Digest of some samples of both parts: it differs for another seed or another file.
std::string content_of(const data_source& source) {
  sha256 hash;
  std::vector<std::byte> input(source.sample_input().bytes().value());
  std::vector<std::byte> target(source.sample_target().bytes().value());
  for (const auto part : {split::train, split::validation}) {
    const auto n = source.samples(part);
    for (std::size_t i = 0; i < std::min<std::size_t>(n, 64); ++i) {
      read_of(source, part, i * n / std::min<std::size_t>(n, 64), input, target);
      hash.add(input);
      hash.add(target);
    }
  }
  return hash.finish();
}

/// Where the values of an owned parameter come from; the seed belongs to it only if they are random.
std::string origin_of(const placed_parameter& p, const chain& model, std::uint64_t seed) {
  const auto stored = model.weights() ? model.weights()->origin(p.name) : "";
  return stored.empty() ? fmt::format("{} {} seed {}", static_cast<int>(p.initial.how), p.initial.value, seed) : stored;
}

std::string digest_of(const std::string& text) {
  sha256 hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.finish();
}

/// An entry that older checkpoints do not have: no line if it is empty.
std::string line_unless_empty(const char* name, const std::string& text) {
  return text.empty() ? "" : fmt::format("{}: {}\n", name, text);
}

/// The first line if it is not fp32: older checkpoints have no such line.
std::string precision_line(precision numbers) {
  return numbers == precision::fp32 ? "" : fmt::format("precision: {}\n", to_string(numbers));
}

/// The second line, likewise.
std::string gradients_line(precision gradients) {
  return gradients == precision::fp32 ? "" : fmt::format("gradients: {}\n", to_string(gradients));
}

number_formats formats_in(const std::string& identity) {
  const auto first = precision_line(precision::bf16);
  const bool rounded = identity.starts_with(first);
  const bool gradients = rounded && identity.substr(first.size()).starts_with(gradients_line(precision::bf16));
  return {.numbers = rounded ? precision::bf16 : precision::fp32,
          .gradients = gradients ? precision::bf16 : precision::fp32};
}

std::string difference_between(const char* what, precision saved, precision now) {
  return saved == now ? "" : fmt::format("{}: {} (saved), {} (now)", what, to_string(saved), to_string(now));
}

/// "text b.txt, bytes" of "text /a/b.txt, bytes".
std::string without_folders(const std::string& data) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= data.size();) {
    const auto end = std::min(data.find(", ", at), data.size());
    auto part = data.substr(at, end - at);
    part.resize(part.find_last_not_of('/') + 1);
    if (const auto last = part.rfind('/'); last != std::string::npos) {
      const auto begin = part.rfind(' ', part.find('/')) + 1;  // 0 if there is no space
      part.erase(begin, last + 1 - begin);
    }
    parts.push_back(std::move(part));
    at = end + 2;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string with_bare_names(std::string identity) {
  const std::string key = "\ndata: ";
  if (const auto found = identity.find(key); found != std::string::npos) {
    const auto begin = found + key.size(), end = identity.find('\n', begin);
    identity.replace(begin, end - begin, without_folders(identity.substr(begin, end - begin)));
  }
  return identity;
}

namespace {

/// Lines about data whose values say nothing to a person.
bool tells_by_digest(const std::string& line) { return line.starts_with("content: ") || line.starts_with("files: "); }

constexpr std::string_view chain_key = "chain: ";

std::string difference_of_lines(const std::string& saved, const std::string& now) {
  const bool chains = saved.starts_with(chain_key) && now.starts_with(chain_key);
  if (!chains) return fmt::format("{} (saved), {} (now)", saved, now);
  return fmt::format("{}{}", chain_key,
                     difference_of_chains(saved.substr(chain_key.size()), now.substr(chain_key.size())));
}

/// Without samples, loss and precision, which are in front.
std::string layers_of(const std::string& chain) {
  constexpr std::string_view end = "; ";
  const auto at = chain.find(end);
  return at == std::string::npos ? "" : chain.substr(at + end.size());
}

std::string replicas_line(const model_description& m) {
  const auto until = m.replicas_until.empty() ? "" : fmt::format(", until {}", m.replicas_until);
  return m.parallel.replicas == 1 ? "" : fmt::format("replicas: {}{}\n", m.parallel.replicas, until);
}

}  // namespace

std::string identity_of(const model_description& m, const prepared_model& p, std::uint64_t seed) try {
  const auto samples = std::int64_t{m.batch_size / m.micro_batches};
  const auto& source = without_targets(*p.data.source);
  return precision_line(p.model->numbers()) + gradients_line(p.model->gradients()) +
         fmt::format("chain: {}\nparameters: {}\n", fingerprint(p.model->in_turn(), source.sample_target(), samples),
                     parameters_of(*p.model)) +
         weights_of(*p.model) + base_of(*p.model) +
         fmt::format("data: {}\ncontent: {}\nshuffle: {}\ntraining samples: {}\n", source.describe(),
                     content_of(source), p.data.order.shuffle, p.data.order.samples) +
         line_unless_empty("files", source.fingerprint()) +
         fmt::format("batch_size: {}\nmicro_batches: {}\nsteps: {}\nseed: {}\n", m.batch_size, m.micro_batches, p.steps,
                     m.seed.value_or(seed)) +
         replicas_line(m) +
         fmt::format("validation: every {} steps, {} micro-batches\n",
                     m.validate.value_or(validation_options{}).every_steps, p.evaluation) +
         text_of(m.optimizer) + line_unless_empty("begins", m.begins.empty() ? "" : checkpoint_digest(m.begins));
} catch (...) {
  rethrow_from(fmt::format("model '{}'", m.name));
}

std::string data_lines_of(const data_source& source) {
  return fmt::format("content: {}\n", content_of(source)) + line_unless_empty("files", source.fingerprint());
}

bool has_lines(const std::string& identity, const std::string& lines) {
  std::istringstream wanted(lines);
  for (std::string line; std::getline(wanted, line);) {
    if (("\n" + identity).find("\n" + line + "\n") == std::string::npos) {
      return false;
    }
  }
  return true;
}

std::vector<std::string> base_contents(const chain& model, std::uint64_t seed) {
  const parameter_layout layout(model, 0, model.size());
  std::map<std::string, std::string> origins;
  for (const auto& p : layout.parameters()) {
    if (p.tied_to.empty()) {
      origins[p.name] = origin_of(p, model, seed);
    }
  }
  std::vector<std::string> texts(model.size());
  for (const auto& p : layout.parameters()) {
    if (p.frozen) {
      const auto& owner = p.tied_to.empty() ? p.name : p.tied_to;
      texts[p.layer] += fmt::format("{} {} {} {}{}\n", p.name, fmt::join(p.shape, " "), p.tied_to, origins.at(owner),
                                    p.stored == base_format::as_computed ? "" : " " + to_string(p.stored));
    }
  }
  for (auto& text : texts) {
    text = text.empty() ? text : digest_of(text + to_string(model.numbers()));
  }
  return texts;
}

std::string with_steps(std::string identity, std::uint32_t steps) {
  const std::string key = "\nsteps: ";
  const auto begin = identity.find(key);
  if (begin == std::string::npos) {
    return identity;
  }
  const auto number = begin + key.size();
  return identity.replace(number, identity.find('\n', number) - number, std::to_string(steps));
}

std::string difference_of(const std::string& saved, const std::string& now) {
  const auto before = formats_in(saved), after = formats_in(now);
  if (before != after) {
    const auto numbers = difference_between("the devices' precision", before.numbers, after.numbers);
    return numbers.empty() ? difference_between("the precision of gradients", before.gradients, after.gradients)
                           : numbers;
  }
  std::istringstream a(saved);
  std::istringstream b(now);
  for (std::string x, y; std::getline(a, x) && std::getline(b, y);) {
    if (x != y && tells_by_digest(x)) {
      return other_data;
    }
    if (x != y && with_bare_names("\n" + x + "\n") != with_bare_names("\n" + y + "\n")) {
      return difference_of_lines(x, y);
    }
  }
  return with_bare_names(saved) == with_bare_names(now)
             ? ""
             : "the saved description has more or fewer lines than the current one";
}

std::string difference_of_layers(const std::string& saved, chain now) {
  const auto formats = formats_in(saved);
  now.compute_in(formats.numbers, formats.gradients);  // which decides in what format a base is stored
  return difference_of_chains(layers_of(identity_line(saved, "chain")),
                              layers_of(fingerprint(now.in_turn(), now.sample_input(), 1)));
}

bool is_about_data(const std::string& message) {
  const auto names = [&](const char* what) { return message.find(what) != std::string::npos; };
  return names(other_data) || names(": data: ") || names(": training samples: ");
}

}  // namespace hydra
