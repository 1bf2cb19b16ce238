# SPDX-License-Identifier: GPL-2.0
"""pwctl metrics against parsers of both formats, as TAP.

The snapshot that is printed has every counter that the sources of the kernel and of
pwctl name, so that a new one without a metric is found here. names.txt has the names
and labels that were published: they may only grow.

    check.py CHECKOUT PWCTL [--write-names]
    check.py --live PWCTL [WORD...]      in a guest: parse what this machine has
"""
import json
import os
import re
import select
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client import parser as prometheus
from pytap import finish, point, same


def samples(families):
    """{(name, labels): value}, and whether one was there twice."""
    out, twice = {}, False
    for f in families:
        for s in f.samples:
            key = (s.name, tuple(sorted(s.labels.items())))
            twice = twice or key in out
            out[key] = float(s.value)
    return out, twice


def parse(text, new):
    read = openmetrics.text_string_to_metric_families if new else prometheus.text_string_to_metric_families
    return list(read(text))


def run(*args, **more):
    return subprocess.run([pwctl, *args], capture_output=True, text=True, check=False, timeout=120, **more)


def formats(words):
    """Both formats parse and say the same; returns families and samples."""
    old, new = run('metrics', *words), run('metrics', 'format', 'openmetrics', *words)
    point(old.returncode == new.returncode == 0, 'metrics are printed', old.stderr, new.stderr)
    try:
        f_old, f_new = parse(old.stdout, False), parse(new.stdout, True)
        error = None
    except ValueError as e:
        error, f_old, f_new = e, [], []
    point(not error, 'both formats parse', error, new.stdout)
    s_old, twice_old = samples(f_old)
    s_new, twice_new = samples(f_new)
    point(not twice_old and not twice_new, 'no sample is there twice')
    return f_old, f_new, s_old, s_new


def families_are_complete(families):
    wrong = [f.name for f in families if not f.documentation or f.type not in ('gauge', 'counter') or
             not f.name.startswith('packetway_')]
    point(families and not wrong, 'each has HELP, TYPE and its prefix', wrong)
    wrong = [f.name for f in families if f.unit and not f.name.endswith('_' + f.unit)]
    point(not wrong, 'names end with their units', wrong)
    point({f.unit for f in families} >= {'bytes', 'packets', 'seconds'}, 'units are said')


if sys.argv[1] == '--live':
    pwctl = sys.argv[2]
    _, new, old_samples, new_samples = formats(sys.argv[3:])
    families_are_complete(new)
    same('both formats have the same samples', sorted(old_samples), sorted(new_samples))
    point(not [k for k in new_samples if k[0].startswith('packetway_other')], 'each counter has a name of its own',
          [k for k in new_samples if k[0].startswith('packetway_other')])
    finish()

top, pwctl = Path(sys.argv[1]), sys.argv[2]
here = top / 'tools/testing/metrics'


def strings_of(path, begin, end=r'\n\n'):
    text = (top / path).read_text()
    m = re.search(begin + r'(.*?)' + end, text, re.S)
    return re.findall(r'"([^"]+)"', m[1]) if m else []


drops = ['drop_' + n for n in strings_of('include/packetway/stats.h', 'define PW_DROP_REASONS')]
counters = drops + strings_of('include/packetway/stats.h', 'define PW_ESP_COUNTERS') + \
    strings_of('include/packetway/stats.h', 'define PW_POETS_COUNTERS') + \
    strings_of('include/packetway/stats.h', 'define PW_COUNTERS')
shared = strings_of('drivers/net/packetway/pw_aton.h', 'define PW_RING_COUNTERS') + ['fabric_cycles'] + \
    ['fabric_stage%d_%s' % (i, n) for i in range(4) for n in ('cells', 'refused', 'dropped', 'corrupted')]
aal = strings_of('drivers/net/packetway/pw_priv.h', 'define PW_FABRIC_PORT_COUNTERS', '#define')
half = strings_of('tools/pwctl/router.c', r'half_counters\[\] = \{', r'\};')
trunk = strings_of('tools/pwctl/router.c', r'trunk_counters\[\] = \{', r'\};')
verdicts = [n[4:] for n in counters if re.fullmatch(r'esp_\w+_(forward|discard|abort)', n)]
reports = strings_of('drivers/net/packetway/core/poets_tools.c', r'pw_poets_counter_name\[', r'\};')
point(len(drops) > 20 and len(counters) > 75 and len(shared) > 28 and len(aal) == 13 and len(half) == 37 and
      len(trunk) == 11 and len(verdicts) == 18 and len(reports) > 9, 'counters of the sources were read',
      len(drops), len(counters), len(shared), len(aal), len(half), len(trunk), len(verdicts), len(reports))


def numbered(names, first):
    return {n: first + i for i, n in enumerate(names)}


def station(name, san, port):
    stats = numbered(counters + shared + aal, 1000 * (port + 1))
    return {'ifname': name, 'ifindex': 7, 'san': san, 'port': port, 'addr': '00:0%d:0%d' % (san, port + 1), 'mtu': 1500,
            'order': 'as-sent', 'state': 'up' if port else 'down', 'stats': stats,
            'link': numbered(['rx_packets', 'tx_packets', 'rx_bytes', 'tx_bytes', 'rx_errors', 'tx_errors'], 50)}


strange = 'a "router"\\with\nlines'
look = {
    'up': True,
    'stations': [station('pw0', 0, 0), station('pw1', 0, 1), station('pw2', 3, 2)],
    'sans': [{'id': 0, 'ports': 16, 'bias': 0, 'engine': 'fast', 'ring-engine': 'rtl', 'rate': 8000000000, 'real': 0,
              'frozen': 0, 'stations': 2, 'time': 1234567890123, 'pinned': False}],
    'routers': [{'name': strange, 'halves': [
        {'san': 0, 'port': 15, 'addr': '00:00:10', 'mtu': 1500, 'tables': 2, 'stats': numbered(half, 300)}],
        'trunk': {'kind': 'udp', 'mtu': 1400, 'up': True, 'secret': True, 'insecure': False,
                  'stats': numbered(trunk, 400)}}],
    'esp': [{'dev': 'pw0', 'node': '00:00:01', 'capacity': 1024, 'lifetime': 10500, 'used': 3},
            {'node': '00:00:10', 'router': strange, 'capacity': 64, 'lifetime': 1, 'used': 0,
             'done': numbered(verdicts, 500)}],
    'poets': [{'dev': 'pw0', 'role': 'softswitch', 'addr': '00:00:01', 'state': 'running', 'devices': 9, 'pins': 18,
               'mothership': '00:00:02', 'interval': 1000, 'queue': 64, 'queued': 5, 'lost': str(2 ** 64 - 1),
               'drops': {}, 'counters': numbered(reports, 600)}],
}
tmp = Path(tempfile.mkdtemp())
snapshot = tmp / 'look.json'
snapshot.write_text(json.dumps(look))
words = ('from', str(snapshot))
old, new, old_samples, new_samples = formats(words)
families_are_complete(new)
same('both formats have the same samples', old_samples, new_samples)
point({f.name: f.type for f in old} == {f.name: f.type for f in new}, 'of the same types')
point(not [k for k in new_samples if k[0].startswith('packetway_other')], 'each counter has a name of its own',
      [k for k in new_samples if k[0].startswith('packetway_other')])


def value(name, **labels):
    return new_samples.get((name, tuple(sorted(labels.items()))))


same('a counter of a station', value('packetway_station_drops_total', station='pw1', san='0', reason='no_route'),
     look['stations'][1]['stats']['drop_no_route'])
same('an instruction', value('packetway_esp_instructions_total', node='00:00:01', station='pw0', instruction='count',
                             verdict='discard'), look['stations'][0]['stats']['esp_count_discard'])
same('and of a half-router', value('packetway_esp_instructions_total', node='00:00:10', router=strange,
                                   instruction='rcollect', verdict='abort'), 517)
same('a ring counts once for a SAN', [v for k, v in new_samples.items() if k[0] == 'packetway_ring_packets_total'],
     [look['stations'][0]['stats']['ring_packets'], look['stations'][2]['stats']['ring_packets']])
same('so does a stage', len([k for k in new_samples if k[0] == 'packetway_fabric_cells_total']), 2 * 16)
same('names with strange bytes', value('packetway_trunk_up', router=strange), 1)
same('nanoseconds are seconds', value('packetway_san_virtual_time_seconds', san='0'), 1234.567890123)
same('so are milliseconds', value('packetway_esp_lifetime_seconds', node='00:00:01', station='pw0'), 10.5)
same('the largest number', value('packetway_poets_lost_packets_total', station='pw0', role='softswitch'), float(2 ** 64 - 1))
same('a station that is down', value('packetway_station_up', station='pw0', san='0'), 0)
look['stations'][0]['stats']['brand_new'] = 5
other = run('metrics', 'from', '-', input=json.dumps(look)).stdout
point('packetway_other_total{station="pw0",san="0",counter="brand_new"} 5\n' in other, 'a counter of a newer kernel is shown')
del look['stations'][0]['stats']['brand_new']
look['sans'][0]['fabric'] = [
    {'stage': i, 'cells': 10 + i, 'refused': 20 + i, 'dropped': 0, 'corrupted': 0, 'queued': 106, 'fullest': 53} for i in range(6)]
staged = run('metrics', 'from', '-', input=json.dumps(look)).stdout.splitlines()
same('a SAN with stages has them all, once', len([s for s in staged if s.startswith('packetway_fabric_cells_total{san="0"')]), 6 * 4)
point('packetway_fabric_cells_total{san="0",stage="4",event="refused"} 24' in staged, 'refusals of a stage')
same('queues of stages, not of output ports', [s for s in staged if s.startswith('packetway_fabric_queued_bytes{san="0"')],
     ['packetway_fabric_queued_bytes{san="0",stage="%d"} 106' % i for i in range(5)])
del look['sans'][0]['fabric']

# names
names = sorted({'%s{%s}' % (k[0], ','.join(n for n, _ in k[1])) for k in new_samples})
file = here / 'names.txt'
if '--write-names' in sys.argv:
    file.write_text('\n'.join(names) + '\n')
lost = sorted(set(file.read_text().split()) - set(names))
point(not lost, 'names and labels that were published are there', lost)
missing = sorted(set(names) - set(file.read_text().split()))
point(not missing, 'names.txt has all of them', missing)

# the dashboard asks for names that exist
board = json.loads((top / 'tools/grafana/packetway.json').read_text())
asked = [t['expr'] for p in board['panels'] for t in p.get('targets', [])] + \
    [v['query'] for v in board['templating']['list']]
used = {n for e in asked for n in re.findall(r'packetway_\w+', e)}
known = {k[0] for k in new_samples}
point(len(used) > 20 and used <= known, 'the dashboard asks for metrics that exist', used - known)
places = [(p['gridPos']['x'], p['gridPos']['y']) for p in board['panels']]
idents = [p['id'] for p in board['panels']]
point(len(set(places)) == len(places) and len(set(idents)) == len(idents), 'and its panels have places and numbers of their own')

# files
out = tmp / 'packetway.prom'
out.write_text('old\n')
held = out.open()
status = run('metrics', *words, '-o', str(out)).returncode
same('-o', (status, out.read_text()), (0, run('metrics', *words).stdout))
same('the file is replaced, not written to', (held.read(), sorted(p.name for p in tmp.iterdir())),
     ('old\n', ['look.json', 'packetway.prom']))
same('others may read it', stat.S_IMODE(out.stat().st_mode), 0o644)
before = out.read_text()
(tmp / 'bad.json').write_text('{"stations": [')
bad = run('metrics', 'from', str(tmp / 'bad.json'), '-o', str(out))
same('a snapshot that is none leaves the file alone', (bad.returncode, out.read_text(), len(list(tmp.iterdir()))), (2, before, 3))
same('a directory that is not there', run('metrics', *words, '-o', '/nowhere/x.prom').returncode, 2)
same('-o beside --listen', run('metrics', '-o', 'x', '--listen', '0').returncode, 1)
same('an address that is none', run('metrics', '--listen', 'nowhere:x').returncode, 1)
same('the address of another machine', run('metrics', '--listen', '192.0.2.1:0').returncode, 2)

# the server
server = subprocess.Popen([pwctl, 'metrics', '--listen', '0'], stderr=subprocess.PIPE, text=True)
said = server.stderr.readline()
m = re.fullmatch(r'listening on (http://127\.0\.0\.1:(\d+))/metrics\n', said)
point(m, '--listen says where, on the loopback address', said)
if not m:
    server.kill()
    finish()
base, number = m[1], int(m[2])


def get(path, **more):
    try:
        with urllib.request.urlopen(urllib.request.Request(base + path, **more), timeout=60) as r:
            return r.status, r.headers['Content-Type'], r.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.headers['Content-Type'], e.read().decode()


def raw(data):
    with socket.create_connection(('127.0.0.1', number), timeout=60) as s:
        s.sendall(data)
        answer = b''
        while True:
            part = s.recv(65536)
            if not part:
                return answer.decode()
            answer += part


same('GET', get('/metrics')[:2], (200, 'text/plain; version=0.0.4; charset=utf-8'))
point(parse(get('/metrics')[2], False), 'and it parses')
status, kind, text = get('/metrics', headers={'Accept': 'application/openmetrics-text; version=1.0.0'})
same('who asks for it gets OpenMetrics', (status, kind),
     (200, 'application/openmetrics-text; version=1.0.0; charset=utf-8'))
point(parse(text, True), 'which parses')
same('HEAD has no body', (get('/metrics', method='HEAD')[0], get('/metrics', method='HEAD')[2]), (200, ''))
same('another path', get('/etc/passwd')[0], 404)
same('another method', get('/metrics', method='POST', data=b'x')[0], 405)
point(raw(b'hello\r\n\r\n').startswith('HTTP/1.1 400 '), 'not HTTP')
point(raw(b'GET /' + b'x' * 4091).startswith('HTTP/1.1 431 '), 'a request that does not end')
slow = [socket.create_connection(('127.0.0.1', number), timeout=60) for _ in range(12)]
slow[0].sendall(b'GET /met')
same('clients that say nothing do not stop others', get('/metrics')[0], 200)
more = [socket.create_connection(('127.0.0.1', number), timeout=60) for _ in range(12)]
same('more than there are places wait, and are served in the end', get('/metrics')[0], 200)
for s in slow + more:
    s.close()
same('and afterwards', get('/')[0], 200)
point(server.poll() is None and not select.select([server.stderr], [], [], 0)[0], 'without a complaint')
server.send_signal(signal.SIGTERM)
try:
    same('SIGTERM ends it', server.wait(60), 0)
except subprocess.TimeoutExpired:
    point(False, 'SIGTERM ends it')
    server.kill()
for p in tmp.iterdir():
    p.unlink()
os.rmdir(tmp)
finish()
