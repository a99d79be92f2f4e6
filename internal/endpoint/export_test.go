package endpoint

var PathLimit = pathLimit
