package flags

import "fmt"

// parseProgress takes any name: whoever opens the file finds out whether it can
// be written. An empty one is a script's unset variable.
func parseProgress(f *Flags, text string) error {
	if text == "" {
		return fmt.Errorf("%q is no file [name one, or /dev/tty]", text)
	}
	f.Progress = text
	return nil
}
