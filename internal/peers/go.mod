// A module of its own, so that the suite needs none of what is compared here.
module zmqbench/internal/peers

go 1.26.0

require (
	github.com/armon/go-radix v1.0.0
	github.com/gammazero/radixtree v0.4.0
	github.com/hashicorp/go-immutable-radix/v2 v2.1.0
	github.com/plar/go-adaptive-radix-tree/v2 v2.0.3
	github.com/tchap/go-patricia/v2 v2.3.3
	github.com/tidwall/btree v1.8.2
	zmqbench v0.0.0
)

require github.com/hashicorp/golang-lru/v2 v2.0.0 // indirect

replace zmqbench => ../..
