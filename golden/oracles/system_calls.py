"""golden/control/: asynchronous wrappers and custom calls."""

SUM2 = """
f {
p = f32[2] parameter(0)
ROOT m = f32[2] add(p, p)
}
"""
SUM_PQ = """
f {
p = f32[2] parameter(0)
q = f32[2] parameter(1)
ROOT m = f32[2] subtract(p, q)
}
"""


def asynchronous(t):
    t.gives("async_spec", """
        x = f32[2] parameter(0)
        s = ((f32[2]), f32[2], u32[]) async-start(x), calls=f
        u = ((f32[2]), f32[2], u32[]) async-update(s)
        ROOT d = f32[2] async-done(u)""", ["f32[2] {1, 2.5}"], ["f32[2] {2, 5}"], oracle="spec",
            computations=SUM2)
    t.gives("async_no_update", """
        x = f32[2] parameter(0)
        s = ((f32[2]), f32[2]) async-start(x), calls=f
        ROOT d = f32[2] async-done(s)""", ["f32[2] {-0.0, inf}"], ["f32[2] {-0.0, inf}"], computations=SUM2)
    t.gives("async_state_of_start", """
        x = f32[2] parameter(0)
        s = ((f32[2]), f32[2], u32[]) async-start(x), calls=f
        d = f32[2] async-done(s)
        ROOT r = (f32[2], f32[2]) tuple(x, d)""", ["f32[2] {1, 2.5}"], ["f32[2] {1, 2.5}", "f32[2] {2, 5}"],
            computations=SUM2)
    t.gives("async_bound_by_update", """
        x = f32[2] parameter(0)
        y = f32[2] parameter(1)
        s = ((f32[2]), f32[2]) async-start(x), calls=f
        u = ((f32[2], f32[2]), f32[2]) async-update(s, y)
        v = ((f32[2], f32[2]), f32[2]) async-update(u)
        ROOT d = f32[2] async-done(v)""", ["f32[2] {5, 7}", "f32[2] {1, 2}"], ["f32[2] {4, 5}"],
            computations=SUM_PQ)
    t.gives("async_bound_by_done", """
        x = f32[2] parameter(0)
        y = f32[2] parameter(1)
        s = ((f32[2]), f32[2], u32[]) async-start(x), calls=f
        u = ((f32[2]), f32[2], u32[]) async-update(s)
        ROOT d = f32[2] async-done(u, y)""", ["f32[2] {5, 7}", "f32[2] {1, 2}"], ["f32[2] {4, 5}"],
            computations=SUM_PQ)
    t.gives("async_two_chains", """
        x = f32[2] parameter(0)
        s = ((f32[2]), f32[2]) async-start(x), calls=f
        start2 = ((f32[2]), f32[2]) async-start(x), calls=f
        u = ((f32[2]), f32[2]) async-update(s)
        after2 = ((f32[2]), f32[2]) async-update(start2)
        d2 = f32[2] async-done(after2)
        d = f32[2] async-done(u)
        ROOT r = f32[2] add(d, d2)""", ["f32[2] {1, 2}"], ["f32[2] {4, 8}"], computations=SUM2)
    t.gives("async_effects_at_start", """
        x = s32[] parameter(0)
        k = token[] after-all()
        s = ((s32[]), token[], u32[]) async-start(x), calls=tell
        n = s32[] negate(x)
        o = token[] outfeed(n, k), outfeed_shape=s32[]
        u = ((s32[]), token[], u32[]) async-update(s)
        d = token[] async-done(u)
        ROOT r = s32[] copy(x)""", ["s32[] 4"], ["s32[] 4"], outfeed0="s32[] 4", outfeed1="s32[] -4",
            computations="""
        tell {
        p = s32[] parameter(0)
        k.1 = token[] after-all()
        ROOT o.1 = token[] outfeed(p, k.1), outfeed_shape=s32[]
        }""")
    t.gives("async_alias", """
        x = f32[2] parameter(0)
        s = ((f32[2]), f32[2]) async-start(x), calls=f, output_to_operand_aliasing={{1}: (0, {})}
        u = ((f32[2]), f32[2]) async-update(s), async_execution_thread="main"
        ROOT d = f32[2] async-done(u)""", ["f32[2] {1, 2}"], ["f32[2] {2, 4}"], computations=SUM2)
    t.gives("async_execution_thread", """
        x = f32[2] parameter(0)
        s = ((f32[2]), f32[2]) async-start(x), async_execution_thread="parallel", calls=f
        ROOT d = f32[2] async-done(s)""", ["f32[2] {1, 2}"], ["f32[2] {2, 4}"], computations=SUM2.replace(
                "\n}\n", '\n}, execution_thread="parallel"\n'))

    def refuse(name, text, body, computations=SUM2):
        t.refuses(f"async_{name}", 3, text, "x = f32[2] parameter(0)\n" + body, computations=computations)
    refuse("c1", "Async-C1", "s = (f32[2], f32[2]) async-start(x), calls=f\nROOT d = f32[2] async-done(s)")
    refuse("c2_argument", "Async-C2: argument 0",
           "s = ((f32[3]), f32[2]) async-start(x), calls=f\nROOT d = f32[2] async-done(s)")
    refuse("c2_result", "Async-C2: element 1",
           "s = ((f32[2]), f32[3]) async-start(x), calls=f\nROOT d = f32[2] async-done(s)")
    refuse("c3", "Async-C3", "p = ((f32[2]), f32[2]) parameter(1)\nROOT d = f32[2] async-done(p)")
    refuse("c3_other_computation", "Async-C3: calls 'g'", """
        s = ((f32[2]), f32[2]) async-start(x), calls=f
        ROOT d = f32[2] async-done(s), calls=g""",
           SUM2 + "\n\ng {\np.1 = f32[2] parameter(0)\nROOT n = f32[2] negate(p.1)\n}")
    refuse("c3_done_of_done", "Async-C3: the first operand does not trace", """
        s = ((f32[2]), f32[2], u32[]) async-start(x), calls=f
        d = f32[2] async-done(s)
        ROOT r = f32[2] async-done(d)""")
    refuse("c3_update_of_done", "Async-C3: the first operand does not trace", """
        s = ((f32[2]), f32[2]) async-start(x), calls=f
        d = f32[2] async-done(s)
        u = ((f32[2]), f32[2]) async-update(d)
        ROOT r = f32[2] async-done(u)""")
    # What the first done gives has the form of a state, but is none.
    refuse("c3_done_of_done_in_form", "Async-C3: the first operand does not trace", """
        s = ((f32[2]), ((f32[2]), f32[2])) async-start(x), calls=f
        d = ((f32[2]), f32[2]) async-done(s)
        ROOT r = f32[2] async-done(d)""", """
        f {
        p = f32[2] parameter(0)
        q = (f32[2]) tuple(p)
        ROOT m = ((f32[2]), f32[2]) tuple(q, p)
        }""")
    refuse("c3_update_of_tuple", "Async-C3: the first operand does not trace", """
        y = (f32[2]) tuple(x)
        s = ((f32[2]), f32[2]) tuple(y, x)
        u = ((f32[2]), f32[2]) async-update(s)
        ROOT r = f32[2] async-done(u)""")
    refuse("c3_thread", "Async-C3: async_execution_thread is 'side', of its start ''", """
        s = ((f32[2]), f32[2], u32[]) async-start(x), calls=f
        d = f32[2] async-done(s), async_execution_thread="side"
        ROOT r = f32[2] copy(d)""")
    refuse("c3_thread_of_update", "Async-C3: async_execution_thread is '', of its start 'side'", """
        s = ((f32[2]), f32[2], u32[]) async-start(x), calls=f, async_execution_thread="side"
        u = ((f32[2]), f32[2], u32[]) async-update(s), async_execution_thread="main"
        ROOT d = f32[2] async-done(u)""")
    refuse("alias_operand", "AsyncStart-C3: output_to_operand_aliasing: there is no operand 4", """
        s = ((f32[2]), f32[2], u32[]) async-start(x), calls=f, output_to_operand_aliasing={{1}: (4, {})}
        ROOT d = f32[2] async-done(s)""")
    refuse("alias_index", "AsyncStart-C3: output_to_operand_aliasing: the result has no element {3}", """
        s = ((f32[2]), f32[2], u32[]) async-start(x), calls=f, output_to_operand_aliasing={{3}: (0, {})}
        ROOT d = f32[2] async-done(s)""")
    refuse("alias_shape", "AsyncStart-C3: output_to_operand_aliasing: output {2} is u32[]", """
        s = ((f32[2]), f32[2], u32[]) async-start(x), calls=f, output_to_operand_aliasing={{2}: (0, {})}
        ROOT d = f32[2] async-done(s)""")
    refuse("c4_update_binds_nothing", "Async-C4", """
        s = ((f32[2]), f32[2]) async-start(x), calls=f
        u = ((f32[2], f32[2]), f32[2]) async-update(s)
        ROOT d = f32[2] async-done(u)""", SUM_PQ)
    refuse("c4_start_too_many", "Async-C4", """
        s = ((f32[2], f32[2]), f32[2]) async-start(x, x), calls=f
        ROOT d = f32[2] async-done(s)""")
    refuse("c4_done_shape", "Async-C4: operand 1 is f32[3]", """
        y = f32[3] parameter(1)
        s = ((f32[2]), f32[2]) async-start(x), calls=f
        ROOT d = f32[2] async-done(s, y)""", SUM_PQ)
    refuse("c5", "Async-C5: 1 arguments are bound", """
        s = ((f32[2]), f32[2]) async-start(x), calls=f
        ROOT d = f32[2] async-done(s)""", SUM_PQ)
    refuse("c6", "AsyncDone: declared shape is f32[3], inferred f32[2]", """
        s = ((f32[2]), f32[2]) async-start(x), calls=f
        ROOT d = f32[3] async-done(s)""")
    refuse("c7_two_dones", "Async-C7", """
        s = ((f32[2]), f32[2]) async-start(x), calls=f
        d = f32[2] async-done(s)
        e = f32[2] async-done(s)
        ROOT r = f32[2] add(d, e)""")
    refuse("c7_update_and_done", "Async-C7", """
        s = ((f32[2]), f32[2]) async-start(x), calls=f
        u = ((f32[2]), f32[2]) async-update(s)
        d = f32[2] async-done(u)
        e = f32[2] async-done(s)
        ROOT r = f32[2] add(d, e)""")


def custom_calls(t):
    t.gives("custom_call_get_rng_seed", 'ROOT s = u64[] custom-call(), custom_call_target="GetRngSeed"',
            outs=["u64[] 42"], oracle="spec")
    t.gives("custom_call_get_rng_seed_option",
            'ROOT s = u64[] custom-call(), custom_call_target="GetRngSeed"',
            outs=["u64[] 7"], oracle="spec", options="--seed 7")
    for target in ("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "LayoutConstraint",
                   "annotate_device_placement", "MoveToHost", "MoveToDevice"):
        t.gives(f"custom_call_{target.lower()}", f"""
            x = f32[2] parameter(0)
            ROOT r = f32[2] custom-call(x), custom_call_target="{target}\"""", ["f32[2] {1, nan}"],
                ["f32[2] {1, nan}"], oracle="spec")
    t.gives("custom_call_topk", """
        x = f32[5] parameter(0)
        ROOT r = (f32[2], s32[2]) custom-call(x), custom_call_target="TopK\"""", ["f32[5] {1, 7, -2, 9, 3}"],
            ["f32[2] {9, 7}", "s32[2] {3, 1}"])
    t.gives("custom_call_create_buffer", """
        b = b(s32[2]) custom-call(), custom_call_target="CreateBuffer"
        ROOT r = s32[2] custom-call(b), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}""", outs=["s32[2] {0, 0}"], oracle="spec")
    t.gives("custom_call_aliasing_copies", """
        x = s32[2] parameter(0)
        n = s32[2] negate(x)
        c = s32[2] custom-call(n), custom_call_target="Sharding", output_to_operand_aliasing={{}: (0, {})}
        ROOT r = (s32[2], s32[2]) tuple(n, c)""", ["s32[2] {4, -4}"], ["s32[2] {-4, 4}", "s32[2] {-4, 4}"])
    t.gives("custom_call_dead_unknown_target", """
        x = s32[] parameter(0)
        d = s32[] custom-call(x), custom_call_target="acme.unknown"
        ROOT r = s32[] negate(x)""", ["s32[] 4"], ["s32[] -4"])
    t.refuses("custom_call_unknown", 4, "no custom call target acme.unknown", """
        x = s32[] parameter(0)
        ROOT r = s32[] custom-call(x), custom_call_target="acme.unknown\"""", ["s32[] 4"])
    t.refuses("custom_call_unknown_with_effect", 4, "no custom call target acme.unknown", """
        x = s32[] parameter(0)
        d = s32[] custom-call(x), custom_call_target="acme.unknown", custom_call_has_side_effect=true
        ROOT r = s32[] negate(x)""", ["s32[] 4"])
    for target in ("mhlo.dynamic_reshape", "mhlo.dynamic_broadcast_in_dim", "DynamicConvForward"):
        t.refuses(f"custom_call_{target.replace('.', '_').lower()}", 4, f"no custom call target {target}", f"""
            x = s32[2] parameter(0)
            ROOT r = s32[2] custom-call(x), custom_call_target="{target}\"""", ["s32[2] {4, 5}"])

    def refuse(name, text, attributes, result="f32[2]{0}"):
        t.refuses(f"custom_call_{name}", 3, text, f"x = f32[2] parameter(0)\nROOT r = {result} custom-call(x), {attributes}")
    refuse("c1_empty", "CustomCall-C1: custom_call_target is empty", 'custom_call_target=""')
    refuse("c1_reserved", "CustomCall-C1", 'custom_call_target="$inner"')
    refuse("c2_count", "CustomCall-C2: 2 operand_layout_constraints",
           'custom_call_target="Sharding", operand_layout_constraints={f32[2]{0}, f32[2]{0}}')
    refuse("c2_shape", "CustomCall-C2: layout constraint 0 is f32[3]",
           'custom_call_target="Sharding", operand_layout_constraints={f32[3]{0}}')
    refuse("c3_operand", "CustomCall-C3",
           'custom_call_target="Sharding", output_to_operand_aliasing={{}: (1, {})}')
    refuse("c3_output_index", "CustomCall-C3",
           'custom_call_target="Sharding", output_to_operand_aliasing={{0}: (0, {})}')
    refuse("c3_operand_index", "CustomCall-C3",
           'custom_call_target="Sharding", output_to_operand_aliasing={{}: (0, {0})}')
    refuse("c3_shape", "CustomCall-C3",
           'custom_call_target="acme.f", output_to_operand_aliasing={{}: (0, {})}', "f32[3]")
    refuse("c4", "", 'custom_call_target="acme.f", called_computations={nowhere}')
    refuse("pin_without_alias", "CustomCall-C3: Pin wants output_to_operand_aliasing",
           'custom_call_target="Pin"', "b(f32[2])")
    refuse("pin_two_aliases", "CustomCall-C3: Pin wants output_to_operand_aliasing",
           'custom_call_target="Pin", output_to_operand_aliasing={{}: (0, {}), {}: (0, {})}', "b(f32[2])")
    refuse("pin_of_other_type", "CustomCall-C3: output_to_operand_aliasing: output {} is",
           'custom_call_target="Pin", output_to_operand_aliasing={{}: (0, {})}', "b(f32[3])")
    refuse("allocate_operand", "CustomCall: AllocateBuffer takes 0 operands",
           'custom_call_target="AllocateBuffer"')
    refuse("sharding_group_result", "CustomCall: xla.sdy.ShardingGroup gives ()",
           'custom_call_target="xla.sdy.ShardingGroup"')
    refuse("barrier_shape", "CustomCall: ShardBarrierTo of f32[2]", 'custom_call_target="ShardBarrierTo"',
           "f32[3]")
    refuse("sharding_shape", "Sharding of f32[2] can't give f32[3]", 'custom_call_target="Sharding"',
           "f32[3]")
