// RUN: moeq-opt %s -moeq-tile=tile-m=0 -verify-diagnostics

// expected-error@+1 {{expects positive tile sizes, got tile-m=0 and tile-n=128}}
module {
}
