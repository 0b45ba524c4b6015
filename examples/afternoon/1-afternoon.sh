#!/bin/sh
# A broken afternoon: twenty checkpoints that nobody wrote a word to, one of which is the good one.
. "$(dirname "$0")/../going-back/walk.sh"
export COLUMNS=80

start shop --net none > /dev/null
# Runs a line as somebody does who works there, and captures what came of it.
did() {
  quietly exec shop "$1"
  quietly checkpoint shop
}

did 'mkdir -p /srv/shop/data && cd /srv/shop && git init -q && echo "{\"port\": 3000}" > config.json && echo rows > data/shop.db && echo "print(1)" > total.py && git add . && git -c user.name=a -c user.email=a@b.c commit -qm "First version"'
quietly exec shop 'printf "import http.server, json\nhttp.server.test(port=json.load(open(\"config.json\"))[\"port\"], bind=\"127.0.0.1\")\n" > server.py; printf "grep -q rows data/shop.db && python3 total.py | grep -q 1\n" > test.sh'
did '(python3 server.py > /dev/null 2>&1 &); until ss -Hltn | grep -q 3000; do sleep 0.1; done'
did 'sh test.sh'
did 'echo "def cart(): return 2" > cart.py; echo "import cart; print(cart.cart())" > total.py'
did 'sh test.sh'
did 'echo "def cart(): return 1  # one" > cart.py'
did 'git add . && git -c user.name=a -c user.email=a@b.c commit -qm "A cart" && sh test.sh'
did 'sed -i s/3000/3001/ config.json; pkill -f server.py; (python3 server.py > /dev/null 2>&1 &); until ss -Hltn | grep -q 3001; do sleep 0.1; done'
did 'echo "requests==2.31" > requirements.txt; pip install --no-index requests'
did 'git checkout -q -b experiment'
did 'mkdir -p node_modules/left-pad .cache && touch node_modules/left-pad/index.js .cache/x package-lock.json'
did 'rm data/shop.db'
did 'mv cart.py basket.py'
did 'sh test.sh'
did 'echo "{\"port\": }" > config.json'
quietly exec shop 'pkill -f server.py'
gone shop server.py
quietly checkpoint shop
did 'python3 server.py'
did 'export DEBUG=1; cd /srv/shop/data'
did 'git -C /srv/shop log --oneline; ls'
did 'cd /srv/shop; chmod 600 config.json; false'

begin afternoon
show log shop
