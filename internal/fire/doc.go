// Package fire reads due schedules and writes the decisions that package plan makes on their slots.
// Its inputs are the store's interfaces Schedules and Listings, the node, its wake-ups, and whether
// the node may run a job. The words are defined in docs/glossary.md.
//
//	fire.go        the firing loop: reads due schedules and writes decisions
//	prefetch.go    decides on slots before they are due
//	early.go       writes some decisions before their slots, and waits for such slots after an edit
//	settle.go      accounts for due slots on behalf of a client, before an edit or after a loss
//	spread.go      gives hosts the schedules that are made from schedules on every host
//	spreader.go    the loop that does so on a node
//	zones.go       moves next slots after the data of time zones have changed
//	ends.go        reads the ends of jobs that schedules follow
//	calendars.go   reads the calendars that schedules name
//
// Decisions do not depend on the wall clock of the process: due times come from the store, and
// waiting uses the monotonic clock.
package fire
