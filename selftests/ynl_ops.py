# SPDX-License-Identifier: GPL-2.0
"""Every netlink operation with the kernel's ynl cli, as TAP (ynl.sh starts this).

The cli's main() runs in this process, once for each command line: a start of Python
takes a second in a guest. Its YAML files are parsed once, for the same reason.
"""
import contextlib
import io
import json
import subprocess
import sys
import time
import types
from pathlib import Path

import yaml

source, spec = Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, str(source / 'tools/net/ynl'))
import cli  # noqa: E402
from pytap import finish, point, same

parsed = {}
called = set()


def load(stream):
    text = stream.read()
    if text not in parsed:
        parsed[text] = yaml.load(text, Loader=getattr(yaml, 'CSafeLoader', yaml.SafeLoader))
    return parsed[text]


yaml.safe_load = load


def ynl(*args, schema=False):
    """Run the cli; what it printed, and its exit status."""
    text, status = io.StringIO(), 0
    how = ['--schema', str(source / 'Documentation/netlink/genetlink.yaml')] if schema else ['--no-schema']
    sys.argv = ['cli.py', '--spec', spec, *how, *args]
    try:
        with contextlib.redirect_stdout(text):
            cli.main()
    except SystemExit as e:
        status = e.code or 0
    return text.getvalue(), status


def do(op, attrs):
    called.add(op)
    text, status = ynl('--output-json', '--do', op, '--json', json.dumps(attrs))
    return 'status %d: %s' % (status, text) if status else json.loads(text)


def dump(op, attrs=None):
    called.add(op)
    text, status = ynl('--output-json', '--dump', op, *(['--json', json.dumps(attrs)] if attrs else []))
    return 'status %d: %s' % (status, text) if status else json.loads(text)


def pwctl(*args):
    return json.loads(subprocess.run(['pwctl', '-j', *args], check=True, capture_output=True).stdout or 'null')


def names(text):
    return sorted(line.split()[0] for line in text.splitlines())


operations = names(ynl('--list-ops', schema=True)[0])
point(len(operations) == 16, "the kernel's schema is met, and all operations are listed", operations)
messages = names(ynl('--list-msgs')[0])
expected = sorted(set(messages) - set(operations))

listener = cli.YnlFamily(spec, '')
listener.ntf_subscribe('events')

same('san-new', do('san-new', {'san': {'id': 1, 'ports': 16, 'engine': 'none'}}), None)
do('san-new', {'san': {'id': 2, 'engine': 'none'}})
got = do('san-get', {'san': {'id': 1}})['san']
same('san-get', [got.get(k) for k in ('id', 'ports', 'engine', 'pinned')], [1, 16, 'none', True])
do('san-new', {'san': {'id': 4, 'topology': 'ring:5', 'multicast': {'connection': [{'from': 0, 'to': '0a'}]}}})
got = do('san-get', {'san': {'id': 4, 'with-stages': True, 'with-multicast': True}})['san']
same('a connection', got['multicast'], {'connections': 1, 'connection': [{'from': 0, 'to': '0a'}]})
same('a topology and its stages', [got['ports'], got['topology'], got['stages'], [s['units'] for s in got['stage']][::got['stages']]],
     [5, 'ring:5', len(got['stage']) - 1, [5, 5]])
do('san-del', {'san': {'id': 4}})
same('san-get, all', sorted(s['san']['id'] for s in dump('san-get')), [0, 1, 2])
same('san-set', do('san-set', {'san': {'id': 2, 'rate': 10 ** 9}}), None)
same('it is so', pwctl('san', 'show', '2')[0]['rate'], 10 ** 9)
text, status = ynl('--do', 'san-set', '--json', '{"san": {"id": 77, "rate": 1}}')
point(status == 1 and "'msg'" in text, 'a refusal with its sentence', text)

subprocess.run(['pwctl', 'station', 'add', 'a', 'san', '1', 'port', '0', 'up'], check=True)
subprocess.run(['pwctl', 'station', 'add', 'b', 'san', '2', 'port', '0', 'up'], check=True)
same('router-new', do('router-new', {'router': {'name': 'ab', 'half': [{'san': 1, 'port': 15},
                                                                       {'san': 2, 'port': 15}]}}), None)
got = do('router-get', {'router': {'name': 'ab'}})['router']
same('router-get', [got['name'], [h['addr'] for h in got['half']]], ['ab', [272, 528]])
point(isinstance(got['half'][0]['stats']['rrp-tx'], int), 'counters in it')
same('router-get, all', [r['router']['name'] for r in dump('router-get')], ['ab'])
for _ in range(300):
    if subprocess.run(['pwctl', 'resolve', '00:02:01', 'san', '1'], capture_output=True, check=False).returncode == 0:
        break
    time.sleep(0.2)
got = do('resolve', {'node': {'san': 1, 'addr': 513}})
same('resolve', [got['node'].get('name'), len(got.get('route', [])) > 0], ['b', True])
got = [r['route'][0] for r in dump('route-get', {'route': {'san': 1}})]
same('route-get', [[r['to'], r['via']] for r in got if r.get('best')], [[512, [272, 528]]])
got = [n['node'] for n in dump('node-get', {'node': {'san': 1}})]
same('node-get', sorted(n['addr'] for n in got if not n.get('local')), [513, 528])
route = {'route': {'san': 1, 'first': 2000, 'last': 2001, 'hr': 272}}
same('route-new', do('route-new', route), None)
same('it is so', [r['first'] for r in pwctl('route', 'show', 'san', '1') if r['static']], ['00:07:d0'])
same('route-del', do('route-del', route), None)
same('it is gone', [r for r in pwctl('route', 'show', 'san', '1') if r['static']], [])

index = int(Path('/sys/class/net/a/ifindex').read_text())
same('esp-set', do('esp-set', {'esp': {'ifindex': index, 'capacity': 77}}), None)
got = do('esp-get', {'esp': {'ifindex': index}})['esp']
same('esp-get', [got[k] for k in ('ifindex', 'capacity', 'used')], [index, 77, 0])
point(77 in [e['esp']['capacity'] for e in dump('esp-get')], 'esp-get, all')
pwctl('esp', 'count', '00:02:01', 'tag', '4711', 'thresh', '5', 'dev', 'a')
point(4711 in [e['esp']['tag'] for e in dump('esp-binding-get')], 'esp-binding-get')
same('poets-get', dump('poets-get', {'poets': {}}), [])

same('router-del', do('router-del', {'router': {'name': 'ab'}}), None)
for s in ('a', 'b'):
    subprocess.run(['pwctl', 'station', 'del', s], check=True)
same('san-del', do('san-del', {'san': {'id': 1}}), None)
do('san-del', {'san': {'id': 2}})
same('nothing is left', [s['san']['id'] for s in dump('san-get')], [0])
same('every operation was called', sorted(called), operations)

listener.check_ntf()
seen = listener.async_msg_queue
same('every notification arrived', sorted({m['name'] for m in seen}), expected)
same('with the object as it is', [[m['msg']['san']['id'], m['msg']['san']['rate']] for m in seen
                                  if m['name'] == 'san-set-ntf'], [[2, 10 ** 9]])
point([m for m in seen if m['name'] == 'route-ntf' and m['msg']['route'][0].get('best') and
       m['msg']['route'][0]['first'] == 513], 'the route that is used from now on')
# The cli takes --subscribe beside --do, but fails when a notification comes before the answer.
# What it does while it sleeps is ours.
cli.time = types.SimpleNamespace(sleep=lambda seconds: do('san-new', {'san': {'id': 3}}))
text, status = ynl('--output-json', '--subscribe', 'events', '--sleep', '1')
same('--subscribe', [m['name'] for m in json.loads(text.splitlines()[-1])], ['san-new-ntf'])
do('san-del', {'san': {'id': 3}})
finish()
