"""golden/quantized: moves of storage, regions, control flow."""
import itertools

import elementwise_math as em
from float_bits import BY_NAME, fin, signed
from quantized_base import Array, Quantized, key, plus, quantized, reals, rounded, times

T = Quantized("s8", scales=0.5, zeros=3)
PRED, S32 = BY_NAME["pred"], BY_NAME["s32"]


def numbered(type, shape, start=-20, step=7):
    size = len(list(itertools.product(*map(range, shape))))
    return Array(type, shape, [start + step * i for i in range(size)])


def case(table, name, operands, result, op, decision=None, options=None):
    """op: the operation with its attributes, without types."""
    results = result if isinstance(result, list) else [result]
    types = ", ".join(r.tensor() for r in results)
    gives = types if len(results) == 1 else f"({types})"
    several = f":{len(results)}" if len(results) > 1 else ""
    names = ", ".join(["%0"] if len(results) == 1 else [f"%0#{i}" for i in range(len(results))])
    table.gives(name, operands, results, f"""
%0{several} = {op} : ({", ".join(o.tensor() for o in operands)}) -> {gives}
return {names} : {types}""", "hand", decision, options=options)


def moves(table):
    x = numbered(T, [2, 3])
    index = Array(S32, [], [1])
    case(table, "reverse", [x], Array(T, [2, 3], x.data[::-1]), "stablehlo.reverse %a, dims = [0, 1]")
    case(table, "slice", [x], Array(T, [2, 2], [x.data[i] for i in (0, 2, 3, 5)]),
         "stablehlo.slice %a [0:2, 0:3:2]")
    case(table, "dynamic_slice", [x, index, index], Array(T, [1, 2], x.data[4:6]),
         "stablehlo.dynamic_slice %a, %b, %c, sizes = [1, 2]")
    case(table, "dynamic_update_slice", [x, numbered(T, [1, 2], 90, 1), index, index],
         Array(T, [2, 3], x.data[:4] + [90, 91]), "stablehlo.dynamic_update_slice %a, %b, %c, %d")
    case(table, "concatenate", [x, numbered(T, [1, 3], 90, 1)], Array(T, [3, 3], x.data + [90, 91, 92]),
         "stablehlo.concatenate %a, %b, dim = 0")
    case(table, "pad", [numbered(T, [2]), Array(T, [], [77])], Array(T, [5], [77, -20, 77, -13, 77]),
         "stablehlo.pad %a, %b, low = [1], high = [1], interior = [1]")
    case(table, "broadcast", [numbered(T, [2])], Array(T, [2, 2], [-20, -13] * 2),
         "stablehlo.broadcast %a, sizes = [2]")
    case(table, "gather", [x, Array(S32, [2], [1, 0])], Array(T, [2, 3], x.data[3:] + x.data[:3]), """"stablehlo.gather"(%a, %b) {
  dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
  slice_sizes = array<i64: 1, 3>, indices_are_sorted = false}""")
    case(table, "barrier", [x], x, "stablehlo.optimization_barrier %a")
    case(table, "reshape", [x], Array(T, [3, 2], x.data), "stablehlo.reshape %a")
    case(table, "transpose", [x], Array(T, [3, 2], [x.at((j, i)) for i in range(3) for j in range(2)]),
         "stablehlo.transpose %a, dims = [1, 0]")
    case(table, "broadcast_in_dim", [numbered(T, [2])], Array(T, [2, 2], [-20, -20, -13, -13]),
         "stablehlo.broadcast_in_dim %a, dims = [0]")
    a0 = Quantized("s8", scales=[0.5, 2.0], zeros=[1, -1], axis=0)
    a1 = Quantized("s8", scales=[0.5, 2.0], zeros=[1, -1], axis=1)
    y = numbered(a0, [2, 3])
    case(table, "transpose_per_axis", [y],
         Array(a1, [3, 2], [y.at((j, i)) for i in range(3) for j in range(2)]),
         "stablehlo.transpose %a, dims = [1, 0]")
    case(table, "reshape_per_axis", [y], Array(a1, [1, 2, 3], y.data), "stablehlo.reshape %a")
    case(table, "broadcast_per_axis", [numbered(a0, [2])], Array(a1, [3, 2], [-20, -13] * 3),
         "stablehlo.broadcast_in_dim %a, dims = [1]")
    one = Quantized("s8", scales=[0.5], zeros=[1], axis=0)
    same = Quantized("s8", scales=[0.5] * 3, zeros=[1] * 3, axis=0)
    case(table, "broadcast_one_pair", [Array(one, [1], [9])], Array(same, [3], [9] * 3),
         "stablehlo.broadcast_in_dim %a, dims = [0]")
    other = Quantized("s8", scales=[0.25, 3.0], zeros=[9, 9], axis=1)
    case(table, "broadcast_other_pairs", [numbered(a0, [2])], Array(other, [3, 2], [-20, -13] * 3),
         "stablehlo.broadcast_in_dim %a, dims = [1]")
    table.gives("iota", [], [quantized(T, [70], [fin(i) for i in range(70)])], f"""
%0 = stablehlo.iota dim = 0 : tensor<70x{T.text()}>
return %0 : tensor<70x{T.text()}>""")
    u, w = Quantized("u8", scales=0.25), Quantized("s16", scales=0.5, zeros=3)
    case(table, "bitcast_to_other", [numbered(T, [3])], Array(u, [3], [236, 243, 250]),
         "stablehlo.bitcast_convert %a")
    case(table, "bitcast_to_integers", [numbered(T, [3])], Array(BY_NAME["s8"], [3], [-20, -13, -6]),
         "stablehlo.bitcast_convert %a")
    case(table, "bitcast_to_wider", [Array(T, [2, 2], [1, 2, -1, -2])], Array(w, [2], [513, -257]),
         "stablehlo.bitcast_convert %a")
    # One process that nobody sends to has the real 0, whose storage is the zero point.
    alone = "{source_target_pairs = dense<> : tensor<0x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>}"
    case(table, "permute_nothing", [x], Array(T, [2, 3], [3] * 6),
         f'"stablehlo.collective_permute"(%a) {alone}')
    itself = alone.replace("dense<> : tensor<0x2xi64>", "dense<0> : tensor<1x2xi64>")
    case(table, "permute_itself", [x], x, f'"stablehlo.collective_permute"(%a) {itself}')
    high = Quantized("u8", scales=0.5, zeros=200)
    z = Array(high, [2], [0, 255])
    case(table, "permute_nothing_unsigned", [z], Array(high, [2], [200, 200]),
         f'"stablehlo.collective_permute"(%a) {alone}')
    case(table, "permute_itself_unsigned", [z], z, f'"stablehlo.collective_permute"(%a) {itself}')
    groups = "replica_groups = dense<0> : tensor<1x1xi64>"
    case(table, "all_gather", [x], x, f'"stablehlo.all_gather"(%a) {{all_gather_dim = 0 : i64, {groups}}}')
    case(table, "all_to_all", [x], x,
         f'"stablehlo.all_to_all"(%a) {{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64, {groups}}}')
    case(table, "collective_broadcast", [x], x, f'"stablehlo.collective_broadcast"(%a) {{{groups}}}')
    table.gives("get_dimension_size", [x], [Array(S32, [], [3])], f"""
%0 = stablehlo.get_dimension_size %a, dim = 1 : ({x.tensor()}) -> tensor<i32>
return %0 : tensor<i32>""", "hand")


def step(type, f, a, b):
    """One operation of a region: it quantizes and saturates."""
    return type.quantize(rounded(type.expressed, f(type.real(a), type.real(b))))


def folded(type, f, init, values):
    for value in values:
        init = step(type, f, init, value)
    return init


def region(type, op):
    scalar = Array(type, [], [0]).tensor()
    return f"""({{
  ^bb0(%x: {scalar}, %y: {scalar}):
    %s = stablehlo.{op} %x, %y : {scalar}
    stablehlo.return %s : {scalar}
}})"""


def reductions(table):
    t = Quantized("s8", scales=0.25, zeros=-3)
    x = numbered(t, [3, 6], -128, 15)
    for op, f in (("add", plus), ("multiply", times), ("maximum", em.f_maximum)):
        init = Array(t, [], [1])
        y = Array(t, [3], [folded(t, f, 1, [x.at((i, j)) for j in range(6)]) for i in range(3)])
        table.gives(f"reduce_{op}", [x, init], [y], f"""
%0 = stablehlo.reduce(%a init: %b) applies stablehlo.{op} across dimensions = [1] : ({x.tensor()}, {init.tensor()}) -> {y.tensor()}
return %0 : {y.tensor()}""")
    # i8 into i32: inputs become i32 first, then nothing saturates.
    wide = Quantized("s32", scales=0.03125)
    init = Array(t, [], [1])

    def widened(q):
        return wide.quantize(t.real(q))
    y = Array(wide, [3],
              [folded(wide, plus, widened(1), [widened(x.at((i, j))) for j in range(6)]) for i in range(3)])
    table.gives("reduce_promotes", [x, init], [y], f"""
%0 = "stablehlo.reduce"(%a, %b) {region(wide, "add")} {{dimensions = array<i64: 1>}} : ({x.tensor()}, {init.tensor()}) -> {y.tensor()}
return %0 : {y.tensor()}""")
    coarse = Quantized("s8", scales=2.0, zeros=5)
    row = numbered(t, [6], -100, 33)
    window = [[row.data[j] for j in (i - 1, i, i + 1) if 0 <= j < 6] for i in range(0, 6, 2)]
    y = Array(coarse, [3],
              [folded(coarse, plus, coarse.quantize(t.real(1)), [coarse.quantize(t.real(q)) for q in w])
                            for w in window])
    table.gives("reduce_window_promotes", [row, init], [y], f"""
%0 = "stablehlo.reduce_window"(%a, %b) {region(coarse, "add")} {{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>,
  padding = dense<[[1, 0]]> : tensor<1x2xi64>}} : ({row.tensor()}, {init.tensor()}) -> {y.tensor()}
return %0 : {y.tensor()}""")
    indices, updates = Array(S32, [3], [1, 4, 1]), numbered(t, [3], 50, 20)
    after = list(row.data)
    for i, u in zip(indices.data, updates.data):
        after[i] = step(t, plus, after[i], u)
    table.gives("scatter", [row, indices, updates], [Array(t, [6], after)], f"""
%0 = "stablehlo.scatter"(%a, %b, %c) {region(t, "add")} {{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
  scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}} : ({row.tensor()}, {indices.tensor()}, {updates.tensor()}) -> {row.tensor()}
return %0 : {row.tensor()}""")
    # Each source goes to the largest of its window of 3, by what the storages mean;
    # the rest is the initial value.
    source = numbered(t, [2], 40, 30)
    y = [-7] * 6
    for i, s in enumerate(source.data):
        best = max(range(3 * i, 3 * i + 3), key=lambda j: signed(t.real(row.data[j])))
        y[best] = step(t, plus, y[best], s)
    scalar = Array(t, [], [-7])
    table.gives("select_and_scatter", [row, source, scalar], [Array(t, [6], y)], f"""
%0 = "stablehlo.select_and_scatter"(%a, %b, %c) ({{
  ^bb0(%x: {scalar.tensor()}, %y: {scalar.tensor()}):
    %s = stablehlo.compare GE, %x, %y : ({scalar.tensor()}, {scalar.tensor()}) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
}}, {region(t, "add")[1:]} {{window_dimensions = array<i64: 3>, window_strides = array<i64: 3>}}
  : ({row.tensor()}, {source.tensor()}, {scalar.tensor()}) -> {row.tensor()}
return %0 : {row.tensor()}""")
    order = sorted(range(6), key=lambda i: (signed(t.real(row.data[::-1][i]))))
    backward = Array(t, [6], row.data[::-1])
    table.gives("sort", [backward], [Array(t, [6], [backward.data[i] for i in order])], f"""
%0 = "stablehlo.sort"(%a) ({{
  ^bb0(%x: {scalar.tensor()}, %y: {scalar.tensor()}):
    %s = stablehlo.compare LT, %x, %y : ({scalar.tensor()}, {scalar.tensor()}) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
}}) {{dimension = 0 : i64, is_stable = true}} : ({row.tensor()}) -> {row.tensor()}
return %0 : {row.tensor()}""")
    y = Array(t, [6], [step(t, plus, q, q) for q in row.data])
    table.gives("map", [row], [y], f"""
%0 = "stablehlo.map"(%a) ({{
  ^bb0(%x: {scalar.tensor()}):
    %s = stablehlo.add %x, %x : {scalar.tensor()}
    stablehlo.return %s : {scalar.tensor()}
}}) {{dimensions = array<i64: 0>}} : ({row.tensor()}) -> {row.tensor()}
return %0 : {row.tensor()}""")
    groups = "replica_groups = dense<0> : tensor<1x1xi64>"
    y = Array(wide, [6], [wide.quantize(t.real(q)) for q in row.data])
    table.gives("all_reduce_promotes", [row], [y], f"""
%0 = "stablehlo.all_reduce"(%a) {region(wide, "add")} {{{groups}}} : ({row.tensor()}) -> {y.tensor()}
return %0 : {y.tensor()}""", "rational")
    table.gives("reduce_scatter", [row], [row], f"""
%0 = "stablehlo.reduce_scatter"(%a) {region(t, "add")} {{scatter_dimension = 0 : i64, {groups}}} : ({row.tensor()}) -> {row.tensor()}
return %0 : {row.tensor()}""", "hand")


def control(table):
    p, x, y = Array(PRED, [], [1]), numbered(T, [2]), numbered(T, [2], 50, 5)
    t = x.tensor()
    table.gives("if", [p, x, y], [x], f"""
%0 = "stablehlo.if"(%a) ({{ stablehlo.return %b : {t} }}, {{ stablehlo.return %c : {t} }}) : (tensor<i1>) -> {t}
return %0 : {t}""", "hand")
    table.gives("case", [Array(S32, [], [1]), x, y], [y], f"""
%0 = "stablehlo.case"(%a) ({{ stablehlo.return %b : {t} }}, {{ stablehlo.return %c : {t} }}) : (tensor<i32>) -> {t}
return %0 : {t}""", "hand")
    z = list(x.data)
    for _ in range(3):
        z = [step(T, plus, a, b) for a, b in zip(z, y.data)]
    table.gives("while", [x, y], [Array(T, [2], z)], f"""
%zero = stablehlo.constant dense<0> : tensor<i32>
%r:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i32>, {t}
 cond {{
  %three = stablehlo.constant dense<3> : tensor<i32>
  %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %p : tensor<i1>
 }} do {{
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.add %i, %one : tensor<i32>
  %w = stablehlo.add %v, %b : {t}
  stablehlo.return %n, %w : tensor<i32>, {t}
 }}
return %r#1 : {t}""", "rational")
    twice = f"func.func private @twice(%x: {t}) -> {t} {{\n  %0 = stablehlo.add %x, %x : {t}\n  return %0 : {t}\n}}\n"
    z = [step(T, plus, a, a) for a in x.data]
    table.gives("call", [x], [Array(T, [2], z)], f"%0 = call @twice(%a) : ({t}) -> {t}\nreturn %0 : {t}",
                before=twice)
    table.gives("composite", [x], [Array(T, [2], z)], f"""
%0 = stablehlo.composite "my.twice" %a {{decomposition = @twice}} : ({t}) -> {t}
return %0 : {t}""", before=twice)
    table.gives("tuple", [x, y], [y], f"""
%0 = stablehlo.tuple %a, %b : tuple<{t}, {t}>
%1 = stablehlo.get_tuple_element %0[1] : (tuple<{t}, {t}>) -> {t}
return %1 : {t}""", "hand")
    table.gives("custom_call_identity", [x], [x], f"""
%0 = stablehlo.custom_call @Sharding(%a) : ({t}) -> {t}
return %0 : {t}""", "hand")
    table.gives("check", [x], [x], f"""
check.expect_eq_const %a, dense<[-20, -13]> : {t}
check.expect_eq %a, %a : {t}
return %a : {t}""", "hand")
    # What is captured keeps its parameters in a branch.
    z = [step(T, plus, a, b) for a, b in zip(x.data, y.data)]
    table.gives("branch_computes", [p, x, y], [Array(T, [2], z)], f"""
%0 = "stablehlo.if"(%a) ({{
  %s = stablehlo.add %b, %c : {t}
  stablehlo.return %s : {t} }}, {{ stablehlo.return %c : {t} }}) : (tensor<i1>) -> {t}
return %0 : {t}""", "rational")


def dynamic(table):
    """Sizes known at run time alone: those of scales and zero points follow."""
    x, n, t = numbered(T, [2]), Array(S32, [], [1]), f"tensor<2x{T.text()}>"
    bounded = f"tensor<?x{T.text()}, #stablehlo.bounds<2>>"
    product = Array(T, [1], [step(T, times, -20, -20)])
    table.gives("bounded", [x, n], [product], f"""
%0 = stablehlo.set_dimension_size %a, %b, dim = 0 : ({t}, tensor<i32>) -> {bounded}
%1 = stablehlo.multiply %0, %0 : {bounded}
return %1 : {bounded}""")
    table.files["bounded"] = table.files["bounded"].replace(f"-> (tensor<1x{T.text()}>)", f"-> ({bounded})")
    shape = Array(BY_NAME["s64"], [2], [2, 3])
    y = numbered(T, [6])
    case(table, "dynamic_reshape", [y, shape], Array(T, [2, 3], y.data), "stablehlo.dynamic_reshape %a, %b")
    case(table, "dynamic_broadcast_in_dim", [x, Array(BY_NAME["s64"], [2], [2, 2])],
         Array(T, [2, 2], [-20, -20, -13, -13]), "stablehlo.dynamic_broadcast_in_dim %a, %b, dims = [0]")
    case(table, "dynamic_iota", [Array(BY_NAME["s64"], [1], [4])],
         quantized(T, [4], [fin(i) for i in range(4)]), "stablehlo.dynamic_iota %a, dim = 0")


def streams(table):
    x, y = numbered(T, [2]), numbered(T, [2], 50, 5)
    t, token = x.tensor(), "!stablehlo.token"
    table.gives("streams", [x], [y, x], f"""
%t = stablehlo.create_token : {token}
%i:2 = "stablehlo.infeed"(%t) {{infeed_config = "", layout = []}} : ({token}) -> ({t}, {token})
%o = "stablehlo.outfeed"(%a, %i#1) {{outfeed_config = ""}} : ({t}, {token}) -> {token}
%s = "stablehlo.send"(%a, %o) {{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false}}
  : ({t}, {token}) -> {token}
%r:2 = "stablehlo.recv"(%o) {{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false}}
  : ({token}) -> ({t}, {token})
return %i#0, %r#0 : {t}, {t}""", "hand")
    streams = f"// infeed0.0: {y.literal()}\n// outfeed0.0: {x.literal()}\n"
    table.files["streams"] = table.files["streams"].replace("// out0", streams + "// out0", 1)


def add(table):
    for part in (moves, reductions, control, dynamic, streams):
        part(table)
