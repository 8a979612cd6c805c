#include "gpu/residue_systems.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::gpu {
namespace {

using Big = std::vector<uint32_t>;  // little-endian

Big Times(Big x, uint32_t by) {
  uint64_t carry = 0;
  for (uint32_t& limb : x) {
    carry += static_cast<uint64_t>(limb) * by;
    limb = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  if (carry != 0) x.push_back(static_cast<uint32_t>(carry));
  return x;
}

uint32_t Modulo(const Big& x, uint32_t p) {
  uint64_t rest = 0;
  for (size_t i = x.size(); i-- > 0;) rest = (rest << 32 | x[i]) % p;
  return static_cast<uint32_t>(rest);
}

double ToDouble(const Big& x) {
  double value = 0;
  for (size_t i = x.size(); i-- > 0;) value = value * 4294967296.0 + x[i];
  return value;
}

// Bits [from, from + count), at most 53 of them, as a number.
double Bits(const Big& x, int from, int count) {
  double value = 0;
  for (int i = count - 1; i >= 0; --i) {
    const auto limb = static_cast<size_t>((from + i) / 32);
    value = 2 * value + (limb < x.size() ? x[limb] >> ((from + i) % 32) & 1 : 0);
  }
  return value;
}
// Part j of so many, the highest first.
double PartOf(const Big& x, int parts, int j) {
  return Bits(x, kPartBits * (parts - 1 - j), j == 0 ? 53 : kPartBits);
}

std::vector<int> Moduli(int count) {
  std::vector<int> moduli;
  for (int p = 256; static_cast<int>(moduli.size()) < count; --p) {
    if (std::all_of(moduli.begin(), moduli.end(), [&](int q) { return std::gcd(p, q) == 1; }))
      moduli.push_back(p);
  }
  return moduli;
}

// With a magnitude of at most p / 2.
int Balanced(int64_t x, int p) {
  const auto rest = static_cast<int>((x % p + p) % p);
  return 2 * rest > p ? rest - p : rest;
}

int InverseOf(uint32_t x, int p) {
  for (int q = 1; q < p; ++q) {
    if (x * static_cast<uint32_t>(q) % static_cast<uint32_t>(p) == 1) return q;
  }
  return 0;
}

ResidueSystem SystemOf(int count) {
  const std::vector<int> moduli = Moduli(count);
  Big product{1};
  for (int p : moduli) product = Times(product, static_cast<uint32_t>(p));
  ResidueSystem s{};
  s.moduli = count;
  s.parts = PartsOfModuli(count);
  // What rounding does here is far less than 2^-10 of it.
  s.most = ToDouble(product) / 2 * (1 - 0x1p-10);
  s.limit = std::sqrt(s.most);
  s.inverse = std::ldexp(1 / ToDouble(product), kPartBits * (s.parts - 1));
  for (int j = 0; j < s.parts; ++j) s.product[j] = PartOf(product, s.parts, j);
  for (int i = 0; i < count; ++i) {
    const int p = moduli[i];
    Big weight{1};
    for (int other : moduli) {
      if (other != p) weight = Times(weight, static_cast<uint32_t>(other));
    }
    for (int j = 0; j < s.parts; ++j) {
      s.weight[i][j] = PartOf(weight, s.parts, j);
      s.start[j] -= 128 * s.weight[i][j];
    }
    const int64_t factors[] = {InverseOf(Modulo(weight, static_cast<uint32_t>(p)), p), 1};
    for (int side = 0; side < 2; ++side) {
      s.low[side][i] = Balanced(factors[side], p);
      s.high[side][i] = Balanced(factors[side] * ((int64_t{1} << 30) % p), p);
      s.higher[side][i] = Balanced(factors[side] * ((int64_t{1} << 60) % p), p);
      s.ratio[side][i] = s.parts == 2 ? static_cast<double>(s.low[side][i]) / p : 1.0 / p;
    }
    s.modulus[i] = p;
    s.fold[i] = Balanced(1 << 16, p);
    s.modulus_inverse[i] = 1.0f / static_cast<float>(p);
  }
  return s;
}

}  // namespace

const std::vector<ResidueSystem>& ResidueSystems() {
  static const auto& systems = *new std::vector<ResidueSystem>([] {
    std::vector<ResidueSystem> all(kMostModuli + 1);
    for (int count = kLeastModuli; count <= kMostModuli; ++count) all[count] = SystemOf(count);
    return all;
  }());
  return systems;
}

int UsualModuli(int precision, int64_t k, int guard, int most) {
  const double wanted = 2 * (precision + guard) + std::log2(std::max<double>(1, static_cast<double>(k)));
  int count = kLeastModuli;
  // most is P / 2.
  while (count < most && std::log2(ResidueSystems()[count].most) + 1.01 < wanted) ++count;
  return count;
}

}  // namespace assay::gpu
