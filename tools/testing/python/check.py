# SPDX-License-Identifier: GPL-2.0
"""The Python package without a kernel, as TAP."""
import ctypes
import importlib.util
import json
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from pytap import finish, point, same, skip

top, build = Path(sys.argv[1]), Path(sys.argv[2])


def refuses(what, kind, call, *args, **words):
    try:
        point(False, what, call(*args, **words))
    except kind:
        point(True, what)


done = subprocess.run([sys.executable, '-m', 'mypy', '--strict', '--cache-dir', '/dev/null', '--config-file',
                       'pyproject.toml', 'packetway'], cwd=top / 'tools/python', capture_output=True, text=True,
                      check=False, timeout=280)
point(done.returncode == 0, 'mypy --strict', done.stdout, done.stderr)
if shutil.which('ruff'):
    done = subprocess.run(['ruff', 'check', '--no-cache', top / 'tools/python'], check=False, capture_output=True, text=True)
    point(done.returncode == 0, 'ruff', done.stdout, done.stderr)
elif importlib.util.find_spec('pyflakes') and importlib.util.find_spec('pycodestyle'):
    # Debian has ruff from release 14 on; its default rules are those of these two
    for words in (['pyflakes'], ['pycodestyle', '--select=E4,E7,E9']):
        done = subprocess.run([sys.executable, '-m', *words, top / 'tools/python/packetway'], check=False, capture_output=True, text=True)
        point(done.returncode == 0, 'rules of ruff, by %s' % words[0], done.stdout, done.stderr)
else:
    skip('ruff', 'neither it nor pyflakes and pycodestyle are here')

import packetway  # noqa: E402
from packetway import _lib, address, model, netlink, programs  # noqa: E402

# modules are imported when they are used, and every name is there
done = subprocess.run([sys.executable, '-c', 'import sys, packetway; print(*[m for m in sys.modules if m.startswith("packetway.")]); '
                       'packetway.Ring; print(*dir(packetway))'], check=True, capture_output=True, text=True).stdout.splitlines()
same('import packetway imports no other module of it', done[0], '')
same('and lists all names', sorted(set(packetway.__all__) - set(done[1].split())), [])
same('which are there', [n for n in packetway.__all__ if getattr(packetway, n, None) is None], [])
refuses('a name that is none', AttributeError, getattr, packetway, 'Smoke')

refuses('a collective at a station that is not there', OSError, packetway.Collective, 'nowhere', 'name', 2, timeout=1)
refuses('a collective without a name', packetway.PacketwayError, packetway.Collective, 'nowhere', '', 2)

# structures have the layout of the compiler
program = '#include <stdio.h>\n#include <stddef.h>\n#include "packetway.h"\n#define F(s, m) printf("%s %s %zu\\n", #s, #m, offsetof(struct s, m))\nint main(void)\n{\n'
layouts = {'pwl_aton': _lib.Aton, 'pwl_result': _lib.Result, 'pwl_reduced': _lib.Reduced, 'pwl_eep': _lib.Eep, 'pwl_esp': _lib.Esp, 'packetway_aton_get': _lib.Bank}
for name, cls in layouts.items():
    program += ''.join('\tF(%s, %s);\n' % (name, f[0]) for f in cls._fields_)
    program += '\tprintf("%s size %%zu\\n", sizeof(struct %s));\n' % (name, name)
with tempfile.TemporaryDirectory() as tmp:
    (Path(tmp) / 'a.c').write_text(program + '\treturn 0;\n}\n')
    subprocess.run(['gcc', '-I', top / 'uapi', '-I', top / 'tools/lib', '-o', tmp + '/a', tmp + '/a.c'], check=True)
    lines = subprocess.run([tmp + '/a'], check=True, capture_output=True, text=True).stdout.split('\n')[:-1]
want = {tuple(line.split()[:2]): int(line.split()[2]) for line in lines}
got = {(n, f[0]): getattr(c, f[0]).offset for n, c in layouts.items() for f in c._fields_}
got.update({(n, 'size'): ctypes.sizeof(c) for n, c in layouts.items()})
same('structures of libpacketway', got, want)
source = (top / 'tools/python/pwcore.c').read_text()
for name, cls in (('pwc_ring', _lib.CoreCommand), ('pwc_fabric', _lib.CoreFabric), ('pwc_message', _lib.CoreMessage)):
    body = source[source.index('struct %s {' % name):]
    members = [line.split()[-1].rstrip(';').split('[')[0].lstrip('*') for line in body[:body.index('};')].split('\n')[1:-1]]
    same('members of %s' % name, [f[0] for f in cls._fields_], members)

# addresses
same('addresses', [address.parse(a) for a in ('00:01:02', '0x102', 258, 'broadcast')], [258, 258, 258, 0x7fffff])
same('and their text', address.text(258), '00:01:02')
for bad in ('00:01', '00:01:002', 'x', 1 << 24, -1, '1:2:3:4'):
    refuses('%r is no address' % (bad,), ValueError, address.parse, bad)

# models beside pwmodel
rng = random.Random(1)
for op in ('add', 'and', 'or', 'max', 'min', 'count-eq', 'count-lt', 'count-le', 'sort'):
    wrong = []
    for _ in range(4):
        signed = rng.random() < 0.5
        values = [rng.choice([rng.getrandbits(64), rng.getrandbits(3)]) for _ in range(rng.randint(1, 40))]
        if signed:
            values = [v - (1 << 63) if v >> 63 else v for v in values]
        engine = rng.choice(['fast', 'rtl'])
        comparand = values[0] if op.startswith('count') and rng.random() < 0.5 else None
        mine = model.ring(op, values, signed=signed, engine=engine, comparand=comparand)
        words = ['aton', op, '--engine', engine] + (['--signed'] if signed else []) + \
            (['--comparand', str(comparand)] if comparand is not None else []) + ['--'] + [str(v) for v in values]
        theirs = json.loads(subprocess.run([build / 'pwmodel', *words], check=True, capture_output=True, text=True).stdout)
        pairs = [(mine.counter, theirs['counter']), (mine.ring_bits, theirs['ring_bits'])]
        pairs += [(list(mine.sorted), theirs['sorted'])] if op == 'sort' else \
            [(mine.v1, theirs['v1']), (mine.v2, theirs['v2']), (mine.overflow, theirs['overflow'])]
        wrong += [(words, p) for p in pairs if p[0] != p[1]]
    point(not wrong, 'model: %s as pwmodel' % op, wrong)
same('a tree', model.ring('tree', [1, 2, 3, 4], ops=['add', 'max']).v1, 7)
same('1000 interfaces', model.ring('add', range(1000)).v1, 499500)
columns = model.sweep('add', [8, 16, 32])
same('a sweep as columns', (columns['interfaces'], columns['value'], columns['ring_bits'] == sorted(columns['ring_bits'])),
     ([8, 16, 32], [36, 136, 528], True))
same('narrow operands', [model.ring('add', [-1, -2], signed=True, width=8, engine=e).v1 for e in ('fast', 'rtl')], [-3, -3])
same('and a shorter packet', model.ring('add', [7, 14, 0], width=4).ring_bits, 144 + 4 + 24 + 3)
refuses('a width beyond the model', packetway.PacketwayError, model.ring, 'add', [1], width=65)
refuses('an unknown release', ValueError, model.ring, 'add', [1], release='late')
refuses('an unknown operation', ValueError, model.ring, 'mul', [1])
refuses('no interface', ValueError, model.ring, 'add', [])
refuses('a tree of three', ValueError, model.ring, 'tree', [1, 2, 3], ops=['add'])
refuses('a propagation beyond the model', packetway.PacketwayError, model.ring, 'add', [1], propagation=1 << 20)

# the fabric beside pwmodel
for engine, pack, unpack, more in (('fast', True, True, {}), ('rtl', False, False, {}), ('fast', False, True, {'depth': 2, 'og_blocks': 300}),
                                   ('fast', True, True, {'k': 3}),
                                   ('rtl', True, True, {'drop': 9000, 'corrupt': 9000, 'fault_seed': 7, 'resend': 5000})):
    ports = more.get('k', 4) ** 2
    rows = sorted((rng.randrange(400), rng.randrange(ports), rng.choice([-1] + [rng.randrange(ports)] * 9), rng.randrange(200))
                  for _ in range(25))
    mine = model.fabric(rows, engine=engine, pack=pack, unpack=unpack, **more)
    words = ['fabric', '--messages', '-', '--engine', engine] + ['--pack', 'immediately'] * pack + ['--unpack', 'immediately'] * unpack
    for k, v in more.items():
        words += ['--' + k.replace('_', '-'), str(v)]
    done = subprocess.run([build / 'pwmodel', *words], check=False, capture_output=True, text=True,
                          input='cycle,src,dst,bytes\n' + ''.join('%d,%d,%d,%d\n' % r for r in rows))
    theirs = [line.split(',') for line in done.stdout.split('\n')[1:-1]]
    order = ('src', 'dst', 'bytes') + model.TIMES
    same('fabric: %s %s as pwmodel' % (engine, more), [[str(mine[c][i]) for c in order] for i in range(len(rows))], theirs)
sweep = model.load_latency([0.1, 0.4], cycles=4000)
point(sweep['mean'][0] < sweep['mean'][1] and sweep['messages'][0] * 2 < sweep['messages'][1], 'a load takes longer', sweep)
refuses('a port that is none', packetway.PacketwayError, model.fabric, [(0, 99, 0, 1)])
refuses('time that goes back', packetway.PacketwayError, model.fabric, [(5, 0, 1, 1), (4, 0, 1, 1)])
refuses('a parameter that is none', packetway.PacketwayError, model.fabric, [(0, 0, 1, 1)], color=3)
refuses('a parameter out of range', packetway.PacketwayError, model.fabric, [(0, 0, 1, 1)], depth=0)
refuses('too many faults', packetway.PacketwayError, model.fabric, [(0, 0, 1, 1)], drop=500001)
refuses('a fast engine that polls', ValueError, model.fabric, [(0, 0, 1, 1)], unpack=False)

# a network of fabrics
spec = {'sans': {'count': 3, 'ports': 16}, 'routers': {'links': [[0, 1], [1, 2]]}, 'traffic': {'load': 0.05, 'bytes': 64, 'cycles': 20000}}
done = subprocess.run([build / 'pwmodel', 'net', '/dev/stdin'], check=True, capture_output=True, text=True, input=json.dumps(spec))
same('network as pwmodel net', model.network(spec, threads=2), json.loads(done.stdout))
refuses('a key that is none', ValueError, model.network, dict(spec, colour=3))

# ESP beside pwmodel
script, want = [], []
with model.Esp(capacity=64, lifetime=50) as node:
    for ms in range(0, 400, 2):
        tag = rng.randrange(4)
        kind = rng.choice([('count', '', {'tag': tag, 'thresh': 3}), ('compare', 'lt', {'tag': tag, 'val': rng.randrange(9)}),
                           ('collect', 'add', {'valTag': 10 + tag, 'cntTag': 20 + tag, 'val': rng.randrange(99)}),
                           ('put', '', {'tag': 20 + tag, 'val': 3}), ('get', '', {'tag': 10 + tag})])
        name, op, operands = kind
        script.append(' '.join([str(ms), name] + (['op=' + op] if op else []) + ['%s=%d' % o for o in operands.items()]))
        if name == 'put':
            want.append({'verdict': 'forward' if node.put(ms, operands['tag'], 3) else 'abort'})
        elif name == 'get':
            want.append({'val': node.get(ms, operands['tag'])})
        else:
            result = node.run(ms, name, op, **operands)
            want.append({'verdict': result.verdict, **result.changed})
    refuses('time that goes back in a store', ValueError, node.get, 0, 1)
    refuses('an instruction that is none', ValueError, node.run, 999, 'jump')
    refuses('an operand that is none', ValueError, node.run, 999, 'count', color=1)
    refuses('an operator of another instruction', ValueError, node.run, 999, 'collect', 'lt', val=1)
done = subprocess.run([build / 'pwmodel', 'esp', '--capacity', '64', '--lifetime', '50', '-'], input='\n'.join(script), check=True,
                      capture_output=True, text=True)
same('ESP as pwmodel', [json.loads(line) for line in done.stdout.split('\n') if line], want)
refuses('a store that is closed', ValueError, node.get, 999, 1)
refuses('a store without room', ValueError, model.Esp, capacity=0)

# experiments beside pwctl
def rows_of(columns):
    """Columns as the rows that they were made of."""
    rows = [dict(zip(columns, values)) for values in zip(*columns.values())]
    return [{k: v for k, v in row.items() if v is not None} for row in rows]


for name, values in (('delay', [44, 1024]), ('throughput', [400]), ('contention', []), ('queues', [4, 16])):
    theirs = subprocess.run([build / 'pwctl', '-j', 'experiment', name, *map(str, values)], check=True, capture_output=True, text=True)
    same('experiment ' + name, rows_of(programs.experiment(name, values)), json.loads(theirs.stdout))
same('experiment delay: as the model has it', programs.experiment('delay', [44, 1024])['ours'],
     [model.fabric([(0, 0, 5, n)])['delivered'][0] for n in (44, 1024)])
with tempfile.TemporaryDirectory() as tmp:
    (Path(tmp) / 'sweep.yaml').write_text('name: two\nparameters:\n  depth: [4, 8]\ntraffic: [uniform]\nbytes: 48\nload: 0.2\nseeds: 1\ncycles: 2000\n')
    subprocess.run([build / 'pwctl', 'experiment', 'sweep', tmp + '/sweep.yaml', 'out', tmp + '/theirs'], check=True, capture_output=True)
    theirs = (Path(tmp) / 'theirs.csv').read_text().splitlines()
    mine = programs.experiment_sweep(tmp + '/sweep.yaml')
    same('experiment sweep', [','.join(mine)] + [','.join(row) for row in zip(*mine.values())], theirs)
    point(len(theirs) > 2, 'which has rows', theirs)
theirs = subprocess.run([build / 'pwctl', 'experiment', 'messages', top / 'tools/testing/view/sans.pcapng', 'san', '1'],
                        check=True, capture_output=True, text=True).stdout.splitlines()
mine = programs.experiment_messages(top / 'tools/testing/view/sans.pcapng', san=1)
same('experiment messages', [','.join(mine)] + [','.join(map(str, row)) for row in zip(*mine.values())], theirs)
point(len(theirs) > 2, 'which has rows, too', theirs)

# traces in OTF2: one is written here, with a communicator of its own order
traces = [sys.executable, '-m', 'packetway.traces']
if importlib.util.find_spec('otf2'):
    import otf2
    with tempfile.TemporaryDirectory() as tmp:
        with otf2.writer.open(tmp + '/run', timer_resolution=2_000_000_000) as trace:
            names = trace.definitions
            node = names.system_tree_node('node', parent=None)
            writers = [trace.event_writer('thread', group=names.location_group(f'rank {r}', system_tree_parent=node))
                       for r in range(3)]
            names.group('locations', group_type=otf2.GroupType.COMM_LOCATIONS, paradigm=otf2.Paradigm.MPI,
                        members=[w._location for w in writers])
            comms = [names.comm(str(ranks), group=names.group(str(ranks), group_type=otf2.GroupType.COMM_GROUP,
                                                              paradigm=otf2.Paradigm.MPI, members=ranks)) for ranks in ([0, 1, 2], [2, 0])]
            writers[0].mpi_send(2000, receiver=2, communicator=comms[0], msg_tag=5, msg_length=100)
            writers[2].mpi_recv(2500, sender=0, communicator=comms[0], msg_tag=5, msg_length=100)
            writers[2].mpi_isend(6000, receiver=1, communicator=comms[1], msg_tag=1, msg_length=8, request_id=1)
        done = subprocess.run([*traces, tmp + '/run/traces.otf2'], capture_output=True, text=True, check=False)
        same('messages of an OTF2 trace', (done.returncode, done.stdout), (0, 'cycle,src,dst,bytes\n0,0,2,100\n2000,2,0,8\n'))
        done = subprocess.run([*traces, tmp + '/none.otf2'], capture_output=True, text=True, check=False)
        point(done.returncode == 2 and tmp in done.stderr, 'a trace that is not there', done.stderr)
else:
    skip('messages of an OTF2 trace', 'python3-otf2 is not installed')
refuses('an experiment that is none', ValueError, programs.experiment, 'heat')
refuses('a sweep that is not there', packetway.PacketwayError, programs.experiment_sweep, '/nowhere.yaml')

# metrics as Debian's parser reads them
text = '# HELP a_total words\n# TYPE a_total counter\na_total{name="q\\"\\\\ \\n",b="2"} 3\na_total 1.5e3\n'
same('samples of a text', [(s.name, s.labels, s.value) for s in programs.parse_metrics(text)],
     [('a_total', {'name': 'q"\\ \n', 'b': '2'}, 3.0), ('a_total', {}, 1500.0)])
try:
    from prometheus_client.parser import text_string_to_metric_families
    same('as prometheus_client', [(s.name, s.labels, s.value) for s in programs.parse_metrics(text)],
         [(s.name, s.labels, s.value) for f in text_string_to_metric_families(text) for s in f.samples])
except ImportError:
    skip('as prometheus_client', 'no python3-prometheus-client here')

# EEP
message = packetway.Message(258, 9, 1, bytes(range(200)), prio=3, flags=2)
frame = message.build()
back = packetway.Message.parse(frame)
same('a message and back', (back.dst, back.pt, back.te, back.data, back.crc_bad), (258, 9, 1, message.data, False))
same('without data', packetway.Message.parse(packetway.Message(1, 9).build()).data, b'')
broken = bytearray(frame)
broken[-20] ^= 1
point(packetway.Message.parse(bytes(broken)).crc_bad, 'a CRC that is wrong is seen')
refuses('half a frame', packetway.PacketwayError, packetway.Message.parse, frame[:10])

# netlink: what is encoded by pyroute2 from the specification decodes to the same
try:
    packetway.Netlink('pyroute2').close()
    loaded = True
except packetway.PacketwayError as e:
    loaded = False
    same('without the module: errno and a sentence', (e.errno, e.extack), (2, 'this kernel has no packetway'))
refuses('a backend that is none', ImportError, packetway.Netlink, 'smoke')


class Offline(netlink.Pyroute2Backend):
    """Everything but the socket."""

    def __init__(self):
        from unittest import mock

        with mock.patch('pyroute2.netlink.generic.GenericNetlinkSocket'):
            super().__init__(netlink.spec_path())


b = Offline()
router = {'router': {'name': 'ab', 'half': [{'san': 1, 'port': 15}, {'san': 2, 'mtu': 900}],
                     'trunk': {'local': b'\x01\x02', 'key': bytes(32), 'insecure': True, 'id': 7,
                               'stats': {'tx': 2 ** 63, 'drop-tx': 5}}}}
requests = [router, {'san': {'id': 3, 'engine': 'rtl', 'rate': 8 * 10 ** 9, 'pinned': True}},
            {'route': [{'san': 1, 'best': True, 'l2rh': b'\xff' * 8}]}, {'esp': {'tag': 2 ** 64 - 1, 'router': 'x'}},
            {'poets': {'state': 'running', 'drops': {'pin': 1}}}]
for request in requests:
    m = b._message()
    m['cmd'], m['version'], m['attrs'] = 1, 1, b._encode('packetway', request)
    m.encode()
    again = b._message(m.data)
    again.decode()
    same('%s through the wire' % next(iter(request)), b._decode('packetway', again), request)
m = b._message()
m['attrs'] = b._encode('packetway', {'san': {'id': 0x01020304}})
m.encode()
point(bytes(m.data)[20:].hex() == ('0c0001800800010004030201' if sys.byteorder == 'little' else
                                   '000c80010008000101020304'), 'bytes of a nest', bytes(m.data)[20:].hex())
refuses('an attribute that is none', KeyError, b._encode, 'packetway', {'san': {'color': 1}})
same('numbers of operations', (b._numbers['san-get'], b._numbers['route-del'], b._numbers['router-del-ntf']), (1, 17, 10))


class Changing:
    """A list that changes the first times that it is read."""

    def __init__(self, times):
        self.times, self.asked = times, 0

    def call(self, op, attrs, dump):
        self.asked += 1
        if self.asked <= self.times:
            raise netlink.DumpInterrupted
        return [{'asked': self.asked}]


class Wire:
    """A socket with two messages, of which the second has these flags."""

    def __init__(self, flags):
        self.data = struct.pack('=IHHII', 17, 30, 2, 1, 1) + bytes(4) + struct.pack('=IHHII', 16, 3, flags, 1, 1)

    def recv(self, size):
        return self.data[:size]

    def fileno(self):
        return 7


nl = object.__new__(packetway.Netlink)
nl.backend = Changing(3)
same('a dump that was interrupted is repeated', nl.dump('san-get'), [{'asked': 4}])
nl.backend = Changing(100)
refuses('a list that changes all the time', packetway.PacketwayError, nl.dump, 'san-get')
for flags in 2, 0x12:
    wire = netlink._Watched(Wire(flags))
    same('pyynl gets what the socket has, flags %#x' % flags, (wire.recv(4096), wire.fileno()), (Wire(flags).data, 7))
    same('and they are seen', wire.interrupted, flags == 0x12)
same('the version is that of the library', packetway.__version__, _lib.packetway().pwl_version().decode())
finish()
