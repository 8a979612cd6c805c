// Attributes that every instruction may carry.
#include "hlo/text/common_attributes.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "hlo/text/attribute_values.h"
#include "hlo/text/print_values.h"
#include "hlo/text/sharding_text.h"

namespace assay {
namespace {

constexpr std::pair<std::string_view, CommonAttr> kCommonAttrs[] = {
    {"sharding", CommonAttr::kSharding},
    {"frontend_attributes", CommonAttr::kFrontendAttributes},
    {"statistics", CommonAttr::kStatistics},
    {"parameter_replication", CommonAttr::kParameterReplication},
    {"control-predecessors", CommonAttr::kControlPredecessors},
    {"origin", CommonAttr::kOrigin},
    {"metadata", CommonAttr::kMetadata},
    {"backend_config", CommonAttr::kBackendConfig},
};

absl::Status ReadStringOrJson(TokenReader& in, StringOrJson* value) {
  if (in.At(TokenKind::kString)) {
    value->is_json = false;
    return in.ReadString(&value->text);
  }
  if (!in.At(TokenKind::kLeftBrace)) return in.Unexpected("a string or a dictionary in braces");
  ASSAY_ASSIGN_OR_RETURN(const std::string_view dict, in.lexer().TakeJsonDict());
  value->text = std::string(dict);
  value->is_json = true;
  return absl::OkStatus();
}

constexpr std::pair<std::string_view, SharedText OpMetadata::*> kMetadataStrings[] = {
    {"op_type", &OpMetadata::op_type},
    {"op_name", &OpMetadata::op_name},
    {"source_file", &OpMetadata::source_file},
    {"deduplicated_name", &OpMetadata::deduplicated_name},
    {"scheduling_name", &OpMetadata::scheduling_name},
    {"metadata_payload", &OpMetadata::metadata_payload},
};
constexpr std::pair<std::string_view, int64_t OpMetadata::*> kMetadataInts[] = {
    {"source_line", &OpMetadata::source_line},       {"source_end_line", &OpMetadata::source_end_line},
    {"source_column", &OpMetadata::source_column},   {"source_end_column", &OpMetadata::source_end_column},
    {"stack_frame_id", &OpMetadata::stack_frame_id},
};
constexpr uint32_t kProfileTypeBit = 1u << 31;

// The place of `name` among the metadata fields as a bit of its own; 0 for an unknown name.
uint32_t MetadataBit(std::string_view name) {
  for (size_t i = 0; i < std::size(kMetadataStrings); ++i) {
    if (kMetadataStrings[i].first == name) return 1u << i;
  }
  for (size_t i = 0; i < std::size(kMetadataInts); ++i) {
    if (kMetadataInts[i].first == name) return 1u << (16 + i);
  }
  return name == "profile_type" ? kProfileTypeBit : 0;
}

absl::Status ReadMetadataField(TokenReader& in, uint32_t bit, OpMetadata* metadata) {
  in.Next();
  if (bit == kProfileTypeBit) {
    const SourcePosition where = in.position();
    ASSAY_RETURN_IF_ERROR(in.ReadInts(&metadata->profile_type));
    for (int64_t type : metadata->profile_type) {
      if (type >= 0 && type <= 3) continue;
      return InvalidProgram(where, fmt::format("metadata: profile_type holds {}, want 0 to 3", type));
    }
    return absl::OkStatus();
  }
  const int i = __builtin_ctz(bit);
  if (i < 16) return in.ReadText(&(metadata->*kMetadataStrings[i].second));
  const auto& [name, member] = kMetadataInts[i - 16];
  const SourcePosition where = in.position();
  int64_t& value = metadata->*member;
  ASSAY_RETURN_IF_ERROR(in.ReadInt(&value));
  // As in XLA: protos have 32 bits for it.
  if (value >= INT32_MIN && value <= INT32_MAX) return absl::OkStatus();
  return InvalidProgram(where, fmt::format("metadata: {} is {}, want a number of 32 bits", name, value));
}

// {} or {visualizing_index=1,name=2.5}
absl::Status ReadStatistics(TokenReader& in, std::string* canonical) {
  *canonical = "{";
  bool first = true;
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, [&]() -> absl::Status {
    if (!in.At(TokenKind::kAttrName)) return in.Unexpected("a name followed at once by '='");
    *canonical += fmt::format("{}{}=", first ? "" : ",", in.token().text);
    in.Next();
    *canonical += in.lexer().Spelling();
    if (std::exchange(first, false)) {
      int64_t index;
      return in.ReadInt(&index);
    }
    double value;
    return in.ReadFloat(&value);
  }));
  *canonical += '}';
  if (first) canonical->clear();  // {} says nothing
  return absl::OkStatus();
}

// (tree, tree) or {"x" {0}}
absl::Status ReadOriginTree(TokenReader& in, std::string* canonical) {
  const TokenReader::Nesting nesting(in);
  ASSAY_RETURN_IF_ERROR(nesting.status());
  if (in.At(TokenKind::kLeftBrace)) return ReadOriginArray(in, canonical);
  if (!in.At(TokenKind::kLeftParen)) return in.Unexpected("'(' or '{'");
  std::string_view separator = "(";
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftParen, TokenKind::kRightParen, [&] {
    *canonical += separator;
    separator = ", ";
    return ReadOriginTree(in, canonical);
  }));
  *canonical += separator == "(" ? "()" : ")";
  return absl::OkStatus();
}

absl::Status ReadOrigin(TokenReader& in, std::string* canonical) {
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftBrace));
  *canonical = "{";
  if (in.Eat(TokenKind::kLeftSquare)) {
    if (!in.AtWord(TokenKind::kIdent, "synthetic_call")) return in.Unexpected("synthetic_call");
    in.Next();
    ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kRightSquare));
    *canonical += "[synthetic_call]";
  } else {
    ASSAY_RETURN_IF_ERROR(ReadOriginTree(in, canonical));
  }
  *canonical += '}';
  return in.Expect(TokenKind::kRightBrace);
}

}  // namespace

std::optional<CommonAttr> CommonAttrFromName(std::string_view name) {
  for (const auto& [known, attr] : kCommonAttrs) {
    if (known == name) return attr;
  }
  return std::nullopt;
}

absl::Status ReadFrontendAttributes(TokenReader& in, FrontendAttributes* attributes) {
  const SourcePosition where = in.position();
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, [&]() -> absl::Status {
    if (!in.At(TokenKind::kAttrName)) return in.Unexpected("a name followed at once by '='");
    auto& [key, value] = attributes->emplace_back();
    key = std::string(in.token().text);
    in.Next();
    return ReadStringOrJson(in, &value);
  }));
  std::sort(attributes->begin(), attributes->end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto same = std::adjacent_find(attributes->begin(), attributes->end(),
                                       [](const auto& a, const auto& b) { return a.first == b.first; });
  if (same == attributes->end()) return absl::OkStatus();
  return InvalidProgram(where, fmt::format("frontend_attributes: key '{}' is written twice", same->first));
}

absl::Status ReadMetadata(TokenReader& in, OpMetadata* metadata) {
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftBrace));
  uint32_t seen = 0;
  while (in.At(TokenKind::kAttrName)) {
    const uint32_t bit = MetadataBit(in.token().text);
    if (bit == 0) {
      return InvalidProgram(in.position(),
                            fmt::format("metadata: unknown field '{}'", in.token().text.substr(0, 40)));
    }
    if ((seen & bit) != 0) {
      return InvalidProgram(in.position(), fmt::format("metadata: '{}=' is written twice", in.token().text));
    }
    seen |= bit;
    ASSAY_RETURN_IF_ERROR(ReadMetadataField(in, bit, metadata));
    in.Eat(TokenKind::kComma);
  }
  if (!in.Eat(TokenKind::kRightBrace)) return in.Unexpected("a metadata field like op_name=\"x\", or '}'");
  return absl::OkStatus();
}

std::string MetadataText(const OpMetadata& metadata) {
  constexpr std::string_view kName = ", metadata=";
  std::string text;
  print::AppendMetadata(metadata, metadata.stack_frame_id, text);
  return text.empty() ? "{}" : text.substr(kName.size());
}

absl::Status ReadOriginArray(TokenReader& in, std::string* canonical) {
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftBrace));
  *canonical += '{';
  if (in.At(TokenKind::kString)) {
    std::string name;
    ASSAY_RETURN_IF_ERROR(in.ReadString(&name));
    *canonical += Quoted(name);
    if (in.At(TokenKind::kLeftBrace)) {
      Ints index;
      ASSAY_RETURN_IF_ERROR(ReadShapeIndex(in, &index));
      *canonical += fmt::format(" {{{}}}", fmt::join(index, ","));
    }
  }
  *canonical += '}';
  return in.Expect(TokenKind::kRightBrace);
}

absl::Status ReadCommonAttribute(TokenReader& in, CommonAttr attr, InstructionExtras* extras) {
  switch (attr) {
    case CommonAttr::kSharding:
      return ReadSharding(in, &extras->sharding);
    case CommonAttr::kFrontendAttributes:
      return ReadFrontendAttributes(in, &extras->frontend_attributes);
    case CommonAttr::kStatistics:
      return ReadStatistics(in, &extras->statistics);
    case CommonAttr::kParameterReplication:
      return in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, [&]() -> absl::Status {
        bool value;
        ASSAY_RETURN_IF_ERROR(in.ReadBool(&value));
        extras->parameter_replication.push_back(value);
        return absl::OkStatus();
      });
    case CommonAttr::kOrigin:
      return ReadOrigin(in, &extras->origin);
    case CommonAttr::kMetadata:
      return ReadMetadata(in, &extras->metadata);
    case CommonAttr::kBackendConfig:
      return ReadStringOrJson(in, &extras->backend_config);
    case CommonAttr::kControlPredecessors:
      break;
  }
  ASSAY_CHECK(false);
  return absl::InternalError("unreachable");
}

}  // namespace assay
