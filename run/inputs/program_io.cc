#include "run/inputs/program_io.h"

#include <cstring>
#include <functional>
#include <new>
#include <set>

#include "evaluator/elements.h"
#include "fmt/format.h"
#include "literal/leaves.h"

namespace assay {
namespace {

// Where a leaf's value comes from: the value for a key and a wanted shape, or nullopt where there is no such
// key.
using LeafSource =
    std::function<absl::StatusOr<std::optional<Literal>>(const std::string& key, const Shape& wanted)>;

// to[i] = from[i] for every index i of the space `sizes`.
void CopyElements(std::span<const int64_t> sizes, const Literal& from, Literal& to) {
  const ArrayView source(from);
  const MutableArrayView destination(to);
  for (IndexWalk i(sizes); !i.done(); i.Next()) {
    std::memcpy(destination.At(i.index()), source.At(i.index()), source.element_bytes());
  }
}

// An array that fits a dynamic shape at a smaller run-time size, as a value of that shape.
absl::StatusOr<Literal> WithBounds(const std::string& key, const Literal& live, const Shape& wanted) {
  ASSAY_ASSIGN_OR_RETURN(Literal value, Literal::Make(wanted));
  for (int64_t d = 0; d < wanted.rank(); ++d) {
    const int64_t size = live.shape().size(d);
    if (wanted.is_dynamic(d) ? size > wanted.size(d) : size != wanted.size(d)) {
      return BadInput(
          fmt::format("'{}' is {}, the program wants {}", key, live.shape().ToString(), wanted.ToString()));
    }
    if (wanted.is_dynamic(d)) value.set_dynamic_size(d, size);
  }
  CopyElements(live.shape().sizes(), live, value);
  return value;
}

// Some of the keys, for messages.
template <typename Keys>
std::string ListOf(const Keys& keys) {
  constexpr size_t kShown = 8;
  std::string text;
  size_t shown = 0;
  for (const std::string& key : keys) {
    if (shown == kShown) return text + fmt::format(", … ({} in all)", keys.size());
    text += (shown++ == 0 ? "" : ", ") + key;
  }
  return text;
}

class ArgumentReader {
 public:
  // `given`: the keys that there are, for messages.
  ArgumentReader(LeafSource source, std::vector<std::string> given)
      : source_(std::move(source)), given_(std::move(given)) {}

  absl::StatusOr<Literal> Read(const std::string& key, const Shape& shape) {
    if (shape.IsToken()) return Literal::Token();
    if (shape.IsTuple()) {
      std::vector<Literal> elements;
      for (size_t i = 0; i < shape.elements().size(); ++i) {
        ASSAY_ASSIGN_OR_RETURN(Literal element, Read(fmt::format("{}.{}", key, i), shape.element(i)));
        elements.push_back(std::move(element));
      }
      return Literal::Tuple(std::make_shared<const Shape>(shape), std::move(elements));
    }
    if (!shape.IsArray()) {
      return NotSupported({},
                          fmt::format("parameter '{}' is {}, which can't be given", key, shape.ToString()));
    }
    if (shape.HasUnbounded()) {
      return NotSupported(
          {}, fmt::format("DYN-2: parameter '{}' is {}: unbounded dynamism", key, shape.ToString()));
    }
    used_.insert(key);
    ASSAY_ASSIGN_OR_RETURN(std::optional<Literal> value, source_(key, shape));
    if (!value) {
      return BadInput(fmt::format("'{}' is missing; the program wants {}{}", key, shape.ToString(),
                                  given_.empty() ? "" : "; there is " + ListOf(given_)));
    }
    return *std::move(value);
  }

  bool Used(const std::string& key) const { return used_.count(key) > 0; }
  // "arg0, arg1.0": the first keys that were read.
  std::string Names() const { return used_.empty() ? "nothing" : ListOf(used_); }

 private:
  LeafSource source_;
  std::vector<std::string> given_;
  std::set<std::string> used_;
};

constexpr std::string_view kInfeed = "infeed", kHostRecv = "host_recv";

// What stands before the number of the item that `key` names: "infeed" of infeed0.1, "host_recv3/" of
// host_recv3/0; empty: it names none.
std::string QueueOf(const std::string& key) {
  if (key.starts_with(kInfeed)) return std::string(kInfeed);
  const size_t slash = key.rfind('/');
  if (!key.starts_with(kHostRecv) || slash == key.npos || slash == kHostRecv.size()) return "";
  return key.substr(0, slash + 1);
}

// `items` are keys without the leaves of tuples: queue and number.
absl::Status FillQueue(const std::string& queue, const std::set<std::string>& items, const LeafSource& source,
                       ProcessState& process) {
  std::deque<StreamItem>& into =
      queue == kInfeed
          ? process.infeed
          : process.host_to_device[queue.substr(kHostRecv.size(), queue.size() - 1 - kHostRecv.size())];
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string key = fmt::format("{}{}", queue, i);
    if (items.count(key) == 0) {
      return BadInput(fmt::format("'{}' is missing among {} {} items", key, items.size(),
                                  queue.substr(0, queue.find_last_not_of('/') + 1)));
    }
    into.push_back(
        [key, source](const Shape& wanted) { return ArgumentReader(source, {}).Read(key, wanted); });
  }
  return absl::OkStatus();
}

template <typename Value>
absl::StatusOr<std::vector<Literal>> ReadArguments(const VerifiedModule& module,
                                                   const std::map<std::string, Value>& values,
                                                   const LeafSource& source, ProcessState* process) {
  const Computation& entry = module.module().entry_computation();
  std::vector<std::string> given;
  for (const auto& [key, value] : values) given.push_back(key);
  ArgumentReader reader(source, std::move(given));
  std::vector<Literal> arguments;
  for (size_t i = 0; i < entry.parameters.size(); ++i) {
    const Shape& shape = *entry.instructions[entry.parameters[i]].shape;
    ASSAY_ASSIGN_OR_RETURN(Literal argument, reader.Read(fmt::format("arg{}", i), shape));
    arguments.push_back(std::move(argument));
  }
  std::map<std::string, std::set<std::string>> queues;  // by what stands before the items' numbers
  for (const auto& [key, value] : values) {
    if (reader.Used(key)) continue;
    const std::string queue = process == nullptr ? "" : QueueOf(key);
    if (queue.empty()) {
      return BadInput(
          fmt::format("'{}' is not a parameter of the program, which takes {}", key, reader.Names()));
    }
    queues[queue].insert(key.substr(0, key.find('.', queue.size())));
  }
  for (const auto& [queue, items] : queues) ASSAY_RETURN_IF_ERROR(FillQueue(queue, items, source, *process));
  return arguments;
}

}  // namespace

Literal CropToRuntimeSizes(const Literal& array) {
  if (!array.shape().HasDynamic()) return array;
  const DimVector sizes = array.runtime_sizes();
  absl::StatusOr<Literal> result = Literal::Make(Shape::ArrayOrDie(array.shape().element_type(), sizes));
  if (!result.ok()) throw std::bad_alloc();
  CopyElements(sizes, array, *result);
  return *std::move(result);
}

NamedLiterals LeavesOf(const std::string& prefix, const Literal& value) {
  NamedLiterals leaves;
  ForEachLeaf(value, [&](const ShapeIndex& path, const Literal& leaf) {
    if (!leaf.shape().IsArray() && !leaf.shape().IsBuffer()) return;
    leaves.emplace_back(path.empty() ? prefix : fmt::format("{}.{}", prefix, fmt::join(path, ".")),
                        CropToRuntimeSizes(leaf));
  });
  return leaves;
}

std::map<std::string, Literal> LeavesOfArguments(const std::vector<Literal>& arguments) {
  std::map<std::string, Literal> leaves;
  for (size_t i = 0; i < arguments.size(); ++i) {
    for (auto& [key, value] : LeavesOf(fmt::format("arg{}", i), arguments[i]))
      leaves.emplace(key, std::move(value));
  }
  return leaves;
}

NamedLiterals ResultsOf(const Literal& root) {
  if (!root.shape().IsTuple()) return LeavesOf("out0", root);
  NamedLiterals results;
  for (int64_t i = 0; i < root.tuple_size(); ++i) {
    NamedLiterals inner = LeavesOf(fmt::format("out{}", i), root.element(i));
    results.insert(results.end(), std::make_move_iterator(inner.begin()),
                   std::make_move_iterator(inner.end()));
  }
  return results;
}

NamedLiterals AllResults(const Literal& root, const ProcessState& process) {
  NamedLiterals results = ResultsOf(root);
  for (size_t i = 0; i < process.outfeed.size(); ++i) {
    for (auto& leaf : LeavesOf(fmt::format("outfeed{}", i), process.outfeed[i]))
      results.push_back(std::move(leaf));
  }
  for (const auto& [queue, values] : process.device_to_host) {
    for (size_t i = 0; i < values.size(); ++i) {
      for (auto& leaf : LeavesOf(fmt::format("host_send{}/{}", queue, i), values[i]))
        results.push_back(std::move(leaf));
    }
  }
  for (const auto& [id, values] : process.probes) {
    for (size_t i = 0; i < values.size(); ++i)
      results.emplace_back(fmt::format("probe/{}.{}", id, i), values[i]);
  }
  return results;
}

std::string DescribeParameters(const VerifiedModule& module) {
  const Computation& entry = module.module().entry_computation();
  std::string text;
  for (size_t i = 0; i < entry.parameters.size(); ++i) {
    const Instruction& parameter = entry.instructions[entry.parameters[i]];
    ForEachLeaf(*parameter.shape, [&](const ShapeIndex& index, const Shape& leaf) {
      if (leaf.IsToken()) return;
      const std::string key =
          index.empty() ? fmt::format("arg{}", i) : fmt::format("arg{}.{}", i, fmt::join(index, "."));
      text += fmt::format("\n  {}  {}  (parameter {} '{}')", key, leaf.ToString(), i, parameter.name);
    });
  }
  return text.empty() ? "nothing" : text;
}

absl::StatusOr<std::vector<Literal>> ArgumentsFrom(const VerifiedModule& module,
                                                   const std::map<std::string, NpyArray>& arrays,
                                                   ProcessState* process) {
  // The source outlives this call inside infeed items: it holds the arrays itself.
  const auto shared = std::make_shared<const std::map<std::string, NpyArray>>(arrays);
  const LeafSource source = [shared](const std::string& key,
                                     const Shape& wanted) -> absl::StatusOr<std::optional<Literal>> {
    const auto it = shared->find(key);
    if (it == shared->end()) return std::optional<Literal>();
    if (!wanted.HasDynamic()) {
      ASSAY_ASSIGN_OR_RETURN(Literal value, DecodeNpy(key, it->second, wanted));
      return std::optional<Literal>(std::move(value));
    }
    ASSAY_ASSIGN_OR_RETURN(const Shape live_shape, Shape::Array(wanted.element_type(), it->second.sizes));
    ASSAY_ASSIGN_OR_RETURN(const Literal live, DecodeNpy(key, it->second, live_shape));
    if (live_shape.rank() != wanted.rank()) {
      return BadInput(
          fmt::format("'{}' is {}, the program wants {}", key, live_shape.ToString(), wanted.ToString()));
    }
    ASSAY_ASSIGN_OR_RETURN(Literal value, WithBounds(key, live, wanted));
    return std::optional<Literal>(std::move(value));
  };
  return ReadArguments(module, arrays, source, process);
}

absl::StatusOr<std::vector<Literal>> ArgumentsFrom(const VerifiedModule& module,
                                                   const std::map<std::string, Literal>& values,
                                                   ProcessState* process) {
  const auto shared = std::make_shared<const std::map<std::string, Literal>>(values);
  const LeafSource source = [shared](const std::string& key,
                                     const Shape& wanted) -> absl::StatusOr<std::optional<Literal>> {
    const auto it = shared->find(key);
    if (it == shared->end()) return std::optional<Literal>();
    const Shape& given = it->second.shape();
    if (given.IsArray() && given.element_type() == wanted.element_type() && given.rank() == wanted.rank() &&
        wanted.HasDynamic()) {
      ASSAY_ASSIGN_OR_RETURN(Literal value, WithBounds(key, it->second, wanted));
      return std::optional<Literal>(std::move(value));
    }
    if (!Shape::Compatible(given, wanted)) {
      return BadInput(
          fmt::format("'{}' is {}, the program wants {}", key, given.ToString(), wanted.ToString()));
    }
    return std::optional<Literal>(it->second);
  };
  return ReadArguments(module, values, source, process);
}

}  // namespace assay
