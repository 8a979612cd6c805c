"""golden/control/: constants whose values the text leaves out."""


def elided(t):
    """A constant without value: an error where a step that runs reads it, however it is reached."""
    for name, body, computations in (
            ("elementwise", "x = f32[2] parameter(0)\nw = f32[2] constant({...})\nn = negate(x)\nROOT r = add(n, w)", ""),
            ("broadcast", "x = f32[2] parameter(0)\nw = f32[] constant({...})\nb = f32[2] broadcast(w), dimensions={}\n"
             "ROOT r = multiply(x, b)", ""),
            ("in_fusion", "x = f32[2] parameter(0)\nROOT r = f32[2] fusion(x), kind=kLoop, calls=f", """
            f {
            p = f32[2] parameter(0)
            w = f32[2] constant({...})
            ROOT a = f32[2] add(p, w)
            }"""),
            ("in_call", "x = f32[2] parameter(0)\nROOT r = f32[2] call(x), to_apply=f", """
            f {
            p = f32[2] parameter(0)
            ROOT w = f32[2] constant({...})
            }"""),
            ("in_map", "x = f32[2] parameter(0)\nROOT r = f32[2] map(x), dimensions={0}, to_apply=f", """
            f {
            p = f32[] parameter(0)
            w = f32[] constant({...})
            ROOT a = f32[] multiply(p, w)
            }"""),
            ("in_reducer", "x = f32[2] parameter(0)\nz = f32[] constant(0)\n"
             "ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=f", """
            f {
            p = f32[] parameter(0)
            q = f32[] parameter(1)
            s = f32[] add(p, q)
            w = f32[] constant({...})
            ROOT a = f32[] multiply(s, w)
            }"""),
            ("in_comparator", "x = f32[2] parameter(0)\nROOT r = f32[2] sort(x), dimensions={0}, to_apply=f", """
            f {
            p = f32[] parameter(0)
            q = f32[] parameter(1)
            w = f32[] constant({...})
            n = pred[] compare(p, p), direction=NE
            m = pred[] compare(q, q), direction=NE
            s = f32[] select(n, w, p)
            t = f32[] select(m, w, q)
            ROOT l = pred[] compare(s, t), direction=LT
            }"""),
            ("in_condition", "x = f32[2] parameter(0)\nROOT r = f32[2] while(x), condition=c, body=b", """
            c {
            p = f32[2] parameter(0)
            ROOT w = pred[] constant({...})
            }

            b {
            q = f32[2] parameter(0)
            ROOT n = f32[2] negate(q)
            }""")):
        t.refuses(f"elided_{name}", 5, "LIT-3: the value of constant 'w' is elided", body,
                  args=["f32[2] {1, 2}"], computations=computations)
    t.gives("elided_branch_not_taken", """
        p = pred[] parameter(0)
        x = s32[] parameter(1)
        ROOT r = s32[] conditional(p, x, x), true_computation=f, false_computation=g""",
            ["pred[] false", "s32[] 5"], ["s32[] -5"], decision="elided-constants", computations="""
        f {
        a = s32[] parameter(0)
        w = s32[] constant({...})
        ROOT s = s32[] add(a, w)
        }

        g {
        b = s32[] parameter(0)
        ROOT n = s32[] negate(b)
        }""")
    t.gives("elided_loop_of_no_turn", """
        x = s32[] parameter(0)
        ROOT r = s32[] while(x), condition=c, body=b""", ["s32[] 5"], ["s32[] 5"], computations="""
        c {
        a = s32[] parameter(0)
        ROOT w = pred[] constant(false)
        }

        b {
        d = s32[] parameter(0)
        e = s32[] constant({...})
        ROOT n = s32[] add(d, e)
        }""")
