// What sampled backends gave for one output, and what that says of an actual value (docs/bounds_reference.md,
// Estimates).
#ifndef ASSAY_CHECK_SAMPLES_H_
#define ASSAY_CHECK_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "literal/literal.h"

namespace assay {

enum class ElementVerdict : uint8_t {
  kInside,       // proven: a conforming backend may give it
  kOutside,      // proven: none gives it
  kPlausible,    // estimated: it lies where samples do
  kImplausible,  // estimated: it lies far from all samples
  kUndecided,    // no bound, and no samples or ones that disagree wildly
};

struct Estimate {
  ElementVerdict verdict = ElementVerdict::kUndecided;
  double spread = 0;  // the largest distance of a sample from the exact value
  // Of the actual value; +inf where no sample is of its kind (NaN, infinity, number) or has that integer.
  double distance = 0;
  double allowed = 0;  // the largest distance that is plausible
};

class OutputSamples {
 public:
  // An actual value is implausible beyond this multiple of the spread. docs/bounds_reference.md has the false
  // alarms that it was chosen by.
  static constexpr double kMultiple = 16;
  // Samples disagree wildly where the spread is more than this share of the output's largest magnitude.
  static constexpr double kChaoticShare = 0.25;
  // Integers of which more different values were seen are numbers that are off by some amount, not choices.
  static constexpr size_t kMaxChoices = 4;

  // What the last instruction may be off by is plausible in any case: so many ulps, and an absolute error.
  OutputSamples(const Literal& exact, double floor_ulps, double floor_absolute);

  void Add(const Literal& sample);  // of the exact value's shape
  int64_t count() const { return count_; }
  // The largest distance of a sample's element i from the exact one.
  double SpreadOf(int64_t i) const;
  // `actual` is element i, row-major, as literals store it.
  Estimate CompareToBounds(int64_t i, const std::byte* actual) const;

 private:
  void AddStrip(const Literal& sample, int64_t first, int64_t n);
  void AddElement(const Literal& sample, int64_t i);
  Estimate JudgeNumber(int64_t i, const std::byte* actual) const;
  Estimate JudgeInteger(int64_t i, const std::byte* actual) const;
  double IntegerAt(const Literal& array, int64_t i) const;
  std::pair<double, double> PartsOf(const std::byte* element) const;
  std::pair<double, double> CenterOf(int64_t i) const;
  double FloorAt(double magnitude) const;
  Estimate ByDistance(double distance, double spread, double floor) const;

  const ElementType type_;
  const double floor_ulps_, floor_absolute_;
  Literal exact_;
  int64_t count_ = 0;
  double scale_ = 0;             // the largest magnitude
  std::vector<double> spreads_;  // of floats, by element
  std::vector<uint8_t> kinds_;   // of floats: the kinds of number that were seen
  std::unordered_map<int64_t, std::pair<double, double>>
      centers_;                    // the first finite sample where the exact value is none
  std::vector<Literal> integers_;  // the exact ones and the samples
};

}  // namespace assay

#endif  // ASSAY_CHECK_SAMPLES_H_
