// Elements as unsigned integers in the order that a comparator gives them.
//
// Integers: the sign bit flipped. Floats of 16 bits and more: all bits flipped where the sign is set, else
// the sign bit (the total order, -NaN < -inf < … < -0 < +0 < … < inf < NaN). Types of one byte: the rank of
// each of the 256 patterns. As numbers (FLOAT), both zeros are equal; descending keys are complements.
#ifndef ASSAY_ENGINES_NATIVE_SORT_ORDER_KEYS_H_
#define ASSAY_ENGINES_NATIVE_SORT_ORDER_KEYS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "evaluator/patterns/sort_order.h"
#include "jit/isa.h"
#include "shape/element_type.h"

namespace assay::native {

class KeyEncoder {
 public:
  KeyEncoder(const OrderKey& key, Isa isa);

  int bits() const { return bits_; }  // of a key: 8, 16, 32 or 64

  // words[i] = words[i] << bits | key of element i, of n neighbouring elements; a word has 32 or 64 bits.
  // False where there is a NaN that the comparator has no order for.
  bool Append(const std::byte* elements, int64_t n, uint32_t* words) const;
  bool Append(const std::byte* elements, int64_t n, uint64_t* words) const;

  // The element of a key. A key of several elements, zeros or NaNs that the comparator finds equal,
  // gives one of them.
  void Decode(const uint32_t* words, int64_t n, std::byte* elements) const;
  void Decode(const uint64_t* words, int64_t n, std::byte* elements) const;
  bool CanDecode() const { return bits_ > 8; }

  // What Decode may have got wrong: elements that share one key and are not of equal bits.
  struct Class {
    bool exists = false;
    uint64_t key = 0;
  };
  Class zeros() const { return zeros_; }
  Class nans() const { return nans_; }
  bool IsZero(const std::byte* element) const;
  bool IsNaN(const std::byte* element) const;

 private:
  template <class U>
  void MakeFloat(const OrderKey& key);
  void MakeRanks(const OrderKey& key);
  template <class Word>
  bool AppendTo(const std::byte* elements, int64_t n, Word* words) const;
  template <class U, class Word>
  bool AppendFloats(const std::byte* elements, int64_t n, Word* words) const;
  template <class U, class Word>
  void AppendIntegers(const std::byte* elements, int64_t n, Word* words) const;
  template <class Word>
  void DecodeFrom(const Word* words, int64_t n, std::byte* elements) const;

  bool wide_ = false;  // AVX-512
  int bits_ = 0;
  bool is_float_ = false;
  bool needs_numbers_ = false;  // FLOAT: no NaN
  uint64_t complement_ = 0;     // all ones where descending
  uint64_t sign_ = 0;           // what is flipped of an integer
  uint64_t infinity_ = 0;       // pattern of the largest magnitude that is no NaN
  Class zeros_, nans_;
  std::array<uint8_t, 256> ranks_{};
  std::array<bool, 256> is_nan_{};
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SORT_ORDER_KEYS_H_
