// Package shedlock proves that Hourbell's locks and the locks of ShedLock, the
// Java library, exclude each other: a Java program with the real ShedLock and
// this program take them in turn, wait for the other side's at-least time and
// for the expiry of locks that the other side has abandoned, and race for them.
//
// The Java program is in the folder java, and scripts/java builds and runs it.
// The tests need a JDK, Maven and servers; without them they are skipped, or
// fail if HOURBELL_TEST_REQUIRE=1. HOURBELL_PROOF_ROUNDS is the number of races
// on each store (100).
package shedlock
