# SPDX-License-Identifier: GPL-2.0
"""The Python package beside pwctl, as TAP (python.sh starts this).

Each comparison names the verb of pwctl that it belongs to. At the end every verb that
`pwctl help` lists has been compared here, or is in NOT_HERE with the reason.
"""
import asyncio
import json
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import packetway
from packetway import Capture, Events, Lab, Netlink, PacketwayError, Ring, Socket, address, programs, stations
from pytap import finish, point, same

NOT_HERE = {
    'esp listen': 'a tool for a terminal; Socket.receive() has the packets, pwctl_router.sh tests the verb',
    'doctor': 'looks at the machine for a person; pwctl_help.sh tests it',
    'virtual': 'starts a command with a library; virtual.sh tests it',
    'help': 'text for a person; pwctl_help.sh runs its examples',
    'monitor': 'older name of events',
    'experiment contention': 'a model: tools/testing/python/check.py compares it without a kernel',
    'experiment delay': 'a model: tools/testing/python/check.py compares it without a kernel',
    'experiment messages': 'a file: tools/testing/python/check.py compares it without a kernel',
    'experiment queues': 'a model: tools/testing/python/check.py compares it without a kernel',
    'experiment sweep': 'a model: tools/testing/python/check.py compares it without a kernel',
    'experiment throughput': 'a model: tools/testing/python/check.py compares it without a kernel',
}
compared = set()
tmp = Path(sys.argv[1])
began = time.monotonic()


def part(name):
    """A line for the log: how much time has passed."""
    print('# %s, after %d s' % (name, time.monotonic() - began), flush=True)


def compare(verb, got, want, what=''):
    """A point for a verb: what Python gave, and what pwctl did."""
    compared.add(verb)
    same(verb + (': ' + what if what else ''), got, want)


# a pwctl that hangs is a failure, not a wait
HANG = 200


def run(*words):
    return subprocess.run(['pwctl', *words], check=False, capture_output=True, text=True, timeout=HANG)


def pwctl(*words):
    return json.loads(subprocess.run(['pwctl', '-j', *words], check=True, capture_output=True, timeout=HANG).stdout or 'null')


def pwctl_lines(*words):
    """What pwctl prints as it happens: one object for each line."""
    done = subprocess.run(['pwctl', '-j', *words], check=True, capture_output=True, text=True, timeout=HANG)
    return [json.loads(line) for line in done.stdout.splitlines()]


def refused(call, *args, **words):
    try:
        call(*args, **words)
    except PacketwayError as e:
        return e.errno, e.extack
    return None


def sentence(call, *args, **words):
    """The kernel's, from the exception."""
    return (refused(call, *args, **words) or (0, ''))[1]


def says(*words):
    """The kernel's, as pwctl prints it."""
    return run(*words).stderr.strip().replace('Error: ', '').rstrip('.')


# stations
part('stations')
subprocess.run(['ip', 'link', 'set', 'pw0', 'up'], check=True)
made = stations.add('pw1', port=1, mtu=2000, order='big', up=True)
same('the station that was made', (made.ifname, made.san, made.port, made.mtu, made.order, made.up), ('pw1', 0, 1, 2000, 'big', True))
run('station', 'add', 'pw2', 'port', '2', 'mtu', '2000', 'order', 'big', 'up')
shown = pwctl('station', 'show')
compare('station show', [{'ifname': s.ifname, 'ifindex': s.ifindex, 'san': s.san, 'port': s.port,
                          'addr': address.text(s.addr), 'mtu': s.mtu, 'order': s.order,
                          'state': 'up' if s.up else 'down'} for s in stations.stations()], shown)
own = [{k: v for k, v in s.items() if k not in ('ifname', 'ifindex', 'port', 'addr')} for s in shown if s['ifname'] in ('pw1', 'pw2')]
compare('station add', own[0], own[1])
compare('station add', sentence(stations.add, 'pw9', port=0), says('station', 'add', 'pw9', 'port', '0'), 'a port that is taken')
same('other devices are left alone', (refused(stations.delete, 'lo') or (0, ''))[0], 19)
stations.delete('pw2')
compare('station del', [s['ifname'] for s in pwctl('station', 'show')], ['pw0', 'pw1'])

# netlink: each library makes its own objects, pwctl shows those of both
part('netlink')
libraries = {'pyroute2': 11, 'pyynl': 21}
events = {name: Events(name) for name in libraries}
listener = subprocess.Popen(['pwctl', '-j', 'events'], stdout=subprocess.PIPE, text=True)


def groups(pid):
    """Families of netlink in which a process has joined a group."""
    rows = [line.split() for line in Path('/proc/net/netlink').read_text().splitlines()[1:]]
    return {int(r[1]) for r in rows if int(r[2]) == pid and int(r[3], 16)}


for _ in range(600):
    if groups(listener.pid) >= {0, 16}:
        break
    time.sleep(0.1)
nls = {name: Netlink(name) for name in libraries}
same('libraries that are used', [nl.backend.name for nl in nls.values()], list(libraries))


def half(san, port):
    """Address of a port."""
    return address.text(san << 8 | port + 1)


for name, a in libraries.items():
    nls[name].san_add(a, ports=16, engine='none', ring_engine='rtl')
    nls[name].san_add(a + 1, engine='none')
    nls[name].san_set(a, ring_engine='fast')
theirs = {s['id']: s for s in pwctl('san', 'show')}
for name, a in libraries.items():
    mine = nls[name].san(a)
    keys = ('id', 'ports', 'bias', 'engine', 'ring-engine', 'stations')
    compare('san show', {k: mine[k] for k in keys}, {k: theirs[a][k] for k in keys}, name)
    compare('san show', sorted(s['id'] for s in nls[name].sans()), sorted(theirs), name + ', all')
    compare('san add', (theirs[a]['ports'], theirs[a]['engine']), (16, 'none'), name)
    compare('san set', theirs[a]['ring-engine'], 'fast', name)
    stages = [{k: v for k, v in s.items() if k not in ('san', 'stage', 'time')} for s in pwctl('san', 'stages', '0')]
    compare('san stages', nls[name].san_stages(0), stages, name)
    nls[name].san_add(a + 2, topology='ring:5', multicast=[[0, 1, 3], [2, 4]])
    compare('san show', nls[name].san_multicast(a + 2),
            [[c['from'], *c['to']] for c in pwctl('san', 'show', str(a + 2))[0]['multicast']], name + ', multicast')
    same('connections that were made, ' + name, nls[name].san_multicast(a + 2), [[0, 1, 3], [2, 4]])
    nls[name].san_del(a + 2)
    nls[name].router_add('r%d' % a, (a, 15), (a + 1, None))
    nls[name].route_add('00:07:01', '00:07:10', san=a, via=half(a, 15), quality=9)
words = {'san add': says('san', 'add', '3', 'ports', '5'), 'san del': says('san', 'del', '77'),
         'route add': says('route', 'add', '00:07:01-00:07:10', 'san', '11', 'via', half(11, 15))}
for name, nl in nls.items():
    compare('san add', refused(nl.san_add, 3, ports=5), (22, words['san add']), name + ', refused')
    compare('san del', sentence(nl.san_del, 77), words['san del'], name + ', refused')
    compare('route add', sentence(nl.route_add, '00:07:01', '00:07:10', san=11, via=half(11, 15)), words['route add'],
            name + ', a route that is there')
theirs = pwctl('router', 'show')
routes = {a: pwctl('route', 'show', 'san', str(a)) for a in libraries.values()}
names = pwctl('name', 'show')
for name, nl in nls.items():
    a = libraries[name]
    compare('router show', [(r['name'], [(h['san'], h['port'], address.text(h['addr'])) for h in r['half']]) for r in nl.routers()],
            [(r['name'], [(h['san'], h['port'], h['addr']) for h in r['halves']]) for r in theirs], name)
    compare('router add', [[(h['san'], h['port']) for h in r['halves']] for r in theirs if r['name'] == 'r%d' % a],
            [[(a, 15), (a + 1, 0)]], name)
    compare('name show', sorted((n['san'], n['addr'], n.get('name')) for n in nl.nodes()),
            sorted((n['san'], address.parse(n['addr']), n.get('name')) for n in names), name)
    compare('route show', sorted(r['first'] for r in nl.routes(a)), sorted(address.parse(r['first']) for r in routes[a]), name)
    compare('route add', [(address.text(r['first']), address.text(r['last']), address.text(r['hr']), r['quality'], bool(r.get('static')))
                          for r in nl.routes(a) if r['first'] == address.parse('00:07:01')],
            [(r['first'], r['last'], r['half-router'], r['quality'], r['static']) for r in routes[a] if r['first'] == '00:07:01'], name)
    nl.route_del('00:07:01', '00:07:10', san=a, via=half(a, 15))
    compare('route del', [r for r in pwctl('route', 'show', 'san', str(a)) if r['first'] == '00:07:01'], [], name)
    row = '0083010203000000'
    nl.source_route_add('00:08:01', '00:08:02', ifindex=socket.if_nametoindex('pw0'), l2rhs=bytes.fromhex(row), mtu=1400)
    compare('route add', [(r['first'], r['last'], r['l2rh'], r['mtu']) for r in pwctl('route', 'show', 'dev', 'pw0')],
            [('00:08:01', '00:08:02', row, 1400)], name + ', a source route')
    compare('route show', [bytes(r['l2rh']).hex() for r in nl.routes() if 'ifindex' in r], [row], name + ', a source route')
    nl.source_route_del('00:08:01', '00:08:02', ifindex=socket.if_nametoindex('pw0'))
    compare('route del', pwctl('route', 'show', 'dev', 'pw0'), [], name + ', a source route')
for node in (half(12, 0), 'r11'):
    # half-routers exchange their tables by messages
    for _ in range(600):
        if refused(nls['pyroute2'].resolve, node, san=11) is None:
            break
        time.sleep(0.1)
    theirs = pwctl('resolve', node, 'san', '11')
    for name, nl in nls.items():
        mine = nl.resolve(node, san=11)
        compare('resolve', [(address.text(mine['node']['addr']), mine['node']['name'])]
                + [(address.text(r['hr']), r['quality'], r['mtu']) for r in mine['route']],
                [(theirs[0]['addr'], theirs[0]['name'])] + [(r['half-router'], r['quality'], r['mtu']) for r in theirs[1:]],
                '%s by %s' % (node, name))
words = says('resolve', half(12, 8), 'san', '11')
for name, nl in nls.items():
    compare('resolve', sentence(nl.resolve, half(12, 8), san=11), words, name + ', a node that is not there')
    nl.esp_set(ifindex=made.ifindex, capacity=libraries[name], lifetime=3000)
    compare('esp set', [(e['capacity'], e['lifetime']) for e in pwctl('esp', 'show', 'pw1')], [(libraries[name], 3000)], name)
    nl.esp_set(ifindex=made.ifindex, capacity=0, lifetime=0)
with Socket('pw0') as sock:
    sock.esp('00:00:02', 'count', tag=77, thresh=5, timeout=60)
theirs, bindings, poets = pwctl('esp', 'show'), pwctl('esp', 'bindings'), pwctl('poets', 'show')
for name, nl in nls.items():
    compare('esp show', sorted((address.text(e['node']), e['capacity'], e['lifetime']) for e in nl.esp()),
            sorted((e['node'], e['capacity'], e['lifetime']) for e in theirs), name)
    compare('esp bindings', sorted((address.text(e['node']), e['tag'], e['value']) for e in nl.esp_bindings()),
            sorted((e['node'], e['tag'], e['value']) for e in bindings), name)
    point(any(e['tag'] == 77 for e in nl.esp_bindings()), 'and what was counted is among them')
    compare('poets show', nl.poets(), poets, name)
for name, a in libraries.items():
    nls[name].router_del('r%d' % a)
    nls[name].san_del(a)
    nls[name].san_del(a + 1)
compare('router del', pwctl('router', 'show'), [])
compare('san del', [s['id'] for s in pwctl('san', 'show')], [0])

want = [('san', 'new', 11), ('san', 'new', 12), ('san', 'set', 11), ('san', 'new', 21), ('san', 'new', 22), ('san', 'set', 21),
        ('san', 'new', 13), ('san', 'del', 13), ('router', 'new', 'r11'),
        ('san', 'new', 23), ('san', 'del', 23), ('router', 'new', 'r21'), ('router', 'del', 'r11'), ('san', 'del', 11), ('san', 'del', 12),
        ('router', 'del', 'r21'), ('san', 'del', 21), ('san', 'del', 22)]
limit = threading.Timer(120, listener.kill)
limit.start()
theirs = []
for line in listener.stdout:
    e = json.loads(line)
    if e['object'] in ('san', 'router'):
        theirs.append((e['object'], e['event'], e.get('id', e.get('name'))))
    if theirs and theirs[-1] == want[-1]:
        break
limit.cancel()
listener.kill()
listener.wait()
for name in libraries:
    seen = []
    while not seen or seen[-1] != want[-1]:
        more = events[name].wait(60)
        seen += [(e.kind, e.action, e.object.get('id', e.object.get('name'))) for e in more if e.kind in ('san', 'router')]
        if not more:
            break
    same(name + ': events', seen, want)
    compare('events', seen, theirs, name)
    events[name].close()
    nls[name].close()

complaints = []


async def one_event():
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
    async with Events('pyroute2') as events:
        async def change():
            with Netlink('pyroute2') as nl:
                nl.san_add(5)
                nl.san_del(5)
        task = asyncio.ensure_future(change())
        async for event in events:
            await task
            return event.kind, event.action

same('events with asyncio', asyncio.run(asyncio.wait_for(one_event(), 100)), ('san', 'new'))
same('and nothing is left in the loop', complaints, [])

# the ring
part('ring')


def result(r):
    """Members that both have."""
    return {k: v for k, v in {
        'value': r.value, 'addr': None if r.addr is None else address.text(r.addr), 'count': r.count,
        'interfaces': r.interfaces, 'overflow': r.overflow, 'ring-bits': r.ring_bits}.items() if v is not None}


def of_pwctl(r):
    return {k: r[k] for k in ('value', 'addr', 'count', 'interfaces', 'overflow', 'ring-bits') if k in r}


with Ring('pw0') as ring, Ring('pw1') as other:
    ring[0], other[0] = 40, 2
    ring[1], other[1] = -5, 7
    run('aton', 'set', '77', 'reg', '3', 'group', '5', 'dev', 'pw0')
    other[3] = 77
    other.set_group(5)
    banks = pwctl('aton', 'show')
    compare('aton set', (ring[0], other[0], banks[0]['operands'][3], banks[0]['group']),
            (40, 2, banks[1]['operands'][3], banks[1]['group']))
    ring.set_group(0)
    other.set_group(0)
    for op in ('add', 'and', 'or', 'max', 'min', 'count-eq', 'count-lt', 'count-le'):
        compare('aton ' + op, result(ring.run(op)), of_pwctl(pwctl('aton', op, 'dev', 'pw0')[0]))
    same('with a comparand', ring.run('count-eq', comparand=2).count, 1)
    compare('aton min', ring.min(1, signed=True).value, pwctl('aton', 'min', 'reg', '1', 'signed', 'dev', 'pw0')[0]['value'], 'signed')
    same('which is', ring.min(1, signed=True).value, -5)
    compare('aton sort', ring.sort(), pwctl('aton', 'sort', 'dev', 'pw0')[0]['sorted'])
    compare('aton majority', (ring.majority(), ring.majority(3)),
            tuple(pwctl('aton', 'majority', 'reg', r, 'dev', 'pw0')[0]['majority'] for r in ('0', '3')))
    same('a majority', ring.majority(3), 77)
    compare('aton tree', result(ring.tree(['max'])), of_pwctl(pwctl('aton', 'tree', 'ops', 'max', 'dev', 'pw0')[0]))
    same('a tree for another number of interfaces', refused(ring.tree, ['max', 'add']) is not None, True)
    same('no scan yet', ring.latch(1), None)
    ring.run('add', 1, signed=True, prefix=True)
    latches = [r.latch(1, signed=True) for r in (ring, other)]
    compare('aton latch', [{'ifname': name, 'reg': 1, 'runs': k.runs, 'op': k.op, 'from': address.text(k.source), 'place': k.place,
                            'before': k.before, 'with': k.with_, 'overflow': k.overflow}
                           for name, k in zip(('pw0', 'pw1'), latches)], pwctl('aton', 'latch', 'reg', '1', 'signed'))
    same('which are', [(k.place, k.before, k.with_) for k in latches], [(0, 0, -5), (1, -5, 2)])
    banks = pwctl('aton', 'show')
    compare('aton show', [{'ifname': b.ifname, 'addr': address.text(b.addr), 'interfaces': b.interfaces, 'group': b.group,
                           'standing': b.standing, 'status': b.status, 'counter': b.counter, 'v1': b.v1, 'v2': b.v2,
                           'ring-time': b.ring_time, 'operands': [o if o < 1 << 63 else str(o) for o in b.operands]}
                          for b in (ring.bank(), other.bank())], banks)
    rows = [re.match(r'(\w+) .*\[([\d ]+)\] of (\d+): counter (\d+) v1 (\d+) v2 (\d+) in (\d+) bits', line)
            for line in run('top', 'once').stdout.splitlines()]
    compare('top', [(b.ifname, ' '.join(map(str, b.operands[:8])), *map(str, (b.interfaces, b.counter, b.v1, b.v2, b.ring_time)))
                    for b in (ring.bank(), other.bank())], [r.groups() for r in rows if r])
    seen = []
    for r in ring.watch('add', timeout=60):
        seen.append(r.value)
        if r.value == 50:
            break
        other[0] = 10
    same('a standing command: the sum as operands change', seen, [42, 50])
    other[0] = 2
    compare('aton watch', result(next(ring.watch('add', timeout=60))), of_pwctl(pwctl_lines('aton', 'watch', 'add', 'count', '1', 'dev', 'pw0')[0]))
    same('it is gone afterwards', ring.bank().standing, False)
    # the same by the mapped pages
    refusal = refused(ring.standing, 'add')
    ring.map()
    other.map()
    other[0] = 60
    same('the operand page: what was stored there', (other[0], pwctl('aton', 'show', 'dev', 'pw1')[0]['operands'][0]), (60, 60))
    same('is in the next sum', ring.add().value, 100)
    ring.stand('add')
    for _ in range(600):
        newest = ring.standing('add')
        if newest and newest[0].value == 100:
            break
        time.sleep(0.1)
    same('the page of results: the newest', newest and newest[0].value, 100)
    ring.unstand()
    same('without the page it is refused', refusal is not None, True)
    other[0] = 2
    same('the sum without blocking', asyncio.run(asyncio.wait_for(ring.run_async('add'), 100)).value, 42)
    same('a register that is not there', refused(ring.__setitem__, 16, 1) is not None, True)
    # a ring behind a router
    same('other SANs are missing', sentence(ring.run_tree, 'add', sans=2), '1 of 2 SANs are missing: no route')
    alone = ring.run_tree('add', sans=2, partial=True)
    same('a partial result', (alone.value, alone.sans, alone.missing), (42, 1, 1))
    for words in (('station', 'add', 'far', 'san', '31', 'up'), ('router', 'add', 'r31', 'san', '0:14', 'san', '31:14')):
        same(' '.join(words), run(*words).stderr, '')
    with Ring('far') as far:
        far[0], far[1] = 100, -9
        for _ in range(600):
            if not refused(ring.run_tree, 'add', sans=2):
                break
            time.sleep(0.1)
        for op in ('add', 'max', 'min', 'count-le'):
            r, theirs = ring.run_tree(op, sans=2), pwctl('aton', op, 'scope', 'tree', 'dev', 'pw0')[0]
            compare('aton ' + op, {k: v for k, v in {
                'value': r.value, 'addr': None if r.addr is None else address.text(r.addr), 'count': r.count,
                'interfaces': r.interfaces, 'overflow': r.overflow, 'sans': r.sans, 'missing': r.missing}.items()
                if v is not None}, {k: v for k, v in theirs.items() if k not in ('op', 'comparand')}, 'scope tree')
        r = ring.run_tree('min', 1, signed=True, sans=2)
        same('the smallest of all rings, whose it is and where', (r.value, r.addr >> 8, r.san), (-9, 31, 31 << 8))
    for words in (('router', 'del', 'r31'), ('station', 'del', 'far')):
        same(' '.join(words), run(*words).stderr, '')
    # a fault of each, and the command after it
    stations.fault_ring('flip', 1, 100)
    mine = sentence(ring.add)
    run('fault', 'ring', 'flip', '1', '100')
    compare('fault ring', mine, says('aton', 'add', 'dev', 'pw0').replace('pwctl: pw0: ', ''))
    same('the command after that is well', ring.add().value, 42)
    compare('fault ring', refused(stations.fault_ring, 'melt'), (22, ''), 'a fault that is none')
    point(run('fault', 'ring', 'melt').stderr.endswith('Invalid argument\n'), 'and pwctl says the same')

# EEP
part('EEP')
with Socket('pw0') as sock:
    point(sock.echo('00:00:02', timeout=60) > 0, 'echo')
    same('no such node', (refused(sock.echo, '00:00:09', timeout=0.2) or (0, ''))[0] in (110, 113, 101), True)
    echo = pwctl_lines('ping', '00:00:02', 'count', '1', 'timeout', '60000', 'dev', 'pw0')
    compare('ping', (len([sock.echo('00:00:02', timeout=60)]), 1), (echo[-1]['sent'], echo[-1]['received']))
    with Socket('pw1') as peer:
        def arrives():
            got = peer.receive(60)
            while got is not None and got.pt != 9:
                got = peer.receive(60)
            return got and (got.src, got.te, got.data, got.crc_bad)

        sock.send(packetway.Message(peer.address, 9, 3, b'hello', flags=2))
        mine = arrives()
        same('a message', mine, (sock.address, 3, b'hello', False))
        pwctl_lines('send', '00:00:02', 'pt', '9', 'te', '3', 'text', 'hello', 'crc64', 'dev', 'pw0')
        compare('send', mine, arrives())
    # ESP instructions, with tags of their own
    for verb, op, operands in (('count', '', {'tag': 1, 'thresh': 2}), ('compare', 'lt', {'tag': 2, 'val': 9}),
                               ('collect', 'max', {'val': 5, 'val_tag': 3, 'cnt_tag': 4}),
                               ('rchld', '', {'sib_tag': 5, 'fwd_tag': 6, 'fwd_thresh': 3}),
                               ('rcollect', 'add', {'val': 7, 'sib_tag': 7, 'fwd_tag': 8, 'fwd_thresh': 1, 'comp_tag': 9})):
        theirs = {k: v + 100 if k.endswith('tag') else v for k, v in operands.items()}
        args = [w for k, v in theirs.items() for w in (k.replace('_', '-'), str(v))] + (['op', op] if op else [])
        for at in ('any', 'routers'):
            # an instruction that a node discards does not come back
            mine = sock.esp('00:00:02', verb, op, at=at, timeout=5, **operands)
            reply = pwctl('esp', verb, '00:00:02', *args, 'at', at, 'timeout', '5000', 'dev', 'pw0')[0]
            compare('esp ' + verb, {'instruction': mine.instruction, 'outcome': mine.outcome,
                                    **{k.replace('_', '-'): v + 100 if k.endswith('tag') else v for k, v in mine.operands.items()}},
                    reply, 'at ' + at)
    same('count: the third is discarded', [sock.esp('00:00:02', 'count', tag=500, thresh=2, timeout=t).outcome for t in (60, 60, 1)],
         ['forwarded', 'forwarded', 'discarded'])

# a router, and a fabric behind it
part('routes')
with Netlink('pyroute2') as nl:
    nl.san_add(3, engine='fast')
    nl.router_add('tr', (0, 15), (3, 15))
    stations.add('pw3', san=3, port=0, up=True)
    stations.add('pw4', san=3, port=1, up=True)
    for _ in range(600):
        if refused(nl.resolve, '00:03:01', san=0) is None:
            break
        time.sleep(0.1)
with Socket('pw0') as sock:
    sock.echo('00:03:01', timeout=60)
    mine = sock.trace('00:03:01', timeout=60)
theirs = pwctl('trace', '00:03:01', 'timeout', '60000', 'dev', 'pw0')
compare('trace', [address.text(mine.answer), [address.text(h) for h in mine.there], [address.text(h) for h in mine.back]],
        [theirs[-1]['answer'], [h['addr'] for h in theirs[:-1]], theirs[-1]['back']])
same('one router there', [address.text(h) for h in mine.there], [half(0, 15)])
point(mine.virtual_ns > 0 and theirs[-1]['virtual-ns'] > 0, 'trace: virtual time in both', mine, theirs)


def found_soon(sock, name):
    """Half-routers hear of a description by a message."""
    for _ in range(600):
        nodes = sock.find(name, timeout=60)
        if nodes:
            break
        time.sleep(0.1)
    return [(address.text(n.addr), n.name, n.groups) for n in nodes]


with Socket('pw0') as sock, Socket('pw1') as peer:
    peer.describe('printer2', (9,), ((0xe00007, 0xe00009),))
    mine = found_soon(sock, 'printer2')
    theirs = pwctl('find', 'name', 'printer2', 'capability', 'printer', 'group', '0xe00008', 'dev', 'pw0', 'timeout', '60000')
    compare('find', mine, [(n['addr'], n['name'], ((0xe00007, 0xe00009),)) for n in theirs])
    same('find: no such node', sock.find('printer9', timeout=60), [])
    pwctl_lines('describe', 'name', 'printer3', 'group', '0xe00007-0xe00009', 'dev', 'pw1')
    compare('describe', [(a, g) for a, _name, g in mine], [(a, g) for a, _name, g in found_soon(sock, 'printer3')])


def resent(who):
    """Cells that an echo made the fabric send again, with the faults that are set."""
    before = stations.stats('pw3')['aal_resent']
    with Socket('pw3') as sock:
        for _ in range(100):
            refused(sock.echo, '00:03:02', timeout=60)
            if stations.stats('pw3')['aal_resent'] > before:
                return who + ' sees cells sent again'
    return who + ' sees none'


stations.fault_fabric(san=3, drop=200000, seed=7)
mine = resent('it')
run('fault', 'fabric', 'san', '3', 'drop', '200000', 'seed', '7')
compare('fault fabric', mine, resent('it'))
same('which are there', mine, 'it sees cells sent again')
stations.fault_fabric(san=3)
compare('fault fabric', refused(stations.fault_fabric, drop=500001), (22, ''), 'too many')
point(run('fault', 'fabric', 'drop', '500001').stderr.endswith('Invalid argument\n'), 'and pwctl says the same')
compare('fault fabric', (refused(stations.fault_fabric, san=77) or (0, ''))[0], 2, 'a SAN that is none')

# counters: nothing happens between two looks, except that half-routers speak
part('counters')
theirs = {s['ifname']: s['stats'] for s in pwctl('stats')}
mine = {name: stations.stats(name) for name in theirs}
compare('stats', {n: list(s) for n, s in mine.items()}, {n: list(s) for n, s in theirs.items()}, 'names')
quiet = ('ring_', 'echo_', 'esp_', 'poets_')
compare('stats', {n: {k: v for k, v in s.items() if k.startswith(quiet)} for n, s in mine.items()},
        {n: {k: v for k, v in s.items() if k.startswith(quiet)} for n, s in theirs.items()}, 'values')
point(mine['pw0']['ring_packets'] > 9, 'ring packets were counted', mine['pw0'])
samples = programs.metrics()
text = run('metrics').stdout
compare('metrics', sorted((s.name, sorted(s.labels.items())) for s in samples),
        sorted((s.name, sorted(s.labels.items())) for s in programs.parse_metrics(text)), 'names and labels')
same('every line of pwctl metrics is a sample', len(samples), len([x for x in text.splitlines() if not x.startswith('#')]))
value = {(s.name, s.labels.get('san'), s.labels.get('station')): s.value for s in samples}
compare('metrics', [value['packetway_ring_packets_total', '0', None], value['packetway_san_stations', '3', None]],
        [mine['pw0']['ring_packets'], 2], 'values as other calls give them')
for name in ('pw3', 'pw4'):
    stations.delete(name)
with Netlink('pyroute2') as nl:
    nl.router_del('tr')
    nl.san_del(3)

# captures of both
part('captures')
theirs = tmp / 'theirs.pcap'
tcpdump = subprocess.Popen(['pwctl', 'capture', 'ring', 'tcpdump', 'write', str(theirs), '-U', '-c', '2'],
                           stderr=subprocess.PIPE, text=True)
ready = next((line for line in tcpdump.stderr if 'listening' in line), '')
point(ready, 'pwctl capture listens')
with Capture() as capture, Ring('pw0') as ring:
    total = ring.add()
    mine = [r for r in capture.read(2, timeout=60) if r.kind == 'ring']
tcpdump.wait(100)
same('hops of a sum', [(r.san, r.unit_kind, r.unit, r.direction) for r in mine], [(0, 'interface', 0, 'out'), (0, 'interface', 1, 'out')])
same('the sum so far', [int(''.join(format(x, '08b') for x in r.data[11:19])[::-1], 2) for r in mine], [40, total.value])
saved = tmp / 'mine.pcap'
packetway.capture.save(saved, mine)


def frames(path):
    """Records of a capture, as pwctl view reads them."""
    page = subprocess.run(['pwctl', 'view', str(path), '-o', '-'], check=True, capture_output=True, text=True).stdout
    return [f[1:] for f in json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))['frames']]


mine_seen = frames(saved)
compare('capture', mine_seen, frames(theirs))
compare('view', len(mine_seen), len(mine), 'of what Python saved')
same('capture: columns', packetway.capture.columns(mine)['unit'], [0, 1])
same('capture: nothing is left', [name for name in subprocess.run(['ip', '-o', 'link'], check=True, capture_output=True, text=True).stdout.split()
                                  if name.startswith('pwmon')], [])


async def one_record():
    with Capture() as capture, Ring('pw0') as ring:
        await ring.run_async('add')
        async for record in capture:
            return record.kind

same('capture with asyncio', asyncio.run(asyncio.wait_for(one_record(), 100)), 'ring')

# a POETS application
part('POETS')
apps = Path(sys.argv[2])
app = json.loads((apps / 'ring.json').read_text())
app['properties']['laps'] = 1
app['devices'][0]['shape'] = [40]
app['handlers'] = str(apps / 'ring.so')
(tmp / 'app.json').write_text(json.dumps(app))
mine = programs.poets_run(tmp / 'app.json', timeout=150)
theirs = pwctl_lines('poets', 'run', str(tmp / 'app.json'), 'timeout', '150')
members = ('end', 'devices', 'edges', 'stations', 'sent', 'handled', 'to-supervisor', 'lost', 'dropped')
compare('poets run', {k: mine.summary[k] for k in members}, {k: theirs[-1][k] for k in members})
compare('poets run', mine.logs, [(line['log'], line['text']) for line in theirs if 'log' in line], 'logs')
same('what it did', (mine.summary['end'], mine.summary['handled'], sorted(set(mine.reports['station']))), ('stopped', 40, ['pw0', 'pw1']))

# a lab
part('lab')
lab_file = tmp / 'two.yaml'
lab_file.write_text('lab: two\nsans: [{id: 7, ports: 4}]\nstations:\n'
                    '  - {name: a, san: 7, operand: 1}\n  - {name: b, san: 7, operand: 2}\n')
with Lab(lab_file, timeout=120) as lab:
    compare('lab up', {r['lab'] for r in pwctl('lab', 'show')}, {'two'})
    compare('lab show', [s.name for s in lab], [r.get('station', r.get('name')) for r in pwctl('lab', 'show', 'two')])
    compare('lab exec', lab['a'].add(), json.loads(run('lab', 'exec', 'two/a', 'pwctl', '-j', 'aton', 'add').stdout)[0]['value'])
    lab['b'].set(41)
    same('after a new operand', lab['b'].add(), 42)
compare('lab down', pwctl('lab', 'show'), [])
stations.delete('pw1')

# what the README shows
part('README')
lines = re.findall(r"^ +(?:sudo )?(PYTHONPATH=tools/python python3 -c .*?)(?: +#.*)?$", Path('README.md').read_text(), re.M)
point(len(lines) >= 2, 'the README has one-liners')
for line in lines:
    # with the system's Python: another one may come first in PATH
    done = subprocess.run(['bash', '-c', 'PATH=/usr/bin:$PATH; ' + line], check=False, capture_output=True, text=True)
    point(done.returncode == 0 and done.stdout.strip(), line, done.stdout, done.stderr)

# every verb that there is
part('end')
verbs = set()
for name, subs in re.findall(r'^  pwctl ([a-z][a-z-]*)(?: ([a-z|-]+))?(?= |$)', run('help').stdout, re.M):
    verbs |= {'%s %s' % (name, s) for s in subs.split('|')} if subs else {name}
point(len(verbs) > 50, 'verbs of pwctl', sorted(verbs))
same('each verb is compared, or the table says why not', sorted(verbs - compared - set(NOT_HERE)), [])
same('nothing is compared or excused that is no verb', sorted((compared | set(NOT_HERE)) - verbs), [])
same('no verb is both', sorted(compared & set(NOT_HERE)), [])
finish()
