// Elements and slots in memory to registers and back.
#include "jit/assembler_code.h"

namespace assay::jit {

// The first element to the first lane, as it is in registers but for f16, which stays as it is in memory; in
// eax too where it is short.
void Assembler::LoadSingle(Vec d, int stream, ElementType type) {
  Code& c = *code_;
  const Xbyak::Reg64& from = c.AddressOf(stream);
  const Xbyak::Xmm x = Code::X(d);
  switch (type) {
    case ElementType::kPred:
      c.movzx(c.eax, c.byte[from]);
      c.neg(c.eax);
      return c.vmovd(x, c.eax);
    case ElementType::kS8:
      c.movsx(c.eax, c.byte[from]);
      return c.vmovd(x, c.eax);
    case ElementType::kU8:
      c.movzx(c.eax, c.byte[from]);
      return c.vmovd(x, c.eax);
    case ElementType::kS16:
      c.movsx(c.eax, c.word[from]);
      return c.vmovd(x, c.eax);
    case ElementType::kU16:
    case ElementType::kF16:
      c.movzx(c.eax, c.word[from]);
      return c.vmovd(x, c.eax);
    case ElementType::kBF16:
      c.movzx(c.eax, c.word[from]);
      c.shl(c.eax, 16);
      return c.vmovd(x, c.eax);
    default:
      if (Bytes(type) == 8) return c.vmovq(x, c.ptr[from]);
      c.vmovd(x, c.ptr[from]);
  }
}

void Assembler::Load(Vec d, int stream, const Stream& what, bool exact_nans) {
  Code& c = *code_;
  if (what.single) {
    LoadSingle(d, stream, what.type);
    if (what.type != ElementType::kF16) return;
  }
  const Xbyak::Address from = c.At(stream, Bytes(what.type), what.repeated);
  switch (what.type) {
    case ElementType::kPred:
      c.vpmovzxbd(c.R32(d), from);
      c.Zero(c.S0());
      c.vpsubd(c.R32(d), c.R32(c.S0()), c.R32(d));
      return;
    case ElementType::kS8:
      return c.vpmovsxbd(c.R32(d), from);
    case ElementType::kU8:
      return c.vpmovzxbd(c.R32(d), from);
    case ElementType::kS16:
      return c.vpmovsxwd(c.R32(d), from);
    case ElementType::kU16:
      return c.vpmovzxwd(c.R32(d), from);
    case ElementType::kBF16:
      c.vpmovzxwd(c.R32(d), from);
      return c.vpslld(c.R32(d), c.R32(d), 16);
    case ElementType::kF16:
      if (what.single) {
        c.vcvtph2ps(Code::X(d), Code::X(d));
      } else {
        c.vcvtph2ps(c.R32(d), from);
      }
      if (exact_nans) {
        // The conversion makes signalling NaNs quiet: a NaN gets the mantissa's first bit back as it was.
        c.NaNLanes(c.S1(), d);
        Shift(VecOp::kShiftLeft, Lane::k32, c.S1(), c.S1(), 31);
        Shift(VecOp::kShiftRight, Lane::k32, c.S1(), c.S1(), 9);
        Do(VecOp::kAndNot, Lane::k32, d, c.S1(), d);
        if (what.single) {
          c.vmovd(Code::X(c.S0()), c.eax);
        } else {
          c.vpmovzxwd(c.R32(c.S0()), c.At(stream, 2, what.repeated));
        }
        Shift(VecOp::kShiftLeft, Lane::k32, c.S0(), c.S0(), 13);
        Do(VecOp::kAnd, Lane::k32, c.S0(), c.S0(), c.S1());
        Do(VecOp::kOr, Lane::k32, d, d, c.S0());
      }
      return;
    default:
      c.vmovups(c.R(Bytes(what.type) == 8 ? Lane::k64 : Lane::k32, d), from);
  }
}

// AVX-512: the low bytes of 32-bit lanes, 16 or 32 of them in all, past the caches.
void Assembler::StorePacked(Vec v, int stream, const Stream& what) {
  Code& c = *code_;
  const Xbyak::Xmm packed = Code::OfBits(8 * Bytes(what.type) * lanes_, c.S0().index);
  if (Bytes(what.type) == 1) {
    c.vpmovdb(packed, c.R32(v));
  } else {
    c.vpmovdw(packed, c.R32(v));
  }
  c.vmovntdq(c.At(stream, Bytes(what.type), false), packed);
}

// The low bytes of 32-bit lanes, which hold no more than the stream's elements have.
void Assembler::StoreIntegers(Vec v, int stream, const Stream& what, bool is_signed) {
  Code& c = *code_;
  const int bytes = Bytes(what.type);
  if (what.single) {
    const Xbyak::Reg64& address = c.AddressOf(stream);
    c.vmovd(c.eax, Code::X(v));
    return bytes == 1 ? c.mov(c.byte[address], c.al) : c.mov(c.word[address], c.ax);
  }
  const Xbyak::Address to = c.At(stream, bytes, false);
  if (c.wide && what.streamed && bytes * lanes_ >= 16) return StorePacked(v, stream, what);
  if (c.wide) return bytes == 1 ? c.vpmovdb(to, c.R32(v)) : c.vpmovdw(to, c.R32(v));
  const Xbyak::Xmm packed = Code::X(c.S0());
  if (lanes_ == 8) {
    c.vextracti128(packed, Code::Y(v), 1);
  } else {
    c.vmovaps(packed, Code::X(v));
  }
  // Saturation changes nothing.
  if (is_signed) {
    c.vpackssdw(packed, Code::X(v), packed);
  } else {
    c.vpackusdw(packed, Code::X(v), packed);
  }
  if (bytes == 2 && lanes_ == 8) return what.streamed ? c.vmovntdq(to, packed) : c.vmovups(to, packed);
  if (bytes == 2) return c.vmovq(to, packed);
  if (is_signed) {
    c.vpacksswb(packed, packed, packed);
  } else {
    c.vpackuswb(packed, packed, packed);
  }
  if (lanes_ == 8) return c.vmovq(to, packed);
  c.vmovd(to, packed);
}

void Assembler::Store(Vec v, int stream, const Stream& what, bool exact_nans) {
  Code& c = *code_;
  const Vec s1 = c.S1();
  switch (what.type) {
    case ElementType::kPred:
      c.vpabsd(c.R32(s1), c.R32(v));
      return StoreIntegers(s1, stream, what, /*is_signed=*/true);
    case ElementType::kS8:
    case ElementType::kU8:
    case ElementType::kS16:
    case ElementType::kU16:
      return StoreIntegers(v, stream, what, IsSignedIntegral(what.type));
    case ElementType::kBF16:
      c.vpsrld(c.R32(s1), c.R32(v), 16);
      return StoreIntegers(s1, stream, what, /*is_signed=*/false);
    case ElementType::kF16:
      c.vcvtps2ph(c.R16(s1), c.R32(v), 0);
      c.vpmovzxwd(c.R32(s1), c.R16(s1));
      if (exact_nans) {
        // As in Load, a NaN keeps the mantissa's first bit as it is.
        const Vec s0 = c.S0();
        c.NaNLanes(s0, v);
        Shift(VecOp::kShiftLeft, Lane::k32, s0, s0, 31);
        Shift(VecOp::kShiftRight, Lane::k32, s0, s0, 22);
        Do(VecOp::kAndNot, Lane::k32, s1, s0, s1);
        Shift(VecOp::kShiftLeft, Lane::k32, s0, s0, 13);
        Do(VecOp::kAnd, Lane::k32, s0, s0, v);
        Shift(VecOp::kShiftRight, Lane::k32, s0, s0, 13);
        Do(VecOp::kOr, Lane::k32, s1, s1, s0);
      }
      return StoreIntegers(s1, stream, what, /*is_signed=*/false);
    default:
      if (what.single && Bytes(what.type) == 8) return c.vmovq(c.ptr[c.AddressOf(stream)], Code::X(v));
      if (what.single) return c.vmovd(c.ptr[c.AddressOf(stream)], Code::X(v));
      const Xbyak::Address to = c.At(stream, Bytes(what.type), false);
      const Xbyak::Xmm from = c.R(Bytes(what.type) == 8 ? Lane::k64 : Lane::k32, v);
      return what.streamed ? c.vmovntps(to, from) : c.vmovups(to, from);
  }
}

void Assembler::SaveTo(Vec v, int stream, int slot) {
  Code& c = *code_;
  c.vmovups(c.ptr[c.AddressOf(stream) + kSlotBytes * slot], c.Whole(v));
}

void Assembler::RestoreFrom(Vec d, int stream, int slot) {
  Code& c = *code_;
  c.vmovups(c.Whole(d), c.ptr[c.AddressOf(stream) + kSlotBytes * slot]);
}

}  // namespace assay::jit
