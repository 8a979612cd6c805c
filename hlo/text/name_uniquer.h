// Names that are unique in a module, as the reference makes them: a name is a root and a number, "add.3" or
// "add" (number 0); a clash takes the root's lowest number that was not tried before.
#ifndef ASSAY_HLO_TEXT_NAME_UNIQUER_H_
#define ASSAY_HLO_TEXT_NAME_UNIQUER_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace assay {

class NameUniquer {
 public:
  // The name to use in place of `name`: `name` itself if that is free. `name` must outlive the uniquer.
  std::string Unique(std::string_view name);

 private:
  absl::string_view Keep(std::string text);

  absl::flat_hash_set<absl::string_view> used_;           // "add.3"; number 0 as "add"
  absl::flat_hash_map<absl::string_view, int64_t> next_;  // by root: numbers below it were tried
  std::deque<std::string> kept_;                          // spellings that `used_` needs and no text holds
};

}  // namespace assay

#endif  // ASSAY_HLO_TEXT_NAME_UNIQUER_H_
