// Strips of any element type <-> compute kinds: the only code that knows how an element is stored.
//
// A compute kind is what scalar code works on: uint8_t (0 or 1) for pred, int64_t for signed, uint64_t for
// unsigned, double for every float, std::complex<double> for complex types. Loading never rounds and
// storing a value of the type never changes it, NaN payloads included.
#ifndef ASSAY_LITERAL_ELEMENT_IO_H_
#define ASSAY_LITERAL_ELEMENT_IO_H_

#include <complex>
#include <cstddef>
#include <cstdint>

#include "shape/element_type.h"

namespace assay {

enum class ComputeKind : uint8_t { kBool, kInt64, kUint64, kReal, kComplex };
ComputeKind KindOf(ElementType type);
// Bytes of one value of a kind: 1, 8, 8, 8, 16.
int KindBytes(ComputeKind kind);

// How many elements a strip holds; buffers for strips have kStripBytes bytes and 64-byte alignment.
inline constexpr int64_t kStrip = 256;
inline constexpr int64_t kStripBytes = kStrip * 16;

// dst[i] = element at src + i * stride_bytes, i in [0, n). stride_bytes may be 0 or negative.
void LoadStrip(ElementType type, const std::byte* src, int64_t stride_bytes, int64_t n, void* dst);
// Element at dst + i * stride_bytes = src[i]. Integers keep their low bits (wrap); floats must be values
// of the type already (RoundToFormat).
void StoreStrip(ElementType type, const void* src, int64_t n, std::byte* dst, int64_t stride_bytes);

// Integers as the type holds them: the low `bits` bits, sign- or zero-extended.
void WrapStrip(ElementType type, int64_t* values, int64_t n);
void WrapStrip(ElementType type, uint64_t* values, int64_t n);
int64_t WrapSigned(int64_t value, int bits);
uint64_t WrapUnsigned(uint64_t value, int bits);

// One element, with the type's case decided beforehand: for compiled scalar functions applied one at a time.
using LoadOneFn = void (*)(const std::byte* src, void* dst);
using StoreOneFn = void (*)(const void* src, std::byte* dst);
LoadOneFn LoadOneFor(ElementType type);
StoreOneFn StoreOneFor(ElementType type);

// One element, for code that is not hot.
struct ScalarValue {
  ComputeKind kind = ComputeKind::kInt64;
  uint8_t b = 0;
  int64_t i = 0;
  uint64_t u = 0;
  double r = 0;
  std::complex<double> c;
};
ScalarValue LoadElement(ElementType type, const std::byte* src);
void StoreElement(ElementType type, const ScalarValue& value, std::byte* dst);
// Integral element as int64 (u64 above 2^63 - 1 gives INT64_MAX); for indices.
int64_t LoadIndex(ElementType integral, const std::byte* src);

}  // namespace assay

#endif  // ASSAY_LITERAL_ELEMENT_IO_H_
