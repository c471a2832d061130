#include "partition/checkpoint/checkpoint_folder.hpp"

#include "partition/checkpoint/checkpoint_weights.hpp"
#include "partition/checkpoint/kept_checkpoint.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "partition/plan/plan_outline.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/stored_folder.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

const small_model& body() {
  static const auto m = small_gpt({.layers = 3, .width = 16, .heads = 2, .context = 6});
  return m;
}

/// Every float of the buffer gets a value of its own.
void fill(const host_block_ptr& block, float first) {
  for (auto& x : block->floats()) {
    x = first;
    first += 0.25F;
  }
}

/// Padding and tied copies have the values of a run: zeros, and their owners' values.
void copy_owners(const sharded_model& m, std::vector<shard_home>& homes) {
  for (const auto& t : m.ties) {
    const auto& owner = m.shards[t.owner_shard].layout().parameters()[t.owner];
    const auto& copy = m.shards[t.copy_shard].layout().parameters()[t.copy];
    std::memcpy(homes[t.copy_shard].parameters->floats().subspan(copy.offset).data(),
                homes[t.owner_shard].parameters->floats().subspan(owner.offset).data(), owner.elements * sizeof(float));
  }
}

struct saved_case {
  std::shared_ptr<sharded_model> what;
  std::unique_ptr<host_arena> arena = make_host_arena(byte_count{64 << 20});
  model_checkpoint checkpoint{};

  explicit saved_case(const cut_points& cuts, const update_options& update = adamw({}))
      : what(cut_model(body(), {.cuts = cuts, .update = update})) {
    what->identity = "seed: 1\n";
    checkpoint.what = what;
    checkpoint.memory.homes = make_homes(*what, *arena);
    for (std::size_t s = 0; s < what->size(); ++s) {
      for (const auto& moment : checkpoint.memory.homes[s].moments) {
        fill(moment, static_cast<float>(s));
      }
    }
    copy_owners(*what, checkpoint.memory.homes);
    checkpoint.memory.versions.assign(what->size(), version_index{2});
    checkpoint.memory.updates.shards.assign(what->size(), update_phase::waiting);
    checkpoint.standing = {.next = {.step = 2}, .losses = {}, .stopped = false, .history = {}};
    checkpoint.standing.history = {
        {3.5F, std::numeric_limits<float>::infinity()}, {0.5F, 0.25F}, {{2, 1.0 / 3, 0.5}, {2, 2, {}}}};
  }

  /// In the middle of step 2: the last shard has been stepped and waits for the owner of its tied copy.
  void go_inside() {
    const auto last = what->size() - 1;
    auto& home = checkpoint.memory.homes[last];
    home.gradients = {arena->allocate(what->plan.shards[last].parameters, "gradients")};
    fill(home.gradients.front(), 7);
    checkpoint.memory.updates.shards[last] = update_phase::stepped;
    checkpoint.memory.updates.norms = {{}, {}, {0.1F, 0.2F}};
    checkpoint.standing.next.units = {static_cast<std::uint32_t>(last + 1)};
    checkpoint.standing.losses = {1.25F};
    const block_id upstream{.model = {}, .replica = {}, .step = step_index{2}, .pass = pass_kind::train,
                            .kind = block_kind::upstream, .shard = shard_index{static_cast<std::uint32_t>(last - 1)},
                            .micro_batch = {}};
    auto bytes = arena->allocate(what->plan.shards[last - 1].output, "upstream");
    fill(bytes, 3);
    checkpoint.memory.boundaries = {{upstream, std::move(bytes)}};
  }
};

void save(const saved_case& c, const std::filesystem::path& root, std::uint32_t keep = 2) {
  checkpoint_folder(posix_file_system(), root, keep).save(c.checkpoint, [](shard_index) {});
}

/// One step later, as the best state.
void go_on_as_best(model_checkpoint& c) {
  c.best = true;
  c.standing.next.step += 1;
  c.standing.history.losses.push_back(1);
  c.standing.history.grad_norms.push_back(1);
  for (auto& v : c.memory.versions) {
    v.value += 1;
  }
}

/// Of two checkpoints, a file of the newer one.
std::filesystem::path shard_of_second_save(const std::filesystem::path& root) {
  const saved_case c({0, 2, 4});
  save(c, root);
  save(c, root);
  return root / "small" / "000002-step-2" / "shard-0001.safetensors";
}

/// Values of all parameters of a layout, without padding; equal bits where the cuts differ, too.
std::vector<float> values(const sharded_model& m, const std::vector<shard_home>& homes, bool moments) {
  std::vector<float> all;
  for (std::size_t s = 0; s < m.size(); ++s) {
    for (const auto& p : m.shards[s].layout().parameters()) {
      if (moments && !p.trained()) {
        continue;
      }
      const auto from = moments ? homes[s].moments[1]->floats().subspan(p.state_offset, p.elements)
                                : homes[s].parameters->floats().subspan(p.offset, p.elements);
      all.insert(all.end(), from.begin(), from.end());
    }
  }
  return all;
}

saved_model newest(const std::filesystem::path& root) {
  std::vector<std::string> notes;
  return newest_checkpoint(root / "small", checkpoint_use::same_cuts, notes).value();
}

}  // namespace

TEST_CASE("what is saved inside a step comes back to the bit", "[checkpoint]") {
  const temporary_folder folder;
  saved_case c({0, 2, 4});
  c.go_inside();
  save(c, folder.path());
  const auto back = newest(folder.path());
  CHECK_FALSE(back.any_cuts());
  CHECK(back.identity == "seed: 1\n");
  CHECK(back.standing.next.step == 2);
  CHECK(back.standing.next.units == std::vector{3U});
  CHECK(back.standing.losses == std::vector{1.25F});
  CHECK(back.standing.history.losses == c.checkpoint.standing.history.losses);
  CHECK(back.standing.history.grad_norms == c.checkpoint.standing.history.grad_norms);
  CHECK(back.standing.history.evaluations == c.checkpoint.standing.history.evaluations);
  CHECK(back.versions == c.checkpoint.memory.versions);
  CHECK(back.updates.shards == c.checkpoint.memory.updates.shards);
  CHECK(back.updates.norms == c.checkpoint.memory.updates.norms);

  const auto arena = make_host_arena(byte_count{64 << 20});
  const auto memory = load_memory(back, model_id{4}, *c.what, *arena);
  CHECK(values(*c.what, memory.homes, false) == values(*c.what, c.checkpoint.memory.homes, false));
  CHECK(values(*c.what, memory.homes, true) == values(*c.what, c.checkpoint.memory.homes, true));
  CHECK_FALSE(memory.homes[1].has_any_gradients());
  const auto& written_back = c.what->shards[2].layout().parameters().back();
  CHECK(memory.homes[2].gradients.front()->floats()[written_back.offset] ==
        c.checkpoint.memory.homes[2].gradients.front()->floats()[written_back.offset]);
  REQUIRE(memory.boundaries.size() == 1);
  CHECK(memory.boundaries[0].first.model == model_id{4});
  CHECK(memory.boundaries[0].first.kind == block_kind::upstream);
  CHECK(memory.boundaries[0].second->floats()[5] == c.checkpoint.memory.boundaries[0].second->floats()[5]);
}

TEST_CASE("what is saved between two steps is resumed with any cuts", "[checkpoint]") {
  const temporary_folder folder;
  const saved_case c({0, 2, 4});
  save(c, folder.path());
  const auto back = newest(folder.path());
  CHECK(back.any_cuts());
  const auto other = cut_model(body(), {.cuts = {0, 1, 3}, .update = adamw({})});
  const auto arena = make_host_arena(byte_count{64 << 20});
  const auto memory = load_memory(back, model_id{}, *other, *arena);
  CHECK(memory.versions == std::vector<version_index>(3, version_index{2}));
  CHECK(values(*other, memory.homes, false) == values(*c.what, c.checkpoint.memory.homes, false));
  CHECK(values(*other, memory.homes, true) == values(*c.what, c.checkpoint.memory.homes, true));
}

TEST_CASE("the shard that is stepped first is saved first", "[checkpoint]") {
  const temporary_folder folder;
  const saved_case c({0, 2, 4});
  std::vector<std::uint32_t> order;
  checkpoint_folder(posix_file_system(), folder.path(), 1).save(c.checkpoint, [&](shard_index s) {
    order.push_back(s.value);
  });
  CHECK(order == std::vector<std::uint32_t>{2, 1, 0});
}

TEST_CASE("the newest checkpoints are kept, and one that can be resumed with any cuts", "[checkpoint]") {
  const temporary_folder folder;
  saved_case c({0, 2, 4});
  for (int i = 0; i < 4; ++i) {
    save(c, folder.path());
  }
  CHECK(list_checkpoints(folder.path() / "small").size() == 2);
  c.go_inside();
  for (int i = 0; i < 3; ++i) {
    save(c, folder.path());
  }
  const auto kept = list_checkpoints(folder.path() / "small");
  REQUIRE(kept.size() == 3);
  CHECK(kept[0].filename() == "000007-step-2");
  CHECK_FALSE(read_checkpoint(kept[1]).any_cuts());
  CHECK(read_checkpoint(kept[2]).any_cuts());
}

TEST_CASE("parameters are read from the newest checkpoint of a whole step", "[checkpoint]") {
  const temporary_folder folder;
  saved_case c({0, 2, 4});
  save(c, folder.path());
  c.checkpoint.standing.history.losses.pop_back();  // the step's loss is not reported yet
  save(c, folder.path());
  c.checkpoint.memory.versions.back() = version_index{3};
  save(c, folder.path());
  c.go_inside();
  save(c, folder.path(), 4);
  std::vector<std::string> notes;
  const auto found = newest_checkpoint(folder.path() / "small", checkpoint_use::parameters, notes);
  REQUIRE(found);
  CHECK(found->folder.filename() == "000002-step-2");
  CHECK_FALSE(found->any_cuts());
  REQUIRE(notes.size() == 2);
  for (const char* const name : {"000004-step-2", "000003-step-2"})
    CHECK(std::ranges::count_if(notes, [&](const std::string& note) {
            return Contains(std::string{name} + " was saved inside step 3, with some shards updated and others not")
                .match(note);
          }) == 1);
  std::filesystem::remove_all(found->folder);
  CHECK(newest_checkpoint(folder.path() / "small", checkpoint_use::parameters, notes)->folder.filename() ==
        "000001-step-2");
}

TEST_CASE("a damaged checkpoint is passed over, and named", "[checkpoint]") {
  const temporary_folder folder;
  const auto file = shard_of_second_save(folder.path());
  auto text = text_of(file);
  text[text.size() / 2] ^= 1;
  overwrite(file, text);
  std::vector<std::string> notes;
  REQUIRE(newest_checkpoint(folder.path() / "small", checkpoint_use::parameters, notes));
  CHECK(std::filesystem::exists(file));
  notes.clear();
  const auto found = newest_checkpoint(folder.path() / "small", checkpoint_use::same_cuts, notes);
  REQUIRE(found);
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(found->folder.filename() == "000001-step-2");
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], Contains("000002-step-2") && Contains("damaged") && Contains("shard-0001.safetensors"));
}

TEST_CASE("a best state counts among the checkpoints by its step, and is set aside if it is damaged", "[checkpoint]") {
  const temporary_folder folder;
  saved_case c({0, 2, 4});
  save(c, folder.path());
  c.checkpoint.best = true;
  save(c, folder.path());
  const auto of_model = folder.path() / "small";
  std::vector<std::string> notes;
  CHECK(newest_checkpoint(of_model, checkpoint_use::same_cuts, notes)->folder.filename() == "000001-step-2");
  c.checkpoint.standing.next.step = 3;
  c.checkpoint.standing.history.losses.push_back(0.125F);
  c.checkpoint.memory.versions.assign(c.what->size(), version_index{3});
  save(c, folder.path());
  CHECK(newest_checkpoint(of_model, checkpoint_use::same_cuts, notes)->folder.filename() == "best-step-3");
  CHECK(newest_step(of_model) == 3);
  CHECK(keep_checkpoint(of_model).filename() == "kept-step-3");
  CHECK(states_to_continue(of_model) == std::vector{of_model / "best-step-3", of_model / "000001-step-2"});
  overwrite(of_model / "best-step-3" / "shard-0000.safetensors", "");
  REQUIRE(notes.empty());
  CHECK(newest_checkpoint(of_model, checkpoint_use::same_cuts, notes)->folder.filename() == "000001-step-2");
  CHECK(notes.size() == 1);
  CHECK(std::filesystem::exists(of_model / "best-step-3.damaged"));
  CHECK_FALSE(best_checkpoint(of_model));
}

TEST_CASE("of all states of a model those that are damaged are set aside, older ones, too", "[checkpoint]") {
  const temporary_folder folder;
  saved_case c({0, 2, 4});
  save(c, folder.path());
  go_on_as_best(c.checkpoint);
  save(c, folder.path());
  const auto of_model = folder.path() / "small";
  overwrite(of_model / "000001-step-2" / "shard-0000.safetensors", "");
  std::vector<std::string> notes;
  set_damaged_aside(of_model, notes);
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], Contains("000001-step-2.damaged"));
  CHECK(list_states(of_model) == std::vector{of_model / "best-step-3"});
}

TEST_CASE("what has the name of a state and is no folder is set aside like a damaged one", "[checkpoint]") {
  const temporary_folder folder;
  save(saved_case({0, 2, 4}), folder.path());
  const auto of_model = folder.path() / "small";
  overwrite(of_model / "best-step-9", "");
  std::vector<std::string> notes;
  CHECK(newest_checkpoint(of_model, checkpoint_use::same_cuts, notes)->folder.filename() == "000001-step-2");
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], Contains("best-step-9.damaged"));
}

TEST_CASE("a best state that cannot be read is not offered to continue from", "[checkpoint]") {
  const temporary_folder folder;
  saved_case c({0, 2, 4});
  save(c, folder.path());
  go_on_as_best(c.checkpoint);
  save(c, folder.path());
  const auto of_model = folder.path() / "small";
  std::filesystem::remove(of_model / "best-step-3" / "state.json");
  CHECK(states_to_continue(of_model) == std::vector{of_model / "000001-step-2"});
}

TEST_CASE("a state that is damaged again after the same step is set aside again", "[checkpoint]") {
  const temporary_folder folder;
  const auto of_model = folder.path() / "small";
  for (int n = 0; n < 3; ++n) {
    saved_case c({0, 2, 4});
    save(c, folder.path());
    go_on_as_best(c.checkpoint);
    save(c, folder.path());
    for (const auto& state : list_states(of_model)) {
      overwrite(state / "shard-0000.safetensors", "");
    }
    std::vector<std::string> notes;
    CHECK_FALSE(newest_checkpoint(of_model, checkpoint_use::same_cuts, notes));
    CHECK(list_states(of_model).empty());
  }
  CHECK(std::filesystem::exists(of_model / "best-step-3.damaged-3"));
  CHECK(std::filesystem::exists(of_model / "000001-step-2.damaged-2"));
}

TEST_CASE("another model begins from the best state if that is the newest one", "[checkpoint]") {
  const temporary_folder folder;
  saved_case c({0, 2, 4});
  save(c, folder.path());
  go_on_as_best(c.checkpoint);
  save(c, folder.path());
  const auto kept = keep_checkpoint(folder.path() / "small");
  CHECK(kept.filename() == "kept-step-3");
  CHECK(read_checkpoint(kept).standing.next.step == 3);
}

TEST_CASE("a checkpoint cannot be the weights of a model with other parameters", "[checkpoint]") {
  const temporary_folder folder;
  const saved_case c({0, 2, 4});
  save(c, folder.path());
  const auto weights = checkpoint_weights(folder.path() / "small" / "000001-step-2");
  const auto& known = c.what->shards[0].layout().parameters().front();
  std::vector<float> values(known.elements);
  CHECK(weights->read({.name = known.name, .shape = known.shape, .initial = {}, .tied_to = {}}, values));
  const auto refused = [&](const std::string& name, std::vector<std::int64_t> shape, const std::string& why) {
    try {
      weights->read({.name = name, .shape = std::move(shape), .initial = {}, .tied_to = {}}, values);
      FAIL("it was read");
    } catch (const fault_error& e) {
      CHECK(e.what_happened().code == fault_code::bad_input);
      CHECK_THAT(e.what(), Contains("000001-step-2") && Contains(why));
    }
  };
  refused(known.name, {static_cast<std::int64_t>(known.elements), 1}, "parameter '" + known.name + "' is [");
  refused("none", {1}, "has no parameter 'none'");
}

TEST_CASE("a checkpoint of a later format is refused", "[checkpoint]") {
  const temporary_folder folder;
  save(saved_case({0, 2, 4}), folder.path());
  const auto place = folder.path() / "small" / "000001-step-2";
  auto text = text_of(place / "state.json");
  text.replace(text.find("\"format_version\": 1"), 19, "\"format_version\": 2");
  overwrite(place / "state.json", text);
  CHECK_THROWS_WITH(read_checkpoint(place), Contains("format version 2") && Contains("reads version 1"));
}

TEST_CASE("if any file operation of a checkpoint fails, the one before it is whole, and the message has the reason",
          "[checkpoint]") {
  saved_case c({0, 2, 4});
  c.go_inside();
  int n = 0;
  for (bool hit = true; hit; ++n) {
    for (const int error : {ENOSPC, EIO}) {
      const temporary_folder folder;
      save(c, folder.path(), 1);
      faulty_file_system files({.first = n, .last = n, .error = error});
      checkpoint_folder store(files, folder.path(), 1);
      const auto text = refusal_of([&] { store.save(c.checkpoint, [](shard_index) {}); });
      hit = files.hit();
      INFO("operation " << n << ": " << text);
      const auto found = newest(folder.path());
      CHECK(found.standing.next.step == 2);
      if (!text.empty()) {
        CHECK(found.folder.filename() == "000001-step-2");
        CHECK_THAT(text, Contains((folder.path() / "small").string()) && Contains(std::strerror(error)));
      }
    }
  }
  CHECK(n > 30);
}

TEST_CASE("models' folders have safe names of their own", "[checkpoint]") {
  CHECK(checkpoints_of("r", "gpt-1e-3").filename() == "gpt-1e-3");
  CHECK(checkpoints_of("r", "a/b c").filename() == "a%2Fb%20c");
  CHECK(checkpoints_of("r", "..").filename() == "%2E.");
}

TEST_CASE("a model whose folder's name would be too long is refused with its bytes", "[checkpoint]") {
  CHECK(why_no_checkpoints(std::string(255, 'a')).empty());
  CHECK(why_no_checkpoints(std::string(85, ' ')).empty());
  CHECK_THAT(why_no_checkpoints(std::string(256, 'a')), Contains("a name of 256 bytes"));
  CHECK_THAT(why_no_checkpoints(std::string(86, ' ')), Contains("a name of 258 bytes"));
}

TEST_CASE("a checkpoint of a training in bf16 keeps the masters; the copy is rounded from them again", "[checkpoint]") {
  const temporary_folder folder;
  const auto what = cut_model(rounded(small_mlp({.layers = 3, .width = 13})), {.cuts = {0, 1, 2}, .samples = 3});
  const auto arena = make_host_arena(byte_count{64 << 20});
  model_checkpoint c{.what = what, .memory = {.homes = make_homes(*what, *arena), .versions = {}}, .standing = {}};
  c.memory.versions.assign(3, version_index{0});
  c.memory.updates.shards = {update_phase::waiting, update_phase::waiting, update_phase::stepped};
  c.memory.homes[2].gradients = {arena->allocate(what->plan.shards[2].gradient_bytes(), "gradients")};
  c.standing.next.units = {3};
  const block_id between{.model = {},
                         .replica = {},
                         .step = {},
                         .pass = pass_kind::train,
                         .kind = block_kind::activation,
                         .shard = shard_index{1},
                         .micro_batch = {}};
  c.memory.boundaries = {{between, arena->allocate(what->plan.shards[1].output, "activation")}};
  const auto values = c.memory.boundaries[0].second->halves();
  REQUIRE(values.size() == 3 * 13);  // an odd number of them
  std::iota(values.begin(), values.end(), std::uint16_t{0x3f80});
  checkpoint_folder(posix_file_system(), folder.path(), 2).save(c, [](shard_index) {});
  std::vector<std::string> notes;
  const auto back = newest_checkpoint(folder.path() / what->name, checkpoint_use::same_cuts, notes).value();
  const auto memory = load_memory(back, model_id{0}, *what, *arena);
  for (std::size_t s = 0; s < 3; ++s) {
    CHECK(std::ranges::equal(memory.homes[s].parameters->floats(), c.memory.homes[s].parameters->floats()));
    CHECK(std::ranges::equal(memory.homes[s].copy->halves(), c.memory.homes[s].copy->halves()));
  }
  REQUIRE(memory.boundaries.size() == 1);
  CHECK(std::ranges::equal(memory.boundaries[0].second->halves(), values));
}

TEST_CASE("gradients in bf16 come back from a checkpoint as they were written back, and only for gradients in bf16",
          "[checkpoint]") {
  const temporary_folder folder;
  const auto small = small_mlp({.layers = 3, .width = 13});
  const auto what = cut_model(rounded(small, precision::bf16), {.cuts = {0, 1, 2}, .samples = 3});
  const auto arena = make_host_arena(byte_count{64 << 20});
  model_checkpoint c{.what = what, .memory = {.homes = make_homes(*what, *arena), .versions = {}}, .standing = {}};
  c.memory.versions.assign(3, version_index{0});
  c.memory.updates.shards = {update_phase::waiting, update_phase::waiting, update_phase::written_back};
  auto& written_back = c.memory.homes[2].gradients.front();
  written_back = arena->allocate(what->plan.shards[2].gradient_bytes(), "gradients");
  const auto bits = written_back->halves();
  std::ranges::fill(bits, std::uint16_t{0});
  std::uint16_t next = 0x3f81;
  for (const auto& p : what->shards[2].layout().parameters()) {
    std::iota(bits.begin() + static_cast<std::ptrdiff_t>(p.offset),
              bits.begin() + static_cast<std::ptrdiff_t>(p.offset + p.elements), next);
    next = static_cast<std::uint16_t>(next + p.elements);
  }
  c.standing.next.units = {3};
  checkpoint_folder(posix_file_system(), folder.path(), 2).save(c, [](shard_index) {});
  const auto back = newest(folder.path());
  CHECK(std::ranges::equal(load_memory(back, model_id{0}, *what, *arena).homes[2].gradients.front()->halves(), bits));
  const auto wide = cut_model(rounded(small), {.cuts = {0, 1, 2}, .samples = 3});
  CHECK_THROWS_WITH(load_memory(back, model_id{0}, *wide, *arena),
                    Contains("gradient.") && Contains("another size or type"));
}

TEST_CASE("a checkpoint that cannot be read now is not called damaged", "[checkpoint]") {
  const temporary_folder folder;
  const auto file = shard_of_second_save(folder.path());
  std::filesystem::remove(file);
  std::filesystem::create_symlink("/proc/self/mem", file);  // of which nothing can be read at 0
  std::vector<std::string> notes;
  CHECK_THROWS_AS(newest_checkpoint(folder.path() / "small", checkpoint_use::same_cuts, notes), fault_error);
  CHECK(std::filesystem::exists(file.parent_path()));
  CHECK(notes.empty());
}

TEST_CASE("a state that no run has written is damage, and old checkpoints are dropped all the same", "[checkpoint]") {
  const temporary_folder folder;
  const saved_case c({0, 2, 4});
  save(c, folder.path(), 1);
  const auto place = folder.path() / "small" / "000001-step-2";
  const auto text = text_of(place / "state.json");
  const auto with = [&](const std::string& from, const std::string& to) {
    auto other = text;
    return other.replace(other.find(from), from.size(), to);
  };
  const auto state =
      GENERATE_COPY(std::string("[]"), std::string("{\"format\": 3}"), with("\"first_layer\": 0", "\"first_layer\": 2"),
                    text.substr(0, text.find("\"shards\"")) + "\"shards\": []}", with("\"unit\": ", "\"unit\": 99"));
  overwrite(place / "state.json", state);
  try {
    read_checkpoint(place);
    FAIL("it was read");
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::damaged);
    CHECK_THAT(e.what(), Contains("state.json"));
  }
  CHECK_NOTHROW(save(c, folder.path(), 1));
}

TEST_CASE("a position beyond the last unit of a partly frozen model is damage", "[checkpoint]") {
  const temporary_folder folder;
  saved_case c({0, 2, 4});
  c.checkpoint.standing.next.units = {5};
  save(c, folder.path());
  const auto back = newest(folder.path());
  CHECK_NOTHROW(load_memory(back, model_id{0}, *c.what, *c.arena));
  c.what->plan.first_trained = 1;
  c.what->graphs = graphs_of(c.what->plan);
  CHECK_THROWS_WITH(load_memory(back, model_id{0}, *c.what, *c.arena),
                    Contains("state.json: is at unit 5 of step 2; a step has 4 units"));
}

TEST_CASE("a saved block that no unit of the model reads or writes is damage", "[checkpoint]") {
  const temporary_folder folder;
  saved_case c({0, 2, 4});
  c.go_inside();
  auto foreign = c.checkpoint.memory.boundaries.front();
  foreign.first.micro_batch = micro_batch_index{9};
  c.checkpoint.memory.boundaries.push_back(foreign);
  save(c, folder.path());
  CHECK_THROWS_WITH(load_memory(newest(folder.path()), model_id{0}, *c.what, *c.arena),
                    Contains("has a tensor 'upstream.1.9', which no unit of the model reads"));
}

TEST_CASE("a model that starts from the beginning has no best state of before", "[checkpoint]") {
  const temporary_folder folder;
  saved_case c({0, 2, 4});
  c.checkpoint.best = true;
  save(c, folder.path());
  CHECK_FALSE(forget_best(posix_file_system(), folder.path() / "another"));
  CHECK(best_checkpoint(folder.path() / "small"));
  CHECK(forget_best(posix_file_system(), folder.path() / "small"));
  CHECK_FALSE(best_checkpoint(folder.path() / "small"));
  CHECK_FALSE(forget_best(posix_file_system(), folder.path() / "small"));
}

TEST_CASE("the state of the best evaluation is not removed before another one is there", "[checkpoint]") {
  const temporary_folder folder;
  saved_case c({0, 2, 4});
  c.checkpoint.best = true;
  save(c, folder.path());
  const auto best = best_checkpoint(folder.path() / "small").value();
  faulty_file_system files({.first = 0, .last = 1000, .error = ENOSPC});
  std::set<std::uint32_t> saved;
  checkpoint_folder store(files, folder.path(), 1);
  CHECK_NOTHROW(store.save(c.checkpoint, [&](shard_index s) { saved.insert(s.value); }));
  CHECK(saved.size() == c.what->size());
  CHECK(best_checkpoint(folder.path() / "small") == best);
}
