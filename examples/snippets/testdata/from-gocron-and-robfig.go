package page

import "context"

func clean(ctx context.Context) error
