// Products of bytes, and of pairs of bf16, by the matrix registers of AMX: two tiles of 16 rows of 64 bytes
// times two of 16 columns.
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "engines/native/contraction/integer_kernels.h"

#define ASSAY_AMX __attribute__((target("amx-tile,amx-int8,amx-bf16")))

namespace assay::native {
namespace {

constexpr int kRows = 32, kColumns = 32;  // of the four accumulators
constexpr int kLine = 64;                 // bytes of a row in a tile

struct alignas(64) ByteTileConfiguration {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {kLine, kLine, kLine, kLine, kLine, kLine, kLine, kLine};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

ASSAY_AMX void Configure() {
  static const ByteTileConfiguration configuration;
  _tile_loadconfig(&configuration);
}
// Thread switches are dearer while the registers are in use.
ASSAY_AMX void Release() { _tile_release(); }

// The instructions want their registers as constants. Right panels stream past the left one,
// which stays in the L1 cache.
#define ASSAY_BYTE_TILE(name, multiply_add, bytes)                                          \
  ASSAY_AMX void name(int64_t n, const void* a, const void* b, void* c, int64_t c_stride) { \
    const auto* lines = static_cast<const int8_t*>(a);                                      \
    const auto* groups = static_cast<const int8_t*>(b);                                     \
    auto* const sums = static_cast<int32_t*>(c);                                            \
    _tile_zero(0);                                                                          \
    _tile_zero(1);                                                                          \
    _tile_zero(2);                                                                          \
    _tile_zero(3);                                                                          \
    for (int64_t k = 0; k < n * (bytes); k += kLine) {                                      \
      _tile_loadd(4, lines, kLine);                                                         \
      _tile_stream_loadd(6, groups, 4 * kColumns);                                          \
      multiply_add(0, 4, 6);                                                                \
      _tile_stream_loadd(7, groups + 64, 4 * kColumns);                                     \
      multiply_add(1, 4, 7);                                                                \
      _tile_loadd(5, lines + 16 * kLine, kLine);                                            \
      multiply_add(2, 5, 6);                                                                \
      multiply_add(3, 5, 7);                                                                \
      lines += kRows * kLine;                                                               \
      groups += kColumns * kLine;                                                           \
    }                                                                                       \
    _tile_stored(0, sums, 4 * c_stride);                                                    \
    _tile_stored(1, sums + 16, 4 * c_stride);                                               \
    _tile_stored(2, sums + 16 * c_stride, 4 * c_stride);                                    \
    _tile_stored(3, sums + 16 * c_stride + 16, 4 * c_stride);                               \
  }
ASSAY_BYTE_TILE(TileUnsignedUnsigned, _tile_dpbuud, 1)
ASSAY_BYTE_TILE(TileUnsignedSigned, _tile_dpbusd, 1)
ASSAY_BYTE_TILE(TileSignedUnsigned, _tile_dpbsud, 1)
ASSAY_BYTE_TILE(TileSignedSigned, _tile_dpbssd, 1)
ASSAY_BYTE_TILE(TilePairs, _tile_dpbf16ps, 2)
#undef ASSAY_BYTE_TILE

constexpr IntegerKernel Kernel(void (*tile)(int64_t, const void*, const void*, void*, int64_t)) {
  IntegerKernel kernel = {kRows, kColumns, 1, 4, 4, kLine};
  kernel.left_in_lines = true;
  kernel.keeps_left = true;
  kernel.tile = tile;
  kernel.begin = Configure;
  kernel.end = Release;
  return kernel;
}

// Sums of f32 lie where those of 32-bit integers would.
constexpr IntegerKernel PairKernel() {
  IntegerKernel kernel = Kernel(TilePairs);
  kernel.element_bytes = 2;
  kernel.group = 2;
  kernel.depth = kLine / 2;
  return kernel;
}

std::atomic<bool> are_forbidden = false;

bool ProcessorHasTiles(unsigned with) {
  constexpr unsigned kTiles = 1u << 24, kXsave = 1u << 27;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kXsave) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kTiles) != 0 && (d & with) != 0;
}

}  // namespace

bool HasByteTiles() {
  constexpr unsigned kInt8 = 1u << 25;
  // Linux gives the registers only to processes that ask for them (Documentation/arch/x86/xstate.rst).
  static const bool has = [] {
    constexpr long kRequestPermission = 0x1023, kTileData = 18;
    return ProcessorHasTiles(kInt8) && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return has && !are_forbidden;
}

void ForbidByteTiles(bool forbidden) { are_forbidden = forbidden; }

bool HasPairTiles() {
  constexpr unsigned kBf16 = 1u << 22;
  static const bool has = ProcessorHasTiles(kBf16);
  return has && HasByteTiles();
}

const IntegerKernel& PairTiles() {
  static constexpr IntegerKernel kKernel = PairKernel();
  return kKernel;
}

const IntegerKernel& ByteTiles(bool lhs_signed, bool rhs_signed) {
  static constexpr IntegerKernel kernels[2][2] = {{Kernel(TileUnsignedUnsigned), Kernel(TileUnsignedSigned)},
                                                  {Kernel(TileSignedUnsigned), Kernel(TileSignedSigned)}};
  return kernels[lhs_signed][rhs_signed];
}

}  // namespace assay::native
