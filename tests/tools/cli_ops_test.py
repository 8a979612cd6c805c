#!/usr/bin/env python3
"""Operations of the user's own from outside: docs/custom_ops.md. Usage: cli_ops_test.py ASSAY LIBRARIES"""
import json
import os
import struct
import sys
import unittest

LIBRARIES = os.path.abspath(sys.argv.pop(2))

from cli_testing import CliCase, npy  # noqa: E402  (it reads the arguments)


def library(name):
    return os.path.join(LIBRARIES, name + ".so")


ZERO_OUT = library("zero_out")
KERNELS = library("kernels")


def call(result, operands, target, config="", more="", before=""):
    """A program of one custom call on constants, each "s32[2] {1,2}"."""
    lines = [f"  x{i} = {operand.split(' ', 1)[0]} constant({operand.split(' ', 1)[1]})"
             for i, operand in enumerate(operands)]
    names = ", ".join(f"x{i}" for i in range(len(operands)))
    config = f', api_version=API_VERSION_TYPED_FFI, backend_config="{config}"' if config else ""
    text = "\n".join(lines)
    return (f"HloModule m\n{before}ENTRY e {{\n{text}\n"
            f"  ROOT r = {result} custom-call({names}), custom_call_target=\"{target}\"{config}{more}\n}}\n")


def stablehlo(results, operands, target, config="{}"):
    """The same in StableHLO: operands "tensor<2xi32> dense<[1, 2]>", results "tensor<2xi32>"."""
    lines = [f"    %x{i} = stablehlo.constant {operand.split(' ', 1)[1]} : {operand.split(' ', 1)[0]}"
             for i, operand in enumerate(operands)]
    names = ", ".join(f"%x{i}" for i in range(len(operands)))
    types, result_types = ", ".join(operand.split(" ", 1)[0] for operand in operands), ", ".join(results)
    count = f":{len(results)}" if len(results) > 1 else ""
    returned = ", ".join(f"%r#{i}" for i in range(len(results))) if len(results) > 1 else "%r"
    text = "\n".join(lines)
    many = f"({result_types})"
    return (f"module @m {{\n  func.func public @main() -> {many} {{\n{text}\n"
            f"    %r{count} = stablehlo.custom_call @{target}({names}) {{api_version = 4 : i32, backend_config = {config}}} : "
            f"({types}) -> {many if len(results) > 1 else result_types}\n"
            f"    return {returned} : {result_types}\n  }}\n}}\n")


class Ops(CliCase):
    def run_call(self, wanted, *args, libraries=(ZERO_OUT, KERNELS), engines=("exact", "reference", "fast"),
                 flags=(), **more):
        loads = [flag for path in libraries for flag in ("--load-ops", path)]
        for engine in engines:
            result = self.expect(0, "run", self.file("c.hlo", call(*args, **more)), *loads, "--engine",
                                 engine, *flags)
            self.assertEqual(result.stdout.decode(), wanted, engine)

    def refuse(self, code, error, *args, command="run", libraries=(ZERO_OUT, KERNELS), **more):
        loads = [flag for path in libraries for flag in ("--load-ops", path)]
        return self.expect(code, command, self.file("c.hlo", call(*args, **more)), *loads, error=error)

    # ---- the running example, in its stages (worked by hand) ----

    def test_element_0_stays(self):
        self.run_call("out0 s32[5]\n[5 0 0 0 0]\n", "s32[5]", ["s32[5] {5,4,3,2,1}"], "Acme.ZeroOutFirst")
        self.run_call("out0 s32[2,2]\n[[1 0]\n [0 0]]\n", "s32[2,2]", ["s32[2,2] {{1,2},{3,4}}"],
                      "Acme.ZeroOutFirst")
        self.run_call("out0 s32[0]\n[]\n", "s32[0]", ["s32[0] {}"], "Acme.ZeroOutFirst")

    def test_validation(self):
        self.run_call("out0 s32[2]\n[5 0]\n", "s32[2]", ["s32[2] {5,4}"], "Acme.ZeroOutVector")
        self.refuse(5, ["c.hlo:4:", "op Acme.ZeroOutVector: expected a vector, got [2,1]"],
                    "s32[2,1]", ["s32[2,1] {{5},{4}}"], "Acme.ZeroOutVector")

    def test_an_attribute(self):
        five = ["s32[5] {5,4,3,2,1}"]
        self.run_call("out0 s32[5]\n[0 0 3 0 0]\n", "s32[5]", five, "Acme.ZeroOut",
                      "{preserve_index = 2 : i64}")
        self.run_call("out0 s32[5]\n[5 0 0 0 0]\n", "s32[5]", five, "Acme.ZeroOut")
        self.refuse(5, "preserve_index is 5, the input has 5 elements", "s32[5]", five, "Acme.ZeroOut",
                    "{preserve_index = 5 : i64}")
        self.run_call("out0 s32[0]\n[]\n", "s32[0]", ["s32[0] {}"], "Acme.ZeroOut",
                      "{preserve_index = 5 : i64}")

    def test_types(self):
        for type in ("f32", "f64", "bf16"):
            self.run_call(f"out0 {type}[2]\n[ 0. 2.5]\n", f"{type}[2]", [f"{type}[2] {{1.5, 2.5}}"],
                          "Acme.ZeroOut", "{preserve_index = 1 : i64}")
        self.refuse(3, ["c.hlo:4:", "Acme.ZeroOut", "s8"], "s8[2]", ["s8[2] {1, 2}"], "Acme.ZeroOut",
                    command="verify")

    def test_a_shape_function(self):  # CALL-3
        self.refuse(3, ["c.hlo:4:", "op Acme.ZeroOut: output 0 has the shape [5], the program says s32[4]"],
                    "s32[4]", ["s32[5] {5,4,3,2,1}"], "Acme.ZeroOut", command="verify")
        self.refuse(3, "the program says f32[2,2]", "f32[2,2]",
                    ["f32[2,7] {{1,1,1,1,1,1,1},{1,1,1,1,1,1,1}}"], "Test.Rows", command="verify")
        self.refuse(3, "op Test.Rows: Shape must be at least rank 1 but is rank 0", "f32[2,3]", ["f32[] 1"],
                    "Test.Rows", command="verify")
        self.expect(0, "verify", self.file("rows.hlo", call("f32[2,3]", ["f32[2] {1,1}"], "Test.Rows")),
                    "--load-ops", KERNELS)

    def test_lists(self):
        self.run_call("out0 s32[2]\n[1 0]\nout1 s32[3]\n[3 0 0]\n", "(s32[2], s32[3])",
                      ["s32[2] {1,2}", "s32[3] {3,4,5}"], "Acme.ZeroOutEach")
        self.run_call("out0 s32[2]\n[1 0]\nout1 f32[2]\n[3. 0.]\n", "(s32[2], f32[2])",
                      ["s32[2] {1,2}", "f32[2] {3,4}"], "Acme.ZeroOutMixed")
        self.refuse(3, "Acme.ZeroOutEach", "(s32[2], f32[2])", ["s32[2] {1,2}", "f32[2] {3,4}"],
                    "Acme.ZeroOutEach", command="verify")

    def test_threads_change_nothing(self):
        program = self.file("large.hlo", """HloModule m
ENTRY e {
  x = f32[1000,1000] parameter(0)
  y = f32[1000,1000] custom-call(x), custom_call_target="Acme.ZeroOut", backend_config="{preserve_index = 654321 : i64}"
  ROOT d = f32[1000,1000] subtract(x, y)
}
""")
        outputs = []
        for jobs in ("1", "2", "7"):
            output = self.path(f"out{jobs}.npz")
            self.expect(0, "run", program, "--load-ops", ZERO_OUT, "--random-inputs", "3", "--jobs", jobs,
                        "--output", output, "--crosscheck", "full")
            with open(output, "rb") as file:
                outputs.append(file.read())
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual(outputs[0], outputs[2])

    def test_stablehlo_says_the_same(self):
        text = """module @m {
  func.func public @main(%x: tensor<5xi32>) -> tensor<5xi32> {
    %0 = stablehlo.custom_call @Acme.ZeroOut(%x) {api_version = 4 : i32, backend_config = {preserve_index = 2 : i64}} : (tensor<5xi32>) -> tensor<5xi32>
    return %0 : tensor<5xi32>
  }
}
"""
        # an argument, not a constant
        inputs = self.npz("in.npz", arg0=npy("<i4", [5], struct.pack("<5i", 5, 4, 3, 2, 1)))
        result = self.expect(0, "run", self.file("z.mlir", text), "--load-ops", ZERO_OUT, "--inputs", inputs)
        self.assertEqual(result.stdout.decode(), "out0 s32[5]\n[0 0 3 0 0]\n")
        printed = self.expect(0, "print", self.file("z.mlir", text), "--to", "hlo", "--load-ops",
                              ZERO_OUT).stdout
        result = self.expect(0, "run", self.file("again.hlo", printed), "--load-ops", ZERO_OUT, "--inputs",
                             inputs)
        self.assertEqual(result.stdout.decode(), "out0 s32[5]\n[0 0 3 0 0]\n")

    def run_stablehlo(self, wanted, results, *args, flags=()):
        program = self.file("c.mlir", stablehlo(results, *args))
        for engine in ("exact", "reference", "fast"):
            result = self.expect(0, "run", program, "--load-ops", ZERO_OUT, "--engine", engine, *flags)
            self.assertEqual(result.stdout.decode(), wanted, engine)

    def refuse_stablehlo(self, code, error, *args, command="run"):
        self.expect(code, command, self.file("c.mlir", stablehlo(*args)), "--load-ops", ZERO_OUT, error=error)

    def test_each_stage_in_stablehlo(self):
        i5, five = "tensor<5xi32>", ["tensor<5xi32> dense<[5, 4, 3, 2, 1]>"]
        self.run_stablehlo("out0 s32[5]\n[5 0 0 0 0]\n", [i5], five, "Acme.ZeroOutFirst")
        self.run_stablehlo("out0 s32[5]\n[5 0 0 0 0]\n", [i5], five, "Acme.ZeroOutVector")
        column = ["tensor<2x1xi32> dense<[[5], [4]]>"]
        self.refuse_stablehlo(5, ["c.mlir:4:", "op Acme.ZeroOutVector: expected a vector, got [2,1]"],
                              ["tensor<2x1xi32>"], column, "Acme.ZeroOutVector")
        self.run_stablehlo("out0 s32[5]\n[0 0 3 0 0]\n", [i5], five, "Acme.ZeroOut",
                           "{preserve_index = 2 : i64}")
        self.run_stablehlo("out0 s32[5]\n[5 0 0 0 0]\n", [i5], five, "Acme.ZeroOut")
        self.refuse_stablehlo(5, "preserve_index is 5, the input has 5 elements", [i5], five, "Acme.ZeroOut",
                              "{preserve_index = 5 : i64}")
        for type in ("f32", "f64", "bf16"):
            self.run_stablehlo(f"out0 {type}[2]\n[ 0. 2.5]\n", [f"tensor<2x{type}>"],
                               [f"tensor<2x{type}> dense<[1.5, 2.5]>"], "Acme.ZeroOut",
                               "{preserve_index = 1 : i64}")
        self.refuse_stablehlo(3, ["c.mlir:4:", "Acme.ZeroOut", "s8"], ["tensor<2xi8>"],
                              ["tensor<2xi8> dense<1>"], "Acme.ZeroOut", command="verify")
        self.refuse_stablehlo(3,
                              ["c.mlir:4:", "op Acme.ZeroOut: output 0 has the shape [5], the program says s32[4]"], ["tensor<4xi32>"], five,
                              "Acme.ZeroOut", command="verify")
        lists = ["tensor<2xi32> dense<[1, 2]>", "tensor<3xi32> dense<[3, 4, 5]>"]
        self.run_stablehlo("out0 s32[2]\n[1 0]\nout1 s32[3]\n[3 0 0]\n", ["tensor<2xi32>", "tensor<3xi32>"],
                           lists, "Acme.ZeroOutEach")
        mixed = ["tensor<2xi32> dense<[1, 2]>", "tensor<2xf32> dense<[3.0, 4.0]>"]
        self.run_stablehlo("out0 s32[2]\n[1 0]\nout1 f32[2]\n[3. 0.]\n", ["tensor<2xi32>", "tensor<2xf32>"],
                           mixed, "Acme.ZeroOutMixed")
        large = ["tensor<300x1000xf32> dense<2.5>"]
        program = self.file("large.mlir", stablehlo(["tensor<300x1000xf32>"], large, "Acme.ZeroOut",
                                                    "{preserve_index = 234567 : i64}"))
        outputs = []
        for jobs in ("1", "2", "7"):
            output = self.path(f"out{jobs}.npz")
            self.expect(0, "run", program, "--load-ops", ZERO_OUT, "--jobs", jobs, "--output", output)
            with open(output, "rb") as file:
                outputs.append(file.read())
        self.assertEqual(outputs[0].count(struct.pack("<f", 2.5)), 1)
        self.assertEqual(outputs, outputs[:1] * 3)

    # ---- what kernels may do ----

    def test_roundings_that_a_library_leaves_behind_are_undone(self):
        # 1 + 10^-12 is 1, but upward it is more. The library rounds upward from its start on,
        # and in each function.
        self.run_call("out0 f32[1]\n[1.]\n", "f32[1]", ["f32[1] {1}"], "Test.Upward")
        program = self.file("u.hlo", """HloModule m
ENTRY e {
  one = f32[] constant(1)
  x = f32[100] broadcast(one), dimensions={}
  y = f32[100] custom-call(x), custom_call_target="Test.Upward"
  small = f32[] constant(1e-12)
  b = f32[100] broadcast(small), dimensions={}
  z = f32[100] add(y, b)
  ROOT d = f32[100] subtract(z, y)
}
""")
        plain = self.file("p.hlo", "HloModule m\nENTRY e {\n  ROOT x = f64[50] parameter(0)\n}\n")
        for engine in ("exact", "reference", "fast"):
            for jobs in ("1", "3"):
                result = self.expect(0, "run", program, "--load-ops", KERNELS, "--engine", engine, "--jobs",
                                     jobs)
                self.assertEqual(set(result.stdout.decode().split("\n", 1)[1].replace("[", "").replace(
                    "]", "").split()), {"0."})
        inputs = [self.expect(0, "run", plain, *flags, "--random-inputs", "3").stdout
                  for flags in ((), ("--load-ops", KERNELS))]
        self.assertEqual(*inputs)

    def test_attributes_of_every_kind(self):
        def shown(config):
            result = self.expect(0, "run", self.file("a.hlo", call("u8[60]", [], "Test.Attrs", config)),
                                 "--load-ops", KERNELS, "--json")
            return bytes(json.loads(result.stdout)["outputs"]["out0"]["data"]).rstrip(b"\0").decode()
        self.assertEqual(shown(""), "1 2 a 0.5 no 11 ?")
        self.assertEqual(shown("{axes = array<i64: 3>, names = [\\\"u\\\", \\\"v\\\"], eps = 1.5 : f32, flag = true, type = f64, "
                               "shape = array<i64: 2, 3>}"), "3 u v 1.5 yes 12 2,3,")

    def test_memory_is_aligned(self):  # KERN-3
        self.run_call("out0 s32[1]\n[1]\n", "s32[1]", ["s8[] 1", "s8[1] {1}", "s8[3] {1,2,3}", "s8[0] {}",
                                                       "s8[70] {" + ",".join(["1"] * 70) + "}"],
                      "Test.Aligned")

    def test_run_time_sizes(self):  # KERN-4
        self.run_call("out0 f32[2]\n[1. 2.]\n", "f32[<=4]", ["f32[4] {1,2,3,4}", "s32[] 2"], "Test.FirstOf")
        self.refuse(5, "count is 9", "f32[<=4]", ["f32[4] {1,2,3,4}", "s32[] 9"], "Test.FirstOf")
        # As many as the input has, and more than the result may have.
        self.refuse(5, "op Test.FirstOf: output 0 is allocated with the sizes [3], the program says f32[<=2]",
                    "f32[<=2]", ["f32[4] {1,2,3,4}", "s32[] 3"], "Test.FirstOf")

    def test_tokens_and_how_work_is_cut(self):
        program = self.file("t.hlo", """HloModule m
ENTRY e {
  t = token[] after-all()
  r = (token[], s32[3]) custom-call(t), custom_call_target="Test.Ranges"
  ROOT y = s32[3] get-tuple-element(r), index=1
}
""")
        for engine in ("exact", "reference"):
            for jobs in ("1", "2", "8"):
                result = self.expect(0, "run", program, "--load-ops", KERNELS, "--engine", engine, "--jobs",
                                     jobs)
                self.assertEqual(result.stdout.decode(), "out0 s32[3]\n[   1 1000    0]\n")

    def test_called_computations(self):  # CALL-6
        f = "f {\n  a = f32[2] parameter(0)\n  ROOT b = f32[2] multiply(a, a)\n}\n"
        self.run_call("out0 f32[2]\n[16. 81.]\n", "f32[2]", ["f32[2] {2,3}"], "Test.Applied",
                      more=", called_computations={f}", before=f)
        self.refuse(5, "0 called computations", "f32[2]", ["f32[2] {2,3}"], "Test.Applied")

    def test_kernels_are_compared_with_the_reference_kernel(self):  # KERN-5
        one = ["f32[1] {1}"]
        self.run_call("out0 f32[1]\n[2.]\n", "f32[1]", one, "Test.Doubled", engines=["reference"])
        self.run_call("out0 f32[1]\n[3.]\n", "f32[1]", one, "Test.Doubled", engines=["exact"])
        program = self.file("d.hlo", call("f32[1]", one, "Test.Doubled"))
        self.expect(1, "run", program, "--load-ops", KERNELS, "--crosscheck", "full", "--repro-dir",
                    self.path("repro"), error="Test.Doubled")
        near = self.file("n.hlo", call("f32[1]", one, "Test.Near"))
        self.expect(0, "run", near, "--load-ops", KERNELS, "--crosscheck", "full")

    def test_labels_are_asked_for(self):  # KERN-1
        self.run_call("out0 f32[1]\n[2.]\n", "f32[1]", ["f32[1] {1}"], "Test.Doubled", engines=["exact"],
                      more=', frontend_attributes={assay.kernel="reference"}')
        self.refuse(4, ["no kernel", "label 'none'"], "f32[1]", ["f32[1] {1}"], "Test.Doubled",
                    more=', frontend_attributes={assay.kernel="none"}')

    def test_composites_are_compared_with_operations(self):  # CALL-5
        def program(name, version, factor):
            return self.file("c.hlo", f"""HloModule m
scaled {{
  a = f32[2] parameter(0)
  k = f32[2] constant({{{factor}, {factor}}})
  ROOT p = f32[2] multiply(a, k)
}}
ENTRY e {{
  x = f32[2] constant({{1, 2}})
  ROOT c = f32[2] call(x), to_apply=scaled, is_composite=true, frontend_attributes={{composite.name="{name}",composite.version="{version}"}}
}}
""")
        flags = ("--load-ops", KERNELS, "--check-composites")
        for name, version, factor in (("test.double", 1, 2), ("test.double", 2, 3), ("test.other", 0, 3),
                                      ("test.near", 0, 2)):
            result = self.expect(0, "run", program(name, version, factor), *flags)
            self.assertEqual(result.stdout.decode(), f"out0 f32[2]\n[{factor}. {2 * factor}.]\n")
        for name, factor in (("test.triple", 3), ("test.near", 4)):
            self.expect(0, "run", program(name, 0, factor), "--load-ops", KERNELS)
            self.expect(1, "run", program(name, 0, factor), *flags, error=["c.hlo:9:", "c.check"])

    # ---- kernels that go wrong ----

    def test_faults_of_kernels(self):  # KERN-3
        faults = {"throws": (5, "threw: on purpose"), "throws_other": (5, "threw something"),
                  "fails": (5, "value 5 is wrong"),
                  "unimplemented": (4, "not here"), "exhausted": (5, "too much"),
                  "unfilled": (5, "output 0 was not allocated"),
                  "wrong_shape": (5, "output 0 is allocated with the sizes [7,7], the program says f32[2]"),
                  "wrong_rank": (5, "output 0 is allocated with the sizes [], the program says f32[2]"),
                  "twice": (5, "output 0 is allocated twice"), "no_such_output": (5, "there is no output 3"),
                  "constructor": (3, "the constructor refuses"),
                  "constructor_throws": (5, "threw: from the constructor"),
                  "huge_temp": (5, "memory"), "shard_throws": (5, "threw: from a thread")}
        self.run_call("out0 f32[2]\n[1. 2.]\n", "f32[2]", ["f32[2] {1,2}"], "Test.Faulty")
        for fault, (code, error) in faults.items():
            self.refuse(code, ["c.hlo:4:", "Test.Faulty", error], "f32[2]", ["f32[2] {1,2}"], "Test.Faulty",
                        f"{{fault = \\\"{fault}\\\"}}")

    def test_selection(self):  # KERN-1
        self.refuse(3, "op Test.Twice: two kernels fit alike: cpu, T in {f32}", "f32[2]", ["f32[2] {1,2}"],
                    "Test.Twice")
        self.refuse(4, ["op Test.Twice has no kernel for cpu with T = s32", "registered: cpu, T in {f32}; "],
                    "s32[2]", ["s32[2] {1,2}"], "Test.Twice")
        self.refuse(4, ["op Test.Rows has no kernel", "registered: none"], "f32[2,3]", ["f32[2] {1,2}"],
                    "Test.Rows")

    def test_calls_that_do_not_fit(self):  # CALL-3, CALL-4
        x = ["s32[2] {1,2}"]
        for config, error in (("{what = 1 : i64}", "what"), ("{preserve_index = -1 : i64}", "-1"),
                              ("{preserve_index = 1.5 : f32}", "preserve_index"),
                              ("{preserve_index = }", "backend_config")):
            self.refuse(3, ["Acme.ZeroOut", error], "s32[2]", x, "Acme.ZeroOut", config, command="verify")
        self.refuse(3, "Acme.ZeroOut", "s32[2]", x + x, "Acme.ZeroOut", command="verify")
        self.refuse(3, "Acme.ZeroOut", "(s32[2], s32[2])", x, "Acme.ZeroOut", command="verify")
        self.refuse(3, "op Test.Print has a side effect", "f32[1]", ["f32[1] {1}"], "Test.Print",
                    command="verify")
        self.refuse(4, "no custom call target Acme.Nothing", "s32[2]", x, "Acme.Nothing")

    # ---- libraries ----

    def test_libraries_that_are_broken(self):
        program = self.file("good.hlo", call("f32[1]", ["f32[1] {1}"], "Test.Good"))
        errors = {"no_entry_point": (5, "exports no assay_abi_version"), "other_version": (5, "version 77"),
                  "bad_spec": (3, "f33"),
                  "two_interfaces": (3, "op Test.Good is registered already"),
                  "no_such_op": (3, "gradient of op Test.Missing: no such op"),
                  "throws": (5, "half-way")}
        for name, (code, error) in errors.items():
            self.expect(code, "run", program, "--load-ops", library(name), error=[name + ".so: ", error])
        for name, error in (("crashes", "its start ends the process"),
                            ("exits", "its start ends the process with exit code 0")):
            self.expect(5, "run", program, "--load-ops", library(name), "--isolate-ops",
                        error=[name + ".so: ", error])
        self.expect(5, "run", program, "--load-ops", library("hangs"), "--isolate-ops",
                    error=["hangs.so: ", "longer than 10 seconds"])
        self.expect(3, "run", program, "--load-ops", library("good"), "--load-ops", library("other_good"),
                    error=["other_good.so: ", "op Test.Good is registered already, with another interface"])
        self.expect(5, "run", program, "--load-ops", self.path("none.so"), error="none.so")
        self.expect(5, "run", program, "--load-ops", self.file("text.so", "no library"),
                    error="text.so: it can't be opened")
        self.expect(5, "run", program, "--load-ops", self.folder.name)

    def test_a_library_twice_is_one(self):
        x = ["s32[2] {1,2}"]
        self.run_call("out0 s32[2]\n[1 0]\n", "s32[2]", x, "Acme.ZeroOut", libraries=(ZERO_OUT, ZERO_OUT))
        self.run_call("out0 s32[2]\n[1 0]\n", "s32[2]", x, "Acme.ZeroOut", libraries=(ZERO_OUT,),
                      flags=["--isolate-ops"])

    def test_the_list_of_operations(self):
        result = self.expect(0, "ops", "--load-ops", ZERO_OUT)
        self.assertIn(b"Acme.ZeroOutEach", result.stdout)
        self.assertIn(b"\nadd  ", result.stdout)
        result = self.expect(0, "ops", "Acme.ZeroOut", "--load-ops", ZERO_OUT)
        for part in (b"preserve_index", b"sets all but one element to zero", b"T in {bf16}",
                     b"gradient          registered"):
            self.assertIn(part, result.stdout)
        self.expect(2, "ops", "Acme.None", "--load-ops", ZERO_OUT)

    def test_wrappers(self):
        result = self.expect(0, "ops", "--load-ops", ZERO_OUT, "--wrappers", "python")
        self.assertIn(b"def acme_zero_out(to_zero, preserve_index=0, name=None):", result.stdout)
        compile(result.stdout, "wrappers", "exec")
        result = self.expect(0, "ops", "--load-ops", ZERO_OUT, "--wrappers", "cpp")
        self.assertIn(b"XlaOp AcmeZeroOut(", result.stdout.replace(b"inline ", b""))
        self.expect(2, "ops", "--load-ops", ZERO_OUT, "--wrappers", "java")

    def test_compatible_registrations(self):
        older = self.file("old.json", self.expect(0, "ops", "--json", "--load-ops", ZERO_OUT).stdout)
        ops = json.loads(open(older).read())
        self.expect(0, "ops", "--compatible", older, older)
        newer = json.loads(json.dumps(ops))
        for op in newer["ops"]:
            if op["name"] == "Acme.ZeroOut":
                op["attrs"] = [attr.replace("= 0", "= 1") for attr in op["attrs"]]
        result = self.expect(1, "ops", "--compatible", older, self.file("new.json", json.dumps(newer)))
        self.assertIn(b"Acme.ZeroOut: ", result.stdout)
        self.assertIn(b"default", result.stdout)
        self.expect(3, "ops", "--compatible", older, self.file("bad.json", "{"), error="bad.json")

    def test_plans_and_benches_name_the_kernel(self):
        program = self.file("p.hlo", call("s32[2]", ["s32[2] {1,2}"], "Acme.ZeroOut"))
        result = self.expect(0, "plan", program, "--load-ops", ZERO_OUT)
        self.assertIn(b"[Acme.ZeroOut: cpu, T in {s32}]", result.stdout)
        self.expect(0, "bench", program, "--load-ops", ZERO_OUT, "--json")

    def test_goldens_of_custom_calls(self):
        program, golden = self.file("g.hlo",
                                    call("s32[2]", ["s32[2] {1,2}"], "Acme.ZeroOut")), self.path("golden.hlo")
        self.expect(0, "golden", "record", program, "--load-ops", ZERO_OUT, "--output", golden)
        self.expect(0, "golden", "check", golden, "--load-ops", ZERO_OUT)
        self.expect(1, "golden", "check", golden)


if __name__ == "__main__":
    unittest.main()
