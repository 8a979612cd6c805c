// Any bytes in the places of a StableHLO program that have a language of their own: the first byte chooses a
// quantized type, a sharding of Shardy, one of GSPMD, or a mesh.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "evaluator/verify.h"
#include "hlo/load/stablehlo.h"
#include "hlo/mlir/export/export.h"

namespace {

struct Place {
  std::string_view before, behind;
};
constexpr std::array kPlaces = {
    Place{"func.func @main(%a: tensor<4x!quant.uniform<",
          ">>) -> tensor<4xf32> {\n  %0 = stablehlo.uniform_dequantize %a : (tensor<4x!quant.uniform<i8:f32, "
          "1.0>>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"},
    Place{"func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.uniform_quantize %a : "
          "(tensor<4xf32>) -> tensor<4x!quant.uniform<",
          ">>\n  return %a : tensor<4xf32>\n}\n"},
    Place{"module {\n  sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>\n  func.func @main(%a: tensor<8x8xf32> "
          "{sdy.sharding "
          "= #sdy.sharding<",
          ">}) -> tensor<8x8xf32> {\n    return %a : tensor<8x8xf32>\n  }\n}\n"},
    Place{"module {\n  sdy.mesh @mesh = ",
          "\n  func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}) -> "
          "tensor<8x8xf32> {\n    return %a : tensor<8x8xf32>\n  }\n}\n"},
    Place{"module attributes {mhlo.num_partitions = 4 : i32} {\n  func.func @main(%a: tensor<8x8xf32> "
          "{mhlo.sharding = \"",
          "\"}) -> tensor<8x8xf32> {\n    return %a : tensor<8x8xf32>\n  }\n}\n"},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1 || size > 4096) return 0;
  const Place& place = kPlaces[data[0] % kPlaces.size()];
  std::string text(place.before);
  text.append(reinterpret_cast<const char*>(data) + 1, size - 1);
  text += place.behind;
  absl::StatusOr<assay::Module> module = assay::ParseStableHloText(text);
  if (!module.ok()) {
    const int exit_code = assay::ExitCodeOf(module.status());
    ASSAY_CHECK(exit_code == 3 || exit_code == 4 || exit_code == 5);
    return 0;
  }
  const absl::StatusOr<assay::VerifiedModule> verified = assay::Verify(*std::move(module));
  if (!verified.ok()) {
    const int exit_code = assay::ExitCodeOf(verified.status());
    ASSAY_CHECK(exit_code == 3 || exit_code == 4);
    return 0;
  }
  const absl::StatusOr<std::string> printed = assay::ExportStableHlo(verified->module());
  ASSAY_CHECK(printed.ok() || assay::ExitCodeOf(printed.status()) == 4);
  if (printed.ok()) ASSAY_CHECK(assay::ParseStableHloText(*printed).ok());
  return 0;
}
