// RUN: ingot-opt %s --ingot-refute-checks --split-input-file --verify-diagnostics

// Must not fire: a check that may hold, and one that may not be reached.
func.func @open(%holds: i1, %n: index) {
  %false = arith.constant false
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  ingot.require %holds, "only the run knows"
  scf.for %i = %zero to %n step %one {
    ingot.require %false, "there may be no iteration"
  }
  return
}

// -----

func.func @refuted() {
  %false = arith.constant false
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  // expected-error@+1 {{dimension 0 is 3, not 4}}
  ingot.require %false, "dimension 0 is {0}, not {1}" (%three, %four) : index, index
  return
}

// -----

// One error per node; the message does not name the node again.
func.func @once() {
  %false = arith.constant false
  // expected-error@unknown {{the first}}
  ingot.require %false, "node 'a': the first" loc("a")
  ingot.require %false, "node 'a': the second" loc("a")
  // expected-error@unknown {{the third}}
  ingot.require %false, "node 'b': the third" loc("b")
  return
}
