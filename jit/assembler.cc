#include <algorithm>
#include <utility>
#include <vector>

#include "jit/assembler_code.h"

namespace assay::jit {
namespace {

// The predicate of vcmpps, without signals.
uint8_t FloatPredicate(Order order) {
  switch (order) {
    case Order::kEq:
      return 0x00;
    case Order::kNe:
      return 0x04;
    case Order::kLt:
      return 0x11;
    case Order::kLe:
      return 0x12;
    case Order::kGt:
      return 0x1e;
    case Order::kGe:
      return 0x1d;
  }
  return 0;
}

// The predicate of vpcmpd.
uint8_t IntegerPredicate(Order order) {
  switch (order) {
    case Order::kEq:
      return 0;
    case Order::kNe:
      return 4;
    case Order::kLt:
      return 1;
    case Order::kLe:
      return 2;
    case Order::kGt:
      return 6;
    case Order::kGe:
      return 5;
  }
  return 0;
}

}  // namespace

Assembler::Assembler(Isa target, int lanes) : target_(target), lanes_(lanes) {
  std::unique_ptr<uint8_t[]> memory(new uint8_t[kCodeLimit]);
  code_ = std::make_unique<Code>(memory.get(), target, lanes);
  code_->memory = std::move(memory);
}
Assembler::~Assembler() = default;

void Assembler::Begin(int streams) {
  Code& c = *code_;
  c.LoadAddresses(streams);
  c.align(16);
  c.L(c.loop);
}

void Assembler::BeginRepetition(int streams, absl::FunctionRef<void()> before) {
  Code& c = *code_;
  c.LoadAddresses(streams);
  c.mov(c.ptr[c.rsp - 8], c.rsi);
  before();
  c.align(16);
  c.L(c.loop);
}

absl::StatusOr<CodeMemory> Assembler::End() {
  Code& c = *code_;
  c.add(c.rax, lanes_);
  c.cmp(c.rax, c.rsi);
  c.jb(c.loop, Xbyak::CodeGenerator::T_NEAR);
  c.vzeroupper();
  c.ret();
  c.EmitPool();
  return CodeMemory::Make({c.getCode(), c.getSize()});
}

absl::StatusOr<CodeMemory> Assembler::EndOfRepetition(absl::FunctionRef<void()> behind) {
  Code& c = *code_;
  Xbyak::Label end;
  c.dec(c.rsi);
  c.jnz(c.loop, Xbyak::CodeGenerator::T_NEAR);
  c.L(c.left);
  c.cmp(c.rsi, c.ptr[c.rsp - 8]);
  c.je(end, Xbyak::CodeGenerator::T_NEAR);
  behind();
  c.L(end);
  c.mov(c.rax, c.rsi);
  c.vzeroupper();
  c.ret();
  c.EmitPool();
  return CodeMemory::Make({c.getCode(), c.getSize()});
}

void Assembler::LeaveUnless(Vec mask) {
  Code& c = *code_;
  c.vmovd(c.ecx, Code::X(mask));
  c.test(c.ecx, c.ecx);
  c.jz(c.left, Xbyak::CodeGenerator::T_NEAR);
}

absl::StatusOr<CodeMemory> Assembler::EndOfSteps(int streams) {
  Code& c = *code_;
  for (int i = 0; i < streams - 1; ++i) {
    const Xbyak::Address step = c.ptr[c.rdi + 8 * (streams + i)];
    if (i < Code::kAddresses) {
      c.add(*c.addresses[i], step);
    } else {
      c.mov(c.rcx, step);
      c.add(c.ptr[c.rdi + 8 * i], c.rcx);
    }
  }
  c.dec(c.rsi);
  c.jnz(c.loop, Xbyak::CodeGenerator::T_NEAR);
  c.vzeroupper();
  c.ret();
  c.EmitPool();
  return CodeMemory::Make({c.getCode(), c.getSize()});
}

// ---- arithmetic ----

void Assembler::Constant(Lane lane, Vec d, uint64_t bits) {
  if (bits == 0) return code_->Zero(d);
  code_->Broadcast(lane, code_->R(lane, d), bits);
}

void Assembler::Spread(Lane lane, Vec d, Vec a, int from) {
  Code& c = *code_;
  const auto four = static_cast<uint8_t>(from * 0x55);  // for each of four lanes
  if (lanes_ == 4) {
    return lane == Lane::k32 ? c.vpshufd(Code::X(d), Code::X(a), four)
                             : c.vpermq(Code::Y(d), Code::Y(a), four);
  }
  Constant(lane, c.S0(), static_cast<uint64_t>(from));
  const Vec index = c.S0();
  using Xbyak::Ymm, Xbyak::Zmm;
  if (lane == Lane::k64) return c.vpermq(Zmm(d.index), Zmm(index.index), Zmm(a.index));
  if (lanes_ == 16) return c.vpermd(Zmm(d.index), Zmm(index.index), Zmm(a.index));
  c.vpermd(Ymm(d.index), Ymm(index.index), Ymm(a.index));
}

void Assembler::Move(Vec d, Vec a) {
  if (d.index != a.index) code_->vmovaps(code_->Whole(d), code_->Whole(a));
}

void Assembler::Do(VecOp op, Lane lane, Vec dv, Vec av, Vec bv) {
  Code& c = *code_;
  const bool narrow = lane == Lane::k32;
  const Xbyak::Xmm d = c.R(lane, dv), a = c.R(lane, av), b = c.R(lane, bv);
  const Xbyak::Xmm s0 = c.R(lane, c.S0()), s1 = c.R(lane, c.S1());
  switch (op) {
    case VecOp::kAddF:
      return narrow ? c.vaddps(d, a, b) : c.vaddpd(d, a, b);
    case VecOp::kSubF:
      return narrow ? c.vsubps(d, a, b) : c.vsubpd(d, a, b);
    case VecOp::kMulF:
      return narrow ? c.vmulps(d, a, b) : c.vmulpd(d, a, b);
    case VecOp::kDivF:
      return narrow ? c.vdivps(d, a, b) : c.vdivpd(d, a, b);
    case VecOp::kMinF:
      return narrow ? c.vminps(d, a, b) : c.vminpd(d, a, b);
    case VecOp::kMaxF:
      return narrow ? c.vmaxps(d, a, b) : c.vmaxpd(d, a, b);
    case VecOp::kAddI:
      return narrow ? c.vpaddd(d, a, b) : c.vpaddq(d, a, b);
    case VecOp::kSubI:
      return narrow ? c.vpsubd(d, a, b) : c.vpsubq(d, a, b);
    case VecOp::kMulI:
      if (narrow) return c.vpmulld(d, a, b);
      if (c.wide) return c.vpmullq(d, a, b);
      // (ah bl + al bh) 2^32 + al bl
      c.vpsrlq(s0, a, 32);
      c.vpmuludq(s0, s0, b);
      c.vpsrlq(s1, b, 32);
      c.vpmuludq(s1, s1, a);
      c.vpaddq(s0, s0, s1);
      c.vpsllq(s0, s0, 32);
      c.vpmuludq(s1, a, b);
      return c.vpaddq(d, s0, s1);
    case VecOp::kAnd:
      return c.wide ? c.vpandd(d, a, b) : c.vpand(d, a, b);
    case VecOp::kAndNot:
      return c.wide ? c.vpandnd(d, a, b) : c.vpandn(d, a, b);
    case VecOp::kOr:
      return c.wide ? c.vpord(d, a, b) : c.vpor(d, a, b);
    case VecOp::kXor:
      return c.wide ? c.vpxord(d, a, b) : c.vpxor(d, a, b);
    case VecOp::kMinS:
      if (narrow) return c.vpminsd(d, a, b);
      if (c.wide) return c.vpminsq(d, a, b);
      c.vpcmpgtq(s0, a, b);
      return c.vblendvpd(d, a, b, s0);
    case VecOp::kMaxS:
      if (narrow) return c.vpmaxsd(d, a, b);
      if (c.wide) return c.vpmaxsq(d, a, b);
      c.vpcmpgtq(s0, a, b);
      return c.vblendvpd(d, b, a, s0);
    case VecOp::kMinU:
      if (narrow) return c.vpminud(d, a, b);
      if (c.wide) return c.vpminuq(d, a, b);
      c.FlipSigns(lane, av, bv);
      c.vpcmpgtq(s0, s0, s1);
      return c.vblendvpd(d, a, b, s0);
    case VecOp::kMaxU:
      if (narrow) return c.vpmaxud(d, a, b);
      if (c.wide) return c.vpmaxuq(d, a, b);
      c.FlipSigns(lane, av, bv);
      c.vpcmpgtq(s0, s0, s1);
      return c.vblendvpd(d, b, a, s0);
    case VecOp::kShiftLeft:
      return narrow ? c.vpsllvd(d, a, b) : c.vpsllvq(d, a, b);
    case VecOp::kShiftRight:
      return narrow ? c.vpsrlvd(d, a, b) : c.vpsrlvq(d, a, b);
    case VecOp::kShiftRightSigned:
      if (narrow) return c.vpsravd(d, a, b);
      if (c.wide) return c.vpsravq(d, a, b);
      // A negative number gives ~(~a >> b).
      SignMask(lane, c.S0(), av);
      c.vpxor(s1, a, s0);
      c.vpsrlvq(s1, s1, b);
      return c.vpxor(d, s1, s0);
  }
}

void Assembler::Shift(VecOp op, Lane lane, Vec dv, Vec av, int places) {
  Code& c = *code_;
  const Xbyak::Xmm d = c.R(lane, dv), a = c.R(lane, av);
  if (op == VecOp::kShiftLeft) return lane == Lane::k32 ? c.vpslld(d, a, places) : c.vpsllq(d, a, places);
  if (op == VecOp::kShiftRight) return lane == Lane::k32 ? c.vpsrld(d, a, places) : c.vpsrlq(d, a, places);
  ASSAY_CHECK(op == VecOp::kShiftRightSigned && lane == Lane::k32);
  c.vpsrad(d, a, places);
}

void Assembler::SignMask(Lane lane, Vec d, Vec a) {
  Code& c = *code_;
  if (lane == Lane::k32) return c.vpsrad(c.R32(d), c.R32(a), 31);
  if (c.wide) return c.vpsraq(c.R64(d), c.R64(a), 63);
  c.Zero(c.S1());
  c.vpcmpgtq(c.R64(d), c.R64(c.S1()), c.R64(a));
}

void Assembler::Sqrt(Lane lane, Vec d, Vec a) {
  Code& c = *code_;
  if (lane == Lane::k32) return c.vsqrtps(c.R32(d), c.R32(a));
  c.vsqrtpd(c.R64(d), c.R64(a));
}

void Assembler::Round(Lane lane, Vec dv, Vec av, Rounding rounding) {
  Code& c = *code_;
  const Xbyak::Xmm d = c.R(lane, dv), a = c.R(lane, av);
  const uint8_t mode = static_cast<uint8_t>(rounding) | 8;  // 8: without the inexact exception
  if (c.wide) return lane == Lane::k32 ? c.vrndscaleps(d, a, mode) : c.vrndscalepd(d, a, mode);
  return lane == Lane::k32 ? c.vroundps(d, a, mode) : c.vroundpd(d, a, mode);
}

void Assembler::Convert(Conversion conversion, Vec d, Vec a) {
  Code& c = *code_;
  switch (conversion) {
    case Conversion::kF32ToF64:
      return c.vcvtps2pd(c.R64(d), c.R32(a));
    case Conversion::kF64ToF32:
      return c.vcvtpd2ps(c.R32(d), c.R64(a));
    case Conversion::kF32ToF16:
      c.vcvtps2ph(c.R16(c.S0()), c.R32(a), 0);
      return c.vcvtph2ps(c.R32(d), c.R16(c.S0()));
    case Conversion::kS32ToF32:
      return c.vcvtdq2ps(c.R32(d), c.R32(a));
    case Conversion::kS32ToF64:
      return c.vcvtdq2pd(c.R64(d), c.R32(a));
    case Conversion::kF32ToS32:
      return c.vcvttps2dq(c.R32(d), c.R32(a));
    case Conversion::kF64ToS32:
      return c.vcvttpd2dq(c.R32(d), c.R64(a));
    case Conversion::kS32ToS64:
      return c.vpmovsxdq(c.R64(d), c.R32(a));
    case Conversion::kU32ToU64:
      return c.vpmovzxdq(c.R64(d), c.R32(a));
    case Conversion::kTruncate:
      return c.wide ? c.vpmovqd(c.R32(d), c.R64(a)) : c.Narrow(d, a);
    case Conversion::kU32ToF32:
      return c.vcvtudq2ps(c.R32(d), c.R32(a));
    case Conversion::kU32ToF64:
      return c.vcvtudq2pd(c.R64(d), c.R32(a));
    case Conversion::kF32ToU32:
      return c.vcvttps2udq(c.R32(d), c.R32(a));
    case Conversion::kS64ToF32:
      return c.vcvtqq2ps(c.R32(d), c.R64(a));
    case Conversion::kU64ToF32:
      return c.vcvtuqq2ps(c.R32(d), c.R64(a));
    case Conversion::kS64ToF64:
      return c.vcvtqq2pd(c.R64(d), c.R64(a));
    case Conversion::kU64ToF64:
      return c.vcvtuqq2pd(c.R64(d), c.R64(a));
    case Conversion::kF64ToS64:
      return c.vcvttpd2qq(c.R64(d), c.R64(a));
    case Conversion::kF64ToU64:
      return c.vcvttpd2uqq(c.R64(d), c.R64(a));
  }
}

// ---- comparisons ----

void Assembler::CompareF(Order order, Lane lane, Vec mask, Vec av, Vec bv) {
  Code& c = *code_;
  const uint8_t predicate = FloatPredicate(order);
  const Xbyak::Xmm a = c.R(lane, av), b = c.R(lane, bv);
  if (c.wide) {
    if (lane == Lane::k32) {
      c.vcmpps(c.k1, a, b, predicate);
    } else {
      c.vcmppd(c.k1, a, b, predicate);
    }
    return c.vpmovm2d(c.R32(mask), c.k1);
  }
  if (lane == Lane::k32) return c.vcmpps(c.R32(mask), a, b, predicate);
  c.vcmppd(c.R64(c.S1()), a, b, predicate);
  c.Narrow(mask, c.S1());
}

void Assembler::IsNaN(Lane lane, Vec mask, Vec av) {
  Code& c = *code_;
  const Xbyak::Xmm a = c.R(lane, av);
  if (lane == Lane::k32) return c.NaNLanes(mask, av);
  if (c.wide) {
    c.vcmppd(c.k1, a, a, kUnordered);
    return c.vpmovm2d(c.R32(mask), c.k1);
  }
  c.vcmppd(c.R64(c.S1()), a, a, kUnordered);
  c.Narrow(mask, c.S1());
}

void Assembler::CompareS(Order order, Lane lane, Vec mask, Vec av, Vec bv) {
  Code& c = *code_;
  const bool narrow = lane == Lane::k32;
  if (c.wide) {
    const uint8_t predicate = IntegerPredicate(order);
    if (narrow) {
      c.vpcmpd(c.k1, c.R32(av), c.R32(bv), predicate);
    } else {
      c.vpcmpq(c.k1, c.R64(av), c.R64(bv), predicate);
    }
    return c.vpmovm2d(c.R32(mask), c.k1);
  }
  // There are == and > alone; the others are these with operands changed about, or their opposites.
  const bool equal = order == Order::kEq || order == Order::kNe;
  const bool opposite = order == Order::kNe || order == Order::kLe || order == Order::kGe;
  if (order == Order::kLt || order == Order::kGe) std::swap(av, bv);
  const Xbyak::Xmm a = c.R(lane, av), b = c.R(lane, bv), to = c.R(lane, c.S1());
  if (equal) {
    narrow ? c.vpcmpeqd(to, a, b) : c.vpcmpeqq(to, a, b);
  } else {
    narrow ? c.vpcmpgtd(to, a, b) : c.vpcmpgtq(to, a, b);
  }
  if (!narrow) c.Narrow(c.S1(), c.S1());
  if (!opposite) return c.vmovaps(c.R32(mask), c.R32(c.S1()));
  c.vpcmpeqd(c.R32(c.S0()), c.R32(c.S0()), c.R32(c.S0()));
  c.vpxor(c.R32(mask), c.R32(c.S1()), c.R32(c.S0()));
}

void Assembler::CompareU(Order order, Lane lane, Vec mask, Vec a, Vec b) {
  Code& c = *code_;
  if (!c.wide) {
    c.FlipSigns(lane, a, b);
    return CompareS(order, lane, mask, c.S0(), c.S1());
  }
  const uint8_t predicate = IntegerPredicate(order);
  if (lane == Lane::k32) {
    c.vpcmpud(c.k1, c.R32(a), c.R32(b), predicate);
  } else {
    c.vpcmpuq(c.k1, c.R64(a), c.R64(b), predicate);
  }
  c.vpmovm2d(c.R32(mask), c.k1);
}

void Assembler::Blend(Lane lane, Vec dv, Vec mask, Vec av, Vec bv) {
  Code& c = *code_;
  const Xbyak::Xmm d = c.R(lane, dv), a = c.R(lane, av), b = c.R(lane, bv);
  if (c.wide) {
    c.vpmovd2m(c.k1, c.R32(mask));
    return lane == Lane::k32 ? c.vpblendmd(d | c.k1, b, a) : c.vpblendmq(d | c.k1, b, a);
  }
  if (lane == Lane::k32) return c.vblendvps(d, b, a, c.R32(mask));
  c.vpmovsxdq(c.R64(c.S0()), c.R32(mask));
  c.vblendvpd(d, b, a, c.R64(c.S0()));
}

void Assembler::SetWhereNaN(Lane lane, Vec dv, Vec av, Vec bv, uint64_t bits) {
  Code& c = *code_;
  const Xbyak::Xmm d = c.R(lane, dv), a = c.R(lane, av), b = c.R(lane, bv);
  if (c.wide) {
    if (lane == Lane::k32) {
      c.vcmpps(c.k1, a, b, kUnordered);
      c.vbroadcastss(d | c.k1, c.Pooled(lane, bits));
    } else {
      c.vcmppd(c.k1, a, b, kUnordered);
      c.vbroadcastsd(Code::AtLeastYmm(d) | c.k1, c.Pooled(lane, bits));
    }
    return;
  }
  c.Broadcast(lane, c.R(lane, c.S1()), bits);
  if (lane == Lane::k32) {
    c.vcmpps(c.R32(c.S0()), a, b, kUnordered);
    c.vblendvps(d, d, c.R32(c.S1()), c.R32(c.S0()));
  } else {
    c.vcmppd(c.R64(c.S0()), a, b, kUnordered);
    c.vblendvpd(d, d, c.R64(c.S1()), c.R64(c.S0()));
  }
}

}  // namespace assay::jit
