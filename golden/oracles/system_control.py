"""golden/control/: structure, calls, loops, limits, and what system_calls.py adds."""
from system import Table
from system_calls import asynchronous, custom_calls
from system_elided import elided

DOUBLE = """
double {
x = s32[] parameter(0)
ROOT y = s32[] add(x, x)
}
"""
TIMES = """
one {
a = s32[] parameter(0)
ROOT r = s32[] copy(a)
}

two {
b = s32[] parameter(0)
ROOT s = s32[] add(b, b)
}

three {
c = s32[] parameter(0)
k = s32[] constant(3)
ROOT t = s32[] multiply(c, k)
}
"""
COUNT = """
below {
s = (s32[], f32[2]) parameter(0)
i = s32[] get-tuple-element(s), index=0
n = s32[] constant(1000)
ROOT c = pred[] compare(i, n), direction=LT
}

step {
s.1 = (s32[], f32[2]) parameter(0)
i.1 = s32[] get-tuple-element(s.1), index=0
v = f32[2] get-tuple-element(s.1), index=1
d = s32[] constant(1)
e = f32[2] constant({1, 0.5})
j = s32[] add(i.1, d)
w = f32[2] add(v, e)
ROOT r = (s32[], f32[2]) tuple(j, w)
}
"""
ENDLESS = """
always {
s = s32[] parameter(0)
ROOT c = pred[] constant(true)
}

step {
s.1 = s32[] parameter(0)
d = s32[] constant(1)
ROOT r = s32[] add(s.1, d)
}
"""

def structure(t):
    t.gives("parameter_order", """
        b = s32[] parameter(1)
        a = s32[] parameter(0)
        ROOT r = s32[] subtract(a, b)""", ["s32[] 10", "s32[] 3"], ["s32[] 7"])
    t.gives("parameter_tuple_leaves", """
        p = (f32[2], (s8[], pred[1])) parameter(0)
        ROOT r = (f32[2], (s8[], pred[1])) copy(p)""",
            arg0_0="f32[2] {1, -0.0}", arg0_1_0="s8[] -128", arg0_1_1="pred[1] {true}",
            out0="f32[2] {1, -0.0}", out1_0="s8[] -128", out1_1="pred[1] {true}")
    t.gives("parameter_unused_and_empty", """
        a = f32[0,3] parameter(0)
        b = f32[2] parameter(1)
        ROOT r = f32[0,3] copy(a)""", ["f32[0,3] {}", "f32[2] {1, 2}"], ["f32[0,3] {}"])
    t.gives("parameter_as_root", "ROOT p = bf16[2] parameter(0)", ["bf16[2] {nan, -inf}"],
            ["bf16[2] {nan, -inf}"])
    t.refuses("parameter_c1_gap", 3, "parameter number is 2, want 1", """
        a = s32[] parameter(0)
        b = s32[] parameter(2)
        ROOT r = s32[] add(a, b)""")
    t.refuses("parameter_c1_twice", 3, "parameter number is 0, want 1", """
        a = s32[] parameter(0)
        b = s32[] parameter(0)
        ROOT r = s32[] add(a, b)""")
    t.refuses("parameter_c2_shape", 5, "'arg0' is f32[3], the program wants f32[2]",
              "ROOT a = f32[2] parameter(0)", ["f32[3] {1, 2, 3}"])
    t.refuses("parameter_c2_missing", 5, "'arg0' is missing", "ROOT a = f32[2] parameter(0)")
    t.refuses("parameter_extra_argument", 5, "'arg1' is not a parameter", "ROOT a = f32[1] parameter(0)",
              ["f32[1] {1}", "f32[1] {1}"])
    t.refuses("parameter_bound_exceeded", 5, "the program wants s32[<=2]", "ROOT a = s32[<=2] parameter(0)",
              ["s32[3] {1, 2, 3}"])
    t.gives("parameter_below_bound", "ROOT a = s32[<=4] parameter(0)", ["s32[3] {1, 2, 3}"],
            ["s32[3] {1, 2, 3}"])
    t.refuses("parameter_unbounded", 4, "DYN-2", "ROOT a = s32[?] parameter(0)", ["s32[1] {1}"])

    t.gives("tuple_spec", """
        v = f32[3] constant({1, 2, 3})
        s = s32[] constant(5)
        ROOT r = (f32[3], s32[]) tuple(v, s)""", outs=["f32[3] {1, 2, 3}", "s32[] 5"], oracle="spec")
    t.gives("tuple_empty", "ROOT r = () tuple()")
    t.gives("tuple_nested", """
        a = u8[] constant(1)
        e = () tuple()
        i = (u8[], ()) tuple(a, e)
        ROOT r = ((u8[], ()), u8[]) tuple(i, a)""", out0_0="u8[] 1", out1="u8[] 1")
    t.gives("tuple_same_value_twice", """
        a = s32[2] parameter(0)
        b = s32[2] negate(a)
        ROOT r = (s32[2], s32[2], s32[2]) tuple(b, a, b)""", ["s32[2] {1, -2}"],
            ["s32[2] {-1, 2}", "s32[2] {1, -2}", "s32[2] {-1, 2}"])
    t.gives("tuple_with_token", """
        k = token[] after-all()
        a = s4[2] constant({7, -8})
        ROOT r = (token[], s4[2]) tuple(k, a)""", out1="s4[2] {7, -8}")
    t.refuses("tuple_declared_shape", 3, "declared shape is (f32[3]), inferred (f32[2])", """
        a = f32[2] parameter(0)
        ROOT r = (f32[3]) tuple(a)""")

    t.gives("get_tuple_element_spec", """
        v = f32[10] iota(), iota_dimension=0
        s = s32[] constant(5)
        t = (f32[10], s32[]) tuple(v, s)
        ROOT r = s32[] get-tuple-element(t), index=1""", outs=["s32[] 5"], oracle="spec")
    t.gives("get_tuple_element_inner_tuple", """
        p = (s32[], (f32[2], pred[])) parameter(0)
        i = (f32[2], pred[]) get-tuple-element(p), index=1
        ROOT r = f32[2] get-tuple-element(i), index=0""", out0="f32[2] {1, nan}",
            arg0_0="s32[] 0", arg0_1_0="f32[2] {1, nan}", arg0_1_1="pred[] true")
    t.gives("get_tuple_element_before_its_use_in_place", """
        p = (s32[3], s32[1]) parameter(0)
        a = s32[3] get-tuple-element(p), index=0
        u = s32[1] get-tuple-element(p), index=1
        z = s32[] constant(1)
        b = s32[3] dynamic-update-slice(a, u, z)
        ROOT r = (s32[3], s32[3]) tuple(a, b)""", arg0_0="s32[3] {1, 2, 3}", arg0_1="s32[1] {9}",
            outs=["s32[3] {1, 2, 3}", "s32[3] {1, 9, 3}"])
    t.refuses("get_tuple_element_c1", 3, "GetTupleElement-C1: the operand is f32[2]", """
        a = f32[2] parameter(0)
        ROOT r = f32[2] get-tuple-element(a), index=0""")
    t.refuses("get_tuple_element_c2_high", 3, "GetTupleElement-C2: index is 1", """
        a = (f32[2]) parameter(0)
        ROOT r = f32[2] get-tuple-element(a), index=1""")
    t.refuses("get_tuple_element_c2_negative", 3, "GetTupleElement-C2: index is -1", """
        a = (f32[2]) parameter(0)
        ROOT r = f32[2] get-tuple-element(a), index=-1""")
    t.refuses("get_tuple_element_no_index", 3, "get-tuple-element needs the attribute 'index'", """
        a = (f32[2]) parameter(0)
        ROOT r = f32[2] get-tuple-element(a)""")

    t.gives("add_dependency_value", """
        a = f16[2] parameter(0)
        k = token[] after-all()
        ROOT r = f16[2] add-dependency(a, k)""", ["f16[2] {1, nan}"], ["f16[2] {1, nan}"])
    t.gives("add_dependency_tuple", """
        a = (s32[], u8[1]) parameter(0)
        k = token[] after-all()
        ROOT r = (s32[], u8[1]) add-dependency(a, k)""", arg0_0="s32[] 1", arg0_1="u8[1] {255}",
            outs=["s32[] 1", "u8[1] {255}"])
    t.gives("add_dependency_zero_size", """
        a = c64[0] parameter(0)
        k = token[] after-all()
        ROOT r = c64[0] add-dependency(a, k)""", ["c64[0] {}"], ["c64[0] {}"])
    t.gives("add_dependency_after_outfeed", """
        a = s32[] parameter(0)
        k = token[] after-all()
        o = token[] outfeed(a, k), outfeed_shape=s32[]
        ROOT r = s32[] add-dependency(a, o)""", ["s32[] 4"], ["s32[] 4"], outfeed0="s32[] 4")
    t.refuses("add_dependency_c1", 3, "AddDependency-C1: operand 1 is s32[]", """
        a = s32[] parameter(0)
        ROOT r = s32[] add-dependency(a, a)""")
    for count in (0, 1, 3):
        names = ", ".join(["k"] * count)
        t.gives(f"after_all_{count}", f"""
            a = s32[] constant(1)
            k = token[] after-all()
            m = token[] after-all({names})
            ROOT r = s32[] add-dependency(a, m)""", outs=["s32[] 1"])
    t.gives("after_all_root", "ROOT k = token[] after-all()")
    t.refuses("after_all_c1", 3, "AfterAll-C1: operand 0 is f32[]", """
        a = f32[] parameter(0)
        ROOT r = token[] after-all(a)""")
    for name, shape, value in (("f32", "f32[2]", "f32[2] {1, nan}"), ("pred", "pred[]", "pred[] true"),
                               ("zero_size", "s32[0]", "s32[0] {}"), ("u4", "u4[3]", "u4[3] {0, 15, 8}")):
        t.gives(f"opt_barrier_{name}", f"""
            a = {shape} parameter(0)
            ROOT r = {shape} opt-barrier(a)""", [value], [value])
        t.gives(f"domain_{name}", f"""
            a = {shape} parameter(0)
            ROOT r = {shape} domain(a), domain={{kind="sharding", entry={{maximal device=0}}, exit={{replicated}}}}""",
                [value], [value])
    t.gives("opt_barrier_tuple", """
        a = (s32[], (f64[1])) parameter(0)
        ROOT r = (s32[], (f64[1])) opt-barrier(a)""", arg0_0="s32[] 3", arg0_1_0="f64[1] {0.1}",
            out0="s32[] 3", out1_0="f64[1] {0.1}")
    t.gives("domain_tuple", """
        a = (s32[], f64[1]) parameter(0)
        d = (s32[], f64[1]) domain(a), domain={kind="sharding", entry={replicated}, exit={replicated}}
        ROOT r = f64[1] get-tuple-element(d), index=1""", arg0_0="s32[] 3", arg0_1="f64[1] {0.1}",
            out0="f64[1] {0.1}")
    t.refuses("domain_shape", 3, "declared shape is f32[3], inferred f32[2]", """
        a = f32[2] parameter(0)
        ROOT r = f32[3] domain(a), domain={kind="sharding", entry={replicated}, exit={replicated}}""")
    t.refuses("constant_elided", 5, "LIT-3: the value of constant 'c' is elided",
              "ROOT c = f32[2] constant({...})")
    elided(t)
    t.refuses("constant_c1", 3, "", "ROOT c = f32[2] constant({1, 2, 3})")
    t.refuses("unused_instruction_is_checked", 3, "BINARY-C", """
        a = f32[2] parameter(0)
        b = f32[3] parameter(1)
        bad = f32[2] add(a, b)
        ROOT r = f32[2] negate(a)""")
    t.refuses("uncalled_computation_is_checked", 3, "GetTupleElement-C1", "ROOT a = f32[2] parameter(0)",
              computations="f {\np = f32[] parameter(0)\nROOT r = f32[] get-tuple-element(p), index=0\n}")
    t.gives("two_replicas", "ROOT a = s32[] constant(1)", outs=["s32[] 1"], module=", replica_count=2")
    t.gives("two_partitions", "ROOT a = s32[] constant(1)", outs=["s32[] 1"], module=", num_partitions=2")


def copies(t):
    t.gives("copy_layout", """
        a = f32[2,3]{1,0} parameter(0)
        ROOT r = f32[2,3]{0,1} copy(a)""", ["f32[2,3] {{1, 2, 3}, {4, 5, 6}}"],
            ["f32[2,3] {{1, 2, 3}, {4, 5, 6}}"])
    t.refuses("copy_c1", 3, "declared shape is f32[3], inferred f32[2]", """
        a = f32[2] parameter(0)
        ROOT r = f32[3] copy(a)""")
    for name, shape, value in (("f32", "f32[2]", "f32[2] {1, nan}"),
                               ("scalar", "s64[]", "s64[] -9223372036854775808"),
                               ("zero_size", "u16[2,0]", "u16[2,0] {{}, {}}"),
                               ("c128", "c128[1]", "c128[1] {(1, -0.0)}")):
        t.gives(f"copy_start_{name}", f"""
            a = {shape} parameter(0)
            s = ({shape}, {shape}, u32[]) copy-start(a)
            ROOT r = {shape} copy-done(s)""", [value], [value])
    t.gives("copy_start_prefetch", """
        a = s8[2] parameter(0)
        s = (s8[2], s8[2], u32[]) copy-start(a), cross_program_prefetch_index=0
        ROOT r = s8[2] copy-done(s)""", ["s8[2] {1, -1}"], ["s8[2] {1, -1}"])
    t.refuses("copy_start_c1", 3, "Copy-C1: the operand is (f32[2])", """
        a = (f32[2]) parameter(0)
        ROOT s = ((f32[2]), (f32[2]), u32[]) copy-start(a)""")
    t.refuses("copy_start_shape", 3, "declared shape is (f32[3], f32[2], u32[])", """
        a = f32[2] parameter(0)
        s = (f32[3], f32[2], u32[]) copy-start(a)
        ROOT r = f32[3] copy-done(s)""")
    t.refuses("copy_start_c2_no_done", 3, "Copy-C2", """
        a = f32[2] parameter(0)
        ROOT s = (f32[2], f32[2], u32[]) copy-start(a)""", ["f32[2] {1, 2}"])
    t.refuses("copy_start_c2_two_dones", 3, "Copy-C2", """
        a = f32[2] parameter(0)
        s = (f32[2], f32[2], u32[]) copy-start(a)
        d = f32[2] copy-done(s)
        e = f32[2] copy-done(s)
        ROOT r = f32[2] add(d, e)""", ["f32[2] {1, 2}"])
    t.refuses("copy_start_c2_other_user", 3, "Copy-C2", """
        a = f32[2] parameter(0)
        s = (f32[2], f32[2], u32[]) copy-start(a)
        d = f32[2] copy-done(s)
        ROOT e = f32[2] get-tuple-element(s), index=0""", ["f32[2] {1, 2}"])
    t.refuses("copy_done_c3", 3, "Copy-C3", """
        s = (f32[2], f32[2], u32[]) parameter(0)
        ROOT r = f32[2] copy-done(s)""")


def calls(t):
    t.gives("call_double", """
        a = s32[] parameter(0)
        ROOT r = s32[] call(a), to_apply=double""", ["s32[] 21"], ["s32[] 42"], computations=DOUBLE)
    t.gives("call_twice", """
        a = s32[] parameter(0)
        b = s32[] call(a), to_apply=double
        ROOT r = s32[] call(b), to_apply=double""", ["s32[] -3"], ["s32[] -12"], computations=DOUBLE)
    t.gives("call_no_operand", "ROOT r = f32[2] call(), to_apply=f", outs=["f32[2] {1, 2}"],
            computations="f {\nROOT c = f32[2] constant({1, 2})\n}")
    t.gives("call_unused_parameter", """
        a = s32[] parameter(0)
        b = f32[2] parameter(1)
        ROOT r = s32[] call(a, b), to_apply=first""", ["s32[] 7", "f32[2] {1, 2}"], ["s32[] 7"],
            computations="first {\np = s32[] parameter(0)\nq = f32[2] parameter(1)\n"
                         "ROOT r = s32[] copy(p)\n}")
    t.gives("call_tuple_result", """
        a = s32[] parameter(0)
        ROOT r = (s32[], s32[]) call(a), to_apply=pair""", ["s32[] 7"], ["s32[] 7", "s32[] -7"],
            computations="pair {\np = s32[] parameter(0)\nn = s32[] negate(p)\nROOT r = (s32[], s32[]) tuple(p, n)\n}")
    t.gives("call_side_effect_of_dead_call", """
        a = s32[] parameter(0)
        dead = token[] call(a), to_apply=tell
        ROOT r = s32[] negate(a)""", ["s32[] 7"], ["s32[] -7"], outfeed0="s32[] 7", computations="""
        tell {
        p = s32[] parameter(0)
        k = token[] after-all()
        ROOT o = token[] outfeed(p, k), outfeed_shape=s32[]
        }""")
    t.refuses("call_c1", 3, "Call-C1: 2 operands", """
        a = s32[] parameter(0)
        ROOT r = s32[] call(a, a), to_apply=double""", computations=DOUBLE)
    t.refuses("call_c2", 3, "Call-C2: operand 0 is f32[]", """
        a = f32[] parameter(0)
        ROOT r = s32[] call(a), to_apply=double""", computations=DOUBLE)
    t.refuses("call_result_shape", 3, "declared shape is f32[], inferred s32[]", """
        a = s32[] parameter(0)
        ROOT r = f32[] call(a), to_apply=double""", computations=DOUBLE)
    t.refuses("call_itself", 3, "", "a = s32[] parameter(0)\nROOT r = s32[] call(a), to_apply=main")

    def composite(attributes):
        return f"""
        a = s32[] parameter(0)
        ROOT r = s32[] call(a), to_apply=double, is_composite=true, frontend_attributes={{{attributes}}}"""
    t.gives("composite_spec", composite('composite.name="acme.twice",composite.version="1"'), ["s32[] 3"],
            ["s32[] 6"], oracle="spec", computations=DOUBLE)
    t.gives("composite_attributes",
            composite('composite.attributes={n = 1 : i32},composite.name="acme.twice"'),
            ["s32[] 4"], ["s32[] 8"], computations=DOUBLE)
    t.refuses("composite_c2_missing", 3, "CompositeCall-C2", composite('composite.version="1"'),
              computations=DOUBLE)
    t.refuses("composite_c2_empty", 3, "CompositeCall-C2", composite('composite.name=""'),
              computations=DOUBLE)
    t.refuses("composite_c3", 3, "CompositeCall-C3",
              composite('composite.attributes="",composite.name="a.b"'), computations=DOUBLE)
    for name, version in (("negative", "-1"), ("word", "v1"), ("empty", "")):
        t.refuses(f"composite_c4_{name}", 3, "CompositeCall-C4",
                  composite(f'composite.name="a.b",composite.version="{version}"'), computations=DOUBLE)

    for kind in ("kLoop", "kInput", "kOutput", "kCustom"):
        t.gives(f"fusion_{kind[1:].lower()}", f"""
            a = s32[] parameter(0)
            ROOT r = s32[] fusion(a), kind={kind}, calls=double""", ["s32[] 21"], ["s32[] 42"],
                computations=DOUBLE)
    t.gives("fusion_no_extra_precision", """
        a = bf16[] parameter(0)
        b = bf16[] parameter(1)
        ROOT r = bf16[] fusion(a, b), kind=kLoop, calls=f""", ["bf16[] 256", "bf16[] 1"], ["bf16[] 0"],
            computations="""
        f {
        a.1 = bf16[] parameter(0)
        b.1 = bf16[] parameter(1)
        s = bf16[] add(a.1, b.1)
        ROOT d = bf16[] subtract(s, a.1)
        }""")
    t.refuses("fusion_c1", 3, "Fusion-C1: 2 operands", """
        a = s32[] parameter(0)
        ROOT r = s32[] fusion(a, a), kind=kLoop, calls=double""", computations=DOUBLE)
    t.refuses("fusion_c2", 3, "Fusion: declared shape is f32[], inferred s32[]", """
        a = s32[] parameter(0)
        ROOT r = f32[] fusion(a), kind=kLoop, calls=double""", computations=DOUBLE)
    t.gives("fusion_effects", """
        a = s32[] parameter(0)
        ROOT r = s32[] fusion(a), kind=kLoop, calls=f""", ["s32[] 5"], ["s32[] 5"], outfeed0="s32[] 5",
            computations="""
        f {
        p = s32[] parameter(0)
        k = token[] after-all()
        o = token[] outfeed(p, k), outfeed_shape=s32[]
        ROOT c = s32[] copy(p)
        }""")
    t.refuses("fusion_kind", 3, "found 'kWild'", """
        a = s32[] parameter(0)
        ROOT r = s32[] fusion(a), kind=kWild, calls=double""", computations=DOUBLE)


def conditionals(t):
    indexed = """
        i = s32[] parameter(0)
        x = s32[] parameter(1)
        ROOT r = s32[] conditional(i, x, x, x), branch_computations={one, two, three}"""
    for name, i, result in (("spec", -1, 15), ("first", 0, 5), ("second", 1, 10), ("last", 2, 15),
                            ("beyond", 3, 15), ("far", 2147483647, 15)):
        t.gives(f"conditional_index_{name}", indexed, [f"s32[] {i}", "s32[] 5"], [f"s32[] {result}"],
                oracle="spec" if name == "spec" else "hand", computations=TIMES)
    for value in ("true", "false"):
        t.gives(f"conditional_{value}", """
            p = pred[] parameter(0)
            x = s32[] parameter(1)
            y = s32[] parameter(2)
            ROOT r = s32[] conditional(p, x, y), true_computation=two, false_computation=three""",
                [f"pred[] {value}", "s32[] 5", "s32[] 7"], ["s32[] 10" if value == "true" else "s32[] 21"],
                computations=TIMES)
    t.gives("conditional_one_branch", """
        i = s32[] parameter(0)
        ROOT r = s32[] conditional(i, i), branch_computations={two}""", ["s32[] 9"], ["s32[] 18"],
            computations=TIMES)
    t.gives("conditional_different_operands", """
        p = pred[] parameter(0)
        x = f32[0] parameter(1)
        y = (s32[], s32[]) parameter(2)
        ROOT r = s32[] conditional(p, x, y), true_computation=f, false_computation=g""",
            ["pred[] false", "f32[0] {}"], ["s32[] 3"], arg2_0="s32[] 1", arg2_1="s32[] 2", computations="""
        f {
        a = f32[0] parameter(0)
        ROOT c = s32[] constant(-1)
        }

        g {
        b = (s32[], s32[]) parameter(0)
        l = s32[] get-tuple-element(b), index=0
        r = s32[] get-tuple-element(b), index=1
        ROOT s = s32[] add(l, r)
        }""")
    t.gives("conditional_one_branch_has_effects", """
        p = pred[] parameter(0)
        x = s32[] parameter(1)
        c = token[] conditional(p, x, x), true_computation=tell, false_computation=tell_negative
        ROOT r = s32[] copy(x)""", ["pred[] false", "s32[] 4"], ["s32[] 4"], outfeed0="s32[] -4",
            computations="""
        tell {
        a = s32[] parameter(0)
        k = token[] after-all()
        ROOT o = token[] outfeed(a, k), outfeed_shape=s32[]
        }

        tell_negative {
        b = s32[] parameter(0)
        n = s32[] negate(b)
        k.1 = token[] after-all()
        ROOT o.1 = token[] outfeed(n, k.1), outfeed_shape=s32[]
        }""")

    def refuse(name, text, body):
        t.refuses(f"conditional_{name}", 3, text, body, computations=TIMES + "\n" + """
other {
d = f32[] parameter(0)
ROOT u = f32[] copy(d)
}

wide {
e = s32[] parameter(0)
ROOT w = f32[] convert(e)
}
""")
    refuse("c1_selector", "Conditional-C1: the selector is s64[]", """
        i = s64[] parameter(0)
        x = s32[] parameter(1)
        ROOT r = s32[] conditional(i, x, x), branch_computations={one, two}""")
    refuse("c1_selector_vector", "Conditional-C1: the selector is s32[1]", """
        i = s32[1] parameter(0)
        x = s32[] parameter(1)
        ROOT r = s32[] conditional(i, x), branch_computations={one}""")
    refuse("c1_pred_branches",
           "Conditional-C1: the selector is pred[], wanted s32[] with branch_computations", """
        i = pred[] parameter(0)
        x = s32[] parameter(1)
        ROOT r = s32[] conditional(i, x, x), branch_computations={one, two}""")
    refuse("c1_pred_three", "Conditional-C1: the selector is pred[], wanted s32[] with branch_computations", """
        i = pred[] parameter(0)
        x = s32[] parameter(1)
        ROOT r = s32[] conditional(i, x, x, x), branch_computations={one, two, three}""")
    refuse("c1_s32_true_false", "Conditional-C1: the selector is s32[], wanted pred[]", """
        x = s32[] parameter(0)
        ROOT r = s32[] conditional(x, x, x), true_computation=one, false_computation=two""")
    refuse("c2", "Conditional-C2: 1 branch operands for 2 branches", """
        x = s32[] parameter(0)
        ROOT r = s32[] conditional(x, x), branch_computations={one, two}""")
    refuse("c3", "Conditional-C3: branch 1 takes f32[]", """
        x = s32[] parameter(0)
        ROOT r = s32[] conditional(x, x, x), branch_computations={one, other}""")
    refuse("c4", "Conditional-C4: branch 1 gives f32[]", """
        x = s32[] parameter(0)
        ROOT r = s32[] conditional(x, x, x), branch_computations={one, wide}""")
    refuse("no_branches", "conditional takes either", """
        x = pred[] parameter(0)
        y = s32[] parameter(1)
        ROOT r = s32[] conditional(x, y, y), true_computation=one""")


def loops(t):
    t.gives("while_spec", """
        z = s32[] constant(0)
        v = f32[2] constant({0, 0})
        i = (s32[], f32[2]) tuple(z, v)
        ROOT r = (s32[], f32[2]) while(i), condition=below, body=step""",
            outs=["s32[] 1000", "f32[2] {1000, 500}"], oracle="spec", computations=COUNT)
    t.gives("while_no_iteration", """
        p = (s32[], f32[2]) parameter(0)
        ROOT r = (s32[], f32[2]) while(p), condition=below, body=step""", arg0_0="s32[] 1000",
            arg0_1="f32[2] {nan, -0.0}", outs=["s32[] 1000", "f32[2] {nan, -0.0}"], computations=COUNT)
    t.gives("while_init_still_used", """
        p = (s32[], f32[2]) parameter(0)
        w = (s32[], f32[2]) while(p), condition=below, body=step
        a = s32[] get-tuple-element(w), index=0
        b = s32[] get-tuple-element(p), index=0
        ROOT r = s32[] subtract(a, b)""", arg0_0="s32[] 998", arg0_1="f32[2] {0, 0}", outs=["s32[] 2"],
            computations=COUNT)
    t.gives("while_array_state", """
        n = u32[] parameter(0)
        ROOT r = u32[] while(n), condition=big, body=half""", ["u32[] 1000"], ["u32[] 7"], computations="""
        big {
        a = u32[] parameter(0)
        k = u32[] constant(10)
        ROOT c = pred[] compare(a, k), direction=GT
        }

        half {
        b = u32[] parameter(0)
        one = u32[] constant(1)
        ROOT s = u32[] shift-right-logical(b, one)
        }""")
    t.gives("while_in_place_update", """
        z = s32[] constant(0)
        v = s32[5] parameter(0)
        i = (s32[], s32[5]) tuple(z, v)
        w = (s32[], s32[5]) while(i), condition=c, body=b
        o = s32[5] get-tuple-element(w), index=1
        ROOT r = (s32[5], s32[5]) tuple(v, o)""", ["s32[5] {9, 9, 9, 9, 9}"],
            ["s32[5] {9, 9, 9, 9, 9}", "s32[5] {0, 1, 4, 9, 9}"], computations="""
        c {
        s = (s32[], s32[5]) parameter(0)
        i.1 = s32[] get-tuple-element(s), index=0
        n = s32[] constant(4)
        ROOT l = pred[] compare(i.1, n), direction=LT
        }

        b {
        s.1 = (s32[], s32[5]) parameter(0)
        i.2 = s32[] get-tuple-element(s.1), index=0
        v.1 = s32[5] get-tuple-element(s.1), index=1
        q = s32[] multiply(i.2, i.2)
        u = s32[1] reshape(q)
        d = s32[5] dynamic-update-slice(v.1, u, i.2)
        one = s32[] constant(1)
        j = s32[] add(i.2, one)
        ROOT r.1 = (s32[], s32[5]) tuple(j, d)
        }""")
    t.gives("while_effects_of_condition", """
        z = s32[] constant(0)
        w = s32[] while(z), condition=c, body=b
        ROOT r = s32[] negate(w)""", outs=["s32[] -2"], outfeed0="s32[] 0", outfeed1="s32[] 1",
            outfeed2="s32[] 2", computations="""
        c {
        s = s32[] parameter(0)
        k = token[] after-all()
        o = token[] outfeed(s, k), outfeed_shape=s32[]
        n = s32[] constant(2)
        ROOT l = pred[] compare(s, n), direction=LT
        }

        b {
        s.1 = s32[] parameter(0)
        one = s32[] constant(1)
        ROOT j = s32[] add(s.1, one)
        }""")
    t.refuses("while_max_steps", 5, "--max-steps", """
        z = s32[] constant(0)
        ROOT w = s32[] while(z), condition=always, body=step""", computations=ENDLESS,
              options="--max-steps 1000")
    t.refuses("while_without_instructions_max_steps", 5, "--max-steps", """
        z = pred[] parameter(0)
        ROOT w = pred[] while(z), condition=c, body=b""", ["pred[] true"], options="--max-steps 1000",
              computations="c {\nROOT s = pred[] parameter(0)\n}\n\nb {\nROOT t = pred[] parameter(0)\n}")
    t.refuses("while_without_instructions_timeout", 5, "timeout", """
        z = pred[] parameter(0)
        ROOT w = pred[] while(z), condition=c, body=b""", ["pred[] true"], options="--timeout 1",
              computations="c {\nROOT s = pred[] parameter(0)\n}\n\nb {\nROOT t = pred[] parameter(0)\n}")
    t.gives("max_steps_enough", """
        a = s32[] parameter(0)
        b = s32[] negate(a)
        ROOT c = s32[] negate(b)""", ["s32[] 1"], ["s32[] 1"], options="--max-steps 10")
    t.gives("memory_limit_enough", """
        z = f32[] constant(1)
        ROOT b = f32[4] broadcast(z), dimensions={}""", outs=["f32[4] {1, 1, 1, 1}"],
            options="--memory-limit 4096")
    t.refuses("memory_limit", 5, "memory", """
        z = f32[] constant(1)
        b = f32[1024,1024] broadcast(z), dimensions={}
        ROOT r = f32[1024,1024] negate(b)""", options="--memory-limit 1000000")
    t.refuses("memory_beyond_machine", 5, "memory", """
        z = f32[] constant(1)
        ROOT b = f32[1000000000,1000000000] broadcast(z), dimensions={}""")

    def refuse(name, text, cond, body):
        t.refuses(f"while_{name}", 3, text,
                  "z = s32[] constant(0)\nROOT w = s32[] while(z), condition=c, body=b",
                  computations=cond + "\n\n" + body)
    good_c = "c {\ns = s32[] parameter(0)\nROOT l = pred[] constant(false)\n}"
    good_b = "b {\nROOT t = s32[] parameter(0)\n}"
    refuse("c1_condition", "While-C1", "c {\nROOT l = pred[] constant(false)\n}", good_b)
    refuse("c1_body", "While-C1", good_c,
           "b {\nt = s32[] parameter(0)\nu = s32[] parameter(1)\nROOT v = s32[] add(t, u)\n}")
    refuse("c2_s32", "While-C2: condition gives s32[]", "c {\nROOT s = s32[] parameter(0)\n}", good_b)
    refuse("c2_vector", "While-C2: condition gives pred[1]",
           "c {\ns = s32[] parameter(0)\nROOT l = pred[1] constant({false})\n}", good_b)
    refuse("c3_body_parameter", "While-C3: body's parameter is f32[]", good_c,
           "b {\nt = f32[] parameter(0)\nROOT u = s32[] convert(t)\n}")
    refuse("c3_body_result", "While-C3: body's result is f32[]", good_c,
           "b {\nt = s32[] parameter(0)\nROOT u = f32[] convert(t)\n}")
    refuse("c3_condition_parameter", "While-C3: condition's parameter is f32[]",
           "c {\ns = f32[] parameter(0)\nROOT l = pred[] constant(false)\n}", good_b)


def table():
    t = Table("control")
    for part in (structure, copies, calls, conditionals, loops, asynchronous, custom_calls):
        part(t)
    return t
