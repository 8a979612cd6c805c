// What a proto leaves out of a program's text.
#ifndef ASSAY_TESTS_HLO_PROTO_CHANNEL_ZERO_H_
#define ASSAY_TESTS_HLO_PROTO_CHANNEL_ZERO_H_

#include <string>
#include <string_view>

namespace assay::testing {

// Channel 0 is no channel: a proto leaves it out. Decision: collective-channel-0
inline std::string WithoutChannelZero(std::string text) {
  constexpr std::string_view kNone = ", channel_id=0";
  for (size_t at = text.find(kNone); at != text.npos; at = text.find(kNone, at)) text.erase(at, kNone.size());
  return text;
}

}  // namespace assay::testing

#endif  // ASSAY_TESTS_HLO_PROTO_CHANNEL_ZERO_H_
