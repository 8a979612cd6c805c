// Indices that come as values: gather, scatter, dynamic slices. Where a window would leave its array it is
// moved inside (or dropped); updates may hit one element twice;
// what unique_indices and indices_are_sorted promise may not hold.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "evaluator/audits/rules.h"
#include "evaluator/eval_context.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "shape/index.h"

namespace assay::audit {
namespace {

const Shape& ArrayOf(const Shape& shape) { return shape.IsArray() ? shape : shape.element(0); }

bool Has(std::span<const int64_t> list, int64_t d) {
  return std::find(list.begin(), list.end(), d) != list.end();
}

// The index vectors of gather and scatter: component k stands for dimension map[k] of the operand. Windows of
// `extents` start where they say.
class IndexVectors {
 public:
  IndexVectors(const Shape& indices, const AttributeMap& attributes, Attr map, Attr of_operand,
               Attr of_indices)
      : dimension_(attributes.Int(Attr::kIndexVectorDim)),
        map_(attributes.List(map)),
        operand_batch_(attributes.List(of_operand)),
        indices_batch_(attributes.List(of_indices)),
        type_(indices.element_type()),
        strides_(RowMajorStrides(indices.sizes())) {
    for (int64_t d = 0; d < indices.rank(); ++d) {
      if (d == dimension_) continue;
      batch_dims_.push_back(d);
      sizes_.push_back(indices.size(d));
    }
  }

  // Sizes at run time.
  void TakeSizes(const Literal& indices) {
    for (size_t k = 0; k < batch_dims_.size(); ++k) sizes_[k] = indices.dynamic_size(batch_dims_[k]);
  }
  const DimVector& sizes() const { return sizes_; }
  int64_t count() const {
    return std::accumulate(sizes_.begin(), sizes_.end(), int64_t{1}, std::multiplies<>());
  }
  std::span<const int64_t> map() const { return map_; }

  // Where the window of index vector g starts.
  void Start(const Literal& indices, std::span<const int64_t> g, DimVector& start) const {
    std::fill(start.begin(), start.end(), 0);
    int64_t position = 0;
    for (size_t k = 0; k < g.size(); ++k) position += g[k] * strides_[static_cast<size_t>(batch_dims_[k])];
    const int64_t step =
        dimension_ < static_cast<int64_t>(strides_.size()) ? strides_[static_cast<size_t>(dimension_)] : 0;
    for (size_t k = 0; k < map_.size(); ++k) {
      start[static_cast<size_t>(map_[k])] =
          LoadIndex(type_, indices.data() + (position + static_cast<int64_t>(k) * step) * Bytes(type_));
    }
    for (size_t k = 0; k < operand_batch_.size(); ++k) {
      const auto place = std::find(batch_dims_.begin(), batch_dims_.end(), indices_batch_[k]);
      start[static_cast<size_t>(operand_batch_[k])] = g[static_cast<size_t>(place - batch_dims_.begin())];
    }
  }

 private:
  const int64_t dimension_;
  const std::span<const int64_t> map_, operand_batch_, indices_batch_;
  const ElementType type_;
  const DimVector strides_;
  DimVector batch_dims_, sizes_;
};

bool IsInside(const DimVector& start, std::span<const int64_t> sizes, std::span<const int64_t> extents) {
  for (size_t d = 0; d < start.size(); ++d) {
    if (start[d] < 0 || start[d] > std::max<int64_t>(sizes[d] - extents[d], 0)) return false;
  }
  return true;
}

void Add(Dependence& found, absl::FunctionRef<std::string()> first) {
  if (found.count++ == 0) found.first = first();
}

std::string ListText(std::span<const int64_t> list) { return fmt::format("[{}]", fmt::join(list, ",")); }

// The text alone: a component that may lie outside of [0, size - extent].
bool MayLeave(const IntegerRange& range, std::span<const int64_t> map, std::span<const int64_t> sizes,
              std::span<const int64_t> extents) {
  return std::any_of(map.begin(), map.end(), [&](int64_t d) {
    const auto at = static_cast<size_t>(d);
    return range.low < 0 || range.high > std::max<int64_t>(sizes[at] - extents[at], 0);
  });
}

// Windows that leave the array, and vectors that stand before a smaller one although
// they are said to be sorted.
void LookAtVectors(AuditContext& c, AuditPoint outside, const Literal& indices, const IndexVectors& vectors,
                   std::span<const int64_t> sizes, std::span<const int64_t> extents) {
  Dependence left, unsorted;
  left.of = unsorted.of = vectors.count();
  DimVector g(vectors.sizes().size(), 0), start(sizes.size()), before;
  if (!c.Charge(vectors.count())) return;
  for (bool more = vectors.count() > 0; more; more = NextIndex(vectors.sizes(), g)) {
    vectors.Start(indices, g, start);
    const auto text = [&] { return fmt::format("index vector {}: {}", ListText(g), ListText(start)); };
    if (!IsInside(start, sizes, extents)) Add(left, text);
    if (start < before) {
      Add(unsorted, [&] { return fmt::format("{} behind {}", text(), ListText(before)); });
    }
    before = start;
  }
  c.RecordFound(outside, left);
  if (c.attributes().Bool(Attr::kIndicesAreSorted)) c.RecordFound(AuditPoint::kIndicesNotSorted, unsorted);
}

// The dimensions of a scatter.
struct Windows {
  explicit Windows(AuditContext& c) : n(c.view().num_operands() / 2) {
    const AttributeMap& attributes = c.attributes();
    const Shape &operand = c.view().operand(0), &updates = c.view().operand(n + 1);
    window_dims = attributes.List(Attr::kUpdateWindowDims);
    extents.assign(static_cast<size_t>(operand.rank()), 1);
    size_t k = 0;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      if (Has(attributes.List(Attr::kInsertedWindowDims), d) ||
          Has(attributes.List(Attr::kInputBatchingDims), d))
        continue;
      operand_dims.push_back(d);
      extents[static_cast<size_t>(d)] = updates.size(window_dims[k++]);
    }
    for (int64_t d = 0; d < updates.rank(); ++d) {
      if (!Has(window_dims, d)) batch_dims.push_back(d);
    }
  }
  const size_t n;
  std::span<const int64_t> window_dims;  // of the updates
  DimVector operand_dims, extents,
      batch_dims;  // what these stand for; by dimension of the operand; the others
};

bool UpdatesDiffer(AuditContext& c, const Windows& w, int64_t a, int64_t b) {
  for (size_t k = w.n + 1; k < c.view().num_operands(); ++k) {
    const Literal& update = *c.Operand(k);
    const int64_t bytes = Bytes(update.shape().element_type());
    if (std::memcmp(update.data() + a * bytes, update.data() + b * bytes, static_cast<size_t>(bytes)) != 0)
      return true;
  }
  return false;
}

// Counts the elements that updates hit again: those that replace what is there where they are not all alike.
// `hits` has the last update by element, 0: none.
void CountCollisions(AuditContext& c, const Windows& w, const IndexVectors& vectors, Combiner combiner,
                     Literal hits) {
  const Literal &operand = *c.Operand(0), &indices = *c.Operand(w.n), &update = *c.Operand(w.n + 1);
  const DimVector sizes = operand.runtime_sizes(), update_strides = RowMajorStrides(update.shape().sizes());
  const DimVector strides = RowMajorStrides(operand.shape().sizes());
  DimVector window;
  for (int64_t d : w.window_dims) window.push_back(update.dynamic_size(d));
  const int64_t of_window = std::accumulate(window.begin(), window.end(), int64_t{1}, std::multiplies<>());
  Dependence found;
  found.of = operand.shape().num_elements();
  int64_t* const last = reinterpret_cast<int64_t*>(hits.MutableBytes().data());
  DimVector g(vectors.sizes().size(), 0), start(sizes.size()), in_window(window.size(), 0);
  for (bool more = vectors.count() > 0; more; more = NextIndex(vectors.sizes(), g)) {
    if (!c.Charge(of_window)) return;
    vectors.Start(indices, g, start);
    if (!IsInside(start, sizes, w.extents) || of_window == 0) continue;
    int64_t from = 0, to = LinearPosition(start, strides);
    for (size_t k = 0; k < g.size(); ++k) from += g[k] * update_strides[static_cast<size_t>(w.batch_dims[k])];
    do {
      int64_t at = from, element = to;
      for (size_t k = 0; k < window.size(); ++k) {
        at += in_window[k] * update_strides[static_cast<size_t>(w.window_dims[k])];
        element += in_window[k] * strides[static_cast<size_t>(w.operand_dims[k])];
      }
      const int64_t before = std::exchange(last[element], at + 1);
      if (before == 0) continue;
      if (combiner == Combiner::kReplaces && !UpdatesDiffer(c, w, before - 1, at)) continue;
      Add(found, [&] {
        return fmt::format("element {}: updates {} and {}", IndexText(element, operand.shape().sizes()),
                           IndexText(before - 1, update.shape().sizes()),
                           IndexText(at, update.shape().sizes()));
      });
    } while (NextIndex(window, in_window));
  }
  c.RecordFound(AuditPoint::kScatterCollision, found);
}

void AuditCollisions(AuditContext& c, const Windows& w, const IndexVectors& vectors) {
  const Combiner combiner = CombinerOf(c.module(), *c.attributes().Computation(Attr::kToApply));
  const bool rounds = combiner == Combiner::kRounds && !IsIntegral(c.operand_type(0));
  if (combiner == Combiner::kAnyOrder || (combiner == Combiner::kRounds && !rounds)) return;
  if (c.run() == nullptr) {
    if (vectors.count() > 1)
      c.RecordPossible(AuditPoint::kScatterCollision, rounds ? "a sum that rounds" : "");
    return;
  }
  auto shape =
      std::make_shared<const Shape>(Shape::ArrayOrDie(ElementType::kS64, c.Operand(0)->shape().sizes()));
  absl::StatusOr<Literal> hits = c.run()->NewLiteral(std::move(shape), /*zero=*/true);
  if (!hits.ok()) return c.Fail(hits.status());
  CountCollisions(c, w, vectors, combiner, *std::move(hits));
}

// Of windows inside, since others have no effect.
void LookAtUniqueness(AuditContext& c, const Windows& w, const IndexVectors& vectors, const Literal& indices,
                      std::span<const int64_t> sizes) {
  std::vector<int64_t> starts;
  DimVector g(vectors.sizes().size(), 0), start(sizes.size());
  if (!c.Charge(vectors.count())) return;
  for (bool more = vectors.count() > 0; more; more = NextIndex(vectors.sizes(), g)) {
    vectors.Start(indices, g, start);
    if (IsInside(start, sizes, w.extents)) starts.push_back(LinearPosition(start, RowMajorStrides(sizes)));
  }
  std::sort(starts.begin(), starts.end());
  Dependence found;
  found.of = vectors.count();
  for (size_t k = 1; k < starts.size(); ++k) {
    if (starts[k] == starts[k - 1])
      Add(found, [&] { return fmt::format("twice: {}", IndexText(starts[k], sizes)); });
  }
  c.RecordFound(AuditPoint::kIndicesNotUnique, found);
}

// `first`: the operand with the first start index, one for each dimension or one array of all.
void Slices(AuditContext& c, size_t first, std::span<const int64_t> extents) {
  const Shape& array = ArrayOf(c.view().operand(0));
  const bool is_vector = first < c.view().num_operands() && c.view().operand(first).rank() == 1;
  Dependence found;
  found.of = 1;
  bool may = false;
  std::string starts;
  bool outside = false;
  for (int64_t d = 0; d < array.rank(); ++d) {
    const size_t k = is_vector ? first : first + static_cast<size_t>(d);
    const Literal* start = c.Operand(k);
    const Literal* values = c.Operand(0);
    const int64_t size = values == nullptr ? array.size(d) : values->dynamic_size(d);
    const int64_t most = std::max<int64_t>(size - extents[static_cast<size_t>(d)], 0);
    if (start == nullptr) {
      const IntegerRange range = c.Range(k);
      may = may || range.low < 0 || range.high > most;
      continue;
    }
    const ElementType type = start->shape().element_type();
    const int64_t value = LoadIndex(type, start->data() + (is_vector ? d * Bytes(type) : 0));
    outside = outside || value < 0 || value > most;
    starts += fmt::format("{}{}", starts.empty() ? "" : ",", value);
  }
  if (outside) found = {1, 1, fmt::format("start [{}], the array {}", starts, ListText(array.sizes()))};
  if (may && !outside) return c.RecordPossible(AuditPoint::kIndexClamped);
  c.RecordFound(AuditPoint::kIndexClamped, found);
}

}  // namespace

void Gather(AuditContext& c) {
  const AttributeMap& attributes = c.attributes();
  const Shape& operand = c.view().operand(0);
  IndexVectors vectors(c.view().operand(1), attributes, Attr::kStartIndexMap, Attr::kOperandBatchingDims,
                       Attr::kStartIndicesBatchingDims);
  const std::span<const int64_t> extents = attributes.List(Attr::kSliceSizes);
  if (const Literal* indices = c.Operand(1)) {
    vectors.TakeSizes(*indices);
    const Literal* values = c.Operand(0);
    const DimVector sizes = values == nullptr ? DimVector(operand.sizes().begin(), operand.sizes().end())
                                              : values->runtime_sizes();
    return LookAtVectors(c, AuditPoint::kIndexClamped, *indices, vectors, sizes, extents);
  }
  if (vectors.count() > 0 && MayLeave(c.Range(1), vectors.map(), operand.sizes(), extents))
    c.RecordPossible(AuditPoint::kIndexClamped);
  if (vectors.count() > 1 && attributes.Bool(Attr::kIndicesAreSorted))
    c.RecordPossible(AuditPoint::kIndicesNotSorted);
}

void Scatter(AuditContext& c) {
  Subnormals(c);
  const AttributeMap& attributes = c.attributes();
  const Windows w(c);
  const Shape& operand = c.view().operand(0);
  IndexVectors vectors(c.view().operand(w.n), attributes, Attr::kScatterDimsToOperandDims,
                       Attr::kInputBatchingDims, Attr::kScatterIndicesBatchingDims);
  NansOfReducer(c, *attributes.Computation(Attr::kToApply), 0, w.n);
  NansOfReducer(c, *attributes.Computation(Attr::kToApply), w.n + 1, c.view().num_operands());
  const bool says_unique = attributes.Bool(Attr::kUniqueIndices);
  if (const Literal* indices = c.Operand(w.n)) {
    vectors.TakeSizes(*indices);
    const Literal* values = c.Operand(0);
    const DimVector sizes = values == nullptr ? DimVector(operand.sizes().begin(), operand.sizes().end())
                                              : values->runtime_sizes();
    LookAtVectors(c, AuditPoint::kScatterDropped, *indices, vectors, sizes, w.extents);
    if (says_unique) LookAtUniqueness(c, w, vectors, *indices, sizes);
  } else {
    if (vectors.count() > 0 && MayLeave(c.Range(w.n), vectors.map(), operand.sizes(), w.extents))
      c.RecordPossible(AuditPoint::kScatterDropped);
    if (vectors.count() > 1 && attributes.Bool(Attr::kIndicesAreSorted))
      c.RecordPossible(AuditPoint::kIndicesNotSorted);
    if (vectors.count() > 1 && says_unique) c.RecordPossible(AuditPoint::kIndicesNotUnique);
  }
  AuditCollisions(c, w, vectors);
}

void DynamicSlice(AuditContext& c) { Slices(c, 1, c.attributes().List(Attr::kDynamicSliceSizes)); }
void DynamicUpdateSlice(AuditContext& c) { Slices(c, 2, c.view().operand(1).sizes()); }

}  // namespace assay::audit
