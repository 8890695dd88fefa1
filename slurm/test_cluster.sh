#!/usr/bin/env bash
# A Slurm cluster of one node on this machine, with two pretend GPUs: to try sweeps on, and for our tests.
#
#   bash slurm/test_cluster.sh start [FOLDER]     needs root and Debian's slurm-wlm and munge
#   bash slurm/test_cluster.sh stop [FOLDER]
#
# All its state lies in FOLDER (default: voirdire-slurm under $TMPDIR or /tmp). Slurm's commands look for it in
# /etc/slurm/slurm.conf, where `start` leaves a link unless a cluster is configured there or FOLDER is given; with a
# FOLDER of your own: export SLURM_CONF=FOLDER/slurm.conf.
set -euo pipefail

action=${1:-}
folder=${2:-${TMPDIR:-/tmp}/voirdire-slurm}
conf=$folder/slurm.conf
link=/etc/slurm/slurm.conf
export SLURM_CONF=$conf

fail() { echo "error: $*" >&2; exit 1; }

free_port() { # A port that nobody listens on, from a range that the system hands out to nobody.
  local port
  while :; do
    port=$((20000 + RANDOM % 10000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo $port; return; }
  done
}

daemon() { # Name, command: runs it until `stop`, remembering its process.
  local name=$1
  shift
  setsid "$@" >"$folder/$name.out" 2>&1 </dev/null &
  echo $! >"$folder/$name.pid"
}

alive() { # The process of a name, if it is still the one that we started.
  local pid
  pid=$(cat "$folder/$1.pid" 2>/dev/null) || return 1
  tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q -- "$folder" && echo "$pid"
}

await() { # Seconds, what is awaited, command: until it succeeds.
  local until=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    if [ $SECONDS -ge $until ]; then
      tail -n 5 "$folder"/*.out "$folder"/*.log >&2 || true
      end_daemons
      fail "$what did not come up; its logs are in $folder"
    fi
    sleep 0.1
  done
}

configure() {
  local gpu
  mkdir -p "$folder/state" "$folder/spool"
  install -d -o munge -g munge -m 755 "$folder/munge"
  dd if=/dev/urandom of="$folder/munge/key" bs=1024 count=1 status=none
  chown munge:munge "$folder/munge/key"
  chmod 600 "$folder/munge/key"
  for gpu in 0 1; do touch "$folder/gpu$gpu"; done # gres.conf wants a file for each; a bare count is refused.
  cat >"$folder/gres.conf" <<END
NodeName=localhost Name=gpu File=$folder/gpu[0-1]
END
  # cred_expire is also how long a requeued job has to wait; 5 is the least. CPUs and memory are more than there are, so that
  # GPUs are what tasks wait for. Nothing here needs systemd or cgroups.
  cat >"$conf" <<END
ClusterName=voirdire
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$1
SlurmdPort=$2
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
EnforcePartLimits=ALL
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
KillWait=3
MinJobAge=300
SlurmdParameters=config_overrides
NodeName=localhost NodeAddr=127.0.0.1 CPUs=16 RealMemory=1000000 Gres=gpu:2 State=UNKNOWN
PartitionName=main Nodes=localhost Default=YES MaxTime=INFINITE State=UP
END
}

start() {
  [ "$(id -u)" = 0 ] || fail "a test cluster needs root: its daemons start tasks for others"
  for command in munged slurmctld slurmd; do
    command -v $command >/dev/null || fail "there is no $command: apt-get install slurm-wlm munge"
  done
  [ -z "$(alive slurmctld)" ] || fail "there is a cluster in $folder already; stop it first"
  rm -rf "$folder"
  mkdir -p "$folder"
  chmod 755 "$folder"
  configure "$(free_port)" "$(free_port)"
  daemon munged setpriv --reuid=munge --regid=munge --clear-groups \
    munged --foreground --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
    --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed"
  await 20 munged munge --socket="$folder/munge/socket" --no-input
  daemon slurmctld slurmctld -D -f "$conf"
  daemon slurmd slurmd -D -N localhost -f "$conf"
  await 30 "the node" sh -c "sinfo --noheader --format=%t | grep -qx idle"
  if [ -z "${folder_given:-}" ] && [ ! -e $link ]; then
    mkdir -p "$(dirname $link)"
    ln -sf "$conf" $link
  fi
  echo "a cluster of one node and two pretend GPUs is up; its state is in $folder"
}

end_daemons() {
  local name pid
  for name in slurmd slurmctld munged; do
    pid=$(alive $name) || continue
    kill "$pid"
    for _ in $(seq 50); do
      [ -d "/proc/$pid" ] || break
      sleep 0.1
    done
    [ ! -d "/proc/$pid" ] || kill -KILL "$pid"
  done
}

stop() {
  [ -d "$folder" ] || fail "there is no cluster in $folder"
  if [ -n "$(alive slurmctld)" ]; then
    scancel --user=root 2>/dev/null || true
    for _ in $(seq 100); do
      [ -z "$(squeue --noheader 2>/dev/null)" ] && break
      sleep 0.1
    done
  fi
  end_daemons
  if [ "$(readlink $link 2>/dev/null)" = "$conf" ]; then rm $link; fi
  rm -rf "$folder"
  echo "the cluster is gone"
}

folder_given=${2:-}
case $action in
  start | stop) $action ;;
  *) fail "bash slurm/test_cluster.sh start|stop [FOLDER]" ;;
esac
