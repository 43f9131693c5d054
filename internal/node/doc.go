// Package node makes a process a node of the cluster: it registers the node, keeps its lease, takes
// the jobs of dead nodes, receives wake-ups, and suspends the node if the store went back in time.
// Its inputs are the store's interfaces Nodes and History, the wake-ups of the node's loops, the
// number of claims in flight, and the follow-up of a lost job. The words are defined in
// docs/glossary.md.
//
//	node.go         registers the node, starts its loops, leaves the cluster
//	session.go      the node's number, the trust in its lease, the context of its runs
//	lease.go        (pure) until when to trust the lease, and when to declare others dead
//	heartbeat.go    extends the lease; registers again after the node was declared dead
//	problems.go     lists in the store what is wrong with the node
//	rescue.go       takes the jobs of dead nodes
//	listen.go       receives wake-ups from the store
//	history.go      suspends the node if the store went back in time
//	hand_over.go    passes the node to the next program of the process
//	state_file.go   keeps the store's position in a file across starts
package node
