hourbell enqueue mail --queue mail
