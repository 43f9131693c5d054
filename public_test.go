package hourbell

import (
	"reflect"
	"testing"

	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// TestPublicTypesEqualStoredTypes checks that the types and constants of this
// package have the same JSON and the same values as the types and constants that
// nodes use.
func TestPublicTypesEqualStoredTypes(t *testing.T) {
	public, internal := reflect.TypeFor[HookEvent](), reflect.TypeFor[store.HookEvent]()
	for i := range max(public.NumField(), internal.NumField()) {
		if a, b := public.Field(i), internal.Field(i); a.Name != b.Name || a.Type != b.Type || a.Tag != b.Tag {
			t.Errorf("HookEvent has the field %+v, store.HookEvent the field %+v", a, b)
		}
	}
	for public, internal := range map[string]string{
		HookHeader: store.HookHeader, HookFailure: store.HookFailure, HookMissed: store.HookMissed, HookRecovery: store.HookRecovery,
		HookStart: store.HookStart, HookSuccess: store.HookSuccess, HookRetry: store.HookRetry, HookNotStarted: store.HookNotStarted,
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
