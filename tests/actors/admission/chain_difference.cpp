#include "actors/admission/chain_difference.hpp"

#include <catch2/catch.hpp>

namespace hydra {

TEST_CASE("of two chains only the settings that differ are named, with their layers") {
  const std::string chain =
      "1 samples of i64[4] -> i64[4] by cross-entropy; 1 x embedding width=8 frozen; 2 x block width=8 scaling=none 1 "
      "1 eps=1e-05; 1 x head eps=1e-05";
  const auto with = [&](const std::string& part, const std::string& by) {
    std::string other = chain;
    return difference_of_chains(chain, other.replace(other.find(part), part.size(), by));
  };
  CHECK(difference_of_chains(chain, chain).empty());
  CHECK(with("eps=1e-05; 1 x head eps=1e-05", "eps=0.01; 1 x head eps=0.01") ==
        "2 x block: eps=1e-05 (saved), eps=0.01 (now); 1 x head: eps=1e-05 (saved), eps=0.01 (now)");
  CHECK(with("none 1 1", "linear 2 1") == "2 x block: scaling=none 1 1 (saved), scaling=linear 2 1 (now)");
  CHECK(with("1e-05;", "1e-05 bias=true;") == "2 x block: nothing (saved), bias=true (now)");
  CHECK(with("2 x block", "3 x block") == "2 x block (saved), 3 x block (now)");
  CHECK(with("; 1 x head eps=1e-05", "") == "1 x head eps=1e-05 (saved), nothing (now)");
  CHECK(with("1 samples", "2 samples") == "1 samples of i64[4] -> i64[4] by cross-entropy (saved), 2 samples of i64[4] "
                                          "-> i64[4] by cross-entropy (now)");
}

}  // namespace hydra
