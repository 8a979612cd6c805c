// The values of an element type at which backends differ from its meaning: zeros, ends of ranges, ties, NaNs.
#ifndef ASSAY_CHECK_SUITE_EDGE_VALUES_H_
#define ASSAY_CHECK_SUITE_EDGE_VALUES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "literal/element_io.h"
#include "literal/literal.h"
#include "shape/element_type.h"

namespace assay {

// What kind of value it is. Where an operation takes several, the case is of the last kind among them.
enum class EdgeKind : uint8_t {
  kOrdinary,    // of moderate size
  kTies,        // halves, and neighbours of 1 and 1/2
  kZeros,       // of both signs
  kExtremes,    // ends of the range of an integer; largest and smallest normal numbers
  kSubnormals,  // f8e8m0fnu has none
  kInfinities,
  kNans,
};
inline constexpr int kNumEdgeKinds = static_cast<int>(EdgeKind::kNans) + 1;
std::string_view Name(EdgeKind kind);

// Numbers that depend on a seed alone (splitmix64).
class SuiteRandom {
 public:
  explicit SuiteRandom(uint64_t state) : state_(state) {}
  // Of a name: the same numbers for it whatever other cases there are.
  SuiteRandom(uint64_t seed, std::string_view name);
  uint64_t Next();
  uint64_t Below(uint64_t n) { return Next() % n; }
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }  // in [0, 1)

 private:
  uint64_t state_;
};

struct EdgeValue {
  ScalarValue value;
  EdgeKind kind;
};
// Every value once. `num_random` ordinary ones, and half as many of the whole range, are drawn; with 0 the
// list is short enough that pairs can be taken of it.
std::vector<EdgeValue> EdgeValues(ElementType type, int num_random, SuiteRandom& random);
// Every value of a type of at most 8 bits: each bit pattern.
std::vector<EdgeValue> AllValues(ElementType type);
// One ordinary value: small, and exact in sums of a few.
ScalarValue OrdinaryValue(ElementType type, SuiteRandom& random);

// An array of these values, row-major.
Literal ArrayOf(ElementType type, const std::vector<int64_t>& sizes, const std::vector<ScalarValue>& values);

}  // namespace assay

#endif  // ASSAY_CHECK_SUITE_EDGE_VALUES_H_
