#!/usr/bin/env python3
"""Writes golden/sharding/: programs of the Shardy dialect that are evaluated on logical values
(docs/spec/sharding.md, SDY-1 and SDY-2), what its rules refuse, and manual regions (sharding_regions.py).

A sharding says where the pieces of a value live, never what the value is, so the expected values are those of
the program without it, worked by hand. jaxlib 0.10.2 refuses each program that stands here as refused, but
those of SDY-V17.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import sharding_regions  # noqa: E402
import written  # noqa: E402

MESH = 'sdy.mesh @m = <["x"=2, "y"=4]>\n'
VALUES = {}
REFUSED = {}
HLO = {}


def gives(name, body, arguments, results, mesh=MESH, rules="SDY-1"):
    header = ["oracle: hand", f"rule: {rules}"]
    header += [f"arg{i}: {value}" for i, value in enumerate(arguments)]
    header += [f"out{i}: {value}" for i, value in enumerate(results)]
    VALUES[name] = "".join(f"// {line}\n" for line in header) + mesh + body.strip() + "\n"


def refuses(name, label, body, mesh=MESH):
    REFUSED[name] = f"// refuse: 3 {label}\n{mesh}{body.strip()}\n"


def main_of(body, argument="", result="", type="tensor<4x4xi32>"):
    attributes = f" {{{argument}}}" if argument else ""
    results = f"({type} {{{result}}})" if result else type
    return f"func.func @main(%x: {type}{attributes}) -> {results} {{\n  {body.strip()}\n}}"


X = "s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}"
NEGATED = "s32[4,4] {{0, -1, -2, -3}, {-4, -5, -6, -7}, {-8, -9, -10, -11}, {-12, -13, -14, -15}}"


def negated(sharding):
    """%x constrained, and negated."""
    return main_of(f"""%0 = sdy.sharding_constraint %x {sharding} : tensor<4x4xi32>
  %1 = stablehlo.negate %0 : tensor<4x4xi32>
  return %1 : tensor<4x4xi32>""")


def values():
    for name, sharding in (
        ("constraint_closed", '<@m, [{"y"}, {"x"}]>'),
        ("constraint_of_two_axes", '<@m, [{"x", "y"}, {}]>'),
        ("constraint_open", '<@m, [{"x", ?}p1, {?}]>'),
        ("constraint_replicated", '<@m, [{}, {?}], replicated={"x", "y"}>'),
        ("constraint_unreduced", '<@m, [{"x"}, {}], unreduced={"y"}>'),
        ("constraint_part_of_axis", '<@m, [{"y":(1)2}, {"y":(2)2}]>'),
        ("constraint_inlined_mesh", '<mesh<["z"=3]>, [{}, {"z"}]>'),
    ):
        gives(name, negated(sharding), [X], [NEGATED])
    gives("device_ids", negated('<@m, [{"r"}, {"c"}]>'), [X], [NEGATED],
          mesh='sdy.mesh @m = <["r"=2, "c"=2], device_ids=[3, 1, 2, 0]>\n')
    gives("arguments_and_results", main_of("""%0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@m, [{?}, {"y"}]>]>} : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>""", 'sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>',
                                           'sdy.sharding = #sdy.sharding<@m, [{}, {"y"}]>'),
          [X], [NEGATED])
    gives("hlo_shardings", main_of("""%0 = stablehlo.negate %x {mhlo.sharding = "{manual}"} : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>""", 'mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"',
          'mhlo.sharding = "{devices=[4,1]<=[2,2]T(1,0)}"'), [X], [NEGATED], mesh="")
    gives("maximal_mesh", main_of("""stablehlo.custom_call @xla.sdy.ShardingGroup(%x) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : (tensor<4x4xi32>) -> ()
  %0 = stablehlo.negate %x : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>"""), [X], [NEGATED], mesh="sdy.mesh @one = <[], device_ids=[3]>\n")
    gives("named_computation", main_of("""%0 = sdy.named_computation<"f">(%x) in_shardings=[<@m, [{"x"}, {}]>] (%y: tensor<4x4xi32>) {
    %1 = stablehlo.negate %y : tensor<4x4xi32>
    sdy.return %1 : tensor<4x4xi32>
  } : (tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>"""), [X], [NEGATED])
    gives("after_propagation", main_of("""%0 = sdy.all_slice [{"x"}, {}] %x out_sharding=<@m, [{"x"}, {}]> : tensor<4x4xi32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@m, [{}, {"x"}]> : tensor<4x4xi32>
  %2 = sdy.all_gather [{}, {"x"}] %1 out_sharding=<@m, [{}, {}]> : tensor<4x4xi32>
  %3 = sdy.reshard %2 <@m, [{"y"}, {}]> : tensor<4x4xi32>
  %4 = sdy.collective_permute %3 out_sharding=<@m, [{"y"}, {}]> : tensor<4x4xi32>
  %5 = stablehlo.negate %4 : tensor<4x4xi32>
  return %5 : tensor<4x4xi32>"""), [X], [NEGATED])
    # 5 elements over 2 devices: shards of 3 and 2.
    gives("uneven_constraint", main_of("""%0 = sdy.sharding_constraint %x <@m, [{"x"}]> : tensor<5xi32>
  %1 = stablehlo.negate %0 : tensor<5xi32>
  return %1 : tensor<5xi32>""", type="tensor<5xi32>"), ["s32[5] {1, 2, 3, 4, 5}"],
          ["s32[5] {-1, -2, -3, -4, -5}"])
    # RED-1: the reducer is a sum, so the exact sum is rounded once: 1e8 + 1 - 1e8 + 1 = 2;
    # added one by one it is 1.
    gives("reducer_with_constraint", """func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %1 = stablehlo.add %a, %b : tensor<f32>
    %2 = sdy.sharding_constraint %1 <@m, []> : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}""", ["f32[4] {1e8, 1, -1e8, 1}"], ["f32[] 2"])
    # As XLA prints it: the reducer of HLO text, where the sum is under the annotation.
    HLO["reducer_with_annotation"] = """// oracle: hand
// rule: SDY-1, SDY-25
// arg0: f32[4] {1e8, 1, -1e8, 1}
// out0: f32[] 2
HloModule reducer_with_annotation

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  sum = f32[] add(a, b)
  ROOT root = f32[] custom-call(sum), custom_call_target="Sharding", sharding={replicated}
}

ENTRY main {
  x = f32[4] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=add
}
"""
    gives("scatter_with_constraint", """func.func @main(%x: tensor<2xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = sdy.sharding_constraint %a <@m, []> : tensor<f32>
    %2 = stablehlo.add %1, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<2xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}""", ["f32[2] {0, 3}", "s32[4,1] {{0}, {0}, {0}, {0}}", "f32[4] {1e8, 1, -1e8, 1}"], ["f32[2] {2, 3}"])
    gives("constant", main_of("""%0 = sdy.constant dense<-1> : tensor<4x4xi32>
  %1 = stablehlo.multiply %0, %x : tensor<4x4xi32>
  return %1 : tensor<4x4xi32>"""), [X], [NEGATED])


def refused_meshes():
    for name, label, mesh in (
        ("axis_of_size_zero", "SDY-V1", '<["x"=0]>'),
        ("axis_twice", "SDY-V1", '<["x"=2, "x"=2]>'),
        ("device_id_negative", "SDY-V1", '<["x"=2], device_ids=[-1, 0]>'),
        ("devices_without_axes", "SDY-V2", '<[], device_ids=[0, 1]>'),
        ("devices_no_permutation", "SDY-V2", '<["x"=2], device_ids=[0, 2]>'),
        ("devices_none", "SDY-V2", '<["x"=2], device_ids=[]>'),
    ):
        refuses("mesh_" + name, label, main_of("return %x : tensor<4x4xi32>"), mesh=f"sdy.mesh @m = {mesh}\n")


def refused_shardings():
    for name, label, sharding in (
        ("mesh_unknown", "SDY-V3", '<@n, [{}, {}]>'),
        ("rank", "SDY-V4", '<@m, [{"x"}]>'),
        ("axis_unknown", "SDY-V5", '<@m, [{"z"}, {}]>'),
        ("axis_twice", "SDY-V5", '<@m, [{"x"}, {"x"}]>'),
        ("axis_also_replicated", "SDY-V5", '<@m, [{"x"}, {}], replicated={"x"}>'),
        ("axis_and_its_part", "SDY-V5", '<@m, [{"y"}, {"y":(1)2}]>'),
        ("part_no_divisor", "SDY-V6", '<@m, [{"y":(1)3}, {}]>'),
        ("part_is_axis", "SDY-V6", '<@m, [{"y":(1)4}, {}]>'),
        ("parts_side_by_side", "SDY-V6", '<@m, [{"y":(1)2, "y":(2)2}, {}]>'),
        ("replicated_order", "SDY-V7", '<@m, [{}, {}], replicated={"y", "x"}>'),
        ("priority_leading_zero", "SDY-V8", '<@m, [{"x"}p01, {}]>'),
        ("priority_of_nothing", "SDY-V8", '<@m, [{}p1, {}]>'),
        ("open_not_last", "SDY-V8", '<@m, [{?, "x"}, {}]>'),
    ):
        refuses("sharding_" + name, label, negated(sharding))
    one = 'sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>'
    several = 'sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>'
    refuses("place_list_on_argument", "SDY-V9", main_of("return %x : tensor<4x4xi32>", several))
    refuses("place_one_on_operation", "SDY-V9", main_of(f"""%0 = stablehlo.negate %x {{{one}}} : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>"""))
    refuses("place_too_few", "SDY-V9", main_of("""%0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[]>} : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>"""))
    refuses("barrier_both", "SDY-V16", main_of("""%0 = "sdy.propagation_barrier"(%x) <{allowed_direction = 3 : i32}> : (tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>"""))


def manual(in_shardings, out_shardings, axes, local, body="sdy.return %y : {local}"):
    body = body.replace("{local}", local)
    return main_of(f"""%0 = sdy.manual_computation(%x) in_shardings=[{in_shardings}] out_shardings=[{out_shardings}] manual_axes={axes} (%y: {local}) {{
    {body}
  }} : (tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>""")


ROWS = '<@m, [{"x"}, {}]>'
HALF = "tensor<2x4xi32>"


def refused_regions():
    constraint = """%1 = sdy.sharding_constraint %y <@m, [{"x"}, {}]> : {local}
    sdy.return %1 : {local}"""
    nested = """%1 = sdy.manual_computation(%y) in_shardings=[<@m, [{}, {}]>] out_shardings=[<@m, [{}, {}]>] manual_axes={"x"} (%z: {local}) {
      sdy.return %z : {local}
    } : ({local}) -> {local}
    sdy.return %1 : {local}"""
    other = '<mesh<["x"=2, "y"=2]>, [{"x"}, {}]>'
    for name, label, program in (
        ("manual_axis_inside", "SDY-V10", manual(ROWS, ROWS, '{"x"}', HALF, constraint)),
        ("too_few_in_shardings", "SDY-V11", manual("", ROWS, '{"x"}', HALF)),
        ("too_few_out_shardings", "SDY-V11", manual(ROWS, "", '{"x"}', HALF)),
        ("axis_unknown", "SDY-V12", manual("<@m, [{}, {}]>", "<@m, [{}, {}]>", '{"z"}', "tensor<4x4xi32>")),
        ("axis_manual_outside", "SDY-V12", manual(ROWS, ROWS, '{"x"}', HALF, nested)),
        ("free_before_manual", "SDY-V13", manual('<@m, [{"y", "x"}, {}]>', ROWS, '{"x"}', HALF)),
        ("local_type", "SDY-V13", manual(ROWS, ROWS, '{"x"}', "tensor<4x4xi32>")),
        ("not_divisible", "SDY-V13", manual('<@m, [{"x", "y"}, {}]>', ROWS, '{"x", "y"}', "tensor<1x4xi32>")),
        ("two_meshes", "SDY-V14", manual(ROWS, other, '{"x"}', HALF)),
        ("terminator", "SDY-V15", manual(ROWS, ROWS, '{"x"}', HALF, "stablehlo.return %y : {local}")),
        ("value_from_outside", "not defined",
         manual(ROWS, ROWS, '{"x"}', HALF, "sdy.return %x : tensor<4x4xi32>")),
    ):
        refuses("region_" + name, label, program)
    refuses("region_value_from_outside_generic", "not defined", main_of("""%0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@m, [{}, {}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@m, [{}, {}]>]>}> ({
  ^bb0(%y: tensor<4x4xi32>):
    "sdy.return"(%x) : (tensor<4x4xi32>) -> ()
  }) : (tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>"""))
    for name, attributes in (("mesh_size", "mhlo.num_partitions = 4 : i32"),
                             ("replicas", "mhlo.num_replicas = 2 : i32")):
        region = manual(ROWS, ROWS, '{"x"}', HALF)
        REFUSED["region_" + name] = f"// refuse: 3 SDY-V17\n// rule: {'SDY-5' if name == 'mesh_size' else 'SDY-4'}\nmodule attributes {{{attributes}}} {{\n{MESH}{region}\n}}\n"


def main(dry_run):
    values()
    refused_meshes()
    refused_shardings()
    refused_regions()
    script = written.Script(__file__)
    for name, text in VALUES.items():
        script.write("sharding", name, text, "mlir")
    for name, text in HLO.items():
        script.write("sharding", name, text)
    for name, text in REFUSED.items():
        script.write("sharding", "refuse_" + name, text, "mlir")
    for (name, ending), text in sharding_regions.goldens().items():
        script.write("sharding", name, text, ending)
    script.finish(dry_run)


if __name__ == "__main__":
    main(written.dry_run(__doc__))
