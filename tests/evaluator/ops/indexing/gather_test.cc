// gather against the specification's pseudo-code, index by index, with dimension numbers drawn at random.
// Worked examples and refusals are goldens (golden/shape/gather_*).
#include "tests/evaluator/ops/shape_testing.h"

namespace assay::testing {
namespace {

struct GatherCase {
  Array operand{{}}, indices{{}}, out{{}};
  Index offset_dims, collapsed, start_map, operand_batching, indices_batching, slice_sizes;
  int64_t index_vector_dim = 0;
};

GatherCase RandomGather(Random& random) {
  GatherCase c;
  const int64_t rank = random.Int(0, 4);
  c.operand = random.Fill(random.Sizes(static_cast<int>(rank), 1, 4), -99, 99);
  const Index roles = random.Pick(Upto(rank), rank);
  const int64_t batching = random.Int(0, std::min<int64_t>(rank, 2));
  c.operand_batching.assign(roles.begin(), roles.begin() + batching);
  std::sort(c.operand_batching.begin(), c.operand_batching.end());
  Index rest(roles.begin() + batching, roles.end());
  c.start_map = random.Pick(rest, random.Int(0, static_cast<int64_t>(rest.size())));
  c.collapsed = random.Pick(rest, random.Int(0, static_cast<int64_t>(rest.size())));
  std::sort(c.collapsed.begin(), c.collapsed.end());
  Index kept;
  for (int64_t d = 0; d < rank; ++d) {
    const bool gone = Has(c.collapsed, d) || Has(c.operand_batching, d);
    c.slice_sizes.push_back(gone ? 1 : random.Int(0, c.operand.sizes[d]));
    if (!gone) kept.push_back(c.slice_sizes[d]);
  }
  Index batch = random.Sizes(static_cast<int>(random.Int(0, 2)), 0, 3);
  Index places = random.Pick(Upto(static_cast<int64_t>(batch.size()) + batching), batching);
  Index order = places;
  std::sort(order.begin(), order.end());
  for (int64_t place : order) {
    const auto k = std::find(places.begin(), places.end(), place) - places.begin();
    batch.insert(batch.begin() + place, c.operand.sizes[c.operand_batching[k]]);
  }
  c.index_vector_dim = random.Int(0, static_cast<int64_t>(batch.size()));
  Index index_sizes = batch;
  // An index vector of one component may be implicit.
  const bool implicit = c.start_map.size() == 1 && random.Int(0, 2) == 0;
  if (implicit) {
    c.index_vector_dim = static_cast<int64_t>(batch.size());
  } else {
    index_sizes.insert(index_sizes.begin() + c.index_vector_dim, static_cast<int64_t>(c.start_map.size()));
  }
  for (int64_t place : places) c.indices_batching.push_back(place < c.index_vector_dim ? place : place + 1);
  c.indices = random.Fill(index_sizes, -2, 5);
  const int64_t out_rank = static_cast<int64_t>(batch.size() + kept.size());
  c.offset_dims = random.Pick(Upto(out_rank), kept.size());
  std::sort(c.offset_dims.begin(), c.offset_dims.end());
  Index out;
  for (int64_t d = 0, b = 0, k = 0; d < out_rank; ++d) {
    out.push_back(Has(c.offset_dims, d) ? kept[k++] : batch[b++]);
  }
  c.out = Array(out);
  return c;
}

// The specification's loop.
void SlowGather(GatherCase& c) {
  const size_t rank = c.operand.sizes.size();
  const bool implicit = c.index_vector_dim == static_cast<int64_t>(c.indices.sizes.size());
  c.out.ForEach([&](const Index& O) {
    Index G;
    for (size_t d = 0; d < O.size(); ++d) {
      if (!Has(c.offset_dims, static_cast<int64_t>(d))) G.push_back(O[d]);
    }
    Index full(rank, 0);
    for (size_t k = 0; k < c.start_map.size(); ++k) {
      Index at = G;
      if (!implicit) at.insert(at.begin() + c.index_vector_dim, static_cast<int64_t>(k));
      full[c.start_map[k]] = c.indices.At(at);
    }
    for (size_t d = 0; d < rank; ++d) {
      full[d] = std::clamp<int64_t>(full[d], 0, c.operand.sizes[d] - c.slice_sizes[d]);
    }
    for (size_t k = 0; k < c.operand_batching.size(); ++k) {
      const int64_t d = c.indices_batching[k];
      full[c.operand_batching[k]] = G[d < c.index_vector_dim ? d : d - 1];
    }
    size_t k = 0;
    for (size_t d = 0; d < rank; ++d) {
      const int64_t n = static_cast<int64_t>(d);
      if (!Has(c.collapsed, n) && !Has(c.operand_batching, n)) full[d] += O[c.offset_dims[k++]];
    }
    c.out.At(O) = c.operand.At(full);
  });
}

}  // namespace

TEST_CASE("gather: random dimension numbers agree with the specification's loop", "[gather]") {
  Random random(5);
  for (int i = 0; i < 500; ++i) {
    GatherCase c = RandomGather(random);
    SlowGather(c);
    const std::string text = fmt::format(
        R"(HloModule m
ENTRY e {{
 p = {} parameter(0)
 i = {} parameter(1)
 ROOT r = {} gather(p, i), offset_dims={}, collapsed_slice_dims={}, start_index_map={}, operand_batching_dims={}, start_indices_batching_dims={}, index_vector_dim={}, slice_sizes={}
}})",
        c.operand.Text(), c.indices.Text(), c.out.Text(), Braces(c.offset_dims), Braces(c.collapsed),
        Braces(c.start_map), Braces(c.operand_batching), Braces(c.indices_batching), c.index_vector_dim,
        Braces(c.slice_sizes));
    INFO(text);
    CHECK(ValuesOf(RunOk(text, {c.operand.ToLiteral(), c.indices.ToLiteral()})) == c.out.values);
  }
}

TEST_CASE("gather: long runs of index vectors go strip by strip", "[gather]") {
  Random random(6);
  Array operand = random.Fill({50, 3}, -99, 99), indices = random.Fill({7, 300}, -5, 60), out({7, 300, 3});
  out.ForEach([&](const Index& O) {
    const int64_t row = std::clamp<int64_t>(indices.At({O[0], O[1]}), 0, 49);
    out.At(O) = operand.At({row, O[2]});
  });
  const std::string text =
      R"(HloModule m
ENTRY e {
 p = s32[50,3] parameter(0)
 i = s32[7,300] parameter(1)
 ROOT r = s32[7,300,3] gather(p, i), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,3}
})";
  CHECK(ValuesOf(RunOk(text, {operand.ToLiteral(), indices.ToLiteral()})) == out.values);
}

}  // namespace assay::testing
