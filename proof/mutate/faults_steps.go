package main

// stepFaults are faults in what jobs remember and how they wait. The simulated cluster notices them.
var stepFaults = []motionFault{
	{
		fault{"a signal does not wake its job", inMemory + "steps.go", "if wakes {", "if wakes && now.IsZero() {"},
		10, "",
	},
	{
		fault{
			"a job lies aside although its signal has come", inMemory + "finish.go",
			"step != nil && !step.Open {", "step != nil && step.Name == \"\" {",
		}, 10, "",
	},
	{
		fault{"a second signal overwrites the first", inStore + "step.go", "if after.Open {", "if after.Open || s.Sort == StepSignal {"},
		10, "",
	},
	{
		fault{"a signal comes after the timeout", inStore + "step.go", "if after.Open {", "if after.Open || after.TimedOut {"},
		10, "",
	},
	{
		fault{"a wait ends when its job looks", inStore + "step.go", "!after.Until.IsZero() && !s.At.Before(after.Until)", "!after.Until.IsZero()"},
		23, "",
	},
	{
		fault{"a signal that came first has no place", inStore + "step.go", "case after.Place == 0:", "case after.Place < 0:"},
		23, "",
	},
	{
		fault{"a job forgets one step", inStore + "step.go", "place != 0 && step.Place >= place", "place != 0 && step.Place == place"},
		10, "",
	},
	{
		fault{"a step is stored outside of its transaction", inWork + "steps.go", "Tx: tx.Tx, Commit: true, Step:", "Step:"},
		10, "",
	},
	{
		fault{"a wait costs an attempt", inMemory + "finish.go", "\t\tj.Attempt--\n\t\tj.Snoozes++", "\t\tj.Snoozes++"},
		10, "",
	},
}
