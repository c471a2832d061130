#include "tests/support/spilled_run.hpp"

#include "actors/admission/meeting_layer.hpp"
#include "models/targets_beside_inputs.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watched_device.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <memory>
#include <future>
#include <stdexcept>
#include <utility>

namespace hydra::test {

namespace {

constexpr synthetic_language language{.symbols = 11, .order = 1, .tokens = 400, .validation_tokens = 200, .seed = 3};
constexpr std::int64_t context = 6;

/// Micro-batches of validation data; the last one may not be full.
std::size_t evaluation_of(const exact_case& m) {
  const std::size_t each = m.batch_size / m.micro_batches;
  return (m.data->samples(split::validation) + each - 1) / each;
}

/// Index of the first value whose bits differ, or the shorter length; nothing if equal.
std::string first_difference(const std::string& what, const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) {
    return fmt::format("{}: {} values against {}", what, a.size(), b.size());
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) {
      return fmt::format("{}[{}]: {:.9g} against {:.9g}", what, i, a[i], b[i]);
    }
  }
  return {};
}

std::string first_difference(const std::vector<reference_evaluation>& a, const std::vector<validation_report>& b) {
  if (a.size() != b.size()) {
    return fmt::format("{} evaluations against {}", a.size(), b.size());
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].steps != b[i].step || a[i].loss != b[i].loss || a[i].accuracy != b[i].accuracy) {
      return fmt::format("evaluation after step {}: loss {:.17g} against {:.17g} after step {}, accuracy {} against {}",
                         a[i].steps, a[i].loss, b[i].loss, b[i].step, a[i].accuracy.value_or(-1),
                         b[i].accuracy.value_or(-1));
    }
  }
  return {};
}

/// How far a run is that will be interrupted.
struct progress {
  std::atomic<std::size_t> backward = 0;   ///< computations of the devices together
  std::atomic<std::size_t> before_step;    ///< models of after_step_of that are still awaited
  std::atomic<bool> interrupted = false;   ///< a second interruption would leave what is under way
};

using shared_progress = std::shared_ptr<progress>;

/// Counts the models that complete their first step, or have saved one, where steps are saved: a save that has not begun
/// is given up when the run is interrupted.
shared_progress follow_steps(session& s, const run_options& options) {
  auto far = std::make_shared<progress>();
  far->before_step = options.after_step_of.size();
  const auto count = [far, waiting = options.after_step_of](const auto& e, control&) mutable {
    far->before_step -= waiting.erase(e.model.value);
  };
  if (options.checkpoint.every_steps > 0) {
    s.on<checkpoint_saved>(count);
  } else {
    s.on<step_completed>(count);
  }
  return far;
}

/// What happens on the i-th device; nothing while it only measures.
before_operation mishap_of(session& s, const run_options& o, std::size_t i, const bool& planned,
                           const shared_progress& far) {
  if (o.second_dies_at && i == 1) {
    return dies(*o.second_dies_at);
  }
  if (o.interrupt_at) {
    return [&s, &planned, at = *o.interrupt_at, far](const operation& op) {
      if (planned && is_backward(op) && far->backward++ >= at && far->before_step == 0 &&
          !far->interrupted.exchange(true)) {
        s.interrupt();
      }
    };
  }
  return [](const operation&) {};
}

/// The pilot's device, which is the first that is made, does not hang.
void add_hanging_device(session& s, const cpu_device& d, const run_options& options) {
  const auto made = std::make_shared<int>(0);
  s.add_device("cpu", [=](const std::string& name) -> std::unique_ptr<device> {
    auto machine = make_cpu_device(name, d);
    if ((*made)++ == 0) {
      return machine;
    }
    return std::make_unique<hanging_device>(std::move(machine), *options.second_hangs_at, options.hangs);
  });
}

/// In the precision of the models.
std::vector<cpu_device> devices_for(const std::vector<exact_case>& models, const run_options& options) {
  auto all = options.devices;
  for (cpu_device& d : all) {
    d.numbers = models.front().numbers;
    d.gradients = models.front().gradients;
  }
  return all;
}

/// `planned` is read while the session runs.
void build(session& s, const std::vector<exact_case>& models, const run_options& options, const bool& planned) {
  const auto devices = devices_for(models, options);
  const auto far = follow_steps(s, options);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (i == 1 && options.second_hangs_at) {
      add_hanging_device(s, devices[i], options);
      continue;
    }
    s.add_device("cpu", [&, i, far, of = devices[i]](const std::string& name) -> std::unique_ptr<device> {
      std::unique_ptr<device> d =
          std::make_unique<watched_device>(make_cpu_device(name, of), mishap_of(s, options, i, planned, far));
      return options.around ? options.around(std::move(d)) : std::move(d);
    });
  }
  s.use_policy(options.policy);
  for (std::size_t i = 0; i < models.size(); ++i) {
    s.add_model(describe(models[i], i));
  }
}

}  // namespace

std::vector<std::string> names_of_policies() {
  std::vector<std::string> names;
  for (const auto& entry : built_in_policies()) names.push_back(entry.name);
  return names;
}

model_description describe(const exact_case& m, std::size_t i) {
  model_description d;
  d.name = fmt::format("model-{}", i);
  d.chain = m.chain;
  d.data = {m.data, true};
  d.batch_size = m.batch_size;
  d.micro_batches = m.micro_batches;
  d.parallel = {.replicas = m.replicas, .waves = m.waves};
  d.replicas_until = m.until;
  d.steps = m.steps;
  d.optimizer = m.optimizer;
  d.cuts = m.cuts.empty() ? cut_choice{balanced_cut{}} : m.cuts;
  if (evaluation_of(m) > 0) {
    d.validate = validation_options{.every_steps = m.evaluate_every, .keep_best = m.keep_best};
  }
  d.seed = m.seed;
  return d;
}

exact_case tiny_gpt(double dropout, bool tied) {
  exact_case c;
  c.chain = gpt2({.layers = 3, .width = 16, .heads = 2, .context = context, .dropout = dropout, .tied = tied});
  c.data = open_data({language, true}, context);
  c.optimizer = adamw({.learning_rate = 1e-2});
  return c;
}

exact_case tiny_cnn() {
  exact_case c;
  c.chain = cnn({.stages = 4, .blocks = 1, .width = 4});
  c.data = open_data({synthetic_classes{.shape = {3, 8, 8}, .classes = 5, .samples = 40}, true}, 0);
  c.batch_size = 8;
  c.optimizer = adamw({.learning_rate = 1e-2});
  return c;
}

workload_plan plan_of(const std::vector<exact_case>& models, const run_options& options) {
  session s({.host_memory = options.host_memory, .optimizer_on = options.optimizer_on, .ablation = options.ablation});
  const bool planned = false;
  build(s, models, options, planned);
  return s.plan();
}

byte_count planned_host_memory(const std::vector<exact_case>& models, const run_options& options) {
  return plan_of(models, options).host_needed;
}

byte_count planned_transfers(const std::vector<exact_case>& models, const run_options& options) {
  return plan_of(models, options).host_transfers;
}

spilled_result train_spilled(const std::vector<exact_case>& models, const run_options& options) {
  return train_spilled(models, options, nullptr);
}

namespace {

/// Calls `running` on a thread of its own when the first step is complete; the model of that step waits for it, so that
/// the run is surely under way. Rethrows what `running` has thrown.
report run_beside(session& s, const std::function<void(session&)>& running) {
  std::future<void> other;
  s.on<step_completed>([&](const step_completed&, control&) {
    if (!other.valid()) {
      other = std::async(std::launch::async, [&] { running(s); });
      other.wait();
    }
  });
  auto summary = s.run();
  other.get();
  return summary;
}

}  // namespace

spilled_result train_spilled(const std::vector<exact_case>& models, const run_options& options,
                             const std::function<void(session&)>& running) {
  at::set_num_threads(1);
  session s({.host_memory = options.host_memory,
             .optimizer_on = options.optimizer_on,
             .output = options.output,
             .log = verbosity::quiet,
             .ablation = options.ablation,
             .checkpoint = options.checkpoint,
             .resume = options.resume,
             .watch = options.watch,
             .stop_limit = std::chrono::milliseconds(50)});
  bool planned = false;
  build(s, models, options, planned);
  for (const auto& call : options.callbacks) {
    s.on<step_completed>(call);
  }
  for (const auto& call : options.evaluation_callbacks) {
    s.on<evaluation_completed>(call);
  }
  s.plan();
  planned = true;
  return with_parameters(running ? run_beside(s, running) : s.run(), s);
}

spilled_result with_parameters(report summary, const session& s) {
  spilled_result result{.summary = std::move(summary), .parameters = {}};
  for (std::uint32_t i = 0; i < result.summary.models.size(); ++i) {
    auto& values = result.parameters.emplace_back();
    for (auto& [name, v] : s.parameters(model_id{i})) {
      values.emplace(std::move(name), std::move(v));
    }
  }
  return result;
}

spilled_result train_in_parts(
    const std::vector<exact_case>& models, const run_options& options,
    const std::function<void(std::size_t n, std::vector<exact_case>& models, run_options& options)>& change) {
  const temporary_folder folder;
  auto unfinished = options.after_step_of;
  for (std::size_t n = 0; n < 500; ++n) {
    auto part = models;
    auto now = options;
    now.after_step_of = unfinished;
    now.output = folder.path();
    now.resume = n > 0;
    change(n, part, now);
    auto result = train_spilled(part, now);
    if (!result.summary.interrupted) {
      if (n == 0) throw std::runtime_error("the run has ended before it was interrupted");
      return result;
    }
    std::erase_if(unfinished, [&](std::size_t m) { return result.summary.models[m].status == model_status::finished; });
  }
  throw std::runtime_error("the run is interrupted for the 500th time");
}

reference_result train_plain(const exact_case& m) {
  const chain model = m.chain.build(*m.data).compute_in(m.numbers, m.gradients).in_turn();
  return train_reference({.model = model,
                          .data = model.tokens_of_targets() > 0 ? targets_beside_inputs(m.data, model.tokens_of_targets()) : m.data,
                          .shuffle = true,
                          .batch_size = m.batch_size,
                          .micro_batches = m.micro_batches,
                          .replicas = m.replicas,
                          .meets = m.until.empty() ? 0 : meeting_layer(model, m.until),
                          .steps = m.steps,
                          .update = m.optimizer,
                          .seed = m.seed,
                          .data_seed = m.seed,
                          .evaluate_every = m.evaluate_every,
                          .evaluation_micro_batches = evaluation_of(m)});
}

std::vector<reference_result> train_plain(const std::vector<exact_case>& models) {
  std::vector<reference_result> all;
  for (const auto& m : models) {
    all.push_back(train_plain(m));
  }
  return all;
}

std::string difference(const reference_result& plain, const spilled_result& spilled, std::size_t model) {
  const auto& r = spilled.summary.models.at(model);
  if (r.status != model_status::finished) {
    return "not finished: " + r.error.text;
  }
  if (auto d = first_difference("loss", plain.losses, r.loss); !d.empty()) {
    return d;
  }
  if (auto d = first_difference("grad_norm", plain.grad_norms, r.grad_norm); !d.empty()) {
    return d;
  }
  if (auto d = first_difference(plain.evaluations, r.validation); !d.empty()) {
    return d;
  }
  for (const auto& [name, values] : plain.parameters) {
    if (auto d = first_difference(name, values, spilled.parameters.at(model).at(name)); !d.empty()) {
      return d;
    }
  }
  return plain.digest == r.digest ? "" : "digest";
}

std::string difference(std::span<const reference_result> plain, const spilled_result& spilled) {
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (const auto d = difference(plain[i], spilled, i); !d.empty()) {
      return fmt::format("model {}: {}", i, d);
    }
  }
  return {};
}

}  // namespace hydra::test
