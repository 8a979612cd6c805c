"""golden/collective/: collectives on one device, where each group is that device alone, and what verification
says of more of them; devices.py has runs on several."""
from system import Table

ADD = """
sum {
a = f32[] parameter(0)
b = f32[] parameter(1)
ROOT s = f32[] add(a, b)
}
"""
VALUES = (("f32", "f32[2]", "f32[2] {1, 2.5}"), ("nan", "f32[2]", "f32[2] {nan, -0.0}"),
          ("zero_size", "s8[0]", "s8[0] {}"),
          ("pred", "pred[2]", "pred[2] {true, false}"), ("u4", "u4[2]", "u4[2] {15, 0}"))
MODES = (("no_groups", "replica_groups={}"), ("one_group", "replica_groups={{0}}"),
         ("iota", "replica_groups=[1,1]<=[1]"), ("channel", "channel_id=1, replica_groups={{0}}"))
GLOBAL_MODES = MODES + (("flattened", "channel_id=1, replica_groups={{0}}, use_global_device_ids=true"),)


def label_of(op):
    """What messages call it: AllGather."""
    return "".join(word.capitalize() for word in op.split("-"))


def sum_of(shape):
    type_ = shape[:shape.index("[")]
    return ADD.replace("f32", type_).replace("add(", "or(" if type_ == "pred" else "add(")


def moving(t, op, attributes, modes, needs_sum=False):
    name = op.replace("-", "_")
    extra = ", to_apply=sum" if needs_sum else ""
    for label, shape, value in VALUES:
        t.gives(f"{name}_{label}", f"x = {shape} parameter(0)\nROOT r = {shape} {op}(x), {attributes}{extra}",
                [value], [value], computations=sum_of(shape) if needs_sum else "")
    for label, mode in modes:
        t.gives(f"{name}_{label}", f"x = f32[2] parameter(0)\nROOT r = f32[2] {op}(x), {mode}, {attributes}{extra}",
                ["f32[2] {1, 2.5}"], ["f32[2] {1, 2.5}"], computations=ADD if needs_sum else "")
    t.gives(f"{name}_two_operands", f"""
        x = f32[2] parameter(0)
        y = f32[3] parameter(1)
        ROOT r = (f32[2], f32[3]) {op}(x, y), {attributes}{extra}""", ["f32[2] {1, 2}", "f32[3] {3, 4, 5}"],
            ["f32[2] {1, 2}", "f32[3] {3, 4, 5}"], computations=ADD if needs_sum else "")
    t.refuses(f"{name}_c1_tuple", 3, f"{label_of(op)}-C1: operand 0 is (f32[2])", f"""
        x = (f32[2]) parameter(0)
        ROOT r = (f32[2]) {op}(x), {attributes}{extra}""", computations=ADD if needs_sum else "")


def started(t, op, state, attributes, computations=""):
    name = op.replace("-", "_")
    for label, shape, value in VALUES:
        t.gives(f"{name}_start_{label}", f"""
            x = {shape} parameter(0)
            s = {state.replace('T', shape)} {op}-start(x), {attributes}
            ROOT d = {shape} {op}-done(s)""", [value], [value],
                computations=sum_of(shape) if computations else "")
    t.refuses(f"{name}_done_without_start", 3, f"wanted {op}-start", f"""
        x = {state.replace('T', 'f32[2]')} parameter(0)
        ROOT d = f32[2] {op}-done(x)""")


def groups(t, op, body, global_ids, covers=True):
    """GRP constraints; `body` holds {mode}."""
    name = op.replace("-", "_")

    def refuse(label, text, mode, on_one_device=False):
        options = "--replicas 1 --partitions 1" if on_one_device else None
        t.refuses(f"{name}_{label}", 3, text, body.replace("{mode}", mode),
                  computations=ADD if "to_apply" in body else "", options=options)
    if global_ids:
        refuse("grp_c1", "GRP-C1", "replica_groups={{0}}, use_global_device_ids=true")
        refuse("grp_c5", "GRP-C5", "channel_id=1, replica_groups={}, use_global_device_ids=true")
    refuse("grp_c2", "GRP-C2", "replica_groups={{0},{}}")
    refuse("grp_c3", "GRP-C3: id 0 stands twice", "replica_groups={{0,0}}")
    # The number of devices, which the header does not say, is settled when the program runs; sizes are known
    # before. On one device:
    resizes = op in ("all-gather", "reduce-scatter")
    refuse("grp_c4_high", "declared shape is f32[4], inferred" if resizes else "GRP-C4: id 1",
           "replica_groups={{0,1}}", on_one_device=not resizes)
    refuse("grp_c4_channel", "GRP-C4: id 2", "channel_id=3, replica_groups={{2}}", on_one_device=True)
    refuse("grp_c4_negative", "GRP-C4: id -1", "replica_groups={{-1}}")
    refuse("grp_channel", "channel_id is -1", "channel_id=-1, replica_groups={{0}}")


def many(t, name, text, body, module, computations=""):
    t.refuses(name, 3, text, body, module=module, computations=computations)


def everything(t):
    moving(t, "all-gather", "dimensions={0}", GLOBAL_MODES)
    moving(t, "all-reduce", "channel_id=7", GLOBAL_MODES[:0], True)
    for label, mode in GLOBAL_MODES:
        t.gives(f"all_reduce_{label}", f"x = f32[2] parameter(0)\nROOT r = f32[2] all-reduce(x), {mode}, to_apply=sum",
                ["f32[2] {1, 2.5}"], ["f32[2] {1, 2.5}"], computations=ADD)
    moving(t, "reduce-scatter", "dimensions={0}", GLOBAL_MODES, True)
    moving(t, "collective-broadcast", "replica_groups={{0}}", ())
    moving(t, "collective-permute", "source_target_pairs={{0,0}}", ())
    started(t, "all-gather", "(T, T)", "dimensions={0}")
    started(t, "all-reduce", "T", "to_apply=sum", "sum")
    started(t, "collective-permute", "(T, T, u32[], u32[])", "source_target_pairs={{0,0}}")
    t.gives("all_gather_start_two", """
        x = f32[1] parameter(0)
        y = s32[2] parameter(1)
        s = ((f32[1], s32[2]), (f32[1], s32[2])) all-gather-start(x, y), dimensions={0}
        ROOT d = (f32[1], s32[2]) all-gather-done(s)""", ["f32[1] {1}", "s32[2] {2, 3}"],
            ["f32[1] {1}", "s32[2] {2, 3}"])
    t.gives("collective_permute_start_no_target", """
        x = f32[2] parameter(0)
        s = (f32[2], f32[2]) collective-permute-start(x), source_target_pairs={}
        ROOT d = f32[2] collective-permute-done(s)""", ["f32[2] {1, nan}"], ["f32[2] {0, 0}"])

    t.gives("all_to_all_array", "x = f32[2,2] parameter(0)\nROOT r = f32[2,2] all-to-all(x), dimensions={1}, replica_groups={{0}}",
            ["f32[2,2] {{1, 2}, {3, nan}}"], ["f32[2,2] {{1, 2}, {3, nan}}"])
    t.gives("all_to_all_no_groups", "x = s32[2] parameter(0)\nROOT r = s32[2] all-to-all(x), dimensions={0}",
            ["s32[2] {1, 2}"], ["s32[2] {1, 2}"])
    t.gives("all_to_all_tuple", "x = f32[2] parameter(0)\nROOT r = (f32[2]) all-to-all(x), replica_groups={{0}}",
            ["f32[2] {1, 2}"], ["f32[2] {1, 2}"])
    t.gives("all_to_all_channel", "x = u4[2] parameter(0)\nROOT r = u4[2] all-to-all(x), channel_id=1, dimensions={0}",
            ["u4[2] {15, 2}"], ["u4[2] {15, 2}"])
    t.gives("all_to_all_zero_size",
            "x = c64[0,3] parameter(0)\nROOT r = c64[0,3] all-to-all(x), dimensions={1}",
            ["c64[0,3] {}"], ["c64[0,3] {}"])

    x = "x = f32[4] parameter(0)\n"
    t.refuses("all_gather_c2_high", 3, "AllGather-C2: dimension is 1",
              x + "ROOT r = f32[4] all-gather(x), dimensions={1}")
    t.refuses("all_gather_c2_negative", 3, "AllGather-C2: dimension is -1",
              x + "ROOT r = f32[4] all-gather(x), dimensions={-1}")
    t.refuses("all_gather_c2_two", 3, "AllGather-C2: dimensions has 2 entries",
              x + "ROOT r = f32[4] all-gather(x), dimensions={0,1}")
    t.refuses("all_gather_c3", 3, "declared shape is f32[6], inferred f32[4]",
              x + "ROOT r = f32[6] all-gather(x), dimensions={0}")
    four_numbers, numbers = ["f32[4] {1, 2, 3, 4}"], "1, 2, 3, 4"

    def by_replica(*values):
        return {f"r{r}p0/out0": value for r, value in enumerate(values)}
    # On as many devices as the shapes or the ids name, each with the same x.
    t.gives("all_gather_of_unsaid_count", x + "ROOT r = f32[8] all-gather(x), dimensions={0}", four_numbers,
            [f"f32[8] {{{numbers}, {numbers}}}"])
    t.gives("reduce_scatter_of_unsaid_count",
            x + "ROOT r = f32[2] reduce-scatter(x), dimensions={0}, to_apply=sum", four_numbers,
            computations=ADD, **by_replica("f32[2] {2, 4}", "f32[2] {6, 8}"))
    t.gives("all_to_all_of_unsaid_count", x + "ROOT r = (f32[4], f32[4]) all-to-all(x, x)", four_numbers,
            four_numbers * 2)
    t.gives("all_gather_start_of_unsaid_count", x + """
        s = (f32[4], f32[12]) all-gather-start(x), dimensions={0}
        ROOT d = f32[12] all-gather-done(s)""", four_numbers,
            [f"f32[12] {{{numbers}, {numbers}, {numbers}}}"])
    four = ", replica_count=4"
    t.gives("all_gather_four_replicas", x + "ROOT r = f32[16] all-gather(x), dimensions={0}", four_numbers,
            [f"f32[16] {{{', '.join([numbers] * 4)}}}"], module=four)
    many(t, "all_gather_c3_groups", "declared shape is f32[16], inferred f32[8]",
         x + "ROOT r = f32[16] all-gather(x), dimensions={0}, replica_groups={{0,1},{2,3}}", four)
    many(t, "all_gather_grp_c6", "GRP-C6", x + "ROOT r = f32[8] all-gather(x), dimensions={0}, replica_groups={{0,1,2},{3}}", four)
    many(t, "all_gather_grp_c4_missing", "GRP-C4: replica_groups lists 2 ids",
         x + "ROOT r = f32[8] all-gather(x), dimensions={0}, replica_groups={{0,1}}", four)
    many(t, "all_gather_overflow", "SHAPE-", "x = s8[4611686018427387904] parameter(0)\n"
         "ROOT r = s8[4] all-gather(x), dimensions={0}", four)
    t.gives("all_reduce_uneven_groups_are_legal",
            x + "ROOT r = f32[4] all-reduce(x), to_apply=sum, replica_groups={{0,1,2},{3}}",
            four_numbers, module=four, computations=ADD,
            **by_replica(*["f32[4] {3, 6, 9, 12}"] * 3, *four_numbers))
    wrong = "sum {\na = f64[] parameter(0)\nb = f64[] parameter(1)\nROOT s = pred[] compare(a, b), direction=LT\n}"
    integer = ADD.replace("f32", "s32")
    for op, label, rest in (("all-reduce", "AllReduce", ""),
                            ("reduce-scatter", "ReduceScatter", ", dimensions={0}")):
        name = op.replace("-", "_")
        t.refuses(f"{name}_c2_shape", 3, f"{label}-C2", x + f"ROOT r = f32[4] {op}(x){rest}, to_apply=sum",
                  computations=wrong)
        t.refuses(f"{name}_c2_class", 3, f"{label}-C2", x + f"ROOT r = f32[4] {op}(x){rest}, to_apply=sum",
                  computations=integer)
    t.refuses("all_reduce_c3", 4, "AllReduce-C3", "ROOT r = () all-reduce(), to_apply=sum", computations=ADD)
    t.refuses("all_reduce_result", 3, "declared shape is f32[3], inferred f32[4]",
              x + "ROOT r = f32[3] all-reduce(x), to_apply=sum", computations=ADD)
    t.refuses("all_reduce_effects", 3, "side effects", x + "ROOT r = f32[4] all-reduce(x), to_apply=sum",
              computations="""
        sum {
        a = f32[] parameter(0)
        b = f32[] parameter(1)
        k = token[] after-all()
        o = token[] outfeed(a, k), outfeed_shape=f32[]
        ROOT s = f32[] add(a, b)
        }""")
    t.refuses("reduce_scatter_c1", 3, "ReduceScatter-C1: dimension is 1",
              x + "ROOT r = f32[4] reduce-scatter(x), dimensions={1}, to_apply=sum",
              computations=ADD)
    many(t, "reduce_scatter_c2", "ReduceScatter-C2: dimension 0 of f32[4] is not divisible by the group size 3",
         x + "ROOT r = f32[1] reduce-scatter(x), dimensions={0}, to_apply=sum", ", replica_count=3", ADD)
    t.gives("reduce_scatter_four", x + "ROOT r = f32[1] reduce-scatter(x), dimensions={0}, to_apply=sum",
            four_numbers, module=four,
            computations=ADD, **by_replica(*(f"f32[1] {{{4 * k}}}" for k in (1, 2, 3, 4))))
    t.refuses("all_to_all_c1_high", 3, "AllToAll-C1", x + "ROOT r = f32[4] all-to-all(x), dimensions={1}")
    many(t, "all_to_all_c3", "AllToAll-C3", x + "ROOT r = f32[4] all-to-all(x), dimensions={0}",
         ", replica_count=3")
    t.refuses("all_to_all_c4_tuple", 3, "AllToAll-C",
              "x = (f32[2]) parameter(0)\nROOT r = (f32[2]) all-to-all(x), dimensions={0}")
    t.refuses("all_to_all_c4_dynamic", 3, "AllToAll-C4",
              "x = f32[<=4] parameter(0)\nROOT r = f32[<=4] all-to-all(x), dimensions={0}")
    t.refuses("all_to_all_c5_count", 3, "AllToAll-C5: 2 operands",
              x + "ROOT r = (f32[4], f32[4]) all-to-all(x, x), replica_groups={{0}}", ["f32[4] {1, 2, 3, 4}"])
    many(t, "all_to_all_c5_shapes", "AllToAll-C5: operand 1 is f32[2]",
         x + "y = f32[2] parameter(1)\nROOT r = (f32[4], f32[2]) all-to-all(x, y)", ", replica_count=2")
    t.refuses("all_to_all_global_ids", 3, "all-to-all has no attribute 'use_global_device_ids'",
              x + "ROOT r = f32[4] all-to-all(x), channel_id=1, dimensions={0}, use_global_device_ids=true")

    t.gives("collective_broadcast_no_groups", x + "ROOT r = f32[4] collective-broadcast(x)",
            ["f32[4] {1, 2, 3, 4}"], ["f32[4] {1, 2, 3, 4}"])
    root = x + "k = s32[{n}] parameter(1)\nROOT r = f32[4] collective-broadcast(x, k), replica_groups={{0}}, has_dynamic_root=true"
    root = root.replace("{n}", "1")
    t.gives("collective_broadcast_dynamic_root", root, ["f32[4] {1, 2, 3, 4}", "s32[1] {0}"],
            ["f32[4] {1, 2, 3, 4}"])
    t.refuses("collective_broadcast_c3_range", 5, "CollectiveBroadcast-C3: root[0] is 1", root,
              ["f32[4] {1, 2, 3, 4}", "s32[1] {1}"])
    t.refuses("collective_broadcast_c3_negative", 5, "CollectiveBroadcast-C3: root[0] is -1", root,
              ["f32[4] {1, 2, 3, 4}", "s32[1] {-1}"])
    t.refuses("collective_broadcast_c3_shape", 3, "CollectiveBroadcast-C3: the root operand is s32[2]",
              root.replace("s32[1]", "s32[2]"))
    t.refuses("collective_broadcast_c3_type", 3, "CollectiveBroadcast-C3: the root operand is u32[1]",
              root.replace("s32[1]", "u32[1]"))
    t.refuses("collective_broadcast_c2_twice", 3, "CollectiveBroadcast-C2",
              x + "ROOT r = f32[4] collective-broadcast(x), replica_groups={{0,0}}")
    t.refuses("collective_broadcast_c2_range", 3, "CollectiveBroadcast-C2",
              x + "ROOT r = f32[4] collective-broadcast(x), replica_groups={{1}}",
              options="--replicas 1")
    permute = x + "ROOT r = f32[4] collective-permute(x), source_target_pairs={pairs}"
    t.gives("collective_permute_no_pairs", permute.replace("{pairs}", "{}"), ["f32[4] {1, nan, 3, 4}"],
            ["f32[4] {0, 0, 0, 0}"])
    t.gives("collective_permute_no_pairs_two", """
        x = f32[2] parameter(0)
        y = s8[1] parameter(1)
        ROOT r = (f32[2], s8[1]) collective-permute(x, y), source_target_pairs={}""",
            ["f32[2] {1, 2}", "s8[1] {3}"], ["f32[2] {0, 0}", "s8[1] {0}"])
    t.gives("collective_permute_channel", permute.replace("{pairs}", "{{0,0}}, channel_id=2"),
            ["f32[4] {1, 2, 3, 4}"], ["f32[4] {1, 2, 3, 4}"])
    many(t, "collective_permute_c2_source", "CollectivePermute-C2: source 0",
         permute.replace("{pairs}", "{{0,0},{0,1}}"), ", replica_count=2")
    many(t, "collective_permute_c2_target", "CollectivePermute-C2: target 1",
         permute.replace("{pairs}", "{{0,1},{1,1}}"), ", replica_count=2")
    t.refuses("collective_permute_c3", 3, "CollectivePermute-C3: id 1", permute.replace("{pairs}", "{{0,1}}"),
              options="--replicas 1")
    t.refuses("collective_permute_c3_negative", 3, "CollectivePermute-C3: id -1",
              permute.replace("{pairs}", "{{-1,0}}"))
    many(t, "collective_permute_c3_partitions", "CollectivePermute-C3: id 2",
         permute.replace("{pairs}", "{{0,2}}, channel_id=1"), ", replica_count=3, num_partitions=2")
    t.refuses("collective_permute_result", 3, "declared shape is f32[3], inferred f32[4]",
              permute.replace("r = f32[4]", "r = f32[3]").replace("{pairs}", "{{0,0}}"))
    t.gives("collective_permute_channel_0", permute.replace("{pairs}", "{{0,0}}, channel_id=0"),
            ["f32[4] {1, 2, 3, 4}"], ["f32[4] {1, 2, 3, 4}"], decision="collective-channel-0")
    t.refuses("collective_permute_channel_negative_1", 3, "GRP: channel_id is -1",
              permute.replace("{pairs}", "{{0,0}}, channel_id=-1"))
    in_place = x + """
        y = f32[3] parameter(1)
        z = s32[] constant(0)
        i = (s32[]) tuple(z)
        ROOT r = f32[3] collective-permute(x, y, i, i), source_target_pairs={{0,0}}, slice_sizes={{2}}"""
    t.gives("collective_permute_in_place", in_place, ["f32[4] {1, 2, 3, 4}", "f32[3] {5, 6, 7}"],
            ["f32[3] {1, 2, 7}"], decision="permute-in-place")
    # As many pairs of one source as operand 2 has elements: with one start those are its components.
    many(t, "collective_permute_in_place_c2", "CollectivePermute-C2: source 0 stands twice",
         in_place.replace("{{0,0}}", "{{0,0},{0,1}}"), ", replica_count=2")
    t.refuses("collective_permute_in_place_operands", 3, "CollectivePermute-C4: slice_sizes wants 4 operands",
              in_place.replace(", i, i)", ", i)"))
    t.refuses("collective_permute_in_place_starts", 3,
              "CollectivePermute-C4: operand 3 is s32[], wanted a tuple",
              in_place.replace(", i, i)", ", i, z)"))
    t.refuses("collective_permute_in_place_shape", 3, "declared shape is f32[4], inferred f32[3]",
              in_place.replace("r = f32[3]", "r = f32[4]"))
    t.refuses("collective_permute_start_context", 3, "context 2 is s32[]", x + """
        s = (f32[4], f32[4], s32[]) collective-permute-start(x), source_target_pairs={{0,0}}
        ROOT d = f32[4] collective-permute-done(s)""")
    channel = "y = f32[4] {one}, channel_id=1\nROOT r = f32[4] {two}, channel_id=1"
    t.gives("sync_2_opcode", x + channel.replace("{one}", "all-to-all(x), dimensions={0}").replace(
        "{two}", "collective-permute(y), source_target_pairs={{0,0}}"), ["f32[4] {1, 2, 3, 4}"],
            ["f32[4] {1, 2, 3, 4}"], decision="channel-pairs")
    t.gives("sync_2_same", x + channel.replace("{one}", "all-to-all(x), dimensions={0}").replace(
        "{two}", "all-to-all(y), dimensions={0}"),
            ["f32[4] {1, 2, 3, 4}"], ["f32[4] {1, 2, 3, 4}"])
    t.gives("sync_2_groups", x + channel.replace(
        "{one}", "all-reduce(x), to_apply=sum, replica_groups={{0},{1}}").replace(
        "{two}", "all-reduce(y), to_apply=sum, replica_groups={{0,1}}"), four_numbers,
            ["f32[4] {2, 4, 6, 8}"], module=", replica_count=2", computations=ADD)

    for op, body, global_ids in (
            ("all-gather", x + "ROOT r = f32[4] all-gather(x), dimensions={0}, {mode}", True),
            ("all-reduce", x + "ROOT r = f32[4] all-reduce(x), to_apply=sum, {mode}", True),
            ("reduce-scatter", x + "ROOT r = f32[4] reduce-scatter(x), dimensions={0}, to_apply=sum, {mode}",
             True),
            ("all-to-all", x + "ROOT r = f32[4] all-to-all(x), dimensions={0}, {mode}", False),
            ("collective-broadcast", x + "ROOT r = f32[4] collective-broadcast(x), {mode}", False)):
        groups(t, op, body, global_ids)


def identifiers(t):
    for op in ("replica-id", "partition-id"):
        name = op.replace("-", "_")
        t.gives(f"{name}_root", f"ROOT r = u32[] {op}()", outs=["u32[] 0"])
        t.gives(f"{name}_sum", f"a = u32[] {op}()\nb = u32[] constant(5)\nROOT r = u32[] add(a, b)",
                outs=["u32[] 5"])
        t.gives(f"{name}_in_call", "ROOT r = u32[] call(), to_apply=f", outs=["u32[] 0"],
                computations=f"f {{\nROOT i = u32[] {op}()\n}}")
        t.refuses(f"{name}_c1_type", 3, f"{label_of(op)}-C1: the result is s32[]", f"ROOT r = s32[] {op}()")
        t.refuses(f"{name}_c1_shape", 3, f"{label_of(op)}-C1: the result is u32[1]",
                  f"ROOT r = u32[1] {op}()")
        t.refuses(f"{name}_operand", 3, f"{op} has 1 operand",
                  f"x = u32[] parameter(0)\nROOT r = u32[] {op}(x)")


def ragged(t):
    def program(i="f32[3]", o="f32[4]", meta="s32[{n}]", n="2,1"):
        m = meta.replace("{n}", n)
        return f"""
        i = {i} parameter(0)
        o = {o} parameter(1)
        io = {m} parameter(2)
        ss = {m} parameter(3)
        oo = {m} parameter(4)
        rs = {m} parameter(5)
        ROOT r = {o} ragged-all-to-all(i, o, io, ss, oo, rs), replica_groups={{{{0}}}}"""
    one = lambda v, type_="s32": f"{type_}[1] {{{v}}}"
    t.gives("ragged_all_to_all_rows", program(n="1"),
            ["f32[3] {1, 2, 3}", "f32[4] {-1, -2, -3, -4}", one(1), one(2), one(0), one(2)],
            ["f32[4] {2, 3, -3, -4}"])
    t.gives("ragged_all_to_all_nothing", program(n="1"),
            ["f32[3] {1, 2, 3}", "f32[4] {-1, -2, nan, -4}", one(3), one(0), one(4), one(0)],
            ["f32[4] {-1, -2, nan, -4}"])
    t.gives("ragged_all_to_all_matrix", program("s8[2,2]", "s8[3,2]", n="1"),
            ["s8[2,2] {{1, 2}, {3, 4}}", "s8[3,2] {{0, 0}, {0, 0}, {9, 9}}", one(0), one(2), one(1), one(2)],
            ["s8[3,2] {{0, 0}, {1, 2}, {3, 4}}"])
    t.gives("ragged_all_to_all_updates", program(n="1,2"),
            ["f32[3] {1, 2, 3}", "f32[4] {0, 0, 0, 0}", "s32[1,2] {{0, 2}}", "s32[1,2] {{2, 1}}",
            "s32[1,2] {{2, 0}}", "s32[1,2] {{2, 1}}"], ["f32[4] {3, 0, 1, 2}"])
    t.gives("ragged_all_to_all_overlap", program(n="1,2"),
            ["f32[3] {1, 2, 3}", "f32[4] {0, 0, 0, 0}", "s32[1,2] {{0, 1}}", "s32[1,2] {{2, 2}}",
            "s32[1,2] {{0, 1}}", "s32[1,2] {{2, 2}}"], ["f32[4] {1, 2, 3, 0}"])
    t.gives("ragged_all_to_all_u64", program(meta="u64[{n}]", n="1"),
            ["f32[3] {1, 2, 3}", "f32[4] {0, 0, 0, 0}", one(2, "u64"), one(1, "u64"),
            one(3, "u64"), one(1, "u64")], ["f32[4] {0, 0, 0, 3}"])
    t.gives("ragged_all_to_all_zero_size", program("f32[0]", "f32[0]", n="1"),
            ["f32[0] {}", "f32[0] {}", one(0), one(0), one(0), one(0)], ["f32[0] {}"])
    args = lambda io, ss, oo, rs: ["f32[3] {1, 2, 3}", "f32[4] {0, 0, 0, 0}", one(io), one(ss), one(oo),
                                   one(rs)]
    for name, values in (("input_end", (2, 2, 0, 2)), ("input_offset", (-1, 1, 0, 1)),
                         ("negative_size", (0, -1, 0, -1)),
                         ("output_end", (0, 2, 3, 2)), ("output_offset", (0, 1, -1, 1)),
                         ("huge", (0, 2147483647, 0, 2147483647))):
        t.refuses(f"ragged_all_to_all_c4_{name}", 5, "RaggedAllToAll-C4", program(n="1"), args(*values))
    t.refuses("ragged_all_to_all_c4_u64_huge", 5, "RaggedAllToAll-C4", program(meta="u64[{n}]", n="1"),
              ["f32[3] {1, 2, 3}", "f32[4] {0, 0, 0, 0}",
              one(18446744073709551615, "u64"), one(2, "u64"), one(0, "u64"), one(2, "u64")])
    t.refuses("ragged_all_to_all_c5", 5, "RaggedAllToAll-C5", program(n="1"), args(0, 2, 0, 1))
    t.refuses("ragged_all_to_all_c1_type", 3, "RaggedAllToAll-C1", program("f32[3]", "f64[4]", n="1"))
    t.refuses("ragged_all_to_all_c1_sizes", 3, "RaggedAllToAll-C1", program("f32[3,2]", "f32[3,3]", n="1"))
    t.refuses("ragged_all_to_all_c1_scalar", 3, "RaggedAllToAll-C1", program("f32[]", "f32[]", n="1"))
    t.refuses("ragged_all_to_all_c2_float", 3, "RaggedAllToAll-C2", program(meta="f32[{n}]", n="1"))
    t.refuses("ragged_all_to_all_c2_rank", 3, "RaggedAllToAll-C2", program(n="1,1,1"))
    t.refuses("ragged_all_to_all_c2_shapes", 3, "RaggedAllToAll-C2",
              program(n="1").replace("rs = s32[1]", "rs = s32[2]"))
    t.refuses("ragged_all_to_all_c2_members", 3, "RaggedAllToAll-C2", program(n="2,1"))
    t.refuses("ragged_all_to_all_c2_flat", 3, "RaggedAllToAll-C2", program(n="3").replace("{{0}}", "{{0,1}}"))
    t.refuses("ragged_all_to_all_c3", 3, "declared shape is f32[3], inferred f32[4]",
              program(n="1").replace("r = f32[4]", "r = f32[3]"))
    t.refuses("ragged_all_to_all_grp_c3", 3, "GRP-C3", program(n="1").replace("{{0}}", "{{0,0}}"))
    t.refuses("ragged_all_to_all_grp_c4", 3, "GRP-C4", program(n="1").replace("{{0}}", "{{1}}"),
              args(0, 1, 0, 1))


def table():
    t = Table("collective")
    everything(t)
    identifiers(t)
    ragged(t)
    return t
