/* SPDX-License-Identifier: Apache-2.0 */
/* Bugs to order. Each number brings back one mistake that informers are known to have made, at the
 * places where KI__MUTANT(number) stands. In every build that is used they are constant false and
 * leave no trace; tools/check-mutants builds each one and demands that the simulator finds it.
 * tests/sim/mutants.txt tells what they are. */
#ifndef KI_BASE_MUTANT_H
#define KI_BASE_MUTANT_H

#ifndef KI_MUTANT
#define KI_MUTANT 0
#endif

#define KI__MUTANT(number) (KI_MUTANT == (number))

#endif
