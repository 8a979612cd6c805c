// Instructions that a mutation puts between a value and its users.
#include <algorithm>

#include "tests/mutants/text_mutator.h"

namespace assay::testing {
namespace {

// What may be done with a value $x of shape $t (an array of rank > 0 where it takes a dimension), as lines
// that give $n; $m is a second new name. Where the op does not take the type, the verifier says so.
constexpr std::string_view kInsertions[] = {
    "$n = $t copy($x)",
    "$n = $t negate($x)",
    "$n = $t tanh($x)",
    "$n = $t bitcast($x)",
    "$n = $t reshape($x)",
    "$n = $t opt-barrier($x)",
    "$n = $t maximum($x, $x)",
    "$n = $t add($x, $x)",
    "$n = $t subtract($x, $x)",
    "$n = $t reverse($x), dimensions={0}",
    "$n = $t copy($x), control-predecessors={$x}",
    "$n = $t reduce-precision($x), exponent_bits=5, mantissa_bits=3",
    "$n = $t domain($x), domain={kind=\"sharding\", entry={replicated}, exit={replicated}}",
    "$n = copy($x)",
    "$n = negate($x)",
    "$n = reverse($x), dimensions={0}",
    "$m = token[] after-all()\n  $n = $t add-dependency($x, $m)",
    "$m = ($t, $t) tuple($x, $x)\n  $n = $t get-tuple-element($m), index=1",
    "$m = (($t), $t) negate-start($x)\n  $n = $t negate-done($m)",
    "$m = (($t), $t, u32[]) copy-start($x)\n  $n = $t copy-done($m)",
    "$m = ($t, $t, u32[]) copy-start($x)\n  $n = $t copy-done($m)",
    "$m = (($t, $t), $t, s32[]) add-start($x, $x)\n  $m.u = (($t, $t), $t, s32[]) add-update($m)\n  $n = $t "
    "add-done($m.u)",
    "$m = (($t), $t) reverse-start($x), dimensions={0}, async_execution_thread=\"side\"\n  $n = $t "
    "reverse-done($m), "
    "async_execution_thread=\"side\"",
    "$m = ($t, $t) all-gather-start($x), dimensions={0}, replica_groups={{0}}\n  $n = $t all-gather-done($m)",
    "$m = ($t, $t) collective-permute-start($x), source_target_pairs={{0,0}}\n  $n = $t "
    "collective-permute-done($m)",
    "$m = ($t, $t, u32[], u32[]) collective-permute-start($x), source_target_pairs={}\n  $n = $t "
    "collective-permute-done($m)",
    "$n = $t collective-permute($x), source_target_pairs={{0,0}}, channel_id=1",
    "$n = $t collective-broadcast($x), replica_groups={{0}}",
    "$n = $t all-to-all($x), dimensions={0}, replica_groups={{0}}",
    "$n = $t all-gather($x), dimensions={0}, replica_groups={}",
    "$n = $t custom-call($x), custom_call_target=\"Sharding\"",
    "$m = b($t) custom-call($x), custom_call_target=\"Pin\", output_to_operand_aliasing={{}: (0, {})}\n  $n "
    "= $t "
    "custom-call($m), custom_call_target=\"Unpin\", output_to_operand_aliasing={{}: (0, {})}",
    "$m = token[] after-all()\n  $m.r = ($t, u32[], token[]) recv($m), channel_id=7\n  $m.s = ($t, u32[], "
    "token[]) "
    "send($x, $m), channel_id=7\n  $m.e = token[] send-done($m.s), channel_id=7\n  $m.d = ($t, token[]) "
    "recv-done($m.r), channel_id=7\n  $n = $t get-tuple-element($m.d), index=0",
    "$m = token[] after-all()\n  $m.s = ($t, u32[], token[]) send($x, $m), channel_id=8, "
    "is_host_transfer=true\n  "
    "$m.e = token[] send-done($m.s), channel_id=8, is_host_transfer=true\n  $n = $t add-dependency($x, $m.e)",
    "$m = token[] after-all()\n  $m.o = token[] outfeed($x, $m)\n  $n = $t add-dependency($x, $m.o)",
    "$m = token[] after-all()\n  $m.i = ($t, token[]) infeed($m)\n  $n = $t get-tuple-element($m.i), index=0",
    "$m = s32[] get-dimension-size($x), dimensions={0}\n  $n = set-dimension-size($x, $m), dimensions={0}",
    "$m = s32[] constant(2)\n  $n = set-dimension-size($x, $m), dimensions={0}",
};

std::string Filled(std::string_view form, std::string_view x, std::string_view type,
                   const std::string& fresh) {
  std::string line = "  ";
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '$') {
      line += form[i];
      continue;
    }
    switch (form[++i]) {
      case 'x':
        line += x;
        break;
      case 't':
        line += type;
        break;
      case 'n':
        line += fresh;
        break;
      default:
        line += fresh + ".m";
    }
  }
  return line + "\n";
}

}  // namespace

bool InsertInstruction(const ScannedText& scanned, Choices& choices, std::string& text) {
  if (!scanned.is_hlo() || scanned.definitions().empty()) return false;
  const TextLine& line = AnyOf(scanned.definitions(), choices);
  const auto name =
      std::find_if(scanned.tokens().begin(), scanned.tokens().end(), [&](const TextToken& token) {
        return token.defines && token.begin >= line.begin && token.end <= line.end;
      });
  if (name == scanned.tokens().end()) return false;
  const std::string x(scanned.Of(*name)), type(name->type);
  if (type.find('[') == std::string::npos) return false;  // left out
  const std::string fresh = x + ".i" + std::to_string(text.size());
  const std::string added = Filled(AnyOf(kInsertions, choices), x, type, fresh);
  // The root stays the root of its computation: it becomes the operand of a new one.
  const std::string_view whole = scanned.Of(line);
  const size_t root = whole.find("ROOT ");
  if (root != std::string_view::npos) {
    const size_t last = added.rfind("  ", added.size() - 2);
    text.insert(line.end, added.substr(0, last) + "  ROOT " + added.substr(last + 2));
    text.erase(line.begin + root, 5);
    return true;
  }
  // Of the uses behind it, some, or all of them; the last ones first, so that places stay right.
  const bool all = choices.OneIn(2);
  const auto place = static_cast<size_t>(name - scanned.tokens().begin());
  for (size_t i = scanned.ScopeOf(place).second; i-- > place;) {
    const TextToken& token = scanned.tokens()[i];
    if (token.begin < line.end) break;
    if (token.kind != TextToken::Kind::kName || token.defines || scanned.Of(token) != x) continue;
    if (all || choices.OneIn(2)) text.replace(token.begin, token.end - token.begin, fresh);
  }
  text.insert(line.end, added);
  return true;
}

}  // namespace assay::testing
