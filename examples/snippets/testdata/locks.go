package page

import "context"

func collect(ctx context.Context) error
