package store

import (
	"slices"
	"testing"
	"time"
)

func TestLossEffect(t *testing.T) {
	died := Loss{Died: true, Begun: true, Attempt: 1, MaxAttempts: 3, Group: schedules}
	left := Loss{Begun: true, Attempt: 1, MaxAttempts: 3, Group: schedules}
	with := func(l Loss, change func(*Loss)) Loss {
		change(&l)
		return l
	}
	failed := Effect{State: StateFailed, Reason: LostReason, LossCounts: true}
	for name, c := range map[string]struct {
		loss Loss
		want Effect
	}{
		"died":                         {died, Effect{State: StateReady, LossCounts: true, Delay: 250 * time.Millisecond}},
		"died again":                   {with(died, func(l *Loss) { l.Losses = 1 }), Effect{State: StateReady, LossCounts: true, Delay: 5 * time.Second}},
		"died, claimed ahead":          {with(died, func(l *Loss) { l.Begun = false }), Effect{State: StateReady, Refund: 1}},
		"died, claimed ahead, fail":    {with(died, func(l *Loss) { l.Begun, l.OnLoss = false, OnLossFail }), Effect{State: StateReady, Refund: 1}},
		"died, on loss fail":           {with(died, func(l *Loss) { l.OnLoss = OnLossFail }), failed},
		"died in the last attempt":     {with(died, func(l *Loss) { l.Attempt = 3 }), failed},
		"died, cancel request":         {with(died, func(l *Loss) { l.Asked, l.Why = true, "enough" }), Effect{State: StateCancelled, Reason: "enough", LossCounts: true}},
		"died, a job waits":            {with(died, func(l *Loss) { l.Waits = true }), Effect{State: StateCancelled, Reason: SupersededReason, LossCounts: true}},
		"died, a backfilled job waits": {with(died, func(l *Loss) { l.Waits, l.Group = true, backfills }), Effect{State: StateReady, LossCounts: true, Delay: 250 * time.Millisecond}},
		"died, ahead, cancel request":  {with(died, func(l *Loss) { l.Begun, l.Asked = false, true }), Effect{State: StateCancelled}},
		"left":                         {left, Effect{State: StateReady, Refund: 1}},
		"left, a job waits":            {with(left, func(l *Loss) { l.Waits = true }), Effect{State: StateReady, Refund: 1}},
		"left, on loss fail":           {with(left, func(l *Loss) { l.OnLoss = OnLossFail }), Effect{State: StateFailed, Reason: LostReason}},
		"left in the last attempt":     {with(left, func(l *Loss) { l.Attempt = 3 }), Effect{State: StateFailed, Reason: LostReason}},
		"left, cancel request":         {with(left, func(l *Loss) { l.Asked, l.Why = true, "enough" }), Effect{State: StateCancelled, Reason: "enough"}},
	} {
		if got := c.loss.Effect(); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestLossDelay(t *testing.T) {
	for losses, want := range map[int16]time.Duration{
		1: 250 * time.Millisecond, 2: 5 * time.Second, 3: 25 * time.Second, 4: 125 * time.Second, 7: time.Hour, 32767: time.Hour,
	} {
		if got := LossDelay(losses); got != want {
			t.Errorf("after %d losses: %v, want %v", losses, got, want)
		}
	}
}

func TestExpired(t *testing.T) {
	const beat = 7
	node := func(id int64, seen time.Duration) NodeInfo {
		return NodeInfo{ID: id, SeenAt: noon.Add(seen), Lease: time.Minute, Beats: beat}
	}
	again := node(1, 0)
	again.Beats++
	for name, c := range map[string]struct {
		living []NodeInfo
		want   []int64
	}{
		"no other node":            {[]NodeInfo{node(1, 0)}, nil},
		"all alive":                {[]NodeInfo{node(1, 0), node(2, -59*time.Second)}, nil},
		"the lease ends now":       {[]NodeInfo{node(1, 0), node(2, -time.Minute)}, []int64{2}},
		"some expired":             {[]NodeInfo{node(3, -time.Hour), node(1, 0), node(2, 0), node(4, -time.Hour)}, []int64{3, 4}},
		"the asker is not alive":   {[]NodeInfo{node(2, -time.Hour)}, nil},
		"the asker was just heard": {[]NodeInfo{node(1, -30*time.Second), node(2, -time.Hour)}, []int64{2}},
		"the asker is late":        {[]NodeInfo{node(1, -30*time.Second-1), node(2, -time.Hour)}, nil},
		"the clock went back":      {[]NodeInfo{node(1, 30*time.Second), node(2, -time.Hour)}, []int64{2}},
		"the clock went far back":  {[]NodeInfo{node(1, 30*time.Second+1), node(2, -time.Hour)}, nil},
		"the asker expired":        {[]NodeInfo{node(1, -time.Hour), node(2, -time.Hour)}, nil},
		"the asker sent another":   {[]NodeInfo{again, node(2, -time.Hour)}, nil},
	} {
		var got []int64
		for _, n := range Expired(c.living, RescueRequest{Node: 1, Beat: beat}, noon) {
			got = append(got, n.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
