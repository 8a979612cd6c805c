// One exact Fourier transform: in doubles (f32) and in pairs with the bounds of fft_plan.h, each component
// rounded where both ends of its interval agree; of what is left, sums of +-x and +-ix exactly.
#ifndef ASSAY_ENGINES_NATIVE_LINALG_FFT_LINE_H_
#define ASSAY_ENGINES_NATIVE_LINALG_FFT_LINE_H_

#include <cstddef>
#include <vector>

#include "base/parallel.h"
#include "engines/native/linalg/fft_kernels.h"
#include "engines/native/sums/tiers.h"
#include "evaluator/scalar/exact_dft.h"
#include "shape/element_type.h"

namespace assay::native {

// What all lines of an fft instruction share.
struct FftForm {
  FftForm(std::vector<int64_t> sizes, bool is_inverse, bool from_real, bool to_real, ElementType type,
          Isa isa);

  std::vector<int64_t> lengths;
  bool inverse, real_input, real_result;
  ElementType component;
  const FftKernels& kernels;
  const SumKernels& sums;
  std::vector<FftAxis> axes;  // of each dimension
  // The same for `lanes` lines of a dimension side by side, which stay in the cache for all passes; without
  // passes where they would not.
  std::vector<FftAxis> lines;
  int64_t count = 1, rows = 1, last = 1, last_in = 1, last_out = 1;
  double doubles_factor, pairs_factor;  // bound / norm of the input
  int64_t work = 0;                     // multiplications of a line, about

  int64_t input_bytes() const { return rows * last_in * (real_input ? 1 : 2) * Bytes(component); }
  int64_t result_bytes() const { return rows * last_out * (real_result ? 1 : 2) * Bytes(component); }
  // Doubles that one FftLine keeps.
  int64_t scratch() const { return 16 * (count + kMaxLanes); }
  ExactDft::Line LineOf(const std::byte* src) const;
};

// A component of a result: of the element at `position` in the whole transform, row-major.
struct FftComponent {
  int64_t position;
  int part;  // 0: real, 1: imaginary
};

// Transforms lines one after the other.
class FftLine {
 public:
  // scratch: of form.scratch() doubles on a 64-byte boundary, or null.
  FftLine(const FftForm& form, double* scratch)
      : form_(form), scratch_(scratch), format_(*Info(form.component).format), rounding_(format_) {}
  // Returns the components that are still to be decided.
  std::vector<FftComponent> Transform(Parallel& parallel, const std::byte* src, std::byte* dst,
                                      TierCounts& counts);
  static void Patch(const FftForm& form, const FftComponent& component, double value, std::byte* dst);

 private:
  struct Input {
    bool finite = true, zero = true, imaginary = false;
    int exponent = 0;  // planes hold the elements times 2^-exponent
    double norm = 0;
  };
  // Memory for plane i of planes_ and spare_.
  double* PlaneMemory(int i);
  Input Load(Parallel& parallel, const std::byte* src);
  void LoadRow(const std::byte* src, int64_t row, FftStatistics* of_part) const;
  void ScaleRow(int64_t row, double power1, double power2, FftStatistics* of_part) const;
  // `open`, if not null: only these components are wanted.
  void RunAxes(Parallel& parallel, bool pairs, const std::vector<FftComponent>* open);
  void RunPasses(Parallel& parallel, const FftAxis& axis, bool pairs);
  void RunLines(Parallel& parallel, size_t axis, bool pairs, bool low_is_zero,
                const std::vector<FftComponent>* open);
  void Fill(double value, std::byte* dst) const;
  std::vector<FftComponent> RoundAll(Parallel& parallel, bool pairs, const FftRounding& values,
                                     std::byte* dst) const;
  void RoundRow(int64_t row, bool pairs, const FftRounding& values, std::byte* dst,
                std::vector<FftComponent>& open) const;
  bool SettledByPairs(const FftComponent& component, double bound, std::byte* dst) const;
  bool SettledExactly(const FftComponent& component, const ExactDft::Line& line, std::byte* dst) const;
  // The plane of a part: inverse transforms exchange real and imaginary parts on both ends.
  int Plane(int part) const { return form_.inverse ? 1 - part : part; }
  double Divisor() const { return form_.inverse ? static_cast<double>(form_.count) : 1.0; }

  const FftForm& form_;
  double* const scratch_;
  const FloatFormat& format_;
  const NarrowRounding rounding_;
  std::vector<double> storage_[8];
  FftPlanes planes_{}, spare_{};
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_LINALG_FFT_LINE_H_
