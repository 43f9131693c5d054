// Package proof tries to break Hourbell's promises with real processes: nodes
// that are killed, stopped and cut off from their database while other nodes
// continue. Its tests build the program and run it; they check the result with
// a witness outside Hourbell (files that the jobs write) and with the program's
// own listings.
//
// The tests mostly wait, so they run in parallel, except tests that measure how soon something
// happens, and tests that keep the processors busy.
//
// The tests run on SQLite and PostgreSQL, or on PostgreSQL alone, and some of them on MySQL or MariaDB too.
// HOURBELL_PROOF_STORES names the stores instead: with HOURBELL_PROOF_STORES=mysql all tests run on MySQL or MariaDB, except tests
// about a file of SQLite, and one that reads PostgreSQL's counters.
//
// HOURBELL_PROOF_SECONDS (default 8) is how long the timed tests run, and
// HOURBELL_PROOF_LEASE (default 4s) is the lease of their nodes.
//
// TestNoWorkIsLost records a history while processes die, stall and lose their
// connections, and audits it afterwards. HOURBELL_PROOF_JOBS (default 500) is how
// many transactions each of its four enqueuers begins. TestDependentsAreExact does the
// same for graphs of jobs; HOURBELL_PROOF_GRAPH (default 100) is how many jobs its
// random graph has. HOURBELL_PROOF_VISITS (default 100), HOURBELL_PROOF_TENANT (5000) and HOURBELL_PROOF_SHARES (200) are
// numbers of jobs of the tests of limits.
//
// TestFourNodesAreAsFastAsOne is run with HOURBELL_PROOF_CROWD, how many seconds it observes one node and then four, and
// HOURBELL_PROOF_STRESS, a command that runs concurrently, such as "stress -c 8".
package proof
