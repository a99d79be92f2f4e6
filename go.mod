module zmqbench

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/pebbe/zmq4 v1.4.0
	go.uber.org/goleak v1.3.0
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da
	golang.org/x/sys v0.48.0
	golang.org/x/tools v0.51.0
)

require github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect

tool (
	golang.org/x/perf/cmd/benchstat
	zmqbench/internal/perf2bench
)
