#pragma once
// A collective operation as data: how several parties, each with values of its own, come to have their sum. Whoever
// moves the values (collective_run.hpp), predicts the time (collective_cost.hpp) or counts bytes reads the same rounds.
// Pure arithmetic.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Known ways of an all-reduce; volumes of all parties together are for N of them with M values each.
enum class collective_kind : std::uint8_t {
  direct,            ///< 2(N-1)M: each party adds one slice of all and gives it to the others (make_direct: of a node)
  ring,              ///< 2(N-1)M: partial sums of slices go around, then the sums
  tree,              ///< 2(N-1)M: whole values go up a binomial tree, then the sums down
  butterfly,         ///< N M log N for powers of two: in each round pairs exchange partial sums, at twice the distance
  naive,             ///< N(N-1)M: everybody sends everything to everybody
  parameter_server,  ///< 2NM: one more party adds the values of all and gives them the sum
};

std::span<const collective_kind> all_collective_kinds() noexcept;
std::string_view to_string(collective_kind kind) noexcept;  ///< "parameter-server"

/// Consecutive values.
struct value_range {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  friend auto operator<=>(const value_range&, const value_range&) = default;
};

enum class combination : std::uint8_t { add, copy };

/// Of one round. All transfers of a round read the values from before it. Those that add to the same range of a party
/// are added in ascending order of the parties from which they come, its own values among them.
struct transfer {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  value_range what{};
  combination how = combination::add;
  friend bool operator==(const transfer&, const transfer&) = default;
};

struct collective {
  std::uint32_t summands = 1;  ///< the parties below this have values
  std::uint32_t parties = 1;   ///< the others have none at first
  std::uint64_t values = 0;    ///< of each
  std::vector<std::vector<transfer>> rounds{};
};

/// Throws fault_error{bad_input} without summands. In a round, the ranges of a party are equal or have no value in
/// common.
collective make_collective(collective_kind kind, std::uint32_t summands, std::uint64_t values);

/// `direct` for parties of which several are on one node (`node_of` each): the sum goes to one party of each node, and
/// from it to the others there. Sends (N - 1)M for each party on a node, and (N - 1)M once.
collective make_direct(std::span<const std::uint32_t> node_of, std::uint64_t values);

/// All parties come to have the values of party `from`. Sends (parties - 1) times as many.
collective make_broadcast(std::uint32_t from, std::uint32_t parties, std::uint64_t values);

/// The sum is ((0 + 1) + 2) + ..., as one process adds them; that of other kinds depends on kind and number, and on
/// nothing else.
bool adds_in_order(collective_kind kind) noexcept;

/// Values that all parties send. `node_of` each party: between parties of one node nothing is sent; empty: each has its
/// own.
std::uint64_t sent_values(const collective& c, std::span<const std::uint32_t> node_of = {});

}  // namespace hydra
