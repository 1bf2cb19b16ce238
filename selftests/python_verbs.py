# SPDX-License-Identifier: GPL-2.0
"""The Python package beside pwctl, as TAP (python.sh starts this)."""
import asyncio
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import packetway
from packetway import Capture, Events, Lab, Netlink, PacketwayError, Ring, Socket, address, stations
from pytap import finish, point, same


def pwctl(*words):
    return json.loads(subprocess.run(['pwctl', '-j', *words], check=True, capture_output=True).stdout or 'null')


def pwctl_lines(*words):
    """What pwctl prints as it happens: one object for each line."""
    done = subprocess.run(['pwctl', '-j', *words], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def refused(call, *args, **words):
    try:
        call(*args, **words)
    except PacketwayError as e:
        return e.errno, e.extack
    return None


def says(*words):
    """Status and the kernel's sentence, as pwctl prints it."""
    done = subprocess.run(['pwctl', *words], check=False, capture_output=True, text=True)
    return done.stderr.strip().replace('Error: ', '').rstrip('.')


# stations
subprocess.run(['ip', 'link', 'set', 'pw0', 'up'], check=True)
made = stations.add('pw1', port=1, mtu=2000, order='big', up=True)
same('station add', (made.ifname, made.san, made.port, made.mtu, made.order, made.up), ('pw1', 0, 1, 2000, 'big', True))
same('station show', [{'ifname': s.ifname, 'ifindex': s.ifindex, 'san': s.san, 'port': s.port,
                       'addr': address.text(s.addr), 'mtu': s.mtu, 'order': s.order,
                       'state': 'up' if s.up else 'down'} for s in stations.stations()], pwctl('station', 'show'))
same('a port that is taken', (refused(stations.add, 'pw9', port=0) or (0, ''))[1],
     says('station', 'add', 'pw9', 'port', '0'))
same('other devices are left alone', (refused(stations.delete, 'lo') or (0, ''))[0], 19)

# netlink, with both libraries
for name in ('pyroute2', 'pyynl'):
    events = Events(name)
    with Netlink(name) as nl:
        same(name + ' is used', nl.backend.name, name)
        nl.san_add(1, ports=16, engine='none', ring_engine='rtl')
        nl.san_add(2, engine='none')
        mine, theirs = nl.san(1), pwctl('san', 'show', '1')[0]
        same(name + ': san show', {k: mine[k] for k in ('id', 'ports', 'bias', 'engine', 'ring-engine', 'stations')},
             {k: theirs[k] for k in ('id', 'ports', 'bias', 'engine', 'ring-engine', 'stations')})
        nl.san_set(1, ring_engine='fast')
        same(name + ': san set', pwctl('san', 'show', '1')[0]['ring-engine'], 'fast')
        same(name + ': SANs', sorted(s['id'] for s in nl.sans()), sorted(s['id'] for s in pwctl('san', 'show')))
        same(name + ': the kernel\'s sentence', refused(nl.san_add, 3, ports=5), (22, says('san', 'add', '3', 'ports', '5')))
        same(name + ': errno', (refused(nl.san_del, 77) or (0, ''))[1], says('san', 'del', '77'))
        nl.router_add('ab', (1, 15), (2, None))
        mine, theirs = nl.routers(), pwctl('router', 'show')
        same(name + ': router show', [(r['name'], [(h['san'], h['port'], address.text(h['addr'])) for h in r['half']])
                                      for r in mine],
             [(r['name'], [(h['san'], h['port'], h['addr']) for h in r['halves']]) for r in theirs])
        same(name + ': nodes', sorted(n['addr'] for n in nl.nodes(1)),
             sorted(address.parse(n['addr']) for n in pwctl('name', 'show', '1')))
        same(name + ': routes', sorted(r['first'] for r in nl.routes(1)),
             sorted(address.parse(r['first']) for r in pwctl('route', 'show', 'san', '1')))
        # static routes, with the verbs of each in turn
        far = ('00:07:01', '00:07:10')
        nl.route_add(*far, san=1, via='00:01:10', quality=9)
        mine = [r for r in nl.routes(1) if r['first'] == address.parse(far[0])]
        theirs = [r for r in pwctl('route', 'show', 'san', '1') if r['first'] == far[0]]
        same(name + ': route add', [(address.text(r['first']), address.text(r['last']), address.text(r['hr']), r['quality'], bool(r.get('static')))
                                    for r in mine],
             [(r['first'], r['last'], r['half-router'], r['quality'], r['static']) for r in theirs])
        same(name + ': a route that is there', (refused(nl.route_add, *far, san=1, via='00:01:10') or (0, ''))[1],
             says('route', 'add', '-'.join(far), 'san', '1', 'via', '00:01:10'))
        nl.route_del(*far, san=1, via='00:01:10')
        same(name + ': route del', [r for r in pwctl('route', 'show', 'san', '1') if r['first'] == far[0]], [])
        # half-routers exchange their tables by messages
        for _ in range(600):
            if refused(nl.resolve, '00:02:01', san=1) is None:
                break
            time.sleep(0.1)
        for node in ('00:02:01', 'ab'):
            mine, theirs = nl.resolve(node, san=1), pwctl('resolve', node, 'san', '1')
            same(f'{name}: resolve {node}', [(address.text(mine['node']['addr']), mine['node']['name'])]
                 + [(address.text(r['hr']), r['quality'], r['mtu']) for r in mine['route']],
                 [(theirs[0]['addr'], theirs[0]['name'])] + [(r['half-router'], r['quality'], r['mtu']) for r in theirs[1:]])
        same(name + ': a node that is not there', (refused(nl.resolve, '00:02:09', san=1) or (0, ''))[1],
             says('resolve', '00:02:09', 'san', '1'))
        nl.router_del('ab')
        nl.esp_set(ifindex=made.ifindex, capacity=128, lifetime=3000)
        same(name + ': esp set', [(e['capacity'], e['lifetime']) for e in pwctl('esp', 'show', 'pw1')], [(128, 3000)])
        nl.esp_set(ifindex=made.ifindex, capacity=0, lifetime=0)
        same(name + ': esp', sorted(e['capacity'] for e in nl.esp()), sorted(e['capacity'] for e in pwctl('esp', 'show')))
        same(name + ': poets', nl.poets(), pwctl('poets', 'show'))
        nl.san_del(1)
        nl.san_del(2)
    seen = []
    while not any(e.kind == 'san' and e.action == 'del' and e.object['id'] == 2 for e in seen):
        more = events.wait(60)
        seen += more
        if not more:
            break
    same(name + ': events', [(e.kind, e.action, e.object.get('id', e.object.get('name'))) for e in seen
                             if e.kind in ('san', 'router')],
         [('san', 'new', 1), ('san', 'new', 2), ('san', 'set', 1), ('router', 'new', 'ab'), ('router', 'del', 'ab'),
          ('san', 'del', 1), ('san', 'del', 2)])
    events.close()


complaints = []


async def one_event():
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
    async with Events() as events:
        async def change():
            with Netlink() as nl:
                nl.san_add(5)
                nl.san_del(5)
        task = asyncio.ensure_future(change())
        async for event in events:
            await task
            return event.kind, event.action

same('events with asyncio', asyncio.run(asyncio.wait_for(one_event(), 100)), ('san', 'new'))

same('and nothing is left in the loop', complaints, [])

# the ring
with Ring('pw0') as ring, Ring('pw1') as other:
    ring[0], other[0] = 40, 2
    ring[1], other[1] = -5, 7
    same('operands', (ring[0], other[0]), (40, 2))
    for op in ('add', 'and', 'or', 'max', 'min', 'count-eq', 'count-lt', 'count-le'):
        mine, theirs = ring.run(op), pwctl('aton', op, 'dev', 'pw0')[0]
        same('aton ' + op, {k: v for k, v in {
            'value': mine.value, 'addr': None if mine.addr is None else address.text(mine.addr), 'count': mine.count,
            'interfaces': mine.interfaces, 'overflow': mine.overflow, 'ring-bits': mine.ring_bits}.items() if v is not None},
            {k: theirs[k] for k in ('value', 'addr', 'count', 'interfaces', 'overflow', 'ring-bits') if k in theirs})
    same('with a comparand', ring.run('count-eq', comparand=2).count, 1)
    same('signed', (ring.min(1, signed=True).value, pwctl('aton', 'min', 'reg', '1', 'signed', 'dev', 'pw0')[0]['value']),
         (-5, -5))
    same('sort', ring.sort(), pwctl('aton', 'sort', 'dev', 'pw0')[0]['sorted'])
    same('no majority', ring.majority(), None)
    same('the sum without blocking', asyncio.run(asyncio.wait_for(ring.run_async('add'), 100)).value, 42)
    same('a register that is not there', refused(ring.__setitem__, 16, 1) is not None, True)

# EEP
with Socket('pw0') as sock:
    point(sock.echo('00:00:02', timeout=60) > 0, 'echo')
    same('no such node', (refused(sock.echo, '00:00:09', timeout=0.2) or (0, ''))[0] in (110, 113, 101), True)
    with Socket('pw1') as peer:
        sock.send(packetway.Message(peer.address, 9, 3, b'hello', flags=2))
        got = peer.receive(60)
        while got is not None and got.pt != 9:
            got = peer.receive(60)
        same('a message', got and (got.src, got.te, got.data, got.crc_bad), (sock.address, 3, b'hello', False))

# pings, messages and captures of both
echo = pwctl_lines('ping', '00:00:02', 'count', '1', 'timeout', '60000', 'dev', 'pw0')
same('ping: echoes of pwctl', [(e['sent'], e['received']) for e in echo[-1:]], [(1, 1)])
with Socket('pw1') as peer:
    pwctl_lines('send', '00:00:02', 'pt', '9', 'text', 'hello', 'crc64', 'dev', 'pw0')
    got = peer.receive(60)
    while got is not None and got.pt != 9:
        got = peer.receive(60)
    same('send: what pwctl sends', got and (got.src, got.data, got.crc_bad), (1, b'hello', False))
theirs = Path(sys.argv[1]) / 'theirs.pcap'
tcpdump = subprocess.Popen(['pwctl', 'capture', 'ring', 'tcpdump', 'write', str(theirs), '-U', '-c', '2'],
                           stderr=subprocess.PIPE, text=True)
ready = next((line for line in tcpdump.stderr if 'listening' in line), '')
point(ready, 'pwctl capture listens')
with Capture() as capture, Ring('pw0') as ring:
    total = ring.add()
    mine = [r for r in capture.read(2, timeout=60) if r.kind == 'ring']
tcpdump.wait(100)
same('capture: hops of a sum', [(r.san, r.unit_kind, r.unit, r.direction) for r in mine], [(0, 'interface', 0, 'out'), (0, 'interface', 1, 'out')])
same('capture: the sum so far', [int(''.join(format(x, '08b') for x in r.data[11:19])[::-1], 2) for r in mine], [40, total.value])
saved = Path(sys.argv[1]) / 'mine.pcap'
packetway.capture.save(saved, mine)


def frames(path):
    """Records of a capture, as pwctl view reads them."""
    page = subprocess.run(['pwctl', 'view', str(path), '-o', '-'], check=True, capture_output=True, text=True).stdout
    return [f[1:] for f in json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))['frames']]


same('capture: the records of pwctl capture', frames(saved), frames(theirs))
same('capture: columns', packetway.capture.columns(mine)['unit'], [0, 1])
same('capture: nothing is left', [name for name in subprocess.run(['ip', '-o', 'link'], check=True, capture_output=True, text=True).stdout.split()
                                  if name.startswith('pwmon')], [])


async def one_record():
    with Capture() as capture, Ring('pw0') as ring:
        await ring.run_async('add')
        async for record in capture:
            return record.kind

same('capture with asyncio', asyncio.run(asyncio.wait_for(one_record(), 100)), 'ring')

# a lab
lab_file = Path(sys.argv[1]) / 'two.yaml'
lab_file.write_text('lab: two\nsans: [{id: 7, ports: 4}]\nstations:\n'
                    '  - {name: a, san: 7, operand: 1}\n  - {name: b, san: 7, operand: 2}\n')
with Lab(lab_file, timeout=120) as lab:
    same('stations of a lab', [s.name for s in lab], ['a', 'b'])
    same('the sum in a lab', lab['a'].add(), 3)
    lab['b'].set(41)
    same('after a new operand', lab['b'].add(), 42)
same('it is down', pwctl('lab', 'show'), [])
stations.delete('pw1')
same('station del', [s.ifname for s in stations.stations()], ['pw0'])

# what the README shows
lines = re.findall(r"^ +(?:sudo )?(PYTHONPATH=tools/python python3 -c .*?)(?: +#.*)?$", Path('README.md').read_text(), re.M)
point(len(lines) >= 2, 'the README has one-liners')
for line in lines:
    done = subprocess.run(['bash', '-c', line], check=False, capture_output=True, text=True)
    point(done.returncode == 0 and done.stdout.strip(), line, done.stdout, done.stderr)
finish()
