// Pretty forms of operations (docs/spec/stablehlo-text.md section 5), read into the attributes of the generic
// form.
//
// Most are operands and "keyword = value" fields in any order, then attributes and types: kForms says which
// fields an operation has. The rest has a function of its own. What is not in the table has operands only.
#include "absl/strings/numbers.h"
#include "base/counted.h"
#include "base/hash_map.h"
#include "fmt/format.h"
#include "hlo/mlir/text/parser.h"

namespace assay::mlir {

using Kind = Attribute::Kind;

namespace {

// e5m10: the bits of the exponent and of the mantissa.
bool IsFormat(std::string_view word, int64_t* exponent, int64_t* mantissa) {
  const size_t m = word.find('m');
  return word[0] == 'e' && m != std::string_view::npos && word.size() <= 22 &&
         absl::SimpleAtoi(AbslView(word.substr(1, m - 1)), exponent) &&
         absl::SimpleAtoi(AbslView(word.substr(m + 1)), mantissa);
}

}  // namespace

const TextParser::Form* TextParser::FindForm(std::string_view name) {
  using enum FieldKind;
  static const auto* const kForms = new std::vector<Form>{
      {"stablehlo.constant", Tail::kResult, {}, &TextParser::ParseConstant},
      {"chlo.constant", Tail::kResult, {}, &TextParser::ParseConstant},
      {"stablehlo.compare", Tail::kFunction, {}, &TextParser::ParseCompare},
      {"stablehlo.slice", Tail::kFunction, {}, &TextParser::ParseSlice},
      {"stablehlo.convolution", Tail::kFunction, {}, &TextParser::ParseConvolution},
      {"stablehlo.reduce", Tail::kFunction, {}, &TextParser::ParseReduce},
      {"stablehlo.while", Tail::kTypes, {}, &TextParser::ParseWhile},
      {"stablehlo.custom_call", Tail::kFunction, {}, &TextParser::ParseCustomCall},
      {"stablehlo.composite", Tail::kFunction, {}, &TextParser::ParseComposite},
      {"stablehlo.get_tuple_element", Tail::kFunction, {}, &TextParser::ParseGetTupleElement},
      {"func.call", Tail::kFunction, {}, &TextParser::ParseCall},
      {"chlo.top_k", Tail::kFunction, {}, &TextParser::ParseTopK},
      {"chlo.scan", Tail::kFunction, {}, &TextParser::ParseScan},
      {"check.expect_eq", Tail::kSame, {}, &TextParser::ParseCheck},
      {"check.expect_eq_const", Tail::kSame, {}, &TextParser::ParseCheck},
      {"check.expect_almost_eq", Tail::kSame, {}, &TextParser::ParseCheck},
      {"check.expect_almost_eq_const", Tail::kSame, {}, &TextParser::ParseCheck},
      {"check.expect_close", Tail::kSame, {}, &TextParser::ParseCheck},
      {"check.expect_serialized_eq", Tail::kSame, {}, &TextParser::ParseCheck},
      {"interpreter.probe", Tail::kSame, {}, &TextParser::ParseCheck},
      {"interpreter.print", Tail::kSame, {}, &TextParser::ParseCheck},
      {"sdy.mesh", Tail::kFunction, {}, &TextParser::ParseMesh},
      {"sdy.sharding_constraint", Tail::kSame, {}, &TextParser::ParseShardingConstraint},
      {"sdy.reshard", Tail::kSame, {}, &TextParser::ParseShardingConstraint},
      {"sdy.propagation_barrier", Tail::kSame, {}, &TextParser::ParsePropagationBarrier},
      {"sdy.data_flow_edge", Tail::kSame, {}, &TextParser::ParseDataFlowEdge},
      {"sdy.func_data_flow_edge", Tail::kSame, {}, &TextParser::ParseDataFlowEdge},
      {"sdy.sharding_group", Tail::kReturn, {}, &TextParser::ParseShardingGroup},
      {"sdy.manual_computation", Tail::kFunction, {}, &TextParser::ParseManualComputation},
      {"sdy.named_computation", Tail::kFunction, {}, &TextParser::ParseNamedComputation},
      {"sdy.constant", Tail::kResult, {}, &TextParser::ParseConstant},
      {"sdy.all_gather", Tail::kSame, {}, &TextParser::ParseShardingCollective},
      {"sdy.all_slice", Tail::kSame, {}, &TextParser::ParseShardingCollective},
      {"sdy.all_to_all", Tail::kSame, {}, &TextParser::ParseShardingCollective},
      {"sdy.collective_permute", Tail::kSame, {}, &TextParser::ParseShardingCollective},
      {"sdy.all_reduce", Tail::kSame, {}, &TextParser::ParseShardingCollective},
      {"sdy.reduce_scatter", Tail::kSame, {}, &TextParser::ParseShardingCollective},
      {"sdy.sharded_to_unreduced", Tail::kSame, {}, &TextParser::ParseShardingCollective},
      {"sdy.replicated_to_unreduced", Tail::kSame, {}, &TextParser::ParseShardingCollective},
      {"stablehlo.select", Tail::kSelect, {}},
      {"stablehlo.complex", Tail::kResult, {}},
      {"stablehlo.tuple", Tail::kResult, {}},
      {"stablehlo.create_token", Tail::kResult, {}},
      {"stablehlo.replica_id", Tail::kResult, {}},
      {"stablehlo.partition_id", Tail::kResult, {}},
      {"stablehlo.optimization_barrier", Tail::kTypes, {}},
      {"stablehlo.return", Tail::kReturn, {}},
      {"func.return", Tail::kReturn, {}},
      {"sdy.return", Tail::kReturn, {}},
      {"stablehlo.iota", Tail::kResult, {{"dim", "iota_dimension", kInt}}},
      {"stablehlo.dynamic_iota", Tail::kFunction, {{"dim", "iota_dimension", kInt}}},
      {"stablehlo.broadcast_in_dim", Tail::kFunction, {{"dims", "broadcast_dimensions", kInts}}},
      {"stablehlo.dynamic_broadcast_in_dim", Tail::kFunction, {{"dims", "broadcast_dimensions", kInts}}},
      {"stablehlo.broadcast", Tail::kFunction, {{"sizes", "broadcast_sizes", kInts}}},
      {"stablehlo.transpose", Tail::kFunction, {{"dims", "permutation", kInts}}},
      {"stablehlo.reverse", Tail::kSame, {{"dims", "dimensions", kInts}}},
      {"stablehlo.dynamic_slice", Tail::kFunction, {{"sizes", "slice_sizes", kInts}}},
      {"stablehlo.concatenate", Tail::kFunction, {{"dim", "dimension", kInt}}},
      {"stablehlo.pad",
       Tail::kFunction,
       {{"low", "edge_padding_low", kInts},
        {"high", "edge_padding_high", kInts},
        {"interior", "interior_padding", kInts}}},
      {"stablehlo.dot_general",
       Tail::kFunction,
       {{"batching_dims", "batching_dimensions", kPair},
        {"contracting_dims", "contracting_dimensions", kPair},
        {"precision", "precision_config", kWords},
        {"algorithm", "algorithm", kStruct}}},
      {"stablehlo.dot", Tail::kFunction, {{"precision", "precision_config", kWords}}},
      {"stablehlo.cholesky", Tail::kSame, {{"lower", "lower", kBool}}},
      {"stablehlo.fft", Tail::kFunction, {{"type", "fft_type", kWord}, {"length", "fft_length", kInts}}},
      {"stablehlo.reduce_precision", Tail::kSame, {{"format", "", kFormat}}},
      {"stablehlo.rng", Tail::kFunction, {{"distribution", "rng_distribution", kWord}}},
      {"stablehlo.rng_bit_generator", Tail::kFunction, {{"algorithm", "rng_algorithm", kWord}}},
      {"stablehlo.get_dimension_size", Tail::kFunction, {{"dim", "dimension", kInt}}},
      {"stablehlo.set_dimension_size", Tail::kFunction, {{"dim", "dimension", kInt}}},
      {"stablehlo.einsum", Tail::kFunction, {{"config", "einsum_config", kString}}},
      {"stablehlo.unary_einsum", Tail::kFunction, {{"config", "einsum_config", kString}}},
  };
  static const auto* const kByName = [] {
    auto* map = new HashMap<absl::string_view, const Form*>();
    for (const Form& form : *kForms) map->emplace(AbslView(form.name), &form);
    return map;
  }();
  const auto known = kByName->find(AbslView(name));
  return known == kByName->end() ? nullptr : known->second;
}

absl::Status TextParser::ParsePretty(Draft& draft) {
  if (draft.name == "return") draft.name = "func.return";
  if (draft.name == "call") draft.name = "func.call";
  ReplaceMhlo(&draft.name);
  const Form* const form = FindForm(draft.name);
  if (form != nullptr && form->special != nullptr) return (this->*form->special)(draft);
  if (form == nullptr && !draft.name.starts_with("stablehlo.") && !draft.name.starts_with("chlo.")) {
    const SourcePosition where = draft.operation->position;
    if (draft.name.find('.') == std::string_view::npos) {
      return Error(where, fmt::format("found '{}', want an operation", draft.name.substr(0, 200)));
    }
    if (IsSizeOperation(draft.name)) return ParseSizeOperation(draft);
    return OtherDialect(draft);
  }
  static const Form kOperandsOnly{{}, Tail::kSame, {}};
  const Form& used = form == nullptr ? kOperandsOnly : *form;
  ASSAY_RETURN_IF_ERROR(ParseOperandsAndFields(draft, used));
  return ParseTail(draft, used.tail);
}

// [attributes] [ '(' ')' ] or operands and fields, separated by commas. Barriers have their attributes first.
absl::Status TextParser::ParseOperandsAndFields(Draft& draft, const Form& form) {
  ASSAY_RETURN_IF_ERROR(ParseOptionalDictionary(draft));
  if (Eat('(')) return Expect(')');
  do {
    if (At(Tok::kValue)) {
      ASSAY_RETURN_IF_ERROR(ParseOperand(&draft.operands.emplace_back()));
    } else if (At(Tok::kWord) && form.fields[0].kind != FieldKind::kNone) {
      ASSAY_RETURN_IF_ERROR(ParseField(draft, form));
    } else if (draft.operands.empty()) {
      return absl::OkStatus();
    } else {
      return Unexpected("an operand or a field");
    }
  } while (Eat(','));
  return absl::OkStatus();
}

// keyword '=' value
absl::Status TextParser::ParseField(Draft& draft, const Form& form) {
  const Field* field = nullptr;
  for (const Field& row : form.fields) {
    if (row.kind != FieldKind::kNone && AtWord(row.keyword)) field = &row;
  }
  if (field == nullptr)
    return Unexpected(fmt::format("'{}' or another field of {}", form.fields[0].keyword, form.name));
  lexer_.Next();
  ASSAY_RETURN_IF_ERROR(Expect('='));
  int64_t integer = 0;
  std::vector<int64_t> integers;
  std::string_view word;
  switch (field->kind) {
    case FieldKind::kInt:
      ASSAY_RETURN_IF_ERROR(ReadInt(&integer));
      Set(draft, field->attribute, Integer(integer));
      return absl::OkStatus();
    case FieldKind::kInts:
      ASSAY_RETURN_IF_ERROR(ReadInts(&integers));
      Set(draft, field->attribute, Integers(integers));
      return absl::OkStatus();
    case FieldKind::kWord:
      ASSAY_RETURN_IF_ERROR(ReadWord(&word, "a word"));
      Set(draft, field->attribute, Word(word));
      return absl::OkStatus();
    case FieldKind::kString:  // a ':' behind it is that of the operation's types
      ASSAY_RETURN_IF_ERROR(ReadString(&word));
      Set(draft, field->attribute, Text(Kind::kString, word));
      return absl::OkStatus();
    case FieldKind::kWords: {
      std::vector<const Attribute*> words;
      const auto read_item = [&]() -> absl::Status {
        ASSAY_RETURN_IF_ERROR(ReadWord(&word, "a word"));
        words.push_back(Word(word));
        return absl::OkStatus();
      };
      ASSAY_RETURN_IF_ERROR(ReadList('[', ']', read_item));
      Attribute* const array = tree_->NewAttribute(Kind::kArray);
      array->elements = arena_.Copy(words);
      Set(draft, field->attribute, array);
      return absl::OkStatus();
    }
    case FieldKind::kPair: {
      ASSAY_RETURN_IF_ERROR(ReadInts(&integers));
      Set(draft, arena_.Copy(fmt::format("lhs_{}", field->attribute)), Integers(integers));
      integers.clear();
      ASSAY_RETURN_IF_ERROR(ExpectWord("x"));
      ASSAY_RETURN_IF_ERROR(ReadInts(&integers));
      Set(draft, arena_.Copy(fmt::format("rhs_{}", field->attribute)), Integers(integers));
      return absl::OkStatus();
    }
    case FieldKind::kFormat: {  // e5m10
      const SourcePosition where = lexer_.position();
      ASSAY_RETURN_IF_ERROR(ReadWord(&word, "a format like e5m10"));
      int64_t exponent = 0, mantissa = 0;
      if (!IsFormat(word, &exponent, &mantissa)) {
        return Error(where, fmt::format("found '{}', want a format like e5m10", word.substr(0, 40)));
      }
      Set(draft, "exponent_bits", Integer(exponent));
      Set(draft, "mantissa_bits", Integer(mantissa));
      return absl::OkStatus();
    }
    case FieldKind::kStruct: {
      const Attribute* value = nullptr;
      if (At('<')) {
        ASSAY_RETURN_IF_ERROR(ParseStruct("dot_algorithm", &value));
      } else {
        ASSAY_RETURN_IF_ERROR(ParseAttribute(&value));
      }
      Set(draft, field->attribute, value);
      return absl::OkStatus();
    }
    default: {
      const Attribute* value = nullptr;
      ASSAY_RETURN_IF_ERROR(ParseAttribute(&value));
      Set(draft, field->attribute, value);
      return absl::OkStatus();
    }
  }
}

// [attributes] [':' types]
absl::Status TextParser::ParseTail(Draft& draft, Tail tail) {
  ASSAY_RETURN_IF_ERROR(ParseOptionalDictionary(draft));
  Types types;
  if (Eat(':')) {
    ASSAY_RETURN_IF_ERROR(ParseTypes(&types));
  } else if (tail != Tail::kReturn && tail != Tail::kTypes) {
    return Unexpected("':' and the types");
  }
  return ApplyTypes(draft, tail, types);
}

// T {',' T} ['->' U | '->' '(' list ')'], or one function type.
absl::Status TextParser::ParseTypes(Types* types) {
  do {
    ASSAY_RETURN_IF_ERROR(ParseType(&types->operands.emplace_back()));
  } while (Eat(','));
  if (Eat(Tok::kArrow)) {
    types->has_arrow = true;
    std::vector<const Type*> results;
    if (At('(')) {
      ASSAY_RETURN_IF_ERROR(ParseTypeList('(', ')', &results));
    } else {
      ASSAY_RETURN_IF_ERROR(ParseType(&results.emplace_back()));
    }
    types->results.assign(results.begin(), results.end());
  } else if (types->operands.size() == 1 && types->operands[0]->kind == Type::Kind::kFunction) {
    types->has_arrow = true;
    const Type* const function = types->operands[0];
    types->operands.assign(function->inputs.begin(), function->inputs.end());
    types->results.assign(function->results.begin(), function->results.end());
  }
  return absl::OkStatus();
}

absl::Status TextParser::ApplyTypes(Draft& draft, Tail tail, const Types& types) {
  const auto check = [&](std::span<const Type* const> wanted) { return CheckOperandTypes(draft, wanted); };
  const auto wrong = [&](std::string_view wanted) {
    return Error(draft.operation->position, fmt::format("{}: found {}, want {}", draft.name,
                                                        Counted(types.operands.size(), "type"), wanted));
  };
  if (types.has_arrow) {
    draft.results.assign(types.results.begin(), types.results.end());
    return check(types.operands);
  }
  switch (tail) {
    case Tail::kReturn:
      return check(types.operands);
    case Tail::kTypes:
      draft.results.assign(types.operands.begin(), types.operands.end());
      return check(types.operands);
    case Tail::kSelect: {
      if (types.operands.size() != 2) return wrong("those of the predicate and of the result");
      const Type* const wanted[] = {types.operands[0], types.operands[1], types.operands[1]};
      draft.results.push_back(types.operands[1]);
      return check(wanted);
    }
    case Tail::kResult:
      if (types.operands.size() != 1) return wrong("one");
      draft.results.push_back(types.operands[0]);
      return absl::OkStatus();
    case Tail::kSame:
    case Tail::kFunction: {
      if (types.operands.size() != 1) return wrong("one, or (operand types) -> result types");
      draft.results.push_back(types.operands[0]);
      const std::vector<const Type*> wanted(draft.operands.size(), types.operands[0]);
      return check(wanted);
    }
  }
  return absl::OkStatus();
}

absl::Status TextParser::ParseOperandList(char open, char close, Draft& draft) {
  return ReadList(open, close, [&] { return ParseOperand(&draft.operands.emplace_back()); });
}

// [attributes] value; the result has the value's type. Or '(' ')' attributes with
// the value ':' function type.
absl::Status TextParser::ParseConstant(Draft& draft) {
  if (Eat('(')) ASSAY_RETURN_IF_ERROR(Expect(')'));
  ASSAY_RETURN_IF_ERROR(ParseOptionalDictionary(draft));
  if (At(':')) return ParseTail(draft, Tail::kFunction);
  const SourcePosition where = lexer_.position();
  const Attribute* value = nullptr;
  ASSAY_RETURN_IF_ERROR(ParseAttribute(&value));
  if (value->type == nullptr) return Error(where, "constant: want dense<...> : tensor<...>");
  Set(draft, "value", value);
  draft.results.push_back(value->type);
  if (!Eat(':')) return absl::OkStatus();
  return ParseType(&draft.results[0]);
}

// direction ',' %a ',' %b [',' type]
absl::Status TextParser::ParseCompare(Draft& draft) {
  std::string_view word;
  ASSAY_RETURN_IF_ERROR(ReadWord(&word, "a direction: EQ, NE, GE, GT, LE or LT"));
  Set(draft, "comparison_direction", Word(word));
  while (Eat(',')) {
    if (At(Tok::kValue)) {
      ASSAY_RETURN_IF_ERROR(ParseOperand(&draft.operands.emplace_back()));
      continue;
    }
    ASSAY_RETURN_IF_ERROR(ReadWord(&word, "a comparison type"));
    Set(draft, "compare_type", Word(word));
    break;
  }
  return ParseTail(draft, Tail::kFunction);
}

// %x '[' list( start ':' limit [':' stride] ) ']'
absl::Status TextParser::ParseSlice(Draft& draft) {
  ASSAY_RETURN_IF_ERROR(ParseOperand(&draft.operands.emplace_back()));
  std::vector<int64_t> starts, limits, strides;
  const auto read_item = [&]() -> absl::Status {
    ASSAY_RETURN_IF_ERROR(ReadInt(&starts.emplace_back()));
    ASSAY_RETURN_IF_ERROR(Expect(':'));
    ASSAY_RETURN_IF_ERROR(ReadInt(&limits.emplace_back()));
    strides.push_back(1);
    return Eat(':') ? ReadInt(&strides.back()) : absl::OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(ReadList('[', ']', read_item));
  Set(draft, "start_indices", Integers(starts));
  Set(draft, "limit_indices", Integers(limits));
  Set(draft, "strides", Integers(strides));
  return ParseTail(draft, Tail::kFunction);
}

// '(' %a ',' %k ')' dim_numbers '=' dims ',' window '=' '{' ... '}'
absl::Status TextParser::ParseConvolution(Draft& draft) {
  ASSAY_RETURN_IF_ERROR(ParseOperandList('(', ')', draft));
  ASSAY_RETURN_IF_ERROR(ExpectWord("dim_numbers"));
  ASSAY_RETURN_IF_ERROR(Expect('='));
  std::vector<NamedAttribute> fields;
  ASSAY_RETURN_IF_ERROR(ParseConvFields(&fields));
  for (const NamedAttribute& field : fields) draft.attributes.push_back(field);
  if (Eat(',')) ASSAY_RETURN_IF_ERROR(ParseWindow(draft));
  return ParseTail(draft, Tail::kFunction);
}

// window '=' '{' stride = [..], pad = [[l, h], ..], lhs_dilate = [..], rhs_dilate = [..], reverse = [..] '}'
absl::Status TextParser::ParseWindow(Draft& draft) {
  ASSAY_RETURN_IF_ERROR(ExpectWord("window"));
  ASSAY_RETURN_IF_ERROR(Expect('='));
  return ReadList('{', '}', [&]() -> absl::Status {
    const SourcePosition where = lexer_.position();
    std::string_view word;
    ASSAY_RETURN_IF_ERROR(ReadWord(&word, "a field of the window"));
    ASSAY_RETURN_IF_ERROR(Expect('='));
    const std::string_view name = word == "stride"       ? "window_strides"
                                  : word == "pad"        ? "padding"
                                  : word == "lhs_dilate" ? "lhs_dilation"
                                  : word == "rhs_dilate" ? "rhs_dilation"
                                  : word == "reverse"    ? "window_reversal"
                                                         : "";
    if (name.empty()) return Error(where, fmt::format("found '{}', want a field of the window", word));
    std::vector<int64_t> values;
    ASSAY_RETURN_IF_ERROR(ReadList('[', ']', [&]() -> absl::Status {
      if (word == "pad") return ReadInts(&values);
      if (AtWord("true") || AtWord("false")) {
        values.push_back(AtWord("true") ? 1 : 0);
        lexer_.Next();
        return absl::OkStatus();
      }
      return ReadInt(&values.emplace_back());
    }));
    Set(draft, name, Integers(values));
    return absl::OkStatus();
  });
}

// list( '(' %x 'init' ':' %i ')' ) ['applies' operation] 'across' 'dimensions' '=' [..] [attributes] ':' type
// [reducer]
absl::Status TextParser::ParseReduce(Draft& draft) {
  std::vector<Value*> inits;
  do {
    ASSAY_RETURN_IF_ERROR(Expect('('));
    ASSAY_RETURN_IF_ERROR(ParseOperand(&draft.operands.emplace_back()));
    ASSAY_RETURN_IF_ERROR(ExpectWord("init"));
    ASSAY_RETURN_IF_ERROR(Expect(':'));
    ASSAY_RETURN_IF_ERROR(ParseOperand(&inits.emplace_back()));
    ASSAY_RETURN_IF_ERROR(Expect(')'));
  } while (Eat(','));
  for (Value* init : inits) draft.operands.push_back(init);
  std::string_view operation;
  if (EatWord("applies")) ASSAY_RETURN_IF_ERROR(ReadWord(&operation, "an operation"));
  ReplaceMhlo(&operation);
  ASSAY_RETURN_IF_ERROR(ExpectWord("across"));
  ASSAY_RETURN_IF_ERROR(ExpectWord("dimensions"));
  ASSAY_RETURN_IF_ERROR(Expect('='));
  std::vector<int64_t> dimensions;
  ASSAY_RETURN_IF_ERROR(ReadInts(&dimensions));
  Set(draft, "dimensions", Integers(dimensions));
  ASSAY_RETURN_IF_ERROR(ParseTail(draft, Tail::kFunction));
  return operation.empty() ? ParseReducer(draft) : BuildReducer(draft, operation);
}

// 'reducer' { '(' %a ':' t ',' %acc_a ':' t ')' } '{' operations '}'. The block takes (a,
// b, ..., acc_a, acc_b, ...).
absl::Status TextParser::ParseReducer(Draft& draft) {
  ASSAY_RETURN_IF_ERROR(ExpectWord("reducer"));
  std::vector<Argument> arguments, accumulators;
  while (Eat('(')) {
    ASSAY_RETURN_IF_ERROR(ParseArgument(&arguments.emplace_back()));
    ASSAY_RETURN_IF_ERROR(SkipLocation());
    ASSAY_RETURN_IF_ERROR(Expect(','));
    ASSAY_RETURN_IF_ERROR(ParseArgument(&accumulators.emplace_back()));
    ASSAY_RETURN_IF_ERROR(SkipLocation());
    ASSAY_RETURN_IF_ERROR(Expect(')'));
  }
  arguments.insert(arguments.end(), accumulators.begin(), accumulators.end());
  return ParseRegion(arguments, /*isolated=*/false, draft);
}

// The body of "applies operation": operation(a, b) on scalars of the first input's element type.
absl::Status TextParser::BuildReducer(Draft& draft, std::string_view name) {
  const Type* const input = draft.operands[0]->type;
  if (draft.operands.size() != 2 || input->kind != Type::Kind::kTensor) {
    return Error(draft.operation->position, "reduce: 'applies' wants one input and one init");
  }
  Type* const scalar = tree_->NewType(Type::Kind::kTensor);
  scalar->element_type = input->element_type;
  Region region;
  region.depth = depth_ + 1;
  region.arguments = tree_->NewValues(2, nullptr, region.depth);
  Operation* const operation = arena_.New<Operation>();
  Operation* const result = arena_.New<Operation>();
  for (Operation* added : {operation, result}) {
    added->position = draft.operation->position;
    added->offset = draft.operation->offset;
  }
  operation->name = name;
  result->name = "stablehlo.return";
  for (Operation* added : {operation, result}) added->name_id = NameId(added->name);
  for (Value& argument : region.arguments) argument.type = scalar;
  operation->operands = arena_.Copy(std::vector<Value*>{&region.arguments[0], &region.arguments[1]});
  operation->results = tree_->NewValues(1, operation, region.depth);
  operation->results[0].type = scalar;
  result->operands = arena_.Copy(std::vector<Value*>{&operation->results[0]});
  region.operations = arena_.Copy(std::vector<Operation*>{operation, result});
  draft.regions.push_back(region);
  return absl::OkStatus();
}

// '(' list( %name '=' %init ) ')' [':' types] ['attributes' dictionary] 'cond' region 'do' region
absl::Status TextParser::ParseWhile(Draft& draft) {
  std::vector<Argument> arguments;
  const auto read_item = [&]() -> absl::Status {
    if (!At(Tok::kValue)) return Unexpected("'%name = %init'");
    arguments.push_back({{lexer_.token().text, lexer_.position(), 1}, nullptr});
    lexer_.Next();
    ASSAY_RETURN_IF_ERROR(Expect('='));
    ASSAY_RETURN_IF_ERROR(ParseOperand(&draft.operands.emplace_back()));
    arguments.back().type = draft.operands.back()->type;
    return absl::OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(ReadList('(', ')', read_item));
  ASSAY_RETURN_IF_ERROR(ParseTail(draft, Tail::kTypes));
  if (EatWord("attributes")) ASSAY_RETURN_IF_ERROR(ParseOptionalDictionary(draft));
  ASSAY_RETURN_IF_ERROR(ExpectWord("cond"));
  ASSAY_RETURN_IF_ERROR(ParseRegion(arguments, /*isolated=*/false, draft));
  ASSAY_RETURN_IF_ERROR(ExpectWord("do"));
  return ParseRegion(arguments, /*isolated=*/false, draft);
}

// @target '(' operands ')'
absl::Status TextParser::ParseCustomCall(Draft& draft) {
  std::string_view target;
  if (At(Tok::kString)) {
    ASSAY_RETURN_IF_ERROR(ReadString(&target));
  } else {
    ASSAY_RETURN_IF_ERROR(ReadSymbol(&target));
  }
  Set(draft, "call_target_name", Text(Kind::kString, target));
  ASSAY_RETURN_IF_ERROR(ParseOperandList('(', ')', draft));
  return ParseTail(draft, Tail::kFunction);
}

// "name" operands ['(' regions ')']
absl::Status TextParser::ParseComposite(Draft& draft) {
  std::string_view name;
  ASSAY_RETURN_IF_ERROR(ReadString(&name));
  Set(draft, "name", Text(Kind::kString, name));
  if (At(Tok::kValue)) {
    do {
      ASSAY_RETURN_IF_ERROR(ParseOperand(&draft.operands.emplace_back()));
    } while (Eat(','));
  }
  if (At('(')) ASSAY_RETURN_IF_ERROR(ParseGenericRegions(draft, /*isolated=*/false));
  return ParseTail(draft, Tail::kFunction);
}

// @callee '(' operands ')'
absl::Status TextParser::ParseCall(Draft& draft) {
  std::string_view callee;
  ASSAY_RETURN_IF_ERROR(ReadSymbol(&callee));
  Set(draft, "callee", Text(Kind::kSymbol, callee));
  ASSAY_RETURN_IF_ERROR(ParseOperandList('(', ')', draft));
  return ParseTail(draft, Tail::kFunction);
}

// %t '[' index ']'
absl::Status TextParser::ParseGetTupleElement(Draft& draft) {
  ASSAY_RETURN_IF_ERROR(ParseOperand(&draft.operands.emplace_back()));
  int64_t index = 0;
  ASSAY_RETURN_IF_ERROR(Expect('['));
  ASSAY_RETURN_IF_ERROR(ReadInt(&index));
  ASSAY_RETURN_IF_ERROR(Expect(']'));
  Set(draft, "index", Integer(index));
  return ParseTail(draft, Tail::kFunction);
}

// '(' %x ',' 'k' '=' 2 [',' 'is_stable' '=' false] ')'
absl::Status TextParser::ParseTopK(Draft& draft) {
  const auto read_item = [&]() -> absl::Status {
    if (At(Tok::kValue)) return ParseOperand(&draft.operands.emplace_back());
    NamedAttribute field;
    ASSAY_RETURN_IF_ERROR(ReadWord(&field.name, "an operand or a field"));
    ASSAY_RETURN_IF_ERROR(Expect('='));
    ASSAY_RETURN_IF_ERROR(ParseAttribute(&field.value));
    draft.attributes.push_back(field);
    return absl::OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(ReadList('(', ')', read_item));
  return ParseTail(draft, Tail::kFunction);
}

// '(' inputs ')' 'inits' '(' carries ')' 'dimension' '=' 0 ['attributes' dictionary] region ':' function type
absl::Status TextParser::ParseScan(Draft& draft) {
  ASSAY_RETURN_IF_ERROR(ParseOperandList('(', ')', draft));
  const auto inputs = static_cast<int64_t>(draft.operands.size());
  ASSAY_RETURN_IF_ERROR(ExpectWord("inits"));
  ASSAY_RETURN_IF_ERROR(ParseOperandList('(', ')', draft));
  const int64_t carries = static_cast<int64_t>(draft.operands.size()) - inputs;
  ASSAY_RETURN_IF_ERROR(ExpectWord("dimension"));
  ASSAY_RETURN_IF_ERROR(Expect('='));
  int64_t dimension = 0;
  ASSAY_RETURN_IF_ERROR(ReadInt(&dimension));
  Set(draft, "dimension", Integer(dimension));
  if (EatWord("attributes")) ASSAY_RETURN_IF_ERROR(ParseOptionalDictionary(draft));
  ASSAY_RETURN_IF_ERROR(ParseRegion({}, /*isolated=*/false, draft));
  ASSAY_RETURN_IF_ERROR(Expect(':'));
  Types types;
  ASSAY_RETURN_IF_ERROR(ParseTypes(&types));
  ASSAY_RETURN_IF_ERROR(ApplyTypes(draft, Tail::kFunction, types));
  const auto outputs = static_cast<int64_t>(draft.results.size()) - carries;
  Set(draft, "operandSegmentSizes", Integers(std::vector<int64_t>{inputs, carries}));
  Set(draft, "resultSegmentSizes", Integers(std::vector<int64_t>{outputs, carries}));
  return absl::OkStatus();
}

}  // namespace assay::mlir
