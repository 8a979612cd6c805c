// Which mutant of a program is on (tests/mutation/sites.py puts the questions into the sources).
#ifndef ASSAY_TESTS_MUTATION_MUTANT_H_
#define ASSAY_TESTS_MUTATION_MUTANT_H_

namespace assay_mutation {

extern int current;             // ASSAY_MUTANT; 0: none
extern unsigned char* reached;  // by number, a file of bytes; null: not wanted
inline bool Is(int number) {
  if (reached != nullptr) reached[number] = 1;
  return current == number;
}

}  // namespace assay_mutation

#define ASSAY_MUTANT(number) ::assay_mutation::Is(number)

#endif  // ASSAY_TESTS_MUTATION_MUTANT_H_
