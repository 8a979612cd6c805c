#!/usr/bin/env python3
"""Writes golden/devices/: collectives on several devices.

A small model of docs/spec/operations-collective.md: a device is (replica, partition), its value a list of
integers; groups are worked out by the table of modes, and each result by the definition of its op. Needs
numpy. Run it again after a change: output is reproducible.
"""
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import written  # noqa: E402
from system import Table  # noqa: E402

ORACLE = "the definition, in Python"
SUM = """
sum {
a = TYPE[] parameter(0)
b = TYPE[] parameter(1)
ROOT s = TYPE[] add(a, b)
}
"""
# first(a, b) = a - 2 b: neither commutative nor associative, so that it shows the order.
ORDER = """
order {
a = TYPE[] parameter(0)
b = TYPE[] parameter(1)
two = TYPE[] constant(2)
c = TYPE[] multiply(b, two)
ROOT s = TYPE[] subtract(a, c)
}
"""
GRIDS = {
    "cross_replica": [(1, 1), (2, 1), (4, 1), (6, 1), (2, 2), (3, 2)],
    "cross_partition": [(1, 1), (1, 2), (1, 4), (1, 6), (2, 2), (2, 3)],
    "cross_replica_and_partition": [(1, 1), (2, 1), (1, 2), (2, 2), (2, 3), (3, 2)],
    "flattened": [(1, 1), (2, 1), (1, 4), (2, 2), (2, 3), (6, 1)],
}


class Grid:
    def __init__(self, replicas, partitions):
        self.replicas, self.partitions = replicas, partitions
        self.devices = [(r, p) for r in range(replicas) for p in range(partitions)]

    def ids(self, mode):
        return {"cross_replica": self.replicas, "cross_partition": self.partitions,
                "cross_replica_and_partition": self.replicas,
                "flattened": self.replicas * self.partitions}[mode]

    def groups(self, mode, lists):
        """The groups of devices, in group order."""
        if mode == "cross_replica":
            return [[(i, p) for i in ids] for ids in lists for p in range(self.partitions)]
        if mode == "cross_partition":
            return [[(r, i) for i in ids] for ids in lists for r in range(self.replicas)]
        if mode == "cross_replica_and_partition":
            return [[(i, p) for i in ids for p in range(self.partitions)] for ids in lists]
        return [[(i // self.partitions, i % self.partitions) for i in ids] for ids in lists]

    def module(self):
        return (f", replica_count={self.replicas}" if self.replicas > 1 else "") + (
            f", num_partitions={self.partitions}" if self.partitions > 1 else "")


def lists_for(n):
    """Ways to group n ids, orders that are not ascending among them."""
    ways = {"all": [list(range(n))]}
    if n > 1:
        ways["back"] = [list(range(n))[::-1]]
    if n % 2 == 0 and n > 2:
        ways["pairs"] = [[i + n // 2, i] for i in range(n // 2)]
        ways["halves"] = [list(range(0, n, 2)), list(range(1, n, 2))[::-1]]
    return ways


def attributes(mode, lists):
    text = ", replica_groups={" + ",".join("{" + ",".join(map(str, ids)) + "}" for ids in lists) + "}"
    if mode != "cross_replica":
        text += ", channel_id=1"
    return text + (", use_global_device_ids=true" if mode == "flattened" else "")


def literal(type_, array):
    def nested(a):
        if a.ndim == 0:
            return str(int(a))
        return "{" + ", ".join(nested(x) for x in a) + "}"
    return f"{type_}[{','.join(map(str, array.shape))}] {nested(array)}"


def golden(table, name, grid, body, given, results, type_="s32", computations=""):
    """given[k]: by device, an array; results likewise. `body` reads the parameters x0, x1, ...."""
    named = {}

    def put(prefix, values):
        for k, by_device in enumerate(values):
            for r, p in grid.devices:
                named[f"r{r}p{p}/{prefix}{k}"] = literal(type_, by_device[r, p])
    if len(grid.devices) == 1:
        only = grid.devices[0]
        args = [literal(type_, v[only]) for v in given]
        outs = [literal(type_, v[only]) for v in results]
        table.gives(name, body, args, outs, oracle=ORACLE, computations=computations, module=grid.module())
        return
    put("arg", given)
    agree = all(np.array_equal(v[d], v[grid.devices[0]]) for v in results for d in grid.devices)
    if not agree:
        put("out", results)
    header = [f"oracle: {ORACLE}"] + [f"{key}: {value}" for key, value in named.items() if "/arg" in key]
    header += [f"{key}: {value}" for key, value in named.items() if "/out" in key]
    if agree:
        header += [f"out{k}: {literal(type_, v[grid.devices[0]])}" for k, v in enumerate(results)]
    table.add(name, header, body, computations, grid.module())


def values(grid, shape, start=1):
    """Distinct on every device, and no two differences alike."""
    n = int(np.prod(shape, dtype=int))
    return {d: (np.arange(n) * (k + 1) + start + 10 * k * k).reshape(shape)
            for k, d in enumerate(grid.devices)}


def by_group(groups, result_of):
    return {device: result for group in groups for device, result in zip(group, result_of(group))}


def shape_text(shape):
    return f"s32[{','.join(map(str, shape))}]"


def moves(table):
    """all-gather, all-reduce, reduce-scatter: HLO has no cross_partition of them
    (collective-mode-absent-flag)."""
    for mode, grids in GRIDS.items():
        if mode == "cross_partition":
            continue
        for replicas, partitions in grids:
            grid = Grid(replicas, partitions)
            for way, lists in lists_for(grid.ids(mode)).items():
                groups = grid.groups(mode, lists)
                n = len(groups[0])
                tail = f"{mode}_{replicas}x{partitions}_{way}"
                attrs = attributes(mode, lists)
                x = values(grid, (2, 3))
                d = 1 if way == "pairs" else 0
                out = by_group(groups, lambda g: [np.concatenate([x[m] for m in g], axis=d)] * len(g))
                golden(table, f"all_gather_{tail}", grid, f"""
                    x0 = s32[2,3] parameter(0)
                    ROOT r = {shape_text(out[grid.devices[0]].shape)} all-gather(x0), dimensions={{{d}}}{attrs}""", [x], [out])

                def fold(g):
                    running = x[g[0]]
                    for m in g[1:]:
                        running = running - 2 * x[m]
                    return running
                out = by_group(groups, lambda g: [fold(g)] * len(g))
                golden(table, f"all_reduce_order_{tail}", grid, f"""
                    x0 = s32[2,3] parameter(0)
                    ROOT r = s32[2,3] all-reduce(x0), to_apply=order{attrs}""", [x], [out],
                       computations=ORDER.replace("TYPE", "s32"))

                y = values(grid, (2 * n, 2), start=3)
                def scatter(g):
                    total = sum(y[m] for m in g)
                    return [total[2 * i:2 * i + 2] for i in range(len(g))]
                out = by_group(groups, scatter)
                golden(table, f"reduce_scatter_{tail}", grid, f"""
                    x0 = s32[{2 * n},2] parameter(0)
                    ROOT r = s32[2,2] reduce-scatter(x0), dimensions={{0}}, to_apply=sum{attrs}""", [y],
                       [out], computations=SUM.replace("TYPE", "s32"))


def exchanges(table):
    """all-to-all, collective-broadcast, collective-permute: their ids are replicas or partitions."""
    for mode in ("cross_replica", "cross_partition"):
        for replicas, partitions in GRIDS[mode]:
            grid = Grid(replicas, partitions)
            ids = grid.ids(mode)
            for way, lists in lists_for(ids).items():
                groups = grid.groups(mode, lists)
                n = len(groups[0])
                tail = f"{mode}_{replicas}x{partitions}_{way}"
                attrs = attributes(mode, lists)
                x = values(grid, (2, 2 * n))
                out = by_group(groups,
                               lambda g: [np.concatenate([x[i][:, 2 * j:2 * j + 2] for i in g], axis=1)
                                                  for j in range(len(g))])
                golden(table, f"all_to_all_{tail}", grid, f"""
                    x0 = s32[2,{2 * n}] parameter(0)
                    ROOT r = s32[2,{2 * n}] all-to-all(x0), dimensions={{1}}{attrs}""", [x], [out])
                parts = [values(grid, (2,), start=100 * k) for k in range(n)]
                outs = [by_group(groups, lambda g, i=i: [parts[j][g[i]] for j in range(len(g))])
                        for i in range(n)]
                names = ", ".join(f"x{k}" for k in range(n))
                golden(table, f"all_to_all_tuple_{tail}", grid,
                       "\n".join(f"x{k} = s32[2] parameter({k})" for k in range(n)) +
                       f"\nROOT r = ({', '.join(['s32[2]'] * n)}) all-to-all({names}){attrs}", parts, outs)
                out = by_group(groups, lambda g: [x[g[0]]] * len(g))
                golden(table, f"collective_broadcast_{tail}", grid, f"""
                    x0 = s32[2,{2 * n}] parameter(0)
                    ROOT r = s32[2,{2 * n}] collective-broadcast(x0){attrs}""", [x], [out])
            if ids == 1:
                continue
            channel = ", channel_id=1" if mode == "cross_partition" else ""
            for way, pairs in (("ring", [(i, (i + 1) % ids) for i in range(ids)]),
                               ("shift", [(i, i + 1) for i in range(ids - 1)]), ("one", [(ids - 1, 0)])):
                x, y = values(grid, (3,)), values(grid, (2,), start=50)
                out = [{d: np.zeros_like(v) for d, v in z.items()} for z in (x, y)]
                for r, p in grid.devices:
                    for source, target in pairs:
                        if (r if mode == "cross_replica" else p) == target:
                            at = (source, p) if mode == "cross_replica" else (r, source)
                            out[0][r, p], out[1][r, p] = x[at], y[at]
                text = ",".join(f"{{{s},{t}}}" for s, t in pairs)
                golden(table, f"collective_permute_{mode}_{replicas}x{partitions}_{way}", grid, f"""
                    x0 = s32[3] parameter(0)
                    x1 = s32[2] parameter(1)
                    ROOT r = (s32[3], s32[2]) collective-permute(x0, x1), source_target_pairs={{{text}}}{channel}""", [x, y], out)


def ragged(table):
    """Member s sends s + m + t + 1 rows for update t to member m, in blocks one behind the other."""
    for replicas, partitions, mode in ((2, 1, "cross_replica"), (1, 4, "cross_partition"),
                                       (2, 3, "cross_partition")):
        for updates in (1, 2):
            grid = Grid(replicas, partitions)
            n = grid.ids(mode)
            lists = [list(range(n))[::-1]]
            groups = grid.groups(mode, lists)
            size = lambda s, m, t: (s + 2 * m + t) % 3
            rows = max(sum(size(s, m, t) for m in range(n) for t in range(updates)) for s in range(n)) + 1
            out_rows = max(sum(size(s, m, t) for s in range(n) for t in range(updates)) for m in range(n)) + 1
            x = values(grid, (rows, 2))
            o = {d: -v for d, v in values(grid, (out_rows, 2), start=1000).items()}
            io, ss, oo, rs = ({d: np.zeros((n, updates), dtype=int) for d in grid.devices} for _ in range(4))
            out = {d: v.copy() for d, v in o.items()}
            for group in groups:
                filled = [0] * n
                for s, sender in enumerate(group):
                    at = 0
                    for m, receiver in enumerate(group):
                        for t in range(updates):
                            k = size(s, m, t)
                            io[sender][m, t], ss[sender][m, t], oo[sender][m, t] = at, k, filled[m]
                            rs[receiver][s, t] = k
                            out[receiver][filled[m]:filled[m] + k] = x[sender][at:at + k]
                            at, filled[m] = at + k, filled[m] + k
            meta = f"s32[{n},{updates}]"
            golden(table, f"ragged_all_to_all_{mode}_{replicas}x{partitions}_{updates}", grid, f"""
                x0 = s32[{rows},2] parameter(0)
                x1 = s32[{out_rows},2] parameter(1)
                x2 = {meta} parameter(2)
                x3 = {meta} parameter(3)
                x4 = {meta} parameter(4)
                x5 = {meta} parameter(5)
                ROOT r = s32[{out_rows},2] ragged-all-to-all(x0, x1, x2, x3, x4, x5){attributes(mode, lists)}""",
                   [x, o, io, ss, oo, rs], [out])


def main(dry_run):
    script = written.Script(__file__)
    table = Table("devices")
    moves(table)
    exchanges(table)
    ragged(table)
    import devices_by_hand
    devices_by_hand.everything(table)
    table.write(script)
    script.finish(dry_run)


if __name__ == "__main__":
    main(written.dry_run(__doc__))
