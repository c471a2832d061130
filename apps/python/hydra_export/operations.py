"""The call that an operation becomes: its own, or Hydra's for dropout, attention with dropout and batch norms."""
from .arguments import Encoder
from .graph import Call
from .refused import Refused, place_of
from .special_calls import DROPOUT_ARGUMENTS, NORM_ARGUMENTS, base_name, draws, refuse_drawing


class Operations:
    """graph: as read so far. made: for each node the name of its value, or the names of a list. sites: of dropout, so far."""

    def __init__(self, graph, batch, made):
        self.graph, self.made, self.sites = graph, made, 0
        self.encoder = Encoder(batch, made)

    def arguments(self, node, given, names=None):
        schema = {a.name: a for a in node.target._schema.arguments}
        return [self.encoder.encoded(given[name], schema[name], node) for name in names or schema]

    def call_for(self, node, given):
        """The call: Hydra's own for dropout, attention with dropout and batch norm. None: the value is the argument."""
        op, name = node.target, base_name(node.target)
        if name == "dropout":
            return self.dropout(node, given)
        if name == "scaled_dot_product_attention" and given["dropout_p"] != 0:
            return Call("hydra::attention", "", self.arguments(node, given, DROPOUT_ARGUMENTS) + [self.next_site()], [])
        if name == "batch_norm" and given["training"]:
            return self.batch_norm(node, given)
        if name == "instance_norm" and given["use_input_stats"] and given["running_mean"] is not None:
            raise Refused(f"{place_of(node)}: an instance norm that keeps statistics: use track_running_stats=False")
        if draws(op, given):
            refuse_drawing(node, op)
        return Call(op._schema.name, op._schema.overload_name, self.arguments(node, given), [])

    def next_site(self):
        self.sites += 1
        return {"i": self.sites - 1}

    def dropout(self, node, given):
        inplace = node.target._schema.name == "aten::dropout_"
        if not given["train"] or given["p"] == 0:
            self.made[node] = self.made[given["self" if inplace else "input"]]  # what eager returns, too
            return None
        if inplace:
            raise Refused(f"{place_of(node)}: dropout in place: use inplace=False")
        return Call("hydra::dropout", "", self.arguments(node, given, ("input", "p")) + [self.next_site()], [])

    def batch_norm(self, node, given):
        if given["running_mean"] is not None:
            self.check_statistics(node, given)
            for name in ("running_mean", "running_var"):
                self.graph.values[self.made[given[name]]].kind = "average"
        return Call("hydra::batch_norm", "", self.arguments(node, given, NORM_ARGUMENTS), [])

    def check_statistics(self, node, given):
        value = [self.graph.values[self.made[given[name]]] for name in ("running_mean", "running_var")]
        if not isinstance(given["momentum"], (int, float)) or not 0 < given["momentum"] < 1:
            raise Refused(f"{place_of(node)}: a batch norm whose momentum is {given['momentum']}: it must be a number between "
                          "0 and 1")
        if any(v.kind == "average" for v in value):
            raise Refused(f"{place_of(node)}: a batch norm is applied twice in forward(), so that its statistics would change "
                          "twice in a step: use one for each application")
        if any(v.kind != "constant" for v in value):
            raise Refused(f"{place_of(node)}: the statistics of a batch norm are not buffers of the module")


def given_argument(node, index, argument):
    """What a node gives for an argument of the schema, or its default."""
    if index < len(node.args) and not argument.kwarg_only:
        return node.args[index]
    return node.kwargs.get(argument.name, argument.default_value)


def check_averages(graph):
    """The statistics of a batch norm may be read by nothing else: it would see those of another time. They are of the type of
    the parameters, with which they are kept."""
    types = {value.type for value in graph.values.values() if value.kind == "parameter"}
    for name, value in graph.values.items():
        if value.kind == "average" and value.type not in types:
            raise Refused(f'the statistics "{name[2:]}" are {value.type}, and the parameters {", ".join(types)}: convert the '
                          "whole module with .to(...)")
    for call in graph.calls:
        for name in call.reads():
            if graph.values[name].kind == "average" and call.op != "hydra::batch_norm":
                raise Refused(f'{call.place}: reads the statistics "{name[2:]}" of a batch norm, which change while it trains: '
                              "compute them from the batch instead")
