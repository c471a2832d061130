#include "models/data/text_context.hpp"

#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

namespace hydra {

void require_text_context(std::string_view data, std::int64_t context) {
  if (context > 0) return;
  refuse(fmt::format(
      "{} needs a model with a context; this one asks for {} tokens per sample: the data are texts, and the "
      "model takes images or rows of numbers. In its [[model]] write data = \"NAME\" of data of kind "
      "\"images\", \"cifar\" or \"csv\", or chain = {{ family = ... }} for texts: \"gpt2\", \"llama\" or \"bert\"",
      data, context));
}

}  // namespace hydra
