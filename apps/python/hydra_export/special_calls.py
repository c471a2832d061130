"""Operations that Hydra replaces by its own, and those that it refuses."""
import torch

from .refused import Refused, place_of

NO_EFFECT = {"aten._assert_tensor_metadata.default", "aten._assert_scalar.default", "aten._assert_async.msg",
             "aten.sym_constrain_range_for_size.default", "aten.sym_constrain_range.default", "aten.sym_size.int",
             "aten.sym_numel.default", "aten.sym_stride.int", "aten.sym_storage_offset.default"}
TAKES_NUMBER = ("aten.item.default", "aten._local_scalar_dense.default")
VIEWS_UNSAID = ("meshgrid", "broadcast_tensors", "atleast_1d", "atleast_2d", "atleast_3d", "type_as", "_unsafe_view", "dropout",
                "feature_dropout", "alpha_dropout", "feature_alpha_dropout")  # not in their schemas
DROPOUT_ARGUMENTS = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")
NORM_ARGUMENTS = ("input", "weight", "bias", "running_mean", "running_var", "momentum", "eps")


def base_name(op):
    """ "add" of aten::add.Tensor and of aten::add_.Tensor."""
    name = op._schema.name.split("::")[1]
    return name if name.startswith("__") else name.rstrip("_")


def draws(op, given):
    """Whether the operation draws random numbers with these arguments."""
    if torch.Tag.nondeterministic_seeded not in op.tags:
        return False
    training = [given[name] for name in ("train", "training") if name in given]
    rate = [given[name] for name in ("dropout_p", "dropout", "p") if name in given]
    off = (training and not training[0]) or (rate and isinstance(rate[0], (int, float)) and rate[0] == 0)
    return not off


def refuse_drawing(node, op):
    if base_name(op) in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        raise Refused(f"{place_of(node)}: {op} with dropout of its own: set its dropout to 0 and put nn.Dropout between "
                      "recurrent layers of one layer each")
    raise Refused(f"{place_of(node)}: {op} draws random numbers: only nn.Dropout and the dropout of attention are drawn again "
                  "alike when a layer is computed again; take it out, or give its numbers as an input")


def refuse_writing(node, op, value, name):
    what = {"parameter": "parameter", "input": "input", "average": "statistics"}.get(value.kind, "buffer")
    raise Refused(f"{place_of(node)}: {op} changes the {what} \"{name.split(':')[-1]}\": only the statistics of a batch norm "
                  "may change; compute a new tensor instead (spectral_norm: use a fixed or another normalization)")


def first_inside(node, module):
    """The first node of the region that a node runs, which has a place in the source."""
    regions = [getattr(module, a.target) for a in node.args if isinstance(a, torch.fx.Node) and a.op == "get_attr"]
    inside = [n for region in regions if isinstance(region, torch.fx.GraphModule) for n in region.graph.nodes]
    return next((n for n in inside if n.op == "call_function"), node)


def refuse_unknown(node, module):
    name = str(node.target)
    if name == "wrap_with_autocast":
        raise Refused(f"{place_of(first_inside(node, module))}: a torch.autocast region: export the model in the type in "
                      "which it should compute, module.to(torch.bfloat16), without autocast")
    if not isinstance(node.target, torch._ops.OpOverload):
        raise Refused(f"{place_of(node)}: control flow inside of the graph ({name}) is not run: use torch.where, or a loop of "
                      "a fixed number of rounds")
    raise Refused(f"{place_of(node)}: the operation {name} is not in LibTorch: write it with PyTorch's own operations "
                  '(transformers: attn_implementation="sdpa" or "eager", experts_implementation="batched_mm")')
