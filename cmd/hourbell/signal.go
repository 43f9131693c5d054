package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
)

func (p *program) signalCommand() *cobra.Command {
	var f storeFlags
	var key bool
	c := &cobra.Command{
		Use: "signal JOB NAME [JSON]", Short: "Sends a signal to a job that waits for it", Args: takesSignal,
		Long: "Gives a job the signal NAME with a value, null by default. If the job waits for it, the job goes on at once;\n" +
			"otherwise the signal is kept until the job waits for it. A job takes one signal of each name: another one is\n" +
			"refused, and the first counts. With --key, JOB is a key, and each job of the key that waits for the signal gets it.",
		Example: "  hourbell signal 17 approval '{\"by\": \"ann\", \"granted\": true}'\n" +
			"  hourbell signal --key customer-42 paid",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			value := json.RawMessage("null")
			if len(args) == 3 {
				value = json.RawMessage(args[2])
			}
			err := errors.Join(check.Name("signal", args[1]), check.Value("value", value))
			var ids []int64
			if key {
				err = errors.Join(check.Name("key", args[0]), err)
			} else {
				var idErr error
				ids, idErr = parseIDs(args[:1])
				err = errors.Join(idErr, err)
			}
			if err != nil {
				return err
			}
			return p.withClient(c.Context(), f, func(client *hourbell.Client) (err error) {
				if key {
					ids, err = client.Signals.SendToKey(c.Context(), args[0], args[1], value)
				} else {
					err = client.Signals.Send(c.Context(), ids[0], args[1], value)
				}
				if err != nil {
					return err
				}
				for _, id := range ids {
					fmt.Fprintf(p.stdout, "job %d has the signal %s\n", id, args[1])
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&key, "key", false, "JOB is a key: send the signal to each job of the key that waits for it")
	f.addTo(c)
	return c
}

// takesSignal takes a job, a name and, if it is given, a value.
func takesSignal(c *cobra.Command, args []string) error {
	names := []string{"JOB", "NAME", "JSON"}
	return takes(false, names[:max(2, min(len(args), len(names)))]...)(c, args)
}
