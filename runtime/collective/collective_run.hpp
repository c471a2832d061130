#pragma once
// One node's part in a collective operation: which values of others it needs, which it may give, and what it adds.
// Pure: it neither sends nor waits; whoever has messages of a network calls it.

#include "runtime/collective/collective.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace hydra {

/// Values of party `from`, as they are before a round, for party `to`.
struct piece {
  std::uint32_t round = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  value_range what{};
  friend auto operator<=>(const piece&, const piece&) = default;
};

/// A party's values are changed in place, piece by piece: a piece is overwritten when all that this round reads of it
/// has been read. Of each transfer only a few pieces are here, or on the way, at a time.
class collective_run {
 public:
  struct party_values {
    std::uint32_t party = 0;
    std::span<float> values{};  ///< as many as the operation has; must live as long as this
  };

  static constexpr std::uint64_t piece_values = 64 << 10;  ///< the largest piece; 256 KiB
  static constexpr std::size_t credit = 4;                 ///< pieces of a transfer

  /// `here`: the parties of this node. Throws fault_error{internal} for values of another number.
  collective_run(std::shared_ptr<const collective> what, std::vector<party_values> here);

  /// Pieces of other nodes' parties to be asked for now, each once.
  std::vector<piece> wanted();
  /// A piece that was asked for. Throws fault_error{damaged} for one that was not, or of another size.
  void arrived(const piece& p, std::span<const float> values);

  /// What another node has asked for may be read; if not, it may later. Throws fault_error{damaged} for a piece that is
  /// never read from here, and for one that was read.
  bool may_read(const piece& p);
  /// Calls `use` once with the values of a piece that may be read.
  void read(const piece& p, const std::function<void(std::span<const float>)>& use);

  /// All parties here have the sum, and others have read all that they need of it.
  bool finished() const noexcept;

 private:
  /// Values of a party in a round, of at most piece_values.
  struct cell {
    value_range what{};
    combination how = combination::add;
    std::vector<std::uint32_t> sources{};
    std::map<std::uint32_t, std::vector<float>> arrived{};
    std::vector<std::uint32_t> asked{};    ///< of the sources
    std::vector<std::uint32_t> readers{};  ///< that have not read it
  };
  struct stream {          ///< from one party
    std::size_t next = 0;  ///< first cell that was not asked for
    std::size_t open = 0;  ///< cells that were, and are not done
  };
  struct party_state {
    std::uint32_t party = 0;
    std::span<float> values{};
    bool has_values = true;
    std::uint32_t round = 0;
    std::vector<cell> cells{};                  ///< ascending
    std::map<std::uint32_t, stream> streams{};  ///< by the party from which they come
    std::size_t cells_left = 0;
  };

  void begin_round(party_state& state) const;
  static cell* find(party_state& state, const value_range& what);
  static cell* next_of(party_state& state, std::uint32_t from);
  static void settle(party_state& state, cell& c);
  void advance();
  bool take_from_here();
  bool take_from_here(party_state& to, party_state& from);
  bool end_rounds();

  std::shared_ptr<const collective> what_;
  std::map<std::uint32_t, party_state> here_;
};

}  // namespace hydra
