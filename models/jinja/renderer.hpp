#pragma once
// Runs the tree of a template.

#include "models/jinja/budget.hpp"
#include "models/jinja/program.hpp"

#include <string>
#include <utility>
#include <vector>

namespace hydra::jinja {

/// What names mean in a place. Scopes are on the stack, each within its outer one.
struct scope {
  const scope* outer = nullptr;
  value_map names{};
};

class renderer {
 public:
  /// Both are used as long as it lives.
  renderer(const block& tree, const value_map& given);

  /// Throws complaint; at() is then its line.
  rendering run();
  std::size_t at() const { return line_; }

 private:
  enum class leaving { no, loop, turn };  ///< break, continue

  leaving run(const block& body, scope& in);
  leaving run(const statement& s, scope& in);
  leaving run_choice(const statement& s, scope& in);
  leaving run_loop(const statement& s, scope& in);
  void run_set(const statement& s, value v, scope& in);
  void run_generation(const statement& s, scope& in);
  void define(const statement& s, scope& in);
  value call_macro(const statement& s, const arguments& with);
  std::string captured(const block& body, scope& in);
  void write(std::string_view text);
  value_list filtered(const statement& s, value_list items, const scope& in);

  value eval(const expression& e, const scope& in);
  value eval_list(const expression& e, const scope& in);
  value eval_map(const expression& e, const scope& in);
  value eval_attribute(const expression& e, const scope& in);
  value eval_slice(const expression& e, const scope& in);
  value eval_call(const expression& e, const scope& in);
  value eval_filter(const expression& e, const scope& in);
  value eval_check(const expression& e, const scope& in);
  value eval_compare(const expression& e, const scope& in);
  value eval_condition(const expression& e, const scope& in);
  value eval_two(const expression& e, const scope& in);
  value eval_sign(const expression& e, const scope& in);
  bool is_true(const expression& e, const scope& in) { return truth(eval(e, in)); }
  value name(const std::string& name, const scope& in) const;
  arguments given(const expression& e, std::string_view of, const scope& in);

  const block& tree_;
  scope globals_, top_;
  budget limits_;
  rendering done_;
  std::string* out_ = &done_.text;
  std::size_t line_ = 1;
  std::int64_t loops_ = 0;
};

}  // namespace hydra::jinja
