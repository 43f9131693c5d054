// Package engine assembles a running node: it starts the loops of the packages below, and stops them
// in order. Its inputs are the configuration of a client and the store.
//
//	engine.go      builds the parts, runs them, drains the node, leaves the cluster
//	hand_over.go   brings the parts to rest, and describes the node for the next program of the process
//	prune.go       deletes old rows
//
// Each part of a node is a package with a doc.go that lists its files and inputs. Imports point one
// way, from the first package to the last:
//
//	engine   assembles the parts
//	fire     reads due schedules and writes decisions on their slots; settles slots before an edit
//	work     runs jobs, from the claim to the outcome
//	node     the lease, the heartbeats, the rescue of dead nodes, the store's history
//	plan     (pure) what schedules say and what becomes of their slots
//	loop     what all loops share: instants, signals, wake-ups, the report of events
//
// Packages fire and work do not import each other.
package engine
