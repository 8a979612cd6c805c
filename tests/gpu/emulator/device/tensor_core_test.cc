// Sums of emulated tensor cores against those of the package mmasim (tensor_core_vectors.py).
#include "tests/gpu/emulator/device/tensor_core.h"

#include <bit>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>

namespace assay::emulated {

TEST_CASE("emulated tensor cores give mmasim's bits", "[emulator][tensor_core]") {
  std::ifstream file(ASSAY_SOURCE_DIR "/tests/gpu/emulator/device/tensor_core_vectors.txt");
  int count = 0, other_than_ampere = 0;
  for (std::string line; std::getline(file, line); ++count) {
    INFO(line);
    std::istringstream words(line);
    std::string device, type;
    TensorRow left{}, right{};
    uint32_t c = 0, wanted = 0;
    words >> device >> type >> std::hex;
    for (TensorRow* const row : {&left, &right}) {
      for (uint32_t& word : row->words) words >> word;
    }
    words >> c >> wanted;
    REQUIRE(!words.fail());
    const TensorFloat number = type == "tf32"   ? TensorFloat::kTf32
                               : type == "bf16" ? TensorFloat::kBf16
                                                : TensorFloat::kF16;
    const auto sum = [&](const TensorCore& core) {
      return std::bit_cast<uint32_t>(TensorCoreSum(core, number, left, right, std::bit_cast<float>(c)));
    };
    CHECK(sum(device == "hopper" ? kHopperCore : kAmpereCore) == wanted);
    if (device == "hopper") other_than_ampere += sum(kAmpereCore) != wanted;
  }
  CHECK(count == 384);
  CHECK(other_than_ampere > 20);
}

}  // namespace assay::emulated
