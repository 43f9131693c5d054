// Package shedlock proves that Hourbell's locks and those of ShedLock, the Java
// library, are the same locks: a Java program with the real ShedLock takes them
// in turn with this one, waits for the other's at-least time and for the expiry
// of locks that the other has abandoned, and races it for them.
//
// The Java program is in the folder java, and scripts/java builds and runs it. A
// JDK, Maven and the servers of the tests are needed; where one is missing the
// tests are skipped, or fail if HOURBELL_TEST_REQUIRE=1. HOURBELL_PROOF_ROUNDS is
// the number of races on each store (100).
package shedlock
