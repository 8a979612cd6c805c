// Functions over elements as they are stored: what kernels apply without loading elements into compute kinds.
#ifndef ASSAY_ENGINES_ELEMENTWISE_FN_H_
#define ASSAY_ENGINES_ELEMENTWISE_FN_H_

#include <cstddef>
#include <cstdint>

namespace assay {

// out[i] = op(in[0][i], in[1][i]) for n elements; out may be an input.
using ElementwiseFn = void (*)(int64_t n, const std::byte* const* in, std::byte* out);

}  // namespace assay

#endif  // ASSAY_ENGINES_ELEMENTWISE_FN_H_
