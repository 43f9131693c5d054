package claims

// Mistake is a mistake that a contract of claims could make.
type Mistake string

// The mistakes. The tests name the rule that notices each.
const (
	ClaimOutlivesRollback Mistake = "a claim outlives the rollback of its transaction"
	TokenAgain            Mistake = "a claim does not get a new token"
	OutcomeWithoutToken   Mistake = "an outcome counts whatever its token is"
	BeginUnrecorded       Mistake = "a job begins before the store knows"
	HandBackBegun         Mistake = "a job that may not start twice is handed back after it has begun"
	WorkGoesOn            Mistake = "a worker goes on after its job was handed back"
	LeaseIgnored          Mistake = "a worker goes on after the lease of its node"
	LeaseFromAnswer       Mistake = "a lease counts from the answer to a heartbeat"
	RescueWithoutWait     Mistake = "a rescue does not wait for one lease"
	RescueUnheard         Mistake = "a node that was not heard lately rescues"
	RescueOvertaken       Mistake = "a rescue counts although a heartbeat of its node has overtaken it"
	JumpIgnored           Mistake = "a step of the store's clock does not begin the wait again"
	JobsLeft              Mistake = "a rescue leaves the jobs"
	CompareAtOnce         Mistake = "a node hands back claims whose answer may still come"
	NeverCompare          Mistake = "a node never looks for claims whose answer was lost"
	PermitTwice           Mistake = "a repeated outcome returns the permit again"
	PermitKept            Mistake = "the end of a claim does not return its permit"
)
