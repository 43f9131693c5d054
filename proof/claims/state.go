package claims

// State is everything at one moment: the rows of the store, what processes know, and what is on its way.
type State struct {
	Jobs  [2]Job
	Used  int8 // permits of the limit that are in use, as the store counts them
	Nodes [2]Node
}

// Node is a process, and its row in the store.
type Node struct {
	Row Age // since the last heartbeat arrived, by the store's clock

	Up     bool // the process lives; the following fields are what it knows
	Lease  Age  // since the last heartbeat that was answered was sent, by the process's own clock
	Steady Age  // since when heartbeats have succeeded without a failure
	Answer Age  // since the heartbeat was sent whose answer is on its way
	Jump   bool // the store's clock was set since the last heartbeat arrived
	Told   bool // the answer on its way shows that
	Asks   Ask  // its rescue that is on its way
	Runs   [2]Run
	Mail   [2]Outcome // on its way to the store, until its answer arrives
}

// Age is a number of ticks.
type Age int8

// lease is how long a lease lasts. It is also the greatest age: what is older is as old.
const lease Age = 2

// none is the age of what does not exist: the row of a node that has ended, heartbeats that have failed, no answer.
const none Age = -1

// Ask is a rescue on its way, which names the last heartbeat whose answer its process had when it asked.
type Ask int8

// The rescues on their way.
const (
	NoAsk     Ask = iota
	Answered      // the heartbeat that it names is the last one of its node
	Overtaken     // another has arrived
)

// Run is a claim as its process has it.
type Run struct {
	Phase Phase
	Token Token
}

// Phase is how far a run has come.
type Phase int8

// The phases of a run.
const (
	Nothing  Phase = iota
	Claiming       // the claim is committed, and its answer is on its way
	Held           // claimed ahead: it may not begin yet
	Works          // a worker works
	Late           // its lease has passed while the worker worked: it has to stop, which takes time
)

// Outcome is a result for the store.
type Outcome struct {
	Result Result
	Token  Token
}

// trusts reports whether the process may act as the owner of its claims.
func (n Node) trusts() bool { return n.Up && n.Lease < lease }

// start returns the first state.
func (w World) start() (s State) {
	for n := range s.Nodes {
		s.Nodes[n] = newNode()
	}
	for j := range s.Jobs {
		s.Jobs[j] = Job{Most: int8(2 - j), FailOnLoss: j == 1}
		if j >= w.Jobs {
			s.Jobs[j] = Job{State: Completed}
		}
	}
	return s
}

// newNode returns a process that has just registered.
func newNode() Node { return Node{Up: true, Answer: none} }

// over reports whether all jobs have come to their end.
func (s State) over() bool { return s.Jobs[0].Ended() && s.Jobs[1].Ended() }

// tidy numbers the tokens of each job again, and forgets what does not matter any more when all jobs have ended.
func (s State) tidy() State {
	for j := range s.Jobs {
		tokens := [5]*Token{
			&s.Jobs[j].Token, &s.Nodes[0].Runs[j].Token, &s.Nodes[0].Mail[j].Token, &s.Nodes[1].Runs[j].Token, &s.Nodes[1].Mail[j].Token,
		}
		for next := Token(1); ; next++ { // the least token that is not numbered yet gets the next number
			least := Token(0)
			for _, t := range tokens {
				if *t >= next && (least == 0 || *t < least) {
					least = *t
				}
			}
			if least == 0 {
				break
			}
			for _, t := range tokens {
				if *t == least {
					*t = next
				}
			}
		}
	}
	if s.over() {
		for n := range s.Nodes {
			node := &s.Nodes[n]
			*node = Node{Up: node.Up, Row: none, Answer: none, Runs: node.Runs, Mail: node.Mail}
		}
	}
	return s
}
