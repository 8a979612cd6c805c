// What kernels ask of a GPU's arithmetic, by the host's. Compiled with -frounding-math.
#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>

#include "tests/gpu/emulator/device/block.h"
#include "tests/gpu/emulator/device/device.h"
#include "tests/gpu/emulator/device/tensor_core.h"

namespace assay::gpu {
namespace {

using emulated::GridRun;

class Rounding {
 public:
  explicit Rounding(int mode) { std::fesetround(mode); }
  ~Rounding() { std::fesetround(FE_TONEAREST); }
};

template <typename T>
T AtomicallyAdd(T* p, T value) {
  GridRun::Current()->Touch(reinterpret_cast<uintptr_t>(p), sizeof(T), emulated::Access::kAtomic, sizeof(T));
  const T old = *p;
  *p = old + value;
  return old;
}

}  // namespace

uint64_t ShuffleBits(uint64_t bits, uint32_t from) {
  struct Operation {
    uint64_t bits;
    uint32_t from;
    static void Apply(void* const* operands) {
      uint64_t given[32];
      for (int i = 0; i < 32; ++i) given[i] = static_cast<Operation*>(operands[i])->bits;
      for (int i = 0; i < 32; ++i) {
        auto& operand = *static_cast<Operation*>(operands[i]);
        operand.bits = given[operand.from];
      }
    }
  };
  Operation operand{bits, from};
  GridRun::Current()->Together(&Operation::Apply, &operand);
  return operand.bits;
}

namespace {

// The largest of what all lanes give.
uint32_t LargestOfLanes(uint32_t value) {
  struct Operation {
    static void Apply(void* const* operands) {
      uint32_t most = 0;
      for (int i = 0; i < 32; ++i) most = std::max(most, *static_cast<uint32_t*>(operands[i]));
      for (int i = 0; i < 32; ++i) *static_cast<uint32_t*>(operands[i]) = most;
    }
  };
  GridRun::Current()->Together(&Operation::Apply, &value);
  return value;
}

}  // namespace

uint32_t MaxOfLanes(uint32_t value) { return LargestOfLanes(value); }
uint32_t MinOfLanes(uint32_t value) { return ~LargestOfLanes(~value); }

uint32_t Ballot(bool value) {
  struct Operation {
    static void Apply(void* const* operands) {
      uint32_t all = 0;
      for (uint32_t i = 0; i < 32; ++i) all |= (*static_cast<uint32_t*>(operands[i]) & 1) << i;
      for (int i = 0; i < 32; ++i) *static_cast<uint32_t*>(operands[i]) = all;
    }
  };
  uint32_t operand = value ? 1 : 0;
  GridRun::Current()->Together(&Operation::Apply, &operand);
  return operand;
}

uint32_t AtomicAdd(uint32_t* p, uint32_t value) { return AtomicallyAdd(p, value); }
uint64_t AtomicAdd(uint64_t* p, uint64_t value) { return AtomicallyAdd(p, value); }
uint32_t AtomicOr(uint32_t* p, uint32_t value) {
  GridRun::Current()->Touch(reinterpret_cast<uintptr_t>(p), 4, emulated::Access::kAtomic, 4);
  const uint32_t old = *p;
  *p = old | value;
  return old;
}

uint32_t AtomicMax(uint32_t* p, uint32_t value) {
  GridRun::Current()->Touch(reinterpret_cast<uintptr_t>(p), 4, emulated::Access::kAtomic, 4);
  const uint32_t old = *p;
  *p = old > value ? old : value;
  return old;
}
double AtomicAdd(double* p, double value) { return AtomicallyAdd(p, value); }

void MmaF64(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
  struct Fragments {
    double* c;
    const double *a, *b;
    static void Apply(void* const* operands) {
      const auto lane = [&](int i) -> const Fragments& {
        return *static_cast<const Fragments*>(operands[i]);
      };
      double left[16][16], right[16][8];
      for (int i = 0; i < 32; ++i) {
        for (int j = 0; j < 8; ++j) left[i / 4 + j % 2 * 8][j / 2 * 4 + i % 4] = lane(i).a[j];
        for (int j = 0; j < 4; ++j) right[j * 4 + i % 4][i / 4] = lane(i).b[j];
      }
      for (int i = 0; i < 32; ++i) {
        for (int j = 0; j < 4; ++j) {
          const int row = i / 4 + j / 2 * 8, column = i % 4 * 2 + j % 2;
          double sum = lane(i).c[j];
          for (int k = 0; k < 16; ++k) sum = std::fma(left[row][k], right[k][column], sum);
          lane(i).c[j] = sum;
        }
      }
    }
  };
  Fragments fragments{c, a, b};
  GridRun::Current()->Together(&Fragments::Apply, &fragments);
}

void MmaI8(int32_t (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], bool a_signed, bool b_signed) {
  struct Fragments {
    int32_t* c;
    const uint32_t *a, *b;
    bool a_signed, b_signed;
    static int Byte(uint32_t word, int i, bool is_signed) {
      const auto byte = static_cast<uint8_t>(word >> 8 * i);
      return is_signed ? static_cast<int8_t>(byte) : byte;
    }
    static void Apply(void* const* operands) {
      const auto lane = [&](int i) -> const Fragments& {
        return *static_cast<const Fragments*>(operands[i]);
      };
      int left[16][32], right[32][8];
      for (int i = 0; i < 32; ++i) {
        for (int j = 0; j < 16; ++j) {
          left[i / 4 + j / 4 % 2 * 8][j / 8 * 16 + i % 4 * 4 + j % 4] =
              Byte(lane(i).a[j / 4], j % 4, lane(i).a_signed);
        }
        for (int j = 0; j < 8; ++j) {
          right[j / 4 * 16 + i % 4 * 4 + j % 4][i / 4] = Byte(lane(i).b[j / 4], j % 4, lane(i).b_signed);
        }
      }
      for (int i = 0; i < 32; ++i) {
        for (int j = 0; j < 4; ++j) {
          const int row = i / 4 + j / 2 * 8, column = i % 4 * 2 + j % 2;
          auto sum = static_cast<uint32_t>(lane(i).c[j]);
          for (int k = 0; k < 32; ++k) sum += static_cast<uint32_t>(left[row][k] * right[k][column]);
          lane(i).c[j] = static_cast<int32_t>(sum);
        }
      }
    }
  };
  Fragments fragments{c, a, b, a_signed, b_signed};
  GridRun::Current()->Together(&Fragments::Apply, &fragments);
}

uint32_t ToTf32(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if (std::isnan(x)) return 0x7fffffff;
  return std::isinf(x) ? bits : (bits + 0x1000) & 0xffffe000;
}

void MmaFloats(MmaFloat type, float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  struct Fragments {
    MmaFloat type;
    const emulated::TensorCore* core;
    float* c;
    const uint32_t *a, *b;
    static void Apply(void* const* operands) {
      const auto lane = [&](int i) -> const Fragments& {
        return *static_cast<const Fragments*>(operands[i]);
      };
      emulated::TensorRow left[16], right[8];
      for (int i = 0; i < 32; ++i) {
        for (int j = 0; j < 4; ++j) left[i / 4 + j % 2 * 8].words[i % 4 + j / 2 * 4] = lane(i).a[j];
        for (int j = 0; j < 2; ++j) right[i / 4].words[i % 4 + j * 4] = lane(i).b[j];
      }
      const auto type = static_cast<emulated::TensorFloat>(lane(0).type);
      for (int i = 0; i < 32; ++i) {
        for (int j = 0; j < 4; ++j) {
          float& sum = lane(i).c[j];
          sum = emulated::TensorCoreSum(*lane(0).core, type, left[i / 4 + j / 2 * 8],
                                        right[i % 4 * 2 + j % 2], sum);
        }
      }
    }
  };
  const bool is_hopper = GridRun::Current()->capability() >= 90;
  Fragments fragments{type, is_hopper ? &emulated::kHopperCore : &emulated::kAmpereCore, c, a, b};
  GridRun::Current()->Together(&Fragments::Apply, &fragments);
}

double AddNearest(double a, double b) { return a + b; }
double AddDown(double a, double b) {
  const Rounding down(FE_DOWNWARD);
  const volatile double x = a, sum = x + b;
  return sum;
}
double AddUp(double a, double b) {
  const Rounding up(FE_UPWARD);
  const volatile double x = a, sum = x + b;
  return sum;
}
double MulNearest(double a, double b) { return a * b; }
double MulUp(double a, double b) {
  const Rounding up(FE_UPWARD);
  const volatile double x = a, product = x * b;
  return product;
}
double FmaNearest(double a, double b, double c) { return std::fma(a, b, c); }
double FmaUp(double a, double b, double c) {
  const Rounding up(FE_UPWARD);
  const volatile double x = a, result = std::fma(x, b, c);
  return result;
}
double SqrtUp(double a) {
  const Rounding up(FE_UPWARD);
  const volatile double x = a, root = std::sqrt(x);
  return root;
}
float ToFloat(double a) { return static_cast<float>(a); }

float AddUp(float a, float b) {
  const Rounding up(FE_UPWARD);
  const volatile float x = a, sum = x + b;
  return sum;
}
float MulUp(float a, float b) {
  const Rounding up(FE_UPWARD);
  const volatile float x = a, product = x * b;
  return product;
}
float FmaNearest(float a, float b, float c) { return std::fma(a, b, c); }
float ToFloatUp(double a) {
  const Rounding up(FE_UPWARD);
  const volatile double x = a;
  const volatile auto result = static_cast<float>(x);
  return result;
}
double RoundToInteger(double a) { return std::nearbyint(a); }

float HalfToFloat(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double magnitude = exponent == 31  ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25);
  return static_cast<float>(std::copysign(magnitude, (bits & 0x8000) != 0 ? -1.0 : 1.0));
}

float MaxNan(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::bit_cast<float>(0x7fffffff);
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

uint32_t MaxU16x2(uint32_t a, uint32_t b) {
  return std::max(a >> 16, b >> 16) << 16 | std::max(a & 0xffff, b & 0xffff);
}

uint32_t MinS16x2(uint32_t a, uint32_t b) {
  const auto least = [](uint32_t x, uint32_t y) {
    return static_cast<uint16_t>(std::min(static_cast<int16_t>(x), static_cast<int16_t>(y)));
  };
  return static_cast<uint32_t>(least(a >> 16, b >> 16)) << 16 | least(a, b);
}

}  // namespace assay::gpu
