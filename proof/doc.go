// Package proof tries to break Hourbell's promises with real processes: nodes
// that are killed, stopped and cut off from their database while others go
// on. Its tests build the program and run it; what they believe is a witness
// outside Hourbell (files that the jobs write) and the program's own listings.
//
// The tests take HOURBELL_PROOF_SECONDS (default 12) for those that run for a
// time, and HOURBELL_PROOF_LEASE (default 4s) as the lease of their nodes.
package proof
