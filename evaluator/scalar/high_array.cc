#include "evaluator/scalar/high_array.h"

#include <limits>
#include <vector>

#include "evaluator/scalar/mpfr_real.h"

namespace assay {
namespace {

constexpr size_t kLimbs = HighArray::kPrecision / GMP_NUMB_BITS;
static_assert(HighArray::kBytes == kLimbs * sizeof(mp_limb_t) + sizeof(__mpfr_struct));

using UnaryFn = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using BinaryFn = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

// 1 / (1 + exp(-x)): the cancellation-free form for both signs, to a few units of the 256 bits.
int Logistic(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  MpfrReal power(mpfr_prec_t{HighArray::kPrecision + 32});
  mpfr_neg(power.get(), x, MPFR_RNDN);
  mpfr_exp(power.get(), power.get(), MPFR_RNDN);
  mpfr_add_ui(power.get(), power.get(), 1, MPFR_RNDN);
  return mpfr_ui_div(result, 1, power.get(), rounding);
}

UnaryFn UnaryOf(HighFunction f) {
  switch (f) {
    case HighFunction::kAbs:
      return [](mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t rounding) { return mpfr_abs(r, x, rounding); };
    case HighFunction::kNegate:
      return [](mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t rounding) { return mpfr_neg(r, x, rounding); };
    case HighFunction::kAcos:
      return mpfr_acos;
    case HighFunction::kAcosh:
      return mpfr_acosh;
    case HighFunction::kAsin:
      return mpfr_asin;
    case HighFunction::kAsinh:
      return mpfr_asinh;
    case HighFunction::kAtanh:
      return mpfr_atanh;
    case HighFunction::kCbrt:
      return mpfr_cbrt;
    case HighFunction::kCos:
      return mpfr_cos;
    case HighFunction::kCosh:
      return mpfr_cosh;
    case HighFunction::kErf:
      return mpfr_erf;
    case HighFunction::kExp:
      return mpfr_exp;
    case HighFunction::kExpm1:
      return mpfr_expm1;
    case HighFunction::kLog:
      return mpfr_log;
    case HighFunction::kLog1p:
      return mpfr_log1p;
    case HighFunction::kLogistic:
      return Logistic;
    case HighFunction::kRsqrt:
      return mpfr_rec_sqrt;
    case HighFunction::kSin:
      return mpfr_sin;
    case HighFunction::kSinh:
      return mpfr_sinh;
    case HighFunction::kSqrt:
      return mpfr_sqrt;
    case HighFunction::kTan:
      return mpfr_tan;
    case HighFunction::kTanh:
      return mpfr_tanh;
    default:
      return [](mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t rounding) { return mpfr_set(r, x, rounding); };
  }
}

BinaryFn BinaryOf(HighFunction f) {
  switch (f) {
    case HighFunction::kAdd:
      return mpfr_add;
    case HighFunction::kAtan2:
      return mpfr_atan2;
    case HighFunction::kDivide:
      return mpfr_div;
    case HighFunction::kMaximum:
      return mpfr_max;
    case HighFunction::kMinimum:
      return mpfr_min;
    case HighFunction::kMultiply:
      return mpfr_mul;
    case HighFunction::kPower:
      return mpfr_pow;
    case HighFunction::kRemainder:
      return mpfr_fmod;
    default:
      return mpfr_sub;
  }
}

}  // namespace

struct HighArray::Numbers {
  std::vector<mp_limb_t> limbs;
  std::vector<__mpfr_struct> heads;

  mpfr_ptr At(int64_t i) { return &heads[static_cast<size_t>(i)]; }
  mpfr_srcptr At(int64_t i) const { return &heads[static_cast<size_t>(i)]; }
};

HighArray::HighArray(std::unique_ptr<Numbers> numbers, std::shared_ptr<MemoryBudget> budget)
    : numbers_(std::move(numbers)), budget_(std::move(budget)) {}

HighArray::~HighArray() {
  if (budget_ != nullptr) budget_->Release(size() * kBytes);
}

absl::StatusOr<std::shared_ptr<HighArray>> HighArray::Make(int64_t size,
                                                           const std::shared_ptr<MemoryBudget>& budget) {
  UseMpfrCache();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / kBytes;
  const int64_t bytes = size > kMost ? std::numeric_limits<int64_t>::max() : size * kBytes;
  if (budget != nullptr && !budget->Reserve(bytes)) return budget->Refusal("numbers of 256 bits", bytes);
  auto numbers = std::make_unique<Numbers>();
  try {
    numbers->limbs.resize(static_cast<size_t>(size) * kLimbs);
    numbers->heads.resize(static_cast<size_t>(size));
  } catch (const std::exception&) {
    if (budget != nullptr) budget->Release(bytes);
    return OutOfMemory("numbers of 256 bits");
  }
  for (int64_t i = 0; i < size; ++i) {
    mp_limb_t* const limbs = &numbers->limbs[static_cast<size_t>(i) * kLimbs];
    mpfr_custom_init(limbs, kPrecision);
    mpfr_custom_init_set(numbers->At(i), MPFR_ZERO_KIND, 0, kPrecision, limbs);
  }
  return std::shared_ptr<HighArray>(new HighArray(std::move(numbers), budget));
}

int64_t HighArray::size() const { return static_cast<int64_t>(numbers_->heads.size()); }
void HighArray::Set(int64_t i, double x) { mpfr_set_d(numbers_->At(i), x, MPFR_RNDN); }
void HighArray::SetInt(int64_t i, int64_t x) { mpfr_set_si(numbers_->At(i), x, MPFR_RNDN); }
void HighArray::SetUint(int64_t i, uint64_t x) { mpfr_set_ui(numbers_->At(i), x, MPFR_RNDN); }
void HighArray::Copy(int64_t i, const HighArray& from, int64_t j) {
  mpfr_set(numbers_->At(i), from.numbers_->At(j), MPFR_RNDN);
}

void HighArray::Apply(HighFunction f, int64_t i, const HighArray& a, int64_t j) {
  UnaryOf(f)(numbers_->At(i), a.numbers_->At(j), MPFR_RNDN);
}

void HighArray::Apply(HighFunction f, int64_t i, const HighArray& a, int64_t j, const HighArray& b,
                      int64_t k) {
  BinaryOf(f)(numbers_->At(i), a.numbers_->At(j), b.numbers_->At(k), MPFR_RNDN);
}

void HighArray::AddProduct(int64_t i, const HighArray& a, int64_t j, const HighArray& b, int64_t k) {
  mpfr_fma(numbers_->At(i), a.numbers_->At(j), b.numbers_->At(k), numbers_->At(i), MPFR_RNDN);
}

double HighArray::Get(int64_t i) const { return mpfr_get_d(numbers_->At(i), MPFR_RNDN); }
bool HighArray::IsFinite(int64_t i) const { return mpfr_number_p(numbers_->At(i)) != 0; }

double HighArray::Minus(int64_t i, double x) const {
  MpfrReal difference(mpfr_prec_t{kPrecision});
  mpfr_sub_d(difference.get(), numbers_->At(i), x, MPFR_RNDN);
  return mpfr_get_d(difference.get(), MPFR_RNDN);
}

double HighArray::Minus(int64_t i, const HighArray& other, int64_t j) const {
  MpfrReal difference(mpfr_prec_t{kPrecision});
  mpfr_sub(difference.get(), numbers_->At(i), other.numbers_->At(j), MPFR_RNDN);
  return mpfr_get_d(difference.get(), MPFR_RNDN);
}

std::partial_ordering HighArray::Compare(int64_t i, const HighArray& other, int64_t j) const {
  const mpfr_srcptr a = numbers_->At(i), b = other.numbers_->At(j);
  if (mpfr_unordered_p(a, b) != 0) return std::partial_ordering::unordered;
  const int order = mpfr_cmp(a, b);
  return order < 0   ? std::partial_ordering::less
         : order > 0 ? std::partial_ordering::greater
                     : std::partial_ordering::equivalent;
}

}  // namespace assay
