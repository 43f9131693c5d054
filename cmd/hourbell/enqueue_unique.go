package main

import (
	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
)

// uniqueFlags are the flags that give a job a key.
type uniqueFlags struct {
	key  string
	args bool
}

func (f *uniqueFlags) addTo(c *cobra.Command) {
	c.Flags().StringVar(&f.key, "unique", "", "a key: while a job of this kind with this key waits or runs, add nothing and print the number of that job")
	c.Flags().BoolVar(&f.args, "unique-args", false, "like --unique, with a key that is made from the arguments")
}

// given reports whether the job has a key.
func (f *uniqueFlags) given(c *cobra.Command) bool { return c.Flags().Changed("unique") || f.args }

func (f *uniqueFlags) options(c *cobra.Command) (options []hourbell.Option) {
	if c.Flags().Changed("unique") {
		options = append(options, hourbell.Unique(f.key))
	}
	if f.args {
		options = append(options, hourbell.UniqueArgs())
	}
	return options
}
