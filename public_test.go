package hourbell

import (
	"testing"

	"github.com/hourbell/hourbell/internal/plan"
)

// TestPublicConstantsEqualStoredConstants checks that the constants of this package
// have the same values as the constants that nodes use.
func TestPublicConstantsEqualStoredConstants(t *testing.T) {
	for public, internal := range map[string]string{
		string(OverlapSkip): string(plan.OverlapSkip), string(OverlapAllow): string(plan.OverlapAllow),
		string(OverlapQueue): string(plan.OverlapQueue), string(OverlapReplace): string(plan.OverlapReplace),
		string(MisfireOnce): string(plan.MisfireOnce), string(MisfireAll): string(plan.MisfireAll),
	} {
		if public != internal {
			t.Errorf("the public constant is %q, the internal constant is %q", public, internal)
		}
	}
	if MisfireSkip != Misfire(plan.MisfireSkip) {
		t.Error("MisfireSkip differs from the internal constant")
	}
}
