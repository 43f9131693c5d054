-- Takes the write lock, and waits for it. Every writing transaction begins with this
-- statement, before it reads. It finds no row, so that it writes nothing.
DELETE FROM hourbell_counter WHERE name = ''
