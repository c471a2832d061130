"""torch.export's graph as calls of operations (graph.py). Nothing is decomposed; arithmetic on sizes becomes expressions."""
import operator

import torch
from torch.export.graph_signature import InputKind, OutputKind

from .graph import Graph, Stored, Value
from .operations import Operations, check_averages, given_argument
from .refused import Refused, module_path, place_of
from .scalar_types import NAMES
from .sizes import size_of, with_readers
from .special_calls import NO_EFFECT, TAKES_NUMBER, VIEWS_UNSAID, base_name, refuse_unknown, refuse_writing
from .stored_tensors import buffers_of, check_constants, check_parameters, parameters_of, saved_names


COUNT = torch.ops.aten.add_.Tensor


class Reader:
    """Reads a Traced into a Graph. `made` has for each node the name of its value, or the names of a list."""

    def __init__(self, traced, module, names):
        self.program, self.batch, self.names = traced.program, traced.batch, names
        self.graph, self.made, self.readers = Graph(), {}, {}
        self.operations = Operations(self.graph, self.batch, self.made)
        saved = set(saved_names(module))
        self.parameters, self.buffers = parameters_of(module, saved), buffers_of(module, saved)

    def read(self):
        check_parameters(self.parameters)
        check_constants([t for t in self.program.constants.values() if isinstance(t, torch.Tensor)], self.parameters)
        self.read_inputs()
        results = self.walk(self.program.graph_module, True)
        self.check_results(results)
        self.graph.output = results[0]
        self.name_readers()
        check_averages(self.graph)
        return self.graph

    # -- values ------------------------------------------------------------------------------------------------------

    def add_value(self, name, tensor, kind, node):
        if tensor.dtype not in NAMES or tensor.layout != torch.strided:
            raise Refused(f"{place_of(node)}: a value of type {tensor.dtype}, {tensor.layout}: real and integer types and "
                          "dense tensors are known; write complex numbers as pairs")
        shape = [size_of(size, self.batch) for size in tensor.shape]
        strides = [size_of(stride, self.batch) for stride in tensor.stride()]
        self.graph.add(name, Value(kind, shape, strides, NAMES[tensor.dtype]))
        for dimension, size in enumerate(shape):
            if isinstance(size, list) and size[0] == "size":  # a size that depends on data can be read here
                self.readers.setdefault(size[1], (name, dimension))
        return name

    def read_inputs(self):
        signature = self.program.graph_signature
        nodes = [node for node in self.program.graph.nodes if node.op == "placeholder"]
        names = iter(self.names)
        for spec, node in zip(signature.input_specs, nodes, strict=True):
            if spec.kind == InputKind.USER_INPUT:
                name = next(names)
                if isinstance(node.meta.get("val"), torch.Tensor):
                    self.made[node] = self.add_value(name, node.meta["val"], "input", node)
                    self.graph.inputs.append(name)
            elif spec.kind == InputKind.PARAMETER:
                self.add_stored("p:", "parameter", self.parameters[spec.target], node)
            else:
                self.add_stored("c:", "constant", self.constant(spec.target), node)

    def constant(self, target):
        if target in self.buffers:
            return self.buffers[target]
        tensor = self.program.constants[target]
        if not isinstance(tensor, torch.Tensor):
            raise Refused(f'the module uses "{target}", an object of {type(tensor).__name__}: only tensors can be stored')
        return Stored(target, tensor, [])

    def add_stored(self, prefix, kind, stored, node):
        name = prefix + stored.name
        if name not in self.graph.values:  # else another name of the same tensor
            self.graph.stored[self.add_value(name, node.meta["val"], kind, node)] = stored
        self.made[node] = name

    def check_results(self, results):
        changed = [s for s in self.program.graph_signature.output_specs if s.kind != OutputKind.USER_OUTPUT]
        if changed:
            raise Refused(f"forward() changes {changed[0].target}: only the statistics of a batch norm may change; compute a "
                          "new tensor instead")
        if len(results) != 1 or results[0] is None or self.graph.values[results[0]].type not in ("f32", "bf16"):
            raise Refused("forward() does not return one tensor of real numbers (f32 or bf16) that is computed in it")

    def name_readers(self):
        def resolved(argument):
            if isinstance(argument, list):
                return [resolved(part) for part in argument]
            is_size = isinstance(argument, dict) and "e" in argument
            return {"e": with_readers(argument["e"], self.readers)} if is_size else argument
        for call in self.graph.calls:
            call.arguments = resolved(call.arguments)
        for value in self.graph.values.values():
            value.shape = [with_readers(size, self.readers) for size in value.shape]
            value.strides = [with_readers(stride, self.readers) for stride in value.strides]

    # -- nodes -------------------------------------------------------------------------------------------------------

    def walk(self, module, grad):
        """Reads the nodes of a graph module; returns what its outputs are made of."""
        for node in module.graph.nodes:
            if node.op == "get_attr" and node not in self.made:
                self.read_attribute(module, node)
            elif node.op == "output":
                leaves = torch.utils._pytree.tree_leaves(node.args[0])
                return [self.made[leaf] if isinstance(leaf, torch.fx.Node) else None for leaf in leaves]
            elif node.op == "call_function":
                self.read_call(module, node, grad)
        return []

    def read_attribute(self, module, node):
        attribute = operator.attrgetter(node.target)(module)
        if isinstance(attribute, torch.Tensor):
            self.add_stored("c:", "constant", Stored(node.target, attribute, []), node)

    def read_call(self, module, node, grad):
        name = str(node.target)
        if node.target is operator.getitem:
            self.made[node] = self.made[node.args[0]][node.args[1]]
        elif name in TAKES_NUMBER:
            raise Refused(f"{place_of(node)}: a number is taken out of a tensor, so that what follows depends on data: keep it "
                          "as a tensor")
        elif name in NO_EFFECT or isinstance(node.meta.get("val"), (int, float, torch.SymInt, torch.SymBool, torch.SymFloat)):
            pass  # arguments have expressions of sizes instead
        elif name == "wrap_with_set_grad_enabled":
            self.read_region(module, node)
        elif isinstance(node.target, torch._ops.OpOverload) and node.target.namespace == "aten":
            self.read_operation(node, grad)
        else:
            refuse_unknown(node, module)

    def read_region(self, module, node):
        """A region with or without gradients: its calls become calls of the graph."""
        part = getattr(module, node.args[1].target)
        inner = [n for n in part.graph.nodes if n.op == "placeholder"]
        for placeholder, given in zip(inner, node.args[2:], strict=True):
            if given in self.made:
                self.made[placeholder] = self.made[given]
        self.made[node] = self.walk(part, bool(node.args[0]))

    def read_operation(self, node, grad):
        op = node.target
        given = {a.name: given_argument(node, i, a) for i, a in enumerate(op._schema.arguments)}
        written = [self.made[given[a.name]] for a in op._schema.arguments if a.alias_info and a.alias_info.is_write]
        if self.is_batch_counter(node, written):
            self.made[node] = written[0]
            return
        for name in written:
            root = self.graph.root(name)
            if self.graph.values[root].kind != "call":
                refuse_writing(node, op, self.graph.values[root], root)
        call = self.operations.call_for(node, given)
        if call is None:
            return
        call.grad, call.place, call.path, call.writes = grad, place_of(node), module_path(node), written
        self.add_results(node, call)
        self.share_storage(node, given, call)
        self.graph.calls.append(call)

    def is_batch_counter(self, node, written):
        """num_batches_tracked.add_(1), which nothing reads, of a batch norm."""
        return (len(written) == 1 and written[0].endswith("num_batches_tracked") and node.target == COUNT and
                all(user.target == COUNT for user in node.users))

    def add_results(self, node, call):
        made = node.meta.get("val")
        if not isinstance(made, (list, tuple)):
            call.out = [self.add_value(node.name, made, "call", node)]
            self.made[node] = node.name
            return
        call.is_list = len(node.target._schema.returns) == 1
        used = {user.args[1] for user in node.users if user.target is operator.getitem and user.users}
        names = [None if tensor is None else self.add_value(f"{node.name}.{i}", tensor, "call", node)
                 for i, tensor in enumerate(made)]
        whole = any(user.target is not operator.getitem for user in node.users)
        self.made[node] = names
        call.out = [name if whole or i in used else None for i, name in enumerate(names)]

    def share_storage(self, node, given, call):
        """What the schema says, and what may return its input."""
        schema = node.target._schema
        if call.op.startswith("hydra::"):
            return
        returned = set().union(*[r.alias_info.before_set for r in schema.returns if r.alias_info])
        sources = [given[a.name] for a in schema.arguments if a.alias_info and a.alias_info.before_set & returned]
        if base_name(node.target) in VIEWS_UNSAID:
            sources = list(given["tensors"]) if "tensors" in given else [given.get("self", given.get("input"))]
        for source in sources:
            roots = self.made.get(source) if isinstance(source, torch.fx.Node) else None
            for name in call.out if isinstance(roots, str) else []:
                if name is not None:
                    self.graph.share(name, roots)
