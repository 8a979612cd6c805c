"""golden/host/: infeed, outfeed, send, recv."""
from system import Table

CHANNEL = "(f32[2], u32[], token[])"


def streams(t):
    t.gives("infeed_spec", """
        t = token[] after-all()
        i0 = (f32[2], token[]) infeed(t)
        t1 = token[] get-tuple-element(i0), index=1
        i1 = (f32[1], token[]) infeed(t1)
        a = f32[2] get-tuple-element(i0), index=0
        b = f32[1] get-tuple-element(i1), index=0
        ROOT r = (f32[2], f32[1]) tuple(a, b)""", oracle="spec", infeed0="f32[2] {1, 2}",
            infeed1="f32[1] {3}", outs=["f32[2] {1, 2}", "f32[1] {3}"])
    t.refuses("infeed_spec_exhausted", 5, "infeed exhausted", """
        t = token[] after-all()
        ROOT i0 = (f32[2], token[]) infeed(t)""")
    t.gives("infeed_tuple", """
        t = token[] after-all()
        ROOT i0 = ((s32[], pred[2]), token[]) infeed(t), infeed_config="c\"""", infeed0_0="s32[] 3",
            infeed0_1="pred[2] {true, false}", out0_0="s32[] 3", out0_1="pred[2] {true, false}")
    t.gives("infeed_empty_tuple_reads_nothing", """
        t = token[] after-all()
        i0 = ((), token[]) infeed(t)
        t1 = token[] get-tuple-element(i0), index=1
        ROOT i1 = (s32[], token[]) infeed(t1)""", infeed0="s32[] 9", out0="s32[] 9")
    t.gives("infeed_dead_still_reads", """
        t = token[] after-all()
        d = (s32[], token[]) infeed(t)
        i = (s32[], token[]) infeed(t)
        ROOT r = s32[] get-tuple-element(i), index=0""", infeed0="s32[] 8", infeed1="s32[] 9", out0="s32[] 9")
    t.gives("infeed_in_loop", """
        z = s32[] constant(0)
        n = s32[] constant(3)
        i = (s32[], s32[]) tuple(n, z)
        w = (s32[], s32[]) while(i), condition=c, body=b
        ROOT r = s32[] get-tuple-element(w), index=1""", infeed0="s32[] 100", infeed1="s32[] 20",
            infeed2="s32[] 3", out0="s32[] 123", computations="""
        c {
        s = (s32[], s32[]) parameter(0)
        k = s32[] get-tuple-element(s), index=0
        z.1 = s32[] constant(0)
        ROOT g = pred[] compare(k, z.1), direction=GT
        }

        b {
        s.1 = (s32[], s32[]) parameter(0)
        k.1 = s32[] get-tuple-element(s.1), index=0
        v = s32[] get-tuple-element(s.1), index=1
        t = token[] after-all()
        f = (s32[], token[]) infeed(t)
        x = s32[] get-tuple-element(f), index=0
        u = s32[] add(v, x)
        m = s32[] constant(-1)
        j = s32[] add(k.1, m)
        ROOT r.1 = (s32[], s32[]) tuple(j, u)
        }""")
    t.refuses("infeed_c1", 3, "Infeed-C1", "a = s32[] parameter(0)\nROOT i = (s32[], token[]) infeed(a)")
    t.refuses("infeed_c3", 3, "Infeed-C3", """
        t = token[] after-all()
        ROOT i = ((s32[], (s32[])), token[]) infeed(t)""")
    t.refuses("infeed_result", 3, "infeed: the result is s32[]",
              "t = token[] after-all()\nROOT i = s32[] infeed(t)")
    header = ["refuse: 5 the program wants s32[2]", "infeed0: s32[3] {1, 2, 3}"]
    t.add("infeed_item_of_another_shape", header,
          "t = token[] after-all()\nROOT i = (s32[2], token[]) infeed(t)")

    for name, shape, value in (("f32", "f32[2]", "f32[2] {1, nan}"), ("scalar", "s8[]", "s8[] -128"),
                               ("zero_size", "u4[0]", "u4[0] {}")):
        t.gives(f"outfeed_{name}", f"""
            x = {shape} parameter(0)
            t = token[] after-all()
            ROOT o = token[] outfeed(x, t), outfeed_shape={shape}, outfeed_config="c\"""", [value],
                outfeed0=value)
    t.gives("outfeed_order", """
        x = s32[] parameter(0)
        n = s32[] negate(x)
        t = token[] after-all()
        o = token[] outfeed(x, t), outfeed_shape=s32[]
        p = token[] outfeed(n, o), outfeed_shape=s32[]
        ROOT r = () tuple()""", ["s32[] 4"], outfeed0="s32[] 4", outfeed1="s32[] -4")
    t.gives("outfeed_tuple", """
        x = (s32[], f32[1]) parameter(0)
        t = token[] after-all()
        o = token[] outfeed(x, t), outfeed_shape=(s32[], f32[1])
        ROOT r = s32[] get-tuple-element(x), index=0""", arg0_0="s32[] 4", arg0_1="f32[1] {-0.0}",
            out0="s32[] 4", outfeed0_0="s32[] 4", outfeed0_1="f32[1] {-0.0}")
    t.gives("outfeed_layout", """
        x = s32[2,2]{1,0} parameter(0)
        t = token[] after-all()
        ROOT o = token[] outfeed(x, t), outfeed_shape=s32[2,2]{0,1}""", ["s32[2,2] {{1, 2}, {3, 4}}"],
            outfeed0="s32[2,2] {{1, 2}, {3, 4}}")
    t.refuses("outfeed_c1", 3, "Outfeed-C1", """
        x = s32[] parameter(0)
        ROOT o = token[] outfeed(x, x), outfeed_shape=s32[]""")
    t.refuses("outfeed_c2", 3, "Outfeed-C2: outfeed_shape is f32[]", """
        x = s32[] parameter(0)
        t = token[] after-all()
        ROOT o = token[] outfeed(x, t), outfeed_shape=f32[]""")


def received(t):
    """Values that the host sends: host_recvCHANNEL/NUMBER, with a handler name
    host_recvCHANNEL/NAME/NUMBER."""
    take = """
        t = token[] after-all()
        r = (f32[2], u32[], token[]) recv(t), channel_id=3, is_host_transfer=true
        d = (f32[2], token[]) recv-done(r), channel_id=3, is_host_transfer=true
        ROOT x = f32[2] get-tuple-element(d), index=0"""
    t.gives("host_recv", take, outs=["f32[2] {1, 2}"], received={"host_recv3/0": "f32[2] {1, 2}"},
            decision="host-transfer-keys")
    t.refuses("host_recv_exhausted", 5, "host_recv3 exhausted: f32[2] is wanted", take)
    t.gives("host_recv_handler", """
        t = token[] after-all()
        r = (s32[], u32[], token[]) recv(t), channel_id=3, is_host_transfer=true, frontend_attributes={_xla_host_transfer_handler_name="name"}
        d = (s32[], token[]) recv-done(r), channel_id=3, is_host_transfer=true, frontend_attributes={_xla_host_transfer_handler_name="name"}
        ROOT x = s32[] get-tuple-element(d), index=0""", outs=["s32[] 7"],
            received={"host_recv3/name/0": "s32[] 7"})
    t.gives("host_recv_in_order", """
        t = token[] after-all()
        r = (s32[], u32[], token[]) recv(t), channel_id=1, is_host_transfer=true
        d = (s32[], token[]) recv-done(r), channel_id=1, is_host_transfer=true
        a = s32[] get-tuple-element(d), index=0
        n = token[] get-tuple-element(d), index=1
        r2 = ((s32[], f32[1]), u32[], token[]) recv(n), channel_id=2, is_host_transfer=true
        d2 = ((s32[], f32[1]), token[]) recv-done(r2), channel_id=2, is_host_transfer=true
        b = (s32[], f32[1]) get-tuple-element(d2), index=0
        ROOT x = (s32[], (s32[], f32[1])) tuple(a, b)""", outs=["s32[] 7"], received={
            "host_recv1/0": "s32[] 7", "host_recv2/0.0": "s32[] 8", "host_recv2/0.1": "f32[1] {9}"},
            out1_0="s32[] 8", out1_1="f32[1] {9}")


def loop_back(send_first, attributes=""):
    send = f"s = {CHANNEL} send(x, t), channel_id=1{attributes}"
    recv_done = "rd = (f32[2], token[]) recv-done(r), channel_id=1"
    middle = [send, recv_done] if send_first else [recv_done, send]
    return f"""
        x = f32[2] parameter(0)
        t = token[] after-all()
        r = {CHANNEL} recv(t), channel_id=1{attributes}
        """ + "\n".join(middle) + """
        sd = token[] send-done(s), channel_id=1
        ROOT v = f32[2] get-tuple-element(rd), index=0"""


def channels(t):
    t.gives("send_spec", loop_back(True), ["f32[2] {1, 2.5}"], ["f32[2] {1, 2.5}"], oracle="spec")
    t.gives("send_spec_other_order", loop_back(False), ["f32[2] {1, 2.5}"], ["f32[2] {1, 2.5}"],
            oracle="spec")
    t.refuses("send_spec_deadlock", 5, "deadlock", """
        x = f32[2] parameter(0)
        t = token[] after-all()
        r = (f32[2], u32[], token[]) recv(t), channel_id=1
        rd = (f32[2], token[]) recv-done(r), channel_id=1
        t1 = token[] get-tuple-element(rd), index=1
        s = (f32[2], u32[], token[]) send(x, t1), channel_id=1
        sd = token[] send-done(s), channel_id=1
        ROOT v = f32[2] get-tuple-element(rd), index=0""", ["f32[2] {1, 2.5}"])
    pairs = ', frontend_attributes={_xla_send_recv_source_target_pairs="{{%d,%d}}"}'
    t.gives("send_pairs_self", loop_back(True, pairs % (0, 0)), ["f32[2] {1, 2}"], ["f32[2] {1, 2}"])
    t.gives("send_pairs_no_source", loop_back(True, pairs % (0, 1)), ["f32[2] {1, 2}"], oracle="spec",
            **{"r0p0/out0": "f32[2] {0, 0}", "r0p1/out0": "f32[2] {1, 2}"})
    t.gives("send_two_channels", """
        x = s32[] parameter(0)
        y = s32[] parameter(1)
        t = token[] after-all()
        r1 = (s32[], u32[], token[]) recv(t), channel_id=1
        r2 = (s32[], u32[], token[]) recv(t), channel_id=2
        snd2 = (s32[], u32[], token[]) send(y, t), channel_id=2
        snd1 = (s32[], u32[], token[]) send(x, t), channel_id=1
        d1 = (s32[], token[]) recv-done(r1), channel_id=1
        d2 = (s32[], token[]) recv-done(r2), channel_id=2
        e1 = token[] send-done(snd1), channel_id=1
        e2 = token[] send-done(snd2), channel_id=2
        a = s32[] get-tuple-element(d1), index=0
        b = s32[] get-tuple-element(d2), index=0
        ROOT r = (s32[], s32[]) tuple(a, b)""", ["s32[] 1", "s32[] 2"], ["s32[] 1", "s32[] 2"])
    t.gives("send_crossed_waits_of_one_process", """
        x = s32[] parameter(0)
        t = token[] after-all()
        r1 = (s32[], u32[], token[]) recv(t), channel_id=1
        d1 = (s32[], token[]) recv-done(r1), channel_id=1
        r2 = (s32[], u32[], token[]) recv(t), channel_id=2
        d2 = (s32[], token[]) recv-done(r2), channel_id=2
        a = s32[] get-tuple-element(d2), index=0
        n = s32[] negate(a)
        snd1 = (s32[], u32[], token[]) send(n, t), channel_id=1
        snd2 = (s32[], u32[], token[]) send(x, t), channel_id=2
        e1 = token[] send-done(snd1), channel_id=1
        e2 = token[] send-done(snd2), channel_id=2
        ROOT r = s32[] get-tuple-element(d1), index=0""", ["s32[] 5"], ["s32[] -5"])
    t.refuses("send_crossed_deadlock", 5, "deadlock", """
        x = s32[] parameter(0)
        t = token[] after-all()
        r1 = (s32[], u32[], token[]) recv(t), channel_id=1
        d1 = (s32[], token[]) recv-done(r1), channel_id=1
        r2 = (s32[], u32[], token[]) recv(t), channel_id=2
        d2 = (s32[], token[]) recv-done(r2), channel_id=2
        a = s32[] get-tuple-element(d1), index=0
        b = s32[] get-tuple-element(d2), index=0
        snd1 = (s32[], u32[], token[]) send(b, t), channel_id=1
        snd2 = (s32[], u32[], token[]) send(a, t), channel_id=2
        e1 = token[] send-done(snd1), channel_id=1
        e2 = token[] send-done(snd2), channel_id=2
        ROOT r = s32[] copy(x)""", ["s32[] 5"])
    t.refuses("recv_nothing_sent", 5, "deadlock: recv-done waits for channel 3", """
        t = token[] after-all()
        r = (s32[], u32[], token[]) recv(t), channel_id=3
        ROOT d = (s32[], token[]) recv-done(r), channel_id=3""")
    t.refuses("recv_c5_shapes", 5, "Recv-C5", """
        x = f32[2] parameter(0)
        t = token[] after-all()
        r = (f32[3], u32[], token[]) recv(t), channel_id=1
        s = (f32[2], u32[], token[]) send(x, t), channel_id=1
        rd = (f32[3], token[]) recv-done(r), channel_id=1
        sd = token[] send-done(s), channel_id=1
        ROOT v = f32[3] get-tuple-element(rd), index=0""", ["f32[2] {1, 2}"])
    t.gives("send_request_id_is_zero", """
        x = s32[] parameter(0)
        t = token[] after-all()
        s = (s32[], u32[], token[]) send(x, t), channel_id=1, is_host_transfer=true
        sd = token[] send-done(s), channel_id=1, is_host_transfer=true
        ROOT v = u32[] get-tuple-element(s), index=1""", ["s32[] 5"], ["u32[] 0"],
            **{"host_send1/0": "s32[] 5"})
    t.gives("send_host_handler", """
        x = s32[] parameter(0)
        t = token[] after-all()
        s = (s32[], u32[], token[]) send(x, t), channel_id=2, is_host_transfer=true, frontend_attributes={_xla_host_transfer_handler_name="h"}
        sd = token[] send-done(s), channel_id=2, is_host_transfer=true
        ROOT v = s32[] copy(x)""", ["s32[] 5"], ["s32[] 5"], **{"host_send2/h/0": "s32[] 5"})
    t.refuses("recv_host_exhausted", 5, "exhausted", """
        t = token[] after-all()
        r = (s32[], u32[], token[]) recv(t), channel_id=1, is_host_transfer=true
        ROOT d = (s32[], token[]) recv-done(r), channel_id=1, is_host_transfer=true""")

    def refuse(name, text, body):
        t.refuses(name, 3, text, "x = s32[] parameter(0)\nt = token[] after-all()\n" + body)
    transfer = "(s32[], u32[], token[])"
    refuse("send_c1", "Send-C1", f"ROOT s = {transfer} send(x, x), channel_id=1")
    refuse("recv_c1", "Recv-C1", f"ROOT r = {transfer} recv(x), channel_id=1")
    refuse("send_done_c2_recv", "SendDone-C2: the operand is a recv", f"""
        r = {transfer} recv(t), channel_id=1
        ROOT d = token[] send-done(r), channel_id=1""")
    refuse("recv_done_c2_send", "RecvDone-C2: the operand is a send", f"""
        s = {transfer} send(x, t), channel_id=1
        ROOT d = (s32[], token[]) recv-done(s), channel_id=1""")
    refuse("send_done_c2_channel", "SendDone-C2: channel_id is 2", f"""
        s = {transfer} send(x, t), channel_id=1
        ROOT d = token[] send-done(s), channel_id=2""")
    refuse("recv_done_c2_host", "RecvDone-C2", f"""
        r = {transfer} recv(t), channel_id=1, is_host_transfer=true
        ROOT d = (s32[], token[]) recv-done(r), channel_id=1""")
    refuse("send_done_operand", "SendDone-C2: the operand is s32[]",
           "ROOT d = token[] send-done(x), channel_id=1")
    refuse("recv_shape", "recv: the result is", "ROOT r = (s32[], token[]) recv(t), channel_id=1")
    refuse("send_shape", "declared shape is (f32[], u32[], token[])",
           "ROOT s = (f32[], u32[], token[]) send(x, t), channel_id=1")
    t.refuses("recv_c4", 5, "deadlock: recv-done waits for channel 1", f"""
        x = s32[] parameter(0)
        t = token[] after-all()
        r = {transfer} recv(t), channel_id=1
        s = {transfer} send(x, t), channel_id=1
        sd = token[] send-done(s), channel_id=1
        rd = (s32[], token[]) recv-done(r), channel_id=1
        r2 = {transfer} recv(t), channel_id=1
        ROOT d = (s32[], token[]) recv-done(r2), channel_id=1""", ["s32[] 1"])
    t.gives("channel_pairs_in_order_of_recvs", f"""
        x = s32[] parameter(0)
        t = token[] after-all()
        n = s32[] negate(x)
        r1 = {transfer} recv(t), channel_id=1
        r2 = {transfer} recv(t), channel_id=1
        snd1 = {transfer} send(x, t), channel_id=1
        snd2 = {transfer} send(n, t), channel_id=1
        d2 = (s32[], token[]) recv-done(r2), channel_id=1
        d1 = (s32[], token[]) recv-done(r1), channel_id=1
        e1 = token[] send-done(snd1), channel_id=1
        e2 = token[] send-done(snd2), channel_id=1
        v1 = s32[] get-tuple-element(d1), index=0
        v2 = s32[] get-tuple-element(d2), index=0
        ROOT o = (s32[], s32[]) tuple(v1, v2)""", ["s32[] 7"], ["s32[] 7", "s32[] -7"],
            decision="channel-pairs")
    t.gives("channel_pairs_in_loop", f"""
        x = s32[] parameter(0)
        z = s32[] constant(0)
        i = (s32[], s32[]) tuple(z, x)
        w = (s32[], s32[]) while(i), condition=more, body=twice
        y = s32[] get-tuple-element(w), index=1
        t = token[] after-all()
        s = {transfer} send(y, t), channel_id=4
        r = {transfer} recv(t), channel_id=4
        d = (s32[], token[]) recv-done(r), channel_id=4
        e = token[] send-done(s), channel_id=4
        ROOT v = s32[] get-tuple-element(d), index=0""", ["s32[] 3"], ["s32[] 24"], decision="channel-pairs",
            computations=f"""
        more {{
        p = (s32[], s32[]) parameter(0)
        k = s32[] get-tuple-element(p), index=0
        three = s32[] constant(3)
        ROOT l = pred[] compare(k, three), direction=LT
        }}

        twice {{
        q = (s32[], s32[]) parameter(0)
        k.1 = s32[] get-tuple-element(q), index=0
        a = s32[] get-tuple-element(q), index=1
        one = s32[] constant(1)
        n = s32[] add(k.1, one)
        t.1 = token[] after-all()
        s.1 = {transfer} send(a, t.1), channel_id=4
        r.1 = {transfer} recv(t.1), channel_id=4
        d.1 = (s32[], token[]) recv-done(r.1), channel_id=4
        e.1 = token[] send-done(s.1), channel_id=4
        b = s32[] get-tuple-element(d.1), index=0
        c = s32[] add(b, b)
        ROOT u = (s32[], s32[]) tuple(n, c)
        }}""")



def table():
    t = Table("host")
    streams(t)
    received(t)
    channels(t)
    return t
