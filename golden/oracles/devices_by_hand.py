"""golden/devices/: what is worked by hand. Examples of the specification, sums that show each rounding,
transfers between devices, ids, and devices that wait in vain."""
ADD = """
sum {
a = f32[] parameter(0)
b = f32[] parameter(1)
ROOT s = f32[] add(a, b)
}
"""
MAX = ADD.replace("add(", "maximum(")


def give(t, name, entry, inputs=(), outputs=(), computations="", module="", decision=None, options=None):
    """inputs, outputs: (key, value) pairs, keys with or without a device."""
    header = ["oracle: hand"] + ([f"decision: {decision}"] if decision
                                 else []) + ([f"options: {options}"] if options else [])
    t.add(name, header + [f"{key}: {value}" for key, value in (*inputs, *outputs)], entry, computations,
          module)


def refuse(t, name, code, text, entry, inputs=(), computations="", module="", options=None):
    header = [f"refuse: {code} {text}"] + ([f"options: {options}"] if options else [])
    t.add(name, header + [f"{key}: {value}" for key, value in inputs], entry, computations, module)


def each(key, *values):
    """Values of replicas 0, 1, ... of one partition."""
    return [(f"r{r}p0/{key}", value) for r, value in enumerate(values)]


def along(key, *values):
    """Values of partitions 0, 1, ... of one replica."""
    return [(f"r0p{p}/{key}", value) for p, value in enumerate(values)]


def examples(t):
    """Those of docs/spec/operations-collective.md and of the documents that it comes from."""
    two = each("arg0", "f32[2] {1, 2.5}", "f32[2] {3, 5.25}")
    x = "x = f32[2] parameter(0)\n"
    give(t, "example_all_gather", x + "ROOT r = f32[4] all-gather(x), dimensions={0}, replica_groups={{0,1}}",
         two, [("out0", "f32[4] {1, 2.5, 3, 5.25}")])
    give(t, "example_all_gather_listed_order",
         x + "ROOT r = f32[4] all-gather(x), dimensions={0}, replica_groups={{1,0}}", two,
         [("out0", "f32[4] {3, 5.25, 1, 2.5}")])
    give(t, "example_all_reduce", x + "ROOT r = f32[2] all-reduce(x), to_apply=sum, replica_groups={{0,1}}",
         two, [("out0", "f32[2] {4, 7.75}")], ADD)
    give(t, "example_reduce_scatter", "x = f32[2] parameter(0)\nROOT r = f32[1] reduce-scatter(x), dimensions={0}, to_apply=sum, "
         "replica_groups={{0,1}}", each("arg0", "f32[2] {1, 2.25}", "f32[2] {3, 5.25}"),
         each("out0", "f32[1] {4}", "f32[1] {7.5}"), ADD)
    give(t, "example_all_reduce_two_groups",
         "x = f32[] parameter(0)\nROOT r = f32[] all-reduce(x), to_apply=sum, "
         "replica_groups={{0,2},{1,3}}", each("arg0", "f32[] 1", "f32[] 10", "f32[] 100", "f32[] 1000"),
         each("out0", "f32[] 101", "f32[] 1010", "f32[] 101", "f32[] 1010"), ADD)
    members = each("arg0", "s32[2,4] {{0, 1, 2, 3}, {4, 5, 6, 7}}",
                   "s32[2,4] {{10, 11, 12, 13}, {14, 15, 16, 17}}")
    give(t, "example_all_to_all", "x = s32[2,4] parameter(0)\nROOT r = s32[2,4] all-to-all(x), dimensions={1}, replica_groups={{0,1}}",
         members, each("out0", "s32[2,4] {{0, 1, 10, 11}, {4, 5, 14, 15}}",
                       "s32[2,4] {{2, 3, 12, 13}, {6, 7, 16, 17}}"))
    # Split along dimension 1 and concatenated along 0, as the builder writes it.
    give(t, "example_all_to_all_split_concat", """
        x = s32[2,4] parameter(0)
        a = s32[2,4] all-to-all(x), dimensions={1}, replica_groups={{0,1}}
        b = s32[2,2,2] reshape(a)
        c = s32[2,2,2] transpose(b), dimensions={1,0,2}
        ROOT r = s32[4,2] reshape(c)""", members,
         each("out0", "s32[4,2] {{0, 1}, {4, 5}, {10, 11}, {14, 15}}",
              "s32[4,2] {{2, 3}, {6, 7}, {12, 13}, {16, 17}}"))
    meta = lambda *v: [f"s32[2] {{{a}, {b}}}" for a, b in v]
    keys = ["arg2", "arg3", "arg4", "arg5"]
    given = each("arg0", "s32[3] {1, 2, 2}", "s32[3] {3, 4, 0}") + [("arg1", "s32[4] {0, 0, 0, 0}")]
    for device, lists in (("r0p0", meta((0, 1), (1, 2), (0, 0), (1, 1))),
                          ("r1p0", meta((0, 1), (1, 1), (1, 2), (2, 1)))):
        given += [(f"{device}/{key}", value) for key, value in zip(keys, lists)]
    body = "x = s32[3] parameter(0)\no = s32[4] parameter(1)\n" + "".join(
        f"m{k} = s32[2] parameter({k})\n" for k in (2, 3, 4, 5)) + "ROOT r = s32[4] ragged-all-to-all(x, o, m2, m3, m4, m5), replica_groups={{0,1}}"
    give(t, "example_ragged_all_to_all", body, given,
         each("out0", "s32[4] {1, 3, 0, 0}", "s32[4] {2, 2, 4, 0}"))
    wrong = [(k, "s32[2] {1, 2}" if k == "r0p0/arg5" else v) for k, v in given]
    refuse(t, "ragged_all_to_all_c5", 5, "RaggedAllToAll-C5: recv_sizes[1] is 2, the sender sends 1", body,
           wrong)
    beyond = [(k, "s32[2] {0, 3}" if k == "r0p0/arg4" else v) for k, v in given]
    refuse(t, "ragged_all_to_all_c4", 5, "RaggedAllToAll-C4: 2 rows from offset 3, but the output has 4 rows",
           body, beyond)
    give(t, "example_collective_broadcast", "x = f32[] parameter(0)\nROOT r = f32[] collective-broadcast(x), replica_groups={{2,1}}",
         each("arg0", "f32[] 1", "f32[] 10", "f32[] 100", "f32[] 1000"),
         each("out0", "f32[] 0", "f32[] 100", "f32[] 100", "f32[] 0"),
         module=", replica_count=4")
    give(t, "example_collective_permute", "x = f32[] parameter(0)\nROOT r = f32[] collective-permute(x), source_target_pairs={{0,1},{1,2}}",
         each("arg0", "f32[] 1", "f32[] 2", "f32[] 3"), each("out0", "f32[] 0", "f32[] 1", "f32[] 2"))
    give(t, "example_flattened_groups", "x = s32[1] parameter(0)\nROOT r = s32[4] all-gather(x), dimensions={0}, channel_id=1, "
         "replica_groups={{0,1,4,5},{2,3,6,7}}, use_global_device_ids=true",
         [(f"r{r}p{p}/arg0", f"s32[1] {{{10 * r + p}}}") for r in range(2) for p in range(4)],
         [(f"r{r}p{p}/out0", "s32[4] {0, 1, 10, 11}" if p < 2 else "s32[4] {2, 3, 12, 13}") for r in range(2)
          for p in range(4)],
         module=", replica_count=2, num_partitions=4")


def sums(t):
    x = "x = f32[] parameter(0)\n"
    reduce = x + "ROOT r = f32[] all-reduce(x), to_apply=sum"
    give(t, "sum_is_exact", reduce,
         each("arg0", "f32[] 0x1p+100", "f32[] 1", "f32[] -0x1p+100", "f32[] 0x1p-24"),
         [("out0", "f32[] 0x1p+0")], ADD, ", replica_count=4")
    give(t, "sum_rounds_once", reduce, each("arg0", "f32[] 1", "f32[] 0x1p-24", "f32[] 0x1p-60"),
         [("out0", "f32[] 0x1.000002p+0")], ADD, ", replica_count=3")
    give(t, "sum_of_negative_zeros", reduce, [("arg0", "f32[] -0.0")], [("out0", "f32[] -0x0p+0")], ADD,
         ", replica_count=2")
    give(t, "sum_of_infinities", reduce, each("arg0", "f32[] inf", "f32[] -inf"), [("out0", "f32[] nan")],
         ADD, ", replica_count=2")
    give(t, "sum_overflows_between", reduce,
         each("arg0", "f32[] 0x1.8p+127", "f32[] 0x1.8p+127", "f32[] -0x1.8p+127"),
         [("out0", "f32[] 0x1.8p+127")], ADD, ", replica_count=3")
    bf16 = ADD.replace("f32", "bf16")
    give(t, "sum_of_bf16", "x = bf16[] parameter(0)\nROOT r = bf16[] all-reduce(x), to_apply=sum",
         each("arg0", "bf16[] 256", "bf16[] 1", "bf16[] 1"), [("out0", "bf16[] 258")], bf16,
         ", replica_count=3")
    # 256 + 1 + 2^-8 lies above the middle of 256 and 258 in bf16: through f32 as well.
    give(t, "sum_in_wider_type", "x = bf16[] parameter(0)\nROOT r = bf16[] all-reduce(x), to_apply=sum",
         each("arg0", "bf16[] 256", "bf16[] 1", "bf16[] 0x1p-8"), [("out0", "bf16[] 258")], ADD,
         ", replica_count=3")
    give(t, "sum_complex", "x = c64[] parameter(0)\nROOT r = c64[] all-reduce(x), to_apply=sum",
         each("arg0", "c64[] (0x1p+80, 1)", "c64[] (3, 2)", "c64[] (-0x1p+80, 4)"),
         [("out0", "c64[] (3, 7)")], ADD.replace("f32", "c64"), ", replica_count=3")
    give(t, "maximum_with_nan", reduce.replace("sum", "largest"),
         each("arg0", "f32[] 1", "f32[] nan", "f32[] 3"),
         [("out0", "f32[] nan")], MAX.replace("sum {", "largest {"), ", replica_count=3")
    give(t, "or_of_pred", "x = pred[2] parameter(0)\nROOT r = pred[2] all-reduce(x), to_apply=either",
         each("arg0", "pred[2] {true, false}", "pred[2] {false, false}"),
         [("out0", "pred[2] {true, false}")], """
        either {
        a = pred[] parameter(0)
        b = pred[] parameter(1)
        ROOT s = pred[] or(a, b)
        }""", ", replica_count=2")
    give(t, "uneven_groups", reduce + ", replica_groups={{0,1,2},{3}}",
         each("arg0", "f32[] 1", "f32[] 2", "f32[] 4", "f32[] 8"),
         each("out0", "f32[] 7", "f32[] 7", "f32[] 7", "f32[] 8"), ADD, ", replica_count=4")
    give(t, "several_operands", """
        x = f32[2] parameter(0)
        y = f32[] parameter(1)
        ROOT r = (f32[2], f32[]) all-reduce(x, y), to_apply=sum""",
         each("arg0", "f32[2] {1, 2}", "f32[2] {3, 4}") + each("arg1", "f32[] 5", "f32[] 6"),
         [("out0", "f32[2] {4, 6}"), ("out1", "f32[] 11")], ADD, ", replica_count=2")
    give(t, "all_reduce_pair", x + "s = f32[] all-reduce-start(x), to_apply=sum, replica_groups={{1,0}}\nROOT r = f32[] all-reduce-done(s)",
         each("arg0", "f32[] 1", "f32[] 2"), [("out0", "f32[] 3")], ADD)
    give(t, "all_gather_pair", """
        x = s8[1] parameter(0)
        y = s32[1] parameter(1)
        s = ((s8[1], s32[1]), (s8[2], s32[2])) all-gather-start(x, y), dimensions={0}, replica_groups={{1,0}}
        ROOT r = (s8[2], s32[2]) all-gather-done(s)""",
         each("arg0", "s8[1] {1}", "s8[1] {2}") + each("arg1", "s32[1] {3}", "s32[1] {4}"),
         [("out0", "s8[2] {2, 1}"), ("out1", "s32[2] {4, 3}")])
    give(t, "collective_permute_pair", """
        x = s8[1] parameter(0)
        s = (s8[1], s8[1], u32[], u32[]) collective-permute-start(x), source_target_pairs={{0,1}}, channel_id=1
        ROOT r = s8[1] collective-permute-done(s)""", along("arg0", "s8[1] {1}", "s8[1] {2}"),
         along("out0", "s8[1] {0}", "s8[1] {1}"))
    give(t, "async_reduce_scatter", """
        x = f32[2] parameter(0)
        s = ((f32[2]), f32[1]) async-start(x), calls=scatter
        ROOT r = f32[1] async-done(s)""", each("arg0", "f32[2] {1, 2}", "f32[2] {3, 4}"),
         each("out0", "f32[1] {4}", "f32[1] {6}"), ADD + """
        scatter {
        x = f32[2] parameter(0)
        ROOT s = f32[1] reduce-scatter(x), dimensions={0}, to_apply=sum, replica_groups={{0,1}}
        }""")


def counts(t):
    """How many devices: the header, the options, the ids, the shapes."""
    gather = "x = s32[1] parameter(0)\nROOT r = s32[{n}] all-gather(x), dimensions={{0}}{rest}"
    four = [f"s32[1] {{{i}}}" for i in range(4)]
    all_four = [("out0", "s32[4] {0, 1, 2, 3}")]
    give(t, "count_by_shape", gather.format(n=4, rest=""), each("arg0", *four), all_four,
         decision="device-counts")
    give(t, "count_by_ids",
         gather.format(n=2, rest=", channel_id=1, replica_groups={{0,2},{1,3}}, use_global_device_ids=true"),
         along("arg0", *four), along("out0", "s32[2] {0, 2}", "s32[2] {1, 3}", "s32[2] {0, 2}",
                                     "s32[2] {1, 3}"), decision="device-counts")
    give(t, "count_by_replica_ids", gather.format(n=4, rest=", replica_groups={{0,1,2,3}}"),
         each("arg0", *four), all_four)
    give(t, "count_by_shape_and_ids", gather.format(n=4, rest=", channel_id=1, replica_groups={{0,1}}"),
         [(f"r{r}p{p}/arg0", four[2 * r + p]) for r in range(2) for p in range(2)], all_four)
    give(t, "count_of_half_a_header",
         gather.format(n=4, rest=", channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true"),
         [(f"r{r}p{p}/arg0", four[2 * r + p]) for r in range(2) for p in range(2)], all_four,
         module=", replica_count=2")
    give(t, "count_by_options", "ROOT r = u32[] partition-id()", (),
         along("out0", "u32[] 0", "u32[] 1", "u32[] 2"), options="--partitions 3")
    refuse(t, "count_too_small", 3, "GRP-C4: id 2 in replica_groups, but cross_replica has 2 ids",
           "x = s32[1] parameter(0)\nROOT r = s32[1] all-gather(x), dimensions={0}, replica_groups={{0},{2}}",
           [("arg0", "s32[1] {1}")], options="--replicas 2")
    refuse(t, "count_too_large", 3, "GRP-C4: replica_groups lists 2 ids, cross_replica has 3",
           gather.format(n=2, rest=", replica_groups={{0,1}}"),
           [("arg0", "s32[1] {1}")], options="--replicas 3")
    refuse(t, "count_of_one", 3, "all-gather gives s32[1], the program says s32[4]",
           gather.format(n=4, rest=""), [("arg0", "s32[1] {1}")], options="--replicas 1")
    refuse(t, "count_beyond_limit", 5, "devices", "x = s32[1] parameter(0)\nROOT r = s32[1] collective-permute(x), source_target_pairs={{0,5000000}}",
           [("arg0", "s32[1] {1}")])
    refuse(t, "input_of_no_device", 5, "'r2p0/arg0' is of no device", "ROOT x = s32[] parameter(0)",
           [("r2p0/arg0", "s32[] 1")], options="--replicas 2")
    refuse(t, "input_given_twice", 5, "'arg0' is given for all devices, and as 'r0p0/arg0'",
           "ROOT x = s32[] parameter(0)",
           [("arg0", "s32[] 1"), ("r0p0/arg0", "s32[] 1")], options="--replicas 2")
    refuse(t, "input_missing_for_one", 5, "'arg0' is missing; the program wants s32[] (for r1p0)",
           "ROOT x = s32[] parameter(0)", [("r0p0/arg0", "s32[] 1")], options="--replicas 2")
    give(t, "ids", "r = u32[] replica-id()\np = u32[] partition-id()\nROOT t = (u32[], u32[]) tuple(r, p)",
         (),
         [(f"r{r}p{p}/out{k}", f"u32[] {v}") for r in range(2) for p in range(3)
          for k, v in ((0, r), (1, p))],
         module=", replica_count=2, num_partitions=3")
    give(t, "agreeing_outputs_stand_once", "ROOT r = s32[] constant(7)", (), [("out0", "s32[] 7")],
         module=", num_partitions=2", decision="device-outputs")
    give(t, "host_queues_of_each", """
        t = token[] after-all()
        i = (s32[], token[]) infeed(t)
        v = s32[] get-tuple-element(i), index=0
        u = token[] get-tuple-element(i), index=1
        o = token[] outfeed(v, u), outfeed_shape=s32[]
        c = (s32[], u32[], token[]) recv(u), channel_id=3, is_host_transfer=true
        d = (s32[], token[]) recv-done(c), channel_id=3, is_host_transfer=true
        w = s32[] get-tuple-element(d), index=0
        ROOT r = s32[] add(v, w)""",
         each("infeed0", "s32[] 1", "s32[] 2") + each("host_recv3/0", "s32[] 10", "s32[] 20"),
         each("out0", "s32[] 11", "s32[] 22") + each("outfeed0", "s32[] 1", "s32[] 2"),
         module=", replica_count=2")


def transfers(t):
    pairs = ', channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs="PAIRS"}'
    send = f"""
        x = s32[] parameter(0)
        t = token[] after-all()
        r = (s32[], u32[], token[]) recv(t){pairs}
        s = (s32[], u32[], token[]) send(x, t){pairs}
        rd = (s32[], token[]) recv-done(r), channel_id=1
        sd = token[] send-done(s), channel_id=1
        ROOT v = s32[] get-tuple-element(rd), index=0"""
    three = along("arg0", "s32[] 1", "s32[] 2", "s32[] 3")
    # The -done of a pair has no pairs of its own: it goes by its start's.
    give(t, "send_recv_shift", send.replace("PAIRS", "{{0,1},{1,2}}"), three,
         along("out0", "s32[] 0", "s32[] 1", "s32[] 2"))
    give(t, "send_recv_ring", send.replace("PAIRS", "{{0,1},{1,2},{2,0}}"), three,
         along("out0", "s32[] 3", "s32[] 1", "s32[] 2"))
    give(t, "send_recv_replicas", send.replace("PAIRS", "{{0,1}}"), each("arg0", "s32[] 1", "s32[] 2"),
         each("out0", "s32[] 0", "s32[] 1"), module=", replica_count=2", decision="transfer-ids")
    give(t, "send_recv_in_loop", f"""
        x = s32[] parameter(0)
        z = s32[] constant(0)
        i = (s32[], s32[]) tuple(z, x)
        w = (s32[], s32[]) while(i), condition=more, body=turn
        ROOT v = s32[] get-tuple-element(w), index=1""", three,
         along("out0", "s32[] 2", "s32[] 3", "s32[] 1"), f"""
        more {{
        p = (s32[], s32[]) parameter(0)
        n = s32[] get-tuple-element(p), index=0
        k = s32[] constant(2)
        ROOT c = pred[] compare(n, k), direction=LT
        }}

        turn {{
        p = (s32[], s32[]) parameter(0)
        n = s32[] get-tuple-element(p), index=0
        x = s32[] get-tuple-element(p), index=1
        one = s32[] constant(1)
        m = s32[] add(n, one)
        t = token[] after-all()
        r = (s32[], u32[], token[]) recv(t){pairs.replace("PAIRS", "{{0,1},{1,2},{2,0}}")}
        s = (s32[], u32[], token[]) send(x, t){pairs.replace("PAIRS", "{{0,1},{1,2},{2,0}}")}
        rd = (s32[], token[]) recv-done(r), channel_id=1
        sd = token[] send-done(s), channel_id=1
        v = s32[] get-tuple-element(rd), index=0
        ROOT q = (s32[], s32[]) tuple(m, v)
        }}""")
    only_recv = f"""
        t = token[] after-all()
        r = (s32[], u32[], token[]) recv(t){pairs.replace("PAIRS", "{{0,1}}")}
        rd = (s32[], token[]) recv-done(r), channel_id=1
        ROOT v = s32[] get-tuple-element(rd), index=0"""
    refuse(t, "recv_without_send", 5, "= recv-done' for r0p0, which has ended", only_recv)
    only_send = f"""
        x = s32[] parameter(0)
        t = token[] after-all()
        s = (s32[], u32[], token[]) send(x, t){pairs.replace("PAIRS", "{{0,1}}")}
        ROOT sd = token[] send-done(s), channel_id=1"""
    refuse(t, "send_without_recv", 5, "= send-done' for r0p1, which has ended", only_send,
           [("arg0", "s32[] 1")])
    give(t, "recv_behind_send_done", """
        x = s32[] parameter(0)
        t = token[] after-all()
        s = (s32[], u32[], token[]) send(x, t)PAIRS
        sd = token[] send-done(s), channel_id=1
        r = (s32[], u32[], token[]) recv(t)PAIRS
        rd = (s32[], token[]) recv-done(r), channel_id=1
        ROOT v = s32[] get-tuple-element(rd), index=0""".replace(
            "PAIRS", pairs.replace("PAIRS", "{{0,1},{1,0}}")),
         along("arg0", "s32[] 1", "s32[] 2"), along("out0", "s32[] 2", "s32[] 1"),
         decision="send-without-recv")
    # On one device, too: the recv waits for the send-done, which waits for the recv to begin.
    refuse(t, "send_done_before_recv_can_begin", 5, "wait for each other", """
        x = s32[] parameter(0)
        t = token[] after-all()
        s = (s32[], u32[], token[]) send(x, t), channel_id=1
        sd = token[] send-done(s), channel_id=1
        r = (s32[], u32[], token[]) recv(sd), channel_id=1
        rd = (s32[], token[]) recv-done(r), channel_id=1
        ROOT v = s32[] get-tuple-element(rd), index=0""", [("arg0", "s32[] 1")])
    refuse(t, "send_that_nobody_receives", 5,
           "deadlock: send-done waits for channel 1, on which nothing is received", """
        x = s32[] parameter(0)
        t = token[] after-all()
        s = (s32[], u32[], token[]) send(x, t), channel_id=1
        ROOT sd = token[] send-done(s), channel_id=1""", [("arg0", "s32[] 1")])
    refuse(t, "transfer_to_no_device", 3,
           "Send-C3: id 2 in the source-target pairs, but there are 2 partitions",
           send.replace("PAIRS", "{{0,2}}"), [("arg0", "s32[] 1")], module=", num_partitions=2")


def permutes(t):
    """Device 2, which no pair names, goes another way; device 3 has no source."""
    give(t, "permute_leaves_others_alone", """
        p = u32[] replica-id()
        two = u32[] constant(2)
        q = pred[] compare(p, two), direction=EQ
        x = f32[] parameter(0)
        ROOT r = f32[] conditional(q, x, x), true_computation=alone, false_computation=permutes""",
         each("arg0", "f32[] 1", "f32[] 2", "f32[] 4", "f32[] 8"),
         each("out0", "f32[] 8", "f32[] 1", "f32[] 4", "f32[] 0"), """
        alone {
        ROOT x = f32[] parameter(0)
        }

        permutes {
        x = f32[] parameter(0)
        ROOT y = f32[] collective-permute(x), source_target_pairs={{0,1},{3,0}}
        }""", decision="permute-members")


    # Each sends rows 1 and 2 of its input, clamped to the last two, to row 2 r of the other's output.
    give(t, "permute_in_place", """
        x = s32[3,2] parameter(0)
        y = s32[4,2] parameter(1)
        p = u32[] replica-id()
        r = s32[] convert(p)
        z = s32[] constant(0)
        five = s32[] constant(5)
        two = s32[] constant(2)
        at = s32[] multiply(r, two)
        i = (s32[], s32[]) tuple(five, z)
        o = (s32[], s32[]) tuple(at, z)
        ROOT q = s32[4,2] collective-permute(x, y, i, o), source_target_pairs={{0,1},{1,0}}, slice_sizes={{2,2}}""",
         each("arg0", "s32[3,2] {{1, 2}, {3, 4}, {5, 6}}", "s32[3,2] {{11, 12}, {13, 14}, {15, 16}}") +
         [("arg1", "s32[4,2] {{0, 0}, {0, 0}, {0, 0}, {0, 0}}")],
         each("out0", "s32[4,2] {{13, 14}, {15, 16}, {0, 0}, {0, 0}}",
              "s32[4,2] {{0, 0}, {0, 0}, {3, 4}, {5, 6}}"),
         module=", replica_count=2")
    give(t, "permute_in_place_two_slices", """
        x = s32[4] parameter(0)
        y = s32[4] parameter(1)
        a = s32[] constant(0)
        b = s32[] constant(1)
        c = s32[] constant(3)
        ia = (s32[]) tuple(a)
        ib = (s32[]) tuple(b)
        ic = (s32[]) tuple(c)
        i = ((s32[]), (s32[])) tuple(ia, ib)
        o = ((s32[]), (s32[])) tuple(ic, ia)
        ROOT q = s32[4] collective-permute(x, y, i, o), source_target_pairs={{0,2}}, slice_sizes={{1},{2}}""",
         each("arg0", "s32[4] {1, 2, 3, 4}", "s32[4] {5, 6, 7, 8}", "s32[4] {0, 0, 0, 0}")
         + [("arg1", "s32[4] {-1, -2, -3, -4}")],
         each("out0", "s32[4] {-1, -2, -3, -4}", "s32[4] {-1, -2, -3, -4}", "s32[4] {2, 3, -3, 1}"))


def deadlocks(t):
    """The instructions' names are left out of what is expected: another form of the program has others."""
    reduce = "{x} = f32[] parameter(0)\nROOT {r} = f32[] all-reduce({x}), to_apply=sum\n"
    branch = """
        p = u32[] replica-id()
        z = u32[] constant(0)
        q = pred[] compare(p, z), direction=EQ
        x = f32[] constant(1)
        ROOT r = f32[] conditional(q, x, x), true_computation=one, false_computation=two"""
    one = ADD + "\none {\n" + reduce.format(x="a", r="left") + "}\n\n"
    refuse(t, "deadlock_other_branch", 5,
           "= all-reduce' for r1p0; r1p0 waits at '%", branch,
           computations=one + "two {\n" + reduce.format(x="b", r="right") + "}", module=", replica_count=2")
    refuse(t, "deadlock_one_ends", 5, "= all-reduce' for r1p0, r2p0, which have ended", branch,
           computations=one + "two {\nROOT b = f32[] parameter(0)\n}", module=", replica_count=3")
    loop = """
        more {
        p = (u32[], f32[]) parameter(0)
        n = u32[] get-tuple-element(p), index=0
        r = u32[] replica-id()
        k = u32[] constant(2)
        l = u32[] add(r, k)
        ROOT c = pred[] compare(n, l), direction=LT
        }

        turn {
        p = (u32[], f32[]) parameter(0)
        n = u32[] get-tuple-element(p), index=0
        x = f32[] get-tuple-element(p), index=1
        i = u32[] constant(1)
        m = u32[] add(n, i)
        y = f32[] all-reduce(x), to_apply=sum
        ROOT q = (u32[], f32[]) tuple(m, y)
        }"""
    refuse(t, "deadlock_loop_ends_earlier", 5, "= all-reduce' (execution ", """
        z = u32[] constant(0)
        x = f32[] constant(1)
        s = (u32[], f32[]) tuple(z, x)
        w = (u32[], f32[]) while(s), condition=more, body=turn
        ROOT v = f32[] get-tuple-element(w), index=1""", computations=ADD + loop, module=", replica_count=2")
    refuse(t, "error_of_one_ends_all", 5, "(on r1p0)", """
        p = u32[] replica-id()
        z = u32[] constant(0)
        q = pred[] compare(p, z), direction=EQ
        x = f32[] constant(1)
        c = f32[] conditional(q, x, x), true_computation=fine, false_computation=feeds
        ROOT r = f32[] all-reduce(c), to_apply=sum""", computations=ADD + """
        fine {
        ROOT x = f32[] parameter(0)
        }

        feeds {
        x = f32[] parameter(0)
        t = token[] after-all()
        i = (f32[], token[]) infeed(t)
        ROOT v = f32[] get-tuple-element(i), index=0
        }""", module=", replica_count=2")
    # The same function from two places is one instruction: its executions are counted together.
    give(t, "meets_by_instruction", branch, (), [("out0", "f32[] 2")],
         ADD + "\nshared {\n" + reduce.format(x="a", r="y") + """}

        one {
        a = f32[] parameter(0)
        ROOT c = f32[] call(a), to_apply=shared
        }

        two {
        b = f32[] parameter(0)
        ROOT d = f32[] call(b), to_apply=shared
        }""", ", replica_count=2", decision="collectives-by-instruction")


def everything(t):
    examples(t)
    sums(t)
    counts(t)
    transfers(t)
    permutes(t)
    deadlocks(t)
