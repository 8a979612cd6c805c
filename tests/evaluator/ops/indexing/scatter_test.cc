// scatter against the specification's pseudo-code, one update at a time, with dimension numbers drawn at
// random. Worked examples, exact sums and refusals are goldens (golden/shape/scatter_*).
#include "tests/evaluator/ops/shape_testing.h"

namespace assay::testing {
namespace {

struct ScatterCase {
  Array operand{{}}, indices{{}}, updates{{}};
  Index window_dims, inserted, to_operand, input_batching, indices_batching;
  int64_t index_vector_dim = 0;
};

ScatterCase RandomScatter(Random& random) {
  ScatterCase c;
  const int64_t rank = random.Int(0, 3);
  c.operand = random.Fill(random.Sizes(static_cast<int>(rank), 1, 4), -9, 9);
  const Index roles = random.Pick(Upto(rank), rank);
  const int64_t batching = random.Int(0, std::min<int64_t>(rank, 2));
  c.input_batching.assign(roles.begin(), roles.begin() + batching);
  std::sort(c.input_batching.begin(), c.input_batching.end());
  Index rest(roles.begin() + batching, roles.end());
  c.to_operand = random.Pick(rest, random.Int(0, static_cast<int64_t>(rest.size())));
  c.inserted = random.Pick(rest, random.Int(0, static_cast<int64_t>(rest.size())));
  std::sort(c.inserted.begin(), c.inserted.end());
  Index window;
  for (int64_t d = 0; d < rank; ++d) {
    if (!Has(c.inserted, d) && !Has(c.input_batching, d)) window.push_back(random.Int(0, c.operand.sizes[d]));
  }
  Index batch = random.Sizes(static_cast<int>(random.Int(0, 2)), 0, 4);
  Index places = random.Pick(Upto(static_cast<int64_t>(batch.size()) + batching), batching);
  Index order = places;
  std::sort(order.begin(), order.end());
  for (int64_t place : order) {
    const auto k = std::find(places.begin(), places.end(), place) - places.begin();
    batch.insert(batch.begin() + place, c.operand.sizes[c.input_batching[k]]);
  }
  c.index_vector_dim = random.Int(0, static_cast<int64_t>(batch.size()));
  Index index_sizes = batch;
  index_sizes.insert(index_sizes.begin() + c.index_vector_dim, static_cast<int64_t>(c.to_operand.size()));
  for (int64_t place : places) c.indices_batching.push_back(place < c.index_vector_dim ? place : place + 1);
  c.indices = random.Fill(index_sizes, -1, 3);
  const int64_t rank_u = static_cast<int64_t>(batch.size() + window.size());
  c.window_dims = random.Pick(Upto(rank_u), window.size());
  std::sort(c.window_dims.begin(), c.window_dims.end());
  Index sizes;
  for (int64_t d = 0, b = 0, k = 0; d < rank_u; ++d) {
    sizes.push_back(Has(c.window_dims, d) ? window[k++] : batch[b++]);
  }
  c.updates = random.Fill(sizes, -9, 9);
  return c;
}

// The specification's loop.
template <typename Combine>
Array SlowScatter(ScatterCase& c, const Combine& combine) {
  Array out = c.operand;
  const size_t rank = c.operand.sizes.size();
  c.updates.ForEach([&](const Index& U) {
    Index G, extents(rank, 1), win(rank, 0), full(rank, 0);
    for (size_t d = 0; d < U.size(); ++d) {
      if (!Has(c.window_dims, static_cast<int64_t>(d))) G.push_back(U[d]);
    }
    for (size_t d = 0, k = 0; d < rank; ++d) {
      const int64_t n = static_cast<int64_t>(d);
      if (Has(c.inserted, n) || Has(c.input_batching, n)) continue;
      extents[d] = c.updates.sizes[c.window_dims[k]];
      win[d] = U[c.window_dims[k++]];
    }
    for (size_t k = 0; k < c.to_operand.size(); ++k) {
      Index at = G;
      at.insert(at.begin() + c.index_vector_dim, static_cast<int64_t>(k));
      full[c.to_operand[k]] = c.indices.At(at);
    }
    for (size_t k = 0; k < c.input_batching.size(); ++k) {
      const int64_t d = c.indices_batching[k];
      full[c.input_batching[k]] = G[d < c.index_vector_dim ? d : d - 1];
    }
    Index I = full;
    for (size_t d = 0; d < rank; ++d) {
      if (full[d] < 0 || full[d] > c.operand.sizes[d] - extents[d]) return;
      I[d] += win[d];
    }
    int64_t& value = out.At(I);
    value = combine(value, c.updates.At(U));
  });
  return out;
}

std::string ScatterText(const ScatterCase& c, const std::string& type, const std::string& combiner) {
  const auto shape = [&](const Array& array) {
    return fmt::format("{}[{}]", type, fmt::join(array.sizes, ","));
  };
  return fmt::format(
      R"(HloModule m
f {{
 a = {0}[] parameter(0)
 b = {0}[] parameter(1)
 two = {0}[] constant(2)
 m = {0}[] multiply(a, two)
 ROOT r = {1}
}}
ENTRY e {{
 p = {2} parameter(0)
 i = {3} parameter(1)
 u = {4} parameter(2)
 ROOT r = {2} scatter(p, i, u), update_window_dims={5}, inserted_window_dims={6}, scatter_dims_to_operand_dims={7}, input_batching_dims={8}, scatter_indices_batching_dims={9}, index_vector_dim={10}, to_apply=f
}})",
      type, combiner, shape(c.operand), c.indices.Text(), shape(c.updates), Braces(c.window_dims),
      Braces(c.inserted), Braces(c.to_operand), Braces(c.input_batching), Braces(c.indices_batching),
      c.index_vector_dim);
}

Literal AsF64(const Array& array) {
  const std::vector<double> values(array.values.begin(), array.values.end());
  return Literal::FromDoubles(ElementType::kF64, array.sizes, values);
}

}  // namespace

TEST_CASE("scatter: random dimension numbers agree with the specification's loop", "[scatter]") {
  Random random(7);
  for (int i = 0; i < 400; ++i) {
    ScatterCase c = RandomScatter(random);
    const std::vector<Literal> arguments = {c.operand.ToLiteral(), c.indices.ToLiteral(),
                                            c.updates.ToLiteral()};
    // Wraps as s32 does, and depends on the order of updates.
    const Array ordered = SlowScatter(c, [](int64_t a, int64_t b) {
      return static_cast<int64_t>(
          static_cast<int32_t>(static_cast<uint32_t>(2 * a) + static_cast<uint32_t>(b)));
    });
    const Array replaced = SlowScatter(c, [](int64_t, int64_t b) { return b; });
    const std::string text = ScatterText(c, "s32", "s32[] add(m, b)");
    INFO(text);
    CHECK(ValuesOf(RunOk(text, arguments)) == ordered.values);
    CHECK(ValuesOf(RunOk(ScatterText(c, "s32", "s32[] add(b, b)"), arguments)) ==
          SlowScatter(c, [](int64_t, int64_t b) { return 2 * b; }).values);
    const std::string second = fmt::format("s32[] copy(b)");
    CHECK(ValuesOf(RunOk(ScatterText(c, "s32", second), arguments)) == replaced.values);
  }
}

TEST_CASE("scatter: a float add sums every hit of an element", "[scatter]") {
  Random random(8);
  for (int i = 0; i < 300; ++i) {
    ScatterCase c = RandomScatter(random);
    const Array sums = SlowScatter(c, [](int64_t a, int64_t b) { return a + b; });
    const Literal result = RunOk(ScatterText(c, "f64", "f64[] add(a, b)"),
                                 {AsF64(c.operand), c.indices.ToLiteral(), AsF64(c.updates)});
    for (int64_t k = 0; k < sums.Count(); ++k) REQUIRE(result.GetDouble(k) == sums.values[k]);
  }
}

TEST_CASE("scatter: many hits over many positions are summed", "[scatter]") {
  Random random(17);
  for (const int64_t positions : {3, 2048, 2049, 6000}) {
    Array operand = random.Fill({positions}, -9, 9), indices = random.Fill({5000, 1}, -1, positions),
          updates = random.Fill({5000}, -9, 9), sums = operand;
    for (int64_t i = 0; i < 5000; ++i) {
      const int64_t at = indices.values[i];
      if (at >= 0 && at < positions) sums.values[at] += updates.values[i];
    }
    const std::string text = fmt::format(
        R"(HloModule m
f {{
 a = f64[] parameter(0)
 b = f64[] parameter(1)
 ROOT r = f64[] add(b, a)
}}
ENTRY e {{
 p = f64[{0}] parameter(0)
 i = s32[5000,1] parameter(1)
 u = f64[5000] parameter(2)
 ROOT r = f64[{0}] scatter(p, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=f
}})",
        positions);
    const Literal result = RunOk(text, {AsF64(operand), indices.ToLiteral(), AsF64(updates)});
    bool equal = true;
    for (int64_t k = 0; k < positions; ++k) equal &= result.GetDouble(k) == sums.values[k];
    CHECK(equal);
  }
}

TEST_CASE("scatter: a combiner that is its second parameter keeps the last update", "[scatter]") {
  const std::string text =
      R"(HloModule m
f {
 a = s32[] parameter(0)
 ROOT b = s32[] parameter(1)
}
ENTRY e {
 p = s32[3] parameter(0)
 i = s32[3,1] parameter(1)
 u = s32[3] parameter(2)
 ROOT r = s32[3] scatter(p, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
})";
  Array p({3}), i({3, 1}), u({3});
  p.values = {1, 2, 3};
  i.values = {1, 1, 3};
  u.values = {7, 8, 9};
  CHECK(ValuesOf(RunOk(text, {p.ToLiteral(), i.ToLiteral(), u.ToLiteral()})) ==
        std::vector<int64_t>{1, 8, 3});
}

}  // namespace assay::testing
