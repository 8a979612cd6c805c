// The kernels of widen.cu, over every value of their types.
#include "gpu/kernels/widen_arguments.h"
#include "tests/gpu/kernels/formats.h"
#include "tests/gpu/kernels/kernel_run.h"

namespace assay::gpu {

TEST_CASE("every number of 16 bits as f32", "[kernels][widen]") {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  for (const Float type : {Float::kBf16, Float::kF16}) {
    TestMemory memory;
    float* const to = memory.Allocate<float>(65536);
    const WidenArguments a{AddressOf(memory.Copy(all)), AddressOf(to), 65536, 0};
    RunKernel("widen", type == Float::kF16 ? "widen_f16" : "widen_bf16", 3, kWidenThreads, 0, a, memory);
    bool same = true;
    for (uint32_t i = 0; i < 65536; ++i) {
      const double value = ValueOf(i, type);
      same &= std::isnan(value)
                  ? std::isnan(to[i])
                  : std::bit_cast<uint32_t>(to[i]) == std::bit_cast<uint32_t>(static_cast<float>(value));
    }
    CHECK(same);
  }
}

TEST_CASE("numbers of 8 bits by a table", "[kernels][widen]") {
  std::vector<uint8_t> from(1000);
  std::vector<float> table(256);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 37);
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = static_cast<float>(DecodeFloat(i, *Info(ElementType::kF8E4M3FN).format));
  TestMemory memory;
  float* const to = memory.Allocate<float>(1000);
  const WidenArguments a{AddressOf(memory.Copy(from)), AddressOf(to), 1000, AddressOf(memory.Copy(table))};
  RunKernel("widen", "widen_8", 2, kWidenThreads, 1024, a, memory);
  CHECK(std::memcmp(&to[1], &table[37], 4) == 0);
  for (size_t i = 0; i < from.size(); ++i) CHECK(std::memcmp(&to[i], &table[from[i]], 4) == 0);
}

}  // namespace assay::gpu
