#pragma once
// models/ answers: what is trained? Layers, chains, losses, update rules (optimizer mathematics, clipping, schedules,
// ties), data, files of tensors. It may use Torch ops. It must not know devices or actors: everything here is a plain
// function of its arguments, so the same code serves the pilot, the forward visit, the recomputation and the reference
// trainer.
//
// Read in this order: layer, chain, loss, parameter_layout, update_rule, data_source, catalog.

namespace hydra {

class layer;
class loss;
class chain;
class data_source;
class parameter_layout;
class safetensors_file;
struct layer_context;
struct named_tensor;
struct stored_tensor;
struct tensor_spec;

}  // namespace hydra
