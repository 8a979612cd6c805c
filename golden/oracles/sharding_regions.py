"""golden/sharding: manual regions, and what a program is on several devices. Worked by hand: X is 0, 1, 2,
... in 4 rows of 4, and the devices of the mesh <["r"=2, "c"=2]> are 0 to 3, with (r, c) = (0, 0), (0, 1),
(1, 0), (1, 1). jaxlib 0.10.2 gives the same, but for region_free_axis, which it refuses, and
region_leaves_exact_sum, where it rounds at each step.

gives(name, rules, program, results) and refuses(name, rules, code, text, program): in `program` stands all
behind the header.
"""
MESH = '  sdy.mesh @m = <["r"=2, "c"=2]>\n'
X = [[4 * i + j for j in range(4)] for i in range(4)]
X_TEXT = "s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}"
GOLDENS = {}


def literal(rows):
    return f"s32[{len(rows)},{len(rows[0])}] {{" + ", ".join(
        "{" + ", ".join(map(str, row)) + "}" for row in rows) + "}"


def add(name, rules, header, program, ending="mlir"):
    lines = [header[0], f"rule: {', '.join(rules)}", *header[1:]]
    GOLDENS[name, ending] = "".join(f"// {line}\n" for line in lines) + program.strip("\n") + "\n"


def gives(name, rules, program, results, inputs=("arg0: " + X_TEXT,), ending="mlir"):
    outputs = [results] if isinstance(results, str) else results
    outputs = [line if ": " in line else f"out{i}: {line}" for i, line in enumerate(outputs)]
    add(name, rules, ["oracle: hand", *inputs, *outputs], program, ending)


def refuses(name, rules, code, text, program, inputs=(), ending="mlir"):
    add("refuse_" + name, rules, [f"refuse: {code} {text}", *inputs], program, ending)


def module(body, mesh=MESH, partitions=4):
    said = f" attributes {{mhlo.num_partitions = {partitions} : i32, mhlo.num_replicas = 1 : i32}}"
    said = said if partitions else ""
    return f"module @region{said} {{\n{mesh}{body}\n}}"


def main_of(body, result="tensor<4x4xi32>", argument="tensor<4x4xi32>"):
    return f"  func.func public @main(%x: {argument}) -> {result} {{\n{body.strip(chr(10))}\n  }}"


def region(entering, leaving, axes, local, body, result="tensor<4x4xi32>", argument="tensor<4x4xi32>",
           mesh=MESH, partitions=4):
    """One region over %x: `body` is on %y of type `local`."""
    text = f"""    %0 = sdy.manual_computation(%x) in_shardings=[{entering}] out_shardings=[{leaving}] manual_axes={axes} (%y: {local}) {{
{body.strip(chr(10))}
    }} : ({argument}) -> {result}
    return %0 : {result}"""
    return module(main_of(text, result, argument), mesh, partitions)


def plus_id(local, operand="%y"):
    """What is added shows which device held a chunk: 100 * partition_id."""
    return f"""      %p = stablehlo.partition_id : tensor<ui32>
      %i = stablehlo.convert %p : (tensor<ui32>) -> tensor<i32>
      %hundred = stablehlo.constant dense<100> : tensor<i32>
      %k = stablehlo.multiply %i, %hundred : tensor<i32>
      %kb = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<i32>) -> {local}
      %z = stablehlo.add {operand}, %kb : {local}
      sdy.return %z : {local}"""


def held(device_of):
    """X, each element plus 100 times the device that holds it."""
    return literal([[X[i][j] + 100 * device_of(i, j) for j in range(4)] for i in range(4)])


def chunks():
    tile = "tensor<2x2xi32>"
    both = '<@m, [{"r"}, {"c"}]>'
    gives("region_tiles", ["SDY-7", "SDY-9", "SDY-14", "SDY-16", "SDY-19"],
          region(both, both, '{"r", "c"}', tile, plus_id(tile)), held(lambda i, j: i // 2 * 2 + j // 2))
    # The mesh stands behind its use, and names an order of devices that is the usual one;
    # manual axes are a set.
    gives("region_axes_are_a_set", ["SDY-V2", "SDY-V3", "SDY-V12"],
          module(main_of(f"""
    %0 = sdy.manual_computation(%x) in_shardings=[{both}] out_shardings=[{both}] manual_axes={{"c", "r", "c"}} (%y: {tile}) {{
{plus_id(tile)}
    }} : (tensor<4x4xi32>) -> tensor<4x4xi32>
    return %0 : tensor<4x4xi32>""") + '\n  sdy.mesh @m = <["r"=2, "c"=2], device_ids=[0, 1, 2, 3]>', mesh=""),
          held(lambda i, j: i // 2 * 2 + j // 2))
    # Position 0 is partition 3, ...
    gives("region_device_ids", ["SDY-7", "SDY-19"],
          region(both, both, '{"r", "c"}', tile, plus_id(tile),
                 mesh='  sdy.mesh @m = <["r"=2, "c"=2], device_ids=[3, 1, 2, 0]>\n'),
          held(lambda i, j: [3, 1, 2, 0][i // 2 * 2 + j // 2]))
    # Row t = 2 c + r of device 2 r + c.
    rows = '<@m, [{"c", "r"}, {}]>'
    gives("region_axes_in_order", ["SDY-9", "SDY-14"],
          region(rows, rows, '{"r", "c"}', "tensor<1x4xi32>", plus_id("tensor<1x4xi32>")),
          held(lambda i, j: [0, 2, 1, 3][i]))
    # Rows by the minor half of the axis, device mod 2, columns by the major one, device div 2.
    parts = '<@a, [{"a":(2)2}, {"a":(1)2}]>'
    gives("region_parts_of_axis", ["SDY-8"],
          region(parts, parts, '{"a"}', tile, plus_id(tile), mesh='  sdy.mesh @a = <["a"=4]>\n'),
          held(lambda i, j: j // 2 * 2 + i // 2))
    # "c" is free: it splits nothing. "r" alone is manual, and what is given out is that of device 0,
    # or of r = 1 and c = 0.
    free = '<@m, [{"r", "c"}, {?}]>'
    half = "tensor<2x4xi32>"
    gives("region_free_axis", ["SDY-10", "SDY-11", "SDY-19"],
          region(free, free, '{"r"}', half, plus_id(half)), held(lambda i, j: i // 2 * 2))
    # An outer region over the rows, an inner one over the columns of its rows.
    inner = f"""      %1 = sdy.manual_computation(%y) in_shardings=[<@m, [{{}}, {{"c"}}]>] out_shardings=[<@m, [{{}}, {{"c"}}]>] manual_axes={{"c"}} (%w: {tile}) {{
{plus_id(tile, "%w")}
      }} : ({half}) -> {half}
      sdy.return %1 : {half}"""
    gives("region_nested", ["SDY-10", "SDY-18"],
          region('<@m, [{"r", ?}, {?}]>', '<@m, [{"r", ?}, {?}]>', '{"r"}', half, inner),
          held(lambda i, j: i // 2 * 2 + j // 2))
    # The same function on a chunk, and on a value of the same type outside.
    call = module(f"""  func.func private @negated(%y: {tile}) -> {tile} {{
    %0 = stablehlo.negate %y : {tile}
    return %0 : {tile}
  }}
""" + main_of(f"""
    %0 = sdy.manual_computation(%x) in_shardings=[{both}] out_shardings=[{both}] manual_axes={{"r", "c"}} (%y: {tile}) {{
      %1 = func.call @negated(%y) : ({tile}) -> {tile}
      sdy.return %1 : {tile}
    }} : (tensor<4x4xi32>) -> tensor<4x4xi32>
    %corner = stablehlo.slice %x [2:4, 2:4] : (tensor<4x4xi32>) -> {tile}
    %2 = func.call @negated(%corner) : ({tile}) -> {tile}
    return %0, %2 : tensor<4x4xi32>, {tile}""", f"(tensor<4x4xi32>, {tile})"))
    gives("region_calls_function", ["SDY-12"], call,
          [literal([[-v for v in row] for row in X]), "s32[2,2] {{-10, -11}, {-14, -15}}"])


def unreduced():
    # Of the two devices along "c" one has the rows and one zeros; each adds 1, and both are summed.
    rows, half = '<@m, [{"r"}, {}], unreduced={"c"}>', "tensor<2x4xi32>"
    one = f"""      %one = stablehlo.constant dense<1> : {half}
      %z = stablehlo.add %y, %one : {half}
      sdy.return %z : {half}"""
    gives("region_enters_unreduced", ["SDY-15", "SDY-17"], region(rows, rows, '{"r", "c"}', half, one),
          literal([[v + 2 for v in row] for row in X]))
    # 1e8 + 1 - 1e8 + 1 is 2; added one by one in f32 it is 1.
    ring = '  sdy.mesh @ring = <["i"=4]>\n'
    four, element = "tensor<4xf32>", "tensor<1xf32>"
    gives("region_leaves_exact_sum", ["SDY-17"],
          region('<@ring, [{"i"}]>', '<@ring, [{}], unreduced={"i"}>', '{"i"}', element,
                 f"      sdy.return %y : {element}",
                 result=element, argument=four, mesh=ring), "f32[1] {2}", ["arg0: f32[4] {1e8, 1, -1e8, 1}"])
    largest = '<@ring, [{}], unreduced=max{"i"}>'
    refuses("region_leaves_maximum", ["SDY-17"], 4, "SDY-17: values that are unreduced by maximum or minimum",
            region('<@ring, [{"i"}]>', largest, '{"i"}', element, f"      sdy.return %y : {element}",
                   result=element, argument=four, mesh=ring), ["arg0: f32[4] {1, 2, 3, 4}"])
    flags, flag = "tensor<4xi1>", "tensor<1xi1>"
    refuses("region_leaves_sum_of_pred", ["SDY-17"], 4, "SDY-17: pred values that are unreduced",
            region('<@ring, [{"i"}]>', '<@ring, [{}], unreduced={"i"}>', '{"i"}', flag,
                   f"      sdy.return %y : {flag}", result=flag,
                   argument=flags, mesh=ring), ["arg0: pred[4] {true, false, false, true}"])


HANDLE = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
SUM = """({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
      })"""


def collectives():
    # Both have handle 1: the sum over "r", then the columns of both c.
    body = f"""      %1 = "stablehlo.all_reduce"(%y) <{{{HANDLE}, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}}> {SUM} : (tensor<2x2xi32>) -> tensor<2x2xi32>
      %2 = "stablehlo.all_gather"(%1) <{{all_gather_dim = 1 : i64, {HANDLE}, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}}> : (tensor<2x2xi32>) -> tensor<2x4xi32>
      sdy.return %2 : tensor<2x4xi32>"""
    gives("region_one_handle_for_all", ["SDY-20", "SDY-21"],
          region('<@m, [{"r"}, {"c"}]>', '<@m, [{}, {}]>', '{"r", "c"}', "tensor<2x2xi32>", body,
                 result="tensor<2x4xi32>"),
          "s32[2,4] {{8, 10, 12, 14}, {16, 18, 20, 22}}")
    # What JAX makes of a region over axes of size 1: groups of one, pairs to themselves, no pairs.
    gives("groups_of_one", ["SDY-13"], module(main_of(f"""
    %0 = "stablehlo.all_reduce"(%x) <{{{HANDLE}, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>, use_global_device_ids}}> {SUM} : (tensor<4x4xi32>) -> tensor<4x4xi32>
    %1 = "stablehlo.collective_permute"(%0) <{{{HANDLE}, source_target_pairs = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}}> : (tensor<4x4xi32>) -> tensor<4x4xi32>
    %2 = "stablehlo.collective_permute"(%x) <{{{HANDLE}, source_target_pairs = dense<> : tensor<0x2xi64>}}> : (tensor<4x4xi32>) -> tensor<4x4xi32>
    return %1, %2 : tensor<4x4xi32>, tensor<4x4xi32>""", "(tensor<4x4xi32>, tensor<4x4xi32>)"), mesh="",
                                              partitions=2),
          [literal(X), literal([[0] * 4] * 4)])
    whole = "tensor<4x4xi32>"
    gives("region_of_one_device", ["SDY-13"],
          region('<@a, [{"a"}, {}]>', '<@a, [{"a"}, {}]>', '{"a"}', whole, f"      %z = stablehlo.negate %y : {whole}\n      sdy.return %z : {whole}",
                 mesh='  sdy.mesh @a = <["a"=1]>\n', partitions=1), literal([[-v for v in row] for row in X]))


def grids():
    shares = ["r0p0/arg0: s32[2] {1, 2}", "r0p1/arg0: s32[2] {3, 4}"]
    gives("partitioned_module", ["SDY-3"], """
HloModule main_spmd, num_partitions=2

sum {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b)
}

ENTRY main.1_spmd {
  x = s32[2] parameter(0), sharding={devices=[2]<=[2]}
  y = s32[2] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum
  ROOT z = s32[2] subtract(y, x)
}""", ["r0p0/out0: s32[2] {3, 4}", "r0p1/out0: s32[2] {1, 2}"], shares, "hlo")
    gives("partitions_of_module", ["SDY-4"], module("""  func.func public @main() -> tensor<ui32> {
    %0 = stablehlo.partition_id : tensor<ui32>
    return %0 : tensor<ui32>
  }""", mesh="", partitions=3), ["r0p0/out0: u32[] 0", "r0p1/out0: u32[] 1", "r0p2/out0: u32[] 2"], ())
    half = "tensor<2x4xi32>"
    gives("partitions_of_region", ["SDY-2", "SDY-4"],
          region('<@m, [{"r"}, {}]>', '<@m, [{"r"}, {}]>', '{"r"}', half, plus_id(half),
                 mesh='  sdy.mesh @m = <["r"=2]>\n', partitions=0),
          held(lambda i, j: i // 2))
    gives("constraint_on_smaller_mesh", ["SDY-1", "SDY-5"], module(main_of("""
    %0 = sdy.sharding_constraint %x <@two, [{"a"}, {}]> : tensor<4x4xi32>
    %1 = stablehlo.negate %0 : tensor<4x4xi32>
    return %1 : tensor<4x4xi32>"""), mesh=MESH + '  sdy.mesh @two = <["a"=2]>\n'),
          literal([[-v for v in row] for row in X]))


def effects():
    token = "!stablehlo.token"
    outside = f"""
    %t = stablehlo.create_token : {token}
    %o = "stablehlo.outfeed"(%x, %t) <{{outfeed_config = ""}}> : (tensor<4x4xi32>, {token}) -> {token}"""
    half = "tensor<2x4xi32>"
    through = f"""
    %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{{"r"}}, {{}}]>] out_shardings=[<@m, [{{"r"}}, {{}}]>] manual_axes={{"r", "c"}} (%y: {half}) {{
BODY
      sdy.return %y : {half}
    }} : (tensor<4x4xi32>) -> tensor<4x4xi32>
    return %0 : tensor<4x4xi32>"""
    gives("outfeed_outside_of_region", ["SDY-2", "SDY-6"],
          module(main_of(outside + through.replace("BODY\n", ""))),
          ["outfeed0.0: " + X_TEXT, "out0: " + X_TEXT])
    inside = f"""      %t = stablehlo.create_token : {token}
      %o = "stablehlo.outfeed"(%y, %t) <{{outfeed_config = ""}}> : ({half}, {token}) -> {token}"""
    refuses("outfeed_in_region", ["SDY-6"], 4, "SDY-6: outfeed inside of a manual region",
            module(main_of(through.replace("BODY", inside))), ["arg0: " + X_TEXT])


def hlo_forms():
    # Tiles of columns, each on two devices far apart: devices 0 and 2 have columns 0 and 1,
    # devices 1 and 3 the others.
    gives("spmd_tiles", ["SDY-23", "SDY-25", "SDY-26"], """
HloModule spmd_tiles, num_partitions=4

ENTRY main {
  x = s32[4,4] parameter(0)
  s = s32[4,4] custom-call(x), custom_call_target="Sharding", sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  m = s32[4,2] custom-call(s), custom_call_target="SPMDFullToShardShape", sharding={manual}
  p = u32[] partition-id()
  i = s32[] convert(p)
  hundred = s32[] constant(100)
  k = s32[] multiply(i, hundred)
  kb = s32[4,2] broadcast(k), dimensions={}
  n = s32[4,2] add(m, kb)
  c = s32[4,2] custom-call(n), custom_call_target="Sharding", sharding={manual}
  ROOT y = s32[4,4] custom-call(c), custom_call_target="SPMDShardToFullShape", sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
}""", held(lambda i, j: j // 2), ending="hlo")
    refuses("spmd_without_sharding", ["SDY-26"], 3, "SDY-26: '", """
HloModule spmd_without_sharding, num_partitions=4

ENTRY main {
  x = s32[4,4] parameter(0)
  ROOT m = s32[4,2] custom-call(x), custom_call_target="SPMDFullToShardShape", sharding={manual}
}""", ["arg0: " + X_TEXT], "hlo")
    # As XLA prints a region; the number of devices is that of the mesh.
    gives("region_in_hlo", ["SDY-4", "SDY-27"], r"""
HloModule region_in_hlo, frontend_attributes={xla.sdy.meshes={m = #sdy.mesh<["r"=2, "c"=2]>}}

xla.sdy.manual_computation_body {
  y = s32[2,2] parameter(0)
  p = u32[] partition-id()
  i = s32[] convert(p)
  hundred = s32[] constant(100)
  k = s32[] multiply(i, hundred)
  kb = s32[2,2] broadcast(k), dimensions={}
  ROOT z = s32[2,2] add(y, kb)
}

ENTRY main {
  x = s32[4,4] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@m, [{\"r\"}, {\"c\"}]>"}
  l = s32[2,2] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@m, [{\"r\"}, {\"c\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"r\", \"c\"}>"}
  b = s32[2,2] call(l), to_apply=xla.sdy.manual_computation_body, frontend_attributes={inlineable="false"}
  g = s32[4,4] custom-call(b), custom_call_target="xla.sdy.LocalToGlobalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\"r\", \"c\"}>",xla.sdy.out_shardings="#sdy.sharding_per_value<[<@m, [{\"r\"}, {\"c\"}]>]>"}
  ROOT o = s32[4,4] custom-call(g), custom_call_target="xla.sdy.FuncResultSharding", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@m, [{\"r\"}, {\"c\"}]>]>"}
}""", held(lambda i, j: i // 2 * 2 + j // 2), ending="hlo")


def goldens():
    for part in (chunks, unreduced, collectives, grids, effects, hlo_forms):
        part()
    return GOLDENS
