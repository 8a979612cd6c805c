// Lines on different threads, or one large line at a time on all of them; components that no bound decides go
// to ExactDft, as in the reference.
#include "engines/native/linalg/fft.h"

#include <algorithm>
#include <vector>

#include "base/counted.h"
#include "base/once.h"
#include "base/parallel.h"
#include "engines/native/linalg/fft_line.h"
#include "evaluator/eval_context.h"
#include "evaluator/runtime_sizes.h"
#include "fmt/format.h"

namespace assay::native {
namespace {

constexpr int64_t kFewElements = 1 << 3;     // in all lines: not worth a plan
constexpr int64_t kLargestPrime = 256;       // factors cost their square: larger ones are the reference's
constexpr int64_t kLongLine = 1 << 14;       // worth several threads
constexpr int64_t kFftWorkOfPart = 1 << 17;  // multiplications worth a task
constexpr int64_t kFftWorkBetweenCharges = 1 << 28;  // multiplications

class FftKernel final : public Kernel {
 public:
  FftKernel(std::vector<int64_t> lengths, std::string_view type, ElementType component, Isa isa)
      : lengths_(std::move(lengths)),
        inverse_(type == "IFFT" || type == "IRFFT"),
        real_input_(type == "RFFT"),
        real_result_(type == "IRFFT"),
        component_(component),
        isa_(isa) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const Literal& x = operands[0];
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    int64_t count = 1;
    for (int64_t n : lengths_) count *= n;
    ASSAY_ASSIGN_OR_RETURN(const Literal plan_scratch, ReserveScratch(context, count, 128));
    planned_.Do([this] {
      form_ = std::make_unique<FftForm>(lengths_, inverse_, real_input_, real_result_, component_, isa_);
    });
    ASSAY_RETURN_IF_ERROR(
        RunLines(context, x.data(), result.MutableBytes().data(),
                 x.shape().num_elements() * Bytes(x.shape().element_type()) / form_->input_bytes()));
    return result;
  }

 private:
  absl::Status RunLines(EvalContext& context, const std::byte* src, std::byte* dst, int64_t lines) const {
    const FftForm& form = *form_;
    Parallel& parallel = context.parallel();
    const bool shared = form.count >= kLongLine && lines < 2 * parallel.jobs();
    ASSAY_ASSIGN_OR_RETURN(
        Literal scratch,
        ReserveScratch(context, (shared ? 1 : std::min<int64_t>(parallel.jobs(), lines)) * form.scratch(),
                       sizeof(double)));
    auto* const scratch_doubles = shared ? reinterpret_cast<double*>(scratch.MutableBytes().data()) : nullptr;
    std::vector<std::vector<FftComponent>> open(lines);
    const auto transform = [&](Parallel& threads, int64_t begin, int64_t end) {
      FftLine line(form, shared ? scratch_doubles : nullptr);
      TierCounts counts;
      for (int64_t i = begin; i < end; ++i) {
        open[i] =
            line.Transform(threads, src + i * form.input_bytes(), dst + i * form.result_bytes(), counts);
      }
      CountTiers(counts);
    };
    const int64_t work = form.work + form.count;
    const int64_t at_once = std::max<int64_t>(kFftWorkBetweenCharges / work, 1);
    for (int64_t done = 0; done < lines; done += at_once) {
      const int64_t part = std::min(at_once, lines - done);
      if (shared) {
        transform(parallel, done, done + part);
      } else {
        parallel.For(part, kFftWorkOfPart / work + 1, [&](int64_t begin, int64_t end) {
          Parallel alone(1);
          transform(alone, done + begin, done + end);
        });
      }
      ASSAY_RETURN_IF_ERROR(context.Charge(part * work));
    }
    return Decide(context, src, dst, open);
  }

  absl::Status Decide(EvalContext& context, const std::byte* src, std::byte* dst,
                      const std::vector<std::vector<FftComponent>>& open) const {
    const FftForm& form = *form_;
    std::unique_ptr<ExactDft> dft;
    for (size_t i = 0; i < open.size(); ++i) {
      if (open[i].empty()) continue;
      if (dft == nullptr)
        dft = std::make_unique<ExactDft>(form.lengths, form.inverse, *Info(form.component).format);
      std::vector<uint8_t> marked[2];
      for (std::vector<uint8_t>& part : marked) part.assign(form.count, 0);
      for (const FftComponent& component : open[i]) marked[component.part][component.position] = 1;
      ExactDft::Output output;
      ASSAY_RETURN_IF_ERROR(dft->Decide(form.LineOf(src + static_cast<int64_t>(i) * form.input_bytes()),
                                        marked[0], marked[1], output,
                                        [&context](int64_t work) { return context.Charge(work); }));
      for (const FftComponent& component : open[i]) {
        const std::vector<double>& values = component.part == 0 ? output.re : output.im;
        FftLine::Patch(form, component, values[component.position],
                       dst + static_cast<int64_t>(i) * form.result_bytes());
      }
    }
    return absl::OkStatus();
  }

  const std::vector<int64_t> lengths_;
  const bool inverse_, real_input_, real_result_;
  const ElementType component_;
  const Isa isa_;
  mutable Once planned_;
  mutable std::unique_ptr<const FftForm> form_;
};

// 1 for n < 2.
int64_t LargestPrime(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return std::max({n, largest, int64_t{1}});
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareFft(const StepView& step, Isa isa) {
  if (HasDynamicDimension(step.operand_shape(0))) return NotSupported({}, "dynamic dimensions");
  if (step.operand_shape(0).num_elements() < kFewElements || step.result_shape().num_elements() == 0)
    return NotSupported({}, fmt::format("{}", Counted(step.operand_shape(0).num_elements(), "element")));
  const AttributeMap& attributes = step.instruction.attributes;
  const std::span<const int64_t> lengths = attributes.List(Attr::kFftLength);
  for (int64_t n : lengths) {
    const int64_t prime = LargestPrime(n);
    if (prime > kLargestPrime) return NotSupported({}, fmt::format("a prime factor of {}", prime));
  }
  const ElementType type = step.operand_shape(0).element_type();
  return std::make_shared<FftKernel>(std::vector<int64_t>(lengths.begin(), lengths.end()),
                                     attributes.Text(Attr::kFftType),
                                     IsComplex(type) ? ComponentType(type) : type, isa);
}

}  // namespace assay::native
