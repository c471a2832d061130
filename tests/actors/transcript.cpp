#include "tests/support/overhear.hpp"
#include "actors/policy/catalog.hpp"
#include <catch2/catch.hpp>
#include <iostream>
using namespace hydra; using namespace hydra::test; using namespace std::chrono_literals;
TEST_CASE("x") {
  simulation_setup s;
  device_info d; d.name="sim:0"; d.kind="simulated"; d.memory=byte_count{1<<20}; d.link=byte_rate{1e8};
  s.devices={d};
  simulated_shard sh{.forward=10us,.backward=30us,.update=5us,.parameters=byte_count{1000},.activation=byte_count{100},.working=byte_count{1000}};
  s.models={{.name="a",.shards={sh,sh},.steps=1}};
  s.chosen=make_policy("sharded-lrtf",0);
  simulation sim(std::move(s));
  const auto t0=sim.now();
  for(;;){
    auto m=overhear(sim); std::string t = m?to_text(*m):"";
    if(m) std::cout << (sim.now()-t0).count()/1000. << " " << t << " [" << m->from << "->" << m->to << " " << m->content->stringify().substr(0,0) << "]\n";
    if(!sim.step()) break;
  }
}
