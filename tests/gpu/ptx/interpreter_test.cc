// The interpreter against values worked by hand from the PTX ISA.
#include <bit>
#include <cmath>

#include "tests/gpu/ptx/ptx_testing.h"

namespace assay::testing {
namespace {

std::string Kernel(std::string_view body) {
  return fmt::format(
      ".version 7.0\n.target sm_80\n.address_size 64\n.global .align 8 .b64 table[2] = {{0x11, 0x22}};\n"
      ".visible .entry k(\n.param .align 8 .b8 argument[24]\n)\n{{\n.reg .pred %p<4>;\n.reg .b16 %h<4>;\n"
      ".reg .b32 %r<8>;\n.reg .b64 %d<8>;\nld.param.b64 %d0, [argument+0];\n{}ret;\n}}\n",
      body);
}

// What the body leaves in %d1, by one thread, with %d2, %d3 (and %r2, %r3, their low halves) given.
struct Outcome {
  uint64_t value = 0;
  std::string wrong;
};
Outcome Run(std::string_view body, uint64_t a, uint64_t b) {
  const std::string text =
      Kernel(fmt::format("ld.param.b64 %d2, [argument+8];\nld.param.b64 %d3, [argument+16];\ncvt.u32.u64 "
                         "%r2, %d2;\ncvt.u32.u64 %r3, %d3;\n"
                         "{}st.global.b64 [%d0], %d1;\n",
                         body));
  std::string log;
  const auto module = emulated::CompilePtx(text, &log);
  INFO(text << log);
  REQUIRE(module != nullptr);
  Outcome outcome;
  HostRanges memory;
  memory.Add(&outcome.value, 8);
  const uint64_t argument[] = {reinterpret_cast<uint64_t>(&outcome.value), a, b};
  emulated::Launch launch;
  launch.argument = reinterpret_cast<const std::byte*>(argument);
  outcome.wrong = module->Find("k")->Run(launch, memory);
  return outcome;
}
uint64_t Of64(std::string_view mnemonic, uint64_t a, uint64_t b) {
  return Run(fmt::format("{} %d1, %d2, %d3;\n", mnemonic), a, b).value;
}
uint64_t Of32(std::string_view mnemonic, uint64_t a, uint64_t b) {
  return Run(fmt::format("{} %r1, %r2, %r3;\ncvt.u64.u32 %d1, %r1;\n", mnemonic), a, b).value;
}
uint64_t One(std::string_view statement, uint64_t a) { return Run(statement, a, 0).value; }
uint64_t Bits(double value) { return std::bit_cast<uint64_t>(value); }
uint64_t Bits(float value) { return std::bit_cast<uint32_t>(value); }

TEST_CASE("PTX interpreter: integers", "[gpu][ptx]") {
  CHECK(Of32("add.s32", 0xffffffff, 2) == 1);
  CHECK(Of32("sub.s32", 1, 2) == 0xffffffff);
  CHECK(Of32("mul.lo.s32", 0x80000001, 3) == 0x80000003);
  CHECK(Of32("mul.hi.s32", 0x80000000, 2) == 0xffffffff);
  CHECK(Of32("mul.hi.u32", 0x80000000, 2) == 1);
  CHECK(Of64("mul.hi.u64", uint64_t{1} << 63, 6) == 3);
  CHECK(Of64("mul.hi.s64", uint64_t{1} << 63, 6) == ~uint64_t{2});
  CHECK(Of32("div.s32", static_cast<uint32_t>(-7), 2) == static_cast<uint32_t>(-3));
  CHECK(Of32("rem.s32", static_cast<uint32_t>(-7), 2) == static_cast<uint32_t>(-1));
  CHECK(Of32("div.u32", 0xfffffff9, 2) == 0x7ffffffc);
  CHECK(Of32("div.s32", 7, 0) == 0x5a5a5a5a);
  CHECK(Of32("shl.b32", 1, 31) == 0x80000000);
  CHECK(Of32("shl.b32", 1, 32) == 0);
  CHECK(Of32("shr.s32", 0x80000000, 40) == 0xffffffff);
  CHECK(Of32("shr.u32", 0x80000000, 40) == 0);
  CHECK(Run("shr.s64 %d1, %d2, %r3;\n", uint64_t{1} << 63, 62).value == ~uint64_t{1});
  CHECK(Run("popc.b64 %r1, %d2;\ncvt.u64.u32 %d1, %r1;\n", 0xff00000000000001, 0).value == 9);
  CHECK(Run("clz.b32 %r1, %r2;\ncvt.u64.u32 %d1, %r1;\n", 0, 0).value == 32);
  CHECK(Run("mul.wide.u32 %d1, %r2, %r3;\n", 0xffffffff, 0xffffffff).value == 0xfffffffe00000001);
  CHECK(One("cvt.s64.s32 %d1, %r2;\n", 0x80000000) == 0xffffffff80000000);
}

TEST_CASE("PTX interpreter: floats and their NaNs", "[gpu][ptx]") {
  CHECK(Of32("add.rn.f32", Bits(1.0f), Bits(0x1p-24f)) == Bits(1.0f));  // a tie, to even
  CHECK(Of32("add.rn.f32", Bits(1.0f), Bits(0x1.8p-24f)) == Bits(0x1.000002p0f));
  CHECK(Of32("mul.rn.f32", Bits(0x1p-100f), Bits(0x1p-49f)) == 1);  // subnormal
  CHECK(Of32("div.rn.f32", Bits(1.0f), Bits(3.0f)) == 0x3eaaaaab);
  CHECK(Of32("div.rn.f32", 0, 0) == 0x7fffffff);
  CHECK(Of32("add.rn.f32", 0xffc00001, 0) == 0x7fffffff);
  CHECK(Of64("add.rn.f64", 0x7ff0000000000001, Bits(1.0)) == 0x7ff8000000000001);
  CHECK(Of64("sub.rn.f64", Bits(double{INFINITY}), 0x7ff0000000000000) == 0xfff8000000000000);
  CHECK(One("sqrt.rn.f64 %d1, %d2;\n", Bits(2.0)) == 0x3ff6a09e667f3bcd);
  CHECK(Run("fma.rn.f64 %d1, %d2, %d2, %d3;\n", Bits(0x1.0000001p0), Bits(-0x1.0000002p0)).value ==
        Bits(0x1p-56));
  for (const auto& [order, wanted] : {std::pair("lt", 1), std::pair("le", 1), std::pair("gt", 0),
                                      std::pair("neu", 1), std::pair("eq", 0), std::pair("nan", 0)}) {
    const std::string body = fmt::format(
        "setp.{}.f32 %p0, %r2, %r3;\nselp.b64 %d1, %d2, %d0, %p0;\nsub.s64 %d1, %d1, %d0;\n", order);
    CHECK((Run(body, Bits(1.0f), Bits(2.0f)).value != 0) == (wanted == 1));
    const bool of_nan = std::string_view(order) == "neu" || std::string_view(order) == "nan";
    CHECK((Run(body, Bits(1.0f), 0x7fc00000).value != 0) == of_nan);
  }
  CHECK(One("cvt.rni.f64.f64 %d1, %d2;\n", Bits(2.5)) == Bits(2.0));
  CHECK(One("cvt.rmi.f64.f64 %d1, %d2;\n", Bits(-0.5)) == Bits(-1.0));
  CHECK(One("cvt.rpi.f64.f64 %d1, %d2;\n", Bits(-0.5)) == Bits(-0.0));
}

TEST_CASE("PTX interpreter: conversions", "[gpu][ptx]") {
  const auto half = [](float x) {
    return One("cvt.rn.f16.f32 %h1, %r2;\ncvt.u32.u16 %r1, %h1;\ncvt.u64.u32 %d1, %r1;\n", Bits(x));
  };
  CHECK(half(1.0f) == 0x3c00);
  CHECK(half(65519.0f) == 0x7bff);
  CHECK(half(65520.0f) == 0x7c00);
  CHECK(half(0x1p-25f) == 0);
  CHECK(half(0x1.000002p-25f) == 1);
  CHECK(half(-0x1.ff8p-15f) == 0x83ff);
  CHECK(half(0x1.002p0f) == 0x3c00);  // a tie, to even
  CHECK(half(NAN) == 0x7fff);
  const auto bfloat = [](float x) {
    return One("cvt.rn.bf16.f32 %h1, %r2;\ncvt.u32.u16 %r1, %h1;\ncvt.u64.u32 %d1, %r1;\n", Bits(x));
  };
  CHECK(bfloat(0x1.01p0f) == 0x3f80);
  CHECK(bfloat(0x1.03p0f) == 0x3f82);
  CHECK(bfloat(3.4e38f) == 0x7f80);
  CHECK(bfloat(NAN) == 0x7fff);
  const auto wide = [](uint64_t bits) {
    return One("cvt.u16.u32 %h1, %r2;\ncvt.f32.f16 %r1, %h1;\ncvt.u64.u32 %d1, %r1;\n", bits);
  };
  CHECK(wide(0x3c01) == Bits(0x1.004p0f));
  CHECK(wide(0x8001) == Bits(-0x1p-24f));
  CHECK(wide(0x7c00) == Bits(INFINITY));
  CHECK(wide(0xfe00) == 0x7fffffff);
  CHECK(One("cvt.rn.f64.u64 %d1, %d2;\n", ~uint64_t{0}) == Bits(0x1p64));
  CHECK(One("cvt.rz.f64.u64 %d1, %d2;\n", ~uint64_t{0}) == Bits(0x1.fffffffffffffp63));
  CHECK(One("cvt.rz.f64.s64 %d1, %d2;\n", uint64_t{1} << 63) == Bits(-0x1p63));
  CHECK(One("cvt.rzi.s64.f64 %d1, %d2;\n", Bits(-2.9)) == ~uint64_t{1});
  CHECK(One("cvt.rzi.u64.f64 %d1, %d2;\n", Bits(-1.0)) == 0x5a5a5a5a5a5a5a5a);
  CHECK(One("cvt.rn.f32.f64 %r1, %d2;\ncvt.u64.u32 %d1, %r1;\n", Bits(0x1p-150)) == 0);
}

TEST_CASE("PTX interpreter: memory, loops and guards", "[gpu][ptx]") {
  CHECK(
      Run("mov.u64 %d4, table;\nmov.b64 %d5, 0x8;\nadd.s64 %d4, %d4, %d5;\nld.global.b64 %d1, [%d4];\n", 0, 0)
          .value == 0x22);
  // A sum of 1 to 10, and what a false guard leaves alone.
  CHECK(Run("mov.b64 %d1, 0x0;\nmov.b64 %d4, 0x1;\nmov.b64 %d5, 0x0;\nL0:\nadd.s64 %d5, %d5, %d4;\n"
            "add.s64 %d1, %d1, %d5;\nsetp.lt.s64 %p0, %d5, %d2;\n@%p0 bra L0;\n@!%p0 add.s64 %d1, %d1, %d4;\n"
            "@%p0 mov.b64 %d1, 0x0;\n",
            10, 0)
            .value == 56);
  CHECK(Run("st.global.b64 [%d0], %d2;\natom.global.add.u64 %d1, [%d0], %d3;\n", 5, 7).value == 5);
  const std::string outside = Run("mov.b64 %d4, 0x8;\nadd.s64 %d4, %d0, %d4;\nld.global.u8 %r1, [%d4];\n"
                                  "mov.b64 %d1, 0x0;\n",
                                  0, 0)
                                  .wrong;
  CHECK(outside.find("block 0, thread 0, line 20: an access of 1 bytes at 0x") != std::string::npos);
  CHECK(outside.find("outside of every allocation") != std::string::npos);
  CHECK(Run("mov.b64 %d4, 0x4;\nadd.s64 %d4, %d0, %d4;\nld.global.b64 %d1, [%d4];\n", 0, 0)
            .wrong.find("is not aligned") != std::string::npos);
  CHECK(Run("mov.u64 %d4, table;\nst.global.b64 [%d4], %d2;\nmov.b64 %d1, 0x0;\n", 0, 0)
            .wrong.find("outside") != std::string::npos);
  CHECK(Run("mov.b64 %d1, 0x0;\nL1:\nbra L1;\n", 0, 0).wrong.find("does not end") != std::string::npos);
}

TEST_CASE("PTX interpreter: lanes hand words to each other", "[gpu][ptx]") {
  // Lane i stores what lane i ^ 3 has, which is 10 i; of `members`, by lanes for which `reaches` holds.
  const auto run = [](std::string_view members, std::string_view reaches, std::vector<uint32_t>& words) {
    const std::string text = Kernel(fmt::format(
        "mov.u32 %r0, %tid.x;\nmov.b32 %r1, 0xa;\nmul.lo.s32 %r2, %r0, %r1;\nmov.b32 %r3, 0x3;\n"
        "mov.b32 %r4, {};\n{}shfl.sync.bfly.b32 %r5, %r2, %r3, 31, %r4;\nL1:\n"
        "cvt.u64.u32 %d1, %r0;\nmov.b32 %r6, 0x2;\nshl.b64 %d1, %d1, %r6;\nadd.s64 %d0, %d0, %d1;\n"
        "st.global.b32 [%d0], %r5;\n",
        members, reaches));
    std::string log;
    const auto module = emulated::CompilePtx(text, &log);
    INFO(text << log);
    REQUIRE(module != nullptr);
    HostRanges memory;
    memory.Add(words.data(), 4 * words.size());
    const uint64_t argument[] = {reinterpret_cast<uint64_t>(words.data()), 0, 0};
    emulated::Launch launch;
    launch.argument = reinterpret_cast<const std::byte*>(argument);
    launch.grid[0] = 1;
    launch.block[0] = static_cast<uint32_t>(words.size());
    return module->Find("k")->Run(launch, memory);
  };
  std::vector<uint32_t> words(64);
  CHECK(run("0xffffffff", "", words).empty());
  for (uint32_t i = 0; i < 64; ++i) CHECK(words[i] == 10 * (i ^ 3));
  CHECK_THAT(run("0xfffffff0", "", words), Catch::Contains("members are others"));
  CHECK_THAT(run("0xffffffff", "mov.b32 %r7, 0x9;\nsetp.eq.b32 %p0, %r0, %r7;\n@%p0 bra L1;\n", words),
             Catch::Contains("a shuffle that lane 9 does not reach"));
  words.resize(40);  // half of the second warp
  CHECK_THAT(run("0xffffffff", "", words), Catch::Contains("lane 8 does not reach"));
}

TEST_CASE("PTX interpreter: what is not of the subset names its line", "[gpu][ptx]") {
  const auto log_of = [](std::string_view body) {
    std::string log;
    const auto module = emulated::CompilePtx(Kernel(body), &log);
    CHECK(module == nullptr);
    return log;
  };
  CHECK(log_of("add.f32 %r1, %r2, %r3;\n") == "line 14: an unknown instruction: add.f32");
  CHECK(log_of("add.rn.f32 %r1, %r2, %d3;\n") == "line 14: no register %r: %d3");
  CHECK(log_of("add.rn.f32 %r1, %r2, %r8;\n") == "line 14: a register that is not declared: %r8");
  CHECK(log_of("add.rn.f32 %r1, %r2;\n").starts_with("line 14: "));
  CHECK(log_of("add.rn.f32 %r1, %r2, %r3, %r3;\n").starts_with("line 14: "));
  CHECK(log_of("bra L7;\n") == "line 14: no such label: L7");
  CHECK(log_of("L7:\nL7:\n") == "line 15: a label that stands twice: L7");
  CHECK(log_of("ld.param.b64 %d1, [argument+24];\n").starts_with("line 14: beyond the argument"));
  CHECK(log_of("st.shared.b64 [%d1], %d2;\n").starts_with("line 14: "));
  CHECK(log_of("mov.u64 %d1, tables;\n") == "line 14: no such array: tables");
  CHECK(log_of("ret;\n}\nret;\n").starts_with("line 16: "));
}

}  // namespace
}  // namespace assay::testing
