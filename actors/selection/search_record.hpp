#pragma once
// What a search was told and what it decided, as JSON lines. Rules that decide as results arrive depend on the order:
// whoever carries out decisions writes each record first, and a run that is resumed replays them.

#include "actors/selection/search_rule.hpp"

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hydra {

/// See search_rule::ended().
struct trial_ended {
  std::string trial;

  bool operator==(const trial_ended&) const = default;
};

using search_event = std::variant<trial_result, trial_ended>;

struct search_record {
  search_event event;
  std::vector<trial_decision> decisions;
};

/// Tells the rule of the event.
search_record decide(search_rule& rule, search_event event);

/// One line with its end. A score that is not finite is written as null.
std::string to_json_line(const search_record& record);

/// Lines as to_json_line() writes them; a last line without its end, as a run that was killed leaves it, is left out.
/// Throws fault_error{damaged} with the number of a line that is none.
std::vector<search_record> parse_search_records(std::string_view lines);

/// Tells a new rule of the same settings of all events, in their order. Afterwards it answers for their results as
/// before and carries on from there. Throws fault_error{damaged} if it decides otherwise: the records are those of
/// another search.
void replay(search_rule& rule, std::span<const search_record> records);

}  // namespace hydra
