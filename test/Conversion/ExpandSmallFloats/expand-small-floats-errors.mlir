// RUN: moeq-opt %s --split-input-file --moeq-expand-small-floats --verify-diagnostics

func.func @arithmetic(%x: f8E4M3FN) -> f8E4M3FN {
  // expected-error @+1 {{expects no arithmetic on small floats but conversions from at most 32 bits, rounded to nearest even, got 'arith.addf' on 'f8E4M3FN'}}
  %0 = arith.addf %x, %x : f8E4M3FN
  return %0 : f8E4M3FN
}

// -----

func.func @rounded_twice(%x: f64) -> f8E5M2 {
  // expected-error @+1 {{got 'arith.truncf' on 'f8E5M2'}}
  %0 = arith.truncf %x : f64 to f8E5M2
  return %0 : f8E5M2
}

// -----

func.func @rounding_mode(%x: f32) -> f8E4M3FN {
  // expected-error @+1 {{got 'arith.truncf' on 'f8E4M3FN'}}
  %0 = arith.truncf %x toward_zero : f32 to f8E4M3FN
  return %0 : f8E4M3FN
}

// -----

func.func @wide_integer(%x: i32) -> f8E4M3FN {
  // expected-error @+1 {{got 'arith.sitofp' on 'f8E4M3FN'}}
  %0 = arith.sitofp %x : i32 to f8E4M3FN
  return %0 : f8E4M3FN
}

// -----

func.func @math(%x: vector<2xf8E8M0FNU>) -> vector<2xf8E8M0FNU> {
  // expected-error @+1 {{got 'math.sqrt' on 'vector<2xf8E8M0FNU>'}}
  %0 = math.sqrt %x : vector<2xf8E8M0FNU>
  return %0 : vector<2xf8E8M0FNU>
}
