UPDATE hourbell_lock_state SET token = token + :margin
