#include "tests/support/pipeline_bench.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>

namespace hydra::test {

// -- recording_port ---------------------------------------------------------------------------------------------------

void recording_port::lease(ticket lease, const unit& u, std::vector<block_id> reads, std::vector<block_id> outputs) {
  questions.push_back({.lease = lease, .what = u, .reads = std::move(reads), .outputs = std::move(outputs)});
}

void recording_port::freed(std::uint32_t credits, const std::optional<unit>& running, std::vector<block_id> cached,
                           std::vector<block_id> dropped) {
  states.push_back({credits, running, std::move(cached), std::move(dropped)});
}

std::uint32_t recording_port::credits() const {
  std::uint32_t sum = 0;
  for (const auto& s : states) {
    sum += s.credits;
  }
  return sum;
}

std::size_t recording_port::ends_of(const unit& u) const {
  return static_cast<std::size_t>(std::ranges::count(demotions, u) + std::ranges::count(failures, u, &failure::what));
}

const fault* recording_port::failure_of(const unit& u) const {
  const auto found = std::ranges::find(failures, u, &failure::what);
  return found == failures.end() ? nullptr : &found->why;
}

std::vector<block_id> recording_port::reads_of(const unit& u) const {
  std::vector<block_id> all;
  for (const auto& q : questions) {
    if (q.what == u) {
      all.insert(all.end(), q.reads.begin(), q.reads.end());
    }
  }
  return all;
}

// -- bench_model ------------------------------------------------------------------------------------------------------

bench_model::bench_model(const even_model& m) : id_(m.id) {
  const simulated_shard shard{
      .forward = std::chrono::microseconds{10},
      .backward = std::chrono::microseconds{20},
      .update = {},
      .parameters = m.parameters,
      .activation = m.activation,
      .working = m.working,
      .write_back = m.write_back,
      .saved = m.saved,
      .device_update = m.steps ? std::optional<duration>(std::chrono::microseconds{5}) : std::nullopt};
  what_ = make_simulated_model({.name = m.name, .shards = std::vector<simulated_shard>(m.shards, shard), .steps = 1,
                                .micro_batches = m.micro_batches});
}

unit bench_model::make(direction way, std::uint32_t shard, std::uint32_t attempt) const {
  unit u;
  u.model = id_;
  u.way = way;
  u.shard = shard_index{shard};
  u.micro_batches = what_->plan.micro_batches;
  u.attempt = attempt;
  return u;
}

// -- pipeline_bench ---------------------------------------------------------------------------------------------------

pipeline_bench::pipeline_bench(byte_count memory, const pipeline_options& options)
    : machine(memory), pipeline(machine, port, nullptr, options) {
  machine.on_completion([this](const completion& c) { pipeline.completed(c); });
}

void pipeline_bench::place(const bench_model& m, const unit& u) {
  pipeline.prefetch(u);
  pipeline.execute(u, m.what(), 1);
}

void pipeline_bench::stage(const bench_model& m, const unit& u) {
  place(m, u);
  grant(u);
}

recording_port::question* pipeline_bench::open_question(const unit& u) {
  const auto found = std::ranges::find_if(port.questions, [&](const auto& q) { return q.what == u && !q.answered; });
  return found == port.questions.end() ? nullptr : &*found;
}

bool pipeline_bench::waits_for_lease(const unit& u) const {
  return std::ranges::any_of(port.questions, [&](const auto& q) { return q.what == u && !q.answered; });
}

void pipeline_bench::grant(const unit& u) {
  auto* q = open_question(u);
  INFO("no open lease of " << to_string(u));
  REQUIRE(q != nullptr);
  q->answered = q->granted = true;
  const std::vector<host_block_ptr> reads(q->reads.size());
  const std::vector<host_block_ptr> outputs(q->outputs.size());
  pipeline.leased(ticket{q->lease}, reads, outputs);
}

void pipeline_bench::refuse(const unit& u, fault_code why) {
  auto* q = open_question(u);
  REQUIRE(q != nullptr);
  q->answered = true;
  pipeline.refused(ticket{q->lease}, {why, "refused by the test"});
}

void pipeline_bench::run_out() {
  for (bool more = true; more;) {
    more = machine.drain() > 0;
    for (std::size_t i = 0; i < port.questions.size(); ++i) {
      if (!port.questions[i].answered) {
        grant(unit{port.questions[i].what});
        more = true;
      }
    }
  }
}

}  // namespace hydra::test
