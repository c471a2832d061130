"""What each call of a graph needs, and which calls belong to the chain and which are made again in each layer that needs them.

**Main** calls depend on a parameter, trained or not, or draw dropout. **Side** calls depend on inputs and constants alone:
masks, positions, rotary tables.
"""
import bisect


class Dependencies:
    """producer: index of the call that makes a value. writers: for each storage the calls that change it, ascending. needs:
    for each call those that make what it reads. main: for each call whether it is one. alive: calls that the output needs."""

    def __init__(self, graph):
        self.graph = graph
        self.producer = {name: i for i, call in enumerate(graph.calls) for name in call.out if name}
        self.writers = {}
        for i, call in enumerate(graph.calls):
            for name in call.writes:
                self.writers.setdefault(graph.root(name), []).append(i)
        self.needs = [self.needed_by(i) for i in range(len(graph.calls))]
        self.main = self.find_main()
        self.alive = self.find_alive()

    def writers_of(self, name, before=None):
        """Calls that change the storage of a value, before a call if it is given."""
        calls = self.writers.get(self.graph.root(name), [])
        return calls if before is None else calls[:bisect.bisect_left(calls, before)]

    def needed_by(self, index):
        return {self.producer[name] for name in self.graph.calls[index].reads() if name in self.producer}

    def find_main(self):
        calls = self.graph.calls
        main = [False] * len(calls)

        def of_parameter(name):
            return {self.graph.values[name].kind, self.graph.values[self.graph.root(name)].kind} & {"parameter", "average"}

        def becomes_main(i):
            call = calls[i]
            if call.op.startswith("hydra::") or any(of_parameter(name) for name in call.reads()):
                return True
            written_later = (k for name in call.out + call.writes if name for k in self.writers_of(name))
            return any(main[k] for k in self.needs[i]) or any(main[k] for k in written_later)

        changed = True
        while changed:
            changed = False
            for i in range(len(calls)):
                if not main[i] and becomes_main(i):
                    main[i] = changed = True
        return main

    def find_alive(self):
        output = self.graph.output
        alive, todo = set(), [self.producer[output], *self.writers_of(output)] if output in self.producer else []
        while todo:
            i = todo.pop()
            if i in alive:
                continue
            alive.add(i)
            todo.extend(self.needs[i])
            todo.extend(k for name in self.graph.calls[i].out if name for k in self.writers_of(name))
        return alive

    def is_side(self, name):
        """Whether a side call makes the value, or it is an input."""
        if name in self.producer:
            return not self.main[self.producer[name]]
        return self.graph.values[name].kind == "input"
