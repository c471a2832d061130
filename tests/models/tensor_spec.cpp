#include "models/tensor_spec.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

TEST_CASE("a spec counts its elements and bytes by type") {
  CHECK(tensor_spec{{2, 3}, element::f32}.bytes() == byte_count{24});
  CHECK(tensor_spec{{2, 3}, element::i64}.bytes() == byte_count{48});
  CHECK(tensor_spec{{2, 3}, element::bf16}.bytes() == byte_count{12});
  CHECK(tensor_spec{{}, element::i64}.elements() == 1);
}

TEST_CASE("the first dimension of a batch is the number of samples") {
  CHECK(batched({{3, 4}, element::f32}, 8) == tensor_spec{{8, 3, 4}, element::f32});
  CHECK(batched({{}, element::i64}, 8) == tensor_spec{{8}, element::i64});
}

TEST_CASE("a spec prints type and shape") {
  CHECK(to_string(tensor_spec{{8, 64, 128}, element::f32}) == "f32[8, 64, 128]");
  CHECK(to_string(tensor_spec{{}, element::i64}) == "i64[]");
  CHECK(to_string(tensor_spec{{8, 64}, element::bf16}) == "bf16[8, 64]");
}

TEST_CASE("element types are known by their names") {
  for (const element type : {element::f32, element::i64, element::bf16}) CHECK(element_named(to_string(type)) == type);
  CHECK_FALSE(element_named("f16"));
}
