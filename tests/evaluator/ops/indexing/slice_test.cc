// slice, pad, concatenate, dynamic-slice and dynamic-update-slice against the specification's formulas, index
// by index. Worked examples and refusals are goldens (golden/shape).
#include "tests/evaluator/ops/shape_testing.h"
#include "tests/run/program_testing.h"

namespace assay::testing {

TEST_CASE("slice: out[I] = operand[start + I * stride]", "[slice]") {
  Random random(1);
  for (int i = 0; i < 150; ++i) {
    const int rank = static_cast<int>(random.Int(0, 4));
    Array x = random.Fill(random.Sizes(rank, 0, 7), -99, 99);
    Index start, stride, sizes;
    std::string slice;
    for (int d = 0; d < rank; ++d) {
      start.push_back(random.Int(0, x.sizes[d]));
      const int64_t limit = random.Int(start[d], x.sizes[d]);
      stride.push_back(random.Int(1, 4));
      sizes.push_back((limit - start[d] + stride[d] - 1) / stride[d]);
      slice += fmt::format("{}[{}:{}:{}]", d ? "," : "", start[d], limit, stride[d]);
    }
    Array out(sizes);
    out.ForEach([&](const Index& I) {
      Index J = I;
      for (int d = 0; d < rank; ++d) J[d] = start[d] + I[d] * stride[d];
      out.At(I) = x.At(J);
    });
    const std::string text = fmt::format(
        R"(HloModule m
ENTRY e {{
 p0 = {} parameter(0)
 ROOT r = {} slice(p0), slice={{{}}}
}})",
        x.Text(), out.Text(), slice);
    CHECK(ValuesOf(RunOk(text, {x.ToLiteral()})) == out.values);
  }
}

TEST_CASE("pad: interior first, then edges", "[pad]") {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const int rank = static_cast<int>(random.Int(1, 3));
    Array x = random.Fill(random.Sizes(rank, 0, 5), 1, 99);
    Index low, interior, sizes;
    std::string padding;
    for (int d = 0; d < rank; ++d) {
      interior.push_back(random.Int(0, 3));
      low.push_back(random.Int(-4, 3));
      int64_t high = random.Int(-4, 3);
      const int64_t body = low[d] + x.sizes[d] + std::max<int64_t>(x.sizes[d] - 1, 0) * interior[d];
      high = std::max(high, -body);
      sizes.push_back(body + high);
      padding += fmt::format("{}{}_{}_{}", d ? "x" : "", low[d], high, interior[d]);
    }
    Array out(sizes, -7);
    x.ForEach([&](const Index& J) {
      Index T = J;
      bool inside = true;
      for (int d = 0; d < rank; ++d) {
        T[d] = low[d] + J[d] * (interior[d] + 1);
        inside &= T[d] >= 0 && T[d] < sizes[d];
      }
      if (inside) out.At(T) = x.At(J);
    });
    const std::string text = fmt::format(
        R"(HloModule m
ENTRY e {{
 p0 = {} parameter(0)
 v = s32[] constant(-7)
 ROOT r = {} pad(p0, v), padding={}
}})",
        x.Text(), out.Text(), padding);
    CHECK(ValuesOf(RunOk(text, {x.ToLiteral()})) == out.values);
  }
}

TEST_CASE("concatenate: operands one after the other", "[concatenate]") {
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    const int rank = static_cast<int>(random.Int(1, 3));
    const int64_t along = random.Int(0, rank - 1), count = random.Int(1, 4);
    Index sizes = random.Sizes(rank, 1, 4);
    std::vector<Array> parts;
    std::string parameters, names;
    int64_t total = 0;
    for (int64_t k = 0; k < count; ++k) {
      sizes[along] = random.Int(0, 3);
      total += sizes[along];
      parts.push_back(random.Fill(sizes, -99, 99));
      parameters += fmt::format(" p{} = {} parameter({})\n", k, parts[k].Text(), k);
      names += fmt::format("{}p{}", k ? ", " : "", k);
    }
    sizes[along] = total;
    Array out(sizes);
    int64_t offset = 0;
    std::vector<Literal> arguments;
    for (Array& part : parts) {
      part.ForEach([&](Index J) {
        const int64_t value = part.At(J);
        J[along] += offset;
        out.At(J) = value;
      });
      offset += part.sizes[along];
      arguments.push_back(part.ToLiteral());
    }
    const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
{} ROOT r = {} concatenate({}), dimensions={{{}}}
}})",
                                         parameters, out.Text(), names, along);
    CHECK(ValuesOf(RunOk(text, std::move(arguments))) == out.values);
  }
}

TEST_CASE("dynamic-slice and dynamic-update-slice: starts are clamped in every dimension",
          "[dynamic-slice]") {
  Random random(4);
  for (int i = 0; i < 100; ++i) {
    const int rank = static_cast<int>(random.Int(1, 3));
    Array x = random.Fill(random.Sizes(rank, 1, 5), -99, 99);
    Index sizes, start, s;
    std::string parameters, names;
    std::vector<Literal> starts;
    for (int d = 0; d < rank; ++d) {
      sizes.push_back(random.Int(0, x.sizes[d]));
      start.push_back(random.Int(-3, 7));
      s.push_back(std::clamp<int64_t>(start[d], 0, x.sizes[d] - sizes[d]));
      starts.push_back(Literal::ScalarInt(ElementType::kS64, start[d]));
      parameters += fmt::format(" i{} = s64[] parameter({})\n", d, d + 2);
      names += fmt::format(", i{}", d);
    }
    Array update = random.Fill(sizes, 100, 199), out(sizes), updated = x;
    out.ForEach([&](const Index& I) {
      Index J = I;
      for (int d = 0; d < rank; ++d) J[d] += s[d];
      out.At(I) = x.At(J);
      updated.At(J) = update.At(I);
    });
    const std::string text = fmt::format(
        R"(HloModule m
ENTRY e {{
 x = {0} parameter(0)
 u = {1} parameter(1)
{2} a = {1} dynamic-slice(x{3}), dynamic_slice_sizes={4}
 b = {0} dynamic-update-slice(x, u{3})
 ROOT t = ({1}, {0}, {0}) tuple(a, b, x)
}})",
        x.Text(), out.Text(), parameters, names, Braces(sizes));
    std::vector<Literal> arguments = {x.ToLiteral(), update.ToLiteral()};
    arguments.insert(arguments.end(), starts.begin(), starts.end());
    const Literal result = RunOk(text, std::move(arguments));
    CHECK(ValuesOf(result.element(0)) == out.values);
    CHECK(ValuesOf(result.element(1)) == updated.values);
    CHECK(ValuesOf(result.element(2)) == x.values);
  }
}

TEST_CASE("dynamic-update-slice: an unshared operand is overwritten in place", "[dynamic-update-slice]") {
  const std::string text =
      R"(HloModule m
ENTRY e {
 x = s32[4] parameter(0)
 u = s32[1] constant({9})
 i = s32[] constant(2)
 ROOT r = s32[4] dynamic-update-slice(x, u, i)
})";
  const Program program = ProgramOf(text);
  for (const EngineChoice choice : {EngineChoice::kReference, EngineChoice::kExact}) {
    const int64_t size = 4, values[] = {1, 2, 3, 4};
    std::vector<Literal> arguments = {Literal::FromInts(ElementType::kS32, {&size, 1}, values)};
    const std::byte* storage = arguments[0].data();
    // Without the cross-check, which shares the operands.
    const Literal result = program.Run(std::move(arguments), {}, EnginesOf(choice)).value();
    CHECK(result.data() == storage);
    CHECK(ValuesOf(result) == std::vector<int64_t>{1, 2, 9, 4});
  }
}

}  // namespace assay::testing
