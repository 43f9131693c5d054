// Package insert puts the jobs of concurrent enqueues into shared inserts. Its inputs are a store
// (Insert, and its round trip if the store measures it) and the longest time that a caller waits.
//
//	batcher.go   the insert batcher, its states, and the error of an insert without an answer
package insert
