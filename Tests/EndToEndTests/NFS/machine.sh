#!/bin/bash
# The first process of a User Mode Linux kernel whose root is this machine's file system, read-only. It serves a folder
# over NFS version 4, mounts it twice, and runs the program in /proc/cmdline: `ferry.run=FILE ferry.arguments=A,B,…`. The
# two mounts share no cache, like those of two machines. The last line of the output is `exit CODE`.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
for folder in /run /mnt /var/lib/nfs; do mount -t tmpfs tmpfs "$folder"; done
mkdir -p /mnt/root/lib/modules /mnt/export /mnt/a /mnt/b /mnt/work /run/rpc_pipefs \
  /var/lib/nfs/{v4recovery,rpc_pipefs,nfsdcld}
touch /var/lib/nfs/{etab,rmtab,xtab}
ip link set lo up

# modprobe expects the modules in lib/modules.
mount --bind /usr/lib/uml/modules /mnt/root/lib/modules
modprobe -d /mnt/root nfsd
modprobe -d /mnt/root nfsv4
modprobe -d /mnt/root overlay
modprobe -d /mnt/root veth
# ferry-receiver has its socket in /tmp, and the programs may be there.
mkdir /mnt/upper /mnt/scratch
mount -t overlay -o lowerdir=/tmp,upperdir=/mnt/upper,workdir=/mnt/scratch overlay /tmp
mount -t nfsd nfsd /proc/fs/nfsd
mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs
mount -t tmpfs tmpfs /mnt/export
exportfs -i -o rw,no_root_squash,insecure,fsid=0,no_subtree_check,sync '*:/mnt/export'
rpc.mountd --no-nfs-version 3
nfsdcld
rpc.nfsd --no-udp --no-nfs-version 3 4
mkdir /run/netns
mount -t tmpfs tmpfs /run/netns
number=0
for machine in a b; do
  # A mount keeps the network namespace of mount(8), which determines the client, and its name is the host name. The server
  # recalls a delegation only for another client.
  number=$((number + 1))
  ip netns add "$machine"
  ip link add "to-$machine" type veth peer name eth0 netns "$machine"
  ip addr add "10.79.$number.1/24" dev "to-$machine"
  ip link set "to-$machine" up
  ip -n "$machine" addr add "10.79.$number.2/24" dev eth0
  ip -n "$machine" link set eth0 up
  unshare --uts nsenter "--net=/run/netns/$machine" sh -c \
    'hostname "$1" && mount -t nfs -o vers=4.2,proto=tcp "10.79.$2.1:/" "/mnt/$1"' sh "$machine" "$number"
done

read -ra words </proc/cmdline
for word in "${words[@]}"; do
  case "$word" in
    ferry.run=*) program=${word#*=} ;;
    ferry.arguments=*) IFS=, read -ra arguments <<<"${word#*=}" ;;
  esac
done
cd /mnt/work && HOME=/mnt/work TMPDIR=/mnt/work python3 -B "$program" "${arguments[@]}"
echo "exit $?"
# Without this, the kernel would panic when its first process ends.
echo o >/proc/sysrq-trigger
sleep 60
