#!/bin/sh
# A first hour: a project of this machine, an agent's work on it in a session, and the way back.
. "$(dirname "$0")/../going-back/walk.sh"
export COLUMNS=100
# It lies on this machine; the name that is printed is shorter.
work=$(mktemp -d /var/tmp/shop-XXXXXX)
clean_up() { rm -r "$work"; }
shown() { sed "s|$work|/srv/shop|g"; }

printf '{"port": 3000}\n' > "$work/config.json"
printf 'apples 3\npears 4\n' > "$work/prices"
printf 'print(sum(int(line.split()[1]) for line in open("prices")))\n' > "$work/total.py"
printf 'python3 total.py | grep -qx 7 && ss -Hltn | grep -q :3000\n' > "$work/test.sh"
printf 'import http.server, json\nport = json.load(open("config.json"))["port"]\nhttp.server.test(port=port, bind="127.0.0.1")\n' > "$work/server.py"

begin new
{
  host "cd $work && ls"
  show new work --net none -e HOME=/none
} | shown

begin verify
{
  show verify --set work -- sh test.sh
  quietly exec work '(python3 server.py > /dev/null 2>&1 &); until ss -Hltn | grep -q 3000; do sleep 0.1; done'
  show checkpoint work -m 'The server is up' --verify
} | shown

quietly exec work "sed -i 's/pears 4/pears 5/' prices && sed -i 's/qx 7/qx 8/' test.sh"
quietly checkpoint work --verify
quietly exec work "sed -i 's/port\": 3000/port\": /' config.json; pkill -f server.py"
gone work server.py
quietly checkpoint work --verify
quietly exec work 'rm prices; python3 server.py'
quietly checkpoint work --verify

begin log
show log work | shown

begin restore
{
  show restore work --last-good --dry-run
  show restore work --last-good --yes
  show exec work -- cat prices config.json
  show exec work -- pgrep -af server.py
} | shown

begin fork
{
  show fork work -n 2 --name try
  show exec try-1 'echo "plums 2" >> prices && sed -i "s/qx 8/qx 10/" test.sh && sh test.sh'
  show exec try-2 'pkill -f server.py; sleep 1; sh test.sh'
  show checkpoint try-1 -m 'Plums' --verify
} | shown

begin apply
{
  show apply try-1@ "$work" --dry-run
  show apply try-1@ "$work"
  host "cat $work/prices"
  show apply --undo
} | shown
