module edgeset.io/nodes/app

go 1.24.0
