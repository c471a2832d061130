#pragma once
// A sample as vectors.

#include "models/data_source.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hydra::test {

template <class Input, class Target>
struct read_values {
  std::vector<Input> input;
  std::vector<Target> target;
  std::size_t counted = 0;
};

template <class Input = std::int64_t, class Target = std::int64_t>
read_values<Input, Target> read_sample(const data_source& data, std::size_t index, split part = split::train) {
  read_values<Input, Target> s;
  s.input.resize(data.sample_input().bytes().value() / sizeof(Input));
  s.target.resize(data.sample_target().bytes().value() / sizeof(Target));
  s.counted =
      data.read(part, index, std::as_writable_bytes(std::span{s.input}), std::as_writable_bytes(std::span{s.target}));
  return s;
}

}  // namespace hydra::test
