// Pretty forms of the Shardy dialect (docs/spec/sharding.md, sections 2 to 4), read into the attributes of
// the generic form. Its attributes are kept as canonical text (hlo/sharding_syntax.h).
#include "fmt/format.h"
#include "hlo/mlir/text/parser.h"
#include "hlo/sharding_syntax.h"

namespace assay::mlir {

using Kind = Attribute::Kind;

// Behind '#sdy...', which began at `begin`.
absl::Status TextParser::ParseShardingAttribute(size_t begin, SourcePosition where,
                                                const Attribute** attribute) {
  std::string_view raw;
  if (!At('<')) return Unexpected("'<'");
  ASSAY_RETURN_IF_ERROR(SkipBalanced(&raw));
  const size_t end = static_cast<size_t>(raw.data() + raw.size() - lexer_.text().data());
  ASSAY_ASSIGN_OR_RETURN(const std::string text,
                         CanonicalSdyAttribute(lexer_.text().substr(begin, end - begin), where));
  *attribute = Text(Kind::kOpaque, arena_.Copy(text));
  return absl::OkStatus();
}

// The attribute `name`, of which the text has what stands between `prefix` and `suffix`:
// from one bracket to its match.
absl::Status TextParser::ParseShardingField(std::string_view name, std::string_view prefix,
                                            std::string_view suffix, Draft& draft) {
  SourcePosition where = lexer_.position();
  if (!At('<') && !At('[') && !At('{')) return Unexpected("a sharding");
  std::string_view raw;
  ASSAY_RETURN_IF_ERROR(SkipBalanced(&raw));
  where.column -= static_cast<int32_t>(prefix.size());
  ASSAY_ASSIGN_OR_RETURN(const std::string text,
                         CanonicalSdyAttribute(fmt::format("{}{}{}", prefix, raw, suffix), where));
  Set(draft, name, Text(Kind::kOpaque, arena_.Copy(text)));
  return absl::OkStatus();
}

// keyword '=' shardings
absl::Status TextParser::ParseShardingList(std::string_view keyword, Draft& draft) {
  ASSAY_RETURN_IF_ERROR(ExpectWord(keyword));
  ASSAY_RETURN_IF_ERROR(Expect('='));
  return ParseShardingField(keyword, "#sdy.sharding_per_value<", ">", draft);
}

// @name '=' '<' ... '>' [attributes]
absl::Status TextParser::ParseMesh(Draft& draft) {
  std::string_view name;
  ASSAY_RETURN_IF_ERROR(ReadSymbol(&name));
  Set(draft, "sym_name", Text(Kind::kString, name));
  ASSAY_RETURN_IF_ERROR(Expect('='));
  ASSAY_RETURN_IF_ERROR(ParseShardingField("mesh", "#sdy.mesh", "", draft));
  return ParseOptionalDictionary(draft);
}

// %x '<' sharding '>' [attributes] ':' type
absl::Status TextParser::ParseShardingConstraint(Draft& draft) {
  ASSAY_RETURN_IF_ERROR(ParseOperand(&draft.operands.emplace_back()));
  ASSAY_RETURN_IF_ERROR(ParseShardingField("sharding", "#sdy.sharding", "", draft));
  return ParseTail(draft, Tail::kSame);
}

// %x ['sharding' '=' sharding] ':' type
absl::Status TextParser::ParseDataFlowEdge(Draft& draft) {
  ASSAY_RETURN_IF_ERROR(ParseOperand(&draft.operands.emplace_back()));
  if (EatWord("sharding")) {
    ASSAY_RETURN_IF_ERROR(Expect('='));
    ASSAY_RETURN_IF_ERROR(ParseShardingField("sharding", "#sdy.sharding", "", draft));
  }
  return ParseTail(draft, Tail::kSame);
}

// %x 'allowed_direction' '=' word ':' type
absl::Status TextParser::ParsePropagationBarrier(Draft& draft) {
  ASSAY_RETURN_IF_ERROR(ParseOperand(&draft.operands.emplace_back()));
  ASSAY_RETURN_IF_ERROR(ExpectWord("allowed_direction"));
  ASSAY_RETURN_IF_ERROR(Expect('='));
  constexpr std::string_view kDirections[] = {"NONE", "FORWARD", "BACKWARD", "BOTH"};
  for (int64_t i = 0; i < 4; ++i) {
    if (!EatWord(kDirections[i])) continue;
    Set(draft, "allowed_direction", Integer(i));
    return ParseTail(draft, Tail::kSame);
  }
  return Unexpected("NONE, FORWARD or BACKWARD");
}

// %x 'group_id' '=' 3 ':' type, without result.
absl::Status TextParser::ParseShardingGroup(Draft& draft) {
  ASSAY_RETURN_IF_ERROR(ParseOperand(&draft.operands.emplace_back()));
  ASSAY_RETURN_IF_ERROR(ExpectWord("group_id"));
  ASSAY_RETURN_IF_ERROR(Expect('='));
  int64_t id = 0;
  ASSAY_RETURN_IF_ERROR(ReadInt(&id));
  Set(draft, "group_id", Integer(id));
  return ParseTail(draft, Tail::kReturn);
}

// The collectives that stand in a program after propagation: [axes] %x 'out_sharding' '=' sharding ':' type
absl::Status TextParser::ParseShardingCollective(Draft& draft) {
  const std::string_view op = draft.name.substr(4);
  const std::string_view field = op == "all_gather"       ? "gathering_axes"
                                 : op == "all_slice"      ? "slicing_axes"
                                 : op == "all_to_all"     ? "params"
                                 : op == "all_reduce"     ? "reduction_axes"
                                 : op == "reduce_scatter" ? "reduce_scatter_axes"
                                                          : "axes";
  if (At('[')) {
    const std::string_view prefix =
        op == "all_to_all" ? "#sdy<all_to_all_param_list" : "#sdy<list_of_axis_ref_lists";
    ASSAY_RETURN_IF_ERROR(ParseShardingField(field, prefix, ">", draft));
  } else if (At('{')) {
    ASSAY_RETURN_IF_ERROR(ParseShardingField(field, "#sdy<axis_ref_list", ">", draft));
  }
  ASSAY_RETURN_IF_ERROR(ParseOperand(&draft.operands.emplace_back()));
  ASSAY_RETURN_IF_ERROR(ExpectWord("out_sharding"));
  ASSAY_RETURN_IF_ERROR(Expect('='));
  ASSAY_RETURN_IF_ERROR(ParseShardingField("out_sharding", "#sdy.sharding", "", draft));
  return ParseTail(draft, Tail::kSame);
}

// '(' list( %name ':' type [loc] ) ')' region [attributes] ':' function type
absl::Status TextParser::ParseShardingRegion(Draft& draft) {
  std::vector<Argument> arguments;
  const auto read_item = [&]() -> absl::Status {
    ASSAY_RETURN_IF_ERROR(ParseArgument(&arguments.emplace_back()));
    return SkipLocation();
  };
  ASSAY_RETURN_IF_ERROR(ReadList('(', ')', read_item));
  ASSAY_RETURN_IF_ERROR(ParseRegion(arguments, /*isolated=*/true, draft));
  return ParseTail(draft, Tail::kFunction);
}

// '(' operands ')' in_shardings=[..] out_shardings=[..] manual_axes={..} region
absl::Status TextParser::ParseManualComputation(Draft& draft) {
  ASSAY_RETURN_IF_ERROR(ParseOperandList('(', ')', draft));
  ASSAY_RETURN_IF_ERROR(ParseShardingList("in_shardings", draft));
  ASSAY_RETURN_IF_ERROR(ParseShardingList("out_shardings", draft));
  ASSAY_RETURN_IF_ERROR(ExpectWord("manual_axes"));
  ASSAY_RETURN_IF_ERROR(Expect('='));
  ASSAY_RETURN_IF_ERROR(ParseShardingField("manual_axes", "#sdy<manual_axes", ">", draft));
  return ParseShardingRegion(draft);
}

// '<' "name" '>' '(' operands ')' [in_shardings=[..]] [out_shardings=[..]] region
absl::Status TextParser::ParseNamedComputation(Draft& draft) {
  std::string_view name;
  ASSAY_RETURN_IF_ERROR(Expect('<'));
  ASSAY_RETURN_IF_ERROR(ReadString(&name));
  ASSAY_RETURN_IF_ERROR(Expect('>'));
  Set(draft, "name", Text(Kind::kString, name));
  ASSAY_RETURN_IF_ERROR(ParseOperandList('(', ')', draft));
  if (AtWord("in_shardings")) ASSAY_RETURN_IF_ERROR(ParseShardingList("in_shardings", draft));
  if (AtWord("out_shardings")) ASSAY_RETURN_IF_ERROR(ParseShardingList("out_shardings", draft));
  return ParseShardingRegion(draft);
}

}  // namespace assay::mlir
