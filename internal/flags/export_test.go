package flags

// Names returns the names of the flags in the order of their definitions.
func Names() []string {
	var names []string
	for _, d := range definitions {
		names = append(names, d.name)
	}
	return names
}
