// Package plan decides on the slots of schedules. It is pure: it calls no store, starts no goroutine
// and reads no clock. Its inputs are rows of the store (schedules, calendars, the claimed or lost
// jobs of schedules) and an instant of the store's clock; its results are decisions that drivers
// write (store.Firing, store.FollowUp). The words are defined in docs/glossary.md.
//
// What a schedule says:
//
//	definition.go     the encoded rule, job and policies of a schedule
//	calendars.go      calendars that schedules share by name
//	hooks.go          the jobs that failures, missed slots and recoveries make
//
// What becomes of its slots:
//
//	cache.go          decoded plans by schedule and revision
//	decide.go         turns a schedule and an instant into a decision
//	slot_outcome.go   the outcome of a slot
//	chain.go          the edges of a schedule that follows others, and what the ends of jobs set off
//	early.go          which decisions can be made and written before the slot
//	leave.go          leaves slots to other nodes whose jobs this node does not run
//	simulate.go       plays a schedule through a span of time, without a store
package plan
