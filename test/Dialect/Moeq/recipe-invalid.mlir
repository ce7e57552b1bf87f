// RUN: moeq-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{expects a preset's name or a parameter, got 'deepgem'}}
func.func private @preset() attributes {r = #moeq.recipe<deepgem>}

// -----

// A preset comes first.
// expected-error @below {{expects a parameter, got 'deepgemm'}}
func.func private @late_preset() attributes {r = #moeq.recipe<scale_round = e8m0_up, deepgemm>}

// -----

// expected-error @below {{unknown parameter 'floor'}}
func.func private @unknown() attributes {r = #moeq.recipe<floor = 1.0>}

// -----

// expected-error @below {{duplicate parameter 'lo'}}
func.func private @duplicate() attributes {r = #moeq.recipe<lo = 1, lo = 2>}

// -----

// expected-error @below {{unknown value 'amax_div'}}
func.func private @value() attributes {r = #moeq.recipe<scale = amax_div>}

// -----

// expected-error @below {{expects a finite amax_floor that is not negative, got -1.000000e+00}}
func.func private @negative() attributes {r = #moeq.recipe<amax_floor = -1.0>}

// -----

// expected-error @below {{expects a finite amax_floor that is not negative, got}}
func.func private @infinite() attributes {r = #moeq.recipe<amax_floor = 1.0e+39>}

// -----

// expected-error @below {{expects a positive amax_floor with zero_block = floor, got 0}}
func.func private @floor() attributes {r = #moeq.recipe<zero_block = floor>}

// -----

// expected-error @below {{expects both lo and hi, or neither}}
func.func private @lo() attributes {r = #moeq.recipe<lo = -8>}

// -----

// expected-error @below {{expects lo < hi, got lo 7 and hi 7}}
func.func private @range() attributes {r = #moeq.recipe<lo = 7, hi = 7>}

// -----

// expected-error @below {{integer value too large}}
func.func private @huge() attributes {r = #moeq.recipe<lo = -99999999999999999999, hi = 7>}

// -----

// expected-error @below {{expects scale = rcp_of_quant with apply = mul_quant, got amax_div_max}}
func.func private @mul_quant() attributes {r = #moeq.recipe<apply = mul_quant>}

// -----

// expected-error @below {{expected valid keyword}}
func.func private @empty() attributes {r = #moeq.recipe<>}

// -----

// expected-error @below {{expected '<'}}
func.func private @bare() attributes {r = #moeq.recipe}
