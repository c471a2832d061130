#pragma once
// Options that the families of decoders with rotary positions share.

#include "models/families/family_option.hpp"
#include "models/families/integer_list.hpp"

#include <iterator>

namespace hydra {

/// Those of all these families (layers, width, ..., window), then the family's own.
template <class O>
std::vector<family_option<O>> with_decoder_options(const std::vector<family_option<O>>& own) {
  std::vector<family_option<O>> all{
      {"layers", &O::layers, true, "blocks"},
      {"width", &O::width, true, "of the residual stream"},
      {"heads", &O::heads, true, "of the attention's queries"},
      {"kv_heads", &O::kv_heads, false, "of its keys and values, divide heads; 0: heads"},
      {"head_size", &O::head_size, false, "features of a head, even; 0: width / heads"},
      {"hidden", &O::hidden, true, "features between the projections of an MLP"},
      {"context", &O::context, true, "tokens per sample"},
      {"vocabulary", &O::vocabulary, false, "token ids; 0: as many as the data have"},
      {"window", &O::window, false, "tokens that a token attends to, itself included; 0: all before it"}};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

/// `what` is the start of its messages: "llama: full_layers".
template <class O>
family_option<O> full_layers_option(const char* what) {
  return {"full_layers", std::string{"none"}, false, "blocks without the window, from 0, such as 5,11",
          [what](O& o, const std::string& list) { o.full_layers = integers_or_none(what, list); }};
}

}  // namespace hydra
