#include "hlo/mlir/refine/size_rules.h"

#include <algorithm>
#include <limits>

#include "base/hash_map.h"
#include "fmt/format.h"

namespace assay::mlir {
namespace {

constexpr absl::string_view kContradiction = "assay.sizes_contradict";

// Far enough from the ends that a product of two such numbers stays inside of 128 bits.
constexpr __int128 kFar = (static_cast<__int128>(1) << 63);

}  // namespace

absl::Status SizesContradict(std::string_view message) {
  absl::Status status = InvalidProgram({}, message);
  status.SetPayload(kContradiction, absl::Cord("1"));
  return status;
}

bool IsSizeContradiction(const absl::Status& status) { return status.GetPayload(kContradiction).has_value(); }

SizeNumber SizeNumber::With(SizeNumber other, __int128 value) const {
  SizeNumber result(0);
  result.is_known_ = is_known_ && other.is_known_;
  result.value_ = std::clamp(value, -kFar, kFar);
  return result;
}

int64_t SizeNumber::value() const {
  constexpr __int128 kLeast = std::numeric_limits<int64_t>::min() + 1;
  constexpr __int128 kMost = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(value_, kLeast, kMost));
}

absl::StatusOr<int64_t> SizeNumber::Size() const {
  if (!is_known_) return kDynamicSize;
  if (value_ < 0) return SizesContradict(fmt::format("a dimension of the result has size {}", value()));
  if (value_ > std::numeric_limits<int64_t>::max())
    return SizesContradict("the size of a dimension of the result does not fit in 64 bits");
  return static_cast<int64_t>(value_);
}

SizeNumber CeilOfQuotient(SizeNumber a, int64_t b) {
  if (!a.is_known()) return a;
  if (a.value() <= 0 || b <= 0) return 0;
  return (a.value() - 1) / b + 1;
}

absl::StatusOr<int64_t> CommonSize(int64_t a, int64_t b, size_t dimension, const Type& of_a,
                                   const Type& of_b) {
  if (a == kDynamicSize || a == b) return b;
  if (b == kDynamicSize) return a;
  return SizesContradict(
      fmt::format("dimension {} is {} in {} and {} in {}", dimension, a, ToString(of_a), b, ToString(of_b)));
}

absl::StatusOr<Sizes> CommonSizes(const SizeSite& site, size_t first, size_t count, bool with_scalars) {
  size_t from = first;
  if (with_scalars) {
    while (from + 1 < first + count && site.rank(from) == 0) ++from;
  }
  const Type& wanted = *site.operands[from].type;
  Sizes sizes(wanted.sizes.begin(), wanted.sizes.end());
  std::vector<const Type*> said(sizes.size(), &wanted);  // who says the size of each dimension
  for (size_t i = from + 1; i < first + count; ++i) {
    const Type& type = *site.operands[i].type;
    if (with_scalars && type.sizes.empty()) continue;
    if (type.sizes.size() != sizes.size()) {
      return SizesContradict(fmt::format("operands {} and {} have types {} and {} of different rank", from, i,
                                         ToString(wanted), ToString(type)));
    }
    for (size_t d = 0; d < sizes.size(); ++d) {
      ASSAY_ASSIGN_OR_RETURN(const int64_t size, CommonSize(sizes[d], type.sizes[d], d, *said[d], type));
      if (sizes[d] == kDynamicSize) said[d] = &type;
      sizes[d] = size;
    }
  }
  return sizes;
}

const SizeRow* FindSizeRow(std::string_view name) {
  static const auto* const kRules = [] {
    auto* map = new HashMap<std::string_view, const SizeRow*>();
    for (const auto rows : {ArraySizeRows(), WindowSizeRows()}) {
      for (const SizeRow& row : rows) map->emplace(row.name, &row);
    }
    return map;
  }();
  const auto known = kRules->find(name);
  return known == kRules->end() ? nullptr : known->second;
}

}  // namespace assay::mlir
