package progress

// Print writes text as lines are written.
func (l *Log) Print(text string) { l.printf("%s", text) }
