#include "actors/admission/loaded_model.hpp"

namespace hydra {

sharded_model_ptr cut_model(const model_description& d, const prepared_model& p, const model_plan& plan,
                            std::uint64_t seed) {
  auto m = std::make_shared<sharded_model>(make_sharded(p.model, plan));
  m->name = d.name;
  m->update = d.optimizer;
  m->steps = p.steps;
  m->evaluate_every = d.validate.value_or(validation_options{}).every_steps;
  m->keep_best = d.validate.value_or(validation_options{}).keep_best;
  m->seed = d.seed.value_or(seed);
  m->stop_on_nan = d.stop_on_nan;
  m->identity = p.identity;
  m->remaining_scale = p.remaining_scale;
  m->follows_on_device = p.stepping.equally_fast;
  m->terms = {d.priority, d.deadline, d.arrival};
  m->share = d.share;
  return m;
}

model_facts planned_facts(const chain& model) {
  return {.family = model.family(), .parameters = model.parameter_count(), .frozen_parameters = model.frozen_count()};
}

namespace {

model_facts facts_of(const sharded_model& m, const data_source& data, const batch_order& order) {
  const auto& evaluation = m.plan.evaluation;
  const bool nats = m.model->objective().name() == "cross-entropy";
  auto facts = planned_facts(*m.model);
  facts.has_perplexity = nats && data.sample_target().elements() > 1;
  facts.tokens = count_tokens(data, order);
  if (nats && evaluation.micro_batches > 0) {
    facts.floor = data.floor(split::validation, evaluation.micro_batches * static_cast<std::size_t>(m.plan.samples));
  }
  return facts;
}

}  // namespace

model_entry load_model(const sharded_model_ptr& m, const model_data& data, const saved_model* saved, model_id id,
                       host_arena& arena, const base_lookup& bases) {
  model_entry entry{
      .what = m, .memory = {}, .standing = {}, .data = data, .facts = facts_of(*m, *data.source, data.order)};
  if (saved) {
    entry.memory = load_memory(*saved, id, *m, arena, bases);
    entry.standing = saved->begins(m->plan);
    return entry;
  }
  for (std::size_t s = 0; s < m->size(); ++s) {
    entry.memory.homes.push_back(make_home(arena, *m, s, bases));
    m->shards[s].layout().initialise(entry.memory.homes.back().parameters->floats(), *m->model, m->seed);
    round_masters(entry.memory.homes.back());
  }
  return entry;
}

void add_bases(bases_in_memory& all, const model_entry& m) {
  for (std::size_t s = 0; s < m.memory.homes.size(); ++s) {
    if (const auto& place = m.what->plan.shards[s].shared_base) {
      all[*place] = m.memory.homes[s].base;
    }
  }
}

}  // namespace hydra
