#!/usr/bin/env python3
"""Runs on several devices from outside: docs/devices.md. Usage: cli_devices_test.py ASSAY"""
import unittest

from cli_testing import CliCase, floats

GATHER = """HloModule gather
ENTRY e {
  x = f32[1] parameter(0)
  ROOT g = f32[2] all-gather(x), dimensions={0}, replica_groups={{1,0}}
}
"""
IDS = """HloModule ids, num_partitions=2
ENTRY e {
  p = u32[] partition-id()
  ROOT f = f32[] convert(p)
}
"""
# x @ w, the sum cut over two devices.
SHARDED = """HloModule sharded, num_partitions=2
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[2] parameter(0), sharding={devices=[2]<=[2]}
  w = f32[2] parameter(1), sharding={devices=[2]<=[2]}
  y = f32[] dot(x, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  product = f32[] all-reduce(y), to_apply=add, channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true
  ROOT r = f32[] negate(product)
}
"""
WHOLE = """HloModule whole
ENTRY e {
  x = f32[4] parameter(0)
  w = f32[4] parameter(1)
  product = f32[] dot(x, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT r = f32[] negate(product)
}
"""


class Devices(CliCase):
    def test_the_fewest_devices_are_taken_and_said(self):
        program = self.file("gather.hlo", GATHER)
        inputs = self.npz("in.npz", **{"r0p0/arg0": floats(1), "r1p0/arg0": floats(2)})
        result = self.expect(0, "run", program, "--inputs", inputs,
                             error="note: runs on 2 replicas of 1 partition")
        self.assertEqual(result.stdout.decode(), "out0 f32[2]\n[2. 1.]\n")
        self.expect(0, "verify", program)
        self.expect(0, "plan", program)
        # asked for: nothing to say
        result = self.expect(0, "run", program, "--inputs", inputs, "--replicas", "2")

    def test_each_device_has_outputs_by_name(self):
        program, output = self.file("ids.hlo", IDS), self.path("out.npz")
        self.expect(0, "run", program, "--output", output)
        self.assertEqual(list(self.read_npz(output)), ["r0p0/out0.npy", "r0p1/out0.npy"])
        self.expect(0, "run", program, "--output", output, "--partitions", "3")
        self.assertEqual(len(self.read_npz(output)), 3)

    def test_what_does_not_fit(self):
        program = self.file("gather.hlo", GATHER)
        self.expect(3, "run", program, "--random-inputs", "1", "--replicas", "3",
                    error="GRP-C4: replica_groups lists 2 ids")
        inputs = self.npz("in.npz", **{"r0p1/arg0": floats(1), "arg0": floats(2)})
        self.expect(5, "run", program, "--inputs", inputs,
                    error="'r0p1/arg0' is of no device: there are 2 replicas of 1 partition")

    def test_sharded_against_whole(self):
        sharded, whole = self.file("sharded.hlo", SHARDED), self.file("whole.hlo", WHOLE)
        inputs = self.npz("in.npz", arg0=floats(1, 2, 3, 4), arg1=floats(5, 6, 7, 8))
        self.expect(0, "diff", "--spmd", sharded, whole, "--inputs", inputs,
                    output="out0: value: 1 element, all equal")
        maximum = self.file("wrong.hlo", SHARDED.replace("f32[] add(a, b)", "f32[] maximum(a, b)"))
        self.expect(1, "diff", "--spmd", maximum, whole, "--inputs", inputs,
                    output="the first collective behind which they differ is '%product = all-reduce', for '%product = dot'")
        # Behind the collective: no collective is to blame.
        sign = self.file("sign.hlo", SHARDED.replace("f32[] negate(product)", "f32[] copy(product)"))
        result = self.expect(1, "diff", "--spmd", sign, whole, "--inputs", inputs)
        self.assertNotIn("collective", result.stdout.decode())
        self.expect(2, "diff", "--spmd", sharded,
                    error="diff --spmd takes a partitioned program and the whole one")
        short = self.file("short.hlo",
                          SHARDED.replace("x = f32[2]", "x = f32[3]").replace("w = f32[2]", "w = f32[3]"))
        self.expect(3, "diff", "--spmd", short, whole, "--inputs", inputs,
                    error="parameter 0 is f32[3], of f32[4] with sharding=")

    def test_a_deadlock_is_told_at_once(self):
        program = self.file("dead.hlo", SHARDED.replace("ROOT r = f32[] negate(product)", """
  p = u32[] partition-id()
  z = u32[] constant(0)
  q = pred[] compare(p, z), direction=EQ
  ROOT r = f32[] conditional(q, product, product), true_computation={
    a = f32[] parameter(0)
    ROOT one = f32[] all-reduce(a), to_apply=add, channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true
  }, false_computation={
    ROOT b = f32[] parameter(0)
  }"""))
        inputs = self.npz("in.npz", arg0=floats(1, 2), arg1=floats(5, 6))
        self.expect(5, "run", program, "--inputs", inputs, "--timeout", "30",
                    error="deadlock: r0p0 waits at '%one = all-reduce' for r0p1, which has ended")


if __name__ == "__main__":
    unittest.main()
