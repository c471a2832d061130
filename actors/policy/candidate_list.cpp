#include "actors/policy/candidate_list.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

auto from_model(std::vector<candidate>& list, model_id model) {
  return std::ranges::lower_bound(list, model, {}, [](const candidate& c) { return c.next.model; });
}

void insert(std::vector<candidate>& list, const candidate& c) { list.insert(from_model(list, c.next.model), c); }

/// The model may be bound to another device.
void mark_held(std::vector<candidate>& list, model_id model) {
  const auto at = from_model(list, model);
  if (at != list.end() && at->next.model == model) {
    at->transfer = byte_count{};
  }
}

}  // namespace

void candidate_list::put(const candidate& c, const limits& who, std::span<const device_id> holders) {
  drop(c.next.model);
  place p{.who = who, .holders = {holders.begin(), holders.end()}};
  auto added = c;
  added.chained = who.bound_to.has_value();
  insert(list_of(p), added);
  for (const auto device : holders) {
    differences_[device].held.push_back(c.next.model);
  }
  if (who.avoid) {
    differences_[*who.avoid].avoided.push_back(c.next.model);
  }
  places_.emplace(c.next.model, std::move(p));
}

void candidate_list::drop(model_id model) {
  const auto found = places_.find(model);
  if (found == places_.end()) {
    return;
  }
  auto& list = list_of(found->second);
  list.erase(from_model(list, model));
  for (const auto device : found->second.holders) {
    std::erase(differences_[device].held, model);
  }
  if (const auto avoid = found->second.who.avoid) {
    std::erase(differences_[*avoid].avoided, model);
  }
  places_.erase(found);
}

std::span<const candidate> candidate_list::of(device_id device) {
  const auto found = differences_.find(device);
  if (found == differences_.end() || found->second.none()) {
    return open_;
  }
  patched_ = open_;
  for (const auto& c : found->second.bound) {
    insert(patched_, c);
  }
  for (const auto model : found->second.held) {
    mark_held(patched_, model);
  }
  for (const auto model : found->second.avoided) {
    std::erase_if(patched_, [model](const candidate& c) { return c.next.model == model; });
  }
  return patched_;
}

bool candidate_list::any_for(device_id device) const {
  return std::ranges::any_of(places_, [device](const auto& entry) {
    const auto& who = entry.second.who;
    return who.avoid != device && (!who.bound_to || who.bound_to == device);
  });
}

std::vector<candidate>& candidate_list::list_of(const place& p) {
  return p.who.bound_to ? differences_[*p.who.bound_to].bound : open_;
}

}  // namespace hydra
