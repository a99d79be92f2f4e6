package endpoint

var PathLimit = pathLimit

// ConnectText is ParseConnect without a look at what is there.
func ConnectText(s string) (Endpoint, error) { return parse(s, connect) }
