// RUN: moeq-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{expects the name of a chip}}
module attributes {moeq.target = #moeq.target<chip = "">} {}

// -----

// expected-error @below {{missing required parameter: chip}}
module attributes {moeq.target = #moeq.target<sms = 132>} {}

// -----

// expected-error @below {{expects numbers that are not negative, got sms -1 and shared_memory 0}}
module attributes {moeq.target = #moeq.target<chip = "sm_90a", sms = -1>} {}

// -----

// expected-error @below {{expects numbers that are not negative, got sms 0 and shared_memory -4}}
module attributes {moeq.target = #moeq.target<chip = "sm_90a", shared_memory = -4>} {}
