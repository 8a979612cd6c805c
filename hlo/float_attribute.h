// Attributes that text writes as a decimal number, and protos and StableHLO as a float.
#ifndef ASSAY_HLO_FLOAT_ATTRIBUTE_H_
#define ASSAY_HLO_FLOAT_ATTRIBUTE_H_

namespace assay {

// Decision: proto-epsilon
// The shortest decimal number that is the float: what a float stands for.
double ShortestDouble(float value);
// Whether a float stands for the number, so that writing it as one loses nothing.
bool IsShortestOfFloat(double value);

}  // namespace assay

#endif  // ASSAY_HLO_FLOAT_ATTRIBUTE_H_
