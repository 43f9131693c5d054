cp "$REPOSITORY/examples/crontab/ops.crontab" .
