#!/usr/bin/env bash
# The first process of a node: init.sh DISK. It runs in its own namespaces for mounts, network, processes, IPC and the
# host name, so every path in here is that of a real machine. Killing it ends containerd, kubelet and all containers at
# once: a power cut. DISK survives that.
set -euo pipefail
disk=$1 conf=$1/conf
# shellcheck source=/dev/null
. "$conf/environment" # NAME ADDRESS GATEWAY API_SERVER KUBELET LABELS
hostname "$NAME"

until ip link show eth0 >/dev/null 2>&1; do sleep 0.02; done
ip link set lo up
ip address add "$ADDRESS/24" dev eth0
ip link set eth0 up
ip route add default via "$GATEWAY"

# /sys must show this network; the control groups stay.
mkdir -p "$disk/cgroup"
mount --rbind /sys/fs/cgroup "$disk/cgroup"
mount -t sysfs sysfs /sys
mount --rbind "$disk/cgroup" /sys/fs/cgroup
umount -l "$disk/cgroup"

mkdir -p "$disk"/var/{lib/{kubelet,containerd,cni},log/{pods,containers},tmp} "$disk"/{etc,etc.work,opt}
ln -sfn /run "$disk/var/run"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$disk/etc,workdir=$disk/etc.work" /etc
mount --bind "$disk/var" /var
mount --bind "$disk/opt" /opt
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/lock /etc/cni/net.d /etc/containerd/certs.d/registry.test
rm -f /etc/cni/net.d/*

# The kubelet sees a reboot by the boot ID.
cat /proc/sys/kernel/random/uuid >/run/boot_id
mount --bind /run/boot_id /proc/sys/kernel/random/boot_id
# The kubelet sets these for the whole machine, unless they read as it wants them.
set_apart() {
  mkdir -p /run/sysctl
  echo "$2" >"/run/sysctl/$1"
  mount --bind "/run/sysctl/$1" "/proc/sys/${1//.//}"
}
set_apart vm.overcommit_memory 1
set_apart vm.panic_on_oom 0
set_apart kernel.panic 10
set_apart kernel.panic_on_oops 1
set_apart kernel.keys.root_maxkeys 1000000
set_apart kernel.keys.root_maxbytes 25000000
sysctl -qw net.ipv4.ip_forward=1

[ -s "$disk/machine-id" ] || tr -d - </proc/sys/kernel/random/uuid >"$disk/machine-id"
cp "$disk/machine-id" /etc/machine-id
echo "$NAME" >/etc/hostname
printf '127.0.0.1 localhost\n%s %s\n' "$ADDRESS" "$NAME" >/etc/hosts
echo 'nameserver 127.0.0.53' >/etc/resolv.conf
cp "$conf/cni.conflist" /etc/cni/net.d/10-pods.conflist
cp "$conf/hosts.toml" /etc/containerd/certs.d/registry.test/hosts.toml
# Volumes with mount propagation need it.
mount --make-rshared /

# In place of kube-proxy: the address of the API service leads to the API server, from pods and from the node.
for chain in PREROUTING OUTPUT; do
  iptables -w -t nat -A "$chain" -d 10.96.0.1/32 -p tcp --dport 443 -j DNAT --to-destination "$API_SERVER"
done

# supervise NAME COMMAND...: starts it again after its end, as an init system does, unless /run/NAME.off is there.
supervise() {
  local name=$1
  shift
  while :; do
    if [ ! -e "/run/$name.off" ]; then
      "$@" >>"$disk/$name.log" 2>&1 &
      echo $! >"/run/$name.pid"
      wait $! || true
    fi
    sleep 0.2
  done
}

supervise containerd containerd --config "$conf/containerd.toml" &
until [ -S /run/containerd/containerd.sock ]; do sleep 0.05; done
supervise kubelet "$KUBELET" --config="$conf/kubelet.yaml" --kubeconfig="$conf/kubeconfig" \
  --cert-dir=/var/lib/kubelet/pki --hostname-override="$NAME" --node-ip="$ADDRESS" --node-labels="$LABELS" &
# Reaps the orphans of the containers.
while :; do
  wait -n || true
  sleep 0.2
done
