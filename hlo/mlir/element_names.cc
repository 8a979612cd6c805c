#include "hlo/mlir/element_names.h"

#include <string_view>

#include "fmt/format.h"

namespace assay::mlir {
namespace {

std::string_view MlirName(ElementType type) {
  switch (type) {
    case ElementType::kPred:
      return "i1";
    case ElementType::kF8E5M2:
      return "f8E5M2";
    case ElementType::kF8E4M3:
      return "f8E4M3";
    case ElementType::kF8E4M3FN:
      return "f8E4M3FN";
    case ElementType::kF8E4M3B11FNUZ:
      return "f8E4M3B11FNUZ";
    case ElementType::kF8E3M4:
      return "f8E3M4";
    case ElementType::kF8E5M2FNUZ:
      return "f8E5M2FNUZ";
    case ElementType::kF8E4M3FNUZ:
      return "f8E4M3FNUZ";
    case ElementType::kF8E8M0FNU:
      return "f8E8M0FNU";
    case ElementType::kF6E3M2FN:
      return "f6E3M2FN";
    case ElementType::kF6E2M3FN:
      return "f6E2M3FN";
    case ElementType::kF4E2M1FN:
      return "f4E2M1FN";
    case ElementType::kC64:
      return "complex<f32>";
    case ElementType::kC128:
      return "complex<f64>";
    default:
      return {};
  }
}

}  // namespace

std::string ElementName(ElementType type) {
  if (const std::string_view name = MlirName(type); !name.empty()) return std::string(name);
  if (IsSignedIntegral(type)) return fmt::format("i{}", Bits(type));
  if (IsUnsignedIntegral(type)) return fmt::format("ui{}", Bits(type));
  return std::string(Name(type));
}

}  // namespace assay::mlir
