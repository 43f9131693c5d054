package page

type Greet struct{ Name string }

func (Greet) Kind() string { return "greet" }
