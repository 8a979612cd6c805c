// What assembler.cc and assembler_memory.cc share: the code that is being made. Nothing else includes xbyak.
#ifndef ASSAY_JIT_ASSEMBLER_CODE_H_
#define ASSAY_JIT_ASSEMBLER_CODE_H_

#include <xbyak/xbyak.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "jit/assembler.h"

namespace assay::jit {

inline constexpr size_t kCodeLimit = 1 << 18;
inline constexpr uint8_t kUnordered = 3;  // vcmpps

struct Assembler::Code : Xbyak::CodeGenerator {
  Code(uint8_t* memory, Isa target, int num_lanes)
      : CodeGenerator(kCodeLimit, memory), wide(target == Isa::kAvx512), lanes(num_lanes) {}

  static Xbyak::Xmm OfBits(int bits, int index) {
    if (bits <= 128) return Xbyak::Xmm(index);
    if (bits == 256) return Xbyak::Ymm(index);
    return Xbyak::Zmm(index);
  }
  static Xbyak::Ymm AtLeastYmm(const Xbyak::Xmm& v) {
    return v.isZMM() ? Xbyak::Ymm(Xbyak::Zmm(v.getIdx())) : Xbyak::Ymm(v.getIdx());
  }
  Xbyak::Xmm R16(Vec v) const { return OfBits(16 * lanes, v.index); }
  Xbyak::Xmm R32(Vec v) const { return OfBits(32 * lanes, v.index); }
  Xbyak::Xmm R64(Vec v) const { return OfBits(64 * lanes, v.index); }
  Xbyak::Xmm R(Lane lane, Vec v) const { return lane == Lane::k32 ? R32(v) : R64(v); }
  Xbyak::Xmm Whole(Vec v) const { return OfBits(wide ? 512 : 256, v.index); }
  static Xbyak::Xmm X(Vec v) { return Xbyak::Xmm(v.index); }
  static Xbyak::Ymm Y(Vec v) { return Xbyak::Ymm(v.index); }
  Vec S0() const { return {wide ? 30 : 14}; }
  Vec S1() const { return {wide ? 31 : 15}; }

  // The addresses that have a register, and position 0.
  void LoadAddresses(int streams) {
    for (int i = 0; i < std::min(streams, kAddresses); ++i) mov(*addresses[i], ptr[rdi + 8 * i]);
    xor_(eax, eax);
  }
  const Xbyak::Reg64& AddressOf(int stream) {
    if (stream < kAddresses) return *addresses[stream];
    mov(rcx, ptr[rdi + 8 * stream]);
    return rcx;
  }
  // The address of the elements at the position, `bytes` each.
  Xbyak::Address At(int stream, int bytes, bool repeated) {
    const Xbyak::Reg64& address = AddressOf(stream);
    return repeated ? ptr[address] : ptr[address + rax * bytes];
  }
  Xbyak::Address Pooled(Lane lane, uint64_t bits) { return ptr[rip + pool[{lane, bits}]]; }

  void EmitPool() {
    align(8);
    for (auto& [key, label] : pool) {
      L(label);
      dq(key.second);
    }
  }

  // Sets lanes of f32 to ~0 where a is NaN, else 0.
  void NaNLanes(Vec d, Vec a) {
    if (wide) {
      vcmpps(k1, R32(a), R32(a), kUnordered);
      vpmovm2d(R32(d), k1);
    } else {
      vcmpps(R32(d), R32(a), R32(a), kUnordered);
    }
  }
  void Zero(Vec d) {
    if (wide) {
      vpxord(Whole(d), Whole(d), Whole(d));
    } else {
      vpxor(Whole(d), Whole(d), Whole(d));
    }
  }
  // The low halves of four 64-bit lanes.
  void Narrow(Vec d, Vec a) {
    vextracti128(X(S0()), Y(a), 1);
    vshufps(X(d), X(a), X(S0()), 0x88);
  }
  void Xor(Vec d, Vec a, Vec b) {
    if (wide) {
      vpxord(Whole(d), Whole(a), Whole(b));
    } else {
      vpxor(Whole(d), Whole(a), Whole(b));
    }
  }
  void Broadcast(Lane lane, const Xbyak::Xmm& d, uint64_t bits) {
    if (lane == Lane::k32) {
      vbroadcastss(d, Pooled(lane, bits));
    } else {
      vbroadcastsd(AtLeastYmm(d), Pooled(lane, bits));
    }
  }
  // Flips the sign bits of both, so that unsigned integers have the order of signed ones.
  void FlipSigns(Lane lane, Vec a, Vec b) {
    Broadcast(lane, R(lane, S0()), lane == Lane::k32 ? 0x80000000u : uint64_t{1} << 63);
    Xor(S1(), b, S0());
    Xor(S0(), a, S0());
  }

  static constexpr int kAddresses = 5;
  const Xbyak::Reg64* const addresses[kAddresses] = {&rdx, &r8, &r9, &r10, &r11};
  const bool wide;
  const int lanes;
  std::map<std::pair<Lane, uint64_t>, Xbyak::Label> pool;
  Xbyak::Label loop, left;
  std::unique_ptr<uint8_t[]> memory;
};

}  // namespace assay::jit

#endif  // ASSAY_JIT_ASSEMBLER_CODE_H_
