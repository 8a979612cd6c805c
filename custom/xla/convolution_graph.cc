// __cudnn$convForwardGraph: a convolution and pointwise operations behind it, in the field serialized_graph
// as
//   UID:[TYPE]NAME(UID, …);…
// for instance "28:[f32]conv();30:[f32]scale(28);16:[f8e4m3fn]scale(30);25:[f32]amax(30);". conv takes the
// call's operands 0 and 1; an operation with two arguments of which one is listed takes the next operand of
// the call as its second. The last operation but amax gives the first result, each amax another. Facts:
// openxla/xla cudnn_fused_conv_rewriter and its test.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "base/counted.h"
#include "custom/xla/xla_call.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

constexpr size_t kMaxNodes = 1000;

struct Node {
  int64_t uid = 0;
  ElementType type = ElementType::kF32;
  std::string_view name;
  std::vector<int64_t> arguments;
};

class GraphReader {
 public:
  explicit GraphReader(std::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<Node>> Run() {
    std::vector<Node> nodes;
    while (at_ < text_.size()) {
      if (nodes.size() == kMaxNodes)
        return InvalidProgram({}, fmt::format("more than {} operations", kMaxNodes));
      Node node;
      ASSAY_ASSIGN_OR_RETURN(node.uid, Number());
      ASSAY_RETURN_IF_ERROR(Expect(":["));
      const std::string_view type = Until(']');
      const std::optional<ElementType> known = ElementTypeFromName(type);
      if (!known || !IsFloat(*known))
        return InvalidProgram({}, fmt::format("at byte {}: '{}' is not a type of floats", at_, type));
      node.type = *known;
      ASSAY_RETURN_IF_ERROR(Expect("]"));
      node.name = Until('(');
      ASSAY_RETURN_IF_ERROR(Expect("("));
      while (at_ < text_.size() && text_[at_] != ')') {
        if (!node.arguments.empty()) ASSAY_RETURN_IF_ERROR(Expect(","));
        ASSAY_ASSIGN_OR_RETURN(const int64_t argument, Number());
        node.arguments.push_back(argument);
      }
      ASSAY_RETURN_IF_ERROR(Expect(");"));
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

 private:
  absl::Status Expect(std::string_view wanted) {
    if (text_.substr(at_, wanted.size()) != wanted)
      return InvalidProgram({}, fmt::format("at byte {}: wanted '{}'", at_, wanted));
    at_ += wanted.size();
    return absl::OkStatus();
  }
  absl::StatusOr<int64_t> Number() {
    int64_t number = 0;
    const auto [last, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc()) return InvalidProgram({}, fmt::format("at byte {}: wanted a number", at_));
    at_ = static_cast<size_t>(last - text_.data());
    return number;
  }
  std::string_view Until(char stop) {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != stop) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  const std::string_view text_;
  size_t at_ = 0;
};

// What the nodes so far gave.
class GraphWriter {
 public:
  GraphWriter(const XlaCall& call, double scale) : call_(call), scale_(scale) {}

  absl::Status Add(const Node& node) {
    CallWriter& write = call_.write;
    if (values_.count(node.uid) != 0) return InvalidProgram({}, fmt::format("{} stands twice", node.uid));
    if (node.name == "conv") return Convolution(node);
    if (node.arguments.empty()) return InvalidProgram({}, fmt::format("{} has no arguments", node.name));
    ASSAY_ASSIGN_OR_RETURN(const WrittenArray x, Value(node.arguments[0]));
    if (node.name == "amax") {
      Ints all;
      for (int64_t d = 0; d < x.rank(); ++d) all.push_back(d);
      maxima_.push_back(write.Reduce(write.Apply("abs", x), "maximum", all));
      return absl::OkStatus();
    }
    if (node.name == "relu") return Give(node, write.Apply("maximum", x, 0.0));
    const std::string_view opcode = node.name == "add"        ? "add"
                                    : node.name == "scale"    ? "multiply"
                                    : node.name == "invscale" ? "divide"
                                                              : "";
    if (opcode.empty()) return NotSupported({}, fmt::format("operation '{}'", node.name));
    ASSAY_ASSIGN_OR_RETURN(const WrittenArray y, Second(node, x));
    return Give(node, write.Apply(opcode, x, y));
  }

  CallResults Results() const {
    if (!last_) return InvalidProgram({}, "there is no operation with a result");
    if (next_operand_ != call_.num_operands()) {
      return InvalidProgram({}, fmt::format("operations take {}, the call has {}",
                                            Counted(next_operand_, "operand"), call_.num_operands()));
    }
    std::vector<WrittenArray> results = {call_.write.Convert(*last_, call_.result_shape(0).element_type())};
    results.insert(results.end(), maxima_.begin(), maxima_.end());
    return results;
  }

 private:
  absl::Status Convolution(const Node& node) {
    if (last_) return NotSupported({}, "a second convolution");
    CallWriter& write = call_.write;
    ASSAY_ASSIGN_OR_RETURN(const ConvolutionText forward, ConvolutionOf(call_));
    WrittenArray x = Convolve(write, forward, write.operand(0), write.operand(1),
                              ComputeType(write.operand(0).type, node.type), call_.result_shape(0).sizes());
    if (scale_ != 1) x = write.Apply("multiply", x, scale_);
    return Give(node, x);
  }

  absl::StatusOr<WrittenArray> Value(int64_t uid) const {
    const auto found = values_.find(uid);
    if (found == values_.end()) return InvalidProgram({}, fmt::format("{} stands nowhere before", uid));
    return found->second;
  }

  absl::StatusOr<WrittenArray> Second(const Node& node, const WrittenArray& x) {
    if (node.arguments.size() > 2)
      return InvalidProgram({},
                            fmt::format("{} of {}", node.name, Counted(node.arguments.size(), "argument")));
    CallWriter& write = call_.write;
    WrittenArray y;
    if (node.arguments.size() == 2) {
      ASSAY_ASSIGN_OR_RETURN(y, Value(node.arguments[1]));
    } else if (next_operand_ < call_.num_operands()) {
      y = write.Convert(write.operand(next_operand_++), x.type);
    } else {
      return InvalidProgram(
          {}, fmt::format("{} has one argument, and the call no operand {}", node.name, next_operand_));
    }
    if (y.sizes == x.sizes) return y;
    if (y.rank() == 0) return write.Broadcast(y, x.sizes, {});
    return InvalidProgram({},
                          fmt::format("{} of sizes {} and {}", node.name, Braced(x.sizes), Braced(y.sizes)));
  }

  // A value is rounded to its type and then worked on as what sums are made of.
  absl::Status Give(const Node& node, const WrittenArray& x) {
    const WrittenArray value = call_.write.Convert(Stored(call_.write, x, node.type), x.type);
    values_[node.uid] = value;
    last_ = value;
    return absl::OkStatus();
  }

  const XlaCall& call_;
  const double scale_;
  std::map<int64_t, WrittenArray> values_;
  std::optional<WrittenArray> last_;
  std::vector<WrittenArray> maxima_;
  int64_t next_operand_ = 2;
};

}  // namespace

CallResults WriteConvolutionGraph(const XlaCall& call) {
  ASSAY_RETURN_IF_ERROR(call.CheckOperands(2, 100));
  ASSAY_ASSIGN_OR_RETURN(const CallConfig nested, call.config.Message("cudnn_conv_backend_config"));
  const CallConfig& config = nested.empty() ? call.config : nested;
  ASSAY_ASSIGN_OR_RETURN(const double scale, config.Number("conv_result_scale", 1));
  ASSAY_ASSIGN_OR_RETURN(const std::string text, config.Word("serialized_graph", ""));
  const absl::StatusOr<std::vector<Node>> nodes = GraphReader(text).Run();
  if (!nodes.ok()) return WithPrefix(nodes.status(), "serialized_graph");
  GraphWriter graph(call, scale);
  for (const Node& node : *nodes) {
    if (const absl::Status status = graph.Add(node); !status.ok())
      return WithPrefix(status, fmt::format("serialized_graph: {}", node.uid));
  }
  return graph.Results();
}

}  // namespace assay::custom
