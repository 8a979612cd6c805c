// Attributes of instructions: plain data (docs/spec/hlo-text.md sections 5 and 6).
#ifndef ASSAY_HLO_ATTRIBUTE_H_
#define ASSAY_HLO_ATTRIBUTE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "hlo/shared_pool.h"
#include "literal/literal.h"
#include "shape/index.h"
#include "shape/shape.h"

namespace assay {

enum class Attr : uint8_t {
#define ATTR(id, name, form) k##id,
#include "hlo/attributes.def"
#undef ATTR
};
inline constexpr int kNumAttrs = 0
#define ATTR(id, name, form) +1
#include "hlo/attributes.def"
#undef ATTR
    ;

// How an attribute is written.
enum class AttrForm : uint8_t {
  kBool,
  kInt,
  kFloat,
  kString,
  kWord,
  kWords,
  kInts,
  kIntLists,
  kIntsOrIntLists,
  kWindow,
  kPadding,
  kSlices,
  kDimLabels,
  kComputation,
  kComputations,
  kShape,
  kShapes,
  kLiteral,
  kAliasing,
  kReplicaGroups,
  kAccuracy,
  kRaw,
};
std::string_view Name(Attr attr);
AttrForm FormOf(Attr attr);
std::optional<Attr> AttrFromName(std::string_view name);

// Index of a computation in its Module.
struct ComputationId {
  int32_t value = -1;
  friend bool operator==(ComputationId, ComputationId) = default;
};

struct Word {
  std::string text;  // canonical case where the grammar ignores case
  friend bool operator==(const Word&, const Word&) = default;
};
using Ints = DimVector;  // nearly all lists are short
using IntLists = std::vector<Ints>;
using Window = std::vector<WindowDimension>;
struct PaddingDimension {
  int64_t low = 0, high = 0, interior = 0;
  friend bool operator==(const PaddingDimension&, const PaddingDimension&) = default;
};
using PaddingConfig = std::vector<PaddingDimension>;
struct SliceDimension {
  int64_t start = 0, limit = 0, stride = 1;
  friend bool operator==(const SliceDimension&, const SliceDimension&) = default;
};
using SliceConfig = std::vector<SliceDimension>;

// dim_labels=bf01_oi01->bf01: where each role stands. Spatial lists are in order of spatial number.
struct ConvDimensionNumbers {
  int64_t input_batch = 0, input_feature = 1;
  Ints input_spatial;
  int64_t kernel_output_feature = 0, kernel_input_feature = 1;
  Ints kernel_spatial;
  int64_t output_batch = 0, output_feature = 1;
  Ints output_spatial;
  friend bool operator==(const ConvDimensionNumbers&, const ConvDimensionNumbers&) = default;
};

// One entry of output_to_operand_aliasing: {output_index}: (operand, {operand_index}).
struct OutputOperandAlias {
  Ints output_index;
  int64_t operand = 0;
  Ints operand_index;
  friend bool operator==(const OutputOperandAlias&, const OutputOperandAlias&) = default;
};
using Aliasing = std::vector<OutputOperandAlias>;

// replica_groups: the groups listed out, and the compact form they were written in (iota or mesh), which
// printing keeps; empty text for the plain list.
struct ReplicaGroups {
  IntLists groups;
  std::string compact_text;
  friend bool operator==(const ReplicaGroups&, const ReplicaGroups&) = default;
};

struct ResultAccuracy {
  enum class Mode : uint8_t { kDefault, kHighest, kTolerance };
  Mode mode = Mode::kDefault;
  double atol = 0, rtol = 0;
  double ulps = 0;
  friend bool operator==(const ResultAccuracy&, const ResultAccuracy&) = default;
};

struct RawText {
  std::string text;  // the braces and what is between them, canonical spacing
  friend bool operator==(const RawText&, const RawText&) = default;
};
using ShapeList = std::vector<Shape>;
using LiteralPtr = std::shared_ptr<const Literal>;

using AttrValue =
    std::variant<bool, int64_t, double, std::string, Word, std::vector<Word>, Ints, IntLists, Window,
                 PaddingConfig, SliceConfig, std::shared_ptr<const ConvDimensionNumbers>, ComputationId,
                 std::vector<ComputationId>, std::shared_ptr<const Shape>, ShapeList, LiteralPtr, Aliasing,
                 std::shared_ptr<const ReplicaGroups>, ResultAccuracy, RawText>;

// A small map from Attr to value, sorted by Attr. Copies share their entries until one of them is changed.
// Getters with a default return it where the attribute is absent; asking for the wrong type is our own bug
// (Verify has checked forms).
class AttributeMap {
 public:
  struct Entry {
    Attr attr;
    AttrValue value;
  };
  using Entries = absl::InlinedVector<Entry, 2>;  // most instructions that have any have one or two
  AttributeMap() = default;
  // Takes entries in any order, no attribute twice; they are moved from, into memory of the pool.
  AttributeMap(std::span<Entry> entries, SharedPool<Entries>& pool);
  bool Has(Attr attr) const { return Find(attr) != nullptr; }
  const AttrValue* Find(Attr attr) const;
  AttrValue* FindMutable(Attr attr);
  void Set(Attr attr, AttrValue value);
  void Erase(Attr attr);
  std::span<const Entry> entries() const {
    return entries_ == nullptr ? std::span<const Entry>() : std::span<const Entry>(*entries_);
  }
  bool empty() const { return entries().empty(); }

  bool Bool(Attr attr, bool absent = false) const;
  int64_t Int(Attr attr, int64_t absent = 0) const;
  double Float(Attr attr, double absent = 0) const;
  std::string_view Text(Attr attr, std::string_view absent = {}) const;  // kString and kWord
  std::span<const int64_t> List(Attr attr) const;                        // kInts; empty if absent
  const IntLists& Lists(Attr attr) const;                                // kIntLists; empty if absent
  const Window& WindowOf(Attr attr = Attr::kWindow) const;               // empty if absent
  std::optional<ComputationId> Computation(Attr attr) const;
  std::span<const ComputationId> Computations(Attr attr) const;  // also a single one

 private:
  // The entries, which no other map shares.
  Entries& Own();

  std::shared_ptr<Entries> entries_;  // null: none
};

}  // namespace assay

#endif  // ASSAY_HLO_ATTRIBUTE_H_
