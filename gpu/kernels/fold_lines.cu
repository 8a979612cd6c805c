// Folds over lines: extremes and operations on integers, an instantiation for each operation and width.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/lines.cuh"
#include "gpu/kernels/reduce_arguments.h"

namespace assay::gpu {

// Operations on keys of at least 32 bits. Elements are xored with LineArguments::flip first: maxima of
// signed numbers are those of unsigned ones with another sign bit, minima are maxima of complements, and
// "and" is "or" of them.
template <typename Key>
struct MaxOp {
  static constexpr Key kNeutral = 0;
  __device__ __forceinline__ static Key Of(Key x, Key y) { return x > y ? x : y; }
};
template <typename Key>
struct OrOp {
  static constexpr Key kNeutral = 0;
  __device__ __forceinline__ static Key Of(Key x, Key y) { return x | y; }
};
template <typename Key>
struct XorOp {
  static constexpr Key kNeutral = 0;
  __device__ __forceinline__ static Key Of(Key x, Key y) { return x ^ y; }
};
template <typename Key>
struct AddOp {
  static constexpr Key kNeutral = 0;
  __device__ __forceinline__ static Key Of(Key x, Key y) { return x + y; }
};
template <typename Key>
struct MultiplyOp {
  static constexpr Key kNeutral = 1;
  __device__ __forceinline__ static Key Of(Key x, Key y) { return x * y; }
};

template <size_t kBytes>
struct KeyOfBytes {
  using Type = uint32_t;
};
template <>
struct KeyOfBytes<8> {
  using Type = uint64_t;
};
template <typename Element>
using StateKey = typename KeyOfBytes<sizeof(Element)>::Type;

// What all folds share: Codec makes keys of elements, Operation combines keys.
template <typename ElementType, typename Codec, typename Operation>
struct LineFold {
  using Element = ElementType;
  using Key = typename Codec::Key;
  using State = Key;
  static constexpr bool kHasCareful = false;

  struct Terms {
    Codec codec;
    Key key = Operation::kNeutral;

    Terms() = default;
    __device__ __forceinline__ explicit Terms(const LineArguments& a) : codec(a) {}
    __device__ __forceinline__ void Add(Element bits) { key = Operation::Of(key, codec.KeyOf(bits)); }
    __device__ __forceinline__ void AddVector(const Vector16& vector) {
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        if constexpr (sizeof(Element) == 8) {
          if (w % 2 == 0) Add(static_cast<uint64_t>(vector.words[w + 1]) << 32 | vector.words[w]);
        } else {
#pragma unroll
          for (int at = 0; at < 32; at += 8 * static_cast<int>(sizeof(Element)))
            Add(static_cast<Element>(vector.words[w] >> at));
        }
      }
    }
    __device__ __forceinline__ Key Finish(double) const { return key; }
  };
  __device__ __forceinline__ static Key Empty() { return Operation::kNeutral; }
  __device__ __forceinline__ static Key Combine(Key x, Key y) { return Operation::Of(x, y); }
  __device__ __forceinline__ static Key CombineLanes(Key key, uint32_t group) {
    for (uint32_t mask = group / 2; mask != 0; mask /= 2) key = Operation::Of(key, ShuffleXor(key, mask));
    return key;
  }
  __device__ __forceinline__ static void Store(const LineArguments& a, Key key, int64_t result, double) {
    const Codec codec(a);
    const Key all = Operation::Of(key, codec.KeyOf(*reinterpret_cast<const Element*>(a.init)));
    reinterpret_cast<Element*>(a.result)[result] = codec.ElementOf(all);
  }
};

template <typename Element>
struct IntegerCodec {
  using Key = StateKey<Element>;
  Element flip = 0;

  IntegerCodec() = default;
  __device__ __forceinline__ explicit IntegerCodec(const LineArguments& a)
      : flip(static_cast<Element>(a.flip)) {}
  __device__ __forceinline__ Key KeyOf(Element bits) const { return static_cast<Element>(bits ^ flip); }
  __device__ __forceinline__ Element ElementOf(Key key) const { return static_cast<Element>(key) ^ flip; }
};

// Floats in the order of unsigned numbers, -0 below +0 and NaN above all. Of minima the sign is flipped.
template <typename Element>
struct FloatCodec {
  using Key = StateKey<Element>;
  static constexpr auto kSign = static_cast<Element>(Element{1} << (8 * sizeof(Element) - 1));
  static constexpr auto kAll = static_cast<Element>(~Element{0});
  Element flip = 0, infinity = 0, nan = 0;

  FloatCodec() = default;
  __device__ __forceinline__ explicit FloatCodec(const LineArguments& a)
      : flip(static_cast<Element>(a.flip)),
        infinity(static_cast<Element>(a.infinity)),
        nan(static_cast<Element>(a.nan)) {}
  __device__ __forceinline__ Key KeyOf(Element bits) const {
    const auto flipped = static_cast<Element>(bits ^ flip);
    if (static_cast<Element>(bits & ~kSign) > infinity) return kAll;
    return (flipped & kSign) != 0 ? static_cast<Element>(~flipped) : static_cast<Element>(flipped | kSign);
  }
  __device__ __forceinline__ Element ElementOf(Key key) const {
    const auto bits = static_cast<Element>(key);
    if (bits == kAll) return nan;
    return ((bits & kSign) != 0 ? static_cast<Element>(bits & ~kSign) : static_cast<Element>(~bits)) ^ flip;
  }
};

// f32 as floats: the hardware's maximum has that order.
struct FloatOp {
  static constexpr float kNeutral = -__builtin_huge_valf();
  __device__ __forceinline__ static float Of(float x, float y) { return MaxNan(x, y); }
};
struct F32Codec {
  using Key = float;
  uint32_t flip = 0, nan = 0;

  F32Codec() = default;
  __device__ __forceinline__ explicit F32Codec(const LineArguments& a)
      : flip(static_cast<uint32_t>(a.flip)), nan(static_cast<uint32_t>(a.nan)) {}
  __device__ __forceinline__ float KeyOf(uint32_t bits) const { return BitsAs<float>(bits ^ flip); }
  __device__ __forceinline__ uint32_t ElementOf(float key) const {
    return key != key ? nan : BitsAs<uint32_t>(key) ^ flip;
  }
};

#define LINE_FOLD_KERNELS(name, Element, columns, ...)            \
  KERNEL(fold_rows_##name, LineArguments, kReduceThreads) {       \
    ReduceRows<LineFold<Element, __VA_ARGS__>, 4>(a);             \
  }                                                               \
  KERNEL(fold_long_##name, LineArguments, kReduceThreads) {       \
    ReduceLong<LineFold<Element, __VA_ARGS__>, 4>(a);             \
  }                                                               \
  KERNEL(fold_columns_##name, LineArguments, kReduceThreads) {    \
    ReduceColumns<LineFold<Element, __VA_ARGS__>, columns, 4>(a); \
  }                                                               \
  KERNEL(fold_columns_1_##name, LineArguments, kReduceThreads) {  \
    ReduceColumns<LineFold<Element, __VA_ARGS__>, 1, 8>(a);       \
  }
#define LINE_INTEGER_KERNELS(bytes, Element)                                                                 \
  LINE_FOLD_KERNELS(max_##bytes, Element, FoldColumns(bytes), IntegerCodec<Element>,                         \
                    MaxOp<StateKey<Element>>)                                                                \
  LINE_FOLD_KERNELS(or_##bytes, Element, FoldColumns(bytes), IntegerCodec<Element>, OrOp<StateKey<Element>>) \
  LINE_FOLD_KERNELS(xor_##bytes, Element, FoldColumns(bytes), IntegerCodec<Element>,                         \
                    XorOp<StateKey<Element>>)                                                                \
  LINE_FOLD_KERNELS(add_##bytes, Element, FoldColumns(bytes), IntegerCodec<Element>,                         \
                    AddOp<StateKey<Element>>)                                                                \
  LINE_FOLD_KERNELS(multiply_##bytes, Element, FoldColumns(bytes), IntegerCodec<Element>,                    \
                    MultiplyOp<StateKey<Element>>)
LINE_INTEGER_KERNELS(1, uint8_t)
LINE_INTEGER_KERNELS(2, uint16_t)
LINE_INTEGER_KERNELS(4, uint32_t)
LINE_INTEGER_KERNELS(8, uint64_t)
LINE_FOLD_KERNELS(float_2, uint16_t, 8, FloatCodec<uint16_t>, MaxOp<uint32_t>)
LINE_FOLD_KERNELS(float_4, uint32_t, 4, F32Codec, FloatOp)
LINE_FOLD_KERNELS(float_8, uint64_t, 2, FloatCodec<uint64_t>, MaxOp<uint64_t>)

}  // namespace assay::gpu
