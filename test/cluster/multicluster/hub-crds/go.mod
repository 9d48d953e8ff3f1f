module edgeset.io/multicluster/hub-crds

go 1.26.0

require (
	github.com/rancher/fleet v0.15.0
	open-cluster-management.io/api v1.2.0
)
