#include "hlo/mlir/import/einsum.h"

#include <algorithm>
#include <string>

#include "fmt/format.h"

namespace assay::mlir {
namespace {

bool AreDistinctLetters(std::string_view letters) {
  for (size_t i = 0; i < letters.size(); ++i) {
    const char c = letters[i];
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')) return false;
    if (letters.find(c, i + 1) != std::string_view::npos) return false;
  }
  return true;
}

bool Has(std::string_view letters, char letter) { return letters.find(letter) != std::string_view::npos; }

int64_t IndexOf(std::string_view letters, char letter) { return static_cast<int64_t>(letters.find(letter)); }

}  // namespace

std::string NoProductText(std::string_view config) {
  return fmt::format(
      "einsum_config \"{}\", which is not a product of two operands whose dimensions are transposed then",
      config);
}

std::optional<Einsum> ParseEinsum(std::string_view config, size_t operands) {
  const size_t arrow = config.find("->");
  if (arrow == std::string_view::npos) return std::nullopt;
  Einsum einsum;
  einsum.lhs = config.substr(0, arrow);
  einsum.result = config.substr(arrow + 2);
  if (operands == 2) {
    const size_t comma = einsum.lhs.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    einsum.rhs = einsum.lhs.substr(comma + 1);
    einsum.lhs = einsum.lhs.substr(0, comma);
  }
  if (!AreDistinctLetters(einsum.lhs) || !AreDistinctLetters(einsum.rhs) ||
      !AreDistinctLetters(einsum.result))
    return std::nullopt;
  std::string product,
      free;  // the letters of dot_general's result: batch, what is left of lhs, what is left of rhs
  for (const char letter : einsum.lhs) {
    if (!Has(einsum.rhs, letter)) {
      free += letter;
      continue;
    }
    const bool is_batch = Has(einsum.result, letter);
    if (is_batch) product += letter;
    (is_batch ? einsum.lhs_batch : einsum.lhs_contracting).push_back(IndexOf(einsum.lhs, letter));
    (is_batch ? einsum.rhs_batch : einsum.rhs_contracting).push_back(IndexOf(einsum.rhs, letter));
  }
  product += free;
  for (const char letter : einsum.rhs) {
    if (!Has(einsum.lhs, letter)) product += letter;
  }
  if (product.size() != einsum.result.size()) return std::nullopt;
  for (const char letter : einsum.result) {
    if (!Has(product, letter)) return std::nullopt;
    einsum.permutation.push_back(IndexOf(product, letter));
  }
  return einsum;
}

}  // namespace assay::mlir
