// The memory of a model is freed at its end: models that come one after the other need no more than those present.

#include "actors/session/hydra.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <fstream>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using Catch::Contains;

/// Without validation: it ends with its last step.

namespace release_test {

model_description small(int i) {
  return {.name = fmt::format("m{}", i),
          .chain = mlp({.layers = 3, .width = 32}),
          .data = {synthetic_classes{.validation_samples = 0}},
          .batch_size = 8,
          .steps = 3,
          .optimizer = adamw({.learning_rate = 1e-3})};
}

/// Its second loss is not finite.
model_description failing(int i) {
  auto m = small(i);
  m.optimizer = sgd({.learning_rate = 1e30});
  return m;
}

/// Of whose data more is known.
model_description language(int i) {
  auto m = small(i);
  m.chain = gpt2({.layers = 1, .width = 16, .heads = 2, .context = 16});
  m.data = {synthetic_language{.symbols = 8, .tokens = 4096, .validation_tokens = 512}};
  return m;
}

constexpr cpu_device one_device{.memory = 1_MiB};

byte_count host_for(int models) {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, one_device);
  for (int i = 0; i < models; ++i) s.add_model(small(i));
  return s.plan().host_needed;
}

using make_model = model_description (*)(int);

/// One after the other: each model adds the next one after step `last_step`.
struct succession {
  make_model make = small;
  int models = 1;
  std::uint32_t last_step = 3;
};

report run(session& s, const succession& all) {
  s.add_devices(1, one_device);
  s.add_model(all.make(0));
  int added = 1;
  s.on<step_completed>([&](const step_completed& e, control& c) {
    if (e.done == all.last_step && added < all.models) c.add(all.make(added++));
  });
  return s.run();
}

session_options options(bool keeps) {
  return {.host_memory = host_for(3), .log = verbosity::quiet, .keep_parameters = keeps};
}

double resident_mib() {
  std::ifstream in{"/proc/self/statm"};
  double pages = 0;
  in >> pages >> pages;
  return pages * 4096 / (1 << 20);
}

std::string notes_of(const report& r) { return fmt::format("{}", fmt::join(r.notes, "; ")); }

TEST_CASE("two hundred models that come one after the other fit a host with memory for three of them", "[release]") {
  session s{options(false)};
  const auto r = run(s, {.models = 200});
  INFO(notes_of(r));
  REQUIRE(r.models.size() == 200);
  CHECK(r.all_finished());
  CHECK(r.host_peak <= host_for(3));
}

TEST_CASE("models that fail are released as well", "[release]") {
  session s{options(false)};
  const auto r = run(s, {.make = failing, .models = 40, .last_step = 1});
  INFO(notes_of(r));
  REQUIRE(r.models.size() == 40);
  CHECK(r.models[0].status == model_status::failed);
}

TEST_CASE("the report of a model that was released equals that of one that stayed to the end", "[release]") {
  session s{{.log = verbosity::quiet, .keep_parameters = false}};
  const auto r = run(s, {.make = language, .models = 4});
  REQUIRE(r.models.size() == 4);
  REQUIRE(r.all_finished());
  const auto& first = r.models[0];
  CHECK(first.tokens == 3 * 8 * 16);
  for (std::size_t i = 1; i < 4; ++i) {
    const auto& m = r.models[i];
    CHECK(m.family == first.family);
    CHECK(m.parameters == first.parameters);
    CHECK(m.cuts == first.cuts);
    CHECK(m.tokens == first.tokens);
    CHECK(m.loss == first.loss);
    CHECK(m.digest == first.digest);
    REQUIRE(m.validation.size() == 1);
    REQUIRE(m.validation[0].perplexity);
    REQUIRE(m.validation[0].floor);
    CHECK(m.validation[0].perplexity == first.validation.at(0).perplexity);
    CHECK(m.validation[0].floor == first.validation[0].floor);
    CHECK(m.validation[0].entropy == first.validation[0].entropy);
  }
}

TEST_CASE("the host's peak is that of the models present at a time, however many there were", "[release]") {
  session few{{.log = verbosity::quiet, .keep_parameters = false}},
      many{{.log = verbosity::quiet, .keep_parameters = false}};
  run(few, {.models = 10});
  const auto r = run(many, {.models = 60});
  CHECK(r.models.size() == 60);
  CHECK(r.host_peak <= host_for(3));
}

TEST_CASE("a model that was released has the digest that it has alone", "[release]") {
  session alone{{.log = verbosity::quiet}}, among{options(false)};
  const auto expected = run(alone, {.models = 1}).models[0].digest;
  const auto r = run(among, {.models = 12});
  CHECK_FALSE(expected.empty());
  CHECK(r.models.at(0).digest == expected);
}

TEST_CASE("parameters of ended models stay as long as there is enough memory", "[release]") {
  session s{{.log = verbosity::quiet}}, alone{{.log = verbosity::quiet}};
  run(alone, {.models = 1});
  run(s, {.models = 5});
  CHECK(s.parameters(model_id{0}) == alone.parameters(model_id{0}));
  CHECK(s.parameters(model_id{4}).size() == s.parameters(model_id{0}).size());
}

TEST_CASE("parameters that were given up are refused with what can be done", "[release]") {
  session s{options(true)};
  const auto r = run(s, {.models = 100});
  REQUIRE(r.all_finished());
  CHECK_FALSE(s.parameters(model_id{99}).empty());
  CHECK_THROWS_WITH(s.parameters(model_id{0}), Contains("'m0'") && Contains("raise host_memory"));
}

TEST_CASE("a session that keeps no parameters has digests, but no parameters", "[release]") {
  session s{options(false)};
  CHECK_FALSE(run(s, {.models = 2}).models[1].digest.empty());
  CHECK_THROWS_WITH(s.parameters(model_id{1}), Contains("keep_parameters is off"));
}

TEST_CASE("resident memory over three hundred models is that of the first sixty, within three per cent", "[.deep]") {
  session s{options(false)};
  s.add_devices(1, one_device);
  s.add_model(small(0));
  int added = 1;
  std::vector<double> resident;   // in MiB, as each model ends
  s.on<step_completed>([&](const step_completed& e, control& c) {
    if (e.done != 3) return;
    resident.push_back(resident_mib());
    if (added < 300) c.add(small(added++));
  });
  CHECK(s.run().all_finished());
  REQUIRE(resident.size() == 300);
  WARN(fmt::format("resident after 60 models {:.1f} MiB, after 300 {:.1f} MiB", resident[59], resident[299]));
  CHECK(resident[299] < resident[59] * 1.03);
}

}  // namespace release_test
