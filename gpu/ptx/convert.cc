// convert and compare.
#include <cmath>

#include "gpu/ptx/elementwise.h"
#include "gpu/ptx/lanes.h"

namespace assay::gpu {
namespace {

class Converter {
 public:
  Converter(Emitter& emitter, ElementType to, Element& x)
      : w_(emitter.w), elements_(emitter.elements), to_(to), x_(x) {}

  Element Run() {
    if (x_.type == to_) return x_;
    if (x_.type == ElementType::kPred) return FromPred();
    if (to_ == ElementType::kPred) return ToPred();
    if (!IsFloat(x_.type)) return IsFloat(to_) ? IntegerToFloat() : IntegerToInteger();
    return IsFloat(to_) ? FloatToFloat() : FloatToInteger();
  }

 private:
  Element Pred(Register value) { return elements_.OfPattern(ElementType::kPred, value); }

  Element FromPred() {
    if (IsFloat(to_)) {
      const Register value = w_.Choose64(w_.Double(1), w_.Double(0), x_.pattern);
      return elements_.Rounded(to_, value);
    }
    Words words(w_, WidthOf(to_));
    return elements_.Wrapped(to_, words.Choose(x_.pattern, words.Constant(1), words.Constant(0)));
  }

  // A NaN is not 0.
  Element ToPred() {
    if (x_.type == ElementType::kF64) return Pred(w_.NeF64(elements_.Double(x_), w_.Double(0)));
    if (IsFloat(x_.type)) return Pred(w_.NeF32(elements_.Single(x_), w_.Single(0)));
    Words words(w_, WidthOf(x_.type));
    return Pred(words.Ne(x_.pattern, words.Constant(0)));
  }

  Element IntegerToInteger() {
    Register value = x_.pattern;
    const bool from_wide = value.width == Width::k64, to_wide = WidthOf(to_) == Width::k64;
    if (from_wide && !to_wide) value = w_.Low32(value);
    if (!from_wide && to_wide) value = IsSignedIntegral(x_.type) ? w_.ExtendS32(value) : w_.ExtendU32(value);
    return elements_.Wrapped(to_, value);
  }

  // Of 64 bits, a narrow type gets what was rounded to odd at 53 bits: toward zero,
  // the last bit set where bits were lost.
  Element IntegerToFloat() {
    const bool is_signed = IsSignedIntegral(x_.type);
    const Register x = x_.pattern;
    if (x.width == Width::k32) {
      if (to_ == ElementType::kF32) return Bits32(is_signed ? w_.F32OfS32(x) : w_.F32OfU32(x));
      return elements_.Rounded(to_, is_signed ? w_.F64OfS32(x) : w_.F64OfU32(x));
    }
    if (to_ == ElementType::kF32) return Bits32(is_signed ? w_.F32OfS64(x) : w_.F32OfU64(x));
    if (to_ == ElementType::kF64)
      return elements_.OfPattern(to_, is_signed ? w_.F64OfS64(x) : w_.F64OfU64(x));
    const Register cut = is_signed ? w_.F64OfS64TowardZero(x) : w_.F64OfU64TowardZero(x);
    const Register back = is_signed ? w_.S64OfF64(cut) : w_.U64OfF64(cut);
    const Register lost = w_.Choose64(w_.Constant64(1), w_.Constant64(0), w_.Ne64(back, x));
    return elements_.Rounded(to_, w_.Or64(cut, lost));
  }
  Element Bits32(Register f32) { return elements_.OfPattern(to_, f32); }

  Element FloatToFloat() {
    if (x_.type == ElementType::kF64) return elements_.Rounded(to_, elements_.Double(x_));
    if (to_ == ElementType::kF64) return elements_.Rounded(to_, elements_.Double(x_));
    return elements_.RoundedSingle(to_, elements_.Single(x_));
  }

  // Toward zero, to the nearest end of the range, NaN to 0.
  Element FloatToInteger() {
    const bool is_signed = IsSignedIntegral(to_);
    const int bits = Bits(to_);
    Words words(w_, WidthOf(to_));
    const bool wide = WidthOf(to_) == Width::k64;
    const Register x = elements_.Double(x_), zero = words.Constant(0);
    const Register inside =
        is_signed ? (wide ? w_.S64OfF64(x) : w_.S32OfF64(x)) : (wide ? w_.U64OfF64(x) : w_.U32OfF64(x));
    const uint64_t ones = ~uint64_t{0} >> (64 - bits);
    const uint64_t most = is_signed ? ones >> 1 : ones;
    const Register limit = w_.Double(std::ldexp(1.0, is_signed ? bits - 1 : bits));
    Register value = words.Choose(w_.GeF64(x, limit), words.Constant(most), inside);
    if (is_signed) {
      const Register low = w_.Double(-std::ldexp(1.0, bits - 1));
      value = words.Choose(w_.LeF64(x, low), words.Constant(~most), value);
      value = words.Choose(w_.NaNF64(x, x), zero, value);
    } else {
      value = words.Choose(w_.GtF64(x, w_.Double(0)), value, zero);
    }
    return elements_.OfPattern(to_, value);
  }

  PtxWriter& w_;
  Elements& elements_;
  const ElementType to_;
  Element& x_;
};

// Integers that are ordered as sign and magnitude of the bits are; where a format has one NaN,
// it is above all.
Register TotalOrderKey(Emitter& emitter, Element& x) {
  PtxWriter& w = emitter.w;
  const FloatFormat& format = *Info(x.type).format;
  const Register bits = emitter.elements.Pattern(x);
  if (format.specials == FloatSpecials::kE8M0) return bits;
  Words words(w, bits.width);
  const int width = bits.width == Width::k64 ? 64 : 32;
  Register wide = bits;
  if (format.bits < width) wide = w.Shl32(bits, w.Constant32(static_cast<uint32_t>(width - format.bits)));
  const Register sign = words.ShrS(wide, w.Constant32(63));
  const Register flip = words.And(sign, words.Constant(~uint64_t{0} >> (65 - width)));
  // The bits that were shifted in are flipped too: they are the same in all keys of a sign.
  Register key = words.Xor(wide, flip);
  if (format.specials == FloatSpecials::kFnuz) {
    const Register nan = words.Eq(bits, words.Constant(format.nan_bits));
    key = words.Choose(nan, words.Constant(~uint64_t{0} >> (65 - width)), key);
  }
  return key;
}

template <class Ordered>
Register Compared(Ordered&& o, std::string_view order) {
  if (order == "EQ") return o.Eq();
  if (order == "NE") return o.Ne();
  if (order == "LT") return o.Lt();
  if (order == "LE") return o.Le();
  return order == "GT" ? o.Gt() : o.Ge();
}

struct OfReals {
  Reals r;
  Register x, y;
  Register Eq() { return r.EqF(x, y); }
  Register Ne() { return r.NeF(x, y); }
  Register Lt() { return r.LtF(x, y); }
  Register Le() { return r.LeF(x, y); }
  Register Gt() { return r.GtF(x, y); }
  Register Ge() { return r.GeF(x, y); }
};

struct OfWords {
  Words words;
  bool is_signed;
  Register x, y;
  Register Eq() { return words.Eq(x, y); }
  Register Ne() { return words.Ne(x, y); }
  Register Lt() { return is_signed ? words.LtS(x, y) : words.LtU(x, y); }
  Register Le() { return is_signed ? words.LeS(x, y) : words.LeU(x, y); }
  Register Gt() { return is_signed ? words.GtS(x, y) : words.GtU(x, y); }
  Register Ge() { return is_signed ? words.GeS(x, y) : words.GeU(x, y); }
};

}  // namespace

Element EmitConvert(Emitter& emitter, ElementType to, Element& x) { return Converter(emitter, to, x).Run(); }

Register EmitCompare(Emitter& emitter, std::string_view order, bool total, Element& x, Element& y) {
  PtxWriter& w = emitter.w;
  Elements& elements = emitter.elements;
  if (x.type == ElementType::kPred) {
    const auto number = [&](Element& e) { return w.Choose32(w.Constant32(1), w.Constant32(0), e.pattern); };
    return Compared(OfWords{Words(w, Width::k32), false, number(x), number(y)}, order);
  }
  if (!IsFloat(x.type))
    return Compared(OfWords{Words(w, WidthOf(x.type)), IsSignedIntegral(x.type), x.pattern, y.pattern},
                    order);
  if (total) {
    const Register a = TotalOrderKey(emitter, x), b = TotalOrderKey(emitter, y);
    const bool is_signed = Info(x.type).format->specials != FloatSpecials::kE8M0;
    return Compared(OfWords{Words(w, a.width), is_signed, a, b}, order);
  }
  const bool wide = x.type == ElementType::kF64;
  const Register a = wide ? elements.Double(x) : elements.Single(x);
  const Register b = wide ? elements.Double(y) : elements.Single(y);
  return Compared(OfReals{Reals(w, a.width), a, b}, order);
}

}  // namespace assay::gpu
