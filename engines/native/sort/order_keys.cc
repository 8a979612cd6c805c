#include "engines/native/sort/order_keys.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <type_traits>

#include "jit/isa.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

template <class U>
constexpr U kTop = static_cast<U>(U{1} << (8 * sizeof(U) - 1));

// The total order of patterns with the sign on top; its inverse.
template <class U>
U InOrder(U pattern) {
  return static_cast<U>(pattern ^ (pattern & kTop<U> ? static_cast<U>(~U{0}) : kTop<U>));
}
template <class U>
U FromOrder(U key) {
  return static_cast<U>(key ^ (key & kTop<U> ? kTop<U> : static_cast<U>(~U{0})));
}

template <class U>
U PatternAt(const std::byte* element) {
  U pattern;
  std::memcpy(&pattern, element, sizeof(U));
  return pattern;
}

template <class U, class Word>
Word Appended(Word word, U key) {
  if constexpr (sizeof(U) >= sizeof(Word)) {
    return static_cast<Word>(key);
  } else {
    return static_cast<Word>(word << (8 * sizeof(U)) | key);
  }
}

// Keys of floats, on vectors.
template <class U>
struct FloatKeys {
  U complement, infinity;
  U no_zero, zero;  // all ones where zeros have keys like any number; else the key of both
  U no_nan, nan;
};
template <class U>
constexpr int64_t kLanes = 64 / sizeof(U);

// words[i] for the whole vectors of n elements; whether one is NaN.
// Magnitudes are compared as signed integers.
template <class U>
ASSAY_BODY bool FloatVectors(const FloatKeys<U>& keys, const std::byte* elements, int64_t n, U* words) {
  using Signed = std::make_signed_t<U>;
  using V [[gnu::vector_size(64)]] = U;
  using S [[gnu::vector_size(64)]] = Signed;
  S beyond{};
  for (int64_t i = 0; i + kLanes<U> <= n; i += kLanes<U>) {
    V pattern;
    std::memcpy(&pattern, elements + i * sizeof(U), sizeof(V));
    const auto magnitude = (S)(pattern & static_cast<U>(~kTop<U>));
    V key = pattern ^ ((V)((S)pattern < 0) | kTop<U>)^keys.complement;
    key = ((V)(magnitude != 0) | keys.no_zero) != 0 ? key : V{} + keys.zero;
    const S is_nan = magnitude > static_cast<Signed>(keys.infinity);
    key = ((V)(~is_nan) | keys.no_nan) != 0 ? key : V{} + keys.nan;
    beyond |= is_nan;
    std::memcpy(words + i, &key, sizeof(V));
  }
  bool any = false;
  for (int64_t j = 0; j < kLanes<U>; ++j) any |= beyond[j] != 0;
  return any;
}
template <class U>
ASSAY_AVX512 bool FloatVectorsAvx512(const FloatKeys<U>& keys, const std::byte* elements, int64_t n,
                                     U* words) {
  return FloatVectors(keys, elements, n, words);
}

// Calls fn with a zero of the unsigned integer of a key.
template <class Fn>
auto WithBits(int bits, const Fn& fn) {
  switch (bits) {
    case 16:
      return fn(uint16_t{0});
    case 32:
      return fn(uint32_t{0});
    default:
      return fn(uint64_t{0});
  }
}

}  // namespace

KeyEncoder::KeyEncoder(const OrderKey& key, Isa isa)
    : wide_(isa == Isa::kAvx512),
      bits_(8 * Bytes(key.type)),
      is_float_(IsFloat(key.type)),
      needs_numbers_(is_float_ && !key.total_order),
      complement_(key.descending ? ~uint64_t{0} : 0),
      sign_(IsSignedIntegral(key.type) ? uint64_t{1} << (bits_ - 1) : 0) {
  if (bits_ == 8) {
    MakeRanks(key);
  } else if (is_float_) {
    WithBits(bits_, [&]<class U>(U) { MakeFloat<U>(key); });
  }
}

template <class U>
void KeyEncoder::MakeFloat(const OrderKey& key) {
  infinity_ = EncodeFloat(HUGE_VAL, *Info(key.type).format);
  const auto complement = static_cast<U>(complement_);
  if (key.zero != nullptr) {
    zeros_ = {true, static_cast<U>(InOrder(PatternAt<U>(key.zero->data())) ^ complement)};
    nans_ = {true, static_cast<U>(InOrder(PatternAt<U>(key.nan->data())) ^ complement)};
  } else if (needs_numbers_) {
    zeros_ = {true, static_cast<U>(InOrder(U{0}) ^ complement)};
  }
}

// Ranks by the doubles that the patterns stand for, or by the integers.
void KeyEncoder::MakeRanks(const OrderKey& key) {
  std::array<uint64_t, 256> orders;
  for (int pattern = 0; pattern < 256; ++pattern) {
    const auto element = static_cast<std::byte>(pattern);
    const ScalarValue value = LoadElement(key.type, &element);
    uint64_t& order = orders[pattern];
    switch (value.kind) {
      case ComputeKind::kBool:
        order = value.b;
        break;
      case ComputeKind::kInt64:
        order = static_cast<uint64_t>(value.i) ^ kTop<uint64_t>;
        break;
      case ComputeKind::kUint64:
        order = value.u;
        break;
      default: {
        double x = value.r;
        is_nan_[pattern] = std::isnan(x);
        if (key.zero != nullptr && x == 0) x = key.zero->GetDouble(0);
        if (key.nan != nullptr && std::isnan(x)) x = key.nan->GetDouble(0);
        if (needs_numbers_ && x == 0) x = 0.0;
        order = InOrder(std::bit_cast<uint64_t>(x));
      }
    }
    order ^= complement_;
  }
  std::map<uint64_t, int> rank_of;
  for (uint64_t order : orders) rank_of.emplace(order, 0);
  int rank = 0;
  for (auto& entry : rank_of) entry.second = rank++;
  for (int pattern = 0; pattern < 256; ++pattern)
    ranks_[pattern] = static_cast<uint8_t>(rank_of[orders[pattern]]);
}

template <class U, class Word>
bool KeyEncoder::AppendFloats(const std::byte* elements, int64_t n, Word* words) const {
  const auto complement = static_cast<U>(complement_), infinity = static_cast<U>(infinity_);
  const bool zeros = zeros_.exists, nans = nans_.exists;
  const auto zero_key = static_cast<U>(zeros_.key), nan_key = static_cast<U>(nans_.key);
  U largest = 0;
  int64_t i = 0;
  if constexpr (std::is_same_v<U, Word>) {
    const FloatKeys<U> keys{complement,
                            infinity,
                            zeros ? U{0} : static_cast<U>(~U{0}),
                            zero_key,
                            nans ? U{0} : static_cast<U>(~U{0}),
                            nan_key};
    const bool nan =
        wide_ ? FloatVectorsAvx512(keys, elements, n, words) : FloatVectors(keys, elements, n, words);
    largest = nan ? static_cast<U>(~kTop<U>) : U{0};
    i = n / kLanes<U> * kLanes<U>;
  }
  for (; i < n; ++i) {
    const U pattern = PatternAt<U>(elements + i * sizeof(U));
    const auto magnitude = static_cast<U>(pattern & ~kTop<U>);
    auto key = static_cast<U>(InOrder(pattern) ^ complement);
    key = zeros && magnitude == 0 ? zero_key : key;
    key = nans && magnitude > infinity ? nan_key : key;
    largest = std::max(largest, magnitude);
    words[i] = Appended<U>(words[i], key);
  }
  return !needs_numbers_ || largest <= infinity;
}

template <class U, class Word>
void KeyEncoder::AppendIntegers(const std::byte* elements, int64_t n, Word* words) const {
  const auto flip = static_cast<U>(sign_ ^ complement_);
  for (int64_t i = 0; i < n; ++i) {
    const auto key = static_cast<U>(PatternAt<U>(elements + i * sizeof(U)) ^ flip);
    words[i] = Appended<U>(words[i], key);
  }
}

template <class Word>
bool KeyEncoder::AppendTo(const std::byte* elements, int64_t n, Word* words) const {
  if (bits_ == 8) {
    bool nan = false;
    for (int64_t i = 0; i < n; ++i) {
      const auto pattern = static_cast<uint8_t>(elements[i]);
      nan |= is_nan_[pattern];
      words[i] = Appended<uint8_t>(words[i], ranks_[pattern]);
    }
    return !needs_numbers_ || !nan;
  }
  return WithBits(bits_, [&]<class U>(U) {
    if (is_float_) return AppendFloats<U>(elements, n, words);
    AppendIntegers<U>(elements, n, words);
    return true;
  });
}
bool KeyEncoder::Append(const std::byte* elements, int64_t n, uint32_t* words) const {
  return AppendTo(elements, n, words);
}
bool KeyEncoder::Append(const std::byte* elements, int64_t n, uint64_t* words) const {
  return AppendTo(elements, n, words);
}

template <class Word>
void KeyEncoder::DecodeFrom(const Word* words, int64_t n, std::byte* elements) const {
  WithBits(bits_, [&]<class U>(U) {
    const auto complement = static_cast<U>(complement_), flip = static_cast<U>(sign_);
    int64_t i = 0;
    if constexpr (std::is_same_v<U, Word>) {
      using V [[gnu::vector_size(64)]] = U;
      using S [[gnu::vector_size(64)]] = std::make_signed_t<U>;
      constexpr int64_t kLanes = 64 / sizeof(U);
      for (; i + kLanes <= n; i += kLanes) {
        V key;
        std::memcpy(&key, words + i, sizeof(V));
        key ^= complement;
        key ^= is_float_ ? (V)((S)key >= 0) | kTop<U> : V{} + flip;
        std::memcpy(elements + i * sizeof(U), &key, sizeof(V));
      }
    }
    for (; i < n; ++i) {
      const auto key = static_cast<U>(static_cast<U>(words[i]) ^ complement);
      const U pattern = is_float_ ? FromOrder(key) : static_cast<U>(key ^ flip);
      std::memcpy(elements + i * sizeof(U), &pattern, sizeof(U));
    }
  });
}
void KeyEncoder::Decode(const uint32_t* words, int64_t n, std::byte* elements) const {
  DecodeFrom(words, n, elements);
}
void KeyEncoder::Decode(const uint64_t* words, int64_t n, std::byte* elements) const {
  DecodeFrom(words, n, elements);
}

bool KeyEncoder::IsZero(const std::byte* element) const {
  return WithBits(bits_, [&]<class U>(U) { return static_cast<U>(PatternAt<U>(element) & ~kTop<U>) == 0; });
}
bool KeyEncoder::IsNaN(const std::byte* element) const {
  return WithBits(bits_, [&]<class U>(U) {
    return static_cast<U>(PatternAt<U>(element) & ~kTop<U>) > static_cast<U>(infinity_);
  });
}

}  // namespace assay::native
